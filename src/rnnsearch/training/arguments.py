"""What `rnnsearch train` can be told: data, model and training, each field with the sentence that `--help` prints."""

import dataclasses
import inspect
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_origin

import torch
from transformers import Seq2SeqTrainingArguments

from ..errors import InputError
from ..modeling.configuration_rnnsearch import RNNsearchConfig

STRATEGIES = ("no", "steps", "epoch")
# Step size and course of the learning rate. Adadelta finds its own step sizes, its rate is a factor that stays 1.
ADAM, ADADELTA = (1e-3, "cosine"), (1.0, "constant")


def _option(help: str, default: Any = None, choices: Sequence[str] = ()) -> Any:
    metadata = {"help": help} | ({"choices": choices} if choices else {})
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass
class DataArguments:
    """The parallel text and the vocabularies made from it."""

    train: list[str] = _option(
        "Training pairs: two text files, or one .tsv, .csv or .jsonl file, a datasets folder, or a name on the Hub "
        "(owner/name or owner/name:config). Files may end in .gz or .xz.",
        [],
    )
    validation: list[str] = _option(
        "Validation pairs, given like --train; decoded and scored after each epoch. Without them the last model is "
        "kept, not the best.",
        [],
    )
    source_lang: str = _option("Language of the source, as a two-letter code.", "en")
    target_lang: str = _option("Language of the target, as a two-letter code.", "fr")
    train_split: str = _option("Split of a data set that --train names.", "train")
    validation_split: str = _option("Split of a data set that --validation names.", "validation")
    streaming: bool = _option("Read --train from the Hub as it arrives, up to --max_train_pairs.", False)
    max_train_pairs: int = _option("Read this many training pairs at most; 0 reads all.", 0)
    max_length: int = _option("Drop a training pair if either side has more than this many tokens, </s> aside.", 50)
    tokenizer: str | None = _option("Folder or Hub name of a tokenizer to use; by default one is trained on --train.")
    tokenizer_kind: str = _option("Kind of tokenizer to train.", "bpe", ("bpe", "word"))
    shared_vocabulary: bool = _option("One vocabulary of --vocab_size entries for both languages.", False)
    pretrained: str | None = _option(
        "Folder or Hub name of a trained RNNsearch to go on from, with its tokenizer and its sizes."
    )


def _model_arguments() -> Any:
    """The fields of `RNNsearchConfig` that shape the model, with the sentences of its docstring."""
    described = dict(
        re.findall(r"^    (\w+): (.+(?:\n     +.+)*)", inspect.cleandoc(RNNsearchConfig.__doc__ or ""), re.M)
    )
    fields = []
    for item in dataclasses.fields(RNNsearchConfig):
        if item.name not in described or item.name.endswith("_token_id") or item.name == "use_cache":
            continue
        kind = item.type if get_origin(item.type) is Literal else type(item.default)
        text = " ".join(described[item.name].split()).replace("`", "")
        fields.append((item.name, kind, _option(text[0].upper() + text[1:], item.default)))
    return dataclasses.make_dataclass("ModelArguments", fields)


ModelArguments = _model_arguments()


@dataclass
class RNNsearchTrainingArguments(Seq2SeqTrainingArguments):
    """Every argument of `Seq2SeqTrainingArguments`, with other defaults, and a few of our own.

    Raises:
        ValueError: arguments do not fit each other.
    """

    output_dir: str = _option("Folder to write the trained model to.", "rnnsearch-model")
    resume: bool = _option(
        "Go on from the last checkpoint in --output_dir; with as many threads as before, to the same result, bit for "
        "bit.",
        False,
    )
    num_train_epochs: float = _option("Passes over the training pairs.", 20.0)
    per_device_train_batch_size: int = _option("Pairs in a training batch; 80 in appendix B.2.", 80)
    batch_tokens: int = _option("Cut batches by padded tokens of the longer side instead of by pairs; 0 does not.", 0)
    batch_order: str = _option(
        "Order of the batches: random, or, as in the authors' code, ascending in length within each pool of 20, with "
        "the pairs shuffled once and not for every epoch.",
        "random",
        ("random", "ascending"),
    )
    per_device_eval_batch_size: int = _option("Pairs in a validation batch.", 128)
    optimizer: str = _option(
        "Adam, in the form --optim names, or Adadelta with rho 0.95 and epsilon 1e-6, the paper's (appendix B.2).",
        "adam",
        ("adam", "adadelta"),
    )
    loss_reduction: str = _option(
        "What is differentiated, and logged as the training's loss: the mean over the words of an update, or, as in "
        "the authors' code, their sum, which --max_grad_norm then nearly always rescales.",
        "mean",
        ("mean", "sum"),
    )
    learning_rate: float = _option("Step size; 0.001 for adam and 1 for adadelta unless given.")
    lr_scheduler_type: str = _option(
        "Course of the learning rate; cosine for adam and constant for adadelta unless given."
    )
    warmup_steps: float = _option("Updates, or share of them, over which the learning rate rises from 0.", 0.02)
    max_grad_norm: float = _option("Rescale gradients whose L2 norm over all weights is above this; 1 in B.2.", 1.0)
    eval_strategy: str = _option("When to decode and score the validation pairs.", "epoch", STRATEGIES)
    save_strategy: str = _option("When to write a checkpoint.", "epoch", STRATEGIES)
    save_total_limit: int | None = _option("Checkpoints kept, the best one among them; 0 keeps all.", 2)
    load_best_model_at_end: bool = _option("Write the model of the best validation score.", True)
    metric_for_best_model: str | None = _option(
        "The validation score that decides which model is best.", "bleu", ("bleu", "chrf", "loss")
    )
    predict_with_generate: bool = _option("Score validation pairs by real decoding.", True)
    early_stopping_patience: int = _option("Stop after this many validations without a better score; 0 never.", 0)
    logging_steps: float = _option("Updates between two lines of training loss.", 50)
    use_cache: bool = _option("Let the trained model carry its decoder state when it generates.", True)
    ddp_find_unused_parameters: bool | None = _option(
        "Look at each step for weights without a gradient, which the model does not have; for several processes.",
        False,
    )
    report_to: str = _option("Where to report to: none, tensorboard, wandb, ...", "none")
    restore_callback_states_from_checkpoint: bool = _option("Let --resume also restore the patience left.", True)
    seed: int = _option("Seed of weights, dropout and the order of batches.", 1234)

    def __post_init__(self):
        learning_rate, lr_scheduler_type = ADADELTA if self.optimizer == "adadelta" else ADAM
        self.learning_rate = learning_rate if self.learning_rate is None else self.learning_rate
        self.lr_scheduler_type = self.lr_scheduler_type or lr_scheduler_type
        if self.batch_tokens and self.batch_order == "ascending":
            raise InputError("--batch_order ascending is for batches of pairs: leave --batch_tokens out")
        if self.early_stopping_patience and self.eval_strategy == "no":
            raise InputError("--early_stopping_patience needs validations: --eval_strategy must not be no")
        if "no" in (self.eval_strategy, self.save_strategy):
            self.load_best_model_at_end = False
        decoded = self.predict_with_generate and not self.prediction_loss_only
        if self.load_best_model_at_end and self.metric_for_best_model != "loss" and not decoded:
            raise InputError(
                f"--metric_for_best_model {self.metric_for_best_model} needs --predict_with_generate; or choose loss"
            )
        # Said aloud, as Transformers refuses bf16 and torch warns of pinned memory where a GPU could have been meant.
        self.use_cpu = self.use_cpu or not torch.accelerator.is_available()
        super().__post_init__()


__all__ = ["DataArguments", "ModelArguments", "RNNsearchTrainingArguments"]
