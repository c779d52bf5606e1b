"""`rnnsearch export`: what it writes and says, and what it refuses."""

import re
import shutil

import onnx
import pytest
import torch
from typer.testing import CliRunner

from rnnsearch import OnnxTranslator
from rnnsearch.cli import app
from rnnsearch.export import exporter, folder


def export(*words):
    return CliRunner().invoke(app, ["export", "--format", "onnx", *(str(word) for word in words)])


@pytest.mark.skipif(
    torch.__version__ < exporter.FIRST_TORCH, reason=f"the ONNX export needs PyTorch {exporter.FIRST_TORCH}"
)
def test_a_model_is_rounded_and_translates(tiny_model_dir, tmp_path):
    """Float32 is what the exporter's own tests look at; the command makes it first, and goes on when it is right."""
    output = tmp_path / "exported"
    result = export("--int8", tiny_model_dir, output)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    said = re.fullmatch(r"(.+): onnx, int8; greatest difference from PyTorch: (.+)\n", result.stdout)
    assert said and said[1] == str(output)
    assert float(said[2]) < 0.01
    for name in (folder.ENCODER, folder.STEP):
        weights = onnx.load(output / name).graph.initializer
        assert any(weight.data_type == onnx.TensorProto.INT8 for weight in weights), name
    assert {path.name for path in output.iterdir()} >= {"encoder.onnx", "decoder_step.onnx", "config.json"}
    assert {path.name for path in tmp_path.iterdir()} == {"exported"}
    assert len(OnnxTranslator(output).translate(["The old house is red.", "We sing."])) == 2

    again = export(tiny_model_dir, output)
    assert (again.exit_code, again.stdout) == (2, "")
    assert again.stderr == f"rnnsearch: error: {output}: is there already; name a new folder\n"


@pytest.mark.parametrize(
    ("name", "message"),
    [("missing", "missing: no model can be loaded"), ("model", "model: no tokenizer can be loaded")],
)
def test_what_cannot_be_loaded_leaves_nothing(name, message, tiny_model_dir, tmp_path):
    shutil.copytree(tiny_model_dir, tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").unlink()
    result = export(tmp_path / name, tmp_path / "exported")
    assert result.exit_code == 2
    assert message in result.stderr and result.stderr.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == {"model"}


def test_nothing_half_written_stays(tiny_model_dir, tmp_path, monkeypatch):
    def write_and_fail(model, tokenizer, folder, int8):
        (folder / "encoder.onnx").write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exporter, "export_onnx", write_and_fail)
    result = export(tiny_model_dir, tmp_path / "exported")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert result.stderr == f"rnnsearch: error: {tmp_path / 'exported'}: cannot be written: No space left on device\n"


def test_the_folder_around_must_be_there(tiny_model_dir, tmp_path):
    result = export(tiny_model_dir, tmp_path / "none" / "exported")
    assert result.exit_code == 2
    assert result.stderr.endswith("exported: cannot be written: No such file or directory\n")


def test_missing_packages_are_named(tiny_model_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(folder, "find_spec", lambda name: None if name == "onnxscript" else True)
    result = export(tiny_model_dir, tmp_path / "exported")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert result.stderr == "rnnsearch: error: not installed: onnxscript; run: pip install 'rnnsearch[onnx]'\n"
