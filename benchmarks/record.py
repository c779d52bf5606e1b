"""What a file of measurements says about where it comes from, and how the commands read and write files."""

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Collection
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from protocol import WorkerError
from rnnsearch.cli.common import written_whole
from rnnsearch.errors import InputError
from sizes import SIZES, Size

ROOT = Path(__file__).resolve().parents[1]
# What must be green before a figure counts: the model against the reference, its steps, and what it generates.
TESTS = [f"tests/modeling/test_{name}.py" for name in ("reference_equality", "recurrence", "generation")]
# Instructions that decide how fast products are, as /proc/cpuinfo names them.
_INSTRUCTIONS = {"avx2", "avx512f", "avx512_bf16", "amx_tile", "amx_bf16"}


def origin(seed: int, tested: bool) -> dict[str, Any]:
    """Command, commit, machine and time of a measurement, and what the tests said before it.

    Raises:
        InputError: the tests are to run, and fail.
    """
    return {
        "command": " ".join(["python", *(shlex.quote(_without_folder(word)) for word in sys.argv)]),
        "commit": _output("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
        "tests": _run_tests() if tested else "not run",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": _machine(),
        "seed": seed,
    }


def _without_folder(word: str) -> str:
    """A path as it is called in the checkout; of one outside, its last part."""
    path = Path(word)
    if path.exists() and path.resolve().is_relative_to(ROOT):
        return str(path.resolve().relative_to(ROOT))
    return path.name if path.is_absolute() else word


def _output(*command: str) -> str:
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # not a checkout, or no git
        return "unknown"


def _run_tests() -> str:
    """The last line of pytest, which must not find the checkout on the import path (-P)."""
    command = [sys.executable, "-P", "-m", "pytest", "--quiet", *TESTS]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    last = (result.stdout.strip() or result.stderr.strip() or "pytest said nothing").splitlines()[-1]
    if result.returncode:
        raise InputError(f"the tests of the model fail ({last}); figures of a model that is wrong do not count")
    return last


def _machine() -> dict[str, Any]:
    entries = [line.partition(":") for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()]
    processor = {name.strip(): value.strip() for name, _, value in entries}
    return {
        "cpu": processor.get("model name", platform.machine()),
        "cores": os.cpu_count(),
        "instructions": sorted(_INSTRUCTIONS & set(processor.get("flags", "").split())),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        "system": platform.platform(),
        "load": os.getloadavg()[0],
    }


def find_size(name: str) -> Size:
    """One of `SIZES`, or the size that a JSON file with the fields of `Size` describes.

    Raises:
        InputError: there is neither such a size nor such a file, or the file holds something else.
    """
    if name in SIZES:
        return SIZES[name]
    try:
        return Size(**json.loads(Path(name).read_text(encoding="utf-8")))
    except OSError as error:
        raise InputError(f"{name}: no such size; give {', '.join(SIZES)} or a JSON file") from error
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: give one JSON object with {', '.join(f.name for f in fields(Size))}") from error


def comma_list(choices: Collection[str] | None = None) -> Callable[[str], list[str]]:
    """Reads an option such as "s25,s50", whose words must be among the choices."""

    def read(text: str) -> list[str]:
        words = [word for word in text.split(",") if word]
        for word in words:
            if choices is not None and word not in choices:
                raise argparse.ArgumentTypeError(f"{word}: give some of {','.join(choices)}")
        return words

    return read


def add_record_options(parser: argparse.ArgumentParser) -> None:
    """The options of every command that say how its figures are recorded."""
    parser.add_argument("--untested", action="store_true", help="do not run the tests of the model first")
    parser.add_argument("--json", type=Path, help="where the figures are written")


def write(path: Path | None, record: dict[str, Any]) -> None:
    """Write a record as JSON, whole or not at all; None: nowhere."""
    if path is not None:
        with written_whole(path) as stream:
            stream.write(json.dumps(record, indent=1, ensure_ascii=False).encode() + b"\n")


def table(header: list[str], rows: list[list[Any]]) -> str:
    """A Markdown table; numbers from 100 on without decimals, others with three digits, None as a dash."""

    def text(cell: Any) -> str:
        if isinstance(cell, float):
            return f"{cell:.0f}" if cell >= 100 else f"{cell:.3g}"
        return "-" if cell is None else str(cell)

    cells = [header, ["---"] * len(header), *([text(cell) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def run(main: Callable[[], None]) -> None:
    """Run a command; what a person got wrong is one line and exit code 2, a worker that failed one line and 1."""
    try:
        main()
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except WorkerError as error:
        print(f"a worker has failed: {error}", file=sys.stderr)
        sys.exit(1)
