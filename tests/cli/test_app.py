"""The command as a whole: its help costs nothing, its errors are one line."""

import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

import rnnsearch
from rnnsearch import cli
from rnnsearch.errors import InputError

HEAVY = ("torch", "transformers", "datasets", "matplotlib", "sacrebleu", "numpy", "gradio")


def run(code: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", timeout=120)


@pytest.mark.parametrize("arguments", [["--help"], ["translate", "--help"], ["evaluate", "--help"], ["--version"]])
def test_help_imports_nothing_heavy(arguments):
    result = run(
        "import sys\n"
        "from rnnsearch.cli import main\n"
        f"sys.argv = ['rnnsearch', *{arguments}]\n"
        "try:\n    main()\n"
        "finally:\n"
        f"    print('loaded:', [name for name in {HEAVY} if name in sys.modules], file=sys.stderr)\n"
    )
    assert result.returncode == 0, result.stderr
    assert "loaded: []" in result.stderr


def test_help_lists_the_commands():
    result = CliRunner().invoke(cli.app, ["--help"])
    assert result.exit_code == 0
    for command in ("tokenizer", "train", "translate", "evaluate", "plot", "push", "demo", "demo-app"):
        assert f"  {command} " in result.stdout


def test_version():
    result = CliRunner().invoke(cli.app, ["--version"])
    assert (result.exit_code, result.stdout) == (0, f"rnnsearch {rnnsearch.__version__}\n")


def test_train_reads_its_options_itself(monkeypatch):
    (train,) = [command for command in cli.app.registered_commands if command.callback.__name__ == "train"]
    assert train.add_help_option is False
    assert train.context_settings == {"allow_extra_args": True, "ignore_unknown_options": True}


@pytest.fixture
def failing(monkeypatch):
    """An app with the commands' group and one command that raises what is given."""

    def make(error: BaseException) -> typer.Typer:
        app = typer.Typer(cls=type(typer.main.get_command(cli.app)), pretty_exceptions_enable=False)

        @app.callback()
        def options() -> None: ...

        @app.command()
        def fail() -> None:
            raise error

        return app

    return make


def test_input_error_is_one_line_and_exit_code_2(failing):
    result = CliRunner().invoke(failing(InputError("a.txt, line 3: is wrong; mend it")), ["fail"])
    assert result.exit_code == 2
    assert result.stderr == "rnnsearch: error: a.txt, line 3: is wrong; mend it\n"
    assert result.stdout == ""


def test_interrupt_is_one_line_and_exit_code_130(failing):
    result = CliRunner().invoke(failing(KeyboardInterrupt()), ["fail"])
    assert (result.exit_code, result.stderr) == (130, "rnnsearch: interrupted\n")


def test_a_fault_of_ours_is_not_hidden(failing):
    assert isinstance(CliRunner().invoke(failing(ValueError("a bug")), ["fail"]).exception, ValueError)


def test_usage_error_is_exit_code_2():
    result = CliRunner().invoke(cli.app, ["translate", "--no-such-option"])
    assert result.exit_code == 2
    assert "--no-such-option" in result.stderr


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("tokenizer", "--train"),
        ("train", "--train"),
        ("translate", "--model"),
        ("align", "--model"),
        ("score", "--model"),
        ("evaluate", "--ref"),
        ("evaluate-alignment", "--links"),
        ("export", "argument"),
        ("plot", "--output"),
        ("push", "--model"),
        ("demo-app", "--model"),
    ],
)
def test_what_is_missing_is_named(command, missing):
    result = CliRunner().invoke(cli.app, [command])
    assert result.exit_code == 2
    assert missing in result.stderr


def test_a_closed_pipe_is_quiet():
    result = run(
        "import os, sys\n"
        "from rnnsearch.cli import main\n"
        "reader, writer = os.pipe()\n"
        "os.close(reader)\n"
        "os.dup2(writer, 1)\n"
        "sys.argv = ['rnnsearch', '--help']\n"
        "main()\n"
    )
    assert "Traceback" not in result.stderr
    assert "Exception ignored" not in result.stderr
