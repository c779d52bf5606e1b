"""The batched model against the equations on each sentence pair alone: 1e-10 in float64, gradients included.

Gradients are held against a second truth, the equations in plain torch below, differentiated by autograd; it stands on
its own and must give the outputs of `rnnsearch.reference` first.
"""

import numpy as np
import pytest
import torch
from torch import Tensor

from rnnsearch import reference

TOLERANCE = {"atol": 1e-10, "rtol": 0}


def gru(w: dict[str, Tensor], unit: str, Ey: Tensor, s: Tensor, c: Tensor | None = None) -> Tensor:
    """s' = (1 - z) ∘ s + z ∘ tanh(W E y + U (r ∘ s) + C c + b), one sentence, one step."""
    n = len(s)
    a = w[f"{unit}.input_proj.weight"] @ Ey + w[f"{unit}.input_proj.bias"]
    if c is not None:
        a = a + w[f"{unit}.context_proj.weight"] @ c
    U_z, U_r = w[f"{unit}.gate_proj.weight"][:n], w[f"{unit}.gate_proj.weight"][n:]
    z = 1 / (1 + torch.exp(-a[:n] - U_z @ s))
    r = 1 / (1 + torch.exp(-a[n : 2 * n] - U_r @ s))
    candidate = torch.tanh(a[2 * n :] + w[f"{unit}.candidate_proj.weight"] @ (r * s))
    return s - z * s + z * candidate


def run(w: dict[str, Tensor], x: list[int], y: list[int], step_order: str, context: str, score: str):
    """Log-probabilities (T_y, K_y) and alignments (T_y, T_x) of one sentence pair, in torch."""
    n = len(w["model.decoder.init_proj.bias"])
    zero = torch.zeros(n, dtype=torch.float64)
    E_x, E_y = w["model.encoder.embed_tokens.weight"], w["model.decoder.embed_tokens.weight"]
    forward, backward = [zero], [zero]
    for word in x:
        forward.append(gru(w, "model.encoder.forward_unit", E_x[word], forward[-1]))
    if context == "search":
        for word in reversed(x):
            backward.append(gru(w, "model.encoder.backward_unit", E_x[word], backward[-1]))
        h = torch.stack([torch.cat(pair) for pair in zip(forward[1:], backward[:0:-1], strict=True)])
        start = backward[-1]
    else:
        start = forward[-1]

    def look(s: Tensor) -> tuple[Tensor, Tensor | None]:
        if context == "fixed":
            return forward[-1], None
        query = w["model.decoder.attention.query_proj.weight"] @ s
        keys = h @ w["model.decoder.attention.key_proj.weight"].T
        if score == "additive":
            e = torch.tanh(keys + query) @ w["model.decoder.attention.energy_proj.weight"][0]
        else:
            e = keys @ query / (len(query) ** 0.5 if score == "scaled_dot" else 1)
        alpha = torch.exp(e) / torch.exp(e).sum()
        return alpha @ h, alpha

    s = torch.tanh(w["model.decoder.init_proj.weight"] @ start + w["model.decoder.init_proj.bias"])
    c, words, log_p, alphas = None, [torch.zeros_like(E_y[0]), *(E_y[word] for word in y[:-1])], [], []
    for i, Ey in enumerate(words):
        if step_order == "groundhog" and i > 0:
            s = gru(w, "model.decoder.unit", Ey, s, c)
        c, alpha = look(s)
        if step_order == "paper":
            s = gru(w, "model.decoder.unit", Ey, s, c)
        t = (
            w["model.decoder.readout.state_proj.weight"] @ s
            + w["model.decoder.readout.state_proj.bias"]
            + w["model.decoder.readout.embedding_proj.weight"] @ Ey
            + w["model.decoder.readout.context_proj.weight"] @ c
        )
        log_p.append(torch.log_softmax(w["lm_head.weight"] @ torch.maximum(t[::2], t[1::2]) + w["lm_head.bias"], 0))
        alphas.append(alpha)
    return torch.stack(log_p), None if context == "fixed" else torch.stack(alphas)


@pytest.fixture
def model(make_model, kind):
    return make_model(**kind)


@torch.no_grad()
def test_logits_and_alignments_are_those_of_each_row_alone(model, batch, kind):
    output = model(**batch.encoded, labels=batch.labels, output_attentions=True)
    weights = reference.from_state_dict(model.state_dict())
    for row, (x, y) in enumerate(zip(batch.sources, batch.targets, strict=True)):
        logits, alpha = reference.decode(weights, reference.encode(weights, x), y, **kind)
        np.testing.assert_allclose(output.logits[row, : len(y)], logits, **TOLERANCE)
        if kind["context"] == "fixed":
            assert output.cross_attentions is None and alpha is None
        else:
            (alignment,) = output.cross_attentions
            np.testing.assert_allclose(alignment[row, 0, : len(y), batch.real(row)], alpha, **TOLERANCE)


@torch.no_grad()
def test_annotations_are_those_of_each_row_alone(model, batch):
    annotations = model.get_encoder()(**batch.encoded).last_hidden_state
    weights = reference.from_state_dict(model.state_dict())
    for row, x in enumerate(batch.sources):
        np.testing.assert_allclose(annotations[row, batch.real(row)], reference.encode(weights, x), **TOLERANCE)


@torch.no_grad()
def test_loss_is_the_mean_over_all_words(model, batch, kind):
    weights = reference.from_state_dict(model.state_dict())
    pairs = list(zip(batch.sources, batch.targets, strict=True))
    expected = sum(reference.loss(weights, x, y, **kind) for x, y in pairs) / sum(len(y) for _, y in pairs)
    np.testing.assert_allclose(model(**batch.encoded, labels=batch.labels).loss, expected, **TOLERANCE)


@pytest.mark.parametrize("training", [True, False])
def test_gradient_of_every_weight(model, batch, kind, training):
    model.train(training)(**batch.encoded, labels=batch.labels).loss.backward()
    weights = {name: w.detach().clone().requires_grad_() for name, w in model.state_dict().items()}
    rows, words = [], sum(map(len, batch.targets))
    for x, y in zip(batch.sources, batch.targets, strict=True):
        log_p, _ = run(weights, x, y, **kind)
        rows.append(-log_p[torch.arange(len(y)), y].sum())
    torch.stack(rows).sum().div(words).backward()
    parameters = dict(model.named_parameters())
    assert parameters.keys() == weights.keys()
    for name, parameter in parameters.items():
        expected = weights[name].grad
        assert expected.abs().max() > 1e-6, f"{name} plays no part in this test"
        torch.testing.assert_close(parameter.grad, expected, **TOLERANCE, msg=lambda m, name=name: f"{name}: {m}")


@torch.no_grad()
def test_second_truth_agrees_with_the_reference(model, batch, kind):
    state_dict = model.state_dict()
    weights = reference.from_state_dict(state_dict)
    for x, y in zip(batch.sources, batch.targets, strict=True):
        log_p, alpha = run(state_dict, x, y, **kind)
        logits, expected_alpha = reference.decode(weights, reference.encode(weights, x), y, **kind)
        np.testing.assert_allclose(log_p, [reference.log_softmax(row) for row in logits], **TOLERANCE)
        if alpha is not None:
            np.testing.assert_allclose(alpha, expected_alpha, **TOLERANCE)


@torch.no_grad()
@pytest.mark.parametrize("step_order", ["paper", "groundhog"])
def test_only_the_groundhog_order_attends_with_the_word_before(make_model, step_order):
    model = make_model(step_order=step_order)
    source = torch.tensor([[4, 7, 9, 2]])
    first, second = (
        model(source, decoder_input_ids=torch.tensor([[1, word, 5]]), output_attentions=True).cross_attentions[0][0, 0]
        for word in (6, 8)
    )
    assert torch.equal(first[0], second[0])
    assert torch.equal(first[1], second[1]) == (step_order == "paper")
    assert not torch.equal(first[2], second[2])
