"""Soft alignment matrices, and their pictures."""
