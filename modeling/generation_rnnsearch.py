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
"""What `generate` needs of the model: the state between two steps, and the hooks of `GenerationMixin`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache
from transformers.generation import GenerationConfig, GenerationMixin
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

from .configuration_rnnsearch import greatest_length
from .layers_rnnsearch import source_mask

# Transformers 5.24 renamed the carried state; before, outputs and arguments say "past_key_values".
CACHE = "cache" if "cache" in Seq2SeqLMOutput.__dataclass_fields__ else "past_key_values"


class RNNsearchCache(Cache):
    """What one step of the decoder hands to the next.

    The hypotheses of a sentence stand side by side and share its keys and values: R = k·B rows for B sentences.

    Attributes:
        state: s_i, (R, n).
        context: C c_i and C_o c_i, what the last context adds to the unit's input and to the read-out, (R, 3n + 2l).
        keys: U_a h_j, (B, S, a), computed once; None with a fixed context.
        values: C h_j and C_o h_j, (B, S, 3n + 2l), computed once; None with a fixed context.
        seen_tokens: target positions read so far.
    """

    is_compileable = False
    is_croppable = False

    def __init__(
        self, state: Tensor, context: Tensor, keys: Tensor | None, values: Tensor | None, seen_tokens: int = 0
    ):
        # The base class keeps a list of attention layers, of which there are none.
        self.layers: list[Any] = []
        self.state, self.context, self.keys, self.values = state, context, keys, values
        self.seen_tokens = seen_tokens

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

    def get_max_length(self, layer_idx: int | None = 0) -> int:
        return -1

    def get_max_cache_shape(self, layer_idx: int = 0) -> int:
        return -1

    def reorder_cache(self, beam_idx: Tensor) -> None:
        """Beams of one sentence change places; what belongs to the sentence stays."""
        beam_idx = beam_idx.to(self.state.device)
        self.state = self.state.index_select(0, beam_idx)
        self.context = self.context.index_select(0, beam_idx)

    def batch_repeat_interleave(self, repeats: int) -> None:
        self.reorder_cache(torch.arange(self.batch_size).repeat_interleave(repeats))

    def batch_select_indices(self, indices: Tensor) -> None:
        """Keep these rows, in this order, each with keys and values of its own."""
        if self.keys is not None and self.values is not None:
            sentences = indices.to(self.keys.device) // (self.batch_size // self.keys.shape[0])
            self.keys, self.values = self.keys.index_select(0, sentences), self.values.index_select(0, sentences)
        self.reorder_cache(indices)

    def crop(self, max_length: int) -> None:
        raise ValueError("a recurrent state cannot be cropped: run the decoder again over the shorter prefix")

    def reset(self) -> None:
        raise ValueError("a recurrent state cannot be reset: leave the cache out to start anew")


def carried(state: RNNsearchCache | None) -> dict[str, Any]:
    """The state under the name that the installed Transformers has for it."""
    return {CACHE: state}


class RNNsearchGenerationMixin(GenerationMixin):
    """`generate` with a recurrent state."""

    @classmethod
    def _supports_default_dynamic_cache(cls) -> bool:
        # Or generate() would hand over an attention cache before the model has made its own.
        return False

    def _prepare_model_inputs(self, inputs=None, bos_token_id=None, model_kwargs=None):  # type: ignore[override]
        # Transformers 5 takes no mask to mean no padding; the decoder needs the mask at every step.
        inputs, name, model_kwargs = super()._prepare_model_inputs(inputs, bos_token_id, model_kwargs)  # type: ignore[misc]
        if name == "input_ids" and model_kwargs.get("attention_mask") is None:
            model_kwargs["attention_mask"] = source_mask(inputs, self.config.pad_token_id)  # type: ignore[attr-defined]
        return inputs, name, model_kwargs

    def _expand_inputs_for_generation(  # type: ignore[override]
        self, expand_size=1, is_encoder_decoder=False, input_ids=None, **model_kwargs
    ):
        # The hypotheses of a sentence share its annotations and its mask: one copy, as `RNNsearchDecoder` takes them.
        if input_ids is not None:
            input_ids = input_ids.repeat_interleave(expand_size, dim=0)
        return input_ids, model_kwargs

    def _prepare_generated_length(
        self,
        generation_config,
        has_default_max_length,
        has_default_min_length,
        model_input_name,
        input_ids_length,
        inputs_tensor,
    ):
        # Where nobody says how long a translation may get, Transformers would cut all of them at 20 tokens.
        if has_default_max_length and generation_config.max_new_tokens is None:
            generation_config.max_new_tokens = greatest_length(inputs_tensor.shape[1])
        return super()._prepare_generated_length(  # type: ignore[misc]
            generation_config,
            has_default_max_length,
            has_default_min_length,
            model_input_name,
            input_ids_length,
            inputs_tensor,
        )

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
            **carried(state),
            **kwargs,
        }


@contextmanager
def without_saved_settings(model: GenerationMixin) -> Iterator[None]:
    """Decoding settings saved with a model, such as a greatest length, would fill in for what a caller leaves out."""
    saved = model.generation_config
    model.generation_config = GenerationConfig.from_model_config(model.config)  # type: ignore[attr-defined]
    try:
        yield
    finally:
        model.generation_config = saved


def followed_weights(output) -> Tensor:
    """The weights by which each translation was written, found through the beams that it passed.

    Args:
        output: what `generate` returns with `return_dict_in_generate` and `output_attentions`.

    Returns:
        α of each returned sequence, (sequences, T, S); rows after a translation's end mean nothing.
    """
    steps = [weights[0][:, 0] for weights in output.cross_attentions]  # (beams of all texts, positions, S) each
    if output.get("beam_indices") is not None:
        # After a translation's end there is no beam, and -1 in its place.
        beams = output.beam_indices.clamp(min=0)
        steps = [step[beams[:, number]] for number, step in enumerate(steps[: beams.shape[1]])]
    return torch.cat(steps, dim=1)
