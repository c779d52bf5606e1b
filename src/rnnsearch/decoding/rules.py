"""The stopping rules of the paper's decoder, for any `generate`.

The paper says "beam search" and no more; these are the rules of the authors' code (GroundHog, experiments/nmt). Both
go by the length of each source, so that a sentence is translated alike whatever it shares a batch with:

    lengths = batch["attention_mask"].sum(dim=1)
    model.generate(
        **batch,
        num_beams=10,
        length_penalty=0.0,
        early_stopping=True,
        max_new_tokens=paper_steps(lengths),
        logits_processor=paper_rules(lengths, tokenizer.eos_token_id),
        suppress_tokens=[tokenizer.unk_token_id],  # the No UNK column of table 1; leave it out for the other
    )

`length_penalty=0.0` compares plain sums of log-probabilities, and `early_stopping=True` ends a search when as many
translations have ended as the beam is wide. As in the authors' search, a rule takes words out and leaves the
probabilities of the others as they are.

What differs from their search: their beam becomes narrower by one with each translation that ends, while `generate`
keeps its width to the end; so it may find a translation that theirs no longer looks for. Where nothing has ended, they
search again. `Translator.translate(..., paper_decoding=True)` does so too; `generate` alone returns what it gave up.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from transformers import LogitsProcessor, LogitsProcessorList

LONGEST = 3  # tokens of a translation for each token of its source, </s> counted on both sides
GIVEN_UP = -1e6  # log-probability of the end of what is given up: below all sums, above the -1e9 of `generate`


class LengthRule(LogitsProcessor):
    """A rule that goes by the length of each source.

    Args:
        source_lengths: S of each sentence, (B,), its </s> counted and padding not.
        eos_token_id: of </s>.
    """

    def __init__(self, source_lengths: Tensor | Sequence[int], eos_token_id: int):
        self.source_lengths = torch.as_tensor(source_lengths)
        self.eos_token_id = eos_token_id

    def source_lengths_of_rows(self, scores: Tensor) -> Tensor:
        """S behind each row: the k hypotheses of a sentence stand together, (B,) to (k·B,)."""
        repeats = len(scores) // len(self.source_lengths)
        return self.source_lengths.to(scores.device).repeat_interleave(repeats)


class ShortestTranslation(LengthRule):
    """No end among the first ⌊S / 2⌋ tokens of a translation."""

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores of the next token, (k·B, K), from the start token and what is written, (k·B, 1 + tokens)."""
        too_short = input_ids.shape[1] - 1 < self.source_lengths_of_rows(scores) // 2
        ends = torch.arange(scores.shape[1], device=scores.device) == self.eos_token_id
        return scores.masked_fill(too_short[:, None] & ends, -torch.inf)


class LongestTranslation(LengthRule):
    """The end alone after 3 S tokens, so unlikely that every translation that ended before is better.

    A translation with more than 3 S tokens, its end counted, therefore is one that the authors' search gives up, and
    it comes back only where no other ended.
    """

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Scores of the next token, (k·B, K), from the start token and what is written, (k·B, 1 + tokens)."""
        too_long = input_ids.shape[1] - 1 >= LONGEST * self.source_lengths_of_rows(scores)
        given_up = torch.full_like(scores, -torch.inf)
        given_up[:, self.eos_token_id] = GIVEN_UP
        return torch.where(too_long[:, None], given_up, scores)


def paper_rules(source_lengths: Tensor | Sequence[int], eos_token_id: int) -> LogitsProcessorList:
    """Both rules for sentences of these lengths, (B,), their </s> counted and padding not."""
    return LogitsProcessorList(
        [
            ShortestTranslation(source_lengths, eos_token_id),
            LongestTranslation(source_lengths, eos_token_id),
        ]
    )


def paper_steps(source_lengths: Tensor | Sequence[int]) -> int:
    """`max_new_tokens` for these sentences: the most tokens of the longest, and the end of what is given up."""
    return LONGEST * int(max(source_lengths)) + 1
