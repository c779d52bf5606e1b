"""Every field is an option, the defaults are those that are documented, and what does not fit is refused."""

import dataclasses

import pytest
from transformers import Seq2SeqTrainingArguments

from rnnsearch import RNNsearchConfig
from rnnsearch.errors import InputError
from rnnsearch.training.arguments import ModelArguments, RNNsearchTrainingArguments
from rnnsearch.training.parser import OptionParser


def read(*words: str):
    return OptionParser().read(list(words))


def test_every_trainer_flag_is_an_option():
    trainer = [item for item in dataclasses.fields(Seq2SeqTrainingArguments) if item.init]
    ours = {item.name: item for item in dataclasses.fields(RNNsearchTrainingArguments)}
    assert len(trainer) > 100
    for item in trainer:
        if item.name not in RNNsearchTrainingArguments.__annotations__:
            assert ours[item.name].default == item.default
    *_, args = read("--adam_beta2", "0.98", "--gradient-accumulation-steps", "3", "--generation_num_beams", "4")
    assert (args.adam_beta2, args.gradient_accumulation_steps, args.generation_num_beams) == (0.98, 3, 4)


def test_model_options_are_the_configuration_with_its_defaults():
    _, model, _ = read()
    config = RNNsearchConfig()
    named = dataclasses.asdict(model)
    assert named == {name: getattr(config, name) for name in named}
    sizes = {"src_vocab_size", "vocab_size", "embedding_size", "hidden_size", "alignment_size", "maxout_size"}
    choices = {"step_order", "context", "score", "tie_word_embeddings", "initializer_range"}
    assert named.keys() == sizes | choices | {"embedding_dropout", "annotation_dropout", "readout_dropout"}


def test_help_names_every_option_and_ours_first():
    text = OptionParser().format_help()
    names = [line.split()[0] for line in text.splitlines() if line.startswith("  --")]
    fields = [
        *dataclasses.fields(read()[0]),
        *dataclasses.fields(ModelArguments),
        *[item for item in dataclasses.fields(RNNsearchTrainingArguments) if item.init],
    ]
    assert sorted(names) == sorted(f"--{item.name}" for item in fields)
    assert names.index("--resume") < names.index("--bf16")
    assert "  --score additive|dot|scaled_dot\n" in text
    assert "Share of maxout units dropped in training. [default: 0.0]" in text
    assert "%%" not in text


def test_both_spellings_and_lone_booleans():
    data, model, args = read("--max-length", "7", "--hidden_size", "5", "--use-cpu", "--bf16", "--streaming", "no")
    assert (data.max_length, data.streaming) == (7, False)
    assert model.hidden_size == 5
    assert (args.use_cpu, args.bf16) == (True, True)
    assert read("--bf16", "false", "--no_load_best_model_at_end")[2].load_best_model_at_end is False


def test_json_and_the_command_line_which_wins(tmp_path):
    path = tmp_path / "config.json"
    path.write_bytes(
        b'{"train": ["a b.en", "c.fr"], "hidden-size": 64, "learning_rate": 1e-05, "tie_word_embeddings": true,'
        b'"lr_scheduler_type": "cosine_with_min_lr", "lr_scheduler_kwargs": {"min_lr": 1e-07}, "max_steps": -1}'
    )
    data, model, args = read(str(path), "--hidden_size", "65", "--max_length=9")
    assert data.train == ["a b.en", "c.fr"]
    assert (data.max_length, model.hidden_size, model.tie_word_embeddings) == (9, 65, True)
    assert (args.learning_rate, args.lr_scheduler_kwargs, args.max_steps) == (1e-5, {"min_lr": 1e-7}, -1)


@pytest.mark.parametrize(
    "given, expected",
    [
        ([], (1e-3, "cosine")),
        (["--optimizer", "adadelta"], (1.0, "constant")),
        (["--optimizer", "adadelta", "--learning_rate", "0.5"], (0.5, "constant")),
        (["--optimizer", "adadelta", "--lr_scheduler_type", "linear"], (1.0, "linear")),
        (["--learning_rate", "0"], (0.0, "cosine")),
    ],
)
def test_learning_rate_follows_the_optimizer_unless_given(given, expected):
    *_, args = read(*given)
    assert (args.learning_rate, args.lr_scheduler_type) == expected


def test_no_evaluation_needs_no_other_flag():
    *_, args = read("--eval_strategy", "no")
    assert args.load_best_model_at_end is False
    with pytest.raises(InputError, match="early_stopping_patience needs validations"):
        read("--eval_strategy", "no", "--early_stopping_patience", "2")


def test_ascending_batches_are_batches_of_pairs():
    with pytest.raises(InputError, match="ascending is for batches of pairs: leave --batch_tokens out"):
        read("--batch_order", "ascending", "--batch_tokens", "1000")


def test_scores_of_decoded_text_need_decoding():
    with pytest.raises(InputError, match="bleu needs --predict_with_generate; or choose loss"):
        read("--predict_with_generate", "false")
    assert read("--predict_with_generate", "false", "--metric_for_best_model", "loss")[2].greater_is_better is False
