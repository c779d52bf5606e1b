"""A model whose searches differ, and the app in a process of its own."""

import copy
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rnnsearch import Translator

# Says on standard error which other machines Python asks for.
WATCH = (
    "import sys\n"
    "def watch(event, values):\n"
    "    if event in ('socket.connect', 'socket.getaddrinfo'):\n"
    "        host = values[1][0] if event == 'socket.connect' else values[0]\n"
    "        if host not in (None, '127.0.0.1', 'localhost', '0.0.0.0', '::1'):\n"
    "            print('asked for', host, file=sys.stderr)\n"
    "sys.addaudithook(watch)\n"
)


@pytest.fixture(scope="session")
def translator(tiny_model, tiny_tokenizer, with_large_weights) -> Translator:
    """To which beams, penalties and alignments make a difference."""
    return Translator(with_large_weights(copy.deepcopy(tiny_model)), tiny_tokenizer)


@pytest.fixture(scope="session")
def model_folder(translator, tmp_path_factory) -> Path:
    """Where `translator` is saved."""
    folder = tmp_path_factory.mktemp("model")
    translator.model.save_pretrained(folder)
    translator.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def started(tmp_path_factory) -> Callable:
    """Starts Python code that serves the app, and ends it; gives its address and the file of its standard error."""

    @contextmanager
    def start(code: str, *words: str, **variables: str) -> Iterator[tuple[str, Path]]:
        errors = tmp_path_factory.mktemp("app") / "stderr"
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "NO_PROXY": "127.0.0.1"} | variables
        with (
            errors.open("w") as stream,
            subprocess.Popen(
                [sys.executable, "-c", WATCH + code, *words],
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
                env=environment,
            ) as process,
        ):
            assert process.stdout is not None
            try:
                line = process.stdout.readline()
                found = re.match(r"The app is at (http://127\.0\.0\.1:\d+/) until you press Ctrl\+C$", line)
                assert found, line + errors.read_text()
                yield found[1], errors
            finally:
                process.terminate()

    return start
