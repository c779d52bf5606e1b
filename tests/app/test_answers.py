"""The app's answers are those of the translator and of the aligner."""

import numpy as np
import pytest

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, Translator, align
from rnnsearch.app.answers import answers, loaded
from rnnsearch.errors import InputError

SENTENCE = "A dog sees the old bridge."


def test_texts_and_scores_are_those_of_the_translator(translator):
    [expected] = translator.translate([SENTENCE], num_beams=4, n_best=3, length_penalty=0.0)
    found = answers(translator, SENTENCE, num_beams=4, n_best=3, length_penalty=0.0)
    assert [(one.text, one.score) for one in found] == [(one.text, one.score) for one in expected]


def test_numbers_matter(translator):
    first = [answers(translator, SENTENCE, num_beams=1)[0].text, answers(translator, SENTENCE)[0].text]
    assert first[0] != first[1]
    assert answers(translator, SENTENCE)[0].score != answers(translator, SENTENCE, length_penalty=2.0)[0].score


def test_alignment_is_that_of_the_search(translator):
    """The weights of the beam that won, which the aligner follows back through the search."""
    [expected] = align(translator.model, translator.tokenizer, [SENTENCE], num_beams=4)
    [found] = answers(translator, SENTENCE, num_beams=4)
    assert found.alignment.source_words == expected.source_words
    assert found.alignment.target_words == expected.target_words
    np.testing.assert_allclose(found.alignment.weights, expected.weights, atol=1e-6)
    assert found.alignment.tokens is not None


def test_a_fixed_context_has_no_alignment(translator):
    settings = translator.model.config.to_dict() | {"context": "fixed"}
    fixed = Translator(RNNsearchForConditionalGeneration(RNNsearchConfig(**settings)), translator.tokenizer)
    [found] = answers(fixed, SENTENCE)
    assert found.text == fixed.translate([SENTENCE])[0][0].text
    assert found.alignment is None


@pytest.mark.parametrize(
    ("sentence", "numbers", "message"),
    [
        (" \n\t", {}, "there is nothing to translate: type a sentence"),
        ("dog " * 200, {}, "the sentence has 201 tokens: give at most 200, one sentence at a time"),
        (SENTENCE, {"n_best": 3, "num_beams": 2}, "n-best is 3 but the beam only 2: widen the beam"),
    ],
)
def test_what_cannot_be_answered(sentence, numbers, message, translator):
    with pytest.raises(InputError) as caught:
        answers(translator, sentence, **numbers)
    assert str(caught.value) == message


def test_the_longest_sentence_is_answered(translator):
    assert len(answers(translator, "dog " * 199)[0].alignment.source_words) == 200


def test_models_stay_in_memory(model_folder, tiny_model_dir):
    first = loaded(str(model_folder))
    assert loaded(str(tiny_model_dir)) is not first
    assert loaded(f" {model_folder} ") is first


def test_a_model_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no model is named: give its folder, or its name on the Hugging Face Hub"):
        loaded(" ")
    with pytest.raises(InputError, match=f"{tmp_path}: no model can be loaded"):
        loaded(str(tmp_path))
