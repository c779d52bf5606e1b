"""Scores against hand-worked numbers and against sacreBLEU called directly."""

import math
import random
from types import SimpleNamespace

import pytest
import sacrebleu

from rnnsearch.errors import InputError
from rnnsearch.evaluation.scores import all_scores, bleu, chrf, known_sentences, moses_tokens, paper_bleu


def random_corpus(sentences: int, seed: int) -> tuple[list[str], list[str]]:
    """References of 1 to 12 words and hypotheses that got about a third of the words wrong, some empty."""
    generator = random.Random(seed)
    words = ["the", "Cat", "sat", "on", "a", "mat", "well-known", "it's", "5,000", "dogs"]
    references, hypotheses = [], []
    for _ in range(sentences):
        sentence = generator.choices(words, k=generator.randint(1, 12))
        kept = [word if generator.random() < 0.67 else generator.choice(words) for word in sentence]
        references.append(" ".join(sentence) + ".")
        hypotheses.append(" ".join(kept[: generator.randint(0, len(kept))]))
    return hypotheses, references


def test_bleu_worked_by_hand():
    # Sentence 1: 5 of 6 words match ("the" counts once), 3 of 5 bigrams, 2 of 4 trigrams, 1 of 3 four-grams.
    # Sentence 2: all of 4, 3, 2, 1 match, but the reference has 6 words.
    # Together 9/10, 6/8, 4/6, 2/4, whose product is 0.225; 10 words against 12: brevity exp(1 - 12/10).
    hypotheses = ["the cat sat on the mat", "she saw two dogs"]
    references = ["the cat sat on a mat", "she saw two dogs run away"]
    by_hand = 100 * math.exp(1 - 12 / 10) * 0.225**0.25
    assert by_hand == pytest.approx(56.388, abs=1e-3)
    assert bleu(hypotheses, references).value == pytest.approx(by_hand, abs=1e-9)
    assert paper_bleu(hypotheses, references, "en").value == pytest.approx(by_hand, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_scores_are_sacrebleus(seed):
    hypotheses, references = random_corpus(37, seed)
    score = bleu(hypotheses, references)
    assert score.value == pytest.approx(sacrebleu.corpus_bleu(hypotheses, [references]).score, abs=1e-9)
    assert 0 < score.value < 100
    assert score.sentences == 37
    assert "tok:13a" in score.signature
    assert f"version:{sacrebleu.__version__}" in score.signature
    assert chrf(hypotheses, references).value == pytest.approx(
        sacrebleu.corpus_chrf(hypotheses, [references]).score, abs=1e-9
    )


def multi_bleu(hypotheses: list[str], references: list[str]) -> float:
    """BLEU of tokens counted independently of sacreBLEU, zero as soon as an order has no match."""
    matches, totals = [0] * 4, [0] * 4
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        for order in range(1, 5):
            found, wanted = (
                [tuple(line.split()[i : i + order]) for i in range(len(line.split()) - order + 1)]
                for line in (hypothesis, reference)
            )
            totals[order - 1] += len(found)
            matches[order - 1] += sum(min(found.count(gram), wanted.count(gram)) for gram in set(found))
    if 0 in matches:
        return 0.0
    lengths = [sum(len(line.split()) for line in lines) for lines in (hypotheses, references)]
    brevity = min(1.0, math.exp(1 - lengths[1] / lengths[0]))
    return 100 * brevity * math.prod(match / total for match, total in zip(matches, totals, strict=True)) ** 0.25


@pytest.mark.parametrize("lowercase", [False, True])
def test_paper_bleu_counts_moses_tokens(lowercase):
    hypotheses, references = random_corpus(41, seed=5)
    tokens = [moses_tokens(lines, "en", lowercase) for lines in (hypotheses, references)]
    score = paper_bleu(hypotheses, references, "en", lowercase)
    assert score.value == pytest.approx(multi_bleu(*tokens), abs=1e-9)
    assert score.value > 0
    assert f"case:{'lc' if lowercase else 'mixed'}|" in score.signature
    assert "tok:moses-en" in score.signature


def test_moses_tokens_keep_hyphens_and_characters_and_lower_first():
    assert moses_tokens(["L'Homme & un porte-monnaie: «[ok]»."], "fr") == [
        "L' Homme & un porte-monnaie : « [ ok ] » ."
    ]
    assert moses_tokens(["NOT A Well-Known Thing"], "en", lowercase=True) == ["not a well-known thing"]


def test_case_counts_unless_lowered():
    hypotheses, references = ["THE CAT SAT ON THE MAT"], ["the cat sat on the mat"]
    assert bleu(hypotheses, references).value == 0
    assert paper_bleu(hypotheses, references, "en").value == 0
    assert paper_bleu(hypotheses, references, "en", lowercase=True).value == pytest.approx(100)


def test_no_match_is_zero_and_the_paper_measure_is_not_smoothed():
    assert bleu(["q r"], ["a b c d e"]).value == 0
    # Two words and one bigram match, and no longer n-gram: sacreBLEU smooths the zeros, multi-bleu.perl does not.
    hypotheses, references = ["a b x c y"], ["a b z c w"]
    assert bleu(hypotheses, references).value > 0
    assert paper_bleu(hypotheses, references, "en").value == 0


@pytest.mark.parametrize(
    "language, reference, hypothesis, signature",
    [
        ("zh", "我喜欢猫。", "我喜欢狗。", "tok:zh"),
        ("ja", "私は猫が好きです。", "私は犬が好きです。", "tok:char"),
        ("ko", "나는 고양이를 좋아해요.", "나는 강아지를 좋아해요.", "tok:char"),
    ],
)
def test_languages_without_spaces(language, reference, hypothesis, signature):
    score = bleu([hypothesis], [reference], target_lang=language)
    assert signature in score.signature
    assert 0 < score.value < 100


def test_tokenize_overrides_the_language():
    assert "tok:intl" in bleu(["我喜欢狗。"], ["我喜欢猫。"], target_lang="zh", tokenize="intl").signature
    with pytest.raises(InputError, match="no tokenizer 'words'"):
        bleu(["a"], ["a"], tokenize="words")


@pytest.mark.parametrize(
    "measure", [bleu, chrf, lambda h, r: paper_bleu(h, r, "en"), lambda h, r: all_scores(h, r, "en")]
)
def test_counts_must_agree(measure):
    with pytest.raises(InputError, match="2 hypotheses but 3 references"):
        measure(["a", "b"], ["a", "b", "c"])
    with pytest.raises(InputError, match="no sentence"):
        measure([], [])


def test_known_sentences_are_known_on_both_sides():
    class Words:
        """Words longer than three letters are unknown."""

        unk_token_id = 3

        def __call__(self, text=None, text_target=None, verbose=True):
            lines = text if text is not None else text_target
            return SimpleNamespace(input_ids=[[3 if len(w) > 3 else 7 for w in line.split()] + [2] for line in lines])

    sources = ["a b", "a longer", "c", "", "d"]
    references = ["A B", "A B", "stranger", "", "D"]
    assert known_sentences(Words(), sources, references) == [0, 3, 4]
    assert known_sentences(Words(), [], []) == []
    with pytest.raises(InputError, match="1 source sentences but 2 references"):
        known_sentences(Words(), ["a"], ["a", "b"])
