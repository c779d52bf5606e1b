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
"""Unknown words of a translation: the source words that they were written from, after Jean et al. (2015).

Jean, Cho, Memisevic and Bengio, "On using very large target vocabulary for neural machine translation", section 3.3.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def as_lexicon(replace_unk: str | Mapping[str, str]) -> Mapping[str, str]:
    """Translations of source words; for "copy" there are none, and every word is copied.

    Raises:
        ValueError: it is neither "copy" nor a mapping.
    """
    if replace_unk == "copy":
        return {}
    if isinstance(replace_unk, Mapping):
        return replace_unk
    raise ValueError(f'`replace_unk` is {replace_unk!r}: give "copy", or a mapping from source words to translations')


def words_for_unknown(
    tokenizer: Any,
    source: str,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    weights: NDArray[np.float64],
    lexicon: Mapping[str, str],
) -> list[str]:
    """What stands for each [UNK] of a translation, in their order: `unknown_words` of the tokenizer's `decode`.

    It is the source word with the largest weight, or its entry in the lexicon. The end of the source and padding are
    no words; where a row gives weight to them alone, [UNK] stays.

    Args:
        tokenizer: an `RNNsearchTokenizer`; one of kind "bpe" has no unknown words, and the list is empty.
        source: the source sentence, as text.
        source_ids: S ids of it; they may be cut short, or padded on either side.
        target_ids: T ids of the translation; they may be padded.
        weights: how much of each source word each target word was written from, (T, S).
        lexicon: translations of source words; those that it lacks are copied.
    """
    if tokenizer.kind != "word":
        return []
    no_words = (tokenizer.pad_token_id, tokenizer.bos_token_id, tokenizer.eos_token_id)
    positions = [position for position, index in enumerate(source_ids) if index not in no_words]
    words = dict(zip(positions, tokenizer.source_words(source), strict=False))
    found = []
    for index, row in zip(target_ids, weights, strict=True):
        if index == tokenizer.unk_token_id:
            best = max(words, key=row.__getitem__, default=None)
            word = tokenizer.unk_token if best is None or row[best] == 0 else words[best]
            found.append(lexicon.get(word, word))
    return found
