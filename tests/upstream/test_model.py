"""Transformers' own tests of models, configurations and training, on a tiny RNNsearch.

What they ask of every model: saving and loading, devices, types, `generate` in its forms, activation checkpointing.
They know one vocabulary and self-attention, so they are no substitute for the tests in `tests/modeling`.
"""

import unittest
from unittest import mock

import pytest
import torch
from transformers.models.auto import modeling_auto

from rnnsearch import RNNsearchCache, RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchModel

from .mixins import CHECKOUT, Missing, leave_out, load

common = load("test_modeling_common")
ConfigTester = load("test_configuration_common").ConfigTester
TrainingTesterMixin = load("test_training_mixin").TrainingTesterMixin
GenerationTesterMixin = load("generation.test_utils").GenerationTesterMixin

# The tests embed target words with the source's table, and compare the width of every hidden state with `hidden_size`.
SIZES = {
    "src_vocab_size": 99,
    "vocab_size": 99,
    "embedding_size": 16,
    "hidden_size": 16,
    "alignment_size": 16,
    "maxout_size": 16,
}
ROWS, POSITIONS = 7, 7
NOT_APPLICABLE = {
    "test_resize_tokens_embeddings": "one number cannot resize two vocabularies; tests/modeling/test_loading.py does",
    "test_resize_embeddings_untied": "one number cannot resize two vocabularies; tests/modeling/test_loading.py does",
    "test_inputs_embeds_matches_input_ids": "it embeds target words with the source's table; "
    "tests/modeling/test_loading.py takes each its own",
}


class WithoutGenerate(torch.nn.Module):
    """A model to train; afterwards the test would generate, with the first word of the source for a prompt."""

    def __init__(self, config: RNNsearchConfig):
        super().__init__()
        self.translator = RNNsearchForConditionalGeneration(config)

    def forward(self, **inputs):
        return self.translator(**inputs)


class ForMixins:
    """What the mixins ask for: sizes, a configuration, and a batch of random words."""

    is_training = True
    causal_lm_class = WithoutGenerate

    def __init__(self):
        self.batch_size, self.seq_length = ROWS, POSITIONS
        self.encoder_seq_length = self.decoder_seq_length = POSITIONS
        self.hidden_size, self.vocab_size = SIZES["hidden_size"], SIZES["vocab_size"]
        self.num_hidden_layers = self.num_attention_heads = 1

    def get_config(self) -> RNNsearchConfig:
        return RNNsearchConfig(**SIZES)

    def prepare_config_and_inputs_for_common(self):
        config = self.get_config()
        source, target = (
            common.ids_tensor([ROWS, POSITIONS], size).clamp(min=config.unk_token_id + 1)
            for size in (config.src_vocab_size, config.vocab_size)
        )
        source[:, -1] = config.eos_token_id
        return config, {
            "input_ids": source,
            "attention_mask": torch.ones_like(source),
            "decoder_input_ids": target,
            "decoder_attention_mask": torch.ones_like(target),
        }


@leave_out(NOT_APPLICABLE)
class RNNsearchModelTest(common.ModelTesterMixin, GenerationTesterMixin, unittest.TestCase):
    all_model_classes = (RNNsearchModel, RNNsearchForConditionalGeneration)
    all_generative_model_classes = (RNNsearchForConditionalGeneration,)
    is_encoder_decoder = True
    has_attentions = False  # self-attention is meant, of which there is none
    test_resize_embeddings = True
    # Asked only of models whose files say that they are of 2023 or later.
    test_can_init_all_missing_weights_before_2023 = True

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # By these names the mixins tell a base model from one with labels.
        for table, name in (
            (modeling_auto.MODEL_MAPPING_NAMES, "RNNsearchModel"),
            (modeling_auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES, "RNNsearchForConditionalGeneration"),
        ):
            cls.enterClassContext(mock.patch.dict(table, rnnsearch=name))

    def setUp(self):
        self.model_tester = ForMixins()

    def _check_encoder_hidden_states_for_generate(self, hidden_states, batch_size, config, prompt_length):
        """The embeddings, and annotations of both directions: not all as wide as the decoder's state."""
        widths = (config.embedding_size, config.context_size)
        found = [tuple(states.shape) for states in hidden_states]
        self.assertEqual(found, [(batch_size, prompt_length, width) for width in widths])

    def _check_cache_for_generate(self, batch_size, cache, seq_length, config):
        """A recurrent state in the place of keys and values of layers."""
        self.assertIsInstance(cache, RNNsearchCache)
        self.assertEqual((cache.batch_size, cache.get_seq_length()), (batch_size, seq_length))

    def _check_caches_are_equal(self, cache1, cache2):
        self.assertEqual(cache1.seen_tokens, cache2.seen_tokens)
        for name in ("state", "context", "keys"):
            torch.testing.assert_close(getattr(cache1, name), getattr(cache2, name))


class RNNsearchConfigTest(unittest.TestCase):
    def test_config(self):
        ConfigTester(self, config_class=RNNsearchConfig, **SIZES).run_common_tests()


class RNNsearchTrainingTest(TrainingTesterMixin, unittest.TestCase):
    all_model_classes = (RNNsearchForConditionalGeneration,)
    training_overfit_seq_length = 24
    training_overfit_learning_rate = 1e-2

    @property
    def model_tester(self) -> ForMixins:
        return ForMixins()


def test_generation_is_tested_too():
    if GenerationTesterMixin is Missing:
        pytest.skip(
            "tests/generation/test_utils.py of Transformers is not in its source archive: "
            f"let {CHECKOUT} name a checkout of Transformers near the installed release"
        )
    assert len([name for name in dir(RNNsearchModelTest) if name.startswith("test_beam")]) > 2
