"""The text of two sets of gold alignments, English-French, for a model and for a statistical aligner.

    python examples/paper/alignment_text.py train.en.gz train.fr.gz hansards2003 golden100 runs/alignments

`hansards2003` holds `test.e`, `test.f`, `trial.e` and `trial.f` of the shared task of NAACL 2003; `golden100` holds
`fr_golden.jsonl`, a hundred sentences of Europarl as objects with `src_words` and `tgt_words`. The training pairs are
for the statistical aligner alone; those with more than 50 words on a side are left out, as in section 4.1.

For each set SET of `test`, `trial` and `golden100` it writes SET.en and SET.fr, a sentence a line, its words as the
gold links count them, with blanks between; and for `test` and `golden100` SET.pairs, the lines `english ||| french`
that aligners such as eflomal and fast_align read: first the sentences of the set, then the training pairs, so that
the first lines of what an aligner writes are the links of the set. For the aligner

- everything is in lower case;
- training pairs are cut as Moses does, and then as the set is: at every hyphen between letters ("procès - verbal"),
  and in `golden100` after every French apostrophe too ("l ' ordre").

The Hansards spell French words out before a vowel ("le ordre"). The word gets back its usual form ("l' ordre"), which
changes no index; words that French contracts ("de les") stay two.
"""

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer
from sacremoses import MosesTokenizer

from rnnsearch.data.corpus import Pair, filter_pairs, load_pairs
from rnnsearch.data.lines import iter_lines

MOST_WORDS = 50
FULL_FORMS = ("le", "la", "je", "me", "te", "se", "de", "ne", "que", "jusque", "lorsque", "puisque")
# "h" is taken for mute but before "a": "l'heure", but "la hausse".
OPENS_WITH_VOWEL = re.compile("[aàâeéèêëiîïoôuùûœæ]|h[^a]|y$", re.IGNORECASE)


def main(train: tuple[Path, Path], hansards: Path, golden: Path, output: Path) -> None:
    sets = {
        "test": hansards_pairs(hansards, "test"),
        "trial": hansards_pairs(hansards, "trial"),
        "golden100": golden_pairs(golden / "fr_golden.jsonl"),
    }
    output.mkdir(parents=True, exist_ok=True)
    for name, pairs in sets.items():
        for side, language in enumerate(("en", "fr")):
            write_lines(output / f"{name}.{language}", (pair[side] for pair in pairs))

    training, report = filter_pairs(moses_pairs(load_pairs([str(path) for path in train])), MOST_WORDS)
    print(f"for the aligner: {report}")
    for name, prepared in (("test", training), ("golden100", map(split_apostrophes, training))):
        pairs = itertools.chain(sets[name], prepared)
        write_lines(output / f"{name}.pairs", (f"{english} ||| {french}".lower() for english, french in pairs))
    print(f"written to {output}")


def hansards_pairs(folder: Path, name: str) -> list[Pair]:
    """Lines `<s snum=0001> words </s>` of two files, in words with blanks between."""
    english, french = (
        [re.sub(r"</?s\b[^>]*>", "", line).split() for line in iter_lines(folder / f"{name}.{side}")] for side in "ef"
    )
    return [Pair(" ".join(one), " ".join(elided(other))) for one, other in zip(english, french, strict=True)]


def elided(words: list[str]) -> Iterator[str]:
    """French words as they are spelled before the next one.

    >>> " ".join(elided("ce est le ordre de la hausse , se il ne y a que elle".split()))
    "c' est l' ordre de la hausse , s' il n' y a qu' elle"
    """
    for word, following in itertools.zip_longest(words, words[1:], fillvalue=""):
        before_vowel = word.lower() in FULL_FORMS and OPENS_WITH_VOWEL.match(following)
        if before_vowel or (word.lower(), following[:1]) == ("ce", "e"):
            yield word[:-1] + "'"
        else:
            yield word


def golden_pairs(path: Path) -> list[Pair]:
    records = [json.loads(line) for line in iter_lines(path)]
    return [Pair(" ".join(record["src_words"]), " ".join(record["tgt_words"])) for record in records]


def moses_pairs(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """In Moses words, hyphens between letters apart."""
    tokenizers = MosesTokenizer("en"), MosesTokenizer("fr")
    for pair in pairs:
        words = (
            tokenizer.tokenize(text.replace("’", "'"), aggressive_dash_splits=True, escape=False, return_str=True)
            for tokenizer, text in zip(tokenizers, pair, strict=True)
        )
        yield Pair(*(text.replace("@-@", "-") for text in words))


def split_apostrophes(pair: Pair) -> Pair:
    """With the apostrophes of the French words apart.

    >>> split_apostrophes(Pair("Louis 's", "qu' il l' a vu")).target
    "qu ' il l ' a vu"
    """
    return Pair(pair.source, re.sub(r"(?<=\w)'", " '", pair.target))


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    typer.run(main)
