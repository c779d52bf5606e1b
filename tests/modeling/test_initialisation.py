"""The start of training, matrix by matrix (appendix B.1)."""

import math

import pytest
import torch

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration

UNITS = ["model.encoder.forward_unit", "model.encoder.backward_unit", "model.decoder.unit"]
# Large enough that a deviation is known to 3 % and the maxima stay far from it.
SIZES = {
    "src_vocab_size": 301,
    "vocab_size": 303,
    "embedding_size": 44,
    "hidden_size": 40,
    "alignment_size": 60,
    "maxout_size": 50,
}


def build(seed: int = 0, **choices) -> RNNsearchForConditionalGeneration:
    torch.manual_seed(seed)
    return RNNsearchForConditionalGeneration(RNNsearchConfig(**{**SIZES, **choices}))


def assert_as_in_the_paper(model, range_: float = 0.01) -> None:
    """Each U orthogonal by itself; W_a, U_a at a tenth, v_a and biases zero; the rest at `range_`."""
    size = model.config.hidden_size
    for name, weight in model.state_dict().items():
        layer, _, kind = name.rpartition(".")
        if kind == "bias" or layer.endswith("energy_proj"):
            assert not weight.any(), name
        elif layer.endswith(("gate_proj", "candidate_proj")):
            for block in weight.split(size):
                torch.testing.assert_close(block @ block.T, torch.eye(size), atol=1e-5, rtol=0, msg=name)
        else:
            tenth = layer.endswith(("query_proj", "key_proj")) and model.config.score == "additive"
            expected = range_ / 10 if tenth else range_
            assert float(weight.std()) == pytest.approx(expected, rel=0.06), name
            assert float(weight.abs().max()) < 6 * expected, name
            assert abs(float(weight.mean())) < 5 * expected / weight.numel() ** 0.5, name


@pytest.mark.parametrize("initializer_range", [0.01, 0.3])
def test_every_matrix(kind, initializer_range):
    assert_as_in_the_paper(build(**kind, initializer_range=initializer_range), initializer_range)


def test_recurrent_blocks_are_drawn_apart():
    """Nine matrices, three a unit; two that agreed would be orthogonal just the same."""
    weights = build().state_dict()
    blocks = [
        block
        for unit in UNITS
        for name in ("gate_proj", "candidate_proj")
        for block in weights[f"{unit}.{name}.weight"].split(SIZES["hidden_size"])
    ]
    assert len(blocks) == 9
    for i, one in enumerate(blocks):
        assert all((one - other).abs().max() > 0.1 for other in blocks[i + 1 :])


def test_initialiser_of_the_decoder_is_not_orthogonal():
    """W_s is square like the U, and small like the rest."""
    weight = build().model.decoder.init_proj.weight
    assert (weight @ weight.T).diagonal().max() < 0.01


def test_seed_decides():
    one, same, other = build(1).state_dict(), build(1).state_dict(), build(2).state_dict()
    assert all(torch.equal(one[name], same[name]) for name in one)
    name = "model.decoder.unit.gate_proj.weight"
    assert not torch.equal(one[name], other[name])


@pytest.mark.parametrize("step_order", ["paper", "groundhog"])
def test_first_alignments_are_uniform_and_the_first_gradients_the_papers(step_order):
    """v_a = 0: no gradient reaches W_a and U_a yet, and v_a gets one because those two are not zero."""
    model = build(step_order=step_order).double()
    source = torch.tensor([[5, 6, 7, 8, 2], [9, 4, 2, 0, 0]])
    output = model(source, labels=torch.tensor([[4, 9, 2], [6, 2, -100]]), output_attentions=True)
    expected = torch.tensor([[1 / 5] * 5, [1 / 3, 1 / 3, 1 / 3, 0, 0]]).double()[:, None, None].expand(2, 1, 3, 5)
    torch.testing.assert_close(output.cross_attentions[0], expected)
    output.loss.backward()
    attention = model.model.decoder.attention
    assert not attention.query_proj.weight.grad.any()
    assert not attention.key_proj.weight.grad.any()
    assert attention.energy_proj.weight.grad.all()


def test_first_loss_is_that_of_a_uniform_guess():
    loss = build()(torch.tensor([[5, 6, 2]]), labels=torch.tensor([[4, 9, 2]])).loss
    assert loss.item() == pytest.approx(math.log(303), rel=1e-3)


def test_loading_changes_nothing(kind, tmp_path):
    """Bit for bit, and for values no initialiser would give."""
    model = build(**kind)
    with torch.no_grad():
        for weight in model.parameters():
            weight.uniform_(0.4, 0.6)
    model.save_pretrained(tmp_path)
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path)
    expected, found = model.state_dict(), again.state_dict()
    assert expected.keys() == found.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)


@pytest.mark.parametrize("seed", [0, 1])
def test_what_a_checkpoint_lacks_starts_as_in_the_paper(tmp_path, seed):
    """A half-filled checkpoint, one of each kind of weight missing; the others stay as they were saved."""
    model = build()
    missing = {
        "model.decoder.unit.gate_proj.weight", "model.encoder.forward_unit.candidate_proj.weight",
        "model.decoder.attention.query_proj.weight", "model.decoder.attention.energy_proj.weight",
        "model.decoder.embed_tokens.weight", "model.decoder.init_proj.bias", "lm_head.weight",
    }  # fmt: skip
    kept = {name: torch.full_like(w, 0.5) for name, w in model.state_dict().items() if name not in missing}
    model.save_pretrained(tmp_path, state_dict=kept)
    torch.manual_seed(seed)
    again, report = RNNsearchForConditionalGeneration.from_pretrained(tmp_path, output_loading_info=True)
    assert set(report["missing_keys"]) == missing
    state_dict = again.state_dict()
    assert all(torch.equal(state_dict[name], weight) for name, weight in kept.items())
    fresh = build()
    fresh.load_state_dict({name: weight for name, weight in state_dict.items() if name in missing}, strict=False)
    assert_as_in_the_paper(fresh)
