"""The translator of exported graphs against the one of PyTorch, and without PyTorch."""

import json
import subprocess
import sys

import pytest

from rnnsearch import OnnxTranslator, Translator
from rnnsearch.errors import InputError
from rnnsearch.export import folder

GROUNDHOG = {"step_order": "groundhog"}


@pytest.fixture(scope="module")
def lines(some_lines) -> list[str]:
    return some_lines(30, 5)


@pytest.mark.parametrize(("num_beams", "length_penalty"), [(1, 1.0), (5, 1.0), (5, 0.0), (3, 1.7)])
def test_translations_are_those_of_pytorch(num_beams, length_penalty, exported, tiny_tokenizer, lines):
    made = exported(**GROUNDHOG)
    settings = {"num_beams": num_beams, "length_penalty": length_penalty, "batch_size": 7}
    expected = Translator(made.model, tiny_tokenizer).translate(lines, **settings)
    found = OnnxTranslator(made.folder).translate(lines, **settings)
    assert found == [hypothesis.text for [hypothesis] in expected]
    assert found[4] == found[17] == ""
    if length_penalty == 1:
        lengths = [len(text.split()) for text in found if text]
        assert min(lengths) < 5 and max(lengths) > 40, "a sentence must end long before others of its batch"


def test_nothing_to_translate(exported):
    translator = OnnxTranslator(exported(**GROUNDHOG).folder)
    assert translator.translate([]) == []
    assert translator.translate(["", " "]) == ["", ""]


def test_it_needs_no_pytorch(exported, lines):
    """In a process whose imports do not find it."""
    made = exported(**GROUNDHOG)
    code = (
        "import json, sys\n"
        "from importlib.machinery import PathFinder\n"
        "find = PathFinder.find_spec\n"
        "PathFinder.find_spec = lambda name, *rest: None if name.split('.')[0] == 'torch' else find(name, *rest)\n"
        "from rnnsearch import OnnxTranslator\n"
        f"print(json.dumps(OnnxTranslator({str(made.folder)!r}).translate({lines[:6]!r})))\n"
        "assert 'torch' not in sys.modules\n"
        "try:\n    import torch\nexcept ImportError:\n    sys.exit()\nsys.exit('PyTorch was found')\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == OnnxTranslator(made.folder).translate(lines[:6])


def test_bad_numbers_are_named(exported):
    translator = OnnxTranslator(exported(**GROUNDHOG).folder)
    with pytest.raises(InputError, match="beam is 0: give 1 or more"):
        translator.translate(["a"], num_beams=0)
    with pytest.raises(InputError, match="batch size is -1"):
        translator.translate(["a"], batch_size=-1)


def test_a_folder_without_graphs_is_named(tiny_model_dir):
    with pytest.raises(InputError, match=r"encoder\.onnx: is missing; give a folder that `rnnsearch export`"):
        OnnxTranslator(tiny_model_dir)


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"not installed: onnxruntime; run: pip install 'rnnsearch\[onnx\]'"):
        OnnxTranslator(tmp_path)
