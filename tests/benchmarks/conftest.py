"""The benchmarks are scripts beside the package: their modules, and a size at which they take no time."""

import importlib
import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def module(monkeypatch):
    """Imports a module of `benchmarks/` by its name."""
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module


@pytest.fixture
def tiny(module):
    """No two sizes agree but maxout and hidden layer, so that there is one read-out to measure."""
    return module("sizes").Size("tiny", 5, 6, 7, 6, 23, 3, 4, 8)


@pytest.fixture
def tiny_file(tiny, tmp_path) -> Path:
    path = tmp_path / "tiny.json"
    path.write_text(json.dumps(asdict(tiny)))
    return path


@pytest.fixture
def script(tmp_path):
    """Runs a command of `benchmarks/` as its user does, and returns what it printed and the JSON that it wrote."""

    def run(name: str, *words) -> tuple[str, dict]:
        path = tmp_path / "out.json"
        command = [sys.executable, str(BENCHMARKS / name), *map(str, words), "--untested", "--json", str(path)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout, json.loads(path.read_text(encoding="utf-8"))

    return run


@pytest.fixture
def here(module, monkeypatch):
    """Workers of this process instead of processes of their own, which take seconds to start; JoeyNMT is missing."""
    protocol, workload = module("protocol"), module("workload")
    monkeypatch.setattr(workload, "_keep_freed_memory", lambda: False)

    class Here:
        def __init__(self, python, name, setup):
            if name == "peers.joeynmt_worker":
                raise protocol.WorkerError("ModuleNotFoundError: No module named 'joeynmt'")
            if name == "ours":
                opened = workload.open_system(module("ours").RNNsearch, **setup)
            elif name == "peers.marian_worker":
                opened = workload.open_system(module("peers.marian_worker").Marian, **setup)
            else:
                opened = module(name).open_worker(**setup)
            self.ready, self.tasks = opened

        def ask(self, task, **arguments):
            return self.tasks[task](**arguments)

        def close(self):
            pass

    for name in ("measuring", "speed", "translate_file", "exported"):
        monkeypatch.setattr(module(name), "Worker", Here)


@pytest.fixture
def command(module, monkeypatch, capsys, tmp_path):
    """Runs a command of `benchmarks/` in this process, and returns what it printed and the JSON that it wrote."""

    def run(name: str, *words) -> tuple[str, dict]:
        path = tmp_path / "out.json"
        monkeypatch.setattr(sys, "argv", [f"{name}.py", *map(str, words), "--untested", "--json", str(path)])
        module(name).main()
        return capsys.readouterr().out, json.loads(path.read_text(encoding="utf-8"))

    return run
