"""Translating lines of text with a trained model."""
