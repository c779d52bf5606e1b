"""Transformers' own tests of tokenizers. They encode and decode with one vocabulary, so both sides learn one text."""

import tempfile
import unittest

from rnnsearch import RNNsearchTokenizer

from .mixins import load

common = load("test_tokenization_common")
backend = load("test_tokenizers_backend_mixin")

TEXT = "A tokenizer that learnt one line knows its words and, byte by byte, all others too."


class RNNsearchTokenizerTest(backend.TokenizersBackendTesterMixin, common.TokenizerTesterMixin, unittest.TestCase):
    tokenizer_class = rust_tokenizer_class = RNNsearchTokenizer
    test_slow_tokenizer = False
    test_rust_tokenizer = True
    test_seq2seq = True
    test_tokenizer_from_extractor = False  # it takes one vocabulary out of a file; there are two
    space_between_special_tokens = True

    @classmethod
    def setUpClass(cls):
        """In the place of the mixin's own, which downloads a checkpoint."""
        cls.from_pretrained_id = []
        cls.tokenizers_list = []
        cls._data = TEXT
        cls.tmpdirname = cls.enterClassContext(tempfile.TemporaryDirectory())
        RNNsearchTokenizer.train([TEXT], [TEXT], kind="bpe").save_pretrained(cls.tmpdirname)

    @classmethod
    def tearDownClass(cls):
        pass
