"""The parts of a training step."""

import time


def test_parts(here, command, tiny_file):
    printed, record = command("profile_training", "--size", tiny_file, "--rounds", "1")
    assert [row["precision"] for row in record["rows"]] == ["float32", "bfloat16"]
    for row in record["rows"]:
        parts = row["milliseconds"]
        assert {"matrix products", "Python"} <= parts.keys()
        assert all(value > 0 for value in parts.values())
    assert "| bfloat16 |" in printed


def test_a_slow_interpreter_is_python(module, tiny, monkeypatch):
    profile = module("profile_training")
    monkeypatch.setattr(module("workload"), "_keep_freed_memory", lambda: False)
    loss = module("ours").RNNsearch.loss

    def slowly(*arguments):
        time.sleep(0.05)
        return loss(*arguments)

    monkeypatch.setattr(module("ours").RNNsearch, "loss", slowly)
    parts = profile.profile_once(tiny, "float32", 1, 0)
    assert parts["Python"] > 50 and parts["matrix products"] < 50
