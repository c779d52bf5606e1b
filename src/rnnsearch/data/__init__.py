"""Readers of parallel text, batching, and the embedded English-French grammar."""
