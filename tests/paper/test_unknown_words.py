"""What a copied word does to the scores, with a model that writes [UNK] for every word that it does not know."""

import json
import runpy
from pathlib import Path

import pytest

from rnnsearch import Translator
from rnnsearch.decoding.translator import Hypothesis
from rnnsearch.evaluation.scores import bleu

MAIN = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "paper" / "unknown_words.py"))["main"]
SOURCES = ["The red house is small.", "Paul sees Zoe in Paris and me.", "A dog sings.", "Ann is here."]
REFERENCES = ["La maison rouge est petite.", "Paul voit Zoe à Paris et moi.", "Un chien chante.", "Ann est ici."]
WRITTEN = [
    "La maison rouge est petite.",
    "[UNK] voit [UNK] dans [UNK] et moi.",
    "Un chien danse.",
    "[UNK] est ici.",
]
COPIED = {SOURCES[1]: "Paul voit Zoe dans Paris et moi.", SOURCES[3]: "Ann est ici."}


@pytest.fixture
def known_translator(monkeypatch):
    """Translates the four lines as written above, and copies only where it is asked to."""

    def translate(self, lines, num_beams=5, replace_unk=None, **options):
        assert replace_unk in (None, "copy")
        answers = dict(zip(SOURCES, WRITTEN, strict=True)) | (COPIED if replace_unk else {})
        return [[Hypothesis(answers[line], None)] for line in lines]

    monkeypatch.setattr(Translator, "translate", translate)


def test_scores(known_translator, tiny_model_dir, tmp_path, capsys):
    (tmp_path / "x.en").write_text("".join(f"{line}\n" for line in SOURCES), encoding="utf-8")
    (tmp_path / "x.fr").write_text("".join(f"{line}\n" for line in REFERENCES), encoding="utf-8")
    report = MAIN(tiny_model_dir, tmp_path / "x.en", tmp_path / "x.fr", tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text(encoding="utf-8")) == report
    assert (report["measured"]["unknown words written"], report["measured"]["lines with one"]) == (4, 2)
    assert capsys.readouterr().out.startswith("4 [UNK] in 2 of 4 lines\n")

    two = [REFERENCES[1], REFERENCES[3]]
    all_copied = [WRITTEN[0], COPIED[SOURCES[1]], WRITTEN[2], COPIED[SOURCES[3]]]
    for text, how, hypotheses, references in (
        ("lines with one", "[UNK] stays", [WRITTEN[1], WRITTEN[3]], two),
        ("lines with one", "copied", list(COPIED.values()), two),
        ("all lines", "[UNK] stays", WRITTEN, REFERENCES),
        ("all lines", "copied", all_copied, REFERENCES),
    ):
        expected = bleu(hypotheses, references)
        found = report[text][how]["BLEU"]
        assert (found["value"], found["sentences"]) == (pytest.approx(expected.value), len(references))
        assert found["signature"] == expected.signature
    assert (
        report["lines with one"]["copied"]["BLEU"]["value"] > report["lines with one"]["[UNK] stays"]["BLEU"]["value"]
    )


def test_a_real_model(tiny_model, tiny_tokenizer, tmp_path):
    """Its output layer made to write [UNK] before all else: each line is copied from the source."""
    import torch

    from rnnsearch import RNNsearchForConditionalGeneration

    model = RNNsearchForConditionalGeneration(tiny_model.config)
    model.load_state_dict(tiny_model.state_dict())
    with torch.no_grad():
        model.lm_head.bias[tiny_tokenizer.unk_token_id] += 5
        model.lm_head.bias[tiny_tokenizer.eos_token_id] += 4.9
    model.save_pretrained(tmp_path / "model")
    tiny_tokenizer.save_pretrained(tmp_path / "model")
    (tmp_path / "x.en").write_text("Paul\nA dog\n", encoding="utf-8")
    (tmp_path / "x.fr").write_text("Paul\nUn chien\n", encoding="utf-8")
    report = MAIN(tmp_path / "model", tmp_path / "x.en", tmp_path / "x.fr", tmp_path / "report.json")
    assert report["measured"]["lines with one"] > 0
    scores = report["lines with one"]
    assert scores["copied"]["chrF2"]["value"] > scores["[UNK] stays"]["chrF2"]["value"]
