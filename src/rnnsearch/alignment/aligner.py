"""Soft alignments of given sentence pairs: which source words the model reads to write each target word."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from ..errors import InputError
from ..modeling import RNNsearchForConditionalGeneration
from ..tokenizer import RNNsearchTokenizer

__all__ = ["SoftAlignment", "align"]


@dataclass(frozen=True, eq=False)
class SoftAlignment:
    """The weights α of one sentence pair, between words.

    Args:
        source_words: S words as the tokenizer tells them apart, the last of them `</s>`.
        target_words: T words, the last of them `</s>`.
        weights: (T, S), row i: how much of each source word target word i was written from. A row sums to 1, the
            share of the source's `</s>` included.
    """

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    weights: NDArray[np.float64]


def align(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    sources: Sequence[str],
    targets: Sequence[str],
    batch_size: int = 32,
) -> list[SoftAlignment]:
    """Let the model write the given targets and note what it reads meanwhile (section 3.1, equation 6).

    Where a word is cut into pieces, the weights of the source's pieces are added up and those of the target's pieces
    are averaged, so that a row still sums to 1.

    Args:
        model: a model that attends; it is switched to evaluation mode.
        tokenizer: the tokenizer it was trained with.
        sources: source sentences.
        targets: the translation of each of them.
        batch_size: pairs read together; the result does not depend on it.

    Returns:
        An alignment for each pair, in the order given.

    Raises:
        InputError: the numbers of sources and targets differ, `batch_size` is below 1, or the model has a fixed
            context.
    """
    if len(sources) != len(targets):
        raise InputError(f"{len(sources)} sources but {len(targets)} targets: give one target for each source")
    if batch_size < 1:
        raise InputError(f"batch size is {batch_size}: give 1 or more")
    if model.config.context == "fixed":
        raise InputError("this model reads every source word at once (context 'fixed'), so it has no alignments")
    if not sources:
        return []

    model.eval()
    pairs = tokenizer(list(sources), text_target=list(targets), verbose=False)
    # Pairs of like length together: the less padding, the less work.
    order = sorted(range(len(sources)), key=lambda i: (len(pairs["labels"][i]), len(pairs["input_ids"][i])))
    alignments: dict[int, SoftAlignment] = {}
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        source_ids = [pairs["input_ids"][i] for i in batch]
        target_ids = [pairs["labels"][i] for i in batch]
        weights = _piece_weights(model, tokenizer, source_ids, target_ids)
        for i, source, target, alpha in zip(batch, source_ids, target_ids, weights, strict=True):
            source_words, target_words, alpha = tokenizer.between_words(source, target, alpha)
            alignments[i] = SoftAlignment(tuple(source_words), tuple(target_words), alpha)
    return [alignments[i] for i in range(len(sources))]


@torch.inference_mode()
def _piece_weights(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    source_ids: list[list[int]],
    target_ids: list[list[int]],
) -> list[NDArray[np.float64]]:
    """α of each pair of id lists, (target pieces, source pieces), without padding."""
    sources = tokenizer.pad({"input_ids": source_ids}, return_tensors="pt").to(model.device)
    # Labels are padded on the right whatever the tokenizer's side is: words before a position are read, padding too.
    labels = pad_sequence([torch.tensor(ids) for ids in target_ids], batch_first=True, padding_value=-100)
    output = model(**sources, labels=labels.to(model.device), output_attentions=True)
    alignments = output.cross_attentions[0][:, 0]  # (B, T, S)
    real = sources["attention_mask"].bool()
    return [
        alignments[row, : len(ids), real[row]].double().cpu().numpy()  # (T, S) of this pair
        for row, ids in enumerate(target_ids)
    ]
