"""Metrics for `evaluate.load`, which takes their folders and needs no network for it.

The folders are not imported from here: `evaluate` copies the file in each and runs the copy, which imports this
package. They need `pip install evaluate`.
"""

from pathlib import Path

BLEU_BY_LENGTH = str(Path(__file__).parent / "bleu_by_length")
ALIGNMENT_ERROR_RATE = str(Path(__file__).parent / "alignment_error_rate")
