"""`rnnsearch tokenizer`: learn the source and target vocabularies from two text files."""

import itertools
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError

if TYPE_CHECKING:
    from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer

COVERAGE_LINES = 10_000


class Kind(StrEnum):
    """Kinds of vocabulary entries."""

    bpe = "bpe"
    word = "word"


def tokenizer(
    train: Annotated[
        tuple[Path, Path],
        typer.Option(help="Source text and target text: UTF-8, one sentence a line, plain, .gz or .xz."),
    ],
    output: Annotated[Path, typer.Option(help="Folder where the tokenizer is saved.")],
    kind: Annotated[Kind, typer.Option(help="Lossless byte-level pieces, or Moses words as in the paper.")] = Kind.bpe,
    vocab_size: Annotated[
        int, typer.Option(help="Most entries of the target vocabulary, special tokens counted.")
    ] = 30_000,
    src_vocab_size: Annotated[
        int | None, typer.Option(help="The same for the source.", show_default="--vocab-size")
    ] = None,
    shared: Annotated[bool, typer.Option("--shared", help="One vocabulary for both sides.")] = False,
    source_lang: Annotated[str, typer.Option(help="Two-letter code; decides where apostrophes belong.")] = "en",
    target_lang: Annotated[str, typer.Option(help="The same for the target.")] = "fr",
) -> None:
    """Learn the vocabularies of both languages and save them as one tokenizer."""
    from ..data.lines import iter_lines
    from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer

    if output.exists() and not output.is_dir():
        raise InputError(f"{output}: is a file; --output names a folder")
    try:
        learnt = RNNsearchTokenizer.train(
            *map(iter_lines, train),
            kind=kind.value,
            vocab_size=vocab_size,
            src_vocab_size=src_vocab_size,
            shared=shared,
            source_lang=source_lang,
            target_lang=target_lang,
        )
        summary = f"{learnt.src_vocab_size:,} source and {learnt.target_vocab_size:,} target entries"
        if kind is Kind.word:
            source, target = (_known_share(learnt, path, side) for side, path in enumerate(train))
            summary += f"; known words: {source:.2%} source, {target:.2%} target (first {COVERAGE_LINES:,} lines)"
        learnt.save_pretrained(output)
    except (ValueError, ImportError) as error:
        raise InputError(str(error)) from error
    except OSError as error:
        raise InputError(f"{output}: cannot be written: {error.strerror or error}") from error
    print(f"{output}: {kind} tokenizer, {summary}")


def _known_share(learnt: "RNNsearchTokenizer", path: Path, side: int) -> float:
    """Share of the running words at the head of a file that are in the vocabulary of its side (0 source, 1 target)."""
    from ..data.lines import iter_lines

    lines = list(itertools.islice(iter_lines(path), COVERAGE_LINES))
    name = "text_target" if side else "text"
    rows = learnt(**{name: lines}, add_special_tokens=False)["input_ids"]
    ids = list(itertools.chain.from_iterable(rows))
    return 1 - ids.count(learnt.unk_token_id) / max(len(ids), 1)
