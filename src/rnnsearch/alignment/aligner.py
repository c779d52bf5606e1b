"""Alignments of sentence pairs: which source words the model reads to write each target word."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..evaluation.alignment_error import Link
from ..modeling import RNNsearchForConditionalGeneration
from ..progress import progress_bar
from ..tokenizer import RNNsearchTokenizer
from .folding import Sentence, TokenAlignment, sentence, words_of
from .forced import check_pairs, force
from .links import hard_links
from .own import Written, write

__all__ = ["SoftAlignment", "align"]


@dataclass(frozen=True, eq=False)
class SoftAlignment:
    """The weights α of one sentence pair, between words, and what follows from them.

    Args:
        source_words: S words, the last of them `</s>`.
        target_words: T words, the last of them `</s>`, unless the model's own translation was cut.
        weights: (T, S), row i: how much of each source word target word i was written from. A row sums to 1, the
            share of the source's `</s>` included.
        log_probs: log-probability of each target word after the words before it, in nats, (T,).
        links: pairs (source index, target index) of words that belong together, counted from 0, `</s>` left out.
        tokens: what the weights were folded from, if it was to be kept.
    """

    source_words: tuple[str, ...]
    target_words: tuple[str, ...]
    weights: NDArray[np.float64]
    log_probs: NDArray[np.float64]
    links: frozenset[Link]
    tokens: TokenAlignment | None = None


def align(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    sources: Sequence[str | Sequence[str]],
    targets: Sequence[str | Sequence[str]] | None = None,
    batch_size: int = 32,
    *,
    num_beams: int = 5,
    threshold: float | None = None,
    reverse: tuple[RNNsearchForConditionalGeneration, RNNsearchTokenizer] | None = None,
    keep_tokens: bool = False,
    progress: bool = False,
) -> list[SoftAlignment]:
    """Note what the model reads while it writes the given targets, or its own (section 3.1, equation 6).

    A sentence is a text, whose words are those that the tokenizer tells apart; or a list of words, which are joined to
    a text for the model. Where a word is cut into pieces, the weights of the source's pieces are added up and those of
    the target's pieces are averaged, so that a row still sums to 1; log-probabilities are added up.

    Args:
        model: a model that attends; it is switched to evaluation mode.
        tokenizer: the tokenizer it was trained with.
        sources: source sentences.
        targets: the translation of each of them. Without them the model translates as `Translator` does, and the
            weights are those of the beam that won.
        batch_size: pairs read together; the result does not depend on it.
        num_beams: hypotheses kept at each step of a translation of the model's own; 1 is greedy search.
        threshold: link all words whose weight is at least this; without it, each target word with the source word of
            its largest weight, if that is no `</s>`.
        reverse: a model of the other direction and its tokenizer: only links that both find are kept.
        keep_tokens: keep what is between tokens too; it takes several times the memory.
        progress: show a bar on standard error.

    Returns:
        An alignment for each pair, in the order given.

    Raises:
        InputError: the numbers of sources and targets differ, `batch_size` or `num_beams` is below 1, `threshold` not
            above 0 or above 1, a model has a fixed context, or given words do not have the characters that the
            tokenizer reads.
    """
    check_pairs(sources, targets, batch_size)
    if num_beams < 1:
        raise InputError(f"beam is {num_beams}: give 1 or more")
    if threshold is not None and not 0 < threshold <= 1:
        raise InputError(f"threshold is {threshold}: give a number above 0 and up to 1")
    for one in (model, *(reverse or ())[:1]):
        if one.config.context == "fixed":
            raise InputError("this model reads every source word at once (context 'fixed'), so it has no alignments")
    if not sources:
        return []

    read = [sentence(given, tokenizer.source_lang) for given in sources]
    written = None if targets is None else [sentence(given, tokenizer.target_lang) for given in targets]
    passes = 1 + (targets is None) + (reverse is not None)
    with progress_bar("Aligning", passes * len(sources), shown=progress) as advance:
        own: dict[int, Written] = {}
        if written is None:
            # A blank line has nothing to translate.
            visible = [i for i, one in enumerate(read) if one.text.strip()]
            ids = tokenizer([read[i].text for i in visible], verbose=False).input_ids if visible else []
            own = dict(zip(visible, write(model, tokenizer, ids, num_beams, batch_size, advance), strict=True))
        alignments, read, written = _one_way(
            model, tokenizer, read, written, own, batch_size, threshold, keep_tokens, advance
        )
        if reverse:
            # Between the same words, whatever those of the other tokenizer are.
            back, _, _ = _one_way(*reverse, written, read, {}, batch_size, threshold, False, advance)
            alignments = [
                replace(there, links=there.links & {(source, target) for target, source in again.links})
                for there, again in zip(alignments, back, strict=True)
            ]
    return alignments


def _one_way(
    model: RNNsearchForConditionalGeneration,
    tokenizer: RNNsearchTokenizer,
    sources: list[Sentence],
    targets: list[Sentence] | None,
    own: dict[int, Written],
    batch_size: int,
    threshold: float | None,
    keep_tokens: bool,
    advance: Callable[[int], None],
) -> tuple[list[SoftAlignment], list[Sentence], list[Sentence]]:
    """Alignments of one direction, and both sides in the words that they are between.

    Args:
        targets: None for translations of the model's own, which are in `own`, those of blank sources left out.
    """
    source_ids = tokenizer([one.text for one in sources], verbose=False).input_ids
    if targets is None:
        target_ids = [own[i].ids if i in own else [tokenizer.eos_token_id] for i in range(len(sources))]
    else:
        target_ids = tokenizer(text_target=[one.text for one in targets], verbose=False).input_ids
    # For the model's own translations too: a search that kept the probabilities of all words at each step would need
    # more memory.
    forced = force(model, tokenizer, source_ids, target_ids, batch_size, advance)

    alignments, read, written = [], [], []
    for i, noted in enumerate(forced):
        source = words_of(tokenizer, source_ids[i], sources[i], target=False)
        target = words_of(tokenizer, target_ids[i], targets[i] if targets else None, target=True)
        weights = own[i].weights if i in own else noted.weights
        assert weights is not None  # the model attends
        # Its softmax makes up for half precision, where rows are off by up to half a percent.
        tokens = TokenAlignment.from_weights(weights, source, target)
        weights = tokens.between_words()
        links = hard_links(weights, source.is_word, target.is_word, threshold)
        log_probs = noted.log_probs @ target.share
        alignments.append(
            SoftAlignment(source.words, target.words, weights, log_probs, links, tokens if keep_tokens else None)
        )
        text = targets[i].text if targets else str(tokenizer.decode(target_ids[i], skip_special_tokens=True))
        read.append(Sentence(sources[i].text, source.without_end()))
        written.append(Sentence(text, target.without_end()))
    return alignments, read, written
