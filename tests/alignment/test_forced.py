"""Log-probabilities of given translations against the reference, one pair at a time."""

import copy
import math

import numpy as np
import pytest
import torch

from rnnsearch import reference
from rnnsearch.alignment.forced import force, score
from rnnsearch.errors import InputError

SOURCES = ["The red house is small.", "", "A dog sees Zorro", "We do not sleep in the old house."]
TARGETS = ["La maison est petite.", "Un chien voit", "", "Nous ne dormons pas dans le vieux jardin rouge de Zorro."]


@pytest.mark.parametrize("batch_size", [1, 3])
@pytest.mark.parametrize("options", [{}, {"step_order": "groundhog"}, {"context": "fixed"}])
def test_of_the_reference(make_model, tiny_tokenizer, options, batch_size):
    model = make_model(tiny_tokenizer, **options)
    ids = tiny_tokenizer(SOURCES).input_ids, tiny_tokenizer(text_target=TARGETS).input_ids
    done = []
    found = force(model, tiny_tokenizer, *ids, batch_size, done.append)
    assert sum(done) == 4 and max(done) == batch_size
    totals = score(model, tiny_tokenizer, SOURCES, TARGETS, batch_size)
    parameters = reference.from_state_dict(model.state_dict())
    for one, total, x, y in zip(found, totals, *ids, strict=True):
        logits, alpha = reference.decode(
            parameters, reference.encode(parameters, x), y, model.config.step_order, context=model.config.context
        )
        expected = [reference.log_softmax(row)[word] for row, word in zip(logits, y, strict=True)]
        np.testing.assert_allclose(one.log_probs, expected, atol=1e-10)
        assert total == pytest.approx(sum(expected))
        if options.get("context") == "fixed":
            assert one.weights is None
        else:
            np.testing.assert_allclose(one.weights, alpha, atol=1e-10)


def test_a_likelier_word_by_hand(make_model, tiny_tokenizer):
    """Without weights all words are equally likely, apart from the output's bias."""
    model = make_model(tiny_tokenizer)
    for parameter in model.parameters():
        torch.nn.init.zeros_(parameter)
    size = tiny_tokenizer.target_vocab_size
    assert score(model, tiny_tokenizer, ["A dog"], ["Un chien"]) == [pytest.approx(-3 * math.log(size))]
    with torch.no_grad():
        model.lm_head.bias[2] = math.log(size)  # the end, as likely as all others and one more together
    expected = -2 * math.log(2 * size - 1) + math.log(size / (2 * size - 1))
    assert score(model, tiny_tokenizer, ["A dog"], ["Un chien"]) == [pytest.approx(expected)]


def test_half_precision_and_dropout(make_model, tiny_tokenizer):
    model = make_model(tiny_tokenizer, readout_dropout=0.5).train()
    full = score(model, tiny_tokenizer, SOURCES, TARGETS)
    assert full == score(model, tiny_tokenizer, SOURCES, TARGETS)
    half = score(copy.deepcopy(model).bfloat16(), tiny_tokenizer, SOURCES, TARGETS)
    assert half == pytest.approx(full, rel=0.05)


def test_wrong_use(make_model, tiny_tokenizer):
    model = make_model(tiny_tokenizer)
    assert score(model, tiny_tokenizer, [], []) == []
    with pytest.raises(InputError, match="2 sources but 1 targets"):
        score(model, tiny_tokenizer, ["a", "b"], ["c"])
    with pytest.raises(InputError, match="batch size is 0"):
        score(model, tiny_tokenizer, ["a"], ["c"], 0)
