"""Ratios and tables of made-up rows."""

import pytest


def row(system: str, task: str, rate: float, **more) -> dict:
    purpose = "training" if task == "training" else "decoding"
    place = {"size": "tiny", "threads": 1, "purpose": purpose, "system": system, "precision": "float32", "task": task}
    return place | {"tokens_per_second": rate, "peak_mb": 200.0, "tokens": 600, "seconds": 600 / rate} | more


@pytest.fixture
def rows() -> list[dict]:
    return [
        row("rnnsearch", "training", 300.0, maxout=6, flop=40e9, peak_mb=150.0),
        row("rnnsearch", "training", 450.0, maxout=6, flop=40e9, precision="bfloat16"),
        row("joeynmt", "training", 200.0),
        row("rnnsearch", "greedy, batch 1", 30.0, maxout=6),
        row("joeynmt", "greedy, batch 1", 60.0),
        row("marian", "greedy, batch 1", 12.0, precision="bfloat16"),
        {"system": "matrix product", "precision": "float32", "task": "1x2x3", "flop": 100e9, "seconds": 2.5},
        {"system": "matrix product", "precision": "bfloat16", "task": "1x2x3", "flop": 100e9, "seconds": 1.0},
    ]


def test_ratios(module, rows):
    module("comparison").add_ratios(rows)
    assert rows[0]["speed_ratios"] == {"joeynmt float32": 1.5}
    assert rows[0]["peak_ratios"] == {"joeynmt float32": 0.75}
    assert rows[1]["speed_ratios"] == {"joeynmt float32": 2.25}
    assert rows[3]["speed_ratios"] == {"joeynmt float32": 0.5, "marian bfloat16": 2.5}
    assert rows[0]["share_of_product_rate"] == pytest.approx(20e9 / 40e9)
    assert rows[1]["share_of_product_rate"] == pytest.approx(30e9 / 100e9)
    assert "speed_ratios" not in rows[2] and "share_of_product_rate" not in rows[3]


def test_tables(module, rows):
    comparison = module("comparison")
    comparison.add_ratios(rows)
    lines = comparison.tables(rows, 5).splitlines()
    assert "tiny, threads: 1; target tokens per CPU second, median of 5 rounds" in lines
    assert "| rnnsearch, maxout 6 | float32 | 300 | 30 | 150 | 200 |" in lines
    assert "| rnnsearch, maxout 6 | bfloat16 | 450 | - | 200 | - |" in lines
    assert "| rnnsearch, maxout 6 | float32 | joeynmt float32 | 1.5 | 0.5 | 0.75 |" in lines
    assert "| rnnsearch, maxout 6 | float32 | marian bfloat16 | - | 2.5 | - |" in lines
    assert "| rnnsearch, maxout 6 | float32 | 1x2x3 | 20 | 40 | 0.5 |" in lines
