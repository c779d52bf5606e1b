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
from transformers.modeling_layers import GradientCheckpointingLayer


def product_dtype(inputs: Tensor, own: torch.dtype) -> torch.dtype:
    """Precision of the products with weights: autocast's where it is on for the inputs' device, else their own."""
    kind = inputs.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else own


def _without_autocast(function: Callable) -> Callable:
    """The recurrences choose the precision of each operation themselves."""

    @wraps(function)
    def wrapped(ctx, *tensors):
        with torch.autocast(tensors[0].device.type, enabled=False):
            return function(ctx, *tensors)

    return wrapped


def _product(left: Tensor, weight: Tensor) -> Tensor:
    """left @ weight, computed in the weight's precision."""
    return (left.to(weight.dtype) @ weight).to(left.dtype)


def _add_product(term: Tensor, left: Tensor, weight: Tensor) -> Tensor:
    """term + left @ weight, the product in the weight's precision and the sum in the term's."""
    if weight.dtype != term.dtype:
        return term + _product(left, weight)
    return torch.addmm(term, left, weight) if weight.dim() == 2 else torch.baddbmm(term, left, weight)


def _unit_backward(
    grad_state: Tensor,
    update: Tensor,
    reset: Tensor,
    candidate: Tensor,
    state: Tensor,
    candidate_weight: Tensor,
    grad_inputs: Tensor,
) -> Tensor:
    """Back through s' = (1 - z) ∘ s + z ∘ s~, short of the product with the gate matrices.

    Args:
        grad_state: gradient of s', (..., B, n); the gates and states likewise.
        update: z, zero where the position is masked, so that no gradient passes there.
        candidate_weight: U, (..., n, n).
        grad_inputs: where the gradient of the unit's input [z, r, s~] is written, (..., B, 3n).

    Returns:
        Gradient of s, (..., B, n), where the part through the gate matrices is missing.
    """
    grad_update, grad_reset, grad_candidate = grad_inputs.chunk(3, dim=-1)
    passed = grad_state * update
    torch.sub(candidate, state, out=grad_update).mul_(grad_state - passed).mul_(update)
    torch.addcmul(passed, passed * candidate, candidate, value=-1, out=grad_candidate)
    grad_reset_state = _product(grad_candidate, candidate_weight).mul_(reset)
    torch.mul(grad_reset_state, state, out=grad_reset).mul_(1 - reset)
    return grad_reset_state.add(grad_state).sub_(passed)


class GatedRecurrence(Function):
    """s_t = GRU(s_{t-1}; x_t) for t = 1..T, in D directions side by side (appendix A.2.1).

    Inputs:
        inputs: W E x_t, with biases and whatever else is constant, blocks z, r, s~; (D, T, B, 3n).
        initial: s_0, (D, B, n).
        mask: 1 where the position is real, 0 where the state is carried through; (D, T, B, 1), or None for all real.
        gate_weight: [U_z; U_r]^T, (D, n, 2n).
        candidate_weight: U^T, (D, n, n).
        low: precision of the products with weights, `product_dtype`.

    Returns:
        states s_1..s_T, (D, T, B, n).
    """

    @staticmethod
    @_without_autocast
    def forward(ctx, inputs, initial, mask, gate_weight, candidate_weight, low):
        directions, steps, batch, _ = inputs.shape
        size = initial.shape[-1]
        states = gate_weight.new_empty(directions, steps + 1, batch, size)
        gates = states.new_empty(directions, steps, batch, 2 * size)
        candidates = states.new_empty(directions, steps, batch, size)
        gate_weight, candidate_weight = gate_weight.to(low), candidate_weight.to(low)
        inputs = inputs.to(states.dtype)
        states[:, 0] = initial
        for t in range(steps):
            state, gate, candidate = states[:, t], gates[:, t], candidates[:, t]
            gate_inputs, candidate_inputs = inputs[:, t].split([2 * size, size], dim=-1)
            torch.sigmoid(_add_product(gate_inputs, state, gate_weight), out=gate)
            update, reset = gate.split(size, dim=-1)
            if mask is not None:
                update.mul_(mask[:, t])
            torch.tanh(_add_product(candidate_inputs, reset * state, candidate_weight), out=candidate)
            torch.lerp(state, candidate, update, out=states[:, t + 1])
        ctx.save_for_backward(states, gates, candidates, gate_weight, candidate_weight)
        return states[:, 1:]

    @staticmethod
    @once_differentiable
    @_without_autocast
    def backward(ctx, grad_states):  # type: ignore[override]
        states, gates, candidates, gate_weight, candidate_weight = ctx.saved_tensors
        directions, steps, batch, size = candidates.shape
        grad_inputs = states.new_empty(directions, steps, batch, 3 * size)
        grad_state = torch.zeros_like(states[:, 0])
        for t in reversed(range(steps)):
            update, reset = gates[:, t].split(size, dim=-1)
            grad_state = _unit_backward(
                grad_state + grad_states[:, t],
                update,
                reset,
                candidates[:, t],
                states[:, t],
                candidate_weight.mT,
                grad_inputs[:, t],
            )
            grad_state = _add_product(grad_state, grad_inputs[:, t, :, : 2 * size], gate_weight.mT)
        low = gate_weight.dtype
        previous, reset_states = (
            past.flatten(1, 2).mT  # (D, n, T B)
            for past in (states[:, :-1], gates[..., size:] * states[:, :-1])
        )
        flat = grad_inputs.flatten(1, 2).to(low)  # (D, T B, 3n)
        grad_gate_weight = _product(previous, flat[..., : 2 * size])
        grad_candidate_weight = _product(reset_states, flat[..., 2 * size :])
        return grad_inputs, grad_state, None, grad_gate_weight, grad_candidate_weight, None


class AttentiveRecurrence(Function):
    """C c_t = Σ_j α_tj C h_j, α_t for the query s_{t-1}; s_t = GRU(s_{t-1}; x_t + C c_t) for t = 1..T.

    (Section 3.1, appendix A.2.2.)

    Inputs:
        inputs: W E y_{t-1} with biases, blocks z, r, s~; (T, B, 3n).
        initial: s_0, (B, n).
        keys: U_a h_j, (B, S, a).
        values: [C_z; C_r; C] h_j, (B, S, 3n).
        mask: 1 where the source position is real, else 0; (B, S), of the values' type.
        query_weight: W_a, (a, n).
        energy_weight: v_a, (a,), or None for the product of query and key.
        gate_weight: [U_z; U_r], (2n, n).
        candidate_weight: U, (n, n).
        scale: factor of the product of query and key.
        low: precision of the products with weights, `product_dtype`.

    Returns:
        states s_1..s_T (T, B, n) and alignments (T, B, S).
    """

    @staticmethod
    @_without_autocast
    def forward(
        ctx,
        inputs,
        initial,
        keys,
        values,
        mask,
        query_weight,
        energy_weight,
        gate_weight,
        candidate_weight,
        scale,
        low,
    ):
        steps, batch, _ = inputs.shape
        size, alignment_size = initial.shape[-1], query_weight.shape[0]
        # The additive score is computed as v·tanh x = 2 v·σ(2x) + constant, see `RNNsearchAttention`, and the factor
        # of both kinds goes into queries and keys: x is scale · query and scale · key from here on.
        additive = energy_weight is not None
        query_scale, key_scale = (2.0, 2.0) if additive else (scale, 1.0)
        states = gate_weight.new_empty(steps + 1, batch, size)
        queries = states.new_empty(steps, batch, alignment_size)
        gates = states.new_empty(steps, batch, 2 * size)
        candidates = states.new_empty(steps, batch, size)
        alignments = states.new_empty(steps, batch, keys.shape[1])
        state_weight = torch.cat([query_weight * query_scale, gate_weight]).to(low)  # (a + 2n, n)
        candidate_weight = candidate_weight.to(low)
        state_weight_t, candidate_weight_t = (weight.t().contiguous() for weight in (state_weight, candidate_weight))
        inputs, keys, values = (tensor.to(states.dtype) for tensor in (inputs, keys * key_scale, values))
        blocked = mask == 0
        lowest = torch.finfo(states.dtype).min
        states[0] = initial
        for t in range(steps):
            state, gate = states[t], gates[t]
            query, gate_terms = _product(state, state_weight_t).split([alignment_size, 2 * size], dim=-1)
            queries[t] = query
            if additive:
                energies = ((keys + query.unsqueeze(1)).sigmoid_() @ energy_weight).mul_(2)  # (B, S)
            else:
                energies = torch.bmm(query.unsqueeze(1), keys.mT).squeeze(1)
            alignments[t] = energies.masked_fill_(blocked, lowest).softmax(dim=-1).mul_(mask)
            terms = torch.baddbmm(inputs[t].unsqueeze(1), alignments[t].unsqueeze(1), values).squeeze(1)
            torch.add(terms[:, : 2 * size], gate_terms, out=gate).sigmoid_()
            update, reset = gate.split(size, dim=-1)
            candidate = _add_product(terms[:, 2 * size :], reset * state, candidate_weight_t)
            torch.lerp(state, torch.tanh(candidate, out=candidates[t]), update, out=states[t + 1])
        ctx.save_for_backward(
            states, queries, gates, candidates, alignments, keys, values,
            state_weight, energy_weight, candidate_weight,
        )  # fmt: skip
        ctx.scales = query_scale, key_scale
        return states[1:], alignments

    @staticmethod
    @once_differentiable
    @_without_autocast
    def backward(ctx, grad_states, grad_alignments):  # type: ignore[override]
        (
            states, queries, gates, candidates, alignments, keys, values,
            state_weight, energy_weight, candidate_weight,
        ) = ctx.saved_tensors  # fmt: skip
        query_scale, key_scale = ctx.scales
        steps, batch, size = candidates.shape
        alignment_size = queries.shape[-1]
        # Of queries and inputs [z, r, s~] side by side: what goes back to the state through one product, (a + 2n), and
        # what goes to the inputs, 3n, overlap.
        grads = states.new_empty(steps, batch, alignment_size + 3 * size)
        grad_queries, grad_inputs = grads.split([alignment_size, 3 * size], dim=-1)
        grad_terms = grads[..., : alignment_size + 2 * size]
        grad_energies = torch.empty_like(alignments)
        grad_state = torch.zeros_like(states[0])
        additive = energy_weight is not None
        grad_keys = torch.zeros_like(keys)
        grad_energy_weight: Any = torch.zeros_like(energy_weight) if additive else None
        values_t = values.mT
        for t in reversed(range(steps)):
            update, reset = gates[t].split(size, dim=-1)
            grad_state = _unit_backward(
                grad_state + grad_states[t], update, reset, candidates[t], states[t], candidate_weight, grad_inputs[t]
            )
            # A row times a matrix: the same as a matrix times a column takes several times as long on a CPU.
            grad_alignment = torch.bmm(grad_inputs[t].unsqueeze(1), values_t).squeeze(1).add_(grad_alignments[t])
            weighted = grad_alignment.mul_(alignments[t])
            grad_energy = torch.addcmul(
                weighted, alignments[t], weighted.sum(-1, keepdim=True), value=-1, out=grad_energies[t]
            )  # (B, S)
            if additive:
                hidden = (keys + queries[t].unsqueeze(1)).sigmoid_()  # (B, S, a)
                grad_energy_weight.addmv_(hidden.flatten(0, 1).t(), grad_energy.flatten())
                hidden.addcmul_(hidden, hidden, value=-1)  # σ'
                grad_query = torch.bmm(grad_energy.unsqueeze(1), hidden).squeeze(1)
                torch.mul(grad_query, energy_weight, out=grad_queries[t]).mul_(2)
                grad_keys.addcmul_(grad_energy.unsqueeze(-1), hidden)
            else:
                grad_queries[t] = torch.bmm(grad_energy.unsqueeze(1), keys).squeeze(1)
            grad_state = _add_product(grad_state, grad_terms[t], state_weight)
        if additive:
            grad_keys *= 2 * energy_weight
            grad_energy_weight *= 2
        else:
            grad_keys = grad_energies.permute(1, 2, 0) @ queries.transpose(0, 1)
        previous, reset_states = (
            past.flatten(0, 1).to(state_weight.dtype)  # (T B, n)
            for past in (states[:-1], gates[..., size:] * states[:-1])
        )
        grad_query_weight, grad_gate_weight = _product(grad_terms.flatten(0, 1).t(), previous).split(
            [alignment_size, 2 * size]
        )
        return (
            grad_inputs,
            grad_state,
            grad_keys * key_scale,
            alignments.permute(1, 2, 0) @ grad_inputs.transpose(0, 1),
            None,
            grad_query_weight * query_scale,
            grad_energy_weight,
            grad_gate_weight,
            _product(grad_inputs[..., 2 * size :].flatten(0, 1).t(), reset_states),
            None,
            None,
        )


class RNNsearchRecurrence(GradientCheckpointingLayer):
    """A recurrence as a layer, so that activation checkpointing can run it again instead of keeping its gates."""

    def __init__(self, function: type[Function]):
        super().__init__()
        self.function = function

    def forward(self, *arguments):
        """The arguments and results are those of the function."""
        return self.function.apply(*arguments)
