"""The output layer and its loss against PyTorch's own, outputs and gradients, and what they keep in memory."""

import pytest
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from rnnsearch.modeling.layers_rnnsearch import RNNsearchOutput
from rnnsearch.modeling.loss_rnnsearch import OutputCrossEntropy

# More than two blocks of rows, the last of them short.
ROWS, SIZE, WORDS = 1100, 3, 7


def leaves(dtype=torch.float64):
    generator = torch.Generator().manual_seed(3)
    maxout, weight, bias = (
        torch.randn(shape, generator=generator, dtype=dtype).requires_grad_()
        for shape in ((ROWS, SIZE), (WORDS, SIZE), (WORDS,))
    )
    labels = torch.randint(0, WORDS, (ROWS,), generator=generator)
    labels[::3] = -100
    return maxout, weight, bias, labels


@pytest.mark.parametrize("read", ["loss", "logits", "both"])
def test_equals_the_two_operations(read):
    """Also where a loss of the caller's own reads the logits."""
    *tensors, labels = leaves()
    loss, logits = OutputCrossEntropy.apply(*tensors, labels)
    expected_logits = F.linear(*tensors)
    expected = F.cross_entropy(expected_logits, labels, reduction="sum")
    torch.testing.assert_close(logits, expected_logits, atol=1e-12, rtol=0)
    torch.testing.assert_close(loss, expected, atol=1e-10, rtol=0)
    totals = {
        "loss": (0.7 * loss, 0.7 * expected),
        "logits": (logits.sin().sum(), expected_logits.sin().sum()),
        "both": (loss - logits.sin().sum(), expected - expected_logits.sin().sum()),
    }
    found, truth = (torch.autograd.grad(total, tensors) for total in totals[read])
    for gradient, other in zip(found, truth, strict=True):
        torch.testing.assert_close(gradient, other, atol=1e-10, rtol=0)


def test_bfloat16_autocast():
    """Products in bfloat16, the loss of those logits in float32."""
    *tensors, labels = leaves(torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss, logits = OutputCrossEntropy.apply(*tensors, labels)
    assert (loss.dtype, logits.dtype) == (torch.float32, torch.bfloat16)
    torch.testing.assert_close(loss, F.cross_entropy(logits.float(), labels, reduction="sum"))
    exact = torch.autograd.grad(F.cross_entropy(F.linear(*tensors), labels, reduction="sum"), tensors)
    for gradient, other in zip(torch.autograd.grad(loss, tensors), exact, strict=True):
        assert gradient.dtype == torch.float32
        torch.testing.assert_close(gradient, other, rtol=0.02, atol=0.02 * other.abs().max().item())


def test_one_tensor_of_the_size_of_the_logits():
    """Forwards and backwards; PyTorch's own two operations make several."""

    class Large(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.made = {}

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            for tensor in result if isinstance(result, tuple | list) else [result]:
                if torch.is_tensor(tensor) and tensor.untyped_storage().nbytes() >= 8 * ROWS * WORDS:
                    self.made[tensor.untyped_storage().data_ptr()] = tensor  # kept, or its address would come again
            return result

    *tensors, labels = leaves()
    counts = []
    for ours in (True, False):
        with Large() as large:
            if ours:
                loss, logits = OutputCrossEntropy.apply(*tensors, labels)
            else:
                logits = F.linear(*tensors)
                loss = F.cross_entropy(logits, labels, reduction="sum")
            loss.backward()
        counts.append(len(large.made))
    assert counts[0] == 1 and counts[1] > 2


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 4), (3, 3), (0, 1), (1, 0)])
def test_few_rows_are_like_many(shape, dtype):
    torch.manual_seed(0)
    layer = RNNsearchOutput(6, 11).to(dtype)
    maxout = torch.randn(*shape, 6, dtype=dtype)
    logits = layer(maxout)
    assert logits.shape == (*shape, 11) and logits.dtype == dtype
    tolerance = 2e-2 if dtype == torch.bfloat16 else 1e-6
    torch.testing.assert_close(logits, F.linear(maxout, layer.weight, layer.bias), atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("training", [True, False])
def test_labels_of_another_shape_are_read_in_order(training):
    torch.manual_seed(0)
    layer = RNNsearchOutput(6, 11).double().train(training)
    maxout, labels = torch.randn(3, 4, 6).double(), torch.randint(0, 11, (3, 4))
    logits, loss = layer(maxout, labels)
    assert logits.shape == (3, 4, 11)
    torch.testing.assert_close(loss, F.cross_entropy(logits.transpose(1, 2), labels, reduction="sum"))
