"""From text of every kind to a folder that is a complete model."""

import json
import subprocess
import sys

import datasets
import pytest
import sacrebleu
import torch
import transformers
from safetensors.torch import load_file

from rnnsearch import RNNsearchForConditionalGeneration, RNNsearchTokenizer, Translator
from rnnsearch.errors import InputError

FEW = ("--max_steps", 4, "--eval_strategy", "no", "--save_strategy", "no")


@pytest.fixture
def lines(text) -> list[tuple[str, str]]:
    """The training pairs."""
    source, target = ((text / f"train.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "fr"))
    return list(zip(source, target, strict=True))


def test_every_kind_of_input_gives_the_same_model(run, same, lines, tmp_path):
    (tmp_path / "x.tsv").write_text("".join(f"{en}\t{fr}\n" for en, fr in lines), encoding="utf-8")
    rows = [{"id": i, "translation": {"fr": fr, "en": en}} for i, (en, fr) in enumerate(lines)]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    datasets.DatasetDict({"train": datasets.Dataset.from_list(rows)}).save_to_disk(str(tmp_path / "saved"))
    first = run(*FEW, folder="two files")
    for name in ("x.tsv", "x.jsonl", "saved"):
        other = run(*FEW, folder=f"model from {name}", source=[tmp_path / name])
        assert same(first.weights, other.weights)
        assert (other.folder / "tokenizer.json").read_bytes() == (first.folder / "tokenizer.json").read_bytes()
    streamed = run(*FEW, "--streaming", "--max_train_pairs", 48, folder="streamed", source=[tmp_path / "x.tsv"])
    assert same(first.weights, streamed.weights)


@pytest.mark.parametrize("kind", ["word", "bpe"])
@pytest.mark.parametrize("shared", [False, True])
def test_the_folder_is_a_complete_model(run, kind, shared):
    options = ["--tokenizer_kind", kind, "--vocab_size", 290, "--tie_word_embeddings"]
    options += ["--shared_vocabulary"] if shared else ["--src_vocab_size", 280]
    folder, _ = run(*FEW, *options)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert type(model) is RNNsearchForConditionalGeneration
    assert type(tokenizer) is RNNsearchTokenizer
    assert (tokenizer.kind, tokenizer.shared) == (kind, shared)
    assert (model.config.src_vocab_size, model.config.vocab_size) == (
        tokenizer.src_vocab_size,
        tokenizer.target_vocab_size,
    )
    if kind == "bpe":
        assert (tokenizer.src_vocab_size, tokenizer.target_vocab_size) == ((290, 290) if shared else (280, 290))
    assert model.lm_head.weight.data_ptr() == model.model.decoder.embed_tokens.weight.data_ptr()
    assert model.generate(**tokenizer(["the cat sings"], return_tensors="pt")).shape[0] == 1
    # What was set for scoring and by Trainer has not been saved: the state is carried, and no limit is left behind.
    assert model.config.use_cache and model.generation_config.use_cache
    assert model.generation_config.max_length is None and model.generation_config.max_new_tokens is None


def test_validation_scores_are_those_of_real_decoding(run, text):
    both = ["--train", text / "valid.en", text / "valid.fr"]
    trained = run(*both, "--num_train_epochs", 60, "--learning_rate", 0.02, "--eval_strategy", "no")
    sources, references = ((text / f"valid.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "fr"))
    translator = Translator.from_pretrained(trained.folder)
    translations = [best.text for (best,) in translator.translate(sources, num_beams=1)]
    assert trained.metrics["eval_bleu"] > 50
    assert trained.metrics["eval_bleu"] == pytest.approx(sacrebleu.corpus_bleu(translations, [references]).score)
    assert trained.metrics["eval_chrf"] == pytest.approx(sacrebleu.corpus_chrf(translations, [references]).score)
    batch = translator.tokenizer(sources, text_target=references, padding=True, return_tensors="pt")
    labels = batch["labels"].masked_fill(batch["labels"] == 0, -100)
    with torch.no_grad():
        loss = translator.model(batch["input_ids"], batch["attention_mask"], labels=labels).loss.item()
    assert trained.metrics["eval_loss"] == pytest.approx(loss, abs=1e-4)

    # A process that knows nothing of this one translates alike.
    code = (
        "import json, sys, rnnsearch\n"
        "from transformers import AutoModelForSeq2SeqLM, AutoTokenizer\n"
        "model, tok = AutoModelForSeq2SeqLM.from_pretrained(sys.argv[1]), AutoTokenizer.from_pretrained(sys.argv[1])\n"
        "ids = model.generate(**tok(json.loads(sys.argv[2]), padding=True, return_tensors='pt'), num_beams=1)\n"
        "print(json.dumps(tok.batch_decode(ids, skip_special_tokens=True)))\n"
    )
    fresh = subprocess.run(
        [sys.executable, "-c", code, str(trained.folder), json.dumps(sources)],
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert fresh.returncode == 0, fresh.stderr
    assert json.loads(fresh.stdout) == translations


def test_the_record_of_a_training(run):
    trained = run()
    recorded = json.loads((trained.folder / "all_results.json").read_text())
    assert recorded == trained.metrics
    assert recorded.keys() >= {"train_loss", "train_runtime", "eval_loss", "eval_bleu", "eval_chrf"}
    assert [entry["epoch"] for entry in trained.state["log_history"] if "eval_bleu" in entry] == [1, 2, 2]
    assert trained.state["global_step"] == 12


def test_the_best_checkpoint_is_kept_and_stopping_is_early(run, same, text, tmp_path):
    # Targets that have nothing to do with their sources: what is learnt of the training pairs does harm to these.
    (tmp_path / "shuffled.fr").write_text("sees cat the\n" * 9, encoding="utf-8")
    harmed = ["--validation", text / "valid.en", tmp_path / "shuffled.fr", "--metric_for_best_model", "loss"]
    options = [*harmed, "--learning_rate", 0.02, "--lr_scheduler_type", "constant", "--num_train_epochs", 9]
    long = run(*options, "--save_total_limit", 0, folder="long")
    stopped = run(*options, "--early_stopping_patience", 2, folder="stopped")

    def losses(state) -> list[float]:
        return [entry["eval_loss"] for entry in state["log_history"] if "eval_loss" in entry]

    *scores, last = losses(long.state)
    best = min(range(9), key=scores.__getitem__)
    assert best < 6
    assert last == scores[best] == long.metrics["eval_loss"] == long.state["best_metric"]
    steps = 6 * (best + 1)
    assert same(long.weights, load_file(long.folder / f"checkpoint-{steps}" / "model.safetensors"))
    assert not same(long.weights, load_file(long.folder / "checkpoint-54" / "model.safetensors"))
    assert len(list(long.folder.glob("checkpoint-*"))) == 9

    assert losses(stopped.state)[:-1] == scores[: best + 3]
    assert same(stopped.weights, long.weights)
    assert sorted(path.name for path in stopped.folder.glob("checkpoint-*")) == sorted(
        [f"checkpoint-{steps}", f"checkpoint-{steps + 12}"]
    )


def test_bf16_is_close_and_its_weights_are_float32(run, same):
    options = ["--num_train_epochs", 4, "--learning_rate", 0.01, "--eval_strategy", "no", "--save_strategy", "no"]
    full = run(*options, folder="float32")
    half = run(*options, "--bf16", folder="bfloat16")
    assert half.metrics["train_loss"] == pytest.approx(full.metrics["train_loss"], rel=0.02)
    assert half.metrics["train_loss"] < 3.2
    assert {value.dtype for value in half.weights.values()} == {torch.float32}
    assert not same(half.weights, full.weights)


@pytest.mark.parametrize(
    "options",
    [
        ("--batch_tokens", 60),
        ("--label_smoothing_factor", 0.1, "--optimizer", "adadelta"),
        ("--context", "fixed", "--step_order", "groundhog", "--embedding_dropout", 0.2),
        ("--score", "scaled_dot", "--generation_num_beams", 2, "--prediction_loss_only", "no"),
        ("--predict_with_generate", "no", "--metric_for_best_model", "loss"),
    ],
)
def test_options_go_together(run, options):
    trained = run(*options, "--num_train_epochs", 1)
    assert 0 < trained.metrics["eval_loss"] < 5
    assert ("eval_bleu" in trained.metrics) is ("--predict_with_generate" not in options)


def test_without_validation_the_last_model_is_kept(run, same, capsys):
    trained = run(validate=False)
    assert "validation: no text is given, so the last model is kept, not the best\n" in capsys.readouterr().err
    assert same(trained.weights, load_file(trained.folder / "checkpoint-12" / "model.safetensors"))
    assert "eval_loss" not in trained.metrics
    assert "validation: the last model is kept, not the best\n" not in capsys.readouterr().err
    run("--save_strategy", "no", folder="no checkpoints")
    assert "validation: the last model is kept, not the best\n" in capsys.readouterr().err
    with pytest.raises(InputError, match="early_stopping_patience needs --validation"):
        run("--early_stopping_patience", 1, folder="other", validate=False)


def test_blank_and_long_pairs_are_dropped_and_counted(run, lines, tmp_path, capsys):
    pairs = [*lines[:20], ("", "la"), ("the", " \t"), *lines[20:], ("the " * 21, "la")]
    for path, side in (("a.en", 0), ("b.fr", 1)):
        (tmp_path / path).write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    given = run("--max_length", 20, "--num_train_epochs", 1, source=[tmp_path / "a.en", tmp_path / "b.fr"])
    told = capsys.readouterr().err
    assert "training: 49 pairs kept; 2 dropped: 2 blank (at lines 21, 22)\n" in told
    assert "training: 48 pairs kept; 1 over 20 tokens dropped\n" in told
    assert given.state["global_step"] == 6


def test_training_goes_on_from_a_trained_model(run, same, tmp_path):
    first = run(*FEW, "--annotation_dropout", 0.1, folder="first")
    rest = run(*FEW, "--pretrained", first.folder, "--learning_rate", 0, "--hidden_size", 99, folder="rest")
    assert same(rest.weights, first.weights)
    assert (rest.folder / "tokenizer.json").read_bytes() == (first.folder / "tokenizer.json").read_bytes()
    assert json.loads((rest.folder / "config.json").read_text())["annotation_dropout"] == 0.1

    half = tmp_path / "half"
    RNNsearchForConditionalGeneration.from_pretrained(first.folder).to(torch.bfloat16).save_pretrained(half)
    RNNsearchTokenizer.from_pretrained(first.folder).save_pretrained(half)
    tuned = run(*FEW, "--pretrained", half, folder="tuned")
    assert {value.dtype for value in tuned.weights.values()} == {torch.float32}

    vocabulary = run(*FEW, "--tokenizer", first.folder, folder="vocabulary")
    assert (vocabulary.folder / "tokenizer.json").read_bytes() == (first.folder / "tokenizer.json").read_bytes()
    with pytest.raises(InputError, match="not both"):
        run("--pretrained", half, "--tokenizer", first.folder, folder="both")
