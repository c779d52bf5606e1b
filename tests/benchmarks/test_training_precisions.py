"""Both trainings run, on a text that nothing can be learnt from in time."""

import pytest


@pytest.mark.slow
def test_both_precisions_are_trained(script):
    printed, record = script("training_precisions.py", "--pairs", "64", "--epochs", "3", "--seeds", "3")
    assert [row["precision"] for row in record["rows"]] == ["float32", "bfloat16"]
    one, other = (row["held_out_loss"] for row in record["rows"])
    assert one != other and other == pytest.approx(one, rel=0.01)
    ratio = record["rows"][1]["train_loss"] / record["rows"][0]["train_loss"]
    assert f"| bfloat16 to float32 | {ratio:.3f} |" in printed
