"""The embedded corpus: English-French sentence pairs of any length from 3 to 60 words, drawn from a small grammar.

The grammar trains the demonstration without a download and gives tests a gold word alignment. It has gender and number
agreement, adjectives on either side of the noun, noun stacks that reverse, elision and contraction, clitic pronouns,
negation around the verb, relative clauses and coordination. Long sentences use the constructions of short ones.

Two conventions make the translation of a sentence unique. Without antecedent, "it", "they", "I" and "we" are
masculine. In a later clause, "it" and "them" stand for the direct object of the clause before, "they" for its subject.
"""

import random
from collections.abc import Collection

from ..errors import InputError
from . import lexicon, syntax
from .composer import Composer, DeadEndError
from .syntax import SentencePair

__all__ = ["SentencePair", "corpus", "sample", "vocabulary"]

SHORTEST, LONGEST = 3, 60
ATTEMPTS = 1000
"""Sentences drawn in a row without a new one before a corpus gives up."""


def sample(length_range: tuple[int, int], rng: random.Random) -> SentencePair:
    """One sentence pair; the length of its English side is drawn uniformly from the range.

    Args:
        length_range: least and greatest number of English words, both included, within 3 to 60; punctuation is free.
        rng: source of all chance.

    Raises:
        InputError: when the range is empty or leaves 3 to 60.
    """
    shortest, longest = length_range
    if not SHORTEST <= shortest <= longest <= LONGEST:
        raise InputError(
            f"length range {shortest} to {longest}: give two ascending lengths from {SHORTEST} to {LONGEST} words"
        )
    length = rng.randint(shortest, longest)
    composer = Composer(rng)
    while True:
        try:
            return syntax.finish(composer.sentence(length))
        except DeadEndError:
            continue


def corpus(size: int, length_range: tuple[int, int], seed: int, exclude: Collection[str] = ()) -> list[SentencePair]:
    """`size` pairs with different English sides, none of them in `exclude`; the same for the same arguments.

    Args:
        size: number of pairs.
        length_range: as for `sample`.
        seed: seed of the generator.
        exclude: English sentences (plain text) to leave out, such as those of a training corpus.

    Raises:
        InputError: when the range is out of bounds, or holds fewer different sentences than asked for.
    """
    rng = random.Random(seed)
    seen = set(exclude)
    pairs: list[SentencePair] = []
    failures = 0
    while len(pairs) < size:
        drawn = sample(length_range, rng)
        if drawn.source in seen:
            failures += 1
            if failures == ATTEMPTS:
                raise InputError(
                    f"found only {len(pairs)} of {size} different sentences of {length_range[0]} to {length_range[1]} "
                    "words: ask for fewer or for longer ones"
                )
            continue
        failures = 0
        seen.add(drawn.source)
        pairs.append(drawn)
    return pairs


def vocabulary() -> tuple[set[str], set[str]]:
    """All English and all French word forms with their punctuation, as they stand within a sentence (no capital)."""
    changed = {*syntax.ELISIONS.values(), *syntax.CONTRACTIONS.values()}
    return lexicon.english_forms(), lexicon.french_forms() | changed
