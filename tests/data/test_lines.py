"""Lines: where they end, what their bytes mean, and what is said about files that cannot be read."""

import gzip
import io
import lzma
import os

import pytest

from rnnsearch.data.lines import decode_lines, iter_lines, read_lines
from rnnsearch.errors import InputError

TEXT = "un café noir\n\nle 猫 dort\n"
LINES = ["un café noir", "", "le 猫 dort"]


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: bytes):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


def message(path) -> str:
    """The error of a file that cannot be read: one line that names the file."""
    with pytest.raises(InputError) as caught:
        read_lines(path)
    text = str(caught.value)
    assert "\n" not in text and str(path) in text
    return text


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.replace("\n", "\r\n").encode("utf-8-sig"),
        TEXT.removesuffix("\n").encode(),
    ],
    ids=["plain", "byte-order-mark", "crlf", "both", "no-last-newline"],
)
def test_same_lines_however_they_end(write, content):
    assert read_lines(write("a.fr", content)) == LINES


@pytest.mark.parametrize("inside", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x1e", "\x85", "\r", "\ufeff"])
def test_only_line_feeds_end_lines(write, inside):
    text = f"one{inside}two"
    assert read_lines(write("a.txt", f"{text}\nthree\n".encode())) == [text, "three"]


def test_only_one_line_end_is_taken_off(write):
    assert read_lines(write("a.txt", b" a \r\r\n\n\nb\r")) == [" a \r", "", "", "b\r"]


def test_reads_one_line_at_a_time(write):
    lines = iter_lines(write("a.txt", b"good\nb\xe9d\n"))
    assert next(lines) == "good"
    with pytest.raises(InputError, match="line 2"):
        next(lines)


def test_decodes_standard_input():
    assert list(decode_lines(io.BytesIO(TEXT.encode()), "standard input")) == LINES
    with pytest.raises(InputError, match=r"^standard input, line 2: "):
        list(decode_lines(io.BytesIO(b"a\n\xff\n"), "standard input"))
    assert list(decode_lines(io.BytesIO(), "standard input")) == []


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress)])
class TestCompressed:
    def test_read_like_plain(self, write, suffix, compress):
        assert read_lines(write(f"a.fr{suffix}", compress(TEXT.encode()))) == LINES

    def test_members_are_joined(self, write, suffix, compress):
        assert read_lines(write(f"a{suffix}", compress(b"a\nb") + compress(b"c\nd\n"))) == ["a", "bc", "d"]

    def test_cut(self, write, suffix, compress):
        content = compress(os.urandom(50_000).hex().encode())
        assert f"cut {suffix} file" in message(write(f"a{suffix}", content[:-20]))

    def test_damaged(self, write, suffix, compress):
        content = bytearray(compress(os.urandom(5_000).hex().encode()))
        content[100:1000] = bytes(900)
        assert f"damaged or cut {suffix} file" in message(write(f"a{suffix}", bytes(content)))

    def test_not_compressed(self, write, suffix, compress):
        assert f"damaged or cut {suffix} file" in message(write(f"a{suffix}", b"plain text\n"))

    def test_empty(self, write, suffix, compress):
        assert message(write(f"a{suffix}", compress(b""))).endswith(": is empty")


def test_latin_1_is_refused(write):
    path = write("a.fr", b"un\ndeux\nun caf\xe9 noir\n")
    assert message(path).startswith(f"{path}, line 3: byte 0xe9 at position 7 is not UTF-8")


def test_utf_16_is_refused(write):
    assert ", line 1: " in message(write("a.fr", TEXT.encode("utf-16")))


def test_encoded_surrogate_is_refused(write):
    assert ", line 2: " in message(write("a.fr", b"a\n\xed\xa0\x80\n"))


def test_nul_is_refused(write):
    assert ", line 2: holds a NUL" in message(write("a.fr", b"a\nb\0c\n"))


def test_missing(tmp_path):
    assert "cannot be read: No such file" in message(tmp_path / "none.fr")


def test_folder(tmp_path):
    assert "is a folder" in message(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf"], ids=["nothing", "byte-order-mark"])
def test_empty(write, content):
    assert message(write("a.fr", content)).endswith(": is empty")


def test_blank_line_is_not_empty(write):
    assert read_lines(write("a.fr", b"\n")) == [""]
