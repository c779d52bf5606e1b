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
"""The decoder's state between two steps of `generate`."""

from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache


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

    def get_max_length(self, layer_idx: int | None = 0) -> int:
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
