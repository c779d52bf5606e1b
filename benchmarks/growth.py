"""How time and memory of RNNsearch grow with the length of sentences and the width of the beam.

    python benchmarks/growth.py --json growth.json

Training steps have lengths of 25, 50, 100 and 200 on both sides and as many fewer sentences, so that every step has
the same number of words; each length has a process of its own, whose peak of memory is its own. Translations are as
long as their sources, 16 in one batch.
"""

import argparse
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import Any

from measuring import Candidate, play, seconds
from record import add_record_options, comma_list, find_size, origin, run, table, write
from sizes import Size, training_flop

Row = dict[str, Any]


def sized(size: Size, length: int, batch: int) -> Size:
    return replace(size, batch=batch, source_length=length, target_length=length)


def training(size: Size, options: argparse.Namespace) -> list[Row]:
    """A row for each length: seconds of a step, FLOP by clock, peak memory."""
    words = size.batch * size.target_length
    sizes = [sized(size, length, max(1, words // length)) for length in map(int, options.training_lengths)]
    with ExitStack() as stack:
        workers = [
            stack.enter_context(closing(Candidate(each, options.precision).start("training", 1, options.seed)))
            for each in sizes
        ]
        for worker in workers:
            worker.ask("training", steps=1)
        answers = play([(worker, {"task": "training", "steps": 1}) for worker in workers], options.rounds)
    rows = []
    for each, given in zip(sizes, answers, strict=True):
        row = {"length": each.target_length, "batch": each.batch, "tokens": given[0]["tokens"]} | seconds(given, 1)
        row |= {"flop": training_flop(each), "tokens_per_second": row["tokens"] / row["seconds"]}
        rows.append(row | {"peak_mb": max(answer["peak_mb"] for answer in given)})
    return rows


def decoding(size: Size, options: argparse.Namespace) -> list[Row]:
    """A row for each length and beam: seconds of translating a batch of 16."""
    lengths, beams = map(int, options.decoding_lengths), list(map(int, options.beams))
    with ExitStack() as stack:
        requests, points = [], []
        for length in lengths:
            candidate = Candidate(sized(size, length, 16), options.precision)
            worker = stack.enter_context(closing(candidate.start("decoding", 1, options.seed)))
            worker.ask("decoding", beams=beams[0], batch=16, sentences=16, words=2)
            for width in beams:
                request = {"task": "decoding", "beams": width, "batch": 16, "sentences": 16, "words": length}
                requests.append((worker, request))
                points.append({"length": length, "beam": width, "batch": 16, "tokens": 16 * length})
        answers = play(requests, options.rounds)
    return [point | seconds(given, 1) for point, given in zip(points, answers, strict=True)]


def tables(record: Row) -> str:
    """What was measured, in Markdown."""
    columns = ["length", "batch", "seconds", "tokens_per_second", "peak_mb"]
    training = table(columns, [[row[name] for name in columns] for row in record["training"]])
    by_length: dict[int, dict[int, float]] = {}
    for row in record["decoding"]:
        by_length.setdefault(row["length"], {})[row["beam"]] = row["seconds"]
    beams = next(iter(by_length.values()))
    header = ["length", *(f"beam {width}" for width in beams)]
    return "\n\n".join(
        [
            "",
            f"{record['size']}, one training step; seconds and peak memory of the process",
            training,
            f"{record['size']}, 16 translations as long as their sources; CPU seconds by beam",
            table(header, [[length, *cells.values()] for length, cells in by_length.items()]),
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=find_size, default="s25", help="or a JSON file; default s25")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32", help="default float32")
    parser.add_argument("--training-lengths", type=comma_list(), default=["25", "50", "100", "200"])
    parser.add_argument("--decoding-lengths", type=comma_list(), default=["10", "25", "50", "100"])
    parser.add_argument("--beams", type=comma_list(), default=["1", "2", "5", "10"])
    parser.add_argument("--rounds", type=int, default=3, help="default 3")
    parser.add_argument("--seed", type=int, default=1234, help="default 1234")
    add_record_options(parser)
    options = parser.parse_args()
    record = origin(options.seed, tested=not options.untested)
    record |= {"size": options.size.name, "precision": options.precision, "rounds": options.rounds, "threads": 1}
    record["training"] = training(options.size, options)
    record["decoding"] = decoding(options.size, options)
    write(options.json, record)
    print(tables(record))


if __name__ == "__main__":
    run(main)
