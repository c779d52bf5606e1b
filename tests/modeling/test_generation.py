"""`generate` in all its forms, held against teacher forcing and against search by hand."""

import logging

import pytest
import torch
from torch import Tensor
from transformers.modeling_outputs import BaseModelOutput

from rnnsearch.modeling.generation_rnnsearch import CACHE

EOS = 2
TOLERANCE = {"atol": 1e-8, "rtol": 0}

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def model(make_model, additive_kind):
    return make_model(**additive_kind)


@pytest.fixture
def batch(make_batch):
    """Padded on the left, where a mistake shows at every step; test_padding.py holds the two sides equal."""
    return make_batch("left")


@pytest.fixture(autouse=True)
def silent():
    """Transformers warns through its own logger as well; neither may be heard."""
    heard: list[str] = []

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            heard.append(record.getMessage())

    listener, logger = Listener(logging.WARNING), logging.getLogger("transformers")
    logger.addHandler(listener)
    yield
    logger.removeHandler(listener)
    assert not heard


def words_of(row: Tensor) -> list[int]:
    """A generated row without the start token, up to and with the end token."""
    words = row.tolist()[1:]
    return words[: words.index(EOS) + 1] if EOS in words else words


@torch.no_grad()
def force(model, source: list[int], words: list[int]) -> tuple[Tensor, Tensor | None]:
    """Log-probability of each word, and the alignment (T, S) if there is one, read in a single pass."""
    output = model(torch.tensor([source]), decoder_input_ids=torch.tensor([[1, *words[:-1]]]), output_attentions=True)
    log_p = output.logits[0].log_softmax(-1)[torch.arange(len(words)), words]
    return log_p, None if output.cross_attentions is None else output.cross_attentions[0][0, 0]


def test_greedy_takes_the_best_word_each_time(model, batch):
    found = model.generate(**batch.encoded, max_new_tokens=8)
    for row, source in enumerate(batch.sources):
        words: list[int] = []
        while len(words) < 8 and EOS not in words:
            with torch.no_grad():
                logits = model(torch.tensor([source]), decoder_input_ids=torch.tensor([[1, *words]])).logits
            words.append(int(logits[0, -1].argmax()))
        assert words_of(found[row]) == words
    assert torch.equal(found, model.generate(**batch.encoded, max_new_tokens=8, num_beams=1, use_cache=False))


@pytest.mark.parametrize(
    ("beams", "length_penalty"), [(1, None), (4, 0.0), (4, 1.0), (5, 0.0), (5, 1.0), (5, 0.6), (5, -0.5)]
)
def test_score_of_every_hypothesis_is_its_forced_log_probability(model, batch, beams, length_penalty):
    output = model.generate(
        **batch.encoded, max_new_tokens=7, num_beams=beams, num_return_sequences=beams,
        length_penalty=length_penalty, output_scores=True, return_dict_in_generate=True,
    )  # fmt: skip
    assert len(output.sequences) == 3 * beams
    beam_indices = None if beams == 1 else output.beam_indices
    scores = model.compute_transition_scores(
        output.sequences, output.scores, beam_indices, normalize_logits=beams == 1
    )
    for row, sequence in enumerate(output.sequences):
        words = words_of(sequence)
        log_p, _ = force(model, batch.sources[row // beams], words)
        torch.testing.assert_close(scores[row, : len(words)], log_p.float(), atol=1e-5, rtol=1e-5)
        if beams > 1:  # kept in float32 by Transformers, whatever the model's type
            expected = float(log_p.sum()) / len(words) ** length_penalty
            assert float(output.sequences_scores[row]) == pytest.approx(expected, rel=1e-5)


def test_beams_of_a_sentence_come_best_first_and_differ(model, batch):
    output = model.generate(
        **batch.encoded, max_new_tokens=6, num_beams=5, num_return_sequences=5, length_penalty=0.0,
        output_scores=True, return_dict_in_generate=True,
    )  # fmt: skip
    scores = output.sequences_scores.view(3, 5)
    assert (scores[:, :-1] >= scores[:, 1:]).all()
    for row in range(3):
        assert len({tuple(words_of(sequence)) for sequence in output.sequences[5 * row : 5 * row + 5]}) == 5


def test_a_beam_as_wide_as_the_vocabulary_finds_the_best_hypothesis(model):
    """Of all hypotheses of at most two words: `</s>` alone, or any other word and one more."""
    source = torch.tensor([[4, 7, 2]])
    with torch.no_grad():
        words = torch.stack([torch.ones(11, dtype=torch.long), torch.arange(11)], dim=1)
        first, second = model(source.expand(11, -1), decoder_input_ids=words).logits.log_softmax(-1).unbind(1)
    scores = first[0, :, None] + second  # (first word, second word)
    scores[EOS] = first[0, EOS]
    best = divmod(int(scores.argmax()), 11)
    found = model.generate(
        source, num_beams=11, max_new_tokens=2, length_penalty=0.0, output_scores=True, return_dict_in_generate=True
    )
    assert words_of(found.sequences[0]) == ([EOS] if best[0] == EOS else list(best))
    assert float(found.sequences_scores[0]) == pytest.approx(float(scores.max()), rel=1e-5)


@pytest.mark.parametrize("step_order", ["paper", "groundhog"])
@pytest.mark.parametrize("beams", [1, 4])
def test_alignments_followed_through_the_beams_are_those_of_forced_decoding(make_model, batch, step_order, beams):
    model = make_model(step_order=step_order)
    output = model.generate(
        **batch.encoded, max_new_tokens=7, num_beams=beams, num_return_sequences=beams, output_attentions=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    assert output.cross_attentions[0][0].shape == (3 * beams, 1, 1, 7)
    for row, sequence in enumerate(output.sequences):
        words = words_of(sequence)
        _, expected = force(model, batch.sources[row // beams], words)
        for t in range(len(words)):
            beam = row if beams == 1 else int(output.beam_indices[row, t])
            alignment = output.cross_attentions[t][0][beam, 0, 0]
            torch.testing.assert_close(alignment[batch.real(row // beams)], expected[t], **TOLERANCE)


def test_fixed_context_has_no_alignments(make_model, batch):
    output = make_model(context="fixed").generate(
        **batch.encoded, max_new_tokens=3, num_beams=2, output_attentions=True, return_dict_in_generate=True
    )
    assert all(step is None for step in output.cross_attentions or ())


FORMS = {
    "greedy": {},
    "beams": {"num_beams": 4},
    "n-best": {"num_beams": 5, "num_return_sequences": 3},
    "sampling": {"do_sample": True, "num_return_sequences": 2},
    "beams with sampling": {"do_sample": True, "num_beams": 3},
    "limits": {"num_beams": 3, "min_new_tokens": 4, "suppress_tokens": [3], "no_repeat_ngram_size": 2},
    "early stopping": {"num_beams": 4, "early_stopping": True, "length_penalty": 0.0},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("prefix", [None, [[1, 4, 5], [1, 6, 7], [1, 3, 9]]], ids=["free", "prefix"])
def test_without_a_cache_the_same(model, batch, form, prefix):
    if prefix:
        form = {**form, "decoder_input_ids": torch.tensor(prefix)}
    results = []
    for use_cache in (True, False):
        torch.manual_seed(3)
        results.append(model.generate(**batch.encoded, **form, max_new_tokens=6, use_cache=use_cache))
    assert torch.equal(*results)
    if prefix:
        several = len(results[0]) // 3
        assert results[0][:, :3].tolist() == [row for row in prefix for _ in range(several)]


def test_limits_are_kept(model, batch):
    found = model.generate(**batch.encoded, max_new_tokens=6, **FORMS["limits"])
    for row in found:
        assert len(words_of(row)) >= 5 and 3 not in row.tolist()


def test_forced_first_word(model, batch):
    """The prefix may be given without the start token; a forced first word is the second id."""
    for beams in (1, 4):
        forced = model.generate(**batch.encoded, max_new_tokens=5, num_beams=beams, forced_bos_token_id=8)
        assert (forced[:, 1] == 8).all()
    prefix = torch.tensor([[8], [8], [8]])
    given = model.generate(**batch.encoded, max_new_tokens=4, decoder_input_ids=prefix)
    assert (given[:, :2] == torch.tensor([1, 8])).all()
    for row, source in enumerate(batch.sources):
        alone = model.generate(torch.tensor([source]), max_new_tokens=4, decoder_input_ids=torch.tensor([[1, 8]]))
        assert words_of(given[row]) == words_of(alone[0])


def test_sampling_draws_from_the_model(model):
    """3,000 first words of one sentence against its distribution: within four standard deviations for every word."""
    source = torch.tensor([[4, 7, 2]])
    torch.manual_seed(0)
    drawn = model.generate(source, do_sample=True, top_k=0, num_return_sequences=3000, max_new_tokens=1)[:, 1]
    with torch.no_grad():
        p = model(source, decoder_input_ids=torch.tensor([[1]])).logits[0, 0].softmax(-1)
    shares = drawn.bincount(minlength=11) / 3000
    assert ((shares - p).abs() <= 4 * (p * (1 - p) / 3000).sqrt() + 1e-3).all()


def test_sampling_repeats_with_the_seed(model, batch):
    def draw(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return model.generate(**batch.encoded, do_sample=True, num_return_sequences=4, max_new_tokens=6)

    assert draw(1).shape[0] == 12
    assert torch.equal(draw(1), draw(1)) and not torch.equal(draw(1), draw(2))


def test_labels_are_left_out(model, batch):
    """Seq2SeqTrainer hands the whole batch to generate."""
    expected = model.generate(**batch.encoded, max_new_tokens=5)
    assert torch.equal(model.generate(**batch.encoded, labels=batch.labels, max_new_tokens=5), expected)


@pytest.mark.parametrize("beams", [1, 3])
def test_annotations_may_be_given(model, batch, beams):
    expected = model.generate(**batch.encoded, num_beams=beams, max_new_tokens=5)
    with torch.no_grad():
        annotations = model.get_encoder()(**batch.encoded).last_hidden_state
    found = model.generate(
        encoder_outputs=BaseModelOutput(last_hidden_state=annotations),
        attention_mask=batch.attention_mask,
        num_beams=beams,
        max_new_tokens=5,
    )
    assert torch.equal(found, expected)


def test_embeddings_may_be_given(model, batch):
    expected = model.generate(**batch.encoded, num_beams=2, max_new_tokens=5)
    found = model.generate(
        inputs_embeds=model.get_input_embeddings()(batch.input_ids).detach(),
        attention_mask=batch.attention_mask,
        num_beams=2,
        max_new_tokens=5,
    )
    assert torch.equal(found, expected)


def test_generation_goes_on_from_a_returned_cache(model, batch):
    whole = model.generate(**batch.encoded, max_new_tokens=8, min_new_tokens=8)
    first = model.generate(**batch.encoded, max_new_tokens=3, min_new_tokens=3, return_dict_in_generate=True)
    assert torch.equal(first.sequences, whole[:, :4])
    rest = model.generate(
        **batch.encoded, **{CACHE: first[CACHE]}, decoder_input_ids=first.sequences, max_new_tokens=5, min_new_tokens=5
    )
    assert torch.equal(rest, whole)


def test_half_precision(make_model, batch, additive_kind):
    for dtype in (torch.bfloat16, torch.float16):
        model = make_model(dtype=dtype, **additive_kind)
        for form in FORMS.values():
            assert len(model.generate(**batch.encoded, **form, max_new_tokens=4)) >= 3


def test_assisted_generation_is_refused(model):
    """A recurrent state cannot be taken back, which guessing words ahead needs."""
    with pytest.raises(ValueError, match="stateful"):
        model.generate(torch.tensor([[4, 7, 2]]), prompt_lookup_num_tokens=2, max_new_tokens=3)


def test_misspelt_argument_is_refused(model, batch):
    with pytest.raises(ValueError, match="atention_mask"):
        model.generate(batch.input_ids, atention_mask=batch.attention_mask, max_new_tokens=3)


@pytest.mark.parametrize("arguments", [{}, {"num_beams": 3}])
def test_default_length_grows_with_the_source(make_model, arguments):
    model = make_model().eval()
    with torch.no_grad():
        model.lm_head.bias[2] = -1e4  # never ends
    for positions in (1, 25):
        source = torch.full((2, positions), 4)
        assert model.generate(source, **arguments).shape[1] == 1 + 2 * positions + 10
    encoded = model.get_encoder()(source)
    assert model.generate(encoder_outputs=encoded, attention_mask=source, **arguments).shape[1] == 61
    assert model.generate(source, max_length=7, **arguments).shape[1] == 7
    assert model.generate(source, max_new_tokens=7, **arguments).shape[1] == 8
