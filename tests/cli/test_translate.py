"""`rnnsearch translate`: lines in, as many lines out, and nothing half-written."""

import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

import rnnsearch
from rnnsearch import Translator
from rnnsearch.cli import app


@pytest.fixture(scope="module")
def words(tiny_tokenizer) -> list[str]:
    return tiny_tokenizer.source_tokens(range(4, 8))


@pytest.fixture(scope="module")
def lines(words) -> list[str]:
    a, b, c, d = words
    return [f"{a} {b} {c}", "", f"{d}", "  ", f"{c} {c} {a} {b} {d} {a}"]


@pytest.fixture(scope="module")
def expected(tiny_model_dir, lines):
    return Translator.from_pretrained(tiny_model_dir).translate(lines, num_beams=3, n_best=2)


def translate(model, *options, text: bytes = b""):
    return CliRunner().invoke(app, ["translate", "--model", str(model), "--beam", "3", *map(str, options)], input=text)


def test_stdin_to_stdout(tiny_model_dir, lines, expected):
    result = translate(tiny_model_dir, text="\n".join(lines).encode())
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "".join(hypotheses[0].text + "\n" for hypotheses in expected)
    assert result.stdout.split("\n")[1] == result.stdout.split("\n")[3] == ""


def test_file_to_file_with_crlf_and_byte_order_mark(tiny_model_dir, lines, expected, tmp_path):
    source, output = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_bytes(b"\xef\xbb\xbf" + "".join(line + "\r\n" for line in lines).encode())
    result = translate(tiny_model_dir, "--input", source, "--output", output)
    assert (result.exit_code, result.stdout) == (0, "")
    assert output.read_bytes() == "".join(hypotheses[0].text + "\n" for hypotheses in expected).encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt"]


def test_only_line_feeds_end_lines(tiny_model_dir, words):
    text = f"{words[0]}\u2028{words[1]}\x0b{words[2]}\x85{words[3]}\n{words[0]}\n"
    assert translate(tiny_model_dir, text=text.encode()).stdout.count("\n") == 2


def test_scores(tiny_model_dir, lines, expected):
    rows = translate(tiny_model_dir, "--scores", text="\n".join(lines).encode()).stdout.splitlines()
    for row, (best, _) in zip(rows, expected, strict=True):
        assert row == ("\t" if best.score is None else f"{best.score:.4f}\t{best.text}")


def test_n_best(tiny_model_dir, lines, expected):
    rows = translate(tiny_model_dir, "--n-best", 2, text="\n".join(lines).encode()).stdout.splitlines()
    assert len(rows) == 10
    for index, row in enumerate(rows):
        number, score, text = row.split("\t")
        hypothesis = expected[index // 2][index % 2]
        assert number == str(index // 2 + 1)
        assert text == hypothesis.text
        assert score == ("" if hypothesis.score is None else f"{hypothesis.score:.4f}")


def test_unknown_words(tiny_model, tiny_tokenizer, tmp_path):
    """A model that writes [UNK] and nothing else: each line becomes its own words, whatever its neighbours."""
    model = copy.deepcopy(tiny_model)
    with torch.no_grad():
        model.lm_head.bias[3] += 100
    model.save_pretrained(tmp_path / "model")
    tiny_tokenizer.save_pretrained(tmp_path / "model")
    text = b"Zorro\n\nQuux Quux Quux Quux Quux Quux Quux Quux Quux\n"
    (tmp_path / "lexicon.tsv").write_text("Quux\tMachin\n", encoding="utf-8")

    def words(*options) -> list[set[str]]:
        result = translate(tmp_path / "model", *options, text=text)
        assert result.exit_code == 0, result.stderr
        return [set(line.split()) for line in result.stdout.splitlines()]

    assert words() == [{"[UNK]"}, set(), {"[UNK]"}]
    for batch_size in (1, 8):
        assert words("--replace-unk", "copy", "--batch-size", batch_size) == [{"Zorro"}, set(), {"Quux"}]
    lexicon = ("--replace-unk", "lexicon", "--lexicon", tmp_path / "lexicon.tsv")
    assert words(*lexicon) == [{"Zorro"}, set(), {"Machin"}]


def test_no_lines_give_no_lines(tiny_model_dir):
    result = translate(tiny_model_dir)
    assert (result.exit_code, result.stdout) == (0, "")


def test_number_format_and_device_are_passed_on(tiny_model_dir, lines, monkeypatch):
    asked = []
    monkeypatch.setattr(
        Translator, "from_pretrained", classmethod(lambda cls, *arguments: asked.append(arguments) or Still())
    )

    class Still:
        def translate(self, lines, **options):
            asked.append(options)
            return []

    options = ["--dtype", "bfloat16", "--device", "cuda:1", "--length-penalty", 0, "--batch-size", 9]
    assert translate(tiny_model_dir, *options).exit_code == 0
    (model, device, dtype), search = asked
    assert (model, device, str(dtype)) == (str(tiny_model_dir), "cuda:1", "torch.bfloat16")
    assert (search["num_beams"], search["length_penalty"], search["batch_size"]) == (3, 0.0, 9)
    assert (search["scores"], search["progress"], search["paper_decoding"]) == (False, False, False)
    assert translate(tiny_model_dir, "--paper-decoding").exit_code == 0
    assert (asked[-1]["paper_decoding"], asked[-1]["length_penalty"]) == (True, None)


@pytest.mark.parametrize(
    "options, text, message",
    [
        ([], b"fine\nb\xe9d\n", "standard input, line 2: byte 0xe9"),
        (["--input", "no-such-file"], b"", "no-such-file"),
        (["--n-best", "4"], b"a\n", "n-best is 4 but the beam only 3"),
        (["--n-best", "2", "--paper-decoding"], b"a\n", "gives one translation of a line, not 2: leave n-best out"),
        (["--length-penalty", "1", "--paper-decoding"], b"a\n", "leave the length penalty of 1 out"),
        (["--device", "toaster"], b"a\n", "device 'toaster' is not available"),
        (["--replace-unk", "lexicon"], b"a\n", "--replace-unk lexicon and --lexicon FILE go together"),
        (["--replace-unk", "copy", "--lexicon", "x"], b"a\n", "--replace-unk lexicon and --lexicon FILE go together"),
        (["--replace-unk", "lexicon", "--lexicon", "no-such-file"], b"a\n", "no-such-file: cannot be read"),
        (["--output", "no-such-folder/out.txt"], b"a\n", "no-such-folder/out.txt: cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tiny_model_dir, tmp_path, monkeypatch, options, text, message):
    monkeypatch.chdir(tmp_path)
    result = translate(tiny_model_dir, *options, text=text)
    assert result.exit_code == 2
    assert result.stderr.startswith("rnnsearch: error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


def test_unknown_model(tmp_path):
    result = translate(tmp_path, text=b"a\n")
    assert result.exit_code == 2
    assert f"error: {tmp_path}: no model can be loaded" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_failure_leaves_the_old_output(tiny_model_dir, tmp_path, monkeypatch):
    output = tmp_path / "out.txt"
    output.write_text("old\n", encoding="utf-8")

    def fail(*arguments, **options):
        raise RuntimeError("out of memory")

    monkeypatch.setattr(Translator, "translate", fail)
    assert isinstance(translate(tiny_model_dir, "--output", output, text=b"a\n").exception, RuntimeError)
    assert output.read_text(encoding="utf-8") == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


def test_links_and_devices_are_written_through(tiny_model_dir, tmp_path, words):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old\n", encoding="utf-8")
    link.symlink_to(target)
    assert translate(tiny_model_dir, "--output", link, text=words[0].encode()).exit_code == 0
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8") != "old\n"
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert translate(tiny_model_dir, "--output", fifo, text=words[0].encode()).exit_code == 0
        assert os.read(reader, 1000).endswith(b"\n")
        assert fifo.is_fifo()
    finally:
        os.close(reader)


def test_as_a_process_in_a_c_locale(tiny_model_dir, lines, expected):
    environment = os.environ | {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONWARNINGS": "default::EncodingWarning"}
    command = ["translate", "--model", str(tiny_model_dir), "--beam", "3"]
    result = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-c", "from rnnsearch.cli import main; main()", *command],
        input="\n".join(lines).encode(),
        capture_output=True,
        env=environment,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr.decode()
    assert result.stdout.decode() == "".join(hypotheses[0].text + "\n" for hypotheses in expected)
    warned = [line for line in result.stderr.decode().splitlines() if "EncodingWarning" in line]
    assert not [line for line in warned if line.startswith(str(Path(rnnsearch.__file__).parent))]
