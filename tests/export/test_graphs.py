"""The two modules, in PyTorch, against the model that they are made of."""

import itertools

import pytest
import torch

from rnnsearch.export.graphs import EncoderGraph, StepGraph

ORDERS = ["paper", "groundhog"]
READING = [("search", "additive"), ("search", "dot"), ("search", "scaled_dot"), ("fixed", "additive")]
SOURCE = torch.tensor([[5, 9, 4, 11, 2], [7, 2, 0, 0, 0], [6, 8, 2, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])


@pytest.mark.parametrize("context", ["search", "fixed"])
@torch.no_grad()
def test_encoder(context, make_model):
    model = make_model(context=context)
    start = model.get_decoder().start(model.get_encoder()(SOURCE, MASK).last_hidden_state, len(SOURCE))
    expected = [start.state, start.context, start.keys, start.values]
    found = EncoderGraph(model)(SOURCE, MASK)
    assert len(found) == (4 if context == "search" else 2)
    for tensor, of_model in zip(found, expected, strict=False):
        torch.testing.assert_close(tensor, of_model)


@pytest.mark.parametrize(("order", "reading"), [*itertools.product(ORDERS, READING)])
@torch.no_grad()
def test_steps_are_the_model(order, reading, make_model):
    """Three hypotheses of three sentences, with a start token in the midst of one."""
    context, score = reading
    model = make_model(step_order=order, context=context, score=score)
    words = torch.randint(4, model.config.vocab_size, (9, 4), generator=torch.Generator().manual_seed(1))
    words[:, 0] = words[4, 2] = model.config.decoder_start_token_id
    expected = model(SOURCE, MASK, decoder_input_ids=words, output_attentions=True)
    start = model.get_decoder().start(model.get_encoder()(SOURCE, MASK).last_hidden_state, len(words))
    state, terms = start.state.unflatten(0, (3, 3)), start.context.unflatten(0, (3, 3))
    graph = StepGraph(model)
    for position in range(4):
        seen = torch.tensor(position) if order == "groundhog" else None
        tokens = words[:, position].unflatten(0, (3, 3))
        log_probs, state, terms, *alignment = graph(tokens, state, terms, start.keys, start.values, MASK, seen)
        torch.testing.assert_close(log_probs.flatten(0, 1), expected.logits[:, position].log_softmax(-1))
        assert len(alignment) == (context == "search")
        for weights in alignment:
            torch.testing.assert_close(weights.flatten(0, 1), expected.cross_attentions[0][:, 0, position])
