"""The model's own translations, with the weights by which the beams that won were written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import GenerationConfig

from ..data.decoding_batches import length_batches
from ..modeling import RNNsearchForConditionalGeneration
from ..modeling.configuration_rnnsearch import greatest_length
from ..modeling.generation_rnnsearch import followed_weights, without_saved_settings
from ..tokenizer import RNNsearchTokenizer

__all__ = ["Written", "write"]


@dataclass(frozen=True, eq=False)
class Written:
    """A translation in tokens.

    Args:
        ids: T ids, the last of them the end, unless the translation was cut at 2 n + 10 tokens, n being the source's
            tokens rounded up to a multiple of 8.
        weights: α of each token when it was written, (T, S).
    """

    ids: list[int]
    weights: NDArray[np.float64]


@torch.inference_mode()
def write(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    source_ids: Sequence[list[int]],
    num_beams: int,
    batch_size: int,
    advance: Callable[[int], None] = lambda sources: None,
) -> list[Written]:
    """Translate, and follow the winning beams back to the weights of each of their steps.

    The search is that of a `Translator` with its own settings; those saved with the model have no say.

    Args:
        model: a model that attends; it is switched to evaluation mode.
        tokenizer: the tokenizer it was trained with.
        source_ids: ids of each source, without padding.
        num_beams: hypotheses kept at each step; 1 is greedy search.
        batch_size: sources translated together; the result does not depend on it.
        advance: told the number of sources of each batch that is done.

    Returns:
        The best translation of each source, in the order given.
    """
    model.eval()
    found: dict[int, Written] = {}
    with without_saved_settings(model):
        for batch, width in length_batches([len(ids) for ids in source_ids], batch_size):
            config = GenerationConfig(
                num_beams=num_beams,
                max_new_tokens=greatest_length(width),
                min_new_tokens=1,
                do_sample=False,
                num_return_sequences=1,
                use_cache=True,
                output_attentions=True,
                return_dict_in_generate=True,
            )
            sources = tokenizer.pad({"input_ids": [source_ids[i] for i in batch]}, return_tensors="pt")
            sources = sources.to(model.device)
            output = model.generate(**sources, generation_config=config)
            weights = followed_weights(output)
            real = sources["attention_mask"].bool()
            for row, (i, ids) in enumerate(zip(batch, output.sequences[:, 1:].tolist(), strict=True)):
                length = ids.index(tokenizer.eos_token_id) + 1 if tokenizer.eos_token_id in ids else len(ids)
                found[i] = Written(ids[:length], weights[row, :length, real[row]].double().cpu().numpy())
            advance(len(batch))
    return [found[i] for i in range(len(source_ids))]
