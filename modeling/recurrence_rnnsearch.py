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
"""The two recurrences over whole sequences, with the backward pass through time written by hand.

Autograd through a Python loop stores and differentiates every small operation. Here the forward loop keeps just what
the backward loop reads, the backward loop does just what is sequential, and every weight gradient is one product
after it. Memory grows with T·B·(S + n): the tanh of the alignment model, (T, B, S, a) in all, is computed again.

Under autocast the products with weights are in the lower precision, all else in the weights' own. The equations
themselves stand in `layers_rnnsearch.py` (`RNNsearchUnit`, `RNNsearchAttention`); the tests hold the two equal in
float64, outputs and gradients.

Shapes: B batch, S source positions, T steps, D directions, n state, a alignment layer, C context. Time comes first.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable


def product_dtype(weight: Tensor) -> torch.dtype:
    """Precision of the products with a weight: autocast's where it is on, else the weight's."""
    kind = weight.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype


def _without_autocast(function: Callable) -> Callable:
    """The recurrences choose the precision of each operation themselves."""

    @wraps(function)
    def wrapped(ctx, *tensors):
        with torch.autocast(tensors[0].device.type, enabled=False):
            return function(ctx, *tensors)

    return wrapped


def _product(left: Tensor, weight: Tensor) -> Tensor:
    """left @ weight in the weight's precision."""
    return left.to(weight.dtype) @ weight


def _add_product(term: Tensor, left: Tensor, weight: Tensor) -> Tensor:
    """term + left @ weight, the product in the weight's precision and the sum in the term's."""
    if weight.dtype != term.dtype:
        return term + _product(left, weight)
    return torch.addmm(term, left, weight) if weight.dim() == 2 else torch.baddbmm(term, left, weight)


def _unit_backward(
    grad_state: Tensor, update: Tensor, reset: Tensor, candidate: Tensor, state: Tensor, candidate_weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Back through s' = (1 - z) ∘ s + z ∘ s~, short of the product with the gate matrices.

    Args:
        grad_state: gradient of s', (..., B, n); the gates and states likewise.
        update: z, zero where the position is masked, so that no gradient passes there.
        candidate_weight: U, (..., n, n).

    Returns:
        Gradient of the unit's input [z, r, s~], (..., B, 3n), and of s, (..., B, n), where the part through the gate
        matrices is missing.
    """
    grad_update = grad_state * (candidate - state)
    grad_candidate = grad_state * update * (1 - candidate * candidate)
    grad_reset_state = _product(grad_candidate, candidate_weight)
    grad_reset = grad_reset_state * state
    grad_inputs = torch.cat(
        [grad_update * update * (1 - update), grad_reset * reset * (1 - reset), grad_candidate], dim=-1
    )
    return grad_inputs, grad_state * (1 - update) + grad_reset_state * reset


class GatedRecurrence(Function):
    """s_t = GRU(s_{t-1}; x_t) for t = 1..T, in D directions side by side (appendix A.2.1).

    Inputs:
        inputs: W E x_t, with biases and whatever else is constant, blocks z, r, s~; (T, D, B, 3n).
        initial: s_0, (D, B, n).
        mask: 1 where the position is real, 0 where the state is carried through; (T, D, B, 1), or None for all real.
        gate_weight: [U_z; U_r], (D, 2n, n).
        candidate_weight: U, (D, n, n).
        low: precision of the products with weights, `product_dtype`.

    Returns:
        states s_1..s_T, (T, D, B, n).
    """

    @staticmethod
    @_without_autocast
    def forward(ctx, inputs, initial, mask, gate_weight, candidate_weight, low):
        steps, directions, batch, _ = inputs.shape
        size = initial.shape[-1]
        states = gate_weight.new_empty(steps + 1, directions, batch, size)
        gates = states.new_empty(steps, directions, batch, 2 * size)
        candidates = states.new_empty(steps, directions, batch, size)
        gate_weight, candidate_weight = gate_weight.to(low), candidate_weight.to(low)
        gate_weight_t, candidate_weight_t = gate_weight.mT.contiguous(), candidate_weight.mT.contiguous()
        inputs = inputs.to(states.dtype)
        states[0] = initial
        for t in range(steps):
            state, gate, candidate = states[t], gates[t], candidates[t]
            gate_inputs, candidate_inputs = inputs[t].split([2 * size, size], dim=-1)
            torch.sigmoid(_add_product(gate_inputs, state, gate_weight_t), out=gate)
            update, reset = gate.split(size, dim=-1)
            if mask is not None:
                update.mul_(mask[t])
            torch.tanh(_add_product(candidate_inputs, reset * state, candidate_weight_t), out=candidate)
            torch.lerp(state, candidate, update, out=states[t + 1])
        ctx.save_for_backward(states, gates, candidates, gate_weight, candidate_weight)
        return states[1:]

    @staticmethod
    @once_differentiable
    @_without_autocast
    def backward(ctx, grad_states):  # type: ignore[override]
        states, gates, candidates, gate_weight, candidate_weight = ctx.saved_tensors
        steps, directions, batch, size = candidates.shape
        grad_inputs = states.new_empty(steps, directions, batch, 3 * size)
        grad_state = torch.zeros_like(states[0])
        for t in reversed(range(steps)):
            update, reset = gates[t].split(size, dim=-1)
            step, grad_state = _unit_backward(
                grad_state + grad_states[t], update, reset, candidates[t], states[t], candidate_weight
            )
            grad_inputs[t] = step
            grad_state = _add_product(grad_state, step[..., : 2 * size], gate_weight)
        flat = grad_inputs.transpose(0, 1).flatten(1, 2).mT  # (D, 3n, T B)
        low = gate_weight.dtype
        grad_gate_weight = _product(flat[:, : 2 * size], states[:-1].transpose(0, 1).flatten(1, 2).to(low))
        reset_states = gates[..., size:] * states[:-1]
        grad_candidate_weight = _product(flat[:, 2 * size :], reset_states.transpose(0, 1).flatten(1, 2).to(low))
        return grad_inputs, grad_state, None, grad_gate_weight, grad_candidate_weight, None


class AttentiveRecurrence(Function):
    """c_t = attend(s_{t-1}); s_t = GRU(s_{t-1}; x_t, c_t) for t = 1..T (section 3.1, appendix A.2.2).

    Inputs:
        inputs: W E y_{t-1} with biases, blocks z, r, s~; (T, B, 3n).
        initial: s_0, (B, n).
        annotations: h_j, (B, S, C).
        keys: U_a h_j, (B, S, a).
        mask: 1 where the source position is real, else 0; (B, S), of the annotations' type.
        query_weight: W_a, (a, n).
        energy_weight: v_a, (a,), or None for the product of query and key.
        gate_weight: [U_z; U_r], (2n, n).
        candidate_weight: U, (n, n).
        context_weight: [C_z; C_r; C], (3n, C).
        scale: factor of the product of query and key.
        low: precision of the products with weights, `product_dtype`.

    Returns:
        states s_1..s_T (T, B, n), contexts c_1..c_T (T, B, C) and alignments (T, B, S).
    """

    @staticmethod
    @_without_autocast
    def forward(
        ctx,
        inputs,
        initial,
        annotations,
        keys,
        mask,
        query_weight,
        energy_weight,
        gate_weight,
        candidate_weight,
        context_weight,
        scale,
        low,
    ):
        steps, batch, _ = inputs.shape
        size, alignment_size = initial.shape[-1], query_weight.shape[0]
        states = gate_weight.new_empty(steps + 1, batch, size)
        queries = states.new_empty(steps, batch, alignment_size)
        gates = states.new_empty(steps, batch, 2 * size)
        candidates = states.new_empty(steps, batch, size)
        alignments = states.new_empty(steps, batch, annotations.shape[1])
        contexts = states.new_empty(steps, batch, annotations.shape[2])
        state_weight = torch.cat([query_weight, gate_weight]).to(low)  # (a + 2n, n)
        candidate_weight, context_weight = candidate_weight.to(low), context_weight.to(low)
        state_weight_t, candidate_weight_t, context_weight_t = (
            weight.t().contiguous() for weight in (state_weight, candidate_weight, context_weight)
        )
        inputs, annotations, keys = (tensor.to(states.dtype) for tensor in (inputs, annotations, keys))
        blocked = mask == 0
        lowest = torch.finfo(states.dtype).min
        states[0] = initial
        for t in range(steps):
            state, gate, candidate = states[t], gates[t], candidates[t]
            query, gate_terms = _product(state, state_weight_t).split([alignment_size, 2 * size], dim=-1)
            queries[t] = query
            if energy_weight is None:
                energies = torch.bmm(keys, queries[t].unsqueeze(-1)).squeeze(-1) * scale
            else:
                energies = (keys + queries[t].unsqueeze(1)).tanh_() @ energy_weight
            alignments[t] = energies.masked_fill_(blocked, lowest).softmax(dim=-1).mul_(mask)
            torch.bmm(alignments[t].unsqueeze(1), annotations, out=contexts[t].unsqueeze(1))
            terms = _add_product(inputs[t], contexts[t], context_weight_t)
            torch.add(terms[:, : 2 * size], gate_terms, out=gate).sigmoid_()
            update, reset = gate.split(size, dim=-1)
            torch.tanh(_add_product(terms[:, 2 * size :], reset * state, candidate_weight_t), out=candidate)
            torch.lerp(state, candidate, update, out=states[t + 1])
        ctx.save_for_backward(
            states, queries, gates, candidates, alignments, contexts, annotations, keys,
            state_weight, energy_weight, candidate_weight, context_weight,
        )  # fmt: skip
        ctx.scale = scale
        return states[1:], contexts, alignments

    @staticmethod
    @once_differentiable
    @_without_autocast
    def backward(ctx, grad_states, grad_contexts, grad_alignments):  # type: ignore[override]
        (
            states, queries, gates, candidates, alignments, contexts, annotations, keys,
            state_weight, energy_weight, candidate_weight, context_weight,
        ) = ctx.saved_tensors  # fmt: skip
        steps, batch, size = candidates.shape
        grad_inputs = states.new_empty(steps, batch, 3 * size)
        grad_queries = torch.empty_like(queries)
        grad_energies = torch.empty_like(alignments)
        grad_all_contexts = torch.empty_like(contexts)
        grad_state = torch.zeros_like(states[0])
        additive = energy_weight is not None
        grad_keys = torch.zeros_like(keys)
        grad_energy_weight: Any = torch.zeros_like(energy_weight) if additive else None
        for t in reversed(range(steps)):
            update, reset = gates[t].split(size, dim=-1)
            step, grad_state = _unit_backward(
                grad_state + grad_states[t], update, reset, candidates[t], states[t], candidate_weight
            )
            grad_inputs[t] = step
            grad_context = _add_product(grad_contexts[t], step, context_weight)
            grad_all_contexts[t] = grad_context
            grad_alignment = torch.bmm(annotations, grad_context.unsqueeze(-1)).squeeze(-1) + grad_alignments[t]
            weighted = alignments[t] * grad_alignment
            grad_energy = weighted - alignments[t] * weighted.sum(-1, keepdim=True)  # (B, S)
            grad_energies[t] = grad_energy
            if additive:
                hidden = (keys + queries[t].unsqueeze(1)).tanh_()  # (B, S, a)
                grad_energy_weight += torch.mv(hidden.flatten(0, 1).t(), grad_energy.flatten())
                hidden.square_().neg_().add_(1)
                torch.bmm(grad_energy.unsqueeze(1), hidden, out=grad_queries[t].unsqueeze(1))
                grad_queries[t] *= energy_weight
                grad_keys.addcmul_(grad_energy.unsqueeze(-1), hidden)
            else:
                torch.bmm((grad_energy * ctx.scale).unsqueeze(1), keys, out=grad_queries[t].unsqueeze(1))
            grad_terms = torch.cat([grad_queries[t], step[:, : 2 * size]], dim=-1)
            grad_state = _add_product(grad_state, grad_terms, state_weight)
        if additive:
            grad_keys *= energy_weight
        else:
            grad_keys = grad_energies.permute(1, 2, 0) @ queries.transpose(0, 1) * ctx.scale
        previous, past_contexts, reset_states = (
            past.flatten(0, 1).to(state_weight.dtype)  # (T B, n)
            for past in (states[:-1], contexts, gates[..., size:] * states[:-1])
        )
        flat = grad_inputs.flatten(0, 1).t()  # (3n, T B)
        return (
            grad_inputs,
            grad_state,
            alignments.permute(1, 2, 0) @ grad_all_contexts.transpose(0, 1),
            grad_keys,
            None,
            _product(grad_queries.flatten(0, 1).t(), previous),
            grad_energy_weight,
            _product(flat[: 2 * size], previous),
            _product(flat[2 * size :], reset_states),
            _product(flat, past_contexts),
            None,
            None,
        )
