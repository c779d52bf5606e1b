"""The translator against single lines, teacher forcing and what it may not show the model."""

import copy
import json
import logging
import warnings

import pytest
import torch

from rnnsearch import RNNsearchForConditionalGeneration, RNNsearchTokenizer, Translator
from rnnsearch.errors import InputError


@pytest.fixture(scope="module")
def lines(some_lines) -> list[str]:
    return some_lines(25, 3)


@pytest.fixture
def model(tiny_model, with_large_weights) -> RNNsearchForConditionalGeneration:
    return with_large_weights(copy.deepcopy(tiny_model))


@pytest.fixture
def translator(model, tiny_tokenizer) -> Translator:
    return Translator(model, tiny_tokenizer)


@pytest.fixture
def calls(translator, monkeypatch) -> list[tuple[dict, object]]:
    """Arguments and output of every call of `generate` by the translator."""
    record = []
    generate = translator.model.generate

    def recorded(**arguments):
        record.append((arguments, generate(**arguments)))
        return record[-1][1]

    monkeypatch.setattr(translator.model, "generate", recorded)
    return record


def favour(model, token: int, amount: float) -> None:
    with torch.no_grad():
        model.lm_head.bias[token] += amount


@pytest.mark.parametrize("num_beams", [1, 3])
@pytest.mark.parametrize("batch_size", [4, 64])
def test_a_line_does_not_depend_on_its_neighbours(translator, lines, num_beams, batch_size):
    together = translator.translate(lines, num_beams=num_beams, batch_size=batch_size)
    alone = [translator.translate([line], num_beams=num_beams)[0] for line in lines]
    assert [[h.text for h in hypotheses] for hypotheses in together] == [[h.text for h in hs] for hs in alone]
    assert len({hypotheses[0].text for hypotheses in together}) > 10
    for (hypothesis,), (single,) in zip(together, alone, strict=True):
        assert hypothesis.score == (None if single.score is None else pytest.approx(single.score, abs=1e-5))


def test_blank_lines_stay_blank_and_never_reach_the_model(translator, calls, lines):
    results = translator.translate(lines, num_beams=2, n_best=2)
    for position in (4, 17):
        assert [(h.text, h.score) for h in results[position]] == [("", None)] * 2
    assert sum(len(arguments["input_ids"]) for arguments, _ in calls) == 23
    calls.clear()
    assert translator.translate(["", "\u00a0", "\t"]) == [results[4][:1]] * 3
    assert translator.translate([]) == []
    assert calls == []


def test_batches_hold_lines_of_like_length(translator, calls, lines):
    translator.translate(lines, num_beams=1, batch_size=5)
    assert all(1 <= len(arguments["input_ids"]) <= 5 for arguments, _ in calls)
    assert all(
        (arguments["attention_mask"].sum(1) > arguments["input_ids"].shape[1] - 8).all() for arguments, _ in calls
    )


@pytest.mark.parametrize("num_beams", [1, 3])
@pytest.mark.parametrize("length_penalty", [0.0, 1.0, 0.6])
def test_scores_are_those_of_teacher_forcing(translator, calls, lines, num_beams, length_penalty):
    line = lines[0]
    results = translator.translate([line], num_beams=num_beams, n_best=num_beams, length_penalty=length_penalty)[0]
    ((arguments, output),) = calls
    assert len(results) == len(output.sequences) == num_beams
    for hypothesis, sequence in zip(results, output.sequences, strict=True):
        tokens = sequence[1:].tolist()
        if 2 in tokens:
            tokens = tokens[: tokens.index(2) + 1]
        with torch.no_grad():
            logits = translator.model(
                input_ids=arguments["input_ids"],
                attention_mask=arguments["attention_mask"],
                decoder_input_ids=torch.tensor([[1, *tokens[:-1]]]),
            ).logits
        total = logits.log_softmax(-1)[0, range(len(tokens)), tokens].sum().item()
        assert hypothesis.score == pytest.approx(total / len(tokens) ** length_penalty, abs=1e-4)


def test_greedy_score_leaves_out_what_follows_the_end(translator, calls, lines):
    favour(translator.model, 2, 3.0)
    results = translator.translate(lines, num_beams=1, length_penalty=0.0)
    ends = torch.cat([(output.sequences[:, 1:] == 2).int().argmax(1) for _, output in calls])
    assert len(set(ends.tolist())) > 1, "sentences of one batch must end at different steps"
    for position in (0, 9, 21):
        (alone,) = translator.translate([lines[position]], num_beams=1, length_penalty=0.0)[0]
        assert results[position][0].score == pytest.approx(alone.score, abs=1e-4)


def test_n_best_is_sorted_and_starts_with_the_best(translator, lines):
    several = translator.translate(lines, num_beams=4, n_best=3)
    best = translator.translate(lines, num_beams=4)
    for hypotheses, (first,) in zip(several, best, strict=True):
        assert len(hypotheses) == 3
        assert hypotheses[0].text == first.text
        if first.score is not None:
            scores = [hypothesis.score for hypothesis in hypotheses]
            assert scores == sorted(scores, reverse=True)
            assert len(set(scores)) == 3


def test_scores_only_where_asked_for(translator, calls, lines):
    assert all(h[0].score is None for h in translator.translate(lines, scores=False))
    assert all(output.scores is None and output.logits is None for _, output in calls)


@pytest.mark.parametrize("num_beams", [1, 4])
def test_the_empty_translation_wins_only_where_it_may(translator, calls, lines, num_beams):
    favour(translator.model, 2, 100.0)
    translator.translate(lines[:3], num_beams=num_beams)
    assert all(output.sequences.shape[1] == 3 for _, output in calls), "start, one token, end"
    for (hypothesis,) in translator.translate(lines[:3], num_beams=num_beams, min_new_tokens=0):
        assert hypothesis.text == ""
        assert hypothesis.score == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("num_beams", [1, 3])
def test_unk_can_be_forbidden(translator, calls, lines, num_beams):
    favour(translator.model, 3, 20.0)
    assert "[UNK]" in translator.translate(lines[:2], num_beams=num_beams)[0][0].text
    calls.clear()
    for (hypothesis,) in translator.translate(lines[:2], num_beams=num_beams, forbid_unk=True):
        assert "[UNK]" not in hypothesis.text
    assert all((output.sequences != 3).all() for _, output in calls)


@pytest.mark.parametrize("saved", [{"max_length": 20}, {"max_new_tokens": 7, "min_length": 0}, {"use_cache": False}])
def test_limit_grows_with_the_source_and_cuts_are_reported(translator, calls, lines, caplog, saved):
    favour(translator.model, 2, -100.0)
    translator.model.generation_config.update(**saved)
    short, long = sorted(filter(str.strip, lines), key=lambda line: len(line.split()))[:: len(lines) - 3]
    with warnings.catch_warnings(), caplog.at_level(logging.WARNING):
        warnings.simplefilter("error")
        translator.translate([short, long], num_beams=2)
    limits = [output.sequences.shape[1] - 1 for _, output in calls]
    lengths = [arguments["input_ids"].shape[1] for arguments, _ in calls]
    assert all(arguments["generation_config"].use_cache for arguments, _ in calls)
    assert limits == [2 * (-(-length // 8) * 8) + 10 for length in lengths]
    assert limits[0] < limits[1]
    assert [record.getMessage() for record in caplog.records] == ["translations cut at their greatest length: 2 of 2"]
    assert all(getattr(translator.model.generation_config, name) == value for name, value in saved.items())


def test_a_translation_is_one_line(translator, monkeypatch):
    monkeypatch.setattr(
        type(translator.tokenizer), "batch_decode", lambda self, ids, skip_special_tokens: ["a\nb"] * len(ids)
    )
    assert translator.translate(["a"])[0][0].text == "a b"


def test_parallel_wrapper_is_taken_off(translator, model, tiny_tokenizer, lines):
    wrapped = Translator(torch.nn.DataParallel(model), tiny_tokenizer)
    assert wrapped.translate(lines[:3]) == translator.translate(lines[:3])


def test_bad_numbers_are_named(translator):
    with pytest.raises(InputError, match="n-best is 3 but the beam only 2"):
        translator.translate(["a"], num_beams=2, n_best=3)
    with pytest.raises(InputError, match="batch size is 0"):
        translator.translate(["a"], batch_size=0)


def test_from_pretrained(tiny_model, tiny_tokenizer, tiny_model_dir, lines):
    loaded = Translator.from_pretrained(tiny_model_dir)
    assert loaded.translate(lines[:5]) == Translator(tiny_model, tiny_tokenizer).translate(lines[:5])
    assert isinstance(loaded.tokenizer, RNNsearchTokenizer)
    half = Translator.from_pretrained(str(tiny_model_dir), device="cpu", dtype=torch.bfloat16)
    assert half.model.dtype == torch.bfloat16
    assert len(half.translate(lines)) == 25


def test_what_cannot_be_loaded_is_named(tmp_path, tiny_model_dir):
    with pytest.raises(InputError, match="missing: no model can be loaded") as error:
        Translator.from_pretrained(tmp_path / "missing")
    assert "\n" not in str(error.value)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "marian"}), encoding="utf-8")
    with pytest.raises(InputError, match="type 'marian'"):
        Translator.from_pretrained(tmp_path)
    with pytest.raises(InputError, match="device 'toaster' is not available"):
        Translator.from_pretrained(tiny_model_dir, device="toaster")
