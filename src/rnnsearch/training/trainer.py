"""`Seq2SeqTrainer` with batches of like length and scores of decoded text."""

from collections.abc import Callable, Sequence

import numpy as np
from torch.utils.data import DataLoader
from transformers import EvalPrediction, Seq2SeqTrainer

from ..data.batching import LengthGroupedBatchSampler
from ..evaluation.scores import bleu, chrf
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer
from .arguments import RNNsearchTrainingArguments


class RNNsearchTrainer(Seq2SeqTrainer):
    """Trains on a dataset with the columns `input_ids`, `attention_mask`, `labels` and `length`.

    `length` is the number of tokens on the longer side of a pair; batches are made from it.
    """

    args: RNNsearchTrainingArguments

    def get_train_dataloader(self) -> DataLoader:
        sampler = LengthGroupedBatchSampler(
            self.train_dataset["length"],
            self._train_batch_size,
            batch_tokens=self.args.batch_tokens,
            seed=self.args.seed if self.args.data_seed is None else self.args.data_seed,
            drop_last=self.args.dataloader_drop_last,
        )
        loader = DataLoader(
            self._remove_unused_columns(self.train_dataset, "training"),
            batch_sampler=sampler,
            collate_fn=self.data_collator,
            num_workers=self.args.dataloader_num_workers,
            pin_memory=self.args.dataloader_pin_memory,
        )
        return self.accelerator.prepare(loader)


def score_decoded(
    tokenizer: RNNsearchTokenizer, references: Sequence[str], target_lang: str
) -> Callable[[EvalPrediction], dict[str, float]]:
    """`compute_metrics` of a Trainer that decodes: BLEU (detokenised) and chrF, both from 0 to 100.

    Args:
        references: the validation targets as text, in the order of the validation set.
        target_lang: decides how BLEU cuts words.
    """

    def compute_metrics(prediction: EvalPrediction) -> dict[str, float]:
        ids = np.asarray(prediction.predictions)
        # Batches of different width are joined with -100.
        ids = np.where(ids < 0, tokenizer.pad_token_id, ids)
        decoded = tokenizer.batch_decode(ids, skip_special_tokens=True)
        return {
            "bleu": bleu(decoded, references, target_lang).value,
            "chrf": chrf(decoded, references).value,
        }

    return compute_metrics


__all__ = ["RNNsearchTrainer", "score_decoded"]
