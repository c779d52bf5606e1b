"""What a training was told can be told again, and goes into the card."""

import json

import pytest
from safetensors.torch import load_file

from rnnsearch import RNNsearchConfig, RNNsearchTokenizer
from rnnsearch.hub.card import Training, describe, make_card
from rnnsearch.training.arguments import RNNsearchTrainingArguments
from rnnsearch.training.parser import OptionParser
from rnnsearch.training.record import changed_options
from rnnsearch.training.train import train

FEW = ("--max_steps", 3, "--eval_strategy", "no", "--save_strategy", "no")


@pytest.mark.parametrize(
    "words",
    [
        ["--train", "a.tsv"],
        ["--train", "a.en", "a.fr", "--hidden_size", "7", "--optimizer", "adadelta", "--num_train_epochs", "2.5"],
        ["--train", "a.en", "a.fr", "--validation", "b.en", "b.fr", "--label_smoothing_factor", "0.1", "--use_cpu"],
        ["--train", "a.tsv", "--tie_word_embeddings", "--score", "dot", "--eval_strategy", "no", "--seed", "3"],
        ["--train", "a.tsv", "--lr_scheduler_type", "linear", "--lr_scheduler_kwargs", '{"num_cycles": 2}'],
    ],
)
def test_a_recipe_gives_the_same_arguments(words, tmp_path):
    place = ["--output_dir", str(tmp_path / "model")]
    first = OptionParser().read([*words, *place])
    options = changed_options(*first)
    path = tmp_path / "recipe.json"
    path.write_text(json.dumps(options))
    again = OptionParser().read([str(path), *place])
    assert again[:2] == first[:2]
    assert again[2].to_dict() == first[2].to_dict()
    assert len(options) < 12, "what is the default need not be said"


def test_no_recipe_says_where_it_went_or_who_watched(tmp_path):
    data, model, _ = OptionParser().read(["--train", "a.tsv"])
    args = RNNsearchTrainingArguments(
        output_dir=str(tmp_path), resume=True, hub_token="hf_secret", hub_model_id="me/m", logging_steps=7, seed=3
    )
    assert changed_options(data, model, args) == {"train": ["a.tsv"], "seed": 3}


def test_a_training_leaves_its_recipe(run, text):
    folder, metrics = run(*FEW, "--seed", 7)
    recipe = json.loads((folder / "recipe.json").read_text(encoding="utf-8"))
    assert recipe["train"] == [str(text / "train.en"), str(text / "train.fr")]
    assert (recipe["hidden_size"], recipe["max_steps"], recipe["seed"]) == (14, 3, 7)
    assert metrics["train_samples"] == 48


def test_the_same_recipe_trains_the_same_model(run, same, tmp_path):
    first = run(*FEW, "--seed", 7)
    train(*OptionParser().read([str(first.folder / "recipe.json"), "--output_dir", str(tmp_path / "again")]))
    assert same(first.weights, load_file(tmp_path / "again" / "model.safetensors"))


def test_the_card_of_a_training(run):
    folder, metrics = run("--max_steps", 12)
    facts = describe(
        "me/m", RNNsearchConfig.from_pretrained(folder), RNNsearchTokenizer.from_pretrained(folder), folder
    )
    assert facts.training == Training(12, 2.0, 48, metrics["eval_bleu"])
    card = str(make_card(facts))
    for line in (
        "- Text: train.en, train.fr",
        "- Text for validation: valid.en, valid.fr",
        "- Pairs: 48",
        "- Length: 12 updates, 2 passes over the pairs",
        f"- BLEU of the validation pairs: {metrics['eval_bleu']:.1f}",
        "- Languages: from en to fr",
    ):
        assert f"\n{line}\n" in card
    assert str(folder.parent) not in card
