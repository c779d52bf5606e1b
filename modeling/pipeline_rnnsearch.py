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
"""`pipeline("translation")`, which Transformers 5 no longer has, with what Transformers 4 takes and returns.

It stands for the task, not for one model: any model that `AutoModelForSeq2SeqLM` loads translates with it.
"""

import copy
import enum
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from transformers.pipelines.base import Pipeline

from .generation_rnnsearch import followed_weights
from .unknown_rnnsearch import as_lexicon, words_for_unknown

MODEL_TYPE = "rnnsearch"


class ReturnType(enum.Enum):
    TENSORS = 0
    TEXT = 1


class TranslationPipeline(Pipeline):
    """Translate texts.

    `pipeline("translation")` makes one, and so does `pipeline("translation_en_to_fr")`, for models that need to be
    told the languages. Without a word on it, four beams are kept.
    """

    tokenizer: Any  # never missing here
    _load_tokenizer = True  # type: ignore[assignment]
    _load_feature_extractor = _load_processor = False  # type: ignore[assignment]
    _load_image_processor = _load_video_processor = False  # type: ignore[assignment]

    def __call__(self, inputs, **kwargs):  # type: ignore[override]
        """Translate a text, a list of them, or lazily a generator or a data set.

        Args:
            inputs: the texts.
            kwargs: `batch_size`, texts translated together, and `num_workers`; `truncation`, whether texts longer than
                the tokenizer's greatest length are cut; `src_lang` and `tgt_lang`, for tokenizers of many languages;
                `return_tensors`, to get token ids in the place of text; `clean_up_tokenization_spaces`;
                `return_alignment`, see below; `replace_unk`, to get in the place of each [UNK] the source word that it
                was most written from, "copy" as it stands, a mapping its translation there, if it has one; all others
                are for `generate`.

        Returns:
            For a text, a list of records, one for each of `num_return_sequences`. For a list, a list of records, or
            of lists of them if there are several for each text; for what is read lazily, an iterator over lists.

            A record holds `translation_text`, or `translation_token_ids`. With `return_alignment` it also holds
            `source_words` and `target_words`, the end of the sentence included, and `alignment`, a tensor (target
            words, source words) that says how much of each source word a target word was written from; rows sum to 1.

        Raises:
            TypeError: an input is not text.
            ValueError: `return_alignment` or `replace_unk` for a model that is not RNNsearch, or has a fixed context;
                a `replace_unk` that is neither "copy" nor a mapping.
        """
        if isinstance(inputs, list) and not inputs:
            return []
        results = super().__call__(inputs, **kwargs)
        texts = isinstance(inputs, list) and all(isinstance(text, str) for text in inputs)
        if texts and all(len(result) == 1 for result in results):
            return [result[0] for result in results]
        return results

    def _sanitize_parameters(
        self,
        truncation=None,
        src_lang=None,
        tgt_lang=None,
        return_tensors=None,
        return_text=None,
        return_type=None,
        clean_up_tokenization_spaces=None,
        return_alignment=None,
        replace_unk=None,
        **generate_kwargs,
    ):
        parts = self.task.split("_")
        if src_lang is None and tgt_lang is None and len(parts) == 4:
            _, src_lang, _, tgt_lang = parts
        if return_type is None and (return_tensors is not None or return_text is not None):
            return_type = ReturnType.TENSORS if return_tensors else ReturnType.TEXT
        before = {"truncation": truncation, "src_lang": src_lang, "tgt_lang": tgt_lang}
        after = {"return_type": return_type, "clean_up_tokenization_spaces": clean_up_tokenization_spaces}
        if return_alignment:
            self._check_alignment("return_alignment")
            after["return_alignment"] = True
        if replace_unk is not None:
            self._check_alignment("replace_unk")
            after["lexicon"] = as_lexicon(replace_unk)
            before["keep_text"] = True
        if return_alignment or replace_unk is not None:
            generate_kwargs["follow"] = True
        return _given(before), generate_kwargs, _given(after)

    def _check_alignment(self, option: str) -> None:
        config = self.model.config
        if config.model_type != MODEL_TYPE:
            raise ValueError(f"`{option}` needs an RNNsearch model, and this one is of type {config.model_type!r}")
        if config.context == "fixed":
            raise ValueError(f"`{option}` needs a model that attends, and this one has a fixed context")

    def preprocess(self, input_, truncation=False, src_lang=None, tgt_lang=None, keep_text=False):  # type: ignore[override]
        texts = input_ if isinstance(input_, list) else [input_]
        if not texts or not all(isinstance(text, str) for text in texts):
            raise TypeError(
                f"a text to translate is of type {type(input_).__name__}: give a string or a list of strings"
            )
        if hasattr(self.tokenizer, "_build_translation_inputs"):  # tokenizers of many languages
            return self.tokenizer._build_translation_inputs(
                input_, return_tensors="pt", truncation=truncation, src_lang=src_lang, tgt_lang=tgt_lang
            )
        texts = [self._prefix() + text for text in texts]
        encoded = self.tokenizer(texts, padding=len(texts) > 1, truncation=truncation, return_tensors="pt")
        encoded.pop("token_type_ids", None)  # of no use to a model that generates
        if keep_text:
            encoded["text"] = texts
        return encoded

    def _prefix(self) -> str:
        """What some models, like T5, want before the text."""
        config = self.model.config
        of_task = (getattr(config, "task_specific_params", None) or {}).get(self.task, {})
        return of_task.get("prefix") or getattr(config, "prefix", None) or ""

    def _forward(self, input_tensors, follow=False, **generate_kwargs):
        texts = input_tensors.pop("text", None)
        wanted = {"return_dict_in_generate": True, "output_attentions": follow}
        arguments = self._generate_arguments(generate_kwargs, wanted)
        output = self.model.generate(**input_tensors, **arguments)  # type: ignore[operator]
        count = len(input_tensors["input_ids"])
        # One row a text, so that batches can be taken apart.
        rows = {"output_ids": output.sequences.unflatten(0, (count, -1))}
        if texts is not None:
            rows["text"] = texts
        if follow:
            rows["input_ids"], rows["attention_mask"] = input_tensors["input_ids"], input_tensors["attention_mask"]
            rows["alignment"] = followed_weights(output).unflatten(0, (count, -1))
        return rows

    def _generate_arguments(self, given: dict[str, Any], wanted: dict[str, Any]) -> dict[str, Any]:
        """The arguments of `generate`: those of the caller, and defaults for what neither they nor the model say."""
        config = given.get("generation_config")
        said = {**self.model.generation_config.to_diff_dict(), **(config.to_diff_dict() if config else {}), **given}
        added = dict(wanted)
        if "num_beams" not in said:
            added["num_beams"] = 4
        # RNNsearch has a default of its own, by the length of the source.
        if self.model.config.model_type != MODEL_TYPE and not {"max_length", "max_new_tokens"} & said.keys():
            added["max_new_tokens"] = 256
        if config is None:
            return given | added
        config = copy.deepcopy(config)
        config.update(**added)
        return given | {"generation_config": config}

    def postprocess(  # type: ignore[override]
        self,
        model_outputs,
        return_type=ReturnType.TEXT,
        clean_up_tokenization_spaces=None,
        return_alignment=False,
        lexicon=None,
    ):
        records = []
        for index, ids in enumerate(model_outputs["output_ids"][0]):
            if return_type == ReturnType.TENSORS:
                record = {"translation_token_ids": ids}
            else:
                choices = {"clean_up_tokenization_spaces": clean_up_tokenization_spaces}
                if lexicon is not None:
                    choices["unknown_words"] = self._words_for_unknown(model_outputs, index, ids[1:], lexicon)
                text = self.tokenizer.decode(ids, skip_special_tokens=True, **choices)
                record = {"translation_text": text}
            if return_alignment:
                record |= self._between_words(model_outputs, index, ids[1:])
            records.append(record)
        return records

    def _words_for_unknown(self, model_outputs, index: int, ids: Tensor, lexicon: Mapping[str, str]) -> list[str]:
        return words_for_unknown(
            self.tokenizer,
            model_outputs["text"][0],
            model_outputs["input_ids"][0].tolist(),
            ids.tolist(),
            model_outputs["alignment"][0][index].double().numpy(),
            lexicon,
        )

    def _between_words(self, model_outputs, index: int, ids: Tensor) -> dict[str, Any]:
        """The alignment of one translation, whose ids follow the start token's."""
        ends = (ids == self.tokenizer.eos_token_id).nonzero()
        length = int(ends[0]) + 1 if len(ends) else len(ids)
        real = model_outputs["attention_mask"][0].bool()
        source_words, target_words, weights = self.tokenizer.between_words(
            model_outputs["input_ids"][0][real].tolist(),
            ids[:length].tolist(),
            model_outputs["alignment"][0][index][:length, real].double().numpy(),
        )
        return {"source_words": source_words, "target_words": target_words, "alignment": torch.from_numpy(weights)}


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


__all__ = ["ReturnType", "TranslationPipeline"]
