"""Lines of text in, translations out, by the exported graphs: ONNX Runtime, NumPy and the tokenizer, no PyTorch."""

from collections.abc import Sequence
from os import PathLike

from ..data.decoding_batches import length_batches
from ..errors import InputError
from ..modeling.configuration_rnnsearch import RNNsearchConfig, greatest_length
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer
from .search import beam_search, greedy_search
from .sessions import Decoding, Sessions


class OnnxTranslator:
    """An exported model with its tokenizer, ready to translate.

    Args:
        folder: what `rnnsearch export --format onnx` has written.
        threads: of each product; 0: as many as the machine has cores.

    Raises:
        InputError: ONNX Runtime is not installed, or the folder holds no such graphs.
    """

    def __init__(self, folder: str | PathLike[str], threads: int = 0):
        self.sessions = Sessions(folder, threads)
        self.config = RNNsearchConfig.from_pretrained(folder)
        self.tokenizer = RNNsearchTokenizer.from_pretrained(folder)

    def translate(
        self, lines: Sequence[str], num_beams: int = 5, length_penalty: float = 1.0, batch_size: int = 64
    ) -> list[str]:
        """Translate lines of text, each on its own, as `rnnsearch.Translator` does.

        Args:
            lines: source sentences; one without a visible character is translated by an empty one.
            num_beams: hypotheses kept at each step; 1 is greedy search.
            length_penalty: power of the length by which log-probabilities are divided; 0 compares their plain sums.
            batch_size: sentences decoded together.

        Raises:
            InputError: a number is too small.
        """
        for name, number in (("beam", num_beams), ("batch size", batch_size)):
            if number < 1:
                raise InputError(f"{name} is {number}: give 1 or more")
        translations = [""] * len(lines)
        visible = [position for position, line in enumerate(lines) if line.strip()]
        if not visible:
            return translations
        ids = self.tokenizer([lines[position] for position in visible], verbose=False).input_ids
        for batch, width in length_batches([len(one) for one in ids], batch_size):
            texts = self._search([ids[number] for number in batch], num_beams, length_penalty, greatest_length(width))
            for number, text in zip(batch, texts, strict=True):
                # A line stays a line: byte-level vocabularies can spell its end.
                translations[visible[number]] = text.replace("\n", " ")
        return translations

    def _search(self, source_ids: list[list[int]], num_beams: int, length_penalty: float, limit: int) -> list[str]:
        batch = self.tokenizer.pad({"input_ids": source_ids}, return_tensors="np")
        decoding = Decoding(self.sessions, batch["input_ids"], batch["attention_mask"], num_beams)
        start = self.config.decoder_start_token_id
        eos = self.config.eos_token_id
        assert eos is not None  # of every tokenizer
        ends = eos if isinstance(eos, list) else [eos]
        if num_beams == 1:
            words = greedy_search(decoding, len(source_ids), start, ends, limit)
        else:
            words = beam_search(decoding, len(source_ids), num_beams, start, ends, limit, length_penalty)
        return self.tokenizer.batch_decode(words, skip_special_tokens=True)
