"""Lines of text files: UTF-8 on every machine, split at line feeds alone, plain or compressed."""

import gzip
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


def decode_lines(stream: Iterable[bytes], name: str | os.PathLike[str]) -> Iterator[str]:
    r"""Decode the lines of a binary stream, such as an open file or `sys.stdin.buffer`.

    A line ends at "\n" or "\r\n" and nowhere else, so that line numbers agree with those of `wc`, `paste` and
    editors; the last one may lack its end. A byte order mark before the first line is skipped.

    Args:
        stream: what yields one line of bytes after another, each with its end.
        name: how error messages call the stream.

    Raises:
        InputError: a line is not UTF-8 or holds a NUL character.

    >>> list(decode_lines([b"caf\xc3\xa9\r\n", b"\n", b"end"], "menu.txt"))
    ['café', '', 'end']
    """
    for number, line in enumerate(stream, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
            if not line:
                return  # a mark alone is an empty file
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            byte = line[error.start]
            raise InputError(
                f"{name}, line {number}: byte {byte:#04x} at position {error.start + 1} is not UTF-8; "
                "convert the file to UTF-8"
            ) from error
        if "\0" in text:
            raise InputError(f"{name}, line {number}: holds a NUL character; this is not clean text")
        yield text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def iter_lines(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file, plain or compressed (`.gz`, `.xz`), without their ends.

    See `decode_lines` for what a line is. The file is opened when the first line is asked for.

    Raises:
        InputError: the file is missing, a folder, empty, unreadable, damaged, not UTF-8, or holds a NUL character.
    """
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a text file")
    opener = OPENERS.get(path.suffix, open)
    lines = 0
    try:
        with opener(path, "rb") as stream:
            for line in decode_lines(stream, path):
                lines += 1
                yield line
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{path}: damaged or cut {path.suffix} file after line {lines} ({error})") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not lines:
        raise InputError(f"{path}: is empty")


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return all lines of a text file; rules and errors are those of `iter_lines`."""
    return list(iter_lines(path))
