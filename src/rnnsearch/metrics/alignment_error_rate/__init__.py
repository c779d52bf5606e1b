"""Alignment error rate, for `evaluate.load`."""
