"""The command and the plain loop translate the same text."""

import pytest


@pytest.mark.slow
def test_both_ways(here, command, tiny_file):
    printed, record = command("translate_file", "--size", tiny_file, "--lines", "5", "--beam", "2", "--threads", "1")
    assert (record["sentences"], record["beam"]) == (5, 2)
    started, translated, loop = record["rows"]
    assert started["what"] == "start-up" and 0 < started["cpu_seconds"] < translated["cpu_seconds"] + 5
    assert translated["words"] > 0 and loop["words"] > 0
    assert translated["sentences_per_cpu_second"] == pytest.approx(5 / translated["cpu_seconds"])
    assert "| rnnsearch translate |" in printed


def test_made_up_text(module, tiny, tmp_path):
    script = module("translate_file")
    words = script.words(9996)
    assert len(set(words)) == 9996
    script.make_text(tiny, tmp_path / "text", 50, seed=3)
    lines = (tmp_path / "text").read_text().splitlines()
    assert len(lines) == 50 and all(5 <= len(line.split()) <= 45 for line in lines)
    assert {word for line in lines for word in line.split()} == set(script.words(19))
    script.make_text(tiny, tmp_path / "again", 50, seed=3)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "text").read_bytes()
