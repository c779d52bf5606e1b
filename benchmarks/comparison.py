"""Ratios between the rows of one size and number of threads, and their tables.

Ratios are of medians, and above 1 where RNNsearch is faster; those of memory are above 1 where it takes more.
"""

from typing import Any

from record import table

Row = dict[str, Any]


def add_ratios(rows: list[Row]) -> None:
    """Give each row of RNNsearch its ratios to the peers that did the same task, and its share of the product rate.

    `speed_ratios` and `peak_ratios` have a peer's name and precision as key, such as "joeynmt float32".
    `share_of_product_rate`, of training steps, is the rate of the model's products, FLOP by clock, divided by what a
    matrix product alone reaches in the same precision.
    """
    products = {row["precision"]: row["flop"] / row["seconds"] for row in rows if row["system"] == "matrix product"}
    peers = [row for row in rows if row["system"] not in ("rnnsearch", "matrix product")]
    for row in rows:
        if row["system"] != "rnnsearch":
            continue
        same = {f"{peer['system']} {peer['precision']}": peer for peer in peers if peer["task"] == row["task"]}
        for ratio, value in (("speed_ratios", "tokens_per_second"), ("peak_ratios", "peak_mb")):
            row[ratio] = {name: row[value] / peer[value] for name, peer in same.items()}
        if "flop" in row:
            row["share_of_product_rate"] = row["flop"] / row["seconds"] / products[row["precision"]]


def tables(rows: list[Row], rounds: int) -> str:
    """What was measured at one size and number of threads, in Markdown: speeds, ratios, shares of the product rate."""
    clock = "CPU second" if rows[0]["threads"] == 1 else "second"
    systems = [row for row in rows if row["system"] != "matrix product"]
    names = list(dict.fromkeys(row["task"] for row in systems))
    purposes = list(dict.fromkeys(row["purpose"] for row in systems))
    groups: dict[tuple[str, str], dict[str, Row]] = {}
    for row in systems:
        groups.setdefault((_label(row), row["precision"]), {})[row["task"]] = row

    speeds = []
    for who, group in groups.items():
        peaks = {row["purpose"]: row["peak_mb"] for row in group.values()}  # the last task has seen the most
        cells = [group.get(name, {}).get("tokens_per_second") for name in names]
        speeds.append([*who, *cells, *(peaks.get(purpose) for purpose in purposes)])
    title = f"{rows[0]['size']}, threads: {rows[0]['threads']}; target tokens per {clock}, median of {rounds} rounds"
    parts = [title, table(["system", "precision", *names, *(f"{purpose}, peak MB" for purpose in purposes)], speeds)]

    ratios = []
    for who, group in groups.items():
        for peer in dict.fromkeys(name for row in group.values() for name in row.get("speed_ratios", {})):
            cells = [group.get(name, {}).get("speed_ratios", {}).get(peer) for name in names]
            ratios.append([*who, peer, *cells, group.get("training", {}).get("peak_ratios", {}).get(peer)])
    if ratios:
        parts += ["Ratios", table(["system", "precision", "to", *names, "training, peak MB"], ratios)]

    shares = []
    for product in (row for row in rows if row["system"] == "matrix product"):
        for row in systems:
            if "share_of_product_rate" in row and row["precision"] == product["precision"]:
                rates = [each["flop"] / each["seconds"] / 1e9 for each in (row, product)]
                what = [_label(row), row["precision"], product["task"]]
                shares.append([*what, *rates, row["share_of_product_rate"]])
    if shares:
        header = ["training step", "precision", "product", "GFLOP/s", "GFLOP/s of the product", "share"]
        parts += ["Share of the product rate", table(header, shares)]
    return "\n\n".join(["", *parts])


def _label(row: Row) -> str:
    return f"rnnsearch, maxout {row['maxout']}" if "maxout" in row else row["system"]
