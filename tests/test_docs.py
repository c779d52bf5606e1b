"""The documents run: their Python and their commands, in order, on a tiny model (CONTRIBUTING.md states the rules)."""

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
import typer
import yaml
from huggingface_hub import ModelCard
from typer.testing import CliRunner

from rnnsearch import cli
from rnnsearch.data.grammar import corpus
from rnnsearch.export.exporter import FIRST_TORCH
from rnnsearch.version import __version__

ROOT = Path(__file__).parents[1]
RUN = ["README.md", "model_card.md", "examples/space/README.md"]
RUN += [f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md"))]
PAGES = [*RUN, "benchmarks/README.md", "examples/paper/README.md", "CONTRIBUTING.md", "CHANGELOG.md"]
SMALL = (
    "--embedding_size 8 --hidden_size 8 --alignment_size 8 --maxout_size 8 --num_train_epochs 1 "
    "--per_device_train_batch_size 8 --use_cpu"
)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s#]+)")


@dataclass(frozen=True)
class Block:
    kind: str
    line: int
    code: str


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page; `line` is the number of the line above the code."""
    return [Block(found[1], text.count("\n", 0, found.start(2)), found[2]) for found in FENCE.finditer(text)]


def commands(code: str) -> list[str]:
    """The lines of a shell block, continued lines joined, without comments and blank ones."""
    lines = (line.strip() for line in code.replace("\\\n", " ").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def make_targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


def check_options(name: str, words: list[str]) -> None:
    typer.main.get_command(cli.app).commands[name].make_context(name, words)


def run_command(line: str) -> None:
    """Run a line of a shell block by the rules of CONTRIBUTING.md."""
    text, piped, command = line.rpartition(" | ")
    program, *words = shlex.split(command)
    if program == "make":
        assert set(words) <= make_targets(), f"the Makefile lacks a target of: {line}"
    if program != "rnnsearch":
        return
    if words[0] in ("demo", "demo-app"):
        check_options(words[0], words[1:])
        return
    if words[:1] == ["train"]:
        words += shlex.split(SMALL)
    typed = None
    if piped:
        echo, typed = shlex.split(text)
        assert echo == "echo"
    result = CliRunner().invoke(cli.app, words, input=f"{typed}\n" if typed else None)
    assert result.exit_code == 0, f"{line}\n{result.output}\n{result.exception!r}"


def run_page(name: str, text: str) -> None:
    namespace = {"__name__": "__main__"}
    for block in blocks(text):
        if block.kind == "python":
            # Blank lines in front, so that an error shows the line of the page.
            exec(compile("\n" * block.line + block.code, name, "exec"), namespace)
        elif block.kind == "bash":
            for line in commands(block.code):
                run_command(line)


@pytest.fixture
def folder(tmp_path, monkeypatch, tiny_model_dir) -> Path:
    """Where a page runs: text in two languages, and the two models that the pages speak of."""
    for name, size, seed in (("train", 40, 1), ("valid", 6, 2), ("test", 6, 3)):
        pairs = corpus(size, (3, 8), seed)
        (tmp_path / f"{name}.en").write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
        (tmp_path / f"{name}.fr").write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    shutil.copytree(tiny_model_dir, tmp_path / "demo" / "model")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_readme_runs(folder):
    run_page("README.md", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert (folder / "my-model" / "model.safetensors").stat().st_size > 0
    assert len((folder / "test.translated.fr").read_text(encoding="utf-8").splitlines()) == 6
    assert (folder / "alignment.png").read_bytes().startswith(b"\x89PNG")
    assert '"no_unk"' in (folder / "scores.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in RUN if name != "README.md"])
def test_page_runs(name, folder, on_hub):
    if name == "docs/onnx.md" and torch.__version__ < FIRST_TORCH:
        pytest.skip(f"the ONNX export needs PyTorch {FIRST_TORCH}")
    (folder / "demo" / "model").rename(folder / "model")
    for place in ("my-model", "demo/model"):
        shutil.copytree(folder / "model", folder / place)
    run_page(name, (ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("```python\nmissing\n```", "missing"),
        ("```bash\nrnnsearch translate --model demo --input test.en\n```", "--model demo"),
        ("```bash\nrnnsearch train --no-such-option 1\n```", "no-such-option"),
        ("```bash\nrnnsearch demo --no-such-option\n```", "no-such-option"),
        ("```bash\nrnnsearch demo-app --no-such-option\n```", "no-such-option"),
        ("```bash\nmake no-such-target\n```", "no-such-target"),
        ('```bash\nprintf "We sing." | rnnsearch translate --model demo/model\n```', "printf"),
    ],
)
def test_a_block_that_does_not_run_is_found(block, message, folder):
    with pytest.raises(Exception, match=message):
        run_page("page.md", f"Text.\n\n{block}\n")


def test_an_error_shows_the_line_of_the_page(folder):
    with pytest.raises(NameError) as caught:
        run_page("page.md", "Text.\n\n```python\nvalue = 1\nmissing\n```\n")
    error = caught.traceback[-1]
    assert (str(error.path), error.lineno + 1) == ("page.md", 5)


def dead_links(text: str, folder: Path) -> list[str]:
    """Links to files that are not there."""
    links = [link for link in LINK.findall(text) if "://" not in link]
    return [link for link in links if not (folder / link).exists()]


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    assert dead_links((ROOT / name).read_text(encoding="utf-8"), (ROOT / name).parent) == []


def test_a_dead_link_is_found():
    assert dead_links("[a](README.md#tests) [b](none.md) [c](https://arxiv.org)", ROOT) == ["none.md"]


def test_readme_names_the_command_of_the_ci():
    assert "make check" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    readme = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    assert {"make test", "make demo"} <= {line for block in readme for line in commands(block.code)}


def test_model_card_has_the_metadata_of_the_hub():
    data = ModelCard((ROOT / "model_card.md").read_text(encoding="utf-8")).data
    assert (data.language, data.library_name, data.pipeline_tag) == (["en", "de"], "transformers", "translation")
    assert "rnnsearch" in data.tags


def test_citation_names_this_version_and_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(citation)
    assert citation["version"] == __version__
    [paper] = citation["references"]
    assert [author["family-names"] for author in paper["authors"]] == ["Bahdanau", "Cho", "Bengio"]
    assert paper["url"].endswith("1409.0473")


def test_changelog_speaks_of_this_version():
    assert __version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
