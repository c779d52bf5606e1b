"""`rnnsearch push`: what it writes, keeps, refuses and publishes."""

import json
import shutil

import pytest
import torch
from typer.testing import CliRunner

from rnnsearch import RNNsearchForConditionalGeneration, TranslationPipeline
from rnnsearch.cli import app
from rnnsearch.evaluation.report import Report, SystemScores
from rnnsearch.evaluation.scores import Score
from rnnsearch.hub.card import make_card

PNG = b"\x89PNG"


@pytest.fixture
def folder(tiny_model_dir, tmp_path):
    """A model with what a training leaves beside it."""
    shutil.copytree(tiny_model_dir, tmp_path / "model")
    (tmp_path / "model" / "checkpoint-5").mkdir()
    (tmp_path / "model" / "checkpoint-5" / "model.safetensors").write_bytes(b"old")
    (tmp_path / "model" / "training_args.bin").write_bytes(b"pickled")
    return tmp_path / "model"


def push(folder, name, *options):
    words = ["push", "--model", folder, "--repo", name, *options]
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_model_is_published(on_hub, folder, tiny_model, tiny_tokenizer):
    before = {path.name for path in folder.iterdir()}
    result = push(folder, "one", "--license", "mit", "--private")
    assert result.exit_code == 0, result.stderr
    info = on_hub.info("somebody/one")
    assert result.stdout == f"published: {on_hub.url}/somebody/one/commit/{info['sha']}\n"
    assert (info["private"], info["pipeline_tag"]) == (True, "translation")
    kept_at_home = {"checkpoint-5", "training_args.bin"}
    assert on_hub.files("somebody/one") == before - kept_at_home | {"README.md", "alignment.png"}
    assert on_hub.get("somebody/one/resolve/main/alignment.png").startswith(PNG)
    assert {path.name for path in folder.iterdir()} == before, "the folder stays as it is"

    card = on_hub.get("somebody/one/resolve/main/README.md").decode()
    translate = TranslationPipeline(model=tiny_model, tokenizer=tiny_tokenizer, device="cpu")
    [record] = translate("The old house is red.")
    assert f"\n# {record['translation_text']}\n" in card
    assert "# somebody/one\n" in card and "- Licence: mit\n" in card and "](alignment.png)" in card


def test_a_card_to_be_completed_by_hand(on_hub, folder):
    result = push(folder, "somebody/two", "--dry-run", "--example", "A dog.")
    assert (result.exit_code, result.stdout) == (0, f"card: {folder / 'README.md'}\n"), result.stderr
    assert (folder / "alignment.png").read_bytes().startswith(PNG)
    assert "/somebody/two" not in on_hub.get("fake/log").decode()
    card = (folder / "README.md").read_text(encoding="utf-8").replace("- Licence: not stated", "- Licence: ask me")
    (folder / "README.md").write_text(card, encoding="utf-8")
    for option in (["--license", "mit"], ["--dry-run"]):
        refused = push(folder, "somebody/two", *option)
        assert (refused.exit_code, refused.stderr.count("\n")) == (2, 1)
        assert f"README.md: is there already; leave {option[0]} out, or remove the file" in refused.stderr
    assert push(folder, "somebody/two").exit_code == 0
    assert on_hub.get("somebody/two/resolve/main/README.md").decode() == card
    assert on_hub.get("somebody/two/resolve/main/alignment.png") == (folder / "alignment.png").read_bytes()


def test_an_interrupted_upload_is_run_again(on_hub, folder):
    model = RNNsearchForConditionalGeneration.from_pretrained(folder)
    model.lm_head.bias.data += 3  # weights that the Hub does not have yet
    model.save_pretrained(folder)
    on_hub.tell("cut")
    try:
        result = push(folder, "somebody/three", "--license", "mit")
    finally:
        on_hub.tell("mend")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "somebody/three: not published: " in result.stderr.splitlines()[-1]
    assert on_hub.files("somebody/three") == set()
    assert push(folder, "somebody/three", "--license", "mit").exit_code == 0
    assert {"model.safetensors", "README.md", "alignment.png"} < on_hub.files("somebody/three")


def test_scores_go_into_the_card(folder, tmp_path):
    scores = [Score("BLEU", 12.34, "tok:13a", 5)]
    options = {
        "src": "news.en",
        "ref": "news.fr",
        "hyp": None,
        "beam": 7,
        "length_penalty": 0.5,
        "paper_decoding": False,
    }
    row = SystemScores({"all": scores}, {}, options, {})
    (tmp_path / "scores.json").write_text(Report.of(["Un."]).with_system("m", row).to_json(), encoding="utf-8")
    result = push(folder, "me/m", "--dry-run", "--evaluation", tmp_path / "scores.json", "--data", "Made up.")
    assert result.exit_code == 0, result.stderr
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert "| news | BLEU | 12.3 | not measured |" in card
    assert "- news: 5 sentences; beam 7, length penalty 0.5\n" in card
    assert "licence of the text: Made up.\n" in card


def test_a_model_without_attention_has_no_picture(folder, tiny_model):
    config = type(tiny_model.config)(**tiny_model.config.to_diff_dict() | {"context": "fixed"})
    torch.manual_seed(0)
    RNNsearchForConditionalGeneration(config).save_pretrained(folder)
    assert push(folder, "me/m", "--dry-run").exit_code == 0
    assert not (folder / "alignment.png").exists()
    assert "no picture of an alignment" in (folder / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--evaluation", "missing.json"], "missing.json: cannot be read"),
        (["--model", "nowhere"], "nowhere: is not a folder"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(on_hub, folder, options, message):
    result = push(folder, "somebody/bad", *options)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert message in result.stderr
    assert "/somebody/bad" not in on_hub.get("fake/log").decode()
    assert not (folder / "README.md").exists()


def test_other_languages_need_an_example(on_hub, folder):
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"source_lang": "de"}), encoding="utf-8")
    result = push(folder, "somebody/german")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "the model reads 'de': give a sentence of that language with --example" in result.stderr
    assert push(folder, "somebody/german", "--example", "Ein Hund.").exit_code == 0


def test_a_card_that_fails_is_no_upload(on_hub, folder, monkeypatch):
    monkeypatch.setattr("rnnsearch.hub.card.make_card", lambda facts: make_card(None))
    assert push(folder, "somebody/failing").exit_code == 1
    assert on_hub.files("somebody/failing") == set()
