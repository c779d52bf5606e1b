# Copyright 2026 The RNNsearch authors. Licensed under the Apache License, Version 2.0.
"""RNNsearch (Bahdanau, Cho and Bengio, 2014) as a Transformers model.

Read downwards: attention, recurrent unit, read-out, encoder, decoder, model, translation model. Two facts that set it
apart from what other packages call "Bahdanau attention":

1. The recurrent unit is the paper's, not `torch.nn.GRU`: the reset gate acts before the product, U (r ∘ s), and the
   update gate mixes (1 - z) ∘ s + z ∘ s~. Weights of the two cannot be exchanged.
2. The decoder attends with the state *before* its update, s_{i-1} (`step_order="paper"`).

Legend of the shapes: B batch, S source positions, T target positions, m embedding, n state, a alignment layer,
l maxout layer, C context (2n, or n with a fixed context), K vocabulary. Masks are 1 at real positions, 0 at padding.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers.cache_utils import Cache
from transformers.generation import GenerationMixin
from transformers.modeling_outputs import (
    BaseModelOutput,
    BaseModelOutputWithPastAndCrossAttentions,
    Seq2SeqLMOutput,
    Seq2SeqModelOutput,
)
from transformers.modeling_utils import PreTrainedModel

from .configuration_rnnsearch import RNNsearchConfig
from .recurrence_rnnsearch import AttentiveRecurrence, GatedRecurrence, product_dtype

# Transformers 5.24 renamed the carried state; before, outputs and arguments say "past_key_values".
CACHE = "cache" if "cache" in Seq2SeqLMOutput.__dataclass_fields__ else "past_key_values"


class RecurrentProjection(nn.Linear):
    """U, U_z, U_r: square blocks of one weight, each orthogonal at the start (appendix B.1)."""


class AlignmentProjection(nn.Linear):
    """W_a, U_a: start at a tenth of the other weights' deviation when the score is additive (appendix B.1)."""


class EnergyProjection(nn.Linear):
    """v_a: starts at zero, so that the first alignments are uniform (appendix B.1)."""


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

    def forward(self, state: Tensor, annotations: Tensor, keys: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Context c_i and alignment α_i for the query `state`.

        Args:
            state: s_{i-1}, (B, n).
            annotations: h_j, (B, S, 2n).
            keys: U_a h_j, (B, S, a).
            mask: 1 at real source positions, of the annotations' type, (B, S).

        Returns:
            context (B, 2n) and alignment (B, S); a row of the mask without a 1 gives zeros in both.
        """
        query = self.query_proj(state).unsqueeze(1)  # (B, 1, a)
        if self.energy_proj is None:
            energies = (keys * query).sum(-1) * self.scale  # (B, S)
        else:
            energies = self.energy_proj(torch.tanh(query + keys)).squeeze(-1)  # (B, S)
        energies = energies.masked_fill(mask == 0, torch.finfo(energies.dtype).min)
        alignment = energies.softmax(dim=-1) * mask  # (B, S)
        return torch.bmm(alignment.unsqueeze(1), annotations).squeeze(1).to(annotations), alignment


class RNNsearchUnit(nn.Module):
    """The gated hidden unit (appendix A.1.1 and A.2).

    | paper | here |
    | --- | --- |
    | W_z, W_r, W (3n, m) with biases | `input_proj` |
    | C_z, C_r, C (3n, C) | `context_proj`, decoder only |
    | U_z, U_r (2n, n) | `gate_proj` |
    | U (n, n) | `candidate_proj` |

    The blocks stand in the order z, r, s~. The paper leaves biases out of its equations; its authors' code gives one
    to the candidate only. Here the gates have one too, zero at the start.
    """

    def __init__(self, input_size: int, hidden_size: int, context_size: int = 0):
        super().__init__()
        self.hidden_size = hidden_size
        self.input_proj = nn.Linear(input_size, 3 * hidden_size)
        self.context_proj = nn.Linear(context_size, 3 * hidden_size, bias=False) if context_size else None
        self.gate_proj = RecurrentProjection(hidden_size, 2 * hidden_size, bias=False)
        self.candidate_proj = RecurrentProjection(hidden_size, hidden_size, bias=False)

    def forward(self, inputs: Tensor, state: Tensor) -> Tensor:
        """One step: the new state (B, n) from the old one and `inputs` = W E y + C c, (B, 3n)."""
        gate_inputs, candidate_inputs = inputs.split([2 * self.hidden_size, self.hidden_size], dim=-1)
        update, reset = torch.sigmoid(gate_inputs + self.gate_proj(state)).chunk(2, dim=-1)  # z_i, r_i
        candidate = torch.tanh(candidate_inputs + self.candidate_proj(reset * state))  # s~_i
        return (1 - update) * state + update * candidate


class RNNsearchReadout(nn.Module):
    """The maxout layer of the deep output (appendix A.2.2): t~ = U_o s + V_o E y + C_o c, t = max of adjacent pairs.

    | paper | here |
    | --- | --- |
    | U_o (2l, n) with bias | `state_proj` |
    | V_o (2l, m) | `embedding_proj` |
    | C_o (2l, C) | `context_proj` |
    """

    def __init__(self, config: RNNsearchConfig):
        super().__init__()
        self.state_proj = nn.Linear(config.hidden_size, 2 * config.maxout_size)
        self.embedding_proj = nn.Linear(config.embedding_size, 2 * config.maxout_size, bias=False)
        self.context_proj = nn.Linear(config.context_size, 2 * config.maxout_size, bias=False)
        self.dropout = nn.Dropout(config.readout_dropout)

    def forward(self, states: Tensor, embedded: Tensor, contexts: Tensor) -> Tensor:
        """t_i (B, T, l) from s_i (B, T, n), E y_{i-1} (B, T, m) and c_i (B, T, C)."""
        pre_maxout = self.state_proj(states) + self.embedding_proj(embedded) + self.context_proj(contexts)
        return self.dropout(pre_maxout.unflatten(-1, (-1, 2)).amax(dim=-1))


class RNNsearchCache(Cache):
    """What one step of the decoder hands to the next.

    Attributes:
        state: s_i, (B, n).
        context: c_i, (B, C).
        keys: U_a h_j, (B, S, a), computed once; None with a fixed context.
        seen_tokens: target positions read so far.
    """

    is_compileable = False
    is_croppable = False

    def __init__(self, state: Tensor, context: Tensor, keys: Tensor | None, seen_tokens: int = 0):
        # The base class keeps a list of attention layers, of which there are none.
        self.layers: list[Any] = []
        self.state, self.context, self.keys, self.seen_tokens = state, context, keys, seen_tokens

    def __len__(self) -> int:
        return 1

    def __repr__(self) -> str:
        return f"RNNsearchCache(batch_size={self.batch_size}, seen_tokens={self.seen_tokens})"

    @property
    def batch_size(self) -> int:
        return self.state.shape[0]

    @property
    def is_linear(self) -> list[bool]:
        return [False]

    @property
    def is_sliding(self) -> list[bool]:
        return [False]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return self.seen_tokens

    def get_max_length(self, layer_idx: int = 0) -> int:
        return -1

    def get_max_cache_shape(self, layer_idx: int = 0) -> int:
        return -1

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Beams of one sentence change places; its keys, like its annotations, are the same for all of them."""
        beam_idx = beam_idx.to(self.state.device)
        self.state = self.state.index_select(0, beam_idx)
        self.context = self.context.index_select(0, beam_idx)

    def batch_repeat_interleave(self, repeats: int) -> None:
        self.batch_select_indices(torch.arange(self.batch_size).repeat_interleave(repeats))

    def batch_select_indices(self, indices: Tensor) -> None:
        self.reorder_cache(indices)
        if self.keys is not None:
            self.keys = self.keys.index_select(0, indices.to(self.keys.device))

    def crop(self, max_length: int) -> None:
        raise ValueError("a recurrent state cannot be cropped: run the decoder again over the shorter prefix")

    def reset(self) -> None:
        raise ValueError("a recurrent state cannot be reset: leave the cache out to start anew")


class RNNsearchPreTrainedModel(PreTrainedModel):
    """Initialisation (appendix B.1) and what Transformers asks of every model."""

    config_class = RNNsearchConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    accepts_loss_kwargs = True
    _is_stateful = True
    _no_split_modules = ["RNNsearchEncoder", "RNNsearchUnit", "RNNsearchAttention", "RNNsearchReadout"]  # noqa: RUF012
    _skip_keys_device_placement = ["cache", "past_key_values"]  # noqa: RUF012

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        std = self.config.initializer_range
        if isinstance(module, RecurrentProjection):
            # Blocks carry no mark of their own that says "already loaded from a checkpoint".
            if not getattr(module.weight, "_is_hf_initialized", False):
                for block in module.weight.split(module.in_features):
                    nn.init.orthogonal_(block)
        elif isinstance(module, EnergyProjection):
            nn.init.zeros_(module.weight)
        elif isinstance(module, nn.Linear | nn.Embedding):
            tenth = isinstance(module, AlignmentProjection) and self.config.score == "additive"
            nn.init.normal_(module.weight, std=std / 10 if tenth else std)
            if getattr(module, "bias", None) is not None:
                nn.init.zeros_(module.bias)


class RNNsearchEncoder(RNNsearchPreTrainedModel):
    """The bidirectional encoder (section 3.2): h_j = [→h_j; ←h_j]. A fixed context needs the forward one only."""

    def __init__(self, config: RNNsearchConfig):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.src_vocab_size, config.embedding_size)
        self.forward_unit = RNNsearchUnit(config.embedding_size, config.hidden_size)
        self.backward_unit = (
            RNNsearchUnit(config.embedding_size, config.hidden_size) if config.context == "search" else None
        )
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.annotation_dropout = nn.Dropout(config.annotation_dropout)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
        return_dict: bool | None = None,
    ) -> BaseModelOutput | tuple:
        """Annotations of a batch of source sentences.

        Args:
            input_ids: source ids ending in `eos_token_id`, (B, S); or `inputs_embeds`, (B, S, m).
            attention_mask: 1 at real positions, 0 at padding on either side, (B, S). Without it, padding is where
                `input_ids` is `pad_token_id`.
            output_hidden_states: return the embeddings and the annotations.
            output_attentions: accepted, as the encoder attends to nothing.

        Returns:
            `last_hidden_state`: the annotations, (B, S, C). At padding the state is carried through unchanged, so
            that →h_Tx stands at the last and ←h_1 at the first index whatever the padding.

        Raises:
            ValueError: neither or both of `input_ids` and `inputs_embeds` are given.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("give the encoder either `input_ids` or `inputs_embeds`")
        if attention_mask is None:
            attention_mask = source_mask(input_ids, self.config.pad_token_id)
        embedded = inputs_embeds if input_ids is None else self.embed_tokens(input_ids)  # (B, S, m)
        embedded = self.embedding_dropout(embedded)
        units = [self.forward_unit] if self.backward_unit is None else [self.forward_unit, self.backward_unit]
        # The backward unit reads the same sentence from its end: (S, D, B, ...), the second direction turned round.
        inputs = [unit.input_proj(embedded).transpose(0, 1) for unit in units]
        states = GatedRecurrence.apply(
            _both_ways(inputs),
            embedded.new_zeros(len(units), embedded.shape[0], self.config.hidden_size),
            None if attention_mask is None else _both_ways([_time_mask(attention_mask, embedded)] * len(units)),
            torch.stack([unit.gate_proj.weight for unit in units]),
            torch.stack([unit.candidate_proj.weight for unit in units]),
            product_dtype(self.embed_tokens.weight),
        )  # (S, D, B, n)
        directions = [states[:, 0]] if len(units) == 1 else [states[:, 0], states[:, 1].flip(0)]
        annotations = self.annotation_dropout(torch.cat(directions, dim=-1).transpose(0, 1))  # (B, S, C)
        output = BaseModelOutput(
            last_hidden_state=annotations, hidden_states=(embedded, annotations) if output_hidden_states else None
        )
        return output if _as_dict(return_dict, self.config) else output.to_tuple()


class RNNsearchDecoder(RNNsearchPreTrainedModel):
    """The decoder (sections 3.1 and 4.2, appendix A.2.2), all steps at once or one at a time.

    Both orders are one recurrence, c_i = attend(s_{i-1}); s_i = GRU(s_{i-1}; y, c_i), which the paper feeds the word
    before, y_{i-1}, and reads out after its update. The authors' code feeds it the word just written, y_i, and reads
    out before its update: what is read out for y_i is (s_i, c_i) in the one and (s_{i-1}, c_i) in the other.
    """

    def __init__(self, config: RNNsearchConfig):
        super().__init__(config)
        self.embed_tokens = RNNsearchTargetEmbedding(
            config.vocab_size, config.embedding_size, config.decoder_start_token_id
        )
        self.init_proj = nn.Linear(config.hidden_size, config.hidden_size)  # W_s
        self.attention = RNNsearchAttention(config) if config.context == "search" else None
        self.unit = RNNsearchUnit(config.embedding_size, config.hidden_size, config.context_size)
        self.readout = RNNsearchReadout(config)
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        encoder_hidden_states: Tensor | None = None,
        encoder_attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        cache: RNNsearchCache | None = None,
        use_cache: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
    ) -> BaseModelOutputWithPastAndCrossAttentions | tuple:
        """Read the target words before each position and the source; give the maxout layer for each position.

        Args:
            input_ids: the word before each position, beginning with `decoder_start_token_id`, (B, T); or
                `inputs_embeds`, (B, T, m).
            encoder_hidden_states: annotations, (B, S, C).
            encoder_attention_mask: 1 at real source positions, (B, S); None: all are real.
            cache: the state after the words before these; None at the start of a sentence.
            use_cache: return the state after these words.
            output_attentions: return the alignments.
            output_hidden_states: return the embeddings and the states that were read out.

        Returns:
            `last_hidden_state`: t_i (B, T, l); `cross_attentions`: one tensor (B, 1, T, S), row i the weights read for
            the word at position i; None with a fixed context.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("give the decoder either `decoder_input_ids` or `decoder_inputs_embeds`")
        if encoder_hidden_states is None:
            raise ValueError("give the decoder the annotations of the source sentence, `encoder_hidden_states`")
        embedded = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        embedded = self.embedding_dropout(embedded)  # (B, T, m)
        annotations = encoder_hidden_states.to(self.dtype)
        if encoder_attention_mask is None:
            mask = annotations.new_ones(annotations.shape[:2])
        else:
            mask = encoder_attention_mask.to(annotations)
        if cache is None:
            cache = self.start(annotations)
        run = self.step if embedded.shape[1] == 1 else self.run
        states, contexts, alignments, after = run(self.unit.input_proj(embedded), annotations, mask, cache)
        maxout = self.readout(states, embedded, contexts)  # (B, T, l)
        output = BaseModelOutputWithPastAndCrossAttentions(
            last_hidden_state=maxout,
            hidden_states=(embedded, states) if output_hidden_states else None,
            cross_attentions=(alignments.unsqueeze(1),) if output_attentions and alignments is not None else None,
            **{CACHE: after if use_cache else None},
        )
        return output if _as_dict(return_dict, self.config) else output.to_tuple()

    def start(self, annotations: Tensor) -> RNNsearchCache:
        """Before the first word: s_0 = tanh(W_s ←h_1), or of the fixed context →h_Tx, and U_a h_j."""
        # Under autocast the projections come in the lower precision; what is carried keeps that of the weights.
        last = annotations[:, -1]
        if self.attention is None:
            return RNNsearchCache(torch.tanh(self.init_proj(last).to(last)), last, None)
        backward_first = annotations[:, 0, self.config.hidden_size :]
        keys = self.attention.key_proj(annotations).to(last)
        return RNNsearchCache(torch.tanh(self.init_proj(backward_first).to(last)), torch.zeros_like(last), keys)

    def step(
        self, inputs: Tensor, annotations: Tensor, mask: Tensor, cache: RNNsearchCache
    ) -> tuple[Tensor, Tensor, Tensor | None, RNNsearchCache]:
        """One word: the equations as they stand, and the way of `generate`.

        Args:
            inputs: W E y_{i-1}, (B, 1, 3n).
            annotations, mask: h_j (B, S, C) and 1 where they are real (B, S).
            cache: the state before this word.

        Returns:
            what is read out, state (B, 1, n) and context (B, 1, C); the alignment (B, 1, S); the state after.
        """
        state, context, keys = cache.state, cache.context, cache.keys
        if self.config.step_order == "groundhog" and cache.seen_tokens > 0:
            state = self.unit(inputs[:, 0] + self.unit.context_proj(context), state)
        alignment = None
        if self.attention is not None:
            context, alignment = self.attention(state, annotations, keys, mask)
            alignment = alignment.unsqueeze(1)
        if self.config.step_order == "paper":
            state = self.unit(inputs[:, 0] + self.unit.context_proj(context), state)
        after = RNNsearchCache(state, context, keys, cache.seen_tokens + 1)
        return state.unsqueeze(1), context.unsqueeze(1), alignment, after

    def run(
        self, inputs: Tensor, annotations: Tensor, mask: Tensor, cache: RNNsearchCache
    ) -> tuple[Tensor, Tensor, Tensor | None, RNNsearchCache]:
        """T words at once through the recurrences with a backward pass of their own; shapes as in `step`, T for 1."""
        words, inputs = inputs.shape[1], inputs.transpose(0, 1)  # (T, B, 3n)
        state = cache.state
        groundhog = self.config.step_order == "groundhog"
        if groundhog:
            if cache.seen_tokens > 0:
                state = self.unit(inputs[0] + self.unit.context_proj(cache.context), state)
            # Fed with y_i for y_{i-1}; the update after the last word is not read, so neither is its input.
            inputs = torch.cat([inputs[1:], torch.zeros_like(inputs[:1])])
        alignments = None
        if self.attention is None:
            contexts = cache.context.expand(words, -1, -1)
            inputs = inputs + self.unit.context_proj(cache.context)
            states = GatedRecurrence.apply(
                inputs.unsqueeze(1),
                state.unsqueeze(0),
                None,
                self.unit.gate_proj.weight.unsqueeze(0),
                self.unit.candidate_proj.weight.unsqueeze(0),
                product_dtype(self.embed_tokens.weight),
            ).squeeze(1)
        else:
            energy_proj = self.attention.energy_proj
            states, contexts, alignments = AttentiveRecurrence.apply(
                inputs,
                state,
                annotations,
                cache.keys,
                mask,
                self.attention.query_proj.weight,
                None if energy_proj is None else energy_proj.weight.squeeze(0),
                self.unit.gate_proj.weight,
                self.unit.candidate_proj.weight,
                self.unit.context_proj.weight,
                self.attention.scale,
                product_dtype(self.embed_tokens.weight),
            )
            alignments = alignments.transpose(0, 1)  # (B, T, S)
        if groundhog:
            states = torch.cat([state.unsqueeze(0), states[:-1]])
        after = RNNsearchCache(states[-1], contexts[-1], cache.keys, cache.seen_tokens + words)
        return states.transpose(0, 1), contexts.transpose(0, 1), alignments, after


class RNNsearchModel(RNNsearchPreTrainedModel):
    """Encoder and decoder up to the maxout layer."""

    def __init__(self, config: RNNsearchConfig):
        super().__init__(config)
        self.encoder = RNNsearchEncoder(config)
        self.decoder = RNNsearchDecoder(config)
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        return self.encoder.embed_tokens

    def set_input_embeddings(self, value: nn.Embedding) -> None:
        self.encoder.embed_tokens = value

    def get_encoder(self, modality: str | None = None) -> RNNsearchEncoder:
        return self.encoder

    def get_decoder(self) -> RNNsearchDecoder:
        return self.decoder

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: BaseModelOutput | tuple | None = None,
        cache: RNNsearchCache | None = None,
        past_key_values: RNNsearchCache | None = None,
        inputs_embeds: Tensor | None = None,
        decoder_inputs_embeds: Tensor | None = None,
        use_cache: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
    ) -> Seq2SeqModelOutput | tuple:
        """Maxout layer for each target position.

        Args:
            input_ids: source ids, (B, S); or `inputs_embeds` (B, S, m); or `encoder_outputs`, whose first entry are
                the annotations (B, S, C).
            attention_mask: 1 at real source positions, 0 at padding on either side, (B, S). Without it, padding is
                where `input_ids` is `pad_token_id`.
            decoder_input_ids: the word before each position, (B, T); or `decoder_inputs_embeds` (B, T, m).
            decoder_attention_mask: accepted and not needed: a position depends on those before it only.
            cache: the state after earlier words (`past_key_values` before Transformers 5.24).
            use_cache: return the state; by default as the configuration says.
            output_attentions, output_hidden_states, return_dict: as everywhere in Transformers.

        Returns:
            `last_hidden_state` (B, T, l), `cross_attentions` one tensor (B, 1, T, S), `encoder_last_hidden_state`.
        """
        output_attentions = self.config.output_attentions if output_attentions is None else output_attentions
        output_hidden_states = (
            self.config.output_hidden_states if output_hidden_states is None else output_hidden_states
        )
        if attention_mask is None:
            attention_mask = source_mask(input_ids, self.config.pad_token_id)
        if encoder_outputs is None:
            encoder_outputs = self.encoder(
                input_ids=input_ids,
                attention_mask=attention_mask,
                inputs_embeds=inputs_embeds,
                output_hidden_states=output_hidden_states,
                return_dict=True,
            )
        elif not isinstance(encoder_outputs, BaseModelOutput):
            encoder_outputs = BaseModelOutput(*encoder_outputs)
        decoded = self.decoder(
            input_ids=decoder_input_ids,
            encoder_hidden_states=encoder_outputs.last_hidden_state,
            encoder_attention_mask=attention_mask,
            inputs_embeds=decoder_inputs_embeds,
            cache=past_key_values if cache is None else cache,
            use_cache=self.config.use_cache if use_cache is None else use_cache,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
            return_dict=True,
        )
        output = Seq2SeqModelOutput(
            last_hidden_state=decoded.last_hidden_state,
            decoder_hidden_states=decoded.hidden_states,
            cross_attentions=decoded.cross_attentions,
            encoder_last_hidden_state=encoder_outputs.last_hidden_state,
            encoder_hidden_states=encoder_outputs.hidden_states,
            **{CACHE: getattr(decoded, CACHE)},
        )
        return output if _as_dict(return_dict, self.config) else output.to_tuple()


class RNNsearchForConditionalGeneration(RNNsearchPreTrainedModel, GenerationMixin):
    """RNNsearch with its output layer: p(y_i) ∝ exp(W_o t_i + b) (appendix A.2.2)."""

    _tied_weights_keys = {"lm_head.weight": "model.decoder.embed_tokens.weight"}  # noqa: RUF012

    def __init__(self, config: RNNsearchConfig):
        super().__init__(config)
        self.model = RNNsearchModel(config)
        self.lm_head = nn.Linear(config.maxout_size, config.vocab_size)  # W_o
        self.post_init()

    def get_encoder(self, modality: str | None = None) -> RNNsearchEncoder:
        return self.model.encoder

    def get_decoder(self) -> RNNsearchDecoder:
        return self.model.decoder

    def get_input_embeddings(self) -> nn.Embedding:
        return self.model.get_input_embeddings()

    def set_input_embeddings(self, value: nn.Embedding) -> None:
        self.model.set_input_embeddings(value)

    def get_output_embeddings(self) -> nn.Linear:
        return self.lm_head

    def set_output_embeddings(self, value: nn.Linear) -> None:
        self.lm_head = value

    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        decoder_input_ids: Tensor | None = None,
        decoder_attention_mask: Tensor | None = None,
        encoder_outputs: BaseModelOutput | tuple | None = None,
        cache: RNNsearchCache | None = None,
        past_key_values: RNNsearchCache | None = None,
        inputs_embeds: Tensor | None = None,
        decoder_inputs_embeds: Tensor | None = None,
        labels: Tensor | None = None,
        use_cache: bool | None = None,
        output_attentions: bool | None = None,
        output_hidden_states: bool | None = None,
        return_dict: bool | None = None,
        num_items_in_batch: Tensor | int | None = None,
    ) -> Seq2SeqLMOutput | tuple:
        """Scores of every target word at each position, and the loss where `labels` are given.

        Args:
            labels: the word at each position ending in `eos_token_id`, (B, T); -100 is left out of the loss. Without
                `decoder_input_ids` the decoder reads the labels shifted right. No cache is returned with labels.
            num_items_in_batch: divide the summed loss by this number instead of by the words counted here, so that
                accumulated gradients are those of the large batch.

        The other arguments are those of `RNNsearchModel`.

        Returns:
            `loss`: cross-entropy in nats per word, float32 or wider; `logits`: (B, T, K); `cross_attentions`: one
            tensor (B, 1, T, S) whose rows sum to 1 over the real source positions.
        """
        if labels is not None:
            use_cache = False
            if decoder_input_ids is None and decoder_inputs_embeds is None:
                decoder_input_ids = self.prepare_decoder_input_ids_from_labels(labels)
        output = self.model(
            input_ids=input_ids,
            attention_mask=attention_mask,
            decoder_input_ids=decoder_input_ids,
            decoder_attention_mask=decoder_attention_mask,
            encoder_outputs=encoder_outputs,
            cache=cache,
            past_key_values=past_key_values,
            inputs_embeds=inputs_embeds,
            decoder_inputs_embeds=decoder_inputs_embeds,
            use_cache=use_cache,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
            return_dict=True,
        )
        logits = self.lm_head(output.last_hidden_state)
        loss = None
        if labels is not None:
            scores = logits.flatten(0, 1)
            scores = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
            labels = labels.to(scores.device)
            if num_items_in_batch is None:
                loss = F.cross_entropy(scores, labels.flatten())
            else:
                loss = F.cross_entropy(scores, labels.flatten(), reduction="sum") / num_items_in_batch
        result = Seq2SeqLMOutput(
            loss=loss,
            logits=logits,
            decoder_hidden_states=output.decoder_hidden_states,
            cross_attentions=output.cross_attentions,
            encoder_last_hidden_state=output.encoder_last_hidden_state,
            encoder_hidden_states=output.encoder_hidden_states,
            **{CACHE: getattr(output, CACHE)},
        )
        return result if _as_dict(return_dict, self.config) else result.to_tuple()

    def prepare_decoder_input_ids_from_labels(self, labels: Tensor) -> Tensor:
        """The word before each position: labels shifted right behind the start token, -100 replaced by padding."""
        start = labels.new_full((labels.shape[0], 1), self.config.decoder_start_token_id)
        return torch.cat([start, labels[:, :-1]], dim=1).masked_fill(
            torch.cat([torch.zeros_like(start, dtype=torch.bool), labels[:, :-1] == -100], dim=1),
            self.config.pad_token_id,
        )

    def resize_token_embeddings(
        self, new_num_tokens: int | None = None, pad_to_multiple_of: int | None = None, mean_resizing: bool = True
    ) -> nn.Embedding:
        """Resize the *source* vocabulary (`config.src_vocab_size`); the target's is `resize_decoder_token_embeddings`."""
        encoder = self.model.encoder
        encoder.embed_tokens = self._get_resized_embeddings(
            encoder.embed_tokens, new_num_tokens, pad_to_multiple_of, mean_resizing
        )
        self.config.src_vocab_size = encoder.embed_tokens.num_embeddings
        return encoder.embed_tokens

    def resize_decoder_token_embeddings(
        self, new_num_tokens: int, pad_to_multiple_of: int | None = None, mean_resizing: bool = True
    ) -> nn.Embedding:
        """Resize the target vocabulary: its embedding, the output layer and `config.vocab_size`."""
        decoder = self.model.decoder
        decoder.embed_tokens = self._get_resized_embeddings(
            decoder.embed_tokens, new_num_tokens, pad_to_multiple_of, mean_resizing
        )
        self.config.vocab_size = decoder.embed_tokens.num_embeddings
        self.lm_head = self._get_resized_lm_head(
            self.lm_head, self.config.vocab_size, mean_resizing=mean_resizing
        )
        self.tie_weights()
        return decoder.embed_tokens

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        # Or generate() would hand over an attention cache before the model has made its own.
        return False

    def _prepare_model_inputs(self, inputs=None, bos_token_id=None, model_kwargs=None):
        # Transformers 5 takes no mask to mean no padding; the decoder needs the mask at every step.
        inputs, name, model_kwargs = super()._prepare_model_inputs(inputs, bos_token_id, model_kwargs)
        if name == "input_ids" and model_kwargs.get("attention_mask") is None:
            model_kwargs["attention_mask"] = source_mask(inputs, self.config.pad_token_id)
        return inputs, name, model_kwargs

    def prepare_inputs_for_generation(
        self,
        input_ids: Tensor,
        cache: RNNsearchCache | None = None,
        past_key_values: RNNsearchCache | None = None,
        attention_mask: Tensor | None = None,
        encoder_outputs: BaseModelOutput | None = None,
        use_cache: bool | None = None,
        next_sequence_length: int | None = None,
        is_first_iteration: bool = False,
        labels: Tensor | None = None,
        **kwargs,
    ) -> dict[str, Any]:
        """Feed the words that the state has not read. Labels, which Seq2SeqTrainer passes along, are left out."""
        state = past_key_values if cache is None else cache
        if state is not None:
            unread = input_ids.shape[1] - state.get_seq_length()
            input_ids = input_ids[:, -max(unread, 1) :]
        return {
            "decoder_input_ids": input_ids,
            "encoder_outputs": encoder_outputs,
            "attention_mask": attention_mask,
            "use_cache": use_cache,
            CACHE: state,
            **kwargs,
        }


def source_mask(input_ids: Tensor | None, pad_token_id: int) -> Tensor | None:
    """1 where the source is not padding, (B, S); None where there are no ids to tell it from."""
    return None if input_ids is None else input_ids.ne(pad_token_id).long()


def _time_mask(attention_mask: Tensor, like: Tensor) -> Tensor:
    """The mask as the recurrence reads it, (S, B, 1)."""
    return attention_mask.t().unsqueeze(-1).to(like)


def _both_ways(sequences: list[Tensor]) -> Tensor:
    """(S, B, ...) for each direction to (S, D, B, ...), the second turned round in time."""
    return torch.stack([sequences[0], *(sequence.flip(0) for sequence in sequences[1:])], dim=1)


def _as_dict(return_dict: bool | None, config: RNNsearchConfig) -> bool:
    return config.return_dict if return_dict is None else return_dict


__all__ = [
    "RNNsearchCache",
    "RNNsearchForConditionalGeneration",
    "RNNsearchModel",
    "RNNsearchPreTrainedModel",
]
