"""`rnnsearch train` as a person meets it: one clear line for each fault, nothing written, and no need of a network."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rnnsearch.cli import app

SIZES = ["--embedding_size", "8", "--hidden_size", "8", "--alignment_size", "8", "--maxout_size", "8"]
PAIRS = [("the cat", "le chat"), ("the café is old", "le café est vieux"), ("猫 sleeps", "猫 dort"), ("old", "vieux")]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A working folder with good and bad text, and configurations."""
    monkeypatch.chdir(tmp_path)
    for name, side in (("good.en", 0), ("good.fr", 1)):
        Path(name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS), encoding="utf-8")
    Path("short.fr").write_text("le chat\n", encoding="utf-8")
    Path("latin.fr").write_bytes("le chat\nle café\n".encode("latin-1"))
    Path("nul.fr").write_bytes(b"le chat\nle \0caf\n")
    Path("empty.fr").touch()
    Path("wide.tsv").write_text("a\tb\na\tb\tc\n", encoding="utf-8")
    Path("other.jsonl").write_text('{"en": "a", "fr": "b"}\n{"en": "a", "de": "b"}\n', encoding="utf-8")
    Path("list.json").write_text("[1]", encoding="utf-8")
    Path("broken.json").write_text('{"hidden_size": 3', encoding="utf-8")
    Path("unknown.json").write_text('{"hiden_size": 3}', encoding="utf-8")
    Path("null.json").write_text('{"hidden_size": null}', encoding="utf-8")
    Path("text.json").write_text('{"hidden_size": "big"}', encoding="utf-8")
    Path("folder").mkdir()
    Path("trained").mkdir()
    Path("trained/config.json").write_text('{"model_type": "rnnsearch"}', encoding="utf-8")
    return tmp_path


def train(*options: str):
    return CliRunner().invoke(app, ["train", *options])


def content(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


GOOD = ["--train", "good.en", "good.fr", *SIZES]


@pytest.mark.parametrize(
    "options, message",
    [
        ([], "no training text: give --train with two text files, one file of pairs or a data set"),
        (["missing.json"], "missing.json: cannot be read: No such file or directory"),
        (["list.json"], 'list.json: must hold a JSON object of options, such as {"hidden_size": 256}'),
        (["broken.json"], "broken.json: not a JSON file of options: Expecting ',' delimiter: line 1 column 18 "
         "(char 17)"),
        (["unknown.json"], "unknown.json: there is no option --hiden_size; did you mean --hidden_size?"),
        (["null.json"], "null.json: hidden_size is null; leave it out for its default"),
        (["text.json"], "text.json: --hidden_size: invalid int value: 'big'"),
        (["--Hidden-sizes", "3"], "there is no option --Hidden-sizes; did you mean --hidden_size?"),
        (["--xyzzy=3"], "there is no option --xyzzy; rnnsearch train --help lists all"),
        (["--resume", "yes", "more"], "'more' belongs to no option"),
        (["--train"], "--train: expected at least one argument"),
        (["--bf16", "perhaps"], "--bf16: Truthy value expected: got perhaps but expected one of yes/no, true/false, "
         "t/f, y/n, 1/0 (case insensitive)."),
        (["--tokenizer_kind", "char"], "--tokenizer_kind: invalid choice: 'char' (choose from 'bpe', 'word')"),
        ([*GOOD, "--hidden_size", "-1"], "`hidden_size` is -1: give a size of 1 or more"),
        ([*GOOD, "--tie_word_embeddings", "--maxout_size", "9"], "`tie_word_embeddings` needs `embedding_size` (8) "
         "equal to `maxout_size` (9): the output matrix and the target embedding are one"),
        ([*GOOD, "--vocab_size", "10"], "A vocabulary of kind 'bpe' has at least 260 entries, not 10."),
        ([*GOOD, "--max_length", "0"], "every training pair has more than 0 tokens: raise --max_length"),
        ([*GOOD, "--early_stopping_patience", "2"], "--early_stopping_patience needs --validation text"),
        ([*GOOD, "--pretrained", "folder"], "folder: no model can be loaded: config.json is missing"),
        ([*GOOD, "--tokenizer", "folder"], "folder: no tokenizer can be loaded: folder does not appear to have a file "
         "named tokenizer.json. Checkout 'https://huggingface.co/folder/tree/main' for available files."),
        ([*GOOD, "--output_dir", "trained"], "trained: already holds a model; add --resume to go on, or choose "
         "another --output_dir"),
        ([*GOOD, "--output_dir", "good.en"], "good.en: is a file; --output_dir names a folder"),
        ([*GOOD, "--output_dir", "good.en/model"], "[Errno 20] Not a directory: 'good.en/model'"),
        ([*GOOD, "--resume"], "model: holds no checkpoint to go on from; leave --resume out to start anew"),
        (["--train", "good.en", "short.fr"], "good.en has 4 lines but short.fr has 1; line n of one must translate "
         "line n of the other"),
        (["--train", "good.en", "latin.fr"], "latin.fr, line 2: byte 0xe9 at position 7 is not UTF-8; convert the "
         "file to UTF-8"),
        (["--train", "good.en", "nul.fr"], "nul.fr, line 2: holds a NUL character; this is not clean text"),
        (["--train", "good.en", "empty.fr"], "empty.fr: is empty"),
        (["--train", "wide.tsv"], "wide.tsv, line 2: has 3 columns; a line is one source and one target"),
        (["--train", "other.jsonl"], "other.jsonl, line 2: no 'fr'; there are: en, de"),
        ([*GOOD, "--validation", "good.en", "latin.fr"], "latin.fr, line 2: byte 0xe9 at position 7 is not UTF-8; "
         "convert the file to UTF-8"),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_and_nothing_is_written(here, options, message):
    before = content(here)
    result = train("--output_dir", "model", *options) if not options or options[0][0] == "-" else train(*options)
    assert result.exit_code == 2, result.exception
    assert result.stderr.splitlines()[-1] == f"rnnsearch: error: {message}"
    assert result.stderr.count("error") == 1
    assert result.stdout == ""
    assert content(here) == before


def test_training_without_a_network_in_any_locale(here):
    """Only UTF-8 is read and written whatever the machine's encoding, and no socket is opened to score or save."""
    guard = (
        "import socket, sys\n"
        "def refuse(*_):\n    raise AssertionError('a socket was opened')\n"
        "socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse\n"
        "from rnnsearch.cli import app\n"
        "app(sys.argv[1:], prog_name='rnnsearch', standalone_mode=False)\n"
        "print('evaluate' in sys.modules)\n"
    )
    options = [*GOOD, "--validation", "good.en", "good.fr", "--tokenizer_kind", "word", "--output_dir", "modèle"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "HF_"))}
    environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONWARNDEFAULTENCODING": "1"}
    result = subprocess.run(
        [sys.executable, "-c", guard, "train", *options, "--num_train_epochs", "2"],
        capture_output=True,
        env=environment | {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        timeout=120,
    )
    told = result.stderr.decode("utf-8", "replace")
    assert result.returncode == 0, told
    assert result.stdout.decode().splitlines()[-1] == "False"
    assert "EncodingWarning" not in "".join(line for line in told.splitlines() if "rnnsearch" in line)
    # What is on standard error is what a person can use: no warnings, and no bars, as no terminal is there.
    assert [line for line in told.splitlines() if "EncodingWarning" not in line and line[0] != " "] == [
        "training: 4 pairs kept; 0 dropped",
        "validation: 4 pairs kept; 0 dropped",
        "tokenizer: 11 source and 11 target entries",
        "2,683 parameters; device cpu, threads 1",
        r"model written to mod\udcc3\udca8le",  # all that this locale can print of "modèle"
    ]
    vocabulary = json.loads((here / "modèle" / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    assert {"café", "猫"} <= vocabulary.keys()


def test_help_is_long_and_grouped():
    result = train("--help")
    assert result.exit_code == 0
    heads = [line for line in result.stdout.splitlines() if line and line[0] != " " and line.endswith(":")]
    assert heads == ["Data:", "Model:", "Training:", "Training, from transformers.Seq2SeqTrainingArguments:"]
    assert train("-h").exit_code == 0


def test_an_interrupt_says_how_to_go_on(here, monkeypatch):
    def interrupted(data, model, args):
        raise KeyboardInterrupt

    monkeypatch.setattr("rnnsearch.training.train.train", interrupted)
    result = train(*GOOD, "--output_dir", "model")
    assert (result.exit_code, result.stderr) == (130, "rnnsearch: interrupted; no checkpoint was written yet\n")
    checkpoint = here / "model" / "checkpoint-20"
    checkpoint.mkdir(parents=True)
    (checkpoint / "trainer_state.json").write_text("{}")
    result = train(*GOOD, "--output_dir", "model")
    assert (result.exit_code, result.stderr) == (
        130,
        f"rnnsearch: interrupted; add --resume to go on from {Path('model', 'checkpoint-20')}\n",
    )
