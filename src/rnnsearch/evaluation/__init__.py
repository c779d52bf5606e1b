"""BLEU and chrF, overall and by sentence length."""
