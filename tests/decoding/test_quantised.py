"""Weights of eight bits: near the model they were made from, which they leave alone."""

import copy

import pytest
import torch
from torch import nn

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, Translator
from rnnsearch.decoding.quantised import with_int8_weights
from rnnsearch.errors import InputError


@pytest.mark.parametrize("context", ["search", "fixed"])
@pytest.mark.parametrize("step_order", ["paper", "groundhog"])
def test_logits_are_near_and_layers_are_of_eight_bits(context, step_order):
    torch.manual_seed(0)
    config = RNNsearchConfig(
        src_vocab_size=50, vocab_size=60, embedding_size=32, hidden_size=48, alignment_size=24, maxout_size=16,
        context=context, step_order=step_order, initializer_range=0.3,
    )  # fmt: skip
    model = RNNsearchForConditionalGeneration(config).eval()
    before = copy.deepcopy(model.state_dict())
    small = with_int8_weights(model)
    assert all(torch.equal(value, model.state_dict()[name]) for name, value in before.items())
    batch = {"input_ids": torch.tensor([[5, 9, 30, 2], [7, 2, 0, 0]]), "decoder_input_ids": torch.tensor([[1], [1]])}
    with torch.no_grad():
        exact, found = model(**batch).logits, small(**batch).logits
    error = (found - exact).norm() / exact.norm()
    assert 1e-4 < error < 0.05, "rounded, and no more than eight bits round"
    left = {name for name, layer in small.named_modules() if isinstance(layer, nn.Linear)}
    recurrent = {f"{unit}_unit.{name}_proj" for unit in ("forward", "backward") for name in ("gate", "candidate")}
    expected = {f"model.encoder.{name}" for name in recurrent if context == "search" or "forward" in name}
    assert left == expected | ({"model.decoder.attention.energy_proj"} if context == "search" else set())


def test_translating(tiny_model_dir):
    lines = ["The red house is small.", "", "We do not sleep in the old house."]
    translator = Translator.from_pretrained(tiny_model_dir, dtype=torch.int8)
    for beam in (1, 3):
        results = translator.translate(lines, num_beams=beam)
        assert [len(result) for result in results] == [1, 1, 1] and results[1][0].text == ""


def test_another_device_is_refused(tiny_model_dir):
    with pytest.raises(InputError, match="int8 works on a CPU, not on cuda"):
        Translator.from_pretrained(tiny_model_dir, device="cuda", dtype=torch.int8)
