# Copyright 2026 The RNNsearch authors. All rights reserved.
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""The output layer and its cross-entropy in one, so that a large vocabulary does not set the peak of the memory."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

IGNORED = -100  # label of the positions that are left out of the loss
_ROWS = 512  # of the logits that are worked on at once


class OutputCrossEntropy(Function):
    """-Σ_i log p(y_i), p = softmax(W_o t_i + b), and the logits, the only tensor of their size that is ever made.

    Autograd would keep their log-softmax and make a gradient as large as they are; here the backward pass makes the
    gradient of some rows at a time and turns it into those of t, W_o and b.

    Inputs:
        maxout: t, (N, l).
        weight, bias: W_o, (K, l), and b, (K,).
        labels: y, (N,), `IGNORED` where a row does not count.

    Returns:
        the summed loss in nats, float32 or wider, and the logits (N, K) in the precision of the product.
    """

    @staticmethod
    def forward(ctx, maxout, weight, bias, labels):
        logits = F.linear(maxout, weight, bias)
        ctx.save_for_backward(maxout, weight, bias, labels, logits)
        ctx.set_materialize_grads(False)
        return summed_cross_entropy(logits, labels), logits

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_loss, grad_logits):  # type: ignore[override]
        maxout, weight, bias, labels, logits = ctx.saved_tensors
        low = logits.dtype
        grad_maxout, grad_weight, grad_bias = (torch.zeros_like(tensor) for tensor in (maxout, weight, bias))
        for rows in _row_blocks(labels):
            if grad_loss is None:
                grad = grad_logits[rows]
            else:
                grad = at_least_float32(logits[rows]).softmax(dim=-1)  # (rows, K)
                counted = labels[rows].ne(IGNORED).unsqueeze(1)
                grad.scatter_add_(1, labels[rows].clamp(min=0).unsqueeze(1), -counted.to(grad))
                grad *= counted * grad_loss
                if grad_logits is not None:
                    grad += grad_logits[rows]
            grad_bias += grad.sum(dim=0)
            grad = grad.to(low)
            grad_maxout[rows] = (grad @ weight.to(low)).to(maxout.dtype)
            if low == weight.dtype:
                grad_weight.addmm_(grad.t(), maxout[rows])
            else:
                grad_weight += grad.t() @ maxout[rows].to(low)
        return grad_maxout, grad_weight, grad_bias, None


def summed_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """-Σ_i log p(y_i) in nats, float32 or wider, of logits (N, K); no copy of them as large as they are is made."""
    losses = [
        F.cross_entropy(at_least_float32(logits[rows]), labels[rows], ignore_index=IGNORED, reduction="sum")
        for rows in _row_blocks(labels)
    ]
    return torch.stack(losses).sum()


def _row_blocks(labels: Tensor) -> Iterator[slice]:
    return (slice(start, start + _ROWS) for start in range(0, len(labels), _ROWS))


def at_least_float32(logits: Tensor) -> Tensor:
    """The precision in which softmax and loss are computed."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
