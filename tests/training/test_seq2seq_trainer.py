"""Transformers' own `Seq2SeqTrainer` trains the model: nothing of `rnnsearch.training` is needed."""

import copy

import numpy as np
import pytest
import torch
import transformers
from datasets import Dataset
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

# Transformers 5.24 has renamed the option.
CHECKPOINTING = next(
    name
    for name in ("activation_checkpointing", "gradient_checkpointing")
    if name in Seq2SeqTrainingArguments.__dataclass_fields__
)
SOURCES = [
    "The red house.",
    "A dog sees the old bridge.",
    "The garden.",
    "My sister sleeps.",
    "We do not sleep in the old house.",
    "The children sing.",
    "The red bridge is small.",
    "Three green apples.",
]
TARGETS = [
    "La maison rouge.",
    "Un chien voit le vieux pont.",
    "Le jardin.",
    "Ma sœur.",
    "Nous ne dormons pas dans l’ancienne maison.",
    "Les enfants chantent.",
    "Le pont rouge est petit.",
    "Trois pommes vertes.",
]


@pytest.fixture
def make(tiny_model, tiny_tokenizer, tmp_path):
    """A trainer of a float64 copy of the tiny model on eight pairs of unequal length."""

    def go(*, folder: str = "model", dtype: torch.dtype = torch.float64, pad_to: int | None = None, **options):
        settings = {
            "output_dir": str(tmp_path / folder),
            "use_cpu": True,
            "disable_tqdm": True,
            "report_to": "none",
            "logging_steps": 1,
            "save_strategy": "no",
            "optim": "sgd",
            "learning_rate": 0.1,
            "lr_scheduler_type": "constant",
            "max_grad_norm": 0.0,
            "max_steps": 4,
        }
        model = copy.deepcopy(tiny_model).to(dtype)
        data = Dataset.from_dict(dict(tiny_tokenizer(SOURCES, text_target=TARGETS)))
        return Seq2SeqTrainer(
            model=model,
            args=Seq2SeqTrainingArguments(**(settings | options)),
            train_dataset=data,
            eval_dataset=data,
            processing_class=tiny_tokenizer,
            data_collator=DataCollatorForSeq2Seq(tiny_tokenizer, model=model, pad_to_multiple_of=pad_to),
        )

    return go


def weights(trainer: Seq2SeqTrainer) -> dict[str, torch.Tensor]:
    return {name: value.detach().clone() for name, value in trainer.model.state_dict().items()}


def assert_close(left: dict[str, torch.Tensor], right: dict[str, torch.Tensor], atol: float) -> None:
    assert left.keys() == right.keys()
    for name in left:
        torch.testing.assert_close(
            left[name], right[name], atol=atol, rtol=0, msg=lambda text, at=name: f"{at} {text}"
        )


def step_by_hand(model: torch.nn.Module, tokenizer, rows: list[int], smoothing: float) -> None:
    """One step of SGD with rate 0.1, pair after pair, so that nothing is padded; the mean is over all tokens."""
    total, count = torch.zeros((), dtype=torch.float64), 0
    for row in rows:
        pair = tokenizer([SOURCES[row]], text_target=[TARGETS[row]], return_tensors="pt")
        labels = pair["labels"]
        read = torch.cat([torch.tensor([[1]]), labels[:, :-1]], dim=1)
        log_p = model(pair["input_ids"], decoder_input_ids=read).logits[0].log_softmax(-1)
        hard = log_p[torch.arange(labels.shape[1]), labels[0]]
        total = total - ((1 - smoothing) * hard + smoothing * log_p.mean(-1)).sum()
        count += labels.shape[1]
    gradients = torch.autograd.grad(total / count, list(model.parameters()))
    with torch.no_grad():
        for weight, gradient in zip(model.parameters(), gradients, strict=True):
            weight -= 0.1 * gradient


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize(("size", "accumulated"), [(8, 1), (4, 2), (3, 3)])
def test_steps_are_those_worked_by_hand(make, tiny_model, tiny_tokenizer, smoothing, size, accumulated):
    """Whether in one batch or accumulated from several, also where the last one is smaller (3 + 3 + 2)."""
    trainer = make(
        per_device_train_batch_size=size, gradient_accumulation_steps=accumulated, label_smoothing_factor=smoothing
    )
    trainer.train()
    model = copy.deepcopy(tiny_model).double()
    for _ in range(4):
        step_by_hand(model, tiny_tokenizer, list(range(8)), smoothing)
    # Transformers adds the smoothed part up in float32.
    assert_close(weights(trainer), dict(model.state_dict()), 1e-7 if smoothing else 1e-12)


def test_more_padding_changes_nothing(make):
    trained = []
    for pad_to, widths in ((None, (10, 10)), (16, (16, 16))):
        trainer = make(pad_to=pad_to)
        batch = next(iter(trainer.get_train_dataloader()))
        assert (batch["input_ids"].shape[1], batch["labels"].shape[1]) == widths
        trainer.train()
        trained.append(weights(trainer))
    assert_close(*trained, 1e-12)


def test_activation_checkpointing_changes_nothing(make):
    trained = []
    for checkpointing in (False, True):
        trainer = make(per_device_train_batch_size=4, **{CHECKPOINTING: checkpointing})
        trainer.train()
        assert trainer.model.model.decoder.recurrence.gradient_checkpointing is checkpointing
        trained.append(weights(trainer))
    assert_close(*trained, 1e-12)


def test_bf16_is_close_and_its_weights_are_float32(make):
    options = {"dtype": torch.float32, "optim": "adamw_torch", "learning_rate": 0.02, "max_steps": 60}
    full, half = make(**options), make(**options, bf16=True)
    losses = [trainer.train().training_loss for trainer in (full, half)]
    assert losses[1] == pytest.approx(losses[0], rel=0.03)
    assert half.state.log_history[-2]["loss"] < half.state.log_history[0]["loss"] / 2
    assert {value.dtype for value in weights(half).values()} == {torch.float32}
    assert any(not torch.equal(value, weights(half)[name]) for name, value in weights(full).items())


@pytest.mark.skipif(
    transformers.__version__.startswith("5.15."),
    reason="the Trainer of Transformers 5.15 goes on within an epoch with the order of the first one",
)
def test_resumed_equals_uninterrupted(make, same, tmp_path):
    options = {"optim": "adamw_torch", "learning_rate": 0.01, "lr_scheduler_type": "cosine", "max_steps": 9}
    options |= {"per_device_train_batch_size": 3, "save_strategy": "steps", "save_steps": 4, "bf16": True}
    options |= {"dtype": torch.float32, "label_smoothing_factor": 0.1}
    whole = make(**options)
    whole.model.model.encoder.annotation_dropout.p = 0.3
    whole.train()
    resumed = make(**options)
    resumed.model.model.encoder.annotation_dropout.p = 0.3
    resumed.train(resume_from_checkpoint=str(tmp_path / "model" / "checkpoint-4"))
    assert resumed.state.global_step == 9
    assert same(weights(whole), weights(resumed))


@pytest.mark.parametrize("beams", [1, 3])
def test_prediction_is_generation(make, tiny_tokenizer, beams):
    trainer = make(
        dtype=torch.float32,
        optim="adamw_torch",
        learning_rate=0.03,
        max_steps=60,
        predict_with_generate=True,
        per_device_eval_batch_size=3,
    )
    trainer.train()
    output = trainer.predict(trainer.eval_dataset, num_beams=beams, max_length=24)
    ids = np.where(output.predictions < 0, tiny_tokenizer.pad_token_id, output.predictions)
    decoded = tiny_tokenizer.batch_decode(ids, skip_special_tokens=True)
    model = trainer.model.eval()
    one_by_one = [
        tiny_tokenizer.decode(
            model.generate(**tiny_tokenizer([source], return_tensors="pt"), num_beams=beams, max_length=24)[0],
            skip_special_tokens=True,
        )
        for source in SOURCES
    ]
    assert decoded == one_by_one
    assert len(set(decoded)) > 5
    assert 0 < output.metrics["test_loss"] < 1
    evaluated = trainer.evaluate(num_beams=beams, max_length=24)
    assert evaluated["eval_loss"] == pytest.approx(output.metrics["test_loss"])


def test_a_word_added_to_the_target_side_is_learnt(make, tiny_model, tiny_tokenizer, tmp_path):
    """`Trois` is no word of the tiny vocabulary; the source side stays as it is."""
    tokenizer = copy.deepcopy(tiny_tokenizer)
    assert tokenizer.decode(tokenizer(text_target=["Trois"])["input_ids"][0], skip_special_tokens=True) == "[UNK]"
    assert tokenizer.add_target_tokens(["Trois"]) == 1
    trainer = make(dtype=torch.float32, optim="adamw_torch", learning_rate=0.03, max_steps=80)
    trainer.processing_class = trainer.data_collator.tokenizer = tokenizer
    trainer.train_dataset = Dataset.from_dict(dict(tokenizer(SOURCES, text_target=TARGETS)))
    trainer.model.resize_decoder_token_embeddings(tokenizer.target_vocab_size)
    trainer.train()
    trainer.save_model()

    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "model").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "model")
    before = tiny_model.config
    assert (model.config.src_vocab_size, model.config.vocab_size) == (before.src_vocab_size, before.vocab_size + 1)
    assert model.config.vocab_size == tokenizer.target_vocab_size == model.get_output_embeddings().out_features
    written = model.generate(**tokenizer(["Three green apples."], return_tensors="pt"), num_beams=2)
    assert tokenizer.decode(written[0], skip_special_tokens=True) == "Trois pommes vertes."
