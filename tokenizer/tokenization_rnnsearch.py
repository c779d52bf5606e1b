# Copyright 2026 The RNNsearch authors. Licensed under the Apache License, Version 2.0.
"""The tokenizer of RNNsearch: a source and a target vocabulary behind one `PreTrainedTokenizerFast`.

Two kinds. "bpe": byte-level pieces that never cross a word's border; every text comes back exactly. "word": the K most
frequent words after Moses tokenisation, all others [UNK], as in section 4.1 of the paper.
"""

import codecs
import gzip
import itertools
import json
import lzma
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
from transformers.convert_slow_tokenizer import bytes_to_unicode

from .moses_rnnsearch import join_words, split_words

# Index is id, on both sides. They are plain entries of the vocabularies and *not* "added tokens" of the Rust library:
# those are cut out of raw text, and a user's "</s>" would end the sentence.
CONTROL_TOKENS = ("<pad>", "<s>", "</s>", "[UNK]")
PAD, BOS, EOS, UNK = range(4)

KINDS = ("bpe", "word")
SMALLEST = {"bpe": len(CONTROL_TOKENS) + 256, "word": len(CONTROL_TOKENS)}
APOSTROPHES = ("keep", "straight")

# A piece stays inside one of these: a word with the space before it and, of an elision, its apostrophe ("l'|homme");
# the end of an English contraction ("don|'t"); a number; punctuation; other spaces. A mark belongs to its letter.
_CONTRACTION = r"['’](?i:s|t|m|d|re|ve|ll)(?![\p{L}\p{M}])"
_BORDERS = (
    rf"{_CONTRACTION}"
    rf"| ?[\p{{L}}\p{{M}}]+(?:(?!{_CONTRACTION})['’](?=\p{{L}}))?"
    r"| ?\p{N}+"
    r"| ?[^\s\p{L}\p{M}\p{N}]+"
    r"|\s+(?!\S)|\s+"
)
_SYMBOL_OF = bytes_to_unicode()
_BYTE_OF = {symbol: byte for byte, symbol in _SYMBOL_OF.items()}
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
_OTHER_APOSTROPHE = str.maketrans("'’", "’'")

TrainingText = str | os.PathLike | Iterable[str] | Iterable[os.PathLike]


class RNNsearchTokenizer(PreTrainedTokenizerFast):
    """Source sentences to `input_ids`, target sentences (`text_target=`) to `labels`; `decode` reads the target side.

    `<pad>` 0, `<s>` 1, `</s>` 2 and `[UNK]` 3 on both sides; every sentence ends with `</s>`, nothing is put before
    it. Their spelling in a sentence is text. What the base class says about *the* vocabulary (`len`, `get_vocab`,
    `convert_ids_to_tokens`, `decode(..., use_source_tokenizer=True)`) is about the source; for the target there are
    `target_vocab_size`, `get_target_vocab`, `target_tokens` and `decode`. The two sides take turns behind one
    attribute, so one object must not be used by two threads at once.

    Without files the vocabularies hold the special tokens and, for "bpe", the 256 bytes. See `train` for the options.

    Raises:
        ValueError: unknown `kind` or `apostrophe`, a target vocabulary that is missing, or special tokens that are not
            where they must be.
    """

    vocab_files_names = {"tokenizer_file": "tokenizer.json", "target_tokenizer_file": "target_tokenizer.json"}
    model_input_names = ["input_ids", "attention_mask"]

    def __init__(
        self,
        kind: str = "bpe",
        source_lang: str = "en",
        target_lang: str = "fr",
        shared: bool = False,
        apostrophe: str = "keep",
        pad_token: str = CONTROL_TOKENS[PAD],
        bos_token: str = CONTROL_TOKENS[BOS],
        eos_token: str = CONTROL_TOKENS[EOS],
        unk_token: str = CONTROL_TOKENS[UNK],
        **kwargs,
    ):
        _check_choice("kind", kind, KINDS)
        _check_choice("apostrophe", apostrophe, APOSTROPHES)
        self.kind = kind
        self.source_lang = source_lang
        self.target_lang = target_lang
        self.shared = shared
        self.apostrophe = apostrophe
        source = _load(kwargs.pop("tokenizer_object", None), kwargs.pop("tokenizer_file", None))
        target = _load(kwargs.pop("target_tokenizer_object", None), kwargs.pop("target_tokenizer_file", None))
        if source and not target and not shared:
            raise ValueError("target_tokenizer.json is missing beside tokenizer.json; give both, or set shared=True.")
        self.source_tokenizer = source or _new_tokenizer(kind)
        self.target_tokenizer = self.source_tokenizer if shared else target or _new_tokenizer(kind)
        for tokenizer in self._sides():
            found = tuple(tokenizer.id_to_token(index) for index in range(len(CONTROL_TOKENS)))
            if found != CONTROL_TOKENS:
                raise ValueError(f"Ids 0 to 3 of a vocabulary must be {CONTROL_TOKENS}, found {found}; train it anew.")
        self._switch_to_input_mode()

        # The files are the truth; this is the source's list alone, and the base class would add it to both sides.
        kwargs.pop("added_tokens_decoder", None)
        ends = _template_tokens(self.source_tokenizer)
        kwargs.setdefault("add_bos_token", bool(ends & {CONTROL_TOKENS[BOS], str(bos_token)}))
        kwargs.setdefault("add_eos_token", bool(ends & {CONTROL_TOKENS[EOS], str(eos_token)}))
        super().__init__(
            kind=kind,
            source_lang=source_lang,
            target_lang=target_lang,
            shared=shared,
            apostrophe=apostrophe,
            pad_token=pad_token,
            bos_token=bos_token,
            eos_token=eos_token,
            unk_token=unk_token,
            **kwargs,
        )

    @classmethod
    def convert_to_native_format(cls, trust_remote_code: bool = False, **kwargs) -> dict[str, Any]:
        """Hands the files to `__init__` as they are; the base class would open the source's alone."""
        return kwargs

    @classmethod
    def train(
        cls,
        source: TrainingText,
        target: TrainingText,
        *,
        kind: str = "bpe",
        vocab_size: int = 30_000,
        src_vocab_size: int | None = None,
        shared: bool = False,
        source_lang: str = "en",
        target_lang: str = "fr",
        min_frequency: int = 1,
        apostrophe: str = "keep",
    ) -> "RNNsearchTokenizer":
        """Learns the vocabularies from text.

        Args:
            source, target: sentences (an iterable of strings), or one path (a string or path object) or several path
                objects of UTF-8 text files with one sentence a line, plain, `.gz` or `.xz`.
            kind: "bpe" (lossless byte-level pieces) or "word" (Moses words, needs sacremoses).
            vocab_size: most entries of the target vocabulary, special tokens counted; the paper's is 30,000.
            src_vocab_size: the same for the source; `vocab_size` if None.
            shared: whether both sides use one vocabulary of `vocab_size` learnt from both.
            source_lang, target_lang: two-letter codes, for the apostrophes of the "word" kind.
            min_frequency: pieces or words that are rarer are left out.
            apostrophe: for the "word" kind, "keep" (U+2019 stays; a word unknown in one spelling is looked up in the
                other) or "straight" (U+2019 becomes the ASCII apostrophe).

        Raises:
            ValueError: no text on a side, a size too small for the kind, or `src_vocab_size` with `shared`.
        """
        _check_choice("kind", kind, KINDS)
        _check_choice("apostrophe", apostrophe, APOSTROPHES)
        if shared and src_vocab_size not in (None, vocab_size):
            raise ValueError("A shared vocabulary has one size: give vocab_size without src_vocab_size.")

        for size in (vocab_size, src_vocab_size or vocab_size):
            if size < SMALLEST[kind]:
                raise ValueError(f"A vocabulary of kind {kind!r} has at least {SMALLEST[kind]} entries, not {size}.")

        sides = [(_read(source, "source"), source_lang), (_read(target, "target"), target_lang)]

        def learn(texts: list[tuple[Iterator[str], str]], size: int) -> Tokenizer:
            if kind == "bpe":
                return _train_bpe(itertools.chain.from_iterable(lines for lines, _ in texts), size, min_frequency)
            counts: Counter[str] = Counter()
            for lines, language in texts:
                for line in lines:
                    counts.update(split_words(line, language, straight_apostrophes=apostrophe == "straight"))
            return _word_tokenizer(counts, size, min_frequency)

        if shared:
            source_tokenizer = target_tokenizer = learn(sides, vocab_size)
        else:
            source_tokenizer = learn(sides[:1], src_vocab_size or vocab_size)
            target_tokenizer = learn(sides[1:], vocab_size)
        return cls(
            tokenizer_object=source_tokenizer,
            target_tokenizer_object=target_tokenizer,
            kind=kind,
            source_lang=source_lang,
            target_lang=target_lang,
            shared=shared,
            apostrophe=apostrophe,
        )

    def train_new_from_iterator(
        self,
        text_iterator: Iterable[str | list[str]],
        vocab_size: int,
        length: int | None = None,
        new_special_tokens: list[str] | None = None,
        special_tokens_map: dict[str, str] | None = None,
        **kwargs,
    ) -> "RNNsearchTokenizer":
        """Learns both sides anew from one text with this tokenizer's options; `train` learns each from its own.

        Args:
            text_iterator: sentences, or lists of them.
            vocab_size: most entries of each side; raised to the smallest possible.
            length: not needed; the base class has it.
            new_special_tokens: special tokens to add to both sides.
            special_tokens_map: old name to new name of special tokens.
            kwargs: further options of `train`.
        """
        texts = [text for item in text_iterator for text in ([item] if isinstance(item, str) else item)]
        options = {
            name: getattr(self, name) for name in ("kind", "shared", "source_lang", "target_lang", "apostrophe")
        }
        size = max(vocab_size, SMALLEST[self.kind])
        tokenizer = type(self).train(texts, texts, vocab_size=size, **{**options, **kwargs})
        renamed = special_tokens_map or {}
        roles = {
            role: renamed.get(token, token) for role, token in self.special_tokens_map.items() if token in renamed
        }
        tokenizer.add_special_tokens({**roles, "extra_special_tokens": new_special_tokens or []})
        tokenizer._add_bos_token, tokenizer._add_eos_token = self.add_bos_token, self.add_eos_token
        tokenizer.update_post_processor()
        return tokenizer

    # The two sides

    def _sides(self) -> list[Tokenizer]:
        return [self.source_tokenizer] if self.shared else [self.source_tokenizer, self.target_tokenizer]

    def _switch_to_input_mode(self) -> None:
        self._switch(to_target=False)

    def _switch_to_target_mode(self) -> None:
        self._switch(to_target=True)

    def _switch(self, *, to_target: bool) -> None:
        self._target_mode = to_target
        self._tokenizer = self._current_side()

    def _current_side(self) -> Tokenizer:
        return self.target_tokenizer if self._target_mode else self.source_tokenizer

    def _language(self) -> str:
        return self.target_lang if self._target_mode else self.source_lang

    @property
    def src_vocab_size(self) -> int:
        """Entries of the source vocabulary, special and added tokens counted."""
        return self.source_tokenizer.get_vocab_size()

    @property
    def target_vocab_size(self) -> int:
        """Entries of the target vocabulary, special and added tokens counted; the model's `vocab_size`."""
        return self.target_tokenizer.get_vocab_size()

    def get_target_vocab(self) -> dict[str, int]:
        """Token to id on the target side; `get_vocab` is the source's."""
        return self.target_tokenizer.get_vocab()

    # Text to ids

    def _encode_plus(self, text, text_pair=None, **kwargs):  # type: ignore[override]
        try:
            return super()._encode_plus(text=self._prepare(text), text_pair=self._prepare(text_pair), **kwargs)
        except BaseException:
            self._switch_to_input_mode()  # the base class switches back only where nothing was raised
            raise

    def _prepare(self, text):
        """Text as the Rust side wants it; lists and tuples (batches, split words, pairs) keep their form."""
        if isinstance(text, list | tuple):
            return type(text)(map(self._prepare, text))
        if not isinstance(text, str) or not text:
            return text
        if self.kind == "bpe":
            # One space before the text, taken off again by the decoder: a first word gets the pieces it has in the
            # middle. Here and not in the Rust normaliser, which would put one after each added token too.
            return text if text.startswith(tuple(self._added_tokens())) else " " + text
        return " ".join(map(self._known_spelling, self._split_words(text)))

    def _added_tokens(self) -> list[str]:
        return [token.content for token in self._current_side().get_added_tokens_decoder().values()]

    def _split_words(self, text: str) -> Iterator[str]:
        """Moses words, with the tokens that a user added left whole."""
        added = self._added_tokens()
        pattern = "|".join(map(re.escape, sorted(added, key=len, reverse=True)))  # the longest that fits
        for index, chunk in enumerate(re.split(f"({pattern})", text) if added else [text]):
            if index % 2:
                yield chunk
            else:
                yield from split_words(chunk, self._language(), straight_apostrophes=self.apostrophe == "straight")

    def _known_spelling(self, word: str) -> str:
        if self._current_side().token_to_id(word) is None:
            other = word.translate(_OTHER_APOSTROPHE)
            if other != word and self._current_side().token_to_id(other) is not None:
                return other
        return word

    # Ids to text

    def _decode(
        self,
        token_ids: int | list[int],
        skip_special_tokens: bool = False,
        clean_up_tokenization_spaces: bool | None = None,
        use_source_tokenizer: bool = False,
        unknown_words: list[str] | None = None,
        **kwargs,
    ) -> str:
        """Text of target ids, or of source ids with `use_source_tokenizer=True`.

        Negative ids (the -100 of labels) count as padding. `skip_special_tokens` drops `<pad>`, `<s>`, `</s>` and
        added special tokens, but not `[UNK]`: it stands for a word of the sentence. In its place come
        `unknown_words`, one after the other, if they are given (kind "word"). Spaces are cleaned up (by English
        rules) only for the "word" kind and only on request.
        """
        was_target = self._target_mode
        try:
            self._switch(to_target=not use_source_tokenizer)
            ids = _clean_ids(token_ids)
            if skip_special_tokens:
                ids = [index for index in ids if index not in (PAD, BOS, EOS)]
            text = self._join(ids, skip_special_tokens)
            if self.kind == "bpe":
                return text
            words = text.split()
            if unknown_words is not None:
                # Moses cuts the spelling of a control token, so that this one is never a word of the vocabulary.
                known = iter(unknown_words)
                words = [next(known) if word == CONTROL_TOKENS[UNK] else word for word in words]
            text = join_words(words, self._language())
        finally:
            self._switch(to_target=was_target)
        clean_up = self.clean_up_tokenization_spaces
        if clean_up_tokenization_spaces is not None:
            clean_up = clean_up_tokenization_spaces
        return self.clean_up_tokenization(text) if clean_up else text

    def _join(self, ids: list[int], skip_special_tokens: bool) -> str:
        side = self._current_side()
        added = side.get_added_tokens_decoder()
        if self.kind == "word" or added.keys().isdisjoint(ids):
            return side.decode(ids, skip_special_tokens=skip_special_tokens)
        # The byte decoder takes the letters of an added token for bytes, so they are spelled in bytes first.
        kept = [index for index in ids if not (skip_special_tokens and index in added and added[index].special)]
        return side.decoder.decode(
            [
                "".join(_SYMBOL_OF[byte] for byte in added[index].content.encode())
                if index in added
                else side.id_to_token(index) or ""
                for index in kept
            ]
        )

    def source_tokens(self, ids: Iterable[int]) -> list[str]:
        """What each source id stands for, as people read it; see `target_tokens`."""
        return [text for text, _ in self._pieces(self.source_tokenizer, ids)]

    def target_tokens(self, ids: Iterable[int]) -> list[str]:
        """What each target id stands for, as people read it.

        A piece of kind "bpe" loses the space that begins its word. A character cut into several pieces stands with the
        last of them; the others are empty.
        """
        return [text for text, _ in self._pieces(self.target_tokenizer, ids)]

    def source_words(self, text: str) -> list[str]:
        """The words of a source sentence, without an end; those that have no id of their own, too."""
        return self._words(text, to_target=False)

    def target_words(self, text: str) -> list[str]:
        """The words of a target sentence, without an end; those that have no id of their own, too."""
        return self._words(text, to_target=True)

    def source_word_starts(self, ids: Iterable[int]) -> list[bool]:
        """Whether a word, number, punctuation mark or special token begins at each source id."""
        return [start for _, start in self._pieces(self.source_tokenizer, ids)]

    def target_word_starts(self, ids: Iterable[int]) -> list[bool]:
        """Whether a word, number, punctuation mark or special token begins at each target id."""
        return [start for _, start in self._pieces(self.target_tokenizer, ids)]

    def between_words(
        self, source_ids: list[int], target_ids: list[int], weights: NDArray[np.float64]
    ) -> tuple[list[str], list[str], NDArray[np.float64]]:
        """An alignment between tokens as one between words.

        The weights of a source word's pieces are added up and those of a target word's pieces are averaged, so that a
        row still sums to 1.

        Args:
            source_ids: S' ids of a sentence.
            target_ids: T' ids of its translation.
            weights: how much of each source token each target token was written from, (T', S').

        Returns:
            the S source words, the T target words, and the weights between them, (T, S).
        """
        source_starts = np.flatnonzero(self.source_word_starts(source_ids))
        target_starts = np.flatnonzero(self.target_word_starts(target_ids))
        pieces = np.diff(target_starts, append=len(target_ids))  # of each target word
        weights = weights / weights.sum(axis=1, keepdims=True)  # half precision is off by up to half a percent
        weights = np.add.reduceat(weights, source_starts, axis=1)
        weights = np.add.reduceat(weights, target_starts, axis=0) / pieces[:, None]
        source_words = _join_pieces(self.source_tokens(source_ids), source_starts.tolist())
        return source_words, _join_pieces(self.target_tokens(target_ids), target_starts.tolist()), weights

    def _words(self, text: str, *, to_target: bool) -> list[str]:
        was_target = self._target_mode
        try:
            self._switch(to_target=to_target)
            if self.kind == "word":
                return list(self._split_words(text))
            side = self._current_side()
            pieces = self._pieces(side, side.encode(self._prepare(text), add_special_tokens=False).ids)
        finally:
            self._switch(to_target=was_target)
        return _join_pieces([piece for piece, _ in pieces], [n for n, (_, starts) in enumerate(pieces) if starts])

    def _pieces(self, tokenizer: Tokenizer, ids: Iterable[int]) -> list[tuple[str, bool]]:
        ids = _clean_ids(ids)
        tokens = [_token(tokenizer, index) for index in ids]
        if self.kind == "word":
            return [(token, True) for token in tokens]
        whole = {*range(len(CONTROL_TOKENS)), *tokenizer.get_added_tokens_decoder()}
        pieces: list[tuple[str, bool]] = []
        for is_whole, run in itertools.groupby(zip(ids, tokens, strict=True), key=lambda pair: pair[0] in whole):
            symbols = [token for _, token in run]
            pieces += [(token, True) for token in symbols] if is_whole else _byte_pieces(tokenizer, symbols)
        return pieces

    # Added tokens

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """Id to token for the special tokens and for what was added to the current side."""
        control = {i: AddedToken(token, special=True, normalized=False) for i, token in enumerate(CONTROL_TOKENS)}
        return control | self._current_side().get_added_tokens_decoder()

    def _add_tokens(self, new_tokens, special_tokens: bool = False) -> int:
        """Adds to both sides; returns how many were new to the source.

        A special token has one id for both sides, so the smaller vocabulary is first filled up with unused entries.
        """
        tokens = [token for token in new_tokens if str(token) not in CONTROL_TOKENS]
        new = [token for token in tokens if any(side.token_to_id(str(token)) is None for side in self._sides())]
        if any(special_tokens or getattr(token, "special", False) for token in new):
            size = max(side.get_vocab_size() for side in self._sides())
            for side in self._sides():
                unused = range(side.get_vocab_size(), size)
                side.add_special_tokens([AddedToken(f"<unused{index}>", normalized=False) for index in unused])
        added = [
            side.add_special_tokens(tokens) if special_tokens else side.add_tokens(tokens) for side in self._sides()
        ]
        return added[0]

    def add_target_tokens(self, new_tokens: list[str]) -> int:
        """Adds ordinary tokens to the target side alone (`add_tokens` adds to both); returns how many were new."""
        return self.target_tokenizer.add_tokens(new_tokens)

    def update_post_processor(self) -> None:
        """Writes the template of `add_bos_token` and `add_eos_token` into both sides."""
        self._switch_to_target_mode()
        super().update_post_processor()
        self._switch_to_input_mode()
        super().update_post_processor()

    def _save_pretrained(self, save_directory, file_names, legacy_format=None, filename_prefix=None):
        names = list(self.vocab_files_names.values())
        for side, name in zip(self._sides(), names, strict=False):
            # else the padding and truncation of the last call would be stored and come back as defaults
            side.no_padding()
            side.no_truncation()
            path = os.path.join(save_directory, f"{filename_prefix}-{name}" if filename_prefix else name)
            # written by Python, which knows names of folders that are not UTF-8
            Path(path).write_text(side.to_str(pretty=True), encoding="utf-8")
            file_names = (*file_names, path)
        return file_names


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ValueError(f"{name}={value!r} is unknown; choose one of {', '.join(choices)}.")


def _load(tokenizer: Tokenizer | None, file: str | None) -> Tokenizer | None:
    if tokenizer is not None or file is None:
        return tokenizer
    return Tokenizer.from_str(Path(file).read_text(encoding="utf-8"))


def _template_tokens(tokenizer: Tokenizer) -> set[str]:
    """The tokens that a post-processor puts around a sentence; `</s>` where none was set yet."""
    if tokenizer.post_processor is None:
        return {CONTROL_TOKENS[EOS]}
    return set(json.loads(tokenizer.post_processor.__getstate__())["special_tokens"])


def _clean_ids(ids: Any) -> list[int]:
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    return [max(int(index), PAD) for index in ([ids] if isinstance(ids, int) else ids)]


def _token(tokenizer: Tokenizer, index: int) -> str:
    token = tokenizer.id_to_token(index)
    if token is None:
        raise ValueError(f"Id {index} is not in the vocabulary, which has {tokenizer.get_vocab_size():,} entries.")
    return token


def _byte_pieces(tokenizer: Tokenizer, symbols: list[str]) -> list[tuple[str, bool]]:
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    texts = [decoder.decode(bytes(_BYTE_OF[symbol] for symbol in token)) for token in symbols]
    borders = {start for _, (start, _) in tokenizer.pre_tokenizer.pre_tokenize_str("".join(texts))}
    pieces, position = [], 0
    for text in texts:
        starts = position in borders
        borders.discard(position)  # an unfinished character has no length: only its first piece begins the word
        pieces.append((text.removeprefix(" ") if starts else text, starts))
        position += len(text)
    return pieces


def _join_pieces(pieces: list[str], starts: list[int]) -> list[str]:
    return ["".join(pieces[start:end]) for start, end in itertools.pairwise([*starts, len(pieces)])]


def _read(texts: TrainingText, side: str) -> Iterator[str]:
    empty = True
    for item in [Path(texts)] if isinstance(texts, str | os.PathLike) else texts:
        for line in _lines(Path(item)) if isinstance(item, os.PathLike) else [item]:
            empty = empty and not line.strip()
            yield line
    if empty:
        raise ValueError(f"There is no text on the {side} side to learn a vocabulary from.")


def _lines(path: Path) -> Iterator[str]:
    with _OPENERS.get(path.suffix, open)(path, "rt", encoding="utf-8-sig") as file:
        for line in file:
            yield line.rstrip("\n")


def _new_tokenizer(kind: str) -> Tokenizer:
    """A tokenizer of the given kind that has learnt nothing yet."""
    return _word_tokenizer(Counter(), len(CONTROL_TOKENS), 1) if kind == "word" else _train_bpe([], SMALLEST["bpe"], 1)


def _word_tokenizer(counts: Counter[str], vocab_size: int, min_frequency: int) -> Tokenizer:
    """The `vocab_size` most frequent words, special tokens counted; equally frequent ones in alphabetical order."""
    frequent = sorted((-count, word) for word, count in counts.items() if count >= min_frequency)
    words = [*CONTROL_TOKENS, *(word for _, word in frequent)][:vocab_size]
    vocab = {word: index for index, word in enumerate(words)}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token=CONTROL_TOKENS[UNK]))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


def _train_bpe(texts: Iterable[str], vocab_size: int, min_frequency: int) -> Tokenizer:
    """Byte pair encoding inside the borders of `_BORDERS`; all 256 bytes are in the vocabulary."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_BORDERS), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Strip(" ", 1, 0)])
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=list(CONTROL_TOKENS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator((" " + text for text in texts), trainer)
    state = json.loads(tokenizer.to_str())
    state["added_tokens"] = []  # see CONTROL_TOKENS
    return Tokenizer.from_str(json.dumps(state))


RNNsearchTokenizer.register_for_auto_class("AutoTokenizer")
