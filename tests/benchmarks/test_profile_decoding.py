"""The parts of a step are those of a step."""

import time

import pytest


@pytest.fixture(autouse=True)
def short_translations(module, monkeypatch):
    monkeypatch.setattr(module("profile_decoding"), "WORDS", 3)


def work() -> None:
    """20 milliseconds of Python."""
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass


def test_parts(here, command, tiny_file):
    printed, record = command("profile_decoding", "--size", tiny_file, "--rounds", "1")
    assert [row["task"] for row in record["rows"]] == [
        "greedy, batch 1", "beam 5, batch 1", "greedy, batch 64", "beam 5, batch 64"
    ]  # fmt: skip
    for row in record["rows"]:
        assert list(row["milliseconds"]) == [
            "model, operations", "model, Python", "GenerationMixin, operations", "GenerationMixin, Python"
        ]  # fmt: skip
        assert all(value > 0 for value in row["milliseconds"].values())
    assert "| beam 5, batch 64 |" in printed


def test_time_goes_where_it_is_spent(module, tiny, monkeypatch):
    """A slow model is not slow operations, and a slow search is not a slow model."""
    profile = module("profile_decoding")
    system = module("ours").RNNsearch(tiny)
    system.model.eval()
    sources = [module("workload").random_ids(system, tiny, 1, 4, 0)]
    handle = system.model.lm_head.register_forward_hook(lambda *_: work())
    slow_model = profile.profile_once(system, sources, 1)
    handle.remove()
    prepare = system.model.prepare_inputs_for_generation

    def slowly(*arguments, **options):
        work()
        return prepare(*arguments, **options)

    monkeypatch.setattr(system.model, "prepare_inputs_for_generation", slowly)
    slow_search = profile.profile_once(system, sources, 1)
    for slow, part in ((slow_model, "model, Python"), (slow_search, "GenerationMixin, Python")):
        assert slow[part] > 19
        assert all(slow[name] < 19 for name in slow if name != part)
