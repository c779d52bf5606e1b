"""The arithmetic of a training step against PyTorch's own count of the equations, step by step."""

from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration


def step_by_step(model: RNNsearchForConditionalGeneration, sources: torch.Tensor, targets: torch.Tensor):
    """Cross-entropy from one step of the equations after the other, for autograd to go back through."""
    encoder, decoder = model.get_encoder(), model.get_decoder()
    embedded = encoder.embed_tokens(sources)
    directions = []
    for unit, order in (
        (encoder.forward_unit, range(sources.shape[1])),
        (encoder.backward_unit, reversed(range(sources.shape[1]))),
    ):
        # A state that has a gradient, like all that follow it: the formula makes no exception for the first step.
        state, states = torch.zeros(len(sources), model.config.hidden_size, requires_grad=True), {}
        for j in order:
            state = states[j] = unit(unit.input_proj(embedded[:, j]), state)
        directions.append(torch.stack([states[j] for j in sorted(states)], dim=1))
    annotations = torch.cat(directions, dim=-1)
    words = model.prepare_decoder_input_ids_from_labels(targets)
    inputs = decoder.embed_tokens(words)
    mask = torch.ones(sources.shape)
    keys = decoder.attention.key_proj(annotations)
    state = torch.tanh(decoder.init_proj(directions[1][:, 0]))
    losses = []
    for i in range(targets.shape[1]):
        context, _ = decoder.attention(state, keys, annotations, mask)
        state = decoder.unit(decoder.unit.input_proj(inputs[:, i]) + decoder.unit.context_proj(context), state)
        maxout = decoder.readout(state, inputs[:, i], decoder.readout.context_proj(context))
        logits = nn.functional.linear(maxout, model.lm_head.weight, model.lm_head.bias)
        losses.append(nn.functional.cross_entropy(logits, targets[:, i]))
    return torch.stack(losses).mean()


@pytest.mark.parametrize("changes", [{}, {"batch": 1, "target_length": 2}, {"maxout": 3, "source_length": 9}])
def test_flop_are_those_that_pytorch_counts(module, tiny, changes):
    size, sizes = replace(tiny, **changes), module("sizes")
    config = RNNsearchConfig(
        src_vocab_size=size.vocabulary,
        vocab_size=size.vocabulary,
        embedding_size=size.embedding,
        hidden_size=size.hidden,
        alignment_size=size.alignment,
        maxout_size=size.maxout,
    )
    torch.manual_seed(0)
    model = RNNsearchForConditionalGeneration(config)
    sources = torch.randint(4, size.vocabulary, (size.batch, size.source_length))
    targets = torch.randint(4, size.vocabulary, (size.batch, size.target_length))
    with FlopCounterMode(display=False) as forward:
        loss = step_by_step(model, sources, targets)
    torch.testing.assert_close(loss, model(input_ids=sources, labels=targets).loss)
    assert sum(sizes.forward_flop(size).values()) == forward.get_total_flops()
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    assert sizes.training_flop(size) == forward.get_total_flops() + backward.get_total_flops()


def test_flop_by_hand(module):
    """All sizes 1: each product of one term is one multiplication and one addition."""
    sizes = module("sizes")
    assert sizes.forward_flop(sizes.Size("one", *[1] * 8)) == {
        "encoder": 2 * 3 * 2 * 2,  # two directions, three blocks, an input and a state
        "initial state": 2,
        "keys": 2 * 2,  # an annotation has two units
        "queries": 2,
        "energies": 2,
        "contexts": 2 * 2,
        "decoder": 3 * 4 * 2,
        "read-out": 2 * 4 * 2,
        "vocabulary": 2,
    }


def test_the_sizes_have_the_proportion_of_the_paper(module):
    for size in module("sizes").SIZES.values():
        assert 2 * size.maxout == size.hidden
