"""Growth with length and beam: which points are measured."""


def test_points(here, command, tiny_file):
    lengths = ("--training-lengths", "2,4,24", "--decoding-lengths", "2,3", "--beams", "1,3")
    printed, record = command("growth", "--size", tiny_file, "--rounds", "2", *lengths)
    training = [(row["length"], row["batch"], row["tokens"]) for row in record["training"]]
    assert training == [(2, 12, 24), (4, 6, 24), (24, 1, 24)]  # as many words as three sentences of eight
    flop = [row["flop"] for row in record["training"]]
    assert flop == sorted(flop)  # attention reads more positions for the same number of words
    assert all(len(row["cpu_seconds"]) == 2 and row["peak_mb"] > 0 for row in record["training"])
    decoding = [(row["length"], row["beam"], row["tokens"]) for row in record["decoding"]]
    assert decoding == [(2, 1, 32), (2, 3, 32), (3, 1, 48), (3, 3, 48)]
    assert "| length | beam 1 | beam 3 |" in printed
