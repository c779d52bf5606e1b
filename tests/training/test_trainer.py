"""The loss, the steps and the scores of the trainer against numbers worked out by other means."""

import copy

import numpy as np
import pytest
import sacrebleu
import torch
from datasets import Dataset
from transformers import DataCollatorForSeq2Seq, EvalPrediction

from rnnsearch.training.parser import OptionParser
from rnnsearch.training.trainer import RNNsearchTrainer, score_decoded

SOURCES = ["The red house.", "A dog sees the old bridge.", "The garden.", "My sister sleeps."] * 2
TARGETS = ["La maison rouge.", "Un chien voit le vieux pont.", "Le jardin.", "Ma sœur."] * 2


@pytest.fixture
def make(tiny_model, tiny_tokenizer, tmp_path):
    """A trainer of a copy of the tiny model on eight pairs, options as words."""

    def go(*words: str) -> RNNsearchTrainer:
        *_, args = OptionParser().read(
            ["--output_dir", str(tmp_path), "--use_cpu", "--disable_tqdm", "1", "--eval_strategy", "no", *words]
        )
        columns = dict(tiny_tokenizer(SOURCES, text_target=TARGETS))
        columns["length"] = [len(ids) for ids in columns["labels"]]
        columns["note"] = ["an extra column"] * len(SOURCES)
        model = copy.deepcopy(tiny_model)
        collator = DataCollatorForSeq2Seq(tiny_tokenizer, model=model)
        return RNNsearchTrainer(
            model=model, args=args, train_dataset=Dataset.from_dict(columns), data_collator=collator
        )

    return go


def batch_of(trainer: RNNsearchTrainer) -> dict[str, torch.Tensor]:
    (batch,) = list(trainer.get_train_dataloader())
    return dict(batch)


def test_a_batch_holds_what_the_model_reads(make, tiny_tokenizer):
    batch = batch_of(make())
    assert batch.keys() == {"input_ids", "attention_mask", "labels", "decoder_input_ids"}
    labels, read = batch["labels"], batch["decoder_input_ids"]
    assert (labels == -100).any()
    assert (read[:, 0] == 1).all()
    assert torch.equal(read[:, 1:], labels[:, :-1].masked_fill(labels[:, :-1] == -100, 0))
    assert sorted(tiny_tokenizer.batch_decode(labels, skip_special_tokens=True)) == sorted(
        tiny_tokenizer.batch_decode(tiny_tokenizer(text_target=TARGETS)["input_ids"], skip_special_tokens=True)
    )


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.3])
def test_label_smoothing_equals_the_sum_over_the_vocabulary(make, smoothing):
    trainer = make("--label_smoothing_factor", str(smoothing))
    batch = batch_of(trainer)
    with torch.no_grad():
        trainer.model.eval()
        loss = trainer.compute_loss(trainer.model, dict(batch)).item()
        logits = trainer.model(**{k: v for k, v in batch.items() if k != "labels"}).logits.double().numpy()
    log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    words = logits.shape[-1]
    total, count = 0.0, 0
    for row, labels in enumerate(batch["labels"].tolist()):
        for step, label in enumerate(labels):
            if label != -100:
                target = np.full(words, smoothing / words)
                target[label] += 1 - smoothing
                total, count = total - target @ log_p[row, step], count + 1
    assert count > 30
    assert loss == pytest.approx(total / count, abs=1e-5)


@pytest.mark.parametrize("smoothing", ["0", "0.2"])
def test_accumulated_gradients_are_those_of_the_whole_batch(make, smoothing):
    options = ["--optim", "sgd", "--learning_rate", "0.1", "--lr_scheduler_type", "constant", "--max_steps", "1"]
    options += ["--max_grad_norm", "0", "--save_strategy", "no", "--logging_steps", "1"]
    options += ["--label_smoothing_factor", smoothing]
    whole = make(*options, "--per_device_train_batch_size", "8")
    parts = make(*options, "--per_device_train_batch_size", "2", "--gradient_accumulation_steps", "4")
    before = copy.deepcopy(whole.model.state_dict())
    losses = [trainer.train().training_loss for trainer in (whole, parts)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)
    for name, value in whole.model.state_dict().items():
        torch.testing.assert_close(parts.model.state_dict()[name], value, atol=1e-6, rtol=0)
    assert any(not torch.equal(before[name], value) for name, value in whole.model.state_dict().items())


@pytest.mark.parametrize("parts", [1, 4])
def test_the_sum_over_words_is_the_mean_times_their_number(make, parts):
    """A step of plain gradient descent, as many times as long; the validation's loss stays a mean."""
    options = ["--optim", "sgd", "--lr_scheduler_type", "constant", "--max_steps", "1", "--max_grad_norm", "0"]
    options += ["--save_strategy", "no", "--logging_steps", "1", "--learning_rate"]
    mean = make(*options, "1e-2", "--per_device_train_batch_size", "8")
    words = int((batch_of(mean)["labels"] != -100).sum())
    accumulated = ["--per_device_train_batch_size", str(8 // parts), "--gradient_accumulation_steps", str(parts)]
    total = make(*options, str(1e-2 / words), "--loss_reduction", "sum", *accumulated)
    losses = [trainer.train().training_loss for trainer in (mean, total)]
    assert losses[1] == pytest.approx(words * losses[0], rel=1e-5)
    for name, value in mean.model.state_dict().items():
        torch.testing.assert_close(total.model.state_dict()[name], value, atol=1e-6, rtol=0)
    of_validation = [trainer.evaluate(trainer.train_dataset)["eval_loss"] for trainer in (mean, total)]
    assert of_validation[1] == pytest.approx(of_validation[0], abs=1e-5)


def test_gradients_are_rescaled_to_the_norm_of_the_paper(make):
    options = ["--optim", "sgd", "--learning_rate", "1", "--lr_scheduler_type", "constant", "--max_steps", "1"]
    trainer = make(*options, "--save_strategy", "no", "--logging_steps", "1")
    before = copy.deepcopy(trainer.model.state_dict())
    trainer.model.model.decoder.embed_tokens.weight.register_hook(lambda grad: grad * 1e4)
    trainer.train()
    moved = sum(((v - before[name]) ** 2).sum() for name, v in trainer.model.state_dict().items())
    assert moved.sqrt().item() == pytest.approx(1.0, abs=1e-3)


def test_every_weight_gets_a_gradient(make):
    trainer = make()
    batch = batch_of(trainer)
    trainer.compute_loss(trainer.model, batch).backward()
    assert [name for name, weight in trainer.model.named_parameters() if weight.grad is None] == []


def test_adadelta_is_the_papers(make):
    trainer = make("--optimizer", "adadelta", "--max_steps", "150", "--save_strategy", "no", "--logging_steps", "1")
    trainer.train()
    group = trainer.optimizer.param_groups[0]
    assert type(trainer.optimizer.optimizer) is torch.optim.Adadelta
    assert (group["lr"], group["rho"], group["eps"]) == (1.0, 0.95, 1e-6)
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert {entry["learning_rate"] for entry in trainer.state.log_history if "loss" in entry} == {1.0}
    assert losses[-1] < losses[0] / 2


def test_adam_is_the_default(make):
    trainer = make()
    assert isinstance(trainer.create_optimizer(), torch.optim.AdamW)
    assert {group["weight_decay"] for group in trainer.optimizer.param_groups} == {0.0}


def test_scores_are_those_of_sacrebleu_and_padding_is_none(tiny_tokenizer):
    rows = tiny_tokenizer(text_target=["La maison rouge est petite.", "Un chien voit le pont.", "Le pont."])[
        "input_ids"
    ]
    width = max(map(len, rows)) + 2
    predictions = np.array([row + [-100] * (width - len(row)) for row in rows])
    references = ["La maison rouge est petite.", "Un chien voit le vieux pont.", "Le jardin."]
    scores = score_decoded(tiny_tokenizer, references, "fr")(EvalPrediction(predictions, None))
    decoded = ["La maison rouge est petite.", "Un chien voit le pont.", "Le pont."]
    # "Le" is no word of the tiny vocabulary.
    decoded[2] = "[UNK] pont."
    assert scores == {
        "bleu": pytest.approx(sacrebleu.corpus_bleu(decoded, [references]).score),
        "chrf": pytest.approx(sacrebleu.corpus_chrf(decoded, [references]).score),
    }
    # Processes that share the validation repeat pairs at its end.
    repeated = EvalPrediction(np.concatenate([predictions, predictions[:2]]), None)
    assert score_decoded(tiny_tokenizer, decoded, "fr")(repeated)["bleu"] == pytest.approx(100)


def test_the_card_is_the_package_s_own(make, tmp_path):
    trainer = make()
    trainer.create_model_card(language="xx", license="mit", model_name="m")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "\n# m\n" in card and "\n- Licence: mit\n" in card and "\npipeline_tag: translation\n" in card
    assert "\n- Text: not stated\n" in card and "xx" not in card
