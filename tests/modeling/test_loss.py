"""The loss and what Trainer does with it: shifting, padding, counting, smoothing, accumulating."""

import copy
import math

import pytest
import torch
from torch.utils.data import SequentialSampler
from transformers import DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

from rnnsearch.modeling.generation_rnnsearch import CACHE

TOLERANCE = {"atol": 1e-10, "rtol": 0}
# Targets of unequal lengths, so that a mean of means is not the mean.
PAIRS = [
    ([4, 7, 2], [5, 2]),
    ([5, 2], [6, 7, 8, 9, 10, 4, 2]),
    ([6, 9, 12, 4, 2], [2]),
    ([7, 3, 2], [8, 8, 2]),
    ([8, 2], [9, 2]),
    ([9, 10, 11, 2], [10, 3, 5, 6, 2]),
    ([10, 2], [4, 4, 4, 2]),
    ([11, 12, 2], [5, 6, 7, 8, 9, 2]),
]


def log_likelihoods(model, source, target) -> list[float]:
    """log p of each word of one sentence, through logits of prefixes that are written out here."""
    with torch.no_grad():
        logits = model(torch.tensor([source]), decoder_input_ids=torch.tensor([[1, *target[:-1]]])).logits[0]
    return [float(row[word] - row.exp().sum().log()) for row, word in zip(logits, target, strict=True)]


@pytest.fixture
def model(make_model, additive_kind):
    return make_model(**additive_kind)


def test_every_word_counts_once_the_last_one_too(model, batch):
    words = [log_likelihoods(model, x, y) for x, y in zip(batch.sources, batch.targets, strict=True)]
    total = -sum(map(math.fsum, words))
    output = model(**batch.encoded, labels=batch.labels)
    assert output.loss.item() == pytest.approx(total / 11, abs=1e-10)
    without_last = batch.labels.masked_fill(batch.labels == 2, -100)
    expected = (total + sum(sentence[-1] for sentence in words)) / 8
    decoder_input_ids = model.prepare_decoder_input_ids_from_labels(batch.labels)
    found = model(**batch.encoded, labels=without_last, decoder_input_ids=decoder_input_ids)
    assert found.loss.item() == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("count", [23, torch.tensor(23)])
def test_sum_is_divided_by_the_number_given(model, batch, count):
    mean = model(**batch.encoded, labels=batch.labels).loss
    found = model(**batch.encoded, labels=batch.labels, num_items_in_batch=count).loss
    torch.testing.assert_close(found, mean * 11 / 23, **TOLERANCE)
    assert model.accepts_loss_kwargs


def test_labels_are_shifted_right_once(model):
    labels = torch.tensor([[6, 9, 4, 2], [7, 2, -100, -100], [-100, -100, -100, -100]])
    shifted = model.prepare_decoder_input_ids_from_labels(labels)
    assert shifted.tolist() == [[1, 6, 9, 4], [1, 7, 2, 0], [1, 0, 0, 0]]
    assert labels[1, 2] == -100


def test_padding_of_the_labels_plays_no_part(model, batch):
    wider = torch.cat([batch.labels, torch.full((3, 2), -100)], dim=1)
    one, other = (model(**batch.encoded, labels=labels) for labels in (batch.labels, wider))
    torch.testing.assert_close(one.loss, other.loss, **TOLERANCE)
    torch.testing.assert_close(one.logits, other.logits[:, :-2], **TOLERANCE)


def test_logits_of_a_position_know_nothing_of_later_words(model, batch):
    words = torch.tensor([[1, 4, 6, 9, 3]] * 3)
    changed = words.clone()
    changed[:, 3:] = 7
    one, other = (model(**batch.encoded, decoder_input_ids=ids).logits for ids in (words, changed))
    assert torch.equal(one[:, :3], other[:, :3]) and not torch.equal(one[:, 3:], other[:, 3:])


def test_no_cache_comes_with_labels(model, batch):
    """Trainer.evaluate gathers and pads whatever a model returns."""
    output = model(**batch.encoded, labels=batch.labels, use_cache=True)
    assert output.get(CACHE) is None


def test_tuple_instead_of_an_output(model, batch):
    asked = {**batch.encoded, "labels": batch.labels, "output_attentions": True, "output_hidden_states": True}
    output, as_tuple = model(**asked), model(**asked, return_dict=False)
    assert isinstance(as_tuple, tuple) and len(as_tuple) == len(output)
    assert torch.equal(as_tuple[0], output.loss) and torch.equal(as_tuple[1], output.logits)
    inner = model.model(**batch.encoded, decoder_input_ids=torch.tensor([[1]] * 3), return_dict=False)
    assert isinstance(inner, tuple) and torch.is_tensor(inner[0])
    assert torch.is_tensor(model.get_encoder()(**batch.encoded, return_dict=False)[0])
    given = model(encoder_outputs=inner[-1:], attention_mask=batch.attention_mask, labels=batch.labels)
    torch.testing.assert_close(given.loss, output.loss, **TOLERANCE)


def test_tuples_as_the_configuration_asks(make_model, batch):
    output = make_model()(**batch.encoded, labels=batch.labels)
    model = make_model(return_dict=False)
    assert torch.equal(model(**batch.encoded, labels=batch.labels)[0], output.loss)
    assert model.generate(**batch.encoded, num_beams=2, max_new_tokens=3).shape[0] == 3
    assert torch.equal(model(**batch.encoded, labels=batch.labels, return_dict=True).loss, output.loss)


@pytest.mark.parametrize("choices", [{}, {"tie_word_embeddings": True, "embedding_size": 4}], ids=["untied", "tied"])
def test_every_parameter_gets_a_gradient(make_model, kind, batch, choices):
    model = make_model(**kind, **choices).train()
    model(**batch.encoded, labels=batch.labels).loss.backward()
    assert [name for name, weight in model.named_parameters() if weight.grad is None] == []
    assert all(weight.grad.any() for weight in model.parameters())


def test_half_precision_keeps_the_loss_in_float32(make_model, batch):
    for dtype in (torch.float16, torch.bfloat16):
        output = make_model(dtype=dtype)(**batch.encoded, labels=batch.labels)
        assert output.loss.dtype == torch.float32 and output.logits.dtype == dtype


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"input_ids": torch.tensor([[4, 2]])}, "decoder_input_ids"),
        ({"labels": torch.tensor([[4, 2]])}, "input_ids"),
        (
            {name: torch.zeros(1, 2, 5) for name in ("inputs_embeds", "decoder_inputs_embeds")}
            | {"input_ids": torch.tensor([[4, 2]])},
            "either `input_ids` or `inputs_embeds`",
        ),
    ],
    ids=["no target", "no source", "two sources"],
)
def test_missing_inputs_are_named(make_model, arguments, message):
    with pytest.raises(ValueError, match=message):
        make_model()(**arguments)


class Collator(DataCollatorForSeq2Seq):
    """Labels padded with -100, decoder inputs made by the model, as Seq2SeqTrainer needs for label smoothing."""

    def __init__(self, model):
        super().__init__(tokenizer=None, model=model)

    def __call__(self, pairs):
        def pad(rows, fill):
            widest = max(map(len, rows))
            return torch.tensor([row + [fill] * (widest - len(row)) for row in rows])

        labels = pad([pair["labels"] for pair in pairs], -100)
        return {
            "input_ids": pad([pair["input_ids"] for pair in pairs], 0),
            "labels": labels,
            "decoder_input_ids": self.model.prepare_decoder_input_ids_from_labels(labels),
        }


class InOrder(Seq2SeqTrainer):
    def _get_train_sampler(self, train_dataset=None):
        return SequentialSampler(self.train_dataset)


def trained(model, tmp_path, batch_size: int, steps: int, smoothing: float = 0.0):
    """One update by plain gradient descent from the eight pairs; the model after it and the loss that was logged."""
    model = copy.deepcopy(model).train()
    arguments = Seq2SeqTrainingArguments(
        output_dir=str(tmp_path), use_cpu=True, report_to="none", save_strategy="no", disable_tqdm=True,
        per_device_train_batch_size=batch_size, gradient_accumulation_steps=steps, max_steps=1, optim="sgd",
        learning_rate=0.5, lr_scheduler_type="constant", max_grad_norm=0.0, label_smoothing_factor=smoothing,
        logging_steps=1,
    )  # fmt: skip
    pairs = [{"input_ids": x, "labels": y} for x, y in PAIRS]
    trainer = InOrder(model=model, args=arguments, train_dataset=pairs, data_collator=Collator(model))
    trainer.train()
    return model, next(entry["loss"] for entry in trainer.state.log_history if "loss" in entry)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_accumulated_gradients_are_those_of_the_large_batch(make_model, tmp_path, smoothing):
    model = make_model()
    start = model.state_dict()
    (whole, loss), (pieces, loss_of_pieces) = (
        trained(model, tmp_path, size, steps, smoothing) for size, steps in ((8, 1), (2, 4))
    )
    for name, weight in whole.state_dict().items():
        torch.testing.assert_close(pieces.state_dict()[name], weight, atol=1e-9, rtol=0)
        assert not torch.equal(weight, start[name])
    assert loss_of_pieces == pytest.approx(loss, abs=1e-5)


def smoothed_loss(model, smoothing: float):
    """(1 - ε) times the loss of the word, plus ε times the mean over the vocabulary, meaned over all words."""
    total, words = 0, 0
    for x, y in PAIRS:
        log_p = model(torch.tensor([x]), decoder_input_ids=torch.tensor([[1, *y[:-1]]])).logits[0].log_softmax(-1)
        total -= ((1 - smoothing) * log_p[torch.arange(len(y)), y] + smoothing * log_p.mean(-1)).sum()
        words += len(y)
    return total / words


def test_trainer_follows_the_loss_computed_by_hand(make_model, tmp_path):
    model = make_model()
    for smoothing in (0.0, 0.1):
        after, logged = trained(model, tmp_path, batch_size=8, steps=1, smoothing=smoothing)
        loss = smoothed_loss(model, smoothing)
        model.zero_grad()
        loss.backward()
        assert logged == pytest.approx(loss.item(), abs=1e-4)
        for name, weight in model.named_parameters():
            expected = weight.detach() - 0.5 * weight.grad
            # Transformers sums the smoothed part in float32.
            torch.testing.assert_close(after.state_dict()[name], expected, atol=1e-7 if smoothing else 1e-10, rtol=0)
