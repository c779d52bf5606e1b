"""What the app answers to a sentence: its translations, and what was read to write each."""

from dataclasses import dataclass
from functools import lru_cache

from ..alignment.aligner import SoftAlignment, align
from ..decoding.translator import Translator
from ..errors import InputError

__all__ = ["Answer", "answers", "loaded"]

LONGEST = 200  # tokens of a sentence: nobody reads a larger alignment


@dataclass(frozen=True, eq=False)
class Answer:
    """One translation of a sentence.

    Args:
        text: the translation.
        score: as in `Hypothesis`.
        alignment: what the model reads when it is made to write this text, with its tokens; None for a model with a
            fixed context.
    """

    text: str
    score: float | None
    alignment: SoftAlignment | None


@lru_cache(maxsize=2)  # so that going back and forth between two models, with and without attention say, is quick
def _loaded(name: str) -> Translator:
    return Translator.from_pretrained(name)


def loaded(name: str) -> Translator:
    """The translator in a folder or of a Hub name; the last two stay in memory.

    Raises:
        InputError: no name is given, or there is no RNNsearch model of that name.
    """
    if not name.strip():
        raise InputError("no model is named: give its folder, or its name on the Hugging Face Hub")
    return _loaded(name.strip())


def answers(
    translator: Translator, sentence: str, num_beams: int = 5, length_penalty: float = 1.0, n_best: int = 1
) -> list[Answer]:
    """Translate a sentence, and note what the model reads to write each translation.

    Args:
        translator: model and tokenizer.
        sentence: text of at most 200 tokens.
        num_beams: hypotheses kept at each step; 1 is greedy search.
        length_penalty: power of the length by which log-probabilities are divided; 0 compares their plain sums.
        n_best: translations returned; at most `num_beams`.

    Returns:
        `n_best` answers, best first.

    Raises:
        InputError: the sentence is blank or too long, a number is too small, or `n_best` is above `num_beams`.
    """
    if not sentence.strip():
        raise InputError("there is nothing to translate: type a sentence")
    model, tokenizer = translator.model, translator.tokenizer
    length = len(tokenizer(sentence, verbose=False).input_ids)
    if length > LONGEST:
        raise InputError(f"the sentence has {length} tokens: give at most {LONGEST}, one sentence at a time")
    [hypotheses] = translator.translate([sentence], num_beams, n_best, length_penalty)
    alignments: list[SoftAlignment] | list[None] = [None] * n_best
    if model.config.context != "fixed":
        texts = [one.text for one in hypotheses]
        alignments = align(model, tokenizer, [sentence] * n_best, texts, keep_tokens=True)
    return [Answer(one.text, one.score, alignment) for one, alignment in zip(hypotheses, alignments, strict=True)]
