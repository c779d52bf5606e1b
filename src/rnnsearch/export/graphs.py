"""What is exported, as two modules: the encoder with all that is computed once for a sentence, and a decoder step.

They call the model's own layers. Only the recurrence of the encoder is written anew: `RNNsearchRecurrence` is a Python
loop with a backward pass, and a graph for sources of every length needs one that the exporter knows.

Shapes: B batch, S source positions, k hypotheses of a sentence, n state, a alignment layer, l maxout layer,
K vocabulary. Masks are 1 at real positions, 0 at padding.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch._higher_order_ops import scan

from ..modeling.generation_rnnsearch import RNNsearchCache
from ..modeling.layers_rnnsearch import RNNsearchUnit
from ..modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration


class EncoderGraph(nn.Module):
    """The encoder, and the decoder before its first word (`RNNsearchDecoder.start`)."""

    def __init__(self, model: RNNsearchForConditionalGeneration):
        super().__init__()
        self.encoder = model.get_encoder()
        self.decoder = model.get_decoder()

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, ...]:
        """From source ids and their mask, (B, S) each: what the first step reads.

        Returns:
            s_0 (B, n) and the context's terms (B, 3n + 2l), zeros where the model attends; where it does, also the
            keys U_a h_j (B, S, a) and the values C h_j and C_o h_j (B, S, 3n + 2l).
        """
        embedded = self.encoder.embed_tokens(input_ids)  # (B, S, m)
        real = attention_mask.bool().unsqueeze(-1)  # (B, S, 1)
        directions = [_read(self.encoder.forward_unit, embedded, real)]
        if self.encoder.backward_unit is not None:
            directions.append(_read(self.encoder.backward_unit, embedded.flip(1), real.flip(1)).flip(1))
        start = self.decoder.start(torch.cat(directions, dim=-1), input_ids.shape[0])
        if start.keys is None or start.values is None:
            return start.state, start.context
        return start.state, start.context, start.keys, start.values


def _read(unit: RNNsearchUnit, embedded: Tensor, real: Tensor) -> Tensor:
    """The states of one direction, (B, S, n); padding leaves the state as it is."""

    def step(state: Tensor, position: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        inputs, is_real = position
        state = torch.where(is_real, unit(inputs, state), state)
        return state, state.clone()  # the two may not be one tensor

    initial = embedded.new_zeros(embedded.shape[0], unit.hidden_size)
    _, states = scan(step, initial, (unit.input_proj(embedded).transpose(0, 1), real.transpose(0, 1)))
    return states.transpose(0, 1)


class StepGraph(nn.Module):
    """One word of the decoder (`RNNsearchDecoder.step`), read-out and output layer included."""

    def __init__(self, model: RNNsearchForConditionalGeneration):
        super().__init__()
        self.decoder = model.get_decoder()
        self.lm_head = model.lm_head

    def forward(
        self,
        tokens: Tensor,
        state: Tensor,
        context: Tensor,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        attention_mask: Tensor | None = None,
        seen_tokens: Tensor | None = None,
    ) -> tuple[Tensor, ...]:
        """The next word of k hypotheses of each sentence.

        Args:
            tokens: the word before, (B, k).
            state: s, (B, k, n).
            context: what the last context added to the unit's input and to the read-out, (B, k, 3n + 2l).
            keys, values, attention_mask: where the model attends: of the source, (B, S, a), (B, S, 3n + 2l), (B, S).
            seen_tokens: where the step order is "groundhog": words read before this one, a scalar.

        Returns:
            log-probabilities (B, k, K), the new state and context; where the model attends, the alignment (B, k, S).
        """
        decoder = self.decoder
        embedded = decoder.embed_tokens(tokens.flatten().unsqueeze(0))  # (1, B k, m)
        inputs = decoder.unit.input_proj(embedded)
        if seen_tokens is not None:
            # Before the first word nothing is taken in: an update gate that is shut leaves the state as it is.
            update_gate = torch.arange(inputs.shape[-1]) < decoder.unit.hidden_size
            inputs = inputs.masked_fill(update_gate & (seen_tokens == 0), -math.inf)
        mask = embedded.new_ones(1) if attention_mask is None else attention_mask.to(embedded.dtype)
        cache = RNNsearchCache(state.flatten(0, 1), context.flatten(0, 1), keys, values, seen_tokens=1)
        states, context_terms, alignment, after = decoder.step(inputs, mask, cache)
        maxout = decoder.readout(states, embedded, context_terms).squeeze(0)  # (B k, l)
        # Not by the layer's own call, which chooses its way by the number of rows.
        log_probs = F.linear(maxout, self.lm_head.weight, self.lm_head.bias).log_softmax(dim=-1)
        results = [log_probs, after.state, after.context]
        if alignment is not None:
            results.append(alignment.squeeze(0))
        return tuple(result.unflatten(0, tokens.shape) for result in results)
