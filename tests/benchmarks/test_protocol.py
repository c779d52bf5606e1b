"""A worker answers line by line, and says why it died."""

import sys
import time

import pytest

WORKER = """
import sys
sys.path.insert(0, {folder!r})
from protocol import serve, stopwatch

def open_worker(setup):
    print("what a peer prints")
    if setup["fails"]:
        raise ValueError("no such size")
    def count(upto):
        answer = {{"sum": sum(range(upto + 1))}}
        with stopwatch(answer):
            pass
        return answer
    return {{"threads": setup["threads"]}}, {{"count": count}}

serve(open_worker)
"""


@pytest.fixture
def start(module, tmp_path, monkeypatch):
    """Starts a worker that sums up numbers."""
    protocol = module("protocol")
    (tmp_path / "summing.py").write_text(WORKER.format(folder=str(protocol.HERE)))
    monkeypatch.setattr(protocol, "HERE", tmp_path)
    return lambda fails=False, python=sys.executable: protocol.Worker(
        python, "summing", {"threads": 1, "fails": fails}
    )


def test_answers(start):
    worker = start()
    assert worker.ready == {"threads": 1}
    answer = worker.ask("count", upto=4)
    assert answer.pop("sum") == 10
    assert answer.keys() == {"cpu_seconds", "wall_seconds"} and min(answer.values()) >= 0
    assert worker.ask("count", upto=5)["sum"] == 15
    worker.close()


def test_a_worker_says_why_it_cannot_start(start, module):
    with pytest.raises(module("protocol").WorkerError, match=r"^ValueError: no such size$"):
        start(fails=True)
    with pytest.raises(module("protocol").WorkerError, match=r"no-python: No such file"):
        start(python="no-python")


def test_a_worker_says_why_it_died(start, module):
    worker = start()
    for _ in range(2):  # and says it again where it is asked again
        with pytest.raises(module("protocol").WorkerError, match="KeyError: 'multiply'"):
            worker.ask("multiply")
    worker.close()


def test_the_stopwatch_counts_the_time_of_all_threads(module):
    """Of a sleep the clock counts all, the core nothing."""
    record = {}
    with module("protocol").stopwatch(record):
        time.sleep(0.05)
    assert record["wall_seconds"] >= 0.05 > record["cpu_seconds"]


def test_memory(module):
    """A block of 64 MB is seen at its peak, also when it is gone."""
    memory = module("protocol").memory_mb
    before = memory("VmRSS")
    block = bytearray(b"x" * 64_000_000)
    held = memory("VmRSS")
    del block
    assert before + 60 < held < before + 140
    assert memory("VmHWM") >= held
