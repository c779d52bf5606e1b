"""BLEU and chrF, overall and by sentence length, and the error rate of alignments."""
