# Copyright 2026 The RNNsearch authors. Licensed under the Apache License, Version 2.0.
"""Words in the sense of Moses: a sentence into words and back, as the paper's data were prepared (section 4.1)."""

import functools
import re
import unicodedata
from typing import Any

# Whole words for us although Moses would take them apart and could not put them together again: `AT&T`, `&amp;`,
# `<b>`. The literals of control tokens are left to Moses, which cuts them, so that none is ever looked up.
_WHOLE = re.compile(
    r"(\b\w+(?:&(?:#\d+;|[a-z]+;)?\w+)+|&(?:#\w+|[a-zA-Z]+);|<(?!/?s>|pad>)/?[^\W\d_][^<>\s]*>)",
)
_APOSTROPHE = re.compile("['’]")
# Spaces that neither language has but corpora do ("l' ami", "EU' s", "do n't"), and what Moses's detokenizer gets
# wrong: a quotation mark that only closes, a French amount of money.
_ANY_LANGUAGE = ((re.compile(r'^([^"]*) "$'), r'\1"'),)
_SPACES = {
    "en": (
        (re.compile(r"(?<=\w) (n['’]t)(?!\w)", re.IGNORECASE), r"\1"),
        (re.compile(r"(?<=\w) ?(['’]) ?(s|m|d|re|ve|ll)(?!\w)", re.IGNORECASE), r"\1\2"),
    ),
    "fr": (
        (re.compile(r"\b((?:[cdjlmnst]|aujourd|entr|\w*qu)['’]) (?=\w)", re.IGNORECASE), r"\1"),
        (re.compile(r"([$€£¥])(?=[^\W\d])"), r"\1 "),
    ),
}
# soft hyphen, zero-width space, word joiner, byte order mark: nobody sees them and each would make a word unknown
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))


def _mend_spaces(text: str, language: str) -> str:
    for pattern, replacement in (*_SPACES.get(language, ()), *_ANY_LANGUAGE):
        text = pattern.sub(replacement, text)
    return text


@functools.cache
def _moses(language: str) -> tuple[Any, Any]:
    try:
        from sacremoses import MosesDetokenizer, MosesTokenizer
    except ImportError as error:
        raise ImportError(
            "A tokenizer of kind 'word' splits words with sacremoses, which is missing: run `pip install sacremoses`."
        ) from error
    return MosesTokenizer(language), MosesDetokenizer(language)


def _split_chunk(chunk: str, language: str) -> list[str]:
    # Moses knows the ASCII apostrophe only, and moves spaces but no other character: the n-th apostrophe that comes
    # out is the n-th that went in.
    marks = iter(_APOSTROPHE.findall(chunk))
    words = _moses(language)[0].tokenize(chunk.replace("’", "'"), escape=False)
    return [_APOSTROPHE.sub(lambda _: next(marks), word) for word in words]


def split_words(text: str, language: str, *, straight_apostrophes: bool) -> list[str]:
    """The words and punctuation marks of a sentence, in Unicode NFC, case kept, nothing escaped.

    Args:
        text: any text; invisible characters (soft hyphen, zero-width space) are dropped.
        language: two-letter code; decides where an apostrophe belongs ("l' ami" in French, "dog 's" in English).
        straight_apostrophes: whether U+2019 becomes the ASCII apostrophe.

    Raises:
        ImportError: sacremoses is not installed.
    """
    text = unicodedata.normalize("NFC", text).translate(_INVISIBLE)
    if straight_apostrophes:
        text = text.replace("’", "'")
    text = _mend_spaces(text, language)
    words: list[str] = []
    for index, chunk in enumerate(_WHOLE.split(text)):
        words += [chunk] if index % 2 else _split_chunk(chunk, language)
    return words


def join_words(words: list[str], language: str) -> str:
    """The sentence that `words` spell: punctuation and apostrophes attached by the rules of `language`."""
    marks = iter(_APOSTROPHE.findall(" ".join(words)))
    text = _moses(language)[1].detokenize([word.replace("’", "'") for word in words], unescape=False)
    return _mend_spaces(_APOSTROPHE.sub(lambda _: next(marks), text), language)
