"""`rnnsearch translate` on a file of 3,003 lines, as many as newstest2014 has, beside `generate` in a plain loop.

    python benchmarks/translate_file.py --json translate_file.json
    python benchmarks/translate_file.py --model FOLDER --input FILE --json translate_file.json

Without a model and a text both are made up: random weights of the given size with a vocabulary of words, and lines of
5 to 45 of these words. Such a model never ends a sentence, so every translation runs to its limit, 2 n + 10 tokens
for a source of n: more than a trained model writes. How many words were written is counted, since the plain loop,
which does not sort its lines by length, gives all sentences of a batch the limit of the longest.
"""

import argparse
import itertools
import random
import statistics
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import torch
from transformers.utils import logging

from measuring import command
from protocol import Worker
from record import add_record_options, find_size, origin, run, table, write
from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchTokenizer
from sizes import Size

COMMAND, LOOP = "rnnsearch translate", "generate in a plain loop"
SYLLABLES = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]


def words(number: int) -> list[str]:
    """As many different words of two or three syllables."""
    return ["".join(each) for each in itertools.islice(itertools.product(SYLLABLES, repeat=3), number)]


def make_model(size: Size, folder: Path, seed: int) -> None:
    """Save a model with random weights, and a tokenizer whose vocabularies are as large as its own."""
    vocabulary = words(size.vocabulary - 4)  # beside the special tokens
    tokenizer = RNNsearchTokenizer.train(
        vocabulary, vocabulary, kind="word", vocab_size=size.vocabulary, src_vocab_size=size.vocabulary
    )
    torch.manual_seed(seed)
    config = RNNsearchConfig(
        src_vocab_size=tokenizer.src_vocab_size,
        vocab_size=tokenizer.target_vocab_size,
        embedding_size=size.embedding,
        hidden_size=size.hidden,
        alignment_size=size.alignment,
        maxout_size=size.maxout,
    )
    RNNsearchForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_text(size: Size, path: Path, lines: int, seed: int) -> None:
    """Write lines of 5 to 45 words."""
    draw, vocabulary = random.Random(seed), words(size.vocabulary - 4)
    text = [" ".join(draw.choices(vocabulary, k=draw.randint(5, 45))) for _ in range(lines)]
    path.write_text("".join(f"{line}\n" for line in text), encoding="utf-8")


def translate(model: str, source: Path, output: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Both clocks of one `rnnsearch translate`."""
    files = ["--input", str(source), "--output", str(output), "--beam", str(options.beam)]
    return command(["translate", "--model", model, *files], options.threads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=find_size, default="s25", help="of the model that is made up; default s25")
    parser.add_argument("--model", help="folder of a trained model")
    parser.add_argument("--input", type=Path, help="text to translate")
    parser.add_argument("--lines", type=int, default=3003, help="of the text that is made up; default 3003")
    parser.add_argument("--beam", type=int, default=5, help="default 5")
    parser.add_argument("--threads", type=int, default=1, help="default 1")
    parser.add_argument("--rounds", type=int, default=1, help="of the whole file; default 1")
    parser.add_argument("--seed", type=int, default=1234, help="default 1234")
    add_record_options(parser)
    options = parser.parse_args()
    record = origin(options.seed, tested=not options.untested)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = options.model
        if model is None:
            logging.disable_progress_bar()
            model = str(folder / "model")
            make_model(options.size, folder / "model", options.seed)
        source = options.input
        if source is None:
            source = folder / "source"
            make_text(options.size, source, options.lines, options.seed)
        record |= measure(model, source, folder, options)
    write(options.json, record)
    print(tables(record))


def tables(record: dict[str, Any]) -> str:
    """What was measured, in Markdown."""
    columns = ["what", "cpu_seconds", "wall_seconds", "sentences_per_cpu_second", "words"]
    title = f"{record['sentences']:,} lines, beam {record['beam']}, threads: {record['threads']}"
    return "\n\n".join(["", title, table(columns, [[row.get(name) for name in columns] for row in record["rows"]])])


def measure(model: str, source: Path, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Rounds of start-up, which is the command on one blank line, of the command and of the plain loop."""
    blank = folder / "blank"
    blank.write_text("\n", encoding="utf-8")
    output = {"start-up": folder / "nothing", COMMAND: folder / "translated", LOOP: folder / "plain"}
    times: dict[str, list[dict[str, Any]]] = {what: [] for what in output}
    with closing(Worker(sys.executable, "plain_loop", {"model": model, "threads": options.threads})) as loop:
        for _ in range(options.rounds):
            times["start-up"].append(translate(model, blank, output["start-up"], options))
            times[COMMAND].append(translate(model, source, output[COMMAND], options))
            files = {"source": str(source), "output": str(output[LOOP])}
            times[LOOP].append(loop.ask("translate", **files, beams=options.beam, batch=64))
    sentences = len(source.read_text(encoding="utf-8").splitlines())
    rows = []
    for what, given in times.items():
        row: dict[str, Any] = {"what": what}
        for clock in ("cpu_seconds", "wall_seconds"):
            row[clock] = statistics.median(each[clock] for each in given)
        if what != "start-up":
            row["sentences_per_cpu_second"] = sentences / row["cpu_seconds"]
            row["words"] = len(output[what].read_text(encoding="utf-8").split())
        rows.append(row)
    return {"beam": options.beam, "threads": options.threads, "sentences": sentences, "rows": rows}


if __name__ == "__main__":
    run(main)
