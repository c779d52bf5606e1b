"""The reproduction of table 1 on a text that nothing is learnt from: it trains, goes on, scores and draws."""

import gzip
import importlib.util
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rnnsearch import cli
from rnnsearch.data.grammar import corpus
from rnnsearch.evaluation.scores import paper_bleu

SCRIPT = Path(__file__).parents[2] / "examples" / "paper" / "reproduce.py"
TINY = {"embedding_size": 6, "hidden_size": 8, "alignment_size": 6, "maxout_size": 6, "per_device_train_batch_size": 8}
TINY |= {"vocab_size": 500, "src_vocab_size": 500, "eval_steps": 2, "save_steps": 2, "logging_steps": 1, "bf16": False}
NAMES = ["RNNencdec-30", "RNNsearch-50"]


@pytest.fixture
def data(tmp_path) -> Path:
    for number, (name, size, words) in enumerate(
        [
            ("europarl/train-300k", 300, (3, 12)),
            ("europarl/test", 24, (10, 12)),
            ("europarl/test-bylength", 5, (11, 12)),
        ]
        + [(f"newstest/newstest20{year}", 5, (3, 9)) for year in (12, 13, 14)]
    ):
        pairs = corpus(size, words, number)
        for language, lines in (("en", [pair.source for pair in pairs]), ("fr", [pair.target for pair in pairs])):
            if "bylength" in name:
                lines.append(" ".join(lines))  # of 55 to 60 words
            path = tmp_path / "data" / f"{name}.{language}"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = "".join(f"{line}\n" for line in lines).encode()
            if "train" in name:
                path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(text))
            else:
                path.write_bytes(text)
    systems = tmp_path / "data" / "newstest" / "systems2014"
    systems.mkdir()
    (systems / "uedin-wmt14.fr.gz").write_bytes(gzip.compress(b"La maison est rouge.\n" * 5))
    return tmp_path / "data"


@pytest.fixture
def reproduce(data, tmp_path, monkeypatch):
    """The script with models of a few units, whose commands run in this process."""
    spec = importlib.util.spec_from_file_location("reproduce", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    (tmp_path / "small").mkdir()
    for path in (SCRIPT.parent / "small").glob("*.json"):
        config = json.loads(path.read_text(encoding="utf-8")) | TINY
        (tmp_path / "small" / path.name).write_text(json.dumps(config), encoding="utf-8")

    def run(words: list[str]) -> None:
        result = CliRunner().invoke(cli.app, words)
        assert result.exit_code == 0, f"{words}\n{result.output}\n{result.exception!r}"

    monkeypatch.setattr(script, "HERE", tmp_path)
    monkeypatch.setattr(script, "run", run)

    def go(updates: int) -> dict:
        words = ["--data", data, "--output", tmp_path / "runs", "--results", tmp_path / "results"]
        words += ["--updates", updates, "--adadelta-updates", 4, "--beam", 2, "--models", *NAMES]
        monkeypatch.setattr("sys.argv", ["reproduce.py", *map(str, words)])
        script.main()
        return json.loads((tmp_path / "results" / "paper_small.json").read_text(encoding="utf-8"))

    return go


@pytest.mark.slow
def test_models_are_trained_scored_and_trained_on(reproduce, data, tmp_path):
    first = reproduce(4)
    assert list(first["training"]) == [*NAMES, "RNNsearch-50, Adadelta"]
    for name, training in first["training"].items():
        assert (training["updates"], [point["updates"] for point in training["curve"]]) == (4, [2, 4])
        assert training["best_updates"] in (2, 4)
        # Of sentences of about six tokens, of which nothing is known: log 500 nats each.
        assert all(20 < point["training NLL"] < 60 for point in training["curve"]), name
    assert {test: list(rows) for test, rows in first["tests"].items()} == {
        "Europarl": NAMES,
        "Europarl by length": NAMES,
        "newstest2014": [*NAMES, "Moses (uedin-wmt14)"],
    }
    for name, means in first["by length"].items():
        bins = first["tests"]["Europarl by length"][name]["bleu_by_length"]["all"]
        assert means == {
            f"{low}-{high}": one["bleu"] for (low, high), one in zip(((11, 30), (41, 60)), bins, strict=True)
        }
    references = (data / "newstest" / "newstest2014.fr").read_text(encoding="utf-8").splitlines()
    expected = paper_bleu(["La maison est rouge."] * 5, references, "fr")
    [found] = [
        score
        for score in first["tests"]["newstest2014"]["Moses (uedin-wmt14)"]["scores"]["all"]
        if score["name"] == expected.name
    ]
    assert (found["value"], found["sentences"]) == (pytest.approx(expected.value), 5)
    assert str(tmp_path) not in json.dumps(first)
    assert len(list((tmp_path / "results").glob("paper_small_*.png"))) == 3

    second = reproduce(6)
    for name, training in second["training"].items():
        assert training["curve"][:2] == first["training"][name]["curve"]
        assert [point["updates"] for point in training["curve"]] == ([2, 4, 6] if name in NAMES else [2, 4])
    assert len((tmp_path / "runs" / "rnnsearch_50" / "cpu_seconds.txt").read_text(encoding="utf-8").split()) == 2
