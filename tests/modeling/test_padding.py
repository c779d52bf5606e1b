"""A sentence in a padded batch is the sentence alone: annotations, logits, alignments, translations, gradients."""

import pytest
import torch

TOLERANCE = {"atol": 1e-10, "rtol": 0}


@torch.no_grad()
def test_logits_and_alignments(make_model, kind, batch):
    model = make_model(**kind)
    together = model(**batch.encoded, labels=batch.labels, output_attentions=True)
    for row, (source, target) in enumerate(zip(batch.sources, batch.targets, strict=True)):
        alone = model(torch.tensor([source]), labels=torch.tensor([target]), output_attentions=True)
        torch.testing.assert_close(together.logits[row, : len(target)], alone.logits[0], **TOLERANCE)
        if kind["context"] == "search":
            alignment = together.cross_attentions[0][row, 0, : len(target)]
            torch.testing.assert_close(alignment[:, batch.real(row)], alone.cross_attentions[0][0, 0], **TOLERANCE)


@torch.no_grad()
@pytest.mark.parametrize("search", [{}, {"num_beams": 4, "num_return_sequences": 3}], ids=["greedy", "beams"])
def test_translations(make_model, kind, batch, search):
    model = make_model(**kind)
    several = search.get("num_return_sequences", 1)
    together = model.generate(**batch.encoded, **search, max_new_tokens=9)
    for row, source in enumerate(batch.sources):
        alone = model.generate(torch.tensor([source]), **search, max_new_tokens=9)
        for rank in range(several):
            found, expected = together[row * several + rank].tolist(), alone[rank].tolist()
            width = max(len(found), len(expected))
            assert found + [0] * (width - len(found)) == expected + [0] * (width - len(expected))


@torch.no_grad()
@pytest.mark.parametrize("words", [1, 3])
@pytest.mark.parametrize("score", ["additive", "dot", "scaled_dot"])
def test_alignment_is_exactly_zero_at_padding_and_sums_to_one(make_model, batch, score, words):
    """Once through the readable step (one word) and once through the recurrence (three)."""
    output = make_model(score=score)(
        **batch.encoded, decoder_input_ids=torch.tensor([[1, 4, 6]] * 3)[:, :words], output_attentions=True
    )
    (alignment,) = output.cross_attentions
    assert alignment.shape == (3, 1, words, 7)
    padding = (batch.attention_mask == 0)[:, None, None].expand_as(alignment)
    assert (alignment[padding] == 0).all()
    assert (alignment[~padding] > 0).all()
    torch.testing.assert_close(alignment.sum(-1), torch.ones(3, 1, words, dtype=torch.float64), **TOLERANCE)


@torch.no_grad()
@pytest.mark.parametrize("context", ["search", "fixed"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_annotations_do_not_feel_the_amount_of_padding(make_model, context, side):
    encoder = make_model(context=context).get_encoder()
    source = [4, 9, 2]
    alone = encoder(torch.tensor([source])).last_hidden_state
    for width in (3, 8, 20):
        fill = [0] * (width - 3)
        padded = encoder(torch.tensor([source + fill if side == "right" else fill + source])).last_hidden_state
        start = 0 if side == "right" else width - 3
        torch.testing.assert_close(padded[:, start : start + 3], alone, **TOLERANCE)


@torch.no_grad()
def test_padding_is_found_when_no_mask_is_given(make_model, kind, batch):
    model = make_model(**kind)
    expected = model(**batch.encoded, labels=batch.labels).logits
    assert torch.equal(model(batch.input_ids, labels=batch.labels).logits, expected)
    for search in ({}, {"num_beams": 4}):
        expected = model.generate(**batch.encoded, **search, max_new_tokens=6)
        assert torch.equal(model.generate(batch.input_ids, **search, max_new_tokens=6), expected)


@torch.no_grad()
def test_a_given_mask_counts_and_not_the_ids_behind_it(make_model, kind, batch):
    model = make_model(**kind)
    expected = model(**batch.encoded, labels=batch.labels).logits
    other_ids = batch.input_ids.masked_fill(batch.attention_mask == 0, 7)
    assert torch.equal(model(other_ids, attention_mask=batch.attention_mask, labels=batch.labels).logits, expected)
    boolean = model(other_ids, attention_mask=batch.attention_mask.bool(), labels=batch.labels).logits
    assert torch.equal(boolean, expected)


def test_row_without_a_source_leaves_the_others_alone(make_model, kind):
    """Nothing to attend to gives weights of zero, a finite loss, and the gradients of the other row alone."""
    model = make_model(**kind)
    alone = model(torch.tensor([[4, 5, 2]]), labels=torch.tensor([[4, 2]]))
    alone.loss.backward()
    expected = {name: weight.grad.clone() for name, weight in model.named_parameters()}
    model.zero_grad()
    both = model(
        torch.tensor([[4, 5, 2], [0, 0, 0]]), labels=torch.tensor([[4, 2], [-100, -100]]), output_attentions=True
    )
    both.loss.backward()
    torch.testing.assert_close(both.loss, alone.loss, **TOLERANCE)
    for name, weight in model.named_parameters():
        torch.testing.assert_close(weight.grad, expected[name], **TOLERANCE)
    if kind["context"] == "search":
        assert not both.cross_attentions[0][1].any()


def test_row_without_a_source_can_be_trained_on_and_translated(make_model, kind):
    model = make_model(**kind)
    ids = torch.tensor([[4, 5, 2], [0, 0, 0]])
    loss = model(ids, labels=torch.tensor([[4, 2], [6, 2]])).loss
    loss.backward()
    assert loss.isfinite()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())
    together = model.generate(ids, num_beams=3, max_new_tokens=5)
    alone = model.generate(ids[:1], num_beams=3, max_new_tokens=5)
    width = alone.shape[1]
    assert torch.equal(together[:1, :width], alone) and not together[0, width:].any()


@torch.no_grad()
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_masking_holds_in_half_precision(make_model, kind, batch, dtype):
    output = make_model(dtype=dtype, **kind)(**batch.encoded, labels=batch.labels, output_attentions=True)
    assert output.logits.isfinite().all() and output.logits.dtype == dtype
    if kind["context"] == "search":
        padding = (batch.attention_mask == 0)[:, None, None].expand_as(output.cross_attentions[0])
        assert not output.cross_attentions[0][padding].any()


def test_sources_that_do_not_fit_are_refused(make_model):
    model = make_model()
    target = torch.tensor([[1, 4]])
    with pytest.raises(ValueError, match="no position"):
        model(input_ids=torch.zeros(1, 0, dtype=torch.long), decoder_input_ids=target)
    with pytest.raises(ValueError, match=r"shape \(1, 4\), the source \(1, 3\)"):
        model(input_ids=torch.tensor([[4, 5, 2]]), attention_mask=torch.ones(1, 4), decoder_input_ids=target)
