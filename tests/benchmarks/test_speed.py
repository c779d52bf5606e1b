"""The one command measures, compares and writes down where its figures come from. Nothing here is about speed."""

import math
import statistics
import subprocess
import sys
from dataclasses import asdict, replace

import pytest

from rnnsearch.version import __version__

ORIGIN = {"command", "commit", "tests", "started", "machine", "seed", "rounds", "sizes", "skipped", "rows"}
FIELDS = {
    "size", "threads", "purpose", "system", "precision", "task", "maxout", "tokens", "cpu_seconds", "wall_seconds",
    "clock", "seconds", "tokens_per_second", "peak_mb", "base_mb", "parameters", "versions", "keeps_freed_memory",
    "speed_ratios", "peak_ratios",
}  # fmt: skip


def test_the_command(script, tiny, tiny_file, module):
    """In processes of their own."""
    options = ("--threads", "1", "--precisions", "float32", "--purposes", "training", "--rounds", "3", "--steps", "2")
    printed, record = script("speed.py", "--sizes", tiny_file, *options)
    assert record.keys() == ORIGIN
    assert record["command"].startswith("python benchmarks/speed.py --sizes tiny.json --threads 1")
    assert record["machine"]["cpu"] and record["machine"]["cores"] >= 1
    [size], training_flop = record["sizes"], module("sizes").training_flop(tiny)
    assert (size["name"], size["training_flop"]) == ("tiny", training_flop)

    step, product = record["rows"]
    assert step.keys() == FIELDS | {"flop", "loss", "share_of_product_rate"}
    assert (step["system"], step["task"], step["maxout"], step["threads"]) == ("rnnsearch", "training", 6, 1)
    assert step["versions"]["rnnsearch"] == __version__ and "torch" in step["versions"]
    assert step["tokens"] == 2 * 3 * 8 and step["flop"] == 2 * training_flop
    assert step["loss"] == pytest.approx(math.log(23), abs=0.1)  # a model that knows nothing
    assert len(step["cpu_seconds"]) == len(step["wall_seconds"]) == 3
    assert step["seconds"] == statistics.median(step["cpu_seconds"])
    assert step["tokens_per_second"] == step["tokens"] / step["seconds"]
    assert step["peak_mb"] > step["base_mb"] > 0
    assert step["keeps_freed_memory"] is sys.platform.startswith("linux")
    assert product["task"] == "3x6x18" and product["flop"] % (2 * 3 * 6 * 18) == 0
    rate = product["flop"] / product["seconds"]
    assert step["share_of_product_rate"] == pytest.approx(step["flop"] / step["seconds"] / rate)
    assert "tiny, threads: 1; target tokens per CPU second, median of 3 rounds" in printed


def test_all_that_is_measured(here, command, tiny_file):
    options = ("--threads", "1", "--rounds", "1", "--peers", "joeynmt")
    printed, record = command("speed", "--sizes", tiny_file, *options)
    reason = "ModuleNotFoundError: No module named 'joeynmt'"
    assert [each["reason"] for each in record["skipped"]] == [reason] * 4
    assert f"skipped: joeynmt, bfloat16, decoding: {reason}" in printed
    for precision in ("float32", "bfloat16"):
        rows = [row for row in record["rows"] if row["precision"] == precision and row["system"] == "rnnsearch"]
        assert all(row.keys() >= FIELDS for row in rows)
        assert {row["task"]: row["tokens"] for row in rows} == {
            "training": 3 * 3 * 8,
            "greedy, batch 1": 8 * 30,
            "beam 5, batch 1": 8 * 30,
            "greedy, batch 64": 64 * 30,
            "beam 5, batch 64": 64 * 30,
        }


def test_marian(module, tiny):
    """In either precision it writes translations of the length that was asked for."""
    workload, marian = module("workload"), module("peers.marian_worker").Marian
    for precision in ("float32", "bfloat16"):
        ready, tasks = workload.open_system(marian, asdict(tiny), "decoding", precision, 1, 0)
        assert tasks["decoding"](beams=2, batch=2, sentences=4, words=2)["tokens"] == 8
        assert ready["keeps_freed_memory"] is False and "transformers" in ready["versions"]


def test_both_read_outs_are_measured(module, tiny):
    speed = module("speed")
    options = speed.parser().parse_args(["--peers", "joeynmt", "--joeynmt-python", "its-python"])
    found = speed.candidates(replace(tiny, maxout=3), options)
    assert [(each.system, each.size.maxout, each.precision) for each in found] == [
        *(("rnnsearch", width, precision) for width in (3, 6) for precision in ("float32", "bfloat16")),
        *(("joeynmt", 3, precision) for precision in ("float32", "bfloat16")),
    ]
    assert found[-1].python == "its-python"


def test_more_threads_are_timed_on_the_wall(module):
    answers = [{"cpu_seconds": cpu, "wall_seconds": wall} for cpu, wall in ((2.0, 1.5), (4.0, 1.25), (3.0, 1.75))]
    seconds = module("measuring").seconds
    assert (seconds(answers, 1)["seconds"], seconds(answers, 1)["clock"]) == (3.0, "cpu_seconds")
    assert (seconds(answers, 2)["seconds"], seconds(answers, 2)["clock"]) == (1.5, "wall_seconds")


def test_rounds_go_round(module):
    asked = []

    class Noting:
        def __init__(self, name):
            self.name = name

        def ask(self, task):
            asked.append(self.name + task)
            return {"number": len(asked)}

    answers = module("measuring").play([(Noting(name), {"task": "1"}) for name in "ab"], 3)
    assert asked == ["a1", "b1"] * 3
    assert answers == [[{"number": n} for n in (1, 3, 5)], [{"number": n} for n in (2, 4, 6)]]


def test_translations_of_another_length_are_refused(module, tiny):
    workload, ours = module("workload"), module("ours")

    class Brief(ours.RNNsearch):
        def translate(self, sources, words, beams):
            return super().translate(sources, words, beams)[:, :-1]

    _, tasks = workload.open_system(Brief, asdict(tiny), "decoding", "float32", 1, 0)
    with pytest.raises(ValueError, match=r"wrote \{\(2, 2\)\}, not \(2, 3\)"):
        tasks["decoding"](beams=1, batch=2, sentences=2, words=3)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--sizes", "s26"], "s26: no such size; give s25, s50, paper or a JSON file"),
        (["--sizes", "wrong.json"], "wrong.json: give one JSON object with name, embedding, hidden, "),
        (["--peers", "fairseq"], "fairseq: give some of joeynmt,marian"),
    ],
)
def test_errors_are_one_line(module, words, line, tmp_path):
    (tmp_path / "wrong.json").write_text('{"name": "wrong"}')
    script = str(module("speed").__file__)
    result = subprocess.run([sys.executable, script, *words], capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert result.returncode == 2
    assert line in result.stderr.splitlines()[-1]
    assert result.stdout == "" and "Traceback" not in result.stderr


def test_a_red_test_stops_the_measurement(module, monkeypatch, tmp_path):
    record = module("record")
    (tmp_path / "test_red.py").write_text("def test_red():\n    assert 1 == 2\n")
    (tmp_path / "test_green.py").write_text("def test_green():\n    pass\n")
    monkeypatch.setattr(record, "ROOT", tmp_path)
    monkeypatch.setattr(record, "TESTS", ["test_green.py"])
    assert record.origin(1, tested=True)["tests"].startswith("1 passed")
    monkeypatch.setattr(record, "TESTS", ["test_green.py", "test_red.py"])
    with pytest.raises(ValueError, match=r"the tests of the model fail \(1 failed, 1 passed"):
        record.origin(1, tested=True)


def test_the_record_names_no_folder_of_the_machine(module, monkeypatch):
    record = module("record")
    python = "/opt/joeynmt/bin/python"
    monkeypatch.setattr(sys, "argv", ["speed.py", "--joeynmt-python", python, "--json", "results/x.json"])
    assert record.origin(1, tested=False)["command"] == "python speed.py --joeynmt-python python --json results/x.json"
