"""From parallel text to a folder with a trained model: what `rnnsearch train` does."""

import itertools
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import DataCollatorForSeq2Seq, EarlyStoppingCallback, GenerationConfig, set_seed
from transformers.trainer_utils import IntervalStrategy

from ..data.corpus import Pair, filter_pairs, load_pairs
from ..errors import InputError
from ..loading import load_model, load_tokenizer
from ..modeling.configuration_rnnsearch import RNNsearchConfig
from ..modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer
from .arguments import DataArguments, RNNsearchTrainingArguments
from .memory import keep_freed_memory
from .record import changed_options, write_recipe
from .trainer import RNNsearchTrainer, score_decoded


def train(data: DataArguments, model_arguments: Any, args: RNNsearchTrainingArguments) -> dict[str, float]:
    """Train a model and write it, its tokenizer and the training's record to `args.output_dir`.

    Nothing is written before all text is read. Without validation text `args` is changed: nothing is scored, and the
    last model is kept.

    Args:
        data: the text and the vocabularies.
        model_arguments: fields of `RNNsearchConfig`; without effect where a model is resumed or `data.pretrained`.
        args: everything about the training itself.

    Returns:
        the scores of the best checkpoint on the validation pairs, and the training's time and loss.

    Raises:
        InputError: the text cannot be read, or the arguments do not fit each other.
    """
    keep_freed_memory()
    recipe = changed_options(data, model_arguments, args)
    checkpoint = _checkpoint_to_resume(args)
    config = _config(data, model_arguments)
    set_seed(args.seed)
    pairs = _read(data)
    validation = _read_validation(data, args)
    model, tokenizer = _model_and_tokenizer(data, config, pairs, checkpoint)
    training = _encode(tokenizer, pairs, data.max_length)
    settings = model.generation_config
    # For scoring alone; who loads the model chooses their own limit, or gets the one of `generate`.
    model.generation_config = GenerationConfig.from_model_config(model.config)
    model.generation_config.max_length = 2 * max(len(ids) for ids in training["labels"])
    model.generation_config.num_beams = args.generation_num_beams or 1
    decoded = args.predict_with_generate and not args.prediction_loss_only
    references = [pair.target for pair in validation]
    try:
        trainer = RNNsearchTrainer(
            model=model,
            args=args,
            train_dataset=training,
            eval_dataset=_encode(tokenizer, validation) if validation else None,
            processing_class=tokenizer,
            data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
            compute_metrics=score_decoded(tokenizer, references, data.target_lang) if decoded else None,
            callbacks=[EarlyStoppingCallback(args.early_stopping_patience)] if args.early_stopping_patience else [],
        )
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        # A folder that cannot be made, fp16 without a GPU, a report to what is not installed
        raise InputError(" ".join(str(error).split())) from error
    _say(f"{model.num_parameters():,} parameters; device {args.device}, threads {torch.get_num_threads()}")
    result = trainer.train(resume_from_checkpoint=checkpoint)
    metrics = {**result.metrics, "train_samples": len(training)}
    if validation:
        metrics |= trainer.evaluate()
    model.generation_config = settings
    if trainer.is_world_process_zero():
        # The record first: saving the model is also what publishes the folder where --push_to_hub asks for it.
        write_recipe(recipe, args.output_dir)
        trainer.save_state()
        trainer.save_metrics("all", metrics)
        trainer.save_model()
        _say(f"model written to {args.output_dir}")
    return metrics


def last_checkpoint(folder: str) -> str | None:
    """The last checkpoint in a folder that was written to its end, if there is one."""
    # The state is what a checkpoint gets last; an interrupt may have left one without.
    whole = [path.parent for path in Path(folder).glob("checkpoint-*/trainer_state.json")]
    return str(max(whole, key=lambda path: int(path.name.rpartition("-")[2]))) if whole else None


def _checkpoint_to_resume(args: RNNsearchTrainingArguments) -> str | None:
    """The last checkpoint where `--resume` asks for it.

    Raises:
        InputError: there is no checkpoint to resume, or there is a model and `--resume` is not given.
    """
    folder = Path(args.output_dir)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; --output_dir names a folder")
    last = last_checkpoint(args.output_dir)
    if args.resume:
        if last is None:
            raise InputError(f"{folder}: holds no checkpoint to go on from; leave --resume out to start anew")
        return last
    if last is not None or (folder / "config.json").exists():
        raise InputError(f"{folder}: already holds a model; add --resume to go on, or choose another --output_dir")
    return None


def _config(data: DataArguments, model_arguments: Any) -> RNNsearchConfig:
    if data.tokenizer and data.pretrained:
        raise InputError("give --tokenizer or --pretrained, not both: a trained model brings its own tokenizer")
    try:
        return RNNsearchConfig(**asdict(model_arguments))
    except ValueError as error:
        raise InputError(str(error)) from error


def _read(data: DataArguments) -> list[Pair]:
    if not data.train:
        raise InputError("no training text: give --train with two text files, one file of pairs or a data set")
    pairs = load_pairs(
        data.train, data.source_lang, data.target_lang, split=data.train_split, streaming=data.streaming
    )
    kept, report = filter_pairs(itertools.islice(pairs, data.max_train_pairs or None))
    _say(f"training: {report}")
    return kept


def _read_validation(data: DataArguments, args: RNNsearchTrainingArguments) -> list[Pair]:
    """The validation pairs in order of length, so that their batches need little padding."""
    if not data.validation:
        if args.early_stopping_patience:
            raise InputError("--early_stopping_patience needs --validation text")
        _say("validation: no text is given, so the last model is kept, not the best")
        args.eval_strategy, args.load_best_model_at_end = IntervalStrategy.NO, False
        return []
    kept, report = filter_pairs(
        load_pairs(data.validation, data.source_lang, data.target_lang, split=data.validation_split)
    )
    _say(f"validation: {report}")
    if not args.load_best_model_at_end:
        _say("validation: the last model is kept, not the best")
    return sorted(kept, key=lambda pair: len(pair.source))


def _model_and_tokenizer(
    data: DataArguments, config: RNNsearchConfig, pairs: list[Pair], checkpoint: str | None
) -> tuple[RNNsearchForConditionalGeneration, RNNsearchTokenizer]:
    """Those that training goes on from, or a model with random weights, as large as the tokenizer's vocabularies."""
    trained = checkpoint or data.pretrained
    if trained is not None:
        return load_model(trained, "cpu", torch.float32), load_tokenizer(trained)
    tokenizer = _train_tokenizer(data, config, pairs) if data.tokenizer is None else load_tokenizer(data.tokenizer)
    config.src_vocab_size, config.vocab_size = tokenizer.src_vocab_size, tokenizer.target_vocab_size
    return RNNsearchForConditionalGeneration(config), tokenizer


def _train_tokenizer(data: DataArguments, config: RNNsearchConfig, pairs: list[Pair]) -> RNNsearchTokenizer:
    try:
        tokenizer = RNNsearchTokenizer.train(
            [pair.source for pair in pairs],
            [pair.target for pair in pairs],
            kind=data.tokenizer_kind,
            vocab_size=config.vocab_size,
            src_vocab_size=None if data.shared_vocabulary else config.src_vocab_size,
            shared=data.shared_vocabulary,
            source_lang=data.source_lang,
            target_lang=data.target_lang,
        )
    except ValueError as error:
        raise InputError(str(error)) from error
    _say(f"tokenizer: {tokenizer.src_vocab_size:,} source and {tokenizer.target_vocab_size:,} target entries")
    return tokenizer


def _encode(tokenizer: RNNsearchTokenizer, pairs: list[Pair], max_length: int | None = None) -> Dataset:
    """Columns for the trainer; drops and counts pairs with over `max_length` tokens on a side, </s> aside."""

    def columns(batch: dict[str, list[str]]) -> dict[str, list]:
        encoded = dict(tokenizer(batch["source"], text_target=batch["target"]))
        sides = zip(encoded["input_ids"], encoded["labels"], strict=True)
        return encoded | {"length": [max(len(source), len(target)) for source, target in sides]}

    text = {"source": [pair.source for pair in pairs], "target": [pair.target for pair in pairs]}
    # In parts, of which each is packed before the next: lists of ids would need many times as much memory. With a
    # name given, nothing is hashed to find out whether this was done before.
    dataset = Dataset.from_dict(text).map(
        columns, batched=True, remove_columns=[*text], desc="Encoding", new_fingerprint="encoded"
    )
    if max_length is None:
        return dataset
    kept = [index for index, length in enumerate(dataset["length"]) if length <= max_length + 1]
    if len(kept) < len(pairs):
        _say(f"training: {len(kept):,} pairs kept; {len(pairs) - len(kept):,} over {max_length} tokens dropped")
    if not kept:
        raise InputError(f"every training pair has more than {max_length} tokens: raise --max_length")
    return dataset.select(kept)


def _say(message: str) -> None:
    # torchrun numbers the processes of a machine from 0; one of them speaks.
    if os.environ.get("LOCAL_RANK", "0") == "0":
        print(message, file=sys.stderr, flush=True)
