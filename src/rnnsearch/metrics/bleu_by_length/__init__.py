"""BLEU by source length, for `evaluate.load`."""
