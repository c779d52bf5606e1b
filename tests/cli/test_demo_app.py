"""`rnnsearch demo-app`: what it hands to the page, and what stops it before there is one."""

import sys

import pytest
from typer.testing import CliRunner

from rnnsearch.app import page
from rnnsearch.cli import app


def test_the_page_begins_with_the_model(tiny_model_dir, monkeypatch):
    served = []
    monkeypatch.setattr(page, "serve", served.append)
    result = CliRunner().invoke(app, ["demo-app", "--model", str(tiny_model_dir)])
    assert (result.exit_code, served) == (0, [str(tiny_model_dir)])


def test_a_model_that_is_not_there_starts_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "serve", lambda model: pytest.fail("started"))
    result = CliRunner().invoke(app, ["demo-app", "--model", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"rnnsearch: error: {tmp_path}: no model can be loaded")


def test_without_gradio(tiny_model_dir, monkeypatch):
    monkeypatch.setitem(sys.modules, "gradio", None)
    monkeypatch.delitem(sys.modules, "rnnsearch.app.page")
    result = CliRunner().invoke(app, ["demo-app", "--model", str(tiny_model_dir)])
    assert result.exit_code == 2
    assert result.stderr == "rnnsearch: error: the demo app needs Gradio: pip install 'rnnsearch[app]'\n"
