"""`torch.compile` of the whole model: the same numbers come out."""

import pytest
import torch


@pytest.mark.slow
@pytest.mark.skipif(torch.__version__.startswith("2.6."), reason="the tracer of PyTorch 2.6 loses the name `torch`")
@pytest.mark.filterwarnings("ignore:.*should not be instantiated")  # as PyTorch's own tracer does
def test_compiled_training_step_is_the_step(make_model, make_batch):
    """Without a code generator, whose work is PyTorch's own. The recurrences are left as they are: a break each."""
    model, batch = make_model(), make_batch("right")
    expected = model(**batch.encoded, labels=batch.labels)
    expected_gradients = torch.autograd.grad(expected.loss, list(model.parameters()))
    compiled = torch.compile(model, backend="eager")
    found = compiled(**batch.encoded, labels=batch.labels)
    gradients = torch.autograd.grad(found.loss, list(model.parameters()))
    torch.testing.assert_close(found.loss, expected.loss, atol=1e-12, rtol=0)
    torch.testing.assert_close(found.logits, expected.logits, atol=1e-12, rtol=0)
    for gradient, expected_gradient in zip(gradients, expected_gradients, strict=True):
        torch.testing.assert_close(gradient, expected_gradient, atol=1e-12, rtol=0)
