"""An interrupted training that goes on ends where an uninterrupted one does, bit for bit."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from safetensors.torch import load_file

from rnnsearch.errors import InputError
from rnnsearch.training.train import last_checkpoint
from rnnsearch.training.trainer import RNNsearchTrainer

DROPOUT = ("--embedding_dropout", 0.3, "--annotation_dropout", 0.2, "--readout_dropout", 0.2, "--num_train_epochs", 3)


@pytest.fixture
def seen(monkeypatch) -> list[tuple[tuple[int, ...], ...]]:
    """The sources of every training batch in the order of training."""
    batches = []
    step = RNNsearchTrainer.training_step

    def training_step(self, model, inputs, *rest):
        batches.append(tuple(tuple(ids for ids in row if ids) for row in inputs["input_ids"].tolist()))
        return step(self, model, inputs, *rest)

    monkeypatch.setattr(RNNsearchTrainer, "training_step", training_step)
    return batches


def interrupt_at(monkeypatch, number: int) -> None:
    """Ctrl-C at the training step of that number, counted from 1."""
    step, count = RNNsearchTrainer.training_step, Counter()

    def training_step(self, *arguments):
        count["steps"] += 1
        if count["steps"] == number:
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(RNNsearchTrainer, "training_step", training_step)


@pytest.mark.parametrize(
    "options, interrupted, checkpoint",
    [
        ((), 10, 6),
        (("--eval_strategy", "steps", "--save_strategy", "steps", "--save_steps", 4, "--eval_steps", 4), 15, 12),
        (("--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", 5), 9, 5),
        (("--batch_tokens", 50, "--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", 3), 12, 9),
        (("--gradient_accumulation_steps", 2, "--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", 2,
          "--optimizer", "adadelta"), 12, 4),
        (("--batch_order", "ascending", "--loss_reduction", "sum", "--eval_strategy", "no", "--save_strategy", "steps",
          "--save_steps", 4), 11, 8),
    ],
    ids=["after an epoch", "at validations", "inside an epoch", "batches of tokens", "accumulated", "ascending"],
)  # fmt: skip
def test_resumed_equals_uninterrupted(run, same, seen, options, interrupted, checkpoint, monkeypatch):
    whole = run(*DROPOUT, *options, folder="whole")
    uninterrupted = list(seen)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, interrupted)
        run(*DROPOUT, *options, folder="parts")
    parts = whole.folder.with_name("parts")
    assert last_checkpoint(str(parts)) == str(parts / f"checkpoint-{checkpoint}")
    seen.clear()
    resumed = run(*DROPOUT, *options, "--resume", folder="parts")

    assert same(resumed.weights, whole.weights)
    assert seen == uninterrupted[-len(seen) :]
    assert 0 < len(seen) < len(uninterrupted)
    per_epoch = len(uninterrupted) // 3
    epochs = [uninterrupted[i : i + per_epoch] for i in range(0, len(uninterrupted), per_epoch)]
    once = [Counter(source for batch in epoch for source in batch) for epoch in epochs]
    assert len(once) == 3
    assert once[0] == once[1] == once[2]
    assert set(once[0].values()) == {1}
    assert sum(once[0].values()) == 48
    assert (epochs[0] == epochs[1] == epochs[2]) if "ascending" in options else (epochs[0] != epochs[1] != epochs[2])


def test_patience_and_best_score_are_resumed(run, same, text, tmp_path, monkeypatch):
    (tmp_path / "shuffled.fr").write_text("sees cat the\n" * 9, encoding="utf-8")
    options = ["--validation", text / "valid.en", tmp_path / "shuffled.fr", "--metric_for_best_model", "loss"]
    options += ["--learning_rate", 0.02, "--lr_scheduler_type", "constant", "--num_train_epochs", 9]
    options += ["--early_stopping_patience", 2]
    whole = run(*options, folder="whole")
    last = whole.state["global_step"]
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, last - 3)  # one validation before the one that stops
        run(*options, folder="parts")
    resumed = run(*options, "--resume", folder="parts")
    assert resumed.state["global_step"] == last
    assert resumed.state["best_metric"] == whole.state["best_metric"]
    assert same(resumed.weights, whole.weights)


def test_the_model_of_the_checkpoint_goes_on_whatever_is_asked_for(run, same, monkeypatch):
    whole = run(folder="whole")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        interrupt_at(patch, 8)
        run(folder="parts")
    resumed = run("--hidden_size", 99, "--tokenizer_kind", "bpe", "--resume", folder="parts")
    assert same(resumed.weights, whole.weights)


def test_a_checkpoint_without_its_end_is_passed_over(run, tmp_path):
    folder, _ = run()
    assert last_checkpoint(str(folder)) == str(folder / "checkpoint-12")
    (folder / "checkpoint-12" / "trainer_state.json").unlink()
    assert last_checkpoint(str(folder)) == str(folder / "checkpoint-6")
    assert last_checkpoint(str(tmp_path / "nowhere")) is None


def test_what_cannot_be_resumed_or_would_be_overwritten(run, tmp_path):
    with pytest.raises(InputError, match="nothing: holds no checkpoint to go on from; leave --resume out"):
        run("--resume", folder="nothing")
    assert not (tmp_path / "nothing").exists()
    before = run("--save_strategy", "no", validate=False).weights
    with pytest.raises(InputError, match="already holds a model; add --resume"):
        run()
    with pytest.raises(InputError, match="holds no checkpoint"):
        run("--resume")
    assert load_file(tmp_path / "model" / "model.safetensors").keys() == before.keys()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for another process")
def test_a_real_interrupt_of_the_command(run, same, text, tmp_path):
    options = [*DROPOUT, "--lr_scheduler_type", "constant", "--metric_for_best_model", "loss"]
    words = ["--train", text / "train.en", text / "train.fr", "--validation", text / "valid.en", text / "valid.fr"]
    words += ["--embedding_size", 12, "--hidden_size", 14, "--alignment_size", 10, "--maxout_size", 12, "--use_cpu"]
    words += ["--tokenizer_kind", "word", "--initializer_range", 0.1, "--per_device_train_batch_size", 8]
    words += [*options, "--num_train_epochs", 400, "--output_dir", tmp_path / "parts"]
    code = "from rnnsearch.cli import main; import sys; sys.argv[0] = 'rnnsearch'; main()"
    # A shell lets what it starts in the background ignore interrupts, and that is inherited: the tests may run so.
    code = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {code}"
    command = [sys.executable, "-c", code, "train", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        until = time.monotonic() + 120
        while last_checkpoint(str(tmp_path / "parts")) is None:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    last = last_checkpoint(str(tmp_path / "parts"))
    assert told.splitlines()[-1] == f"rnnsearch: interrupted; add --resume to go on from {last}"
    assert "Traceback" not in told

    epochs = int(last.rpartition("-")[2]) // 6 + 1
    resumed = run(*options, "--num_train_epochs", epochs, "--resume", folder="parts")
    assert resumed.state["global_step"] == 6 * epochs
    assert same(resumed.weights, run(*options, "--num_train_epochs", epochs, folder="whole").weights)
