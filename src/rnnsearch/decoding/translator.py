"""Lines of text in, translations out: batching, beam search and order behind one call."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import torch
from accelerate.utils import extract_model_from_parallel
from transformers import GenerationConfig, LogitsProcessorList

from ..data.decoding_batches import length_batches
from ..errors import InputError
from ..loading import load_model, load_tokenizer
from ..modeling.configuration_rnnsearch import greatest_length
from ..modeling.generation_rnnsearch import followed_weights, without_saved_settings
from ..modeling.modeling_rnnsearch import RNNsearchForConditionalGeneration
from ..modeling.unknown_rnnsearch import as_lexicon, words_for_unknown
from ..progress import progress_bar
from ..tokenizer.tokenization_rnnsearch import RNNsearchTokenizer
from .quantised import with_int8_weights
from .rules import LONGEST, paper_rules, paper_steps

logger = logging.getLogger(__name__)

WIDEST_RETRY = 500  # from this beam on the authors' search gives up


@dataclass(frozen=True)
class Hypothesis:
    """One translation of one line.

    Args:
        text: detokenised translation; empty for a blank line.
        score: log-probability of the tokens, the end included, divided by their number to the power of the length
            penalty; None for a blank line and where no scores were asked for.
    """

    text: str
    score: float | None


class Translator:
    """A model and its tokenizer, ready to translate.

    Args:
        model: the model; it is switched to evaluation mode. A parallel wrapper around it is taken off.
        tokenizer: the tokenizer it was trained with.
    """

    def __init__(self, model: RNNsearchForConditionalGeneration, tokenizer: RNNsearchTokenizer):
        self.model = extract_model_from_parallel(model).eval()
        self.tokenizer = tokenizer

    @classmethod
    def from_pretrained(
        cls, name: str | PathLike[str], device: str | None = None, dtype: torch.dtype | None = None
    ) -> "Translator":
        """Load a saved model with its tokenizer.

        Arguments and errors are those of `rnnsearch.loading.load_model`; with `torch.int8` as `dtype` linear layers
        multiply in eight bits, on a CPU.
        """
        if dtype != torch.int8:
            return cls(load_model(name, device, dtype), load_tokenizer(name))
        if device not in (None, "cpu"):
            raise InputError(f"int8 works on a CPU, not on {device}: leave the device out, or take bfloat16 there")
        return cls(with_int8_weights(load_model(name, "cpu", torch.float32)), load_tokenizer(name))

    @torch.inference_mode()
    def translate(
        self,
        lines: Sequence[str],
        num_beams: int = 5,
        n_best: int = 1,
        length_penalty: float | None = None,
        batch_size: int = 64,
        min_new_tokens: int = 1,
        forbid_unk: bool = False,
        replace_unk: str | Mapping[str, str] | None = None,
        paper_decoding: bool = False,
        scores: bool = True,
        progress: bool = False,
    ) -> list[list[Hypothesis]]:
        """Translate lines of text, each on its own.

        A translation has at most 2 n + 10 tokens, n being the source's tokens rounded up to a multiple of 8. Those
        that are cut there are counted in a warning of this module's logger. Lines without a visible character are
        not shown to the model, which would invent something.

        Args:
            lines: source sentences.
            num_beams: hypotheses kept at each step; 1 is greedy search.
            n_best: translations returned for each line, best first; at most `num_beams`.
            length_penalty: power of the length by which log-probabilities are divided; 0 compares their plain sums.
                None is 1, and 0 with `paper_decoding`.
            batch_size: sentences decoded together.
            min_new_tokens: fewest tokens of a translation before its end; with 0 the empty translation may win.
            forbid_unk: never write [UNK], as for the "No UNK" column of the paper's table 1.
            replace_unk: write, for each [UNK], the source word that it was most written from: "copy" as it stands, a
                mapping its translation there, if it has one.
            paper_decoding: search by the rules of the authors' code (`rnnsearch.decoding.rules`): plain sums, and
                from ⌊S / 2⌋ to 3 S tokens for a source of S, `</s>` counted. What has not ended by then is given up.
                If that is everything, the line is translated again, as theirs is: with [UNK] where it was forbidden,
                else with the beam doubled while it is below 500; a line for which that fails stays blank.
            scores: also return scores, for which the search keeps the probabilities of all words at each step.
            progress: show a bar on standard error.

        Returns:
            `n_best` hypotheses for each line, in the order of the lines.

        Raises:
            InputError: a number is too small, `n_best` is above `num_beams`, `replace_unk` is given for a model
                with a fixed context, or `paper_decoding` together with what it decides itself.
            ValueError: `replace_unk` is neither "copy" nor a mapping.
        """
        for name, number in (("beam", num_beams), ("n-best", n_best), ("batch size", batch_size)):
            if number < 1:
                raise InputError(f"{name} is {number}: give 1 or more")
        if n_best > num_beams:
            raise InputError(f"n-best is {n_best} but the beam only {num_beams}: widen the beam")
        if replace_unk is not None and self.model.config.context == "fixed":
            raise InputError("this model has a fixed context: it does not tell which source word is behind an [UNK]")
        if paper_decoding:
            _check_paper_decoding(n_best, length_penalty, min_new_tokens)
        if length_penalty is None:
            length_penalty = 0.0 if paper_decoding else 1.0
        lexicon = None if replace_unk is None else as_lexicon(replace_unk)

        results = [[Hypothesis("", None)] * n_best for _ in lines]
        cut: list[int] = []  # position of each translation without an end
        with (
            without_saved_settings(self.model),
            progress_bar("Translating", len(lines), shown=progress) as advance,
        ):
            for positions, source_ids, limit in self._batches(lines, batch_size):
                lengths = [len(ids) for ids in source_ids]
                rules = paper_rules(lengths, self.tokenizer.eos_token_id) if paper_decoding else None
                config = GenerationConfig(
                    max_new_tokens=paper_steps(lengths) if paper_decoding else limit,
                    # The rule for one token alone leaves the scores of later steps as they are, without a copy.
                    begin_suppress_tokens=[self.tokenizer.eos_token_id] if min_new_tokens == 1 else None,
                    min_new_tokens=min_new_tokens if min_new_tokens > 1 else None,
                    num_beams=num_beams,
                    num_return_sequences=n_best,
                    length_penalty=length_penalty if num_beams > 1 else None,
                    early_stopping=paper_decoding and num_beams > 1,
                    do_sample=False,
                    # Trainer switches it off in the configurations of what it trains.
                    use_cache=True,
                    return_dict_in_generate=True,
                    output_attentions=lexicon is not None,
                    suppress_tokens=[self.tokenizer.unk_token_id] if forbid_unk else None,
                )
                sources = [lines[position] for position in positions]
                hypotheses, tokens = self._search(source_ids, config, rules, scores, length_penalty, sources, lexicon)
                limits = [LONGEST * length if paper_decoding else limit for length in lengths for _ in range(n_best)]
                cut += [positions[row // n_best] for row in range(len(limits)) if tokens[row] > limits[row]]
                for row, position in enumerate(positions):
                    results[position] = hypotheses[row * n_best : (row + 1) * n_best]
                advance(len(positions))
        if cut and not paper_decoding:
            logger.warning("translations cut at their greatest length: %d of %d", len(cut), len(lines) * n_best)
        elif cut and (forbid_unk or num_beams < WIDEST_RETRY):
            again = self.translate(
                [lines[position] for position in cut],
                num_beams=num_beams if forbid_unk else 2 * num_beams,
                batch_size=batch_size if forbid_unk else max(batch_size // 2, 1),
                replace_unk=replace_unk,
                paper_decoding=True,
                scores=scores,
            )
            for position, hypotheses in zip(cut, again, strict=True):
                results[position] = hypotheses
        elif cut:
            logger.warning("lines left blank, for which no translation ended within the paper's limit: %d", len(cut))
            for position in cut:
                results[position] = [Hypothesis("", None)]
        return results

    def _batches(self, lines: Sequence[str], batch_size: int) -> Iterator[tuple[list[int], list[list[int]], int]]:
        """Yield positions of lines of like length, their token ids, and the limit of their translations in tokens."""
        visible = [position for position, line in enumerate(lines) if line.strip()]
        if not visible:
            return
        # `verbose=False`: sources longer than those of the training are translated whole and without a warning.
        ids = self.tokenizer([lines[p] for p in visible], verbose=False).input_ids
        for batch, width in length_batches([len(one) for one in ids], batch_size):
            yield [visible[number] for number in batch], [ids[number] for number in batch], greatest_length(width)

    def _search(
        self,
        source_ids: list[list[int]],
        config: GenerationConfig,
        rules: LogitsProcessorList | None,
        scores: bool,
        length_penalty: float,
        sources: Sequence[str],
        lexicon: Mapping[str, str] | None,
    ) -> tuple[list[Hypothesis], list[int]]:
        """Hypotheses of a batch, those of one source together and best first, and their numbers of tokens.

        These count the end also where a translation has none.
        """
        beam = config.num_beams > 1
        config.output_scores = scores and beam
        config.output_logits = scores and not beam
        batch = self.tokenizer.pad({"input_ids": source_ids}, return_tensors="pt").to(self.model.device)
        output = self.model.generate(
            input_ids=batch["input_ids"],
            attention_mask=batch["attention_mask"],
            generation_config=config,
            logits_processor=rules,
        )
        tokens = output.sequences[:, 1:]
        values: list[float] | list[None] = [None] * len(tokens)
        if scores and beam:
            values = output.sequences_scores.tolist()
        elif scores:
            values = self._greedy_scores(output, length_penalty).tolist()
        if lexicon is None:
            texts = self.tokenizer.batch_decode(tokens, skip_special_tokens=True)
        else:
            texts = self._without_unknown(output, batch["input_ids"].tolist(), sources, lexicon)
        # A line stays a line: byte-level vocabularies can spell its end.
        hypotheses = [Hypothesis(text.replace("\n", " "), value) for text, value in zip(texts, values, strict=True)]
        return hypotheses, ((tokens == self.tokenizer.eos_token_id).cumsum(dim=1) == 0).sum(dim=1).add(1).tolist()

    def _without_unknown(
        self, output, source_ids: list[list[int]], sources: Sequence[str], lexicon: Mapping[str, str]
    ) -> list[str]:
        """The texts of a search, with what stands for unknown words in their places."""
        n_best = len(output.sequences) // len(sources)
        weights = followed_weights(output).double().cpu().numpy()
        texts = []
        for row, ids in enumerate(output.sequences[:, 1:].tolist()):
            source = row // n_best
            words = words_for_unknown(self.tokenizer, sources[source], source_ids[source], ids, weights[row], lexicon)
            texts.append(str(self.tokenizer.decode(ids, skip_special_tokens=True, unknown_words=words)))
        return texts

    def _greedy_scores(self, output, length_penalty: float) -> torch.Tensor:
        """What beam search calls the score of a sequence, for those of a greedy search: (sequences,)."""
        # Of the logits as the model gave them, since beam search too sums them before words are ruled out.
        steps = self.model.compute_transition_scores(output.sequences, output.logits, normalize_logits=True)
        ends = (output.sequences[:, 1:] == self.tokenizer.eos_token_id).long()
        after_end = ends.cumsum(dim=1) - ends > 0
        return steps.masked_fill(after_end, 0.0).sum(dim=1) / (~after_end).sum(dim=1) ** length_penalty


def _check_paper_decoding(n_best: int, length_penalty: float | None, min_new_tokens: int) -> None:
    """Raises InputError where something is asked for that the paper's decoding decides itself."""
    if n_best > 1:
        raise InputError(f"the paper's decoding gives one translation of a line, not {n_best}: leave n-best out")
    if length_penalty:
        raise InputError(
            f"the paper's decoding compares plain sums: leave the length penalty of {length_penalty:g} out"
        )
    if min_new_tokens != 1:
        raise InputError(
            f"the paper's decoding has a shortest length of its own: leave the {min_new_tokens} new tokens out"
        )
