"""The recurrences with a backward pass of their own against the readable step, one position after the other."""

import pytest
import torch
from torch import Tensor

from rnnsearch.modeling.generation_rnnsearch import CACHE
from rnnsearch.modeling.recurrence_rnnsearch import AttentiveRecurrence, GatedRecurrence

TOLERANCE = {"atol": 1e-10, "rtol": 0}
# Real positions on the right, a hole in the middle, nothing at all, everything.
MASK = torch.tensor([[0, 0, 1, 1, 1], [1, 0, 0, 1, 1], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]])


def random(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype).requires_grad_()


def gradients(outputs: list[Tensor], leaves: dict[str, Tensor]) -> dict[str, Tensor]:
    """Gradients of a random projection of the outputs, zero where a leaf plays no part."""
    total = torch.stack([(output * random(*output.shape, seed=9).detach()).sum() for output in outputs]).sum()
    found = torch.autograd.grad(total, list(leaves.values()), retain_graph=True, materialize_grads=True)
    return dict(zip(leaves, found, strict=True))


def assert_same(actual: dict[str, Tensor], expected: dict[str, Tensor]) -> None:
    for name in expected:
        torch.testing.assert_close(actual[name], expected[name], **TOLERANCE, msg=lambda m, name=name: f"{name}: {m}")


@pytest.mark.parametrize("context", ["search", "fixed"])
@pytest.mark.parametrize("masked", [True, False])
def test_encoder_equals_its_unit_step_by_step(make_model, context, masked):
    encoder = make_model(context=context).get_encoder()
    embedded = random(4, 5, 5)
    mask = MASK if masked else torch.ones_like(MASK)
    leaves = {"embedded": embedded, **dict(encoder.named_parameters())}
    del leaves["embed_tokens.weight"]

    directions = []
    for unit, order in ((encoder.forward_unit, range(5)), (encoder.backward_unit, range(4, -1, -1))):
        if unit is None:
            continue
        state, states = torch.zeros(4, 6, dtype=torch.float64), {}
        for j in order:
            keep = mask[:, j : j + 1]
            state = keep * unit(unit.input_proj(embedded[:, j]), state) + (1 - keep) * state
            states[j] = state
        directions.append(torch.stack([states[j] for j in range(5)], dim=1))
    expected = torch.cat(directions, dim=-1)

    actual = encoder(inputs_embeds=embedded, attention_mask=mask if masked else None).last_hidden_state
    torch.testing.assert_close(actual, expected, **TOLERANCE)
    assert_same(gradients([actual], leaves), gradients([expected], leaves))


@pytest.mark.parametrize("read", [0, 2], ids=["from the start", "from a cache"])
def test_decoder_equals_its_steps(make_model, kind, read):
    """Outputs, the state handed on, and gradients; the cache of two words read before is a leaf as well."""
    decoder = make_model(**kind).get_decoder()
    annotations = random(4, 5, decoder.config.context_size)
    mask = MASK.double()
    inputs = random(4, 4, 18, seed=1)  # words, rows, blocks
    cache = decoder.start(annotations, 4)
    if read:
        cache.state, cache.context = random(4, 6, seed=2), random(*cache.context.shape, seed=3)
        cache.seen_tokens = read
    leaves = {"annotations": annotations, "inputs": inputs, **dict(decoder.named_parameters())}
    if read:
        leaves |= {"state": cache.state, "context": cache.context}

    steps, after = [], cache
    for i in range(4):
        *step, after = decoder.step(inputs[i : i + 1], mask, after)
        steps.append(step)
    expected = [torch.cat(outputs) for outputs in zip(*steps, strict=True) if outputs[0] is not None]
    *actual, after_run = decoder.run(inputs, mask, cache)
    actual = [output.expand(4, -1, -1) for output in actual if output is not None]
    assert len(actual) == len(expected) == (3 if kind["context"] == "search" else 2)
    for output, truth in zip(actual, expected, strict=True):
        torch.testing.assert_close(output, truth, **TOLERANCE)
    for name in ("state", "context"):
        torch.testing.assert_close(getattr(after_run, name), getattr(after, name), **TOLERANCE)
    assert after_run.seen_tokens == after.seen_tokens == read + 4
    assert_same(
        gradients([*actual, after_run.state, after_run.context], leaves),
        gradients([*expected, after.state, after.context], leaves),
    )


def test_row_without_a_source_reads_nothing(make_model, kind):
    decoder = make_model(**{**kind, "context": "search"}).get_decoder()
    annotations = random(4, 5, 12)
    for run in (decoder.run, decoder.step):
        _, contexts, alignments, _ = run(random(1, 4, 18), MASK.double(), decoder.start(annotations, 4))
        assert contexts[0, 0].any() and not contexts[0, 2].any() and not alignments[0, 2].any()
        assert not alignments[0][MASK == 0].any()


def test_rows_of_one_sentence_share_it(make_model, kind):
    """Three rows for each of two sentences, by one word and by several, as if each had the sentence to itself."""
    decoder = make_model(**kind).get_decoder()
    annotations, mask = random(2, 5, decoder.config.context_size), MASK[:2].double()
    for words in (1, 3):
        inputs = random(words, 6, 18, seed=1)
        run = decoder.step if words == 1 else decoder.run
        shared = run(inputs, mask, decoder.start(annotations, 6))
        own = run(inputs, mask.repeat_interleave(3, 0), decoder.start(annotations.repeat_interleave(3, 0), 6))
        for actual, expected in zip((*shared[:3], shared[3].context), (*own[:3], own[3].context), strict=True):
            if expected is not None:
                torch.testing.assert_close(actual, expected, **TOLERANCE)
        if kind["context"] == "search":
            assert shared[3].keys.shape[0] == shared[3].values.shape[0] == 2


class Adapted(torch.nn.Module):
    """A layer around a layer, like those of LoRA: `weight` is the inner one's, the output has something added."""

    def __init__(self, layer: torch.nn.Linear):
        super().__init__()
        self.layer, self.weight, self.in_features = layer, layer.weight, layer.in_features
        self.added = torch.nn.Parameter(random(*layer.weight.shape, seed=7).detach() / 10)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.layer(inputs) + inputs @ self.added.T


def test_layers_around_the_weights_of_the_loop(make_model, batch):
    """Training reads what generation calls, and what was added learns."""
    model = make_model()
    decoder, encoder = model.get_decoder(), model.get_encoder()
    parts = [
        (unit, name)
        for unit in (encoder.forward_unit, encoder.backward_unit, decoder.unit)
        for name in ("gate_proj", "candidate_proj")
    ]
    parts += [(decoder.attention, "query_proj"), (decoder.attention, "energy_proj")]
    for parent, name in parts:
        setattr(parent, name, Adapted(getattr(parent, name)))
    loss = model(**batch.encoded, labels=batch.labels).loss
    adapted = torch.autograd.grad(loss, [getattr(parent, name).added for parent, name in parts])
    assert all(gradient.any() for gradient in adapted)
    for parent, name in parts:
        layer = getattr(parent, name)
        layer.layer.weight.data += layer.added.data
        setattr(parent, name, layer.layer)
    torch.testing.assert_close(model(**batch.encoded, labels=batch.labels).loss, loss, **TOLERANCE)


def test_rows_that_cannot_be_shared_out(make_model, batch):
    with pytest.raises(ValueError, match=r"4 target rows .* 3 source sentences"):
        make_model()(**batch.encoded, decoder_input_ids=torch.ones(4, 2, dtype=torch.long))


@pytest.mark.parametrize("mask", [None, MASK.double().t()[None, :, :, None].repeat(2, 1, 1, 1)], ids=["all", "masked"])
def test_gradcheck_of_the_encoder_recurrence(mask):
    leaves = random(2, 5, 4, 9), random(2, 4, 3, seed=1), mask, random(2, 3, 6, seed=2), random(2, 3, 3, seed=3)
    assert torch.autograd.gradcheck(GatedRecurrence.apply, (*leaves, torch.float64))


@pytest.mark.parametrize("additive", [True, False])
def test_gradcheck_of_the_decoder_recurrence(additive):
    leaves = (
        random(3, 4, 9), random(4, 3, seed=1), random(4, 5, 4, seed=2), random(4, 5, 9, seed=3), MASK.double(),
        random(4, 3, seed=4), random(4, seed=5) if additive else None, random(6, 3, seed=6), random(3, 3, seed=7),
    )  # fmt: skip
    assert torch.autograd.gradcheck(AttentiveRecurrence.apply, (*leaves, 0.7, torch.float64))


def test_no_second_derivative_is_promised():
    """The backward pass is written by hand; differentiating it again must fail, not give a wrong number."""
    inputs = random(1, 2, 1, 3)
    states = GatedRecurrence.apply(inputs, random(1, 1, 1), None, random(1, 1, 2), random(1, 1, 1), torch.float64)
    (first,) = torch.autograd.grad(states.square().sum(), inputs, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()


def test_bfloat16_autocast(make_model, kind, batch):
    """Loss within 2 %, float32 gradients that point the same way, and nothing carried in the lower precision."""
    sizes = {"embedding_size": 24, "hidden_size": 32, "alignment_size": 16, "maxout_size": 12}
    model = make_model(dtype=torch.float32, **sizes, **kind)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(0.4)
    exact = model(**batch.encoded, labels=batch.labels).loss
    exact_gradients = torch.cat([g.flatten() for g in torch.autograd.grad(exact, list(model.parameters()))])
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = model(**batch.encoded, labels=batch.labels).loss
        several = model(**batch.encoded, decoder_input_ids=torch.tensor([[1, 4, 6]] * 3), use_cache=True)
        one = model(**batch.encoded, decoder_input_ids=torch.tensor([[5]] * 3), use_cache=True, cache=several[CACHE])
        assert model.generate(**batch.encoded, num_beams=3, max_new_tokens=4).shape[0] == 3
    loss.backward()
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, exact, rtol=0.02, atol=0)
    assert {weight.dtype for weight in model.parameters()} == {torch.float32}
    assert {weight.grad.dtype for weight in model.parameters()} == {torch.float32}
    found = torch.cat([weight.grad.flatten() for weight in model.parameters()])
    assert found.isfinite().all()
    assert torch.cosine_similarity(found, exact_gradients, dim=0) > 0.99
    for cache in (several[CACHE], one[CACHE]):
        carried = [cache.state, cache.context] + ([] if cache.keys is None else [cache.keys, cache.values])
        assert {tensor.dtype for tensor in carried} == {torch.float32}


@pytest.mark.parametrize("reentrant", [False, True])
def test_activation_checkpointing_keeps_less_and_changes_nothing(make_model, kind, batch, reentrant):
    """Also with dropout, whose choices are those of the first run."""

    def train(checkpointing: bool) -> tuple[dict[str, torch.Tensor], int]:
        torch.manual_seed(5)
        model = make_model(**kind, embedding_dropout=0.3, annotation_dropout=0.3).train()
        if checkpointing:
            older = not hasattr(model, "activation_checkpointing_enable")  # the name since Transformers 5.24
            enable = model.gradient_checkpointing_enable if older else model.activation_checkpointing_enable
            enable({"use_reentrant": reentrant})
        kept = 0

        def count(tensor):
            nonlocal kept
            kept += tensor.numel()
            return tensor

        torch.manual_seed(6)
        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            loss = model(**batch.encoded, labels=batch.labels).loss
        loss.backward()
        return {name: weight.grad for name, weight in model.named_parameters()}, kept

    (plain, kept), (again, kept_again) = train(False), train(True)
    for name, gradient in plain.items():
        torch.testing.assert_close(again[name], gradient, atol=1e-12, rtol=0)
    assert kept_again < kept
