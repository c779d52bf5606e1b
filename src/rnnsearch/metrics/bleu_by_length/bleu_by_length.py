"""BLEU as the RNNsearch paper reports it: of all sentences, of those without an unknown word, and by source length.

Counted by `rnnsearch.evaluation` over Moses tokens with case, from 0 to 100. The configuration is the code of the
target language.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import datasets
import evaluate

from rnnsearch.errors import InputError
from rnnsearch.evaluation.by_length import bleu_by_length
from rnnsearch.evaluation.scores import known_sentences, paper_bleu
from rnnsearch.loading import load_tokenizer

_INPUTS = """
Args:
    predictions: one detokenised translation for each sentence.
    references: one detokenised reference for each sentence.
    sources: the source sentences; without them there is nothing but the BLEU of all sentences.
    tokenizer: folder or Hub name of the model whose vocabularies say which words are unknown; without it there is no
        score of the sentences without one.
    bin_width: words of a source from one bin to the next: with 10 the bins are 1-10, 11-20 and so on.

Returns:
    `bleu`, `signature` and `sentences`, the number of them; with `sources` also `by_length`, a list of bins with `low`
    and `high` (words of a source, both included), `sentences`, `bleu`, and `confidence_low` and `confidence_high`, the
    ends of its 95 % bootstrap interval. With `tokenizer` also `bleu_no_unk` (None where every sentence has an unknown
    word), `sentences_no_unk` and `by_length_no_unk`.

Raises:
    InputError: the numbers of sentences differ or are zero, or `tokenizer` is given without `sources` or cannot be
        loaded.
"""


class BleuByLength(evaluate.Metric):
    """BLEU of all sentences, of those without an unknown word, and by source length.

    >>> import evaluate
    >>> from rnnsearch.metrics import BLEU_BY_LENGTH
    >>> metric = evaluate.load(BLEU_BY_LENGTH, "en")
    >>> found = metric.compute(
    ...     predictions=["The cat sat on the mat .", "A dog barks ."],
    ...     references=["The cat sat on a mat .", "A dog barks ."],
    ...     sources=["Le chat était assis sur un tapis .", "Un chien aboie ."],
    ...     bin_width=5,
    ... )
    >>> round(found["bleu"], 2), found["sentences"]
    (63.4, 2)
    >>> [(one["low"], one["high"], round(one["bleu"], 2)) for one in found["by_length"]]
    [(1, 5, 100.0), (6, 10, 48.89)]
    """

    def _info(self) -> evaluate.MetricInfo:
        if self.config_name == "default":
            raise InputError("which language? give the code of the target's: evaluate.load(BLEU_BY_LENGTH, 'fr')")
        return evaluate.MetricInfo(
            description=__doc__,
            citation="",
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
            reference_urls=["https://arxiv.org/abs/1409.0473"],
        )

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        sources: Sequence[str] | None = None,
        tokenizer: str | None = None,
        bin_width: int = 10,
    ) -> dict[str, Any]:
        language = self.config_name
        score = paper_bleu(predictions, references, language)
        found: dict[str, Any] = {"bleu": score.value, "signature": score.signature, "sentences": score.sentences}
        if sources is None:
            if tokenizer is not None:
                raise InputError("tokenizer is given without sources: they decide, too, which words are unknown")
            return found
        if len(sources) != len(references):
            raise InputError(f"{len(sources)} sources but {len(references)} references: give one for each")

        def by_length(positions: Sequence[int]) -> list[dict[str, Any]]:
            lengths = [len(sources[position].split()) for position in positions]
            bins = bleu_by_length(*at(positions), lengths, language, bin_width)
            return [asdict(one) for one in bins]

        def at(positions: Sequence[int]) -> tuple[list[str], list[str]]:
            return [predictions[i] for i in positions], [references[i] for i in positions]

        found["by_length"] = by_length(range(len(sources)))
        if tokenizer is not None:
            known = known_sentences(load_tokenizer(tokenizer), sources, references)
            found["bleu_no_unk"] = paper_bleu(*at(known), language).value if known else None
            found["sentences_no_unk"] = len(known)
            found["by_length_no_unk"] = by_length(known) if known else []
        return found
