"""The paper's rows at full size: what they tell `rnnsearch train`, the models that they make, and a stream of text."""

import json
import re
import shlex
from pathlib import Path

import pytest
import torch
from accelerate.commands.launch import launch_command_parser

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration
from rnnsearch.data.grammar import corpus
from rnnsearch.training.parser import OptionParser
from rnnsearch.training.train import train

ROOT = Path(__file__).parents[1]
PAPER = ROOT / "examples" / "paper"
# Context, words of a training sentence, updates (table 2)
ROWS = {
    "rnnencdec_30": ("fixed", 30, 846_000),
    "rnnsearch_30": ("search", 30, 471_000),
    "rnnencdec_50": ("fixed", 50, 600_000),
    "rnnsearch_50": ("search", 50, 288_000),
    "rnnsearch_50_star": ("search", 50, 667_000),
}
# Without biases, which the paper leaves out; in its letters, with n' = n and K words a language:
# RNNsearch  2 K m + 6 n (m + n) + n² + (3 n² + n) + 3 n (m + 3 n) + 2 l (m + 3 n) + K l
# RNNencdec  2 K m + 3 n (m + n) + n² + 3 n (m + 2 n) + 2 l (m + 2 n) + K l
WEIGHTS = {
    "search": 37_200_000 + 9_720_000 + 1_000_000 + 3_001_000 + 10_860_000 + 3_620_000 + 15_000_000,
    "fixed": 37_200_000 + 4_860_000 + 1_000_000 + 7_860_000 + 2_620_000 + 15_000_000,
}


def test_every_row_has_its_file():
    assert {path.stem for path in PAPER.glob("*.json")} == set(ROWS)
    readme = (PAPER / "README.md").read_text(encoding="utf-8")
    for name, (context, words, updates) in ROWS.items():
        model = {"fixed": "RNNencdec", "search": "RNNsearch"}[context]
        assert f"| [{name}.json]({name}.json) | {model} | {words} | {updates:,} |" in readme


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_the_papers(name):
    context, words, updates = ROWS[name]
    data, model, args = OptionParser().read([str(PAPER / f"{name}.json")])
    assert (data.train, data.streaming, data.max_train_pairs) == (["wmt/wmt14:fr-en"], True, 12_000_000)
    assert (data.source_lang, data.target_lang, data.tokenizer_kind, data.max_length) == ("en", "fr", "word", words)
    assert (model.context, model.score, model.step_order) == (context, "additive", "paper")
    assert (args.optimizer, args.learning_rate, args.lr_scheduler_type, args.max_grad_norm) == (
        "adadelta", 1.0, "constant", 1.0,
    )  # fmt: skip
    assert (args.per_device_train_batch_size, args.batch_order, args.loss_reduction) == (80, "ascending", "sum")
    assert (args.max_steps, args.bf16, args.label_smoothing_factor) == (updates, False, 0.0)
    assert args.load_best_model_at_end == name.endswith("star")
    config = RNNsearchConfig(**vars(model))
    with torch.device("meta"):
        parameters = dict(RNNsearchForConditionalGeneration(config).named_parameters())
    weights = sum(value.numel() for key, value in parameters.items() if not key.endswith("bias"))
    assert weights == WEIGHTS[context] == {"search": 80_401_000, "fixed": 68_540_000}[context]


def test_a_stream_of_a_data_set_trains(tmp_path):
    """A folder of rows as the Hub has them stands in for it; of 60 pairs 33 are read."""
    (tmp_path / "set").mkdir()
    rows = [{"translation": {"en": pair.source, "fr": pair.target}} for pair in corpus(60, (3, 8), 1)]
    for number, part in enumerate((rows[:20], rows[20:])):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in part)
        (tmp_path / "set" / f"train-{number}.jsonl").write_text(lines, encoding="utf-8")
    for side in ("en", "fr"):
        lines = "".join(f"{row['translation'][side]}\n" for row in rows[:5])
        (tmp_path / f"valid.{side}").write_text(lines, encoding="utf-8")
    small = [f"--{part}_size=6" for part in ("embedding", "hidden", "alignment", "maxout")]
    words = [
        str(PAPER / "rnnencdec_30.json"), "--train", str(tmp_path / "set"), "--max_train_pairs=33",
        "--validation", str(tmp_path / "valid.en"), str(tmp_path / "valid.fr"), *small, "--max_steps=4",
        "--eval_steps=2", "--save_steps=2", "--per_device_train_batch_size=16", "--use_cpu", "--disable_tqdm=true",
        "--output_dir", str(tmp_path / "model"),
    ]  # fmt: skip
    metrics = train(*OptionParser().read(words))
    assert metrics["train_samples"] == 33
    state = json.loads((tmp_path / "model" / "trainer_state.json").read_text(encoding="utf-8"))
    assert (state["global_step"], state["epoch"]) == (4, pytest.approx(4 / 3))


def launches(text: str) -> list[list[str]]:
    """The words that follow `accelerate launch`, of each such line of the shell blocks of a page."""
    code = "".join(re.findall(r"```bash\n(.*?)```", text, re.DOTALL)).replace("\\\n", " ")
    return [shlex.split(line)[2:] for line in code.splitlines() if line.startswith("accelerate launch ")]


def test_lines_of_accelerate_can_be_typed(monkeypatch):
    """Accelerate knows its options, and `rnnsearch train` those that follow."""
    monkeypatch.chdir(ROOT)
    found = launches((ROOT / "docs" / "scaling.md").read_text(encoding="utf-8"))
    assert len(found) == 4
    pairs = []
    for words in found:
        options = launch_command_parser().parse_args(words)
        assert options.training_script == ".venv/bin/rnnsearch"
        command, *rest = options.training_script_args
        assert command == "train"
        _, _, args = OptionParser().read(rest)
        pairs.append((options.multi_gpu, options.num_processes * args.per_device_train_batch_size))
    assert pairs == [(False, 80), (True, 80), (True, 80), (True, 16)]
