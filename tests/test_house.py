"""The walls of the house: who imports whom, what is installed and shipped, and what the text files may not say."""

import ast
import configparser
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import rnnsearch

ROOT = Path(__file__).parents[1]
TRAVELLING = {"modeling": ROOT / "modeling", "tokenizer": ROOT / "tokenizer"}
ROOMS = TRAVELLING | {
    init.parent.name: init.parent
    for init in sorted((ROOT / "src" / "rnnsearch").glob("*/__init__.py"))
    if init.parent.name not in TRAVELLING
}
GROUND = {"modeling", "tokenizer", "data", "evaluation", "hub"}
KNOWS: dict[str, set[str]] = {
    "modeling": set(),
    "tokenizer": set(),
    "data": set(),
    "evaluation": {"tokenizer"},
    "hub": {"modeling", "tokenizer", "evaluation"},
    "metrics": {"evaluation"},
    "decoding": GROUND,
    "alignment": GROUND,
    "export": GROUND,
    "training": GROUND,
    "app": GROUND | {"decoding", "alignment"},
    "cli": GROUND | {"training", "decoding", "alignment", "export", "app"},
}
LONGEST = 600
WHEEL = """
rnnsearch/__init__.py
rnnsearch/_registration.py
rnnsearch/alignment/__init__.py
rnnsearch/alignment/aligner.py
rnnsearch/alignment/figure.py
rnnsearch/alignment/folding.py
rnnsearch/alignment/fonts.py
rnnsearch/alignment/forced.py
rnnsearch/alignment/links.py
rnnsearch/alignment/own.py
rnnsearch/alignment/page.html.jinja
rnnsearch/alignment/page.py
rnnsearch/app/__init__.py
rnnsearch/app/answers.py
rnnsearch/app/page.py
rnnsearch/cli/__init__.py
rnnsearch/cli/align.py
rnnsearch/cli/common.py
rnnsearch/cli/demo.py
rnnsearch/cli/demo_app.py
rnnsearch/cli/evaluate.py
rnnsearch/cli/plot.py
rnnsearch/cli/export.py
rnnsearch/cli/push.py
rnnsearch/cli/evaluate_alignment.py
rnnsearch/cli/score.py
rnnsearch/cli/tokenizer.py
rnnsearch/cli/train.py
rnnsearch/cli/translate.py
rnnsearch/data/__init__.py
rnnsearch/data/batching.py
rnnsearch/data/composer.py
rnnsearch/data/corpus.py
rnnsearch/data/decoding_batches.py
rnnsearch/data/grammar.py
rnnsearch/data/lexicon.py
rnnsearch/data/lines.py
rnnsearch/data/syntax.py
rnnsearch/decoding/__init__.py
rnnsearch/decoding/quantised.py
rnnsearch/decoding/rules.py
rnnsearch/decoding/translator.py
rnnsearch/decoding/unknown.py
rnnsearch/errors.py
rnnsearch/evaluation/__init__.py
rnnsearch/evaluation/alignment_error.py
rnnsearch/evaluation/by_length.py
rnnsearch/evaluation/report.py
rnnsearch/evaluation/scores.py
rnnsearch/export/__init__.py
rnnsearch/export/difference.py
rnnsearch/export/exporter.py
rnnsearch/export/folder.py
rnnsearch/export/graphs.py
rnnsearch/export/onnx_translator.py
rnnsearch/export/search.py
rnnsearch/export/sessions.py
rnnsearch/hub/__init__.py
rnnsearch/hub/card.py
rnnsearch/hub/model_card.md.jinja
rnnsearch/hub/publish.py
rnnsearch/loading.py
rnnsearch/metrics/__init__.py
rnnsearch/metrics/alignment_error_rate/__init__.py
rnnsearch/metrics/alignment_error_rate/alignment_error_rate.py
rnnsearch/metrics/bleu_by_length/__init__.py
rnnsearch/metrics/bleu_by_length/bleu_by_length.py
rnnsearch/modeling/__init__.py
rnnsearch/modeling/configuration_rnnsearch.py
rnnsearch/modeling/generation_rnnsearch.py
rnnsearch/modeling/layers_rnnsearch.py
rnnsearch/modeling/loss_rnnsearch.py
rnnsearch/modeling/modeling_rnnsearch.py
rnnsearch/modeling/pipeline_rnnsearch.py
rnnsearch/modeling/recurrence_rnnsearch.py
rnnsearch/modeling/unknown_rnnsearch.py
rnnsearch/progress.py
rnnsearch/py.typed
rnnsearch/reference.py
rnnsearch/tokenizer/__init__.py
rnnsearch/tokenizer/moses_rnnsearch.py
rnnsearch/tokenizer/tokenization_rnnsearch.py
rnnsearch/training/__init__.py
rnnsearch/training/arguments.py
rnnsearch/training/memory.py
rnnsearch/training/parser.py
rnnsearch/training/record.py
rnnsearch/training/train.py
rnnsearch/training/trainer.py
rnnsearch/version.py
""".split()


def text_files(*suffixes: str) -> list[Path]:
    """Files of the project with these suffixes, hidden and generated folders left out."""
    generated = {"build", "dist", "demo", "runs"}
    found = []
    for path in sorted(ROOT.iterdir()):
        if path.name in generated or path.name.startswith("."):
            continue
        found += [path] if path.is_file() else [inner for inner in path.rglob("*") if inner.is_file()]
    return [path for path in found if path.suffix in suffixes]


def setup_cfg() -> configparser.ConfigParser:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return config


def imports(source: str) -> list[tuple[int, str]]:
    """Level and module of each import in a file, wherever it stands; `from . import x` is (1, "x")."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(0, name.name) for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.append((node.level, node.module))
        elif isinstance(node, ast.ImportFrom):
            found += [(node.level, name.name) for name in node.names]
    return found


# Files that travel


def foreign_imports(source: str, siblings: Iterable[str]) -> list[str]:
    """Imports that a file copied into a checkpoint could not resolve there."""
    return [
        "." * level + module
        for level, module in imports(source)
        if (level and (level > 1 or module not in siblings)) or module.split(".")[0] in {"rnnsearch", *TRAVELLING}
    ]


@pytest.mark.parametrize("room", TRAVELLING)
def test_travelling_files_import_siblings_only(room):
    siblings = {path.stem for path in TRAVELLING[room].glob("*_rnnsearch.py")}
    assert siblings
    for path in TRAVELLING[room].glob("*.py"):
        assert foreign_imports(path.read_text(encoding="utf-8"), siblings) == [], path


@pytest.mark.parametrize(
    "line",
    [
        "import rnnsearch",
        "from rnnsearch.errors import InputError",
        "if TYPE_CHECKING:\n    from rnnsearch.data import corpus",
        "from ..tokenizer.moses_rnnsearch import join_words",
        "from .missing_rnnsearch import x",
        "from . import other",
        "from modeling import x",
    ],
)
def test_foreign_imports_are_found(line):
    assert len(foreign_imports(line, {"known_rnnsearch"})) == 1
    assert foreign_imports("import torch\nfrom .known_rnnsearch import x", {"known_rnnsearch"}) == []


def test_travelling_files_have_different_names():
    """They end up in one folder; beside `__init__.py`, which stays at home, all end in `_rnnsearch`."""
    names = [path.name for folder in TRAVELLING.values() for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(names) == len(set(names))
    assert all(name.endswith("_rnnsearch.py") for name in names)


@pytest.mark.parametrize("room", TRAVELLING)
def test_short_names_cannot_be_imported(room):
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {room}"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.returncode == 1
    assert "ImportError: " in result.stderr
    assert f"import `rnnsearch.{room}` instead" in result.stderr


# Rooms


def rooms_imported(source: str, room: str) -> set[str]:
    """Other rooms that a file of `room` imports, absolutely or relatively."""
    found = set()
    for level, module in imports(source):
        parts = module.split(".")
        if level == 0 and parts[0] == "rnnsearch":
            found |= {*parts[1:2]}
        elif level == 2:
            found.add(parts[0])
    return (found & {*KNOWS}) - {room}


def test_every_room_has_its_place():
    assert set(ROOMS) == set(KNOWS)


@pytest.mark.parametrize("room", KNOWS)
def test_dependencies_point_down(room):
    for path in ROOMS[room].glob("*.py"):
        assert rooms_imported(path.read_text(encoding="utf-8"), room) <= KNOWS[room], path


def test_rooms_imported_are_found():
    source = "from ..cli.app import x\ndef f():\n    import rnnsearch.data.lines\n    from .. import decoding\n"
    assert rooms_imported(source, "training") == {"cli", "data", "decoding"}
    assert rooms_imported("from .trainer import x\nfrom ..errors import y\nimport numpy\n", "training") == set()


def test_the_reference_stands_apart():
    modules = {module.split(".")[0] for level, module in imports((ROOT / "src/rnnsearch/reference.py").read_text())}
    assert modules - sys.stdlib_module_names == {"numpy"}


def first_line_fault(source: str) -> str | None:
    """What is wrong with the sentence that says what a folder holds."""
    lines = (ast.get_docstring(ast.parse(source)) or "").splitlines()
    if not lines:
        return "no docstring"
    if not lines[0].endswith(".") or lines[1:2] not in ([], [""]):
        return "the first line is not a sentence of its own"
    return None


def test_every_folder_says_in_a_line_what_it_holds():
    for path in [ROOT / "src/rnnsearch/__init__.py", *(folder / "__init__.py" for folder in ROOMS.values())]:
        assert first_line_fault(path.read_text(encoding="utf-8")) is None, path


def test_a_folder_without_its_line_is_found():
    assert first_line_fault("import os\n") == "no docstring"
    assert first_line_fault('"""Two lines\nfor one."""\n') == "the first line is not a sentence of its own"
    assert first_line_fault('"""One line.\n\nAnd more."""\n') is None


def too_long(files: Iterable[Path]) -> list[str]:
    return [path.name for path in files if len(path.read_text(encoding="utf-8").splitlines()) >= LONGEST]


def test_files_are_short():
    assert too_long(text_files(".py", ".md")) == []


def test_a_long_file_is_found(tmp_path):
    for name, lines in (("long.py", LONGEST), ("short.py", LONGEST - 1)):
        (tmp_path / name).write_text("x\n" * lines)
    assert too_long(tmp_path.iterdir()) == ["long.py"]


# What is declared


def undeclared(sources: Iterable[str], declared: Iterable[str]) -> set[str]:
    """Top-level modules that files import and no declared distribution holds."""
    known = {canonicalize_name(Requirement(line).name) for line in declared} | {"rnnsearch"}
    owners = importlib.metadata.packages_distributions()
    modules = {module.split(".")[0] for source in sources for level, module in imports(source) if level == 0}
    return {
        module
        for module in modules - sys.stdlib_module_names
        if not {canonicalize_name(owner) for owner in owners.get(module, [])} & known
    }


def test_imports_are_declared():
    config = setup_cfg()
    needed = config["options"]["install_requires"].split()
    tools = config["options.extras_require"]["dev"].split()
    extras = {"metrics": "evaluate", "export": "onnx", "app": "app"}
    folders = [ROOT / "src" / "rnnsearch", *(folder for room, folder in ROOMS.items() if room not in extras)]
    package = [path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py")]
    tests = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    assert undeclared(package, needed) == set()
    for room, extra in extras.items():
        sources = [path.read_text(encoding="utf-8") for path in ROOMS[room].rglob("*.py")]
        assert undeclared(sources, [*needed, *config["options.extras_require"][extra].split()]) == set()
    assert undeclared(tests, [*needed, *tools]) == set()


def test_an_undeclared_import_is_found():
    assert undeclared(["import yaml, os\nfrom torch import nn\nimport nowhere"], ["torch>=2"]) == {"yaml", "nowhere"}


def pins(constraints: str) -> dict[str, str]:
    """Versions by the names of distributions."""
    lines = [line.split("==") for line in constraints.splitlines() if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in lines}


def unpinned(requirements: Iterable[str], constraints: str) -> list[str]:
    """Requirements without a pin, or with one that they do not allow."""
    versions = pins(constraints)
    return [
        line
        for line in requirements
        if (pin := versions.get(canonicalize_name(Requirement(line).name))) is None
        or not Requirement(line).specifier.contains(pin)
    ]


def above_minimum(requirements: Iterable[str], constraints: str) -> list[str]:
    """Requirements whose pin is not the lowest version that they name, or that name none."""
    versions = pins(constraints)
    wrong = []
    for line in requirements:
        requirement = Requirement(line)
        lowest = [Version(each.version) for each in requirement.specifier if each.operator == ">="]
        if lowest != [Version(versions.get(canonicalize_name(requirement.name), "0"))]:
            wrong.append(line)
    return wrong


def test_constraints_pin_what_is_needed():
    config = setup_cfg()
    lines = config["options"]["install_requires"].split() + config["options.extras_require"]["dev"].split()
    assert unpinned(lines, (ROOT / "constraints.txt").read_text(encoding="utf-8")) == []


def test_a_missing_pin_is_found():
    pins = "# tested\na==1.0\nB_c==2.0\n"
    assert unpinned(["a>=0.5", "b-c<2", "d"], pins) == ["b-c<2", "d"]


def test_lowest_versions_are_those_declared():
    config = setup_cfg()
    constraints = (ROOT / "constraints-minimum.txt").read_text(encoding="utf-8")
    needed = config["options"]["install_requires"].split()
    assert above_minimum(needed, constraints) == []
    assert unpinned([*needed, *config["options.extras_require"]["dev"].split()], constraints) == []


def test_a_version_above_the_lowest_is_found():
    constraints = "# lowest\na==1.0\nb-c==2.1\nd==3\n"
    assert above_minimum(["a>=1,<2", "b_c>=2.0", "d", "e>=4"], constraints) == ["b_c>=2.0", "d", "e>=4"]


def test_setup_names_every_package():
    config = setup_cfg()
    folders = {*ROOMS, *(f"metrics.{init.parent.name}" for init in ROOMS["metrics"].glob("*/__init__.py"))}
    assert set(config["options"]["packages"].split()) == {"rnnsearch", *(f"rnnsearch.{name}" for name in folders)}


def test_version_is_that_of_the_installation():
    assert rnnsearch.__version__ == importlib.metadata.version("rnnsearch")


def machine_paths(text: str) -> list[str]:
    """Absolute paths that exist on somebody's machine only."""
    return re.findall(r"(?<![\w.])/(?:work|root|home|Users)/\S*", text)


def test_no_file_names_a_path_of_a_machine():
    for path in text_files(".py", ".md", ".cff", ".cfg", ".toml", ".txt", ".json"):
        if path != Path(__file__):
            assert machine_paths(path.read_text(encoding="utf-8")) == [], path


def test_a_path_of_a_machine_is_found():
    assert machine_paths("see /home/me/x.py, docs/work/a, /tmp") == ["/home/me/x.py,"]


# What is built


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """Folder with the wheel and the source archive, built as for a release, from a clean copy."""
    folder = tmp_path_factory.mktemp("built")
    copy = folder / "copy"
    leave_out = shutil.ignore_patterns(".*", "build", "dist", "demo", "runs", "*.egg-info", "__pycache__")
    shutil.copytree(ROOT, copy, symlinks=True, ignore=leave_out)
    # The tools of the `dev` extra build it: no test needs the network.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(copy)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


def wheel_contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return sorted(name for name in archive.namelist() if ".dist-info/" not in name)


@pytest.mark.slow
def test_wheel_holds_the_package_and_no_more(built):
    [wheel] = built.glob("*.whl")
    assert wheel.name == f"rnnsearch-{rnnsearch.__version__}-py3-none-any.whl"
    contents = wheel_contents(wheel)
    assert len(contents) == len(set(contents))
    assert set(contents) == set(WHEEL)


@pytest.mark.slow
def test_source_archive_can_be_tested(built):
    [archive] = built.glob("*.tar.gz")
    unpacked = built / "unpacked"
    shutil.unpack_archive(archive, unpacked, filter="data")
    [folder] = unpacked.iterdir()
    for name in (
        "modeling/modeling_rnnsearch.py", "tests/conftest.py", "docs/tour.md", "benchmarks/peers/marian_worker.py",
        "model_card.md", "Makefile",
    ):  # fmt: skip
        assert (folder / name).is_file(), name


@pytest.mark.slow
def test_wheel_works_in_an_environment_of_its_own(built, tmp_path, tiny_model_dir):
    """Installed without the checkout; the dependencies are those that the tests have."""
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    python = str(environment / "bin" / "python")
    [wheel] = built.glob("*.whl")
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=120)
    [site_packages] = environment.glob("lib/*/site-packages")
    # A path in a .pth file is searched, its own .pth files are not read: the editable install stays out.
    dependencies = Path(sys.modules["pytest"].__file__).parents[1]
    (site_packages / "dependencies.pth").write_text(f"{dependencies}\n")

    code = (
        "import rnnsearch\n"
        "from transformers import AutoModelForSeq2SeqLM, AutoTokenizer\n"
        f"model = AutoModelForSeq2SeqLM.from_pretrained({str(tiny_model_dir)!r})\n"
        f"tokenizer = AutoTokenizer.from_pretrained({str(tiny_model_dir)!r})\n"
        "output = model.generate(**tokenizer(['A dog sees'], return_tensors='pt'), max_new_tokens=3)\n"
        "print(rnnsearch.__file__, type(model).__module__, tuple(output.shape)[0])\n"
    )
    result = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    expected = f"{site_packages / 'rnnsearch' / '__init__.py'} rnnsearch.modeling.modeling_rnnsearch 1"
    assert result.stdout.splitlines()[-1] == expected
    command = [str(environment / "bin" / "rnnsearch"), "--version"]
    assert subprocess.check_output(command, text=True, timeout=60) == f"rnnsearch {rnnsearch.__version__}\n"


# The Makefile


def run_make(*words: str) -> str:
    """Output of a make of its own, also where these tests are run by another."""
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    return subprocess.check_output(["make", *words], cwd=ROOT, env=environment, text=True, timeout=60)


def test_make_help_lists_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [targets] = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert [line.split()[:2] for line in run_make("help").splitlines()] == [
        ["make", target] for target in targets.split()
    ]


@pytest.mark.parametrize("target", ["demo", "test", "check"])
def test_make_starts_from_nothing(target, tmp_path):
    """The environment first, then PyTorch by itself, then the rest; each by the pinned versions."""
    none = tmp_path / "none"
    lines = run_make("--dry-run", target, f"VENV={none}").splitlines()
    make, torch, package, *rest = [line for line in lines if str(none) in line and not line.startswith("echo")]
    assert make.endswith(f"-m venv {none}")
    assert torch.endswith("pip install --quiet --constraint constraints.txt torch")
    assert package.endswith("pip install --quiet --constraint constraints.txt --editable '.[dev]'")
    assert any({"demo": "rnnsearch demo"}.get(target, "pytest") in line for line in rest)


def test_make_installs_once(tmp_path):
    (tmp_path / "installed").touch()
    assert "pip install" not in run_make("--dry-run", "test", f"VENV={tmp_path}")


def test_make_tests_the_lowest_versions_apart(tmp_path):
    none = tmp_path / "none"
    lines = run_make("--dry-run", "check-minimum", f"VENV={none}").splitlines()
    installs = [line for line in lines if "pip install" in line]
    assert len(installs) == 2
    assert all(f"{none}-minimum/bin/" in line and " constraints-minimum.txt " in line for line in installs)
    assert lines[-1].endswith(f"{none}-minimum/bin/pytest")
