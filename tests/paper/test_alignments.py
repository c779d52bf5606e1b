"""The alignment study, on a few sentences made up for it, with tiny models."""

import json
import runpy
import shlex
from pathlib import Path

import pytest
import torch
from typer.testing import CliRunner

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchTokenizer, cli

PAPER = Path(__file__).parents[2] / "examples" / "paper"
ENGLISH = ["the dog 's old house .", "he does not see the man ."]
FRENCH = ["la vieille maison de le chien .", "il ne voit pas le homme ."]
GOLD = ["0-0 1-2 2-3-P 5-1 5-0-P 6-5", "0-0 1-2-P 2-3 3-3-P 2-1 2-2-P 4-4 5-5"]  # French first
TRAINING = ("The well-known dog isn't red.", "Le chien bien-connu n’est pas rouge, a-t-il dit.")


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """A folder with the gold sets and two training pairs, one of them of 51 words."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hansards").mkdir()
    (tmp_path / "golden").mkdir()
    for name in ("test", "trial"):
        for side, lines in (("e", ENGLISH), ("f", FRENCH)):
            text = "".join(f"<s snum={n:04}> {line}  </s>\n" for n, line in enumerate(lines, 1))
            (tmp_path / "hansards" / f"{name}.{side}").write_text(text, encoding="utf-8")
        (tmp_path / "hansards" / f"{name}.align").write_text("".join(f"{line}\n" for line in GOLD), encoding="utf-8")
    record = {
        "src_words": ["the", "order", "-", "paper"],
        "tgt_words": ["l", "'", "ordre"],
        "alignment": [[0, 0], [1, 2]],
    }
    (tmp_path / "golden" / "fr_golden.jsonl").write_text(json.dumps(record) + "\n", encoding="utf-8")
    for language, line in zip(("en", "fr"), TRAINING, strict=True):
        (tmp_path / f"train.{language}").write_text(f"{line}\n{'a ' * 51}\n", encoding="utf-8")
    main = runpy.run_path(str(PAPER / "alignment_text.py"))["main"]
    main((Path("train.en"), Path("train.fr")), Path("hansards"), Path("golden"), Path("text"))
    return tmp_path


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_text(data):
    text = data / "text"
    assert {path.name for path in text.iterdir()} == {
        "test.en", "test.fr", "test.pairs", "trial.en", "trial.fr", "golden100.en", "golden100.fr", "golden100.pairs",
    }  # fmt: skip
    assert lines_of(text / "trial.fr") == ["la vieille maison de le chien .", "il ne voit pas l' homme ."]
    assert lines_of(text / "test.pairs") == [
        "the dog 's old house . ||| la vieille maison de le chien .",
        "he does not see the man . ||| il ne voit pas l' homme .",
        "the well - known dog isn 't red . ||| le chien bien - connu n' est pas rouge , a - t - il dit .",
    ]
    assert lines_of(text / "golden100.pairs") == [
        "the order - paper ||| l ' ordre",
        "the well - known dog isn 't red . ||| le chien bien - connu n ' est pas rouge , a - t - il dit .",
    ]


def test_spelling_before_vowels():
    elided = runpy.run_path(str(PAPER / "alignment_text.py"))["elided"]
    given = "ce est le ordre de la hausse , se il ne y a que elle , ce homme et le yaourt"
    assert " ".join(elided(given.split())) == (
        "c' est l' ordre de la hausse , s' il n' y a qu' elle , ce homme et le yaourt"
    )


def save_model(folder: str, languages: tuple[str, str], texts: tuple[list[str], list[str]]) -> None:
    """Random weights, large enough for alignments far from even."""
    source_lang, target_lang = languages
    tokenizer = RNNsearchTokenizer.train(*texts, kind="word", source_lang=source_lang, target_lang=target_lang)
    torch.manual_seed(5)
    model = RNNsearchForConditionalGeneration(
        RNNsearchConfig(
            src_vocab_size=tokenizer.src_vocab_size,
            vocab_size=tokenizer.target_vocab_size,
            embedding_size=5,
            hidden_size=6,
            alignment_size=7,
            maxout_size=3,
        )
    )
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    record = {
        "trainer_state": {"global_step": 3000, "epoch": 1.5},
        "all_results": {"train_runtime": 90.0, "eval_loss": 2.5},
    }
    for name, content in record.items():
        Path(folder, f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def report(data) -> dict:
    """Of a model of each direction, and of eflomal, whose third line is of the training text."""
    save_model("there", ("en", "fr"), (ENGLISH, FRENCH))
    save_model("back", ("fr", "en"), (FRENCH, ENGLISH))
    links = {
        "test.forward": "0-0 1-4 4-1 5-6\n0-0 1-2 2-1 5-4\n0-0\n",
        "test.reverse": "0-0 4-1 3-1 5-6\n0-0 3-1 5-4\n\n",
        "golden100.forward": "0-0 1-2 3-2\n0-0\n",
        "golden100.reverse": "1-2\n\n",
    }
    for name, lines in links.items():
        (data / "text" / name).write_text(lines, encoding="utf-8")
    (data / "results").mkdir()
    main = runpy.run_path(str(PAPER / "alignments.py"))["main"]
    main(*map(Path, ("text", "hansards", "golden", "results")), [Path("there")], [Path("back")], "2.0.0")
    return json.loads((data / "results" / "alignments.json").read_text(encoding="utf-8"))


@pytest.fixture
def rows(report) -> list[dict]:
    return report["rows"]


def named(rows: list[dict], **cells: str) -> list[dict]:
    return [row for row in rows if cells.items() <= row.items()]


def test_every_row_is_there(rows):
    found = [tuple(row[name] for name in ("set", "system", "direction", "method")) for row in rows]
    assert len(found) == len(set(found)) == 16
    for name in ("Hansards", "Europarl"):
        assert [
            (system, direction, method.split()[0]) for gold, system, direction, method in found if gold == name
        ] == [
            ("eflomal 2.0.0", "en-fr", "forward"),
            ("eflomal 2.0.0", "fr-en", "reverse"),
            ("eflomal 2.0.0", "both", "intersection"),
            ("RNNsearch, paper order", "en-fr", "argmax"),
            ("RNNsearch, paper order", "en-fr", "threshold"),
            ("RNNsearch, paper order", "fr-en", "argmax"),
            ("RNNsearch, paper order", "fr-en", "threshold"),
            ("RNNsearch, paper order", "both", "intersection"),
        ]


def test_trainings(report):
    recorded = {"updates": 3000, "epochs": 1.5, "minutes": 1.5, "validation loss": 2.5}
    assert report["trainings"] == [
        {"system": "RNNsearch, paper order", "direction": direction, **recorded} for direction in ("en-fr", "fr-en")
    ]


def test_rows_of_eflomal(rows):
    """Gold, English first: sure 0-0 2-1 1-5 5-6 and 0-0 3-2 1-2 4-4 5-5; possible 3-2 0-5 and 2-1 3-3 2-2."""
    forward, reverse, both = named(rows, set="Hansards", system="eflomal 2.0.0")
    # Of eight links 0-0 5-6 and 0-0 1-2 are sure, and 2-1 is possible.
    assert (forward["precision"], forward["recall"]) == (5 / 8, 4 / 9)
    assert forward["error_rate"] == pytest.approx(1 - (4 + 5) / (8 + 9))
    assert (both["links"], both["sentences"]) == (5, 2)  # 0-0 4-1 5-6 and 0-0 5-4
    assert both["error_rate"] == pytest.approx(1 - (3 + 3) / (5 + 9))
    forward, reverse, both = named(rows, set="Europarl", system="eflomal 2.0.0")
    assert [row["links"] for row in (forward, reverse, both)] == [3, 1, 1]
    assert forward["error_rate"] == pytest.approx(1 - (2 + 2) / (3 + 2))


def test_commands_give_the_rows(rows, data, monkeypatch):
    """Each of a model, typed where the models and the words are, and scored by the command for that."""
    for path in (data / "text").iterdir():
        path.rename(data / path.name)
    gold = {"Hansards": ("hansards/test.align", True), "Europarl": ("golden/fr_golden.jsonl", False)}
    distinct = set()
    for row in rows:
        if row["system"].startswith("eflomal"):
            continue
        program, *words = shlex.split(row["command"])
        assert program == "rnnsearch"
        assert CliRunner().invoke(cli.app, [*words, "--output", "links"]).exit_code == 0
        path, french_first = gold[row["set"]]
        # Where French is the source, the indices of a link stand in the order of the Hansards.
        turn = ["--gold-target-first"] if french_first == (row["direction"] != "fr-en") else []
        scored = ["evaluate-alignment", "--links", "links", "--gold", path, *turn, "--json", "error.json"]
        assert CliRunner().invoke(cli.app, scored).exit_code == 0
        error = json.loads((data / "error.json").read_text(encoding="utf-8"))
        assert error == {name: row[name] for name in error}
        distinct.add((error["precision"], error["recall"]))
    assert len(distinct) > 4


def test_the_threshold_is_the_best_on_the_trial_sentences(rows, data):
    """The trial sentences of this test are those of its test set."""
    for direction in ("en-fr", "fr-en"):
        [row] = [one for one in named(rows, set="Hansards", direction=direction) if "threshold" in one["method"]]
        source, target = direction.split("-")
        model = {"en-fr": "there", "fr-en": "back"}[direction]
        for threshold in ("0.1", "0.3", "0.5"):
            words = ["align", "--model", model, "--src", f"text/test.{source}", "--tgt", f"text/test.{target}"]
            result = CliRunner().invoke(
                cli.app, [*words, "--tokenized", "--threshold", threshold, "--output", "links"]
            )
            assert result.exit_code == 0
            turn = ["--gold-target-first"] if direction == "en-fr" else []
            scored = ["evaluate-alignment", "--links", "links", "--gold", "hansards/test.align", *turn, "--json", "-"]
            error = json.loads(CliRunner().invoke(cli.app, scored).stdout)
            assert row["error_rate"] <= error["error_rate"]
