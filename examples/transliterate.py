"""Spell Japanese kana in Latin letters: sequences of characters, and a mapping that is no translation.

    python examples/transliterate.py runs/transliterate

The words are made up and their spelling follows rules (Hepburn's): a letter may depend on the one after it, as in
かっぱ kappa, まっちゃ matcha, さんぽ sampo. The model sees pairs only, and is asked for words that it has not seen.

Expected: 0.4 CPU minutes: percent of words right 99.8 (results/examples.json).
"""

import random
from pathlib import Path

import typer

from rnnsearch import Translator
from rnnsearch.training.parser import OptionParser
from rnnsearch.training.train import train

ROWS = {
    "": "あいうえお",
    "k": "かきくけこ",
    "s": "さしすせそ",
    "t": "たちつてと",
    "n": "なにぬねの",
    "h": "はひふへほ",
    "m": "まみむめも",
    "r": "らりるれろ",
    "g": "がぎぐげご",
    "z": "ざじずぜぞ",
    "b": "ばびぶべぼ",
    "p": "ぱぴぷぺぽ",
}
SPOKEN = {"si": "shi", "ti": "chi", "tu": "tsu", "hu": "fu", "zi": "ji"}
LATIN = {"や": "ya", "ゆ": "yu", "よ": "yo", "わ": "wa"}
for consonant, row in ROWS.items():
    for kana, vowel in zip(row, "aiueo", strict=True):
        LATIN[kana] = SPOKEN.get(consonant + vowel, consonant + vowel)
SMALL = {"ゃ": "a", "ゅ": "u", "ょ": "o"}


def syllable(rng: random.Random) -> tuple[str, str]:
    """A kana, at times with a small one behind it, and its Latin letters."""
    kana = rng.choice(list(LATIN))
    latin = LATIN[kana]
    if latin.endswith("i") and len(latin) > 1 and rng.random() < 0.5:
        small = rng.choice(list(SMALL))
        stem = latin[:-1] if latin in ("shi", "chi", "ji") else latin[:-1] + "y"
        return kana + small, stem + SMALL[small]
    return kana, latin


def word(rng: random.Random) -> tuple[str, str]:
    """A word of 2 to 6 syllables in kana and in Latin letters."""
    kana, latin = "", ""
    for _ in range(rng.randint(2, 6)):
        signs, letters = syllable(rng)
        before = rng.random() if kana else 1.0
        if before < 0.15:  # ん is m before a lip's consonant
            signs, letters = "ん" + signs, ("m" if letters[0] in "bmp" else "n") + letters
        elif before < 0.3 and letters[0] in "kstcp":  # っ doubles what follows
            signs, letters = "っ" + signs, ("t" if letters[0] == "c" else letters[0]) + letters
        kana, latin = kana + signs, latin + letters
    return kana, latin


def main(output: Path, words: int = 6000, epochs: float = 8, size: int = 64, held_out: int = 500) -> dict[str, float]:
    rng = random.Random(0)
    pairs = list(dict(word(rng) for _ in range(words)).items())  # different words
    output.mkdir(parents=True, exist_ok=True)
    for name, side in (("kana", 0), ("latin", 1)):
        lines = [" ".join(pair[side]) + "\n" for pair in pairs[held_out:]]  # every character a word
        (output / f"train.{name}").write_text("".join(lines), encoding="utf-8")
    options = {
        "train": [str(output / "train.kana"), str(output / "train.latin")],
        "tokenizer_kind": "word",
        **dict.fromkeys(("embedding_size", "hidden_size", "alignment_size", "maxout_size"), size),
        "initializer_range": 0.05,
        "num_train_epochs": epochs,
        "per_device_train_batch_size": 64,
        "learning_rate": 5e-3,
        "save_strategy": "no",
        "logging_steps": 100,
        "output_dir": str(output / "model"),
    }
    train(*OptionParser().parse_dict(options))

    test = pairs[:held_out]
    spelt = Translator.from_pretrained(output / "model").translate([" ".join(kana) for kana, _ in test], num_beams=2)
    answers = [best.text.replace(" ", "") for (best, *_) in spelt]
    for (kana, latin), answer in list(zip(test, answers, strict=True))[:5]:
        print(f"  {kana} {answer}" + ("" if answer == latin else f", should be {latin}"))
    right = 100 * sum(answer == latin for answer, (_, latin) in zip(answers, test, strict=True)) / len(test)
    print(f"words right {right:.1f} % of {len(test)} that it has not seen")
    return {"words right": right}


if __name__ == "__main__":
    typer.run(main)
