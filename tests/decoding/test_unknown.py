"""Lexicons in text files, and the model that cannot say which word is behind an unknown one."""

import copy

import pytest

from rnnsearch import RNNsearchForConditionalGeneration, Translator
from rnnsearch.decoding.unknown import read_lexicon
from rnnsearch.errors import InputError


def test_the_first_translation_counts(tmp_path):
    path = tmp_path / "lexicon.tsv"
    path.write_bytes("dog\tchien\r\n\r\n of course \tbien sûr\ndog\tchienne\nDog\tChien".encode())
    assert read_lexicon(path) == {"dog": "chien", "of course": "bien sûr", "Dog": "Chien"}


@pytest.mark.parametrize("line", ["dog chien", "dog\tchien\t0.9", "\tchien", "dog\t "])
def test_what_is_no_entry_is_named(tmp_path, line):
    path = tmp_path / "lexicon.tsv"
    path.write_text(f"cat\tchat\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"lexicon\.tsv, line 2: .* is not a source word, a tab and its translation"):
        read_lexicon(path)


def test_a_fixed_context_reads_no_word_in_particular(tiny_model, tiny_tokenizer):
    config = copy.deepcopy(tiny_model.config)
    config.context = "fixed"
    translator = Translator(RNNsearchForConditionalGeneration(config), tiny_tokenizer)
    with pytest.raises(InputError, match="fixed context"):
        translator.translate(["A dog"], replace_unk="copy")
    with pytest.raises(ValueError, match='give "copy", or a mapping'):
        Translator(tiny_model, tiny_tokenizer).translate(["A dog"], replace_unk="lexicon")
