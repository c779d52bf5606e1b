"""BLEU, time and size of an exported model, of a model and a text that are there."""

import pytest
import torch
from typer.testing import CliRunner

from rnnsearch.cli import app
from rnnsearch.export.exporter import FIRST_TORCH


@pytest.mark.skipif(torch.__version__ < FIRST_TORCH, reason=f"the ONNX export needs PyTorch {FIRST_TORCH}")
def test_the_export_stands_beside_the_model(here, command, module, tiny_model_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(module("exported"), "command", lambda words, threads: CliRunner().invoke(app, words))
    sources, references = tmp_path / "test.en", tmp_path / "test.fr"
    sources.write_text("The red house is small.\nWe do not sleep in the old house.\n", encoding="utf-8")
    references.write_text("La maison rouge est petite.\nNous ne dormons pas.\n", encoding="utf-8")
    words = ["--model", tiny_model_dir, "--src", sources, "--ref", references, "--what", "two lines"]
    printed, record = command("exported", *words, "--exports", "float32")
    assert [(row["system"], row["format"]) for row in record["rows"]] == [
        ("PyTorch", "float32"),
        ("ONNX Runtime", "float32"),
    ]
    for row in record["rows"]:
        assert row["cpu_seconds"] > 0 and row["megabytes"] > 0.001
        assert "version:" in row["BLEU"]["signature"]
        assert f"| {row['system']} | float32 | {row['BLEU']['value']:.2f} | {row['other_lines']} |" in printed
    assert record["rows"][0]["other_lines"] == 0
