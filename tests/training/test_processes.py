"""Two processes train as one does on batches of twice the size, also where their numbers of words differ."""

import json
import runpy
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

WORKER = Path(__file__).with_name("worker.py")


@pytest.fixture(scope="module")
def together(tiny_model_dir, tmp_path_factory, two_processes) -> Path:
    folder = tmp_path_factory.mktemp("together")
    two_processes(WORKER, tiny_model_dir, folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "batch_size", "accumulated"), [("plain", 16, 1), ("like length", 16, 1), ("accumulated", 8, 2)]
)
def test_two_processes_train_as_one(together, tiny_model_dir, name, batch_size, accumulated):
    first, second = (load_file(together / f"{name} {rank}.safetensors") for rank in range(2))
    alone = runpy.run_path(str(WORKER))["train"](str(tiny_model_dir), name, batch_size, accumulated)
    start = load_file(tiny_model_dir / "model.safetensors")
    for weight, value in alone.items():
        assert torch.equal(first[weight], second[weight]), weight
        assert value.dtype == torch.float64
        torch.testing.assert_close(first[weight], value, atol=1e-6, rtol=0)
        assert (value - start[weight]).abs().max() > 1e-3, weight


@pytest.mark.slow
def test_the_command_trains_alike_and_speaks_once(run, text, tmp_path, two_processes):
    """20 epochs of one step in float32, a batch of 24 in each process or one of 48; the 9 validation pairs shared."""
    options = ["--num_train_epochs", 20, "--save_strategy", "no", "--learning_rate", 0.01, "--warmup_steps", 0]
    options += ["--label_smoothing_factor", 0.1, "--eval_strategy", "no", "--per_device_eval_batch_size", 4]
    alone = run(*options, "--per_device_train_batch_size", 48, folder="alone")
    words = ["--train", text / "train.en", text / "train.fr", "--validation", text / "valid.en", text / "valid.fr"]
    words += ["--embedding_size", 12, "--hidden_size", 14, "--alignment_size", 10, "--maxout_size", 12, "--use_cpu"]
    words += ["--tokenizer_kind", "word", "--initializer_range", 0.1, "--output_dir", tmp_path / "together"]
    command = Path(sys.executable).with_name("rnnsearch")
    _, told = two_processes(command, "train", *words, *options, "--per_device_train_batch_size", 24)
    assert told.count("training: 48 pairs kept; 0 dropped\n") == 1
    assert "unused parameters" not in told
    together = type(alone)(tmp_path / "together", json.loads((tmp_path / "together" / "all_results.json").read_text()))
    assert together.state["global_step"] == alone.state["global_step"] == 20
    for name, value in alone.weights.items():
        torch.testing.assert_close(together.weights[name], value, atol=1e-4, rtol=0)
    # Not the loss: Trainer's is a mean over batches of their means.
    for score in ("eval_bleu", "eval_chrf"):
        assert together.metrics[score] == pytest.approx(alone.metrics[score], rel=1e-3)
