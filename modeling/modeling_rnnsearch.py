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
"""RNNsearch (Bahdanau, Cho and Bengio, 2014) as a Transformers model.

Read downwards: initialisation, encoder, decoder, model, translation model. The equations of a single step stand in
`layers_rnnsearch.py`; how whole sequences go through them, in `recurrence_rnnsearch.py`.
With `step_order="paper"` the decoder attends with the state *before* its update, s_{i-1}.

Shapes: B batch, S source positions, T target positions, m embedding, n state, a alignment layer, l maxout layer,
C context (2n, or n with a fixed context), K vocabulary. Masks are 1 at real positions, 0 at padding.
"""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from transformers.modeling_outputs import (
    BaseModelOutput,
    BaseModelOutputWithPastAndCrossAttentions,
    Seq2SeqLMOutput,
    Seq2SeqModelOutput,
)
from transformers.modeling_utils import PreTrainedModel
from transformers.utils import can_return_tuple

from .configuration_rnnsearch import RNNsearchConfig
from .generation_rnnsearch import CACHE, RNNsearchCache, RNNsearchGenerationMixin, carried
from .layers_rnnsearch import (
    AlignmentProjection,
    EnergyProjection,
    RecurrentProjection,
    RNNsearchAttention,
    RNNsearchContextUnit,
    RNNsearchOutput,
    RNNsearchReadout,
    RNNsearchTargetEmbedding,
    RNNsearchUnit,
    source_mask,
    weight_of,
)
from .loss_rnnsearch import IGNORED
from .recurrence_rnnsearch import AttentiveRecurrence, GatedRecurrence, RNNsearchRecurrence, product_dtype

if TYPE_CHECKING:
    # Saving a model copies the files of relative imports: this one takes the pipeline along.
    from .pipeline_rnnsearch import TranslationPipeline as TranslationPipeline


# trf-ignore: TRF057
class RNNsearchPreTrainedModel(PreTrainedModel):
    """Initialisation (appendix B.1) and what Transformers asks of every model."""

    config_class = RNNsearchConfig
    base_model_prefix = "model"
    main_input_name = "input_ids"
    accepts_loss_kwargs = True
    supports_gradient_checkpointing = True
    _is_stateful = True
    _no_split_modules = ["RNNsearchEncoder", "RNNsearchContextUnit", "RNNsearchAttention", "RNNsearchReadout"]
    _skip_keys_device_placement = ["cache", "past_key_values"]

    @torch.no_grad()
    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, RecurrentProjection):
            # Blocks carry no mark of their own that says "already loaded from a checkpoint".
            if not getattr(module.weight, "_is_hf_initialized", False):
                for block in module.weight.split(module.in_features):
                    nn.init.orthogonal_(block)
        elif isinstance(module, EnergyProjection):
            nn.init.zeros_(module.weight)
        # CODEPATH: the paper's score is additive; products start like the other weights, or they would stay at zero.
        elif isinstance(module, AlignmentProjection) and self.config.score == "additive":
            nn.init.normal_(module.weight, std=self.config.initializer_range / 10)
        else:  # normal with `initializer_range`, biases zero
            super()._init_weights(module)


class RNNsearchEncoder(RNNsearchPreTrainedModel):
    """The bidirectional encoder (section 3.2): h_j = [→h_j; ←h_j]. A fixed context needs the forward one only."""

    def __init__(self, config: RNNsearchConfig):
        super().__init__(config)
        self.embed_tokens = nn.Embedding(config.src_vocab_size, config.embedding_size)
        self.forward_unit = RNNsearchUnit(config.embedding_size, config.hidden_size)
        self.backward_unit = None
        # CODEPATH: RNNsearch reads both ways, RNNencdec (`context="fixed"`) forwards only.
        if config.context == "search":
            self.backward_unit = RNNsearchUnit(config.embedding_size, config.hidden_size)
        self.recurrence = RNNsearchRecurrence(GatedRecurrence)
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.annotation_dropout = nn.Dropout(config.annotation_dropout)
        self.post_init()

    # trf-ignore: TRF045, trf-ignore: TRF057
    @can_return_tuple
    def forward(
        self,
        input_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        output_hidden_states: bool | None = None,
        output_attentions: bool | None = None,
    ) -> BaseModelOutput:
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
            ValueError: neither or both of `input_ids` and `inputs_embeds` are given, the source has no position, or
                the mask another shape.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("give the encoder either `input_ids` or `inputs_embeds`")
        if attention_mask is None:
            attention_mask = source_mask(input_ids, self.config.pad_token_id)
        embedded = inputs_embeds if input_ids is None else self.embed_tokens(input_ids)  # (B, S, m)
        embedded = self.embedding_dropout(embedded)
        if embedded.shape[1] == 0:
            raise ValueError("the source has no position: every sentence ends with `eos_token_id`, an empty one too")
        if attention_mask is not None and attention_mask.shape != embedded.shape[:2]:
            raise ValueError(
                f"`attention_mask` has shape {tuple(attention_mask.shape)}, the source {tuple(embedded.shape[:2])}"
            )
        units = [self.forward_unit] if self.backward_unit is None else [self.forward_unit, self.backward_unit]
        sequence = embedded.transpose(0, 1)  # (S, B, m)
        mask = None if attention_mask is None else attention_mask.t().unsqueeze(-1).to(embedded)  # (S, B, 1)
        # D directions side by side; the backward unit reads the same sentence from its end.
        states = self.recurrence(
            torch.stack(
                [unit.input_proj(read) for unit, read in zip(units, (sequence, sequence.flip(0)), strict=False)]
            ),
            embedded.new_zeros(len(units), embedded.shape[0], self.config.hidden_size),
            None if mask is None else torch.stack([mask, mask.flip(0)][: len(units)]),
            torch.stack([weight_of(unit.gate_proj).t() for unit in units]),
            torch.stack([weight_of(unit.candidate_proj).t() for unit in units]),
            product_dtype(embedded, self.dtype),
        )  # (D, S, B, n)
        directions = [states[0]] if len(units) == 1 else [states[0], states[1].flip(0)]
        annotations = self.annotation_dropout(torch.cat([d.transpose(0, 1) for d in directions], dim=-1))  # (B, S, C)
        return BaseModelOutput(
            last_hidden_state=annotations, hidden_states=(embedded, annotations) if output_hidden_states else None
        )


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
        # CODEPATH: RNNsearch attends, RNNencdec (`context="fixed"`) has one context for all words.
        self.attention = RNNsearchAttention(config) if config.context == "search" else None
        self.unit = RNNsearchContextUnit(config.embedding_size, config.hidden_size, config.context_size)
        self.recurrence = RNNsearchRecurrence(GatedRecurrence if self.attention is None else AttentiveRecurrence)
        self.readout = RNNsearchReadout(config)
        self.embedding_dropout = nn.Dropout(config.embedding_dropout)
        self.post_init()

    # trf-ignore: TRF045, trf-ignore: TRF057
    @can_return_tuple
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
    ) -> BaseModelOutputWithPastAndCrossAttentions:
        """Read the target words before each position and the source; give the maxout layer for each position.

        Args:
            input_ids: the word before each position, beginning with `decoder_start_token_id`, (B, T); or
                `inputs_embeds`, (B, T, m).
            encoder_hidden_states: annotations, (B, S, C); or (B / k, S, C) where k rows that stand side by side, such
                as the hypotheses of a beam search, have the same source.
            encoder_attention_mask: 1 at real source positions, as many rows as the annotations; None: all are real.
            cache: the state after the words before these; None at the start of a sentence.
            use_cache: return the state after these words.
            output_attentions: return the alignments.
            output_hidden_states: return the embeddings and the states that were read out.

        Returns:
            `last_hidden_state`: t_i (B, T, l); `cross_attentions`: one tensor (B, 1, T, S), row i the weights read for
            the word at position i; None with a fixed context.

        Raises:
            ValueError: neither or both of `input_ids` and `inputs_embeds` are given, or no annotations, or the rows
                are not a multiple of theirs.
        """
        if (input_ids is None) == (inputs_embeds is None):
            raise ValueError("give the decoder either `decoder_input_ids` or `decoder_inputs_embeds`")
        if encoder_hidden_states is None:
            raise ValueError("give the decoder the annotations of the source sentence, `encoder_hidden_states`")
        embedded = self.embed_tokens(input_ids) if inputs_embeds is None else inputs_embeds
        embedded = self.embedding_dropout(embedded)  # (B, T, m)
        rows, sentences = embedded.shape[0], encoder_hidden_states.shape[0]
        if rows % sentences:
            raise ValueError(f"{rows} target rows cannot be shared out evenly among {sentences} source sentences")
        if cache is None:
            cache = self.start(encoder_hidden_states.to(self.dtype), rows)
        if encoder_attention_mask is None:
            mask = cache.state.new_ones(encoder_hidden_states.shape[:2])
        else:
            mask = encoder_attention_mask.to(cache.state)
        words = embedded.transpose(0, 1)  # (T, B, m)
        run = self.step if len(words) == 1 else self.run
        states, context_terms, alignments, after = run(self.unit.input_proj(words), mask, cache)
        maxout = self.readout(states, words, context_terms).transpose(0, 1)  # (B, T, l)
        if output_attentions and alignments is not None:
            attentions = (alignments.transpose(0, 1).unsqueeze(1),)
        else:
            attentions = None
        return BaseModelOutputWithPastAndCrossAttentions(
            last_hidden_state=maxout,
            hidden_states=(embedded, states.transpose(0, 1)) if output_hidden_states else None,
            cross_attentions=attentions,
            **carried(after if use_cache else None),
        )

    def start(self, annotations: Tensor, rows: int) -> RNNsearchCache:
        """Before the first word: s_0 = tanh(W_s ←h_1), or of the fixed context →h_Tx; keys and values."""
        repeats = rows // annotations.shape[0]
        # CODEPATH: RNNsearch reads all annotations, RNNencdec the last one, once and for all words.
        read = annotations[:, -1] if self.attention is None else annotations
        first = read if self.attention is None else annotations[:, 0, self.config.hidden_size :]
        # Under autocast the projections come in the lower precision; what is carried keeps that of the weights.
        state = torch.tanh(self.init_proj(first).to(first)).repeat_interleave(repeats, dim=0)
        values = torch.cat([self.unit.context_proj(read), self.readout.context_proj(read)], dim=-1).to(read)
        if self.attention is None:
            return RNNsearchCache(state, values.repeat_interleave(repeats, dim=0), None, None)
        keys = self.attention.key_proj(annotations).to(annotations)
        return RNNsearchCache(state, values.new_zeros(rows, values.shape[-1]), keys, values)

    def step(
        self, inputs: Tensor, mask: Tensor, cache: RNNsearchCache
    ) -> tuple[Tensor, Tensor, Tensor | None, RNNsearchCache]:
        """One word: the equations as they stand, and the way of `generate`.

        Args:
            inputs: W E y_{i-1}, (1, R, 3n), R = B or k for each sentence.
            mask: 1 at real source positions, (B, S).
            cache: the state before this word.

        Returns:
            what is read out, state s (1, R, n) and C_o c (1, R, 2l); the alignment (1, R, S); the state after.
        """
        state, context, alignment = cache.state, cache.context, None
        terms = 3 * self.config.hidden_size  # C c, before C_o c
        # CODEPATH: "groundhog", the authors' code, updates with the last word and its context before it looks.
        if self.config.step_order == "groundhog" and cache.seen_tokens > 0:
            state = self.unit(inputs[0] + context[:, :terms], state)
        if self.attention is not None:
            context, alignment = self.attention(state, cache.keys, cache.values, mask)
            alignment = alignment.unsqueeze(0)
        # CODEPATH: "paper", section 3.1, updates with the last word and this context after it has looked.
        if self.config.step_order == "paper":
            state = self.unit(inputs[0] + context[:, :terms], state)
        after = RNNsearchCache(state, context, cache.keys, cache.values, cache.seen_tokens + 1)
        return state.unsqueeze(0), context[:, terms:].unsqueeze(0), alignment, after

    def run(
        self, inputs: Tensor, mask: Tensor, cache: RNNsearchCache
    ) -> tuple[Tensor, Tensor, Tensor | None, RNNsearchCache]:
        """T words at once through the recurrences with a backward pass of their own; shapes as in `step`, T for 1."""
        state, context = cache.state, cache.context
        terms = 3 * self.config.hidden_size
        groundhog = self.config.step_order == "groundhog"
        if groundhog:
            if cache.seen_tokens > 0:
                state = self.unit(inputs[0] + context[:, :terms], state)
            # Fed with y_i for y_{i-1}; the update after the last word is not read, so neither is its input.
            inputs = torch.cat([inputs[1:], torch.zeros_like(inputs[:1])])
        weights = weight_of(self.unit.gate_proj), weight_of(self.unit.candidate_proj)
        low = product_dtype(inputs, self.dtype)
        if self.attention is None or cache.keys is None or cache.values is None:
            inputs = inputs + context[:, :terms]
            states = self.recurrence(
                inputs.unsqueeze(0),
                state.unsqueeze(0),
                None,
                *(weight.t().contiguous().unsqueeze(0) for weight in weights),
                low,
            ).squeeze(0)
            alignments, readout_terms = None, context[:, terms:]  # the same for all words
        else:
            repeats = state.shape[0] // cache.keys.shape[0]
            keys, values, mask = (
                tensor if repeats == 1 else tensor.repeat_interleave(repeats, dim=0)
                for tensor in (cache.keys, cache.values, mask)
            )
            unit_values, readout_values = values.split([terms, values.shape[-1] - terms], dim=-1)
            energy_proj = self.attention.energy_proj
            states, alignments = self.recurrence(
                inputs,
                state,
                keys,
                unit_values,
                mask,
                weight_of(self.attention.query_proj),
                None if energy_proj is None else weight_of(energy_proj).squeeze(0),
                *weights,
                self.attention.scale,
                low,
            )
            read = alignments.transpose(0, 1)  # (R, T, S)
            readout_terms = torch.bmm(read, readout_values).to(values).transpose(0, 1)
            context = torch.bmm(read[:, -1:], values).to(values).squeeze(1)
        if groundhog:
            states = torch.cat([state.unsqueeze(0), states[:-1]])
        after = RNNsearchCache(states[-1], context, cache.keys, cache.values, cache.seen_tokens + len(inputs))
        return states, readout_terms, alignments, after


# trf-ignore: TRF057
class RNNsearchModel(RNNsearchPreTrainedModel):
    """Encoder and decoder up to the maxout layer."""

    def __init__(self, config: RNNsearchConfig):
        super().__init__(config)
        self.encoder = RNNsearchEncoder(config)
        self.decoder = RNNsearchDecoder(config)
        self.post_init()

    def get_input_embeddings(self) -> nn.Embedding:
        return self.encoder.embed_tokens

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.encoder.embed_tokens = value  # type: ignore[assignment]

    def get_encoder(self, modality: str | None = None) -> RNNsearchEncoder:
        return self.encoder

    def get_decoder(self) -> RNNsearchDecoder:
        return self.decoder

    # trf-ignore: TRF045, trf-ignore: TRF057
    @can_return_tuple
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
    ) -> Seq2SeqModelOutput:
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
            output_attentions, output_hidden_states: as everywhere in Transformers.

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
            encoded = self.encoder(
                input_ids=input_ids,
                attention_mask=attention_mask,
                inputs_embeds=inputs_embeds,
                output_hidden_states=output_hidden_states,
                return_dict=True,
            )
        elif isinstance(encoder_outputs, BaseModelOutput):
            encoded = encoder_outputs
        else:
            encoded = BaseModelOutput(*encoder_outputs)
        decoded = self.decoder(
            input_ids=decoder_input_ids,
            encoder_hidden_states=encoded.last_hidden_state,
            encoder_attention_mask=attention_mask,
            inputs_embeds=decoder_inputs_embeds,
            cache=past_key_values if cache is None else cache,
            use_cache=self.config.use_cache if use_cache is None else use_cache,
            output_attentions=output_attentions,
            output_hidden_states=output_hidden_states,
            return_dict=True,
        )
        return Seq2SeqModelOutput(
            last_hidden_state=decoded.last_hidden_state,
            decoder_hidden_states=decoded.hidden_states,
            cross_attentions=decoded.cross_attentions,
            encoder_last_hidden_state=encoded.last_hidden_state,
            encoder_hidden_states=encoded.hidden_states,
            **carried(getattr(decoded, CACHE)),
        )


# trf-ignore: TRF057
class RNNsearchForConditionalGeneration(RNNsearchPreTrainedModel, RNNsearchGenerationMixin):
    """RNNsearch with its output layer: p(y_i) ∝ exp(W_o t_i + b) (appendix A.2.2).

    `generate` writes up to twice the source's positions and 10 tokens where neither `max_length` nor `max_new_tokens`
    says otherwise.
    """

    _tied_weights_keys = {"lm_head.weight": "model.decoder.embed_tokens.weight"}

    def __init__(self, config: RNNsearchConfig):
        super().__init__(config)
        self.model = RNNsearchModel(config)
        self.lm_head = RNNsearchOutput(config.maxout_size, config.vocab_size)
        # CODEPATH: a shared matrix is saved once, and Trainer need not miss it when it loads the best checkpoint.
        if config.tie_word_embeddings:
            self._keys_to_ignore_on_save = {"lm_head.weight"}
        self.post_init()

    def get_encoder(self, modality: str | None = None) -> RNNsearchEncoder:
        return self.model.encoder

    def get_decoder(self) -> RNNsearchDecoder:
        return self.model.decoder

    def get_input_embeddings(self) -> nn.Embedding:
        return self.model.get_input_embeddings()

    def set_input_embeddings(self, value: nn.Module) -> None:
        self.model.set_input_embeddings(value)

    def get_output_embeddings(self) -> nn.Linear:
        return self.lm_head

    def set_output_embeddings(self, value: nn.Linear) -> None:
        self.lm_head = value

    # trf-ignore: TRF045, trf-ignore: TRF057
    @can_return_tuple
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
        num_items_in_batch: Tensor | int | None = None,
    ) -> Seq2SeqLMOutput:
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
        loss = None
        if labels is None:
            logits = self.lm_head(output.last_hidden_state)
        else:
            logits, loss = self.lm_head(output.last_hidden_state, labels)
            loss = loss / (labels.ne(IGNORED).sum() if num_items_in_batch is None else num_items_in_batch)
        return Seq2SeqLMOutput(
            loss=loss,
            logits=logits,
            decoder_hidden_states=output.decoder_hidden_states,
            cross_attentions=output.cross_attentions,
            encoder_last_hidden_state=output.encoder_last_hidden_state,
            encoder_hidden_states=output.encoder_hidden_states,
            **carried(getattr(output, CACHE)),
        )

    def prepare_decoder_input_ids_from_labels(self, labels: Tensor) -> Tensor:
        """The word before each position: labels shifted right behind the start token, -100 replaced by padding."""
        start = labels.new_full((labels.shape[0], 1), self.config.decoder_start_token_id)
        shifted = torch.cat([start, labels[:, :-1]], dim=1)
        return shifted.masked_fill(shifted == IGNORED, self.config.pad_token_id)

    def resize_token_embeddings(
        self, new_num_tokens: int | None = None, pad_to_multiple_of: int | None = None, mean_resizing: bool = True
    ) -> nn.Embedding:
        """Resize the source's vocabulary, `config.src_vocab_size`; see `resize_decoder_token_embeddings`."""
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
        resized = self._get_resized_lm_head(self.lm_head, self.config.vocab_size, mean_resizing=mean_resizing)
        self.lm_head.weight, self.lm_head.bias = resized.weight, resized.bias
        self.lm_head.out_features = resized.out_features
        self.tie_weights()
        return decoder.embed_tokens


RNNsearchModel.register_for_auto_class("AutoModel")
RNNsearchForConditionalGeneration.register_for_auto_class("AutoModelForSeq2SeqLM")

__all__ = [
    "RNNsearchCache",
    "RNNsearchForConditionalGeneration",
    "RNNsearchModel",
    "RNNsearchPreTrainedModel",
]
