"""`Seq2SeqTrainer` with batches of like length, the paper's optimiser and scores of decoded text."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate.data_loader import prepare_data_loader
from datasets import Dataset
from torch.utils.data import DataLoader
from transformers import EvalPrediction, Seq2SeqTrainer

from ..data.batching import LengthGroupedBatchSampler
from ..evaluation.scores import bleu, chrf
from ..hub.card import CARD, describe, make_card
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer
from .arguments import RNNsearchTrainingArguments


class RNNsearchTrainer(Seq2SeqTrainer):
    """Trains on a dataset with the columns `input_ids`, `attention_mask`, `labels` and `length`.

    `length` is the number of tokens on the longer side of a pair; batches are made from it.
    """

    args: RNNsearchTrainingArguments
    train_dataset: Dataset

    def get_train_dataloader(self) -> DataLoader:
        sampler = LengthGroupedBatchSampler(
            self.train_dataset["length"],
            self._train_batch_size,
            batch_tokens=self.args.batch_tokens,
            ascending=self.args.batch_order == "ascending",
            seed=self.args.seed if self.args.data_seed is None else self.args.data_seed,
            drop_last=self.args.dataloader_drop_last,
            processes=self.args.world_size,
            process=self.args.process_index,
        )
        dataset = self._remove_unused_columns(self.train_dataset, "training")
        # Where batches are skipped to resume inside an epoch, accelerate tells the epoch to the data set alone.
        dataset.set_epoch = sampler.set_epoch  # type: ignore[attr-defined]
        loader = DataLoader(
            dataset,
            batch_sampler=sampler,
            collate_fn=self.data_collator,
            num_workers=self.args.dataloader_num_workers,
            pin_memory=self.args.dataloader_pin_memory,
            persistent_workers=self.args.dataloader_persistent_workers,
            prefetch_factor=self.args.dataloader_prefetch_factor,
        )
        # As `accelerator.prepare`, but each process has its share of the batches from the sampler already.
        return prepare_data_loader(loader, self.args.device, num_processes=1, process_index=0, put_on_device=True)

    @staticmethod
    def get_optimizer_cls_and_kwargs(args: Any, model=None) -> tuple[Any, Any]:
        """Adadelta as in appendix B.2 where `args.optimizer` says so, else what `args.optim` names."""
        if args.optimizer == "adadelta":
            return torch.optim.Adadelta, {"lr": args.learning_rate, "rho": 0.95, "eps": 1e-6}
        return Seq2SeqTrainer.get_optimizer_cls_and_kwargs(args, model)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        """As `Trainer.compute_loss`; in training the sum over words, not their mean, if `loss_reduction` says so."""
        if model.training and num_items_in_batch is not None and self.args.loss_reduction == "sum":
            num_items_in_batch = torch.ones_like(torch.as_tensor(num_items_in_batch))
        return super().compute_loss(model, inputs, return_outputs, num_items_in_batch)

    def create_model_card(self, *args, license: str | None = None, model_name: str | None = None, **kwargs) -> None:
        """Write the package's card in the place of Trainer's; it has a use for a licence and a name alone."""
        if self.is_world_process_zero():
            folder = Path(self.args.output_dir)
            config: Any = self.model.config  # type: ignore[union-attr]
            tokenizer: Any = self.processing_class
            facts = describe(self.hub_model_id or model_name or folder.name, config, tokenizer, folder)
            (folder / CARD).write_text(str(make_card(replace(facts, license=license))), encoding="utf-8")


def score_decoded(
    tokenizer: RNNsearchTokenizer, references: Sequence[str], target_lang: str
) -> Callable[[EvalPrediction], dict[str, float]]:
    """`compute_metrics` of a Trainer that decodes: BLEU (detokenised) and chrF, both from 0 to 100.

    Args:
        references: the validation targets as text, in the order of the validation set.
        target_lang: decides how BLEU cuts words.
    """

    def compute_metrics(prediction: EvalPrediction) -> dict[str, float]:
        # Several processes fill their last batches up with pairs from the beginning.
        ids = np.asarray(prediction.predictions)[: len(references)]
        # Batches of different width are joined with -100.
        ids = np.where(ids < 0, tokenizer.pad_token_id, ids)
        decoded = tokenizer.batch_decode(ids, skip_special_tokens=True)
        return {
            "bleu": bleu(decoded, references, target_lang).value,
            "chrf": chrf(decoded, references).value,
        }

    return compute_metrics


__all__ = ["RNNsearchTrainer", "score_decoded"]
