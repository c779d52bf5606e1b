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
"""The equations of RNNsearch, one step at a time: alignment model, gated unit and maxout read-out (appendix A).

Two facts that set them apart from what other packages call "Bahdanau attention":

1. The recurrent unit is the paper's, not `torch.nn.GRU`: the reset gate acts before the product, U (r ∘ s), and the
   update gate mixes (1 - z) ∘ s + z ∘ s~. Weights of the two cannot be exchanged.
2. Energies come from a tanh layer over the sum of two projections, and words from a maxout layer.

Legend of the shapes: B batch, S source positions, T target positions, m embedding, n state, a alignment layer,
l maxout layer, C context (2n, or n with a fixed context). Masks are 1 at real positions, 0 at padding.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .configuration_rnnsearch import RNNsearchConfig
from .loss_rnnsearch import OutputCrossEntropy, at_least_float32, summed_cross_entropy

_FEW_ROWS = 8  # of the output layer: a sentence, or the hypotheses of one


class RecurrentProjection(nn.Linear):
    """U, U_z, U_r: square blocks of one weight, each orthogonal at the start (appendix B.1)."""


class AlignmentProjection(nn.Linear):
    """W_a, U_a: start at a tenth of the other weights' deviation when the score is additive (appendix B.1)."""


class EnergyProjection(nn.Linear):
    """v_a: starts at zero, so that the first alignments are uniform (appendix B.1)."""


def weight_of(layer: nn.Linear) -> Tensor:
    """The weight of a layer that a recurrence reads without calling the layer.

    With `device_map` Accelerate keeps weights elsewhere until their layer is called, and fetches them by a hook. A
    layer that stands around the real one, such as LoRA's, has the weight that turns unit vectors into its outputs.
    """
    if not isinstance(layer, nn.Linear):
        with torch.autocast(layer.weight.device.type, enabled=False):
            return layer(torch.eye(layer.in_features, dtype=layer.weight.dtype, device=layer.weight.device)).mT
    hook = getattr(layer, "_hf_hook", None)
    if hook is None or not layer.weight.is_meta:
        return layer.weight
    hook.pre_forward(layer)
    weight = layer.weight
    hook.post_forward(layer, None)
    return weight


class RNNsearchTargetEmbedding(nn.Embedding):
    """E of the target side; the start token has no embedding, it gives zeros and gets no gradient (y_0 = 0)."""

    def __init__(self, num_embeddings: int, embedding_dim: int, start_token_id: int):
        super().__init__(num_embeddings, embedding_dim)
        self.start_token_id = start_token_id

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input) * input.ne(self.start_token_id).unsqueeze(-1)


class RNNsearchAttention(nn.Module):
    """The alignment model (section 3.1, appendix A.1.2).

    | paper | here |
    | --- | --- |
    | W_a (a, n) | `query_proj` |
    | U_a (a, 2n) | `key_proj`; U_a h_j are the `keys`, computed once for a sentence |
    | v_a (a) | `energy_proj`, additive score only |
    """

    def __init__(self, config: RNNsearchConfig):
        super().__init__()
        self.query_proj = AlignmentProjection(config.hidden_size, config.alignment_size, bias=False)
        self.key_proj = AlignmentProjection(config.context_size, config.alignment_size, bias=False)
        self.energy_proj = (
            EnergyProjection(config.alignment_size, 1, bias=False) if config.score == "additive" else None
        )
        self.scale = 1 / math.sqrt(config.alignment_size) if config.score == "scaled_dot" else 1.0

    def forward(self, state: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Weighted sum of the values and alignment α_i for the query `state`.

        Args:
            state: s_{i-1}, (R, n): R = B, or k for each sentence, those of a sentence side by side.
            keys: U_a h_j, (B, S, a).
            values: M h_j for a matrix M, (B, S, v); what comes out is then M c_i.
            mask: 1 at real source positions, of the values' type, (B, S).

        Returns:
            Σ_j α_ij values_j (R, v) and alignment (R, S); a row of the mask without a 1 gives zeros in both.
        """
        query = self.query_proj(state).unflatten(0, (keys.shape[0], -1))  # (B, k, a)
        if self.energy_proj is None:
            energies = query @ keys.mT * self.scale  # (B, k, S)
        else:
            # tanh x = 2σ(2x) - 1: σ is several times cheaper on a CPU, and the softmax does not see the constant.
            hidden = (query.unsqueeze(2) + keys.unsqueeze(1)).mul_(2).sigmoid_()  # (B, k, S, a)
            energies = 2 * self.energy_proj(hidden).squeeze(-1)  # (B, k, S)
        mask = mask.unsqueeze(1)
        energies = at_least_float32(energies)
        energies = energies.masked_fill(mask == 0, torch.finfo(energies.dtype).min)
        alignment = energies.softmax(dim=-1).to(values) * mask  # (B, k, S)
        return torch.bmm(alignment, values).to(values).flatten(0, 1), alignment.flatten(0, 1)


class RNNsearchUnit(nn.Module):
    """The gated hidden unit (appendix A.1.1 and A.2).

    | paper | here |
    | --- | --- |
    | W_z, W_r, W (3n, m) with biases | `input_proj` |
    | U_z, U_r (2n, n) | `gate_proj` |
    | U (n, n) | `candidate_proj` |

    The blocks stand in the order z, r, s~. The paper leaves biases out of its equations; its authors' code gives one
    to the candidate only. Here the gates have one too, zero at the start.
    """

    def __init__(self, input_size: int, hidden_size: int):
        super().__init__()
        self.hidden_size = hidden_size
        self.input_proj = nn.Linear(input_size, 3 * hidden_size)
        self.gate_proj = RecurrentProjection(hidden_size, 2 * hidden_size, bias=False)
        self.candidate_proj = RecurrentProjection(hidden_size, hidden_size, bias=False)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """One step: the new state (B, n) from the old one and `inputs` = W E y + C c, (B, 3n)."""
        gate_inputs, candidate_inputs = inputs.split([2 * self.hidden_size, self.hidden_size], dim=-1)
        update, reset = torch.sigmoid(gate_inputs + self.gate_proj(state)).chunk(2, dim=-1)  # z_i, r_i
        candidate = torch.tanh(candidate_inputs + self.candidate_proj(reset * state))  # s~_i
        return (1 - update) * state + update * candidate


class RNNsearchContextUnit(RNNsearchUnit):
    """The decoder's unit, which the context enters as well: C_z, C_r, C (3n, C) is `context_proj`.

    C c_i = Σ_j α_ij C h_j: the decoder applies `context_proj` to the annotations, once for a sentence, and adds what
    the alignment model makes of it to the `inputs`.
    """

    def __init__(self, input_size: int, hidden_size: int, context_size: int):
        super().__init__(input_size, hidden_size)
        self.context_proj = nn.Linear(context_size, 3 * hidden_size, bias=False)


class RNNsearchReadout(nn.Module):
    """The maxout layer of the deep output (appendix A.2.2): t~ = U_o s + V_o E y + C_o c, t = max of adjacent pairs.

    | paper | here |
    | --- | --- |
    | U_o (2l, n) with bias | `state_proj` |
    | V_o (2l, m) | `embedding_proj` |
    | C_o (2l, C) | `context_proj`, applied to the annotations like the unit's |
    """

    def __init__(self, config: RNNsearchConfig):
        super().__init__()
        self.state_proj = nn.Linear(config.hidden_size, 2 * config.maxout_size)
        self.embedding_proj = nn.Linear(config.embedding_size, 2 * config.maxout_size, bias=False)
        self.context_proj = nn.Linear(config.context_size, 2 * config.maxout_size, bias=False)
        self.dropout = nn.Dropout(config.readout_dropout)

    def forward(self, states: Tensor, embedded: Tensor, context_terms: Tensor) -> Tensor:
        """t_i (T, B, l) from s_i (T, B, n), E y_{i-1} (T, B, m) and C_o c_i (T, B, 2l)."""
        pre_maxout = self.state_proj(states) + self.embedding_proj(embedded) + context_terms
        return self.dropout(pre_maxout.unflatten(-1, (-1, 2)).amax(dim=-1))


class RNNsearchOutput(nn.Linear):
    """The output layer: p(y_i) ∝ exp(W_o t_i + b) (appendix A.2.2), with its loss."""

    def forward(self, input: Tensor, labels: Tensor | None = None):
        """Logits (..., K) of t (..., l); with `labels` (...), also the cross-entropy summed over those not ignored.

        In training that loss is a function of t and the weights, and the logits have no gradient from it.
        """
        if labels is not None:
            labels = labels.flatten().to(input.device)
            if self.training:
                loss, logits = OutputCrossEntropy.apply(input.flatten(0, -2), self.weight, self.bias, labels)
                return logits.unflatten(0, input.shape[:-1]), loss
            logits = super().forward(input)
            return logits, summed_cross_entropy(logits.flatten(0, -2), labels)
        rows = input.numel() // self.in_features
        if 0 < rows <= _FEW_ROWS and input.device.type == "cpu" and self.weight.dtype == torch.float32:
            # W t^T + b reads W as it lies in memory, and two columns take the path of matrices instead of vectors:
            # for so few rows a CPU needs half the time.
            columns = F.pad(input.reshape(rows, -1), (0, 0, 0, int(rows == 1))).t()
            logits = torch.addmm(self.bias.unsqueeze(1), self.weight, columns)[:, :rows].t()
            return logits.reshape(*input.shape[:-1], -1)
        return super().forward(input)


def source_mask(input_ids: Tensor | None, pad_token_id: int) -> Tensor | None:
    """1 where the source is not padding, (B, S); None where there are no ids to tell it from."""
    return None if input_ids is None else input_ids.ne(pad_token_id).long()
