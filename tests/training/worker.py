"""What each process of `test_processes.py` runs: three trainings in float64, and the weights that come out of them.

torchrun --nproc_per_node 2 tests/training/worker.py MODEL OUTPUT
"""

import os
import sys
from pathlib import Path

import torch
from accelerate import PartialState
from datasets import Dataset
from safetensors.torch import save_file
from transformers import DataCollatorForSeq2Seq, Seq2SeqTrainer

from rnnsearch import RNNsearchForConditionalGeneration, RNNsearchTokenizer
from rnnsearch.data.grammar import corpus
from rnnsearch.training.parser import OptionParser
from rnnsearch.training.trainer import RNNsearchTrainer

STEPS = 20
# Name of the training: its trainer and its number of pairs. Batches of like length are others where batches are
# larger, but 16 pairs are one batch of 16 as well as two of 8, the short pairs in one and the long ones in the other.
TRAININGS = {
    "plain": (Seq2SeqTrainer, 96),
    "like length": (RNNsearchTrainer, 16),
    "accumulated": (RNNsearchTrainer, 96),
}


def train(model_folder: str, name: str, batch_size: int, accumulated: int = 1) -> dict[str, torch.Tensor]:
    """Weights after 20 steps of Adam from the model in a folder."""
    kind, size = TRAININGS[name]
    model = RNNsearchForConditionalGeneration.from_pretrained(model_folder, dtype=torch.float64)
    tokenizer = RNNsearchTokenizer.from_pretrained(model_folder)
    pairs = corpus(size, (3, 20), 0)
    columns = dict(tokenizer([pair.source for pair in pairs], text_target=[pair.target for pair in pairs]))
    columns["length"] = [len(ids) for ids in columns["labels"]]
    *_, args = OptionParser().read(
        [
            *("--output_dir", f"{model_folder}-trained", "--use_cpu", "--disable_tqdm", "1"),
            *("--eval_strategy", "no", "--save_strategy", "no", "--max_steps", str(STEPS), "--learning_rate", "0.01"),
            *("--per_device_train_batch_size", str(batch_size), "--gradient_accumulation_steps", str(accumulated)),
        ]
    )
    collator = DataCollatorForSeq2Seq(tokenizer, model=model)
    trainer = kind(model=model, args=args, train_dataset=Dataset.from_dict(columns), data_collator=collator)
    trainer.train()
    assert trainer.state.global_step == STEPS
    return {name: value.detach() for name, value in model.state_dict().items()}


if __name__ == "__main__":
    model_folder, output = sys.argv[1:]
    for name in TRAININGS:
        weights = train(model_folder, name, batch_size=8)
        save_file(weights, Path(output) / f"{name} {os.environ['RANK']}.safetensors")
    if torch.__version__ >= "2.8":  # as `rnnsearch train`
        PartialState().destroy_process_group()
