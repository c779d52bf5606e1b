"""From parallel text to a folder with a trained model: what `rnnsearch train` does."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoTokenizer, DataCollatorForSeq2Seq, EarlyStoppingCallback, GenerationConfig, set_seed
from transformers.trainer_utils import get_last_checkpoint

from ..data.corpus import Pair, filter_pairs, load_pairs
from ..errors import InputError
from ..modeling.configuration_rnnsearch import RNNsearchConfig
from ..modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer
from .arguments import DataArguments, RNNsearchTrainingArguments
from .memory import keep_freed_memory
from .trainer import RNNsearchTrainer, score_decoded


def train(data: DataArguments, model_arguments: Any, args: RNNsearchTrainingArguments) -> dict[str, float]:
    """Train a model and write it, its tokenizer and the training's record to `args.output_dir`.

    Args:
        data: the text and the vocabularies.
        model_arguments: fields of `RNNsearchConfig`; without effect where `data.pretrained` is given.
        args: everything about the training itself.

    Returns:
        the scores of the best checkpoint on the validation pairs, and the training's time and loss.

    Raises:
        InputError: the text cannot be read, or the arguments do not fit each other.
    """
    keep_freed_memory()
    checkpoint = _checkpoint_to_resume(args)
    set_seed(args.seed)
    pairs = _read(data)
    tokenizer = _tokenizer(data, model_arguments, pairs, checkpoint)
    training = _encode(tokenizer, pairs, data.max_length)
    validation = _read_validation(data, args)
    # In order of length, batches of the validation set need little padding.
    validation = sorted(validation, key=lambda pair: len(pair.source))
    model = _model(data, model_arguments, tokenizer)
    longest = max(len(ids) for ids in training["labels"])
    model.generation_config = GenerationConfig.from_model_config(model.config)
    model.generation_config.max_length = 2 * longest
    model.generation_config.num_beams = args.generation_num_beams or 1
    trainer = RNNsearchTrainer(
        model=model,
        args=args,
        train_dataset=training,
        eval_dataset=_encode(tokenizer, validation) if validation else None,
        processing_class=tokenizer,
        data_collator=DataCollatorForSeq2Seq(tokenizer, model=model),
        compute_metrics=score_decoded(tokenizer, [pair.target for pair in validation], data.target_lang),
        callbacks=[EarlyStoppingCallback(args.early_stopping_patience)] if args.early_stopping_patience else [],
    )
    _say(f"{model.num_parameters():,} parameters, {len(training):,} pairs, {torch.get_num_threads()} threads")
    result = trainer.train(resume_from_checkpoint=checkpoint)
    metrics = dict(result.metrics)
    if validation:
        metrics |= trainer.evaluate()
    if trainer.is_world_process_zero():
        trainer.save_model()
        trainer.save_state()
        trainer.save_metrics("all", metrics)
        _say(f"model written to {args.output_dir}")
    return metrics


def _checkpoint_to_resume(args: RNNsearchTrainingArguments) -> str | None:
    """The last checkpoint, where there is one and `--resume` asks for it.

    Raises:
        InputError: a model is there and `--resume` is not given.
    """
    folder = Path(args.output_dir)
    last = get_last_checkpoint(args.output_dir) if folder.is_dir() else None
    if args.resume:
        if last is None:
            _say(f"no checkpoint in {folder} yet: starting from the beginning")
        return last
    if last is not None or (folder / "config.json").exists():
        raise InputError(f"{folder} already holds a model: add --resume to go on, or choose another --output-dir")
    return None


def _read(data: DataArguments) -> list[Pair]:
    if not data.train:
        raise InputError("no training text: give --train with two text files, one file of pairs or a data set")
    pairs = load_pairs(
        data.train, data.source_lang, data.target_lang, split=data.train_split, streaming=data.streaming
    )
    if data.max_train_pairs:
        pairs = [pair for pair, _ in zip(pairs, range(data.max_train_pairs), strict=False)]
    kept, report = filter_pairs(pairs)
    _say(f"training: {report}")
    return kept


def _read_validation(data: DataArguments, args: RNNsearchTrainingArguments) -> list[Pair]:
    if data.validation:
        pairs = load_pairs(data.validation, data.source_lang, data.target_lang, split=data.validation_split)
        kept, report = filter_pairs(pairs)
        _say(f"validation: {report}")
        return kept
    if args.eval_strategy != "no":
        raise InputError("no validation text: give --validation, or --eval_strategy no --load_best_model_at_end no")
    return []


def _tokenizer(
    data: DataArguments, model_arguments: Any, pairs: list[Pair], checkpoint: str | None
) -> RNNsearchTokenizer:
    known = checkpoint or data.tokenizer or data.pretrained
    if known is not None:
        return AutoTokenizer.from_pretrained(known)
    tokenizer = RNNsearchTokenizer.train(
        [pair.source for pair in pairs],
        [pair.target for pair in pairs],
        kind=data.tokenizer_kind,
        vocab_size=model_arguments.vocab_size,
        src_vocab_size=model_arguments.src_vocab_size,
        shared=data.shared_vocabulary,
        source_lang=data.source_lang,
        target_lang=data.target_lang,
    )
    _say(f"tokenizer: {tokenizer.src_vocab_size:,} source and {tokenizer.target_vocab_size:,} target entries")
    return tokenizer


def _model(
    data: DataArguments, model_arguments: Any, tokenizer: RNNsearchTokenizer
) -> RNNsearchForConditionalGeneration:
    if data.pretrained is not None:
        return RNNsearchForConditionalGeneration.from_pretrained(data.pretrained)
    sizes = {"src_vocab_size": tokenizer.src_vocab_size, "vocab_size": tokenizer.target_vocab_size}
    return RNNsearchForConditionalGeneration(RNNsearchConfig(**{**asdict(model_arguments), **sizes}))


def _encode(tokenizer: RNNsearchTokenizer, pairs: list[Pair], max_length: int | None = None) -> Dataset:
    """Columns for the trainer; pairs with more than `max_length` tokens on a side, </s> aside, are dropped, counted."""
    columns = dict(tokenizer([pair.source for pair in pairs], text_target=[pair.target for pair in pairs]))
    columns["length"] = [
        max(len(source), len(target))
        for source, target in zip(columns["input_ids"], columns["labels"], strict=True)
    ]
    dataset = Dataset.from_dict(columns)
    if max_length is None:
        return dataset
    kept = [index for index, length in enumerate(columns["length"]) if length <= max_length + 1]
    if len(kept) < len(pairs):
        _say(f"training: {len(pairs) - len(kept):,} pairs over {max_length} tokens dropped")
    if not kept:
        raise InputError(f"every training pair has more than {max_length} tokens: raise --max_length")
    return dataset.select(kept)


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
