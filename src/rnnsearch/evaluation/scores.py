"""BLEU and chrF with signatures, and the sentences that have no unknown word.

Every score is counted by sacreBLEU over the whole corpus, with one reference for each sentence, and lies between
0 and 100. Hypotheses and references are plain, detokenised text in all functions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sacrebleu.metrics import BLEU, CHRF
from sacremoses import MosesTokenizer

from ..errors import InputError

if TYPE_CHECKING:
    from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer

# Languages written without spaces between words. Japanese and Korean are cut into characters, because sacreBLEU's own
# choice for them depends on whether MeCab is installed: the same files would get two numbers on two machines.
_TOKENIZE = {"zh": "zh", "ja": "char", "ko": "char"}


@dataclass(frozen=True)
class Score:
    """One number and all that is needed to compare it with another.

    Args:
        name: what was measured, in words.
        value: between 0 and 100.
        signature: sacreBLEU's account of how it was counted; for tokenised measures with the Moses tokeniser's part.
        sentences: number of sentences scored together.
    """

    name: str
    value: float
    signature: str
    sentences: int


def bleu(
    hypotheses: Sequence[str], references: Sequence[str], target_lang: str = "", tokenize: str | None = None
) -> Score:
    """Detokenised BLEU, the one to compare between systems (Post, 2018).

    Args:
        hypotheses: one translation for each sentence.
        references: one reference for each sentence.
        target_lang: code of the target language; `zh`, `ja` and `ko` are not cut at spaces.
        tokenize: name of a sacreBLEU tokenizer, instead of the language's (`13a` for most).

    Raises:
        InputError: counts differ or are zero, or sacreBLEU has no such tokenizer.

    >>> round(bleu(["The cat sat on the mat."], ["The cat sat on a mat."]).value, 2)
    48.89
    """
    check_counts(hypotheses, references)
    tokenize = tokenize or _TOKENIZE.get(target_lang, BLEU.TOKENIZER_DEFAULT)
    if tokenize not in BLEU.TOKENIZERS:
        raise InputError(f"sacreBLEU has no tokenizer {tokenize!r}; it has {', '.join(BLEU.TOKENIZERS)}")
    return _measure("BLEU", BLEU(tokenize=tokenize), hypotheses, references)


def paper_bleu(
    hypotheses: Sequence[str], references: Sequence[str], target_lang: str, lowercase: bool = False
) -> Score:
    """BLEU of Moses tokens, as multi-bleu.perl counts it; not comparable with detokenised BLEU.

    With case it is the measure of the paper (section 4.3; the tool is the one its group names in later papers).
    In lower case (lower-cased before tokenising, hyphens not split off) it is the usual measure on Multi30k.

    Args:
        hypotheses: one translation for each sentence.
        references: one reference for each sentence.
        target_lang: language code for the rules of the Moses tokeniser, such as `fr`.
        lowercase: ignore case.

    Raises:
        InputError: counts differ or are zero.
    """
    check_counts(hypotheses, references)
    name = "lower-cased tokenised BLEU" if lowercase else "tokenised BLEU"
    score = _measure(
        name,
        tokenised_bleu(),
        moses_tokens(hypotheses, target_lang, lowercase),
        moses_tokens(references, target_lang, lowercase),
    )
    case = "lc" if lowercase else "mixed"
    signature = score.signature.replace("case:mixed", f"case:{case}").replace("tok:none", f"tok:moses-{target_lang}")
    return Score(score.name, score.value, signature, score.sentences)


def chrf(hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    """chrF2 of sacreBLEU, over character n-grams (Popović, 2015).

    Raises:
        InputError: counts differ or are zero.
    """
    check_counts(hypotheses, references)
    return _measure("chrF2", CHRF(), hypotheses, references)


def all_scores(
    hypotheses: Sequence[str], references: Sequence[str], target_lang: str, tokenize: str | None = None
) -> list[Score]:
    """The four measures of `rnnsearch evaluate`, in the order of its table.

    Raises:
        InputError: counts differ or are zero, or sacreBLEU has no such tokenizer.
    """
    return [
        bleu(hypotheses, references, target_lang, tokenize),
        paper_bleu(hypotheses, references, target_lang),
        paper_bleu(hypotheses, references, target_lang, lowercase=True),
        chrf(hypotheses, references),
    ]


def known_sentences(tokenizer: "RNNsearchTokenizer", sources: Sequence[str], references: Sequence[str]) -> list[int]:
    """Positions of the sentences of the paper's "No UNK" column (section 5.1, table 1).

    These have no out-of-vocabulary word, neither in the source nor in the reference. With a vocabulary of subwords
    that can spell every word they are all sentences.

    Raises:
        InputError: counts differ.
    """
    if len(sources) != len(references):
        raise InputError(f"{len(sources)} source sentences but {len(references)} references: give one for each")
    if not sources:
        return []
    # `verbose=False`: sentences longer than the training cut are no reason for a warning, only their words count.
    source_ids = tokenizer(list(sources), verbose=False).input_ids
    reference_ids = tokenizer(text_target=list(references), verbose=False).input_ids
    unknown = tokenizer.unk_token_id
    return [
        position
        for position, pair in enumerate(zip(source_ids, reference_ids, strict=True))
        if all(unknown not in ids for ids in pair)
    ]


def moses_tokens(lines: Sequence[str], language: str, lowercase: bool = False) -> list[str]:
    """Lines cut by the Moses tokeniser, tokens separated by spaces, special characters left as they are."""
    tokenizer = MosesTokenizer(lang=language)
    return [tokenizer.tokenize(line.lower() if lowercase else line, escape=False, return_str=True) for line in lines]


def tokenised_bleu() -> BLEU:
    """sacreBLEU's counter set up to count as multi-bleu.perl does: tokens as given, no smoothing."""
    return BLEU(tokenize="none", force=True, smooth_method="none")


def check_counts(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    """Raises InputError unless there is one hypothesis for each of one or more references."""
    if len(hypotheses) != len(references):
        raise InputError(f"{len(hypotheses)} hypotheses but {len(references)} references: give one for each")
    if not references:
        raise InputError("no sentence to score: hypotheses and references are empty")


def _measure(name: str, metric: BLEU | CHRF, hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    value = metric.corpus_score(hypotheses, [references]).score
    return Score(name, value, str(metric.get_signature()), len(references))
