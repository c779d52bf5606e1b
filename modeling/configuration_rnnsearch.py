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
"""Configuration of RNNsearch; the defaults are the paper's."""

from typing import Any, Literal

from huggingface_hub.dataclasses import strict
from transformers.configuration_utils import PreTrainedConfig


def greatest_length(positions: int) -> int:
    """Tokens that a translation of so many source positions may have where nobody says otherwise."""
    return 2 * positions + 10


# trf-ignore: TRF057
@strict
class RNNsearchConfig(PreTrainedConfig):
    """Sizes and choices of an RNNsearch model (Bahdanau, Cho and Bengio, arXiv 1409.0473).

    Args:
        src_vocab_size: words of the source vocabulary, special tokens included; K_x = 30,000 (section 4.1).
        vocab_size: words of the target vocabulary, special tokens included; K_y = 30,000 (section 4.1).
            Transformers reads the size of the output layer under this name.
        embedding_size: units of a word embedding on either side; m = 620 (appendix A.2.3).
        hidden_size: units of the decoder state and of the encoder state in each direction; n = 1000.
        alignment_size: units of the hidden layer of the alignment model; n' = 1000.
        maxout_size: units of the maxout layer before the vocabulary; l = 500.
        step_order: `"paper"` (section 3.1): attend with s_{i-1}, update to s_i, read out from s_i.
            `"groundhog"`, the order of the authors' code: update with the word just written and the context used
            for it, then attend with and read out from the same state.
        context: `"search"`, a new context for every word (RNNsearch), or `"fixed"`, the last state of a forward
            encoder for all of them (RNNencdec, section 4.2).
        score: `"additive"`, the paper's alignment model; `"dot"` (Luong et al., 2015) and `"scaled_dot"` (divided by
            the square root of `alignment_size`; Vaswani et al., 2017) compare the same two projections.
        embedding_dropout: share of embedding units dropped in training, either side. The paper uses no dropout.
        annotation_dropout: share of annotation units dropped in training.
        readout_dropout: share of maxout units dropped in training.
        initializer_range: standard deviation of the weights that are not orthogonal; 0.01 (appendix B.1).
            W_a and U_a of the additive score start at a tenth of it.
        pad_token_id: fills up short sentences of a batch; the same id on both sides, as for the next three.
        bos_token_id: start of a sentence; used as `decoder_start_token_id` only.
        eos_token_id: ends every source and every target sentence.
        unk_token_id: stands for words outside the vocabulary.
        decoder_start_token_id: in the place of the word before the first; its embedding is zero (the paper has none).
        tie_word_embeddings: share the output matrix W_o with the target embedding (Press and Wolf, 2017); needs
            `embedding_size == maxout_size`.
        use_cache: carry the decoder state from step to step in generation.

    Raises:
        ValueError: a size is not positive, a dropout is not in [0, 1), a deviation is negative, or tied embeddings
            differ in width.
        huggingface_hub.errors.StrictDataclassError: a value has another type, or is not among its choices.
    """

    model_type = "rnnsearch"
    attribute_map = {"tgt_vocab_size": "vocab_size"}
    keys_to_ignore_at_inference = ["cache", "past_key_values"]

    src_vocab_size: int = 30_000
    vocab_size: int = 30_000
    embedding_size: int = 620
    hidden_size: int = 1000
    alignment_size: int = 1000
    maxout_size: int = 500
    step_order: Literal["paper", "groundhog"] = "paper"
    context: Literal["search", "fixed"] = "search"
    score: Literal["additive", "dot", "scaled_dot"] = "additive"
    embedding_dropout: float | int = 0.0
    annotation_dropout: float | int = 0.0
    readout_dropout: float | int = 0.0
    initializer_range: float | int = 0.01
    pad_token_id: int = 0
    bos_token_id: int | None = 1
    eos_token_id: int | list[int] | None = 2
    unk_token_id: int | None = 3
    decoder_start_token_id: int = 1
    tie_word_embeddings: bool = False
    use_cache: bool = True
    is_encoder_decoder: bool = True
    # One layer with one attention, which Transformers asks every model for.
    num_hidden_layers: int = 1
    num_attention_heads: int = 1

    def __post_init__(self, **kwargs):
        for name in ("src_vocab_size", "vocab_size", "embedding_size", "hidden_size", "alignment_size", "maxout_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` is {getattr(self, name)}: give a size of 1 or more")
        for name in ("embedding_dropout", "annotation_dropout", "readout_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"`{name}` is {getattr(self, name)}: give a share from 0 up to, not including, 1")
        if self.initializer_range < 0:
            raise ValueError(
                f"`initializer_range` is {self.initializer_range}: give a standard deviation of 0 or more"
            )
        if self.tie_word_embeddings and self.embedding_size != self.maxout_size:
            raise ValueError(
                f"`tie_word_embeddings` needs `embedding_size` ({self.embedding_size}) equal to `maxout_size` "
                f"({self.maxout_size}): the output matrix and the target embedding are one"
            )
        if not __name__.startswith("transformers_modules."):
            # Who has the package needs no code from the checkpoint, nor the question whether to trust it.
            for name in ("auto_map", "custom_pipelines"):
                kwargs.pop(name, None)
        super().__post_init__(**kwargs)

    def to_dict(self) -> dict[str, Any]:
        """The fields, and where a checkpoint's own files hold the classes, for those who do not have the package."""
        return super().to_dict() | {
            "auto_map": {
                "AutoConfig": "configuration_rnnsearch.RNNsearchConfig",
                "AutoModel": "modeling_rnnsearch.RNNsearchModel",
                "AutoModelForSeq2SeqLM": "modeling_rnnsearch.RNNsearchForConditionalGeneration",
            },
            "custom_pipelines": {
                "translation": {
                    "impl": "pipeline_rnnsearch.TranslationPipeline",
                    "pt": ["AutoModelForSeq2SeqLM"],
                    "type": "text",
                }
            },
        }

    @property
    def context_size(self) -> int:
        """Units of an annotation and of a context: both directions of the encoder, or the forward one alone."""
        return 2 * self.hidden_size if self.context == "search" else self.hidden_size


RNNsearchConfig.register_for_auto_class()

__all__ = ["RNNsearchConfig"]
