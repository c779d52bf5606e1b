"""Soft and hard alignments, given translations read word by word, and their pictures."""
