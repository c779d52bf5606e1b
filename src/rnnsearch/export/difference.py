"""How far exported graphs are from the model that they were made of."""

from pathlib import Path

import numpy as np
import torch

from ..modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration
from .sessions import Decoding, Sessions

WORDS = 4  # of each translation
BATCHES = [(1, 1, 1), (3, 7, 1), (2, 5, 4)]  # sentences, positions of the longest source, hypotheses of a sentence


@torch.no_grad()
def greatest_difference(model: RNNsearchForConditionalGeneration, folder: Path) -> float:
    """Greatest difference in log-probabilities and alignments, on ragged batches of random ids.

    The model reads all words of a translation at once, the graphs one after the other.
    """
    sessions = Sessions(folder)
    generator = torch.Generator().manual_seed(0)
    differences = []
    for sentences, positions, hypotheses in BATCHES:
        source = torch.randint(model.config.src_vocab_size, (sentences, positions), generator=generator)
        lengths = positions - torch.arange(sentences)
        mask = (torch.arange(positions) < lengths.unsqueeze(1)).long()
        words = torch.randint(model.config.vocab_size, (sentences * hypotheses, WORDS), generator=generator)
        words[:, 0] = model.config.decoder_start_token_id
        expected = model(
            input_ids=source, attention_mask=mask, decoder_input_ids=words, output_attentions=True, use_cache=False
        )
        by_name = {"log_probs": expected.logits.log_softmax(dim=-1)}  # (R, T, K)
        if expected.cross_attentions is not None:
            by_name["alignment"] = expected.cross_attentions[0].squeeze(1)  # (R, T, S)
        decoding = Decoding(sessions, source.numpy(), mask.numpy(), hypotheses)
        for position in range(WORDS):
            found = decoding.read(words[:, position].reshape(sentences, hypotheses).numpy())
            differences += [
                np.abs(found[name].reshape(sentences * hypotheses, -1) - of_model[:, position].numpy()).max()
                for name, of_model in by_name.items()
            ]
    return float(np.max(differences))
