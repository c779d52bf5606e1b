"""Each measured system runs in a process of its own, which answers requests in lines of JSON.

The driver starts `python -m MODULE SETUP` in this folder, SETUP being a JSON object. The worker builds what it
measures and writes one line about it. Then it answers each line {"task": NAME, ...arguments} with one line, and leaves
when its input ends. Whatever else it prints goes to standard error. A worker of another environment needs this file
and what it imports itself; nothing here needs PyTorch.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
Tasks = dict[str, Callable[..., dict[str, Any]]]


class WorkerError(RuntimeError):
    """A worker has ended before its time; the message is the last line that it wrote to standard error."""


class Worker:
    """The driver's end of one worker.

    Args:
        python: interpreter of the environment it runs in.
        module: what to run, such as `peers.joeynmt_worker`.
        setup: for the worker; its `threads` are those of the process.

    Attributes:
        ready: what the worker said about itself.

    Raises:
        WorkerError: it cannot be started.
    """

    def __init__(self, python: str, module: str, setup: dict[str, Any]):
        threads = str(setup["threads"])
        environment = os.environ | {
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            "TOKENIZERS_PARALLELISM": "false",
            "TRANSFORMERS_VERBOSITY": "error",
            "HF_HUB_OFFLINE": "1",
        }
        self._errors = tempfile.TemporaryFile("w+")
        try:
            self._process = subprocess.Popen(
                [python, "-m", module, json.dumps(setup)],
                cwd=HERE,
                env=environment,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        except OSError as error:
            raise WorkerError(f"{python}: {error.strerror}") from error
        self.ready = self._answer()

    def ask(self, task: str, **arguments: Any) -> dict[str, Any]:
        """The answer to one request.

        Raises:
            WorkerError: the worker has failed at it.
        """
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # of a worker that is gone: `_answer` says why
            self._process.stdin.write(json.dumps({"task": task, **arguments}) + "\n")
            self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().split("\n")
        raise WorkerError(next((line.strip() for line in reversed(said) if line.strip()), f"exit code {code}"))

    def close(self) -> None:
        """Let the worker leave, and wait until it has."""
        self._process.communicate()
        self._errors.close()


def serve(open_worker: Callable[[dict[str, Any]], tuple[dict[str, Any], Tasks]]) -> None:
    """The worker's end: open with the setup of the command line, then answer until the input ends.

    Args:
        open_worker: from the setup to what there is to say about the worker, and its tasks by name.
    """
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    ready, tasks = open_worker(json.loads(sys.argv[1]))
    answers.write(json.dumps(ready) + "\n")
    for line in sys.stdin:
        request = json.loads(line)
        answers.write(json.dumps(tasks[request.pop("task")](**request)) + "\n")


@contextmanager
def stopwatch(record: dict[str, Any]) -> Iterator[None]:
    """Write to `record` what the block took: seconds on the clock, and of all threads of this process on a core."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    record["cpu_seconds"] = time.process_time() - cpu
    record["wall_seconds"] = time.perf_counter() - wall


def memory_mb(field: str) -> float:
    """Resident memory of this process in MB (10^6 bytes), as Linux counts it: now "VmRSS", at its peak "VmHWM"."""
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == field:
            return int(value.split()[0]) * 1024 / 1e6
    raise ValueError(f"/proc/self/status has no {field}")
