"""What the model promises of a GPU: the numbers of the CPU, no waiting within a step, capture into a CUDA graph."""

import pytest
import torch

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]


@pytest.fixture
def on_both(make_model, kind, batch):
    """A float32 model and its copy on the GPU, with arguments for each that ask for a loss."""
    model = make_model(dtype=torch.float32, **kind)
    arguments = {**batch.encoded, "labels": batch.labels}
    twin = make_model(dtype=torch.float32, **kind).cuda()
    return model, arguments, twin, {name: tensor.cuda() for name, tensor in arguments.items()}


def test_loss_and_gradients_are_those_of_the_cpu(on_both):
    model, arguments, twin, there = on_both
    here_loss, there_loss = model(**arguments).loss, twin(**there).loss
    torch.testing.assert_close(there_loss.cpu(), here_loss, rtol=1e-4, atol=0)
    here_loss.backward()
    there_loss.backward()
    for (name, weight), other in zip(model.named_parameters(), twin.parameters(), strict=True):
        torch.testing.assert_close(
            other.grad.cpu(), weight.grad, rtol=1e-3, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_a_training_step_waits_for_nothing(on_both):
    """Neither forwards nor backwards does the CPU ask the GPU for a value."""
    _, _, model, arguments = on_both
    model(**arguments).loss.backward()  # libraries load on first use
    torch.cuda.set_sync_debug_mode("error")
    try:
        model(**arguments).loss.backward()
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_a_training_step_becomes_a_graph(on_both):
    """Replayed with other words in the same places, it computes what the model computes of them."""
    _, _, model, arguments = on_both
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            model.zero_grad(set_to_none=True)
            model(**arguments).loss.backward()
    torch.cuda.current_stream().wait_stream(side)
    model.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = model(**arguments).loss
        loss.backward()
    arguments["input_ids"].copy_(arguments["input_ids"].flip(0))
    graph.replay()
    captured = [weight.grad.clone() for weight in model.parameters()]
    model.zero_grad(set_to_none=True)
    expected = model(**arguments).loss
    expected.backward()
    torch.testing.assert_close(loss, expected)
    for found, weight in zip(captured, model.parameters(), strict=True):
        torch.testing.assert_close(found, weight.grad, rtol=1e-4, atol=1e-6)


def test_bfloat16_autocast(on_both):
    _, _, model, arguments = on_both
    exact = model(**arguments).loss
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = model(**arguments).loss
        assert model.generate(arguments["input_ids"], num_beams=3, max_new_tokens=4).shape[0] == 3
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, exact, rtol=0.05, atol=0)
    loss.backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())
