"""What a card says, and that it says so where nothing is known."""

import ast
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from typer.testing import CliRunner

from rnnsearch import RNNsearchConfig, cli
from rnnsearch.errors import InputError
from rnnsearch.evaluation.report import Report, SystemScores
from rnnsearch.evaluation.scores import Score
from rnnsearch.hub.card import Evaluation, Example, ModelFacts, Training, describe, make_card, read_evaluation

CONFIG = RNNsearchConfig(src_vocab_size=6000, vocab_size=5001, embedding_size=7, hidden_size=10, maxout_size=5)
SIGNATURE = "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0"
SCORES = [Score("BLEU", 36.494, SIGNATURE, 1000), Score("tokenised BLEU", 35.06, "tok:moses-de", 1000)]
NO_UNK = [Score("BLEU", 38.15, SIGNATURE, 900), Score("tokenised BLEU", 37.0, "tok:moses-de", 900)]
UNKNOWN = ModelFacts("my-model", CONFIG)
KNOWN = ModelFacts(
    name="me/model",
    config=CONFIG,
    example=Example("A dog.", "Ein Hund."),
    source_lang="en",
    target_lang="de",
    words=True,
    license="mit",
    data="Captions, for research.",
    recipe={"train": ["train.en", "train.de"], "validation": ["val.en", "val.de"], "hidden_size": 10},
    training=Training(updates=8172, epochs=18.0, pairs=29000, validation_bleu=36.31),
    evaluations=[Evaluation("test_2016", SCORES, NO_UNK, "beam 5, length penalty 1"), Evaluation("news", SCORES)],
    picture="alignment.png",
)


def blocks(card: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", card, re.MULTILINE | re.DOTALL)


def test_what_is_known_is_said():
    card = str(make_card(KNOWN))
    for line in (
        "# me/model",
        "- Languages: from en to de",
        "- Licence: mit",
        "- Units: 7 in an embedding, 10 in a recurrent layer, 1000 in the alignment model, 5 in the maxout layer",
        "- Vocabularies: 6,000 and 5,001 words",
        "# Ein Hund.",
        "- Text: train.en, train.de",
        "- Text for validation: val.en, val.de",
        "- Origin and licence of the text: Captions, for research.",
        "- Pairs: 29,000",
        "- Length: 8,172 updates, 18 passes over the pairs",
        "- BLEU of the validation pairs: 36.3",
        "| test_2016 | BLEU | 36.5 | 38.1 |",
        "| test_2016 | tokenised BLEU | 35.1 | 37.0 |",
        "| news | BLEU | 36.5 | not measured |",
        "- test_2016: 1000 sentences, 900 of them without an unknown word; beam 5, length penalty 1",
        "- news: 1000 sentences; decoding not stated",
        f"- BLEU is counted as `{SIGNATURE}`",
        "- Words outside its vocabularies become `[UNK]`.",
    ):
        assert f"\n{line}\n" in card, line
    assert "](alignment.png)" in card and "weights are no explanation" in card
    assert [json.loads(block) for block in blocks(card, "json")] == [KNOWN.recipe]
    assert card.count(SIGNATURE) == 3, "in the page once, and for each test set in the metadata"
    assert card.endswith("arXiv:1409.0473.\n") and "\n\n\n" not in card
    assert card.count("not stated") == 2 and card.count("not measured") == 2


def test_what_is_unknown_is_called_that():
    card = str(make_card(UNKNOWN))
    for line in (
        "- Languages: from not stated to not stated",
        "- Licence: not stated",
        "Picture of an alignment: not drawn.",
        "- Text: not stated",
        "- Text for validation: not stated",
        "- Origin and licence of the text: not stated",
        "- Pairs: not stated",
        "- Length: not stated",
        "- BLEU of the validation pairs: not measured",
        "- Recipe: not stated",
        "BLEU and chrF of a test set: not measured.",
    ):
        assert f"\n{line}\n" in card, line
    assert "None" not in card and "[UNK]" not in card and "\n\n\n" not in card
    assert "pieces of words" in card


def test_metadata_is_what_the_hub_reads():
    data = ModelCard(str(make_card(KNOWN))).data
    assert (data.language, data.license, data.library_name) == (["en", "de"], "mit", "transformers")
    assert data.pipeline_tag == "translation" and {"rnnsearch", "translation"} <= set(data.tags)
    [first, second] = data.eval_results
    assert (first.metric_type, first.metric_value, first.dataset_name) == ("bleu", 36.49, "test_2016")
    assert (first.metric_args, second.dataset_name) == ({"signature": SIGNATURE}, "news")
    assert data.model_name == "me/model"
    bare = ModelCard(str(make_card(UNKNOWN))).data
    assert (bare.language, bare.license, bare.eval_results) == (None, None, None)


@pytest.mark.parametrize("sentence", ['He said "no".', "It's \\ red; $HOME `ls` {{ x }}", "Œuvre…"])
def test_snippets_hold_any_sentence(sentence):
    card = str(make_card(replace(KNOWN, example=Example(sentence))))
    python = [node for block in blocks(card, "python") for node in ast.walk(ast.parse(block))]
    assert [node.value for node in python if isinstance(node, ast.Constant)].count(sentence) == 2
    [bash] = blocks(card, "bash")
    assert shlex.split(bash)[:2] == ["echo", sentence]


def test_a_model_without_attention():
    card = str(make_card(replace(KNOWN, config=RNNsearchConfig(context="fixed"), picture=None)))
    assert "RNNencdec" in card and "so there is no picture of an alignment" in card
    assert "weights" not in card and "weighs" not in card


# What is read


def test_scores_of_the_evaluate_command(tmp_path, tiny_model_dir):
    for side, lines in (("en", "The dog is old.\nA zebra.\n"), ("fr", "Un chien voit.\nUn chien.\n")):
        (tmp_path / f"news.{side}").write_text(lines, encoding="utf-8")
    src, ref, saved = tmp_path / "news.en", tmp_path / "news.fr", tmp_path / "scores.json"
    words = ["evaluate", "--model", tiny_model_dir, "--src", src, "--ref", ref, "--beam", "2", "--json", saved]
    assert CliRunner().invoke(cli.app, list(map(str, words))).exit_code == 0
    found = read_evaluation(saved)
    [row] = json.loads(saved.read_text(encoding="utf-8"))["systems"].values()
    written = row["scores"]
    assert (found.test_set, found.decoding) == ("news", "beam 2, length penalty 1")
    assert [score.value for score in found.scores] == [score["value"] for score in written["all"]]
    assert [score.value for score in found.no_unk] == [score["value"] for score in written["no_unk"]] != []
    card = str(make_card(replace(UNKNOWN, evaluations=[found])))
    assert card.count("| news | ") == 4


def test_the_authors_limits_are_told(tmp_path):
    options = {"src": None, "ref": "news.fr", "hyp": None, "beam": 10, "length_penalty": 0.0, "paper_decoding": True}
    one = Report.of(["Un."]).with_system("one", SystemScores({"all": SCORES}, {}, options, {}))
    (tmp_path / "scores.json").write_text(one.to_json(), encoding="utf-8")
    found = read_evaluation(tmp_path / "scores.json")
    assert found.decoding == "beam 10, length penalty 0, limits of length as in the authors' code"
    assert (found.test_set, found.scores, found.no_unk) == ("news", SCORES, ())
    for report, message in (
        (one.with_system("two", one.systems["one"]), "holds one, two; evaluate the model into a file of its own"),
        (Report.of(["Un."]), "holds no system; evaluate the model"),
        (one.with_system("one", SystemScores({}, {}, {}, {})), "does not say how it was made"),
    ):
        (tmp_path / "scores.json").write_text(report.to_json(), encoding="utf-8")
        with pytest.raises(InputError, match=f"scores.json: {message}"):
            read_evaluation(tmp_path / "scores.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        ("BLEU 3", "holds no JSON object"),
        ("[1]", "holds no JSON object"),
        ('{"scores": 3}', "holds no scores; give a file that `rnnsearch evaluate --json` wrote"),
        ('{"systems": {"x": {"scores": {"all": [{}]}, "options": {}}}}', "holds no scores"),
    ],
)
def test_a_file_without_scores_is_named(tmp_path, content, message):
    path = tmp_path / "scores.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"scores.json: {message}"):
        read_evaluation(path)


def test_a_folder_without_a_record(tiny_model, tiny_tokenizer, tiny_model_dir):
    facts = describe("x", tiny_model.config, tiny_tokenizer, tiny_model_dir)
    assert (facts.source_lang, facts.target_lang, facts.words) == ("en", "fr", True)
    assert not facts.recipe and facts.training is None and facts.evaluations == ()


def test_no_place_on_a_machine_is_told(tiny_model, tmp_path):
    place = str(Path("/somewhere") / "me" / "train.en")
    (tmp_path / "recipe.json").write_text(json.dumps({"train": [place, "data/train.fr"], "pretrained": place}))
    facts = describe("x", tiny_model.config, None, tmp_path)
    assert facts.recipe == {"train": ["train.en", "data/train.fr"], "pretrained": "train.en"}
