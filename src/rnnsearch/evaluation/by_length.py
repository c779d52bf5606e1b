"""BLEU as a function of sentence length, as in figure 2 of the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics import BLEU

from ..errors import InputError
from .scores import check_counts, moses_tokens, tokenised_bleu

_ORDER = 4


@dataclass(frozen=True)
class LengthBin:
    """BLEU of the sentences whose sources have `low` to `high` words, both included.

    Args:
        low: fewest words of a source in this bin.
        high: most words of a source in this bin.
        sentences: number of sentences.
        bleu: tokenised, cased BLEU of these sentences together, 0 to 100.
        confidence_low: lower end of the 95 % bootstrap interval of `bleu`.
        confidence_high: upper end of the 95 % bootstrap interval of `bleu`.
    """

    low: int
    high: int
    sentences: int
    bleu: float
    confidence_low: float
    confidence_high: float


def bleu_by_length(
    hypotheses: Sequence[str],
    references: Sequence[str],
    source_lengths: Sequence[int],
    target_lang: str,
    bin_width: int = 10,
    step: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[LengthBin]:
    """Tokenised BLEU (`paper_bleu`) of bins of equal width, shortest sentences first; empty bins are left out.

    With a step of 1 the bins are a window that slides over the lengths, which smooths the curve: Cho et al. (2014,
    arXiv 1409.1259) draw theirs through a window of 10. Neighbours then share sentences.

    The intervals come from resampling the sentences of a bin with replacement (Koehn, 2004).

    Args:
        hypotheses: one detokenised translation for each sentence.
        references: one detokenised reference for each sentence.
        source_lengths: words of each source; an empty source is counted with the shortest.
        target_lang: language code for the rules of the Moses tokeniser.
        bin_width: words of a bin: with 10 the bins are 1-10, 11-20 and so on.
        step: words from the beginning of a bin to that of the next; None is `bin_width`.
        resamples: number of bootstrap samples.
        seed: of the bootstrap.

    Raises:
        InputError: the three counts differ or are zero.
        ValueError: `bin_width`, `step` or `resamples` is below 1.
    """
    check_counts(hypotheses, references)
    if len(source_lengths) != len(references):
        raise InputError(f"{len(source_lengths)} source lengths but {len(references)} references: give one for each")
    step = bin_width if step is None else step
    if min(bin_width, step, resamples) < 1:
        raise ValueError(f"bin_width is {bin_width}, step {step} and resamples {resamples}: give 1 or more")

    statistics = _sentence_statistics(moses_tokens(hypotheses, target_lang), moses_tokens(references, target_lang))
    generator = np.random.default_rng(seed)
    lengths = np.maximum(source_lengths, 1)
    bins = []
    # The last bin is the first that reaches the longest sentence.
    for low in range(1, max(lengths.max() - bin_width, 0) + step + 1, step):
        inside = statistics[(low <= lengths) & (lengths < low + bin_width)]
        if not len(inside):
            continue
        draws = generator.integers(len(inside), size=(resamples, len(inside)))
        ends = np.percentile([_bleu(inside[draw].sum(axis=0)) for draw in draws], [2.5, 97.5])
        bins.append(
            LengthBin(
                low=low,
                high=low + bin_width - 1,
                sentences=len(inside),
                bleu=_bleu(inside.sum(axis=0)),
                confidence_low=float(ends[0]),
                confidence_high=float(ends[1]),
            )
        )
    return bins


def _sentence_statistics(hypotheses: list[str], references: list[str]) -> np.ndarray:
    """What BLEU needs of each sentence, (sentences, 2 + 2 * _ORDER): both lengths, matches and n-grams of 1 to 4.

    Sums of rows are the statistics of sentences together, so that no resample counts an n-gram again.
    """
    counter = tokenised_bleu()
    counter.effective_order = True  # else sacreBLEU warns about sentence scores; the counts are the same
    scores = [counter.sentence_score(pair[0], [pair[1]]) for pair in zip(hypotheses, references, strict=True)]
    return np.array([[score.sys_len, score.ref_len, *score.counts, *score.totals] for score in scores])


def _bleu(statistics: np.ndarray) -> float:
    hypothesis_length, reference_length, *counts = statistics.tolist()
    return BLEU.compute_bleu(counts[:_ORDER], counts[_ORDER:], hypothesis_length, reference_length).score
