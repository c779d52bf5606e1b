"""Forced decoding: the model is made to write given translations, and we note what it reads and expects meanwhile."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch.nn.utils.rnn import pad_sequence

from ..errors import InputError
from ..modeling import RNNsearchForConditionalGeneration
from ..modeling.loss_rnnsearch import IGNORED, at_least_float32
from ..progress import progress_bar
from ..tokenizer import RNNsearchTokenizer

__all__ = ["Forced", "force", "score"]


@dataclass(frozen=True, eq=False)
class Forced:
    """What the model did while it wrote a translation that it was given.

    Args:
        log_probs: of each of the T target tokens, in nats, (T,).
        weights: α between tokens, (T, S), rows sum to 1; None for a model with a fixed context.
    """

    log_probs: NDArray[np.float64]
    weights: NDArray[np.float64] | None


def force(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    source_ids: Sequence[list[int]],
    target_ids: Sequence[list[int]],
    batch_size: int,
    advance: Callable[[int], None] = lambda pairs: None,
) -> list[Forced]:
    """Let the model write the given targets (section 3.1, equations 4 and 6).

    Args:
        model: it is switched to evaluation mode.
        tokenizer: the tokenizer it was trained with.
        source_ids: ids of each source, without padding.
        target_ids: ids of the translation of each of them, without padding.
        batch_size: pairs read together; the result does not depend on it.
        advance: told the number of pairs of each batch that is done.

    Returns:
        What was noted for each pair, in the order given.
    """
    model.eval()
    # Pairs of like length together: the less padding, the less work.
    order = sorted(range(len(source_ids)), key=lambda i: (len(target_ids[i]), len(source_ids[i])))
    found: dict[int, Forced] = {}
    for start in range(0, len(order), batch_size):
        batch = order[start : start + batch_size]
        results = _force_batch(model, tokenizer, [source_ids[i] for i in batch], [target_ids[i] for i in batch])
        found.update(zip(batch, results, strict=True))
        advance(len(batch))
    return [found[i] for i in range(len(order))]


@torch.inference_mode()
def _force_batch(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    source_ids: list[list[int]],
    target_ids: list[list[int]],
) -> list[Forced]:
    attends = model.config.context != "fixed"
    sources = tokenizer.pad({"input_ids": source_ids}, return_tensors="pt").to(model.device)
    # Labels are padded on the right whatever the tokenizer's side is: words before a position are read, padding too.
    labels = pad_sequence([torch.tensor(ids) for ids in target_ids], batch_first=True, padding_value=IGNORED)
    labels = labels.to(model.device)
    output = model(**sources, labels=labels, output_attentions=attends)
    logits = at_least_float32(output.logits)
    surprise = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=IGNORED, reduction="none")  # (B, T)
    real = sources["attention_mask"].bool()
    found = []
    for row, ids in enumerate(target_ids):
        weights = output.cross_attentions[0][row, 0, : len(ids), real[row]] if attends else None  # (T, S)
        found.append(
            Forced(
                log_probs=-surprise[row, : len(ids)].double().cpu().numpy(),
                weights=None if weights is None else weights.double().cpu().numpy(),
            )
        )
    return found


def score(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    sources: Sequence[str],
    targets: Sequence[str],
    batch_size: int = 32,
    progress: bool = False,
) -> list[float]:
    """Log-probabilities of given translations, their ends included, in nats: log p(y | x) of section 2.

    Args:
        model: any model, with or without a fixed context; it is switched to evaluation mode.
        tokenizer: the tokenizer it was trained with.
        sources: source sentences.
        targets: the translation of each of them.
        batch_size: pairs read together; the result does not depend on it.
        progress: show a bar on standard error.

    Raises:
        InputError: the numbers of sources and targets differ, or `batch_size` is below 1.
    """
    check_pairs(sources, targets, batch_size)
    if not sources:
        return []
    pairs = tokenizer(list(sources), text_target=list(targets), verbose=False)
    with progress_bar("Scoring", len(sources), shown=progress) as advance:
        found = force(model, tokenizer, pairs["input_ids"], pairs["labels"], batch_size, advance)
    return [float(one.log_probs.sum()) for one in found]


def check_pairs(sources: Sequence, targets: Sequence | None, batch_size: int) -> None:
    """Refuse what cannot be paired or batched.

    Raises:
        InputError: the numbers of sources and targets differ, or `batch_size` is below 1.
    """
    if targets is not None and len(sources) != len(targets):
        raise InputError(f"{len(sources)} sources but {len(targets)} targets: give one target for each source")
    if batch_size < 1:
        raise InputError(f"batch size is {batch_size}: give 1 or more")
