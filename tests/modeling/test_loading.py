"""Saving and loading, tied tables, two vocabularies of changing size, and types of numbers."""

import json

import pytest
import torch
from safetensors import safe_open

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchModel

TIED = {"tie_word_embeddings": True, "embedding_size": 4}


@pytest.fixture
def model(make_model, kind):
    return make_model(dtype=torch.float32, **kind)


@pytest.fixture
def batch(make_batch):
    return make_batch("left")


def stored_names(folder) -> set[str]:
    with safe_open(folder / "model.safetensors", "pt") as file:
        return set(file.keys())


def test_round_trip(model, batch, tmp_path):
    model.save_pretrained(tmp_path)
    again, report = RNNsearchForConditionalGeneration.from_pretrained(tmp_path, output_loading_info=True)
    assert not any(report[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    assert again.config.to_dict().items() >= {"context": model.config.context, "score": model.config.score}.items()
    one, other = (m(**batch.encoded, labels=batch.labels) for m in (model, again))
    assert torch.equal(one.logits, other.logits)
    assert torch.equal(*(m.generate(**batch.encoded, num_beams=3, max_new_tokens=5) for m in (model, again)))


def test_base_model_loads_from_the_same_folder_and_back(model, batch, tmp_path):
    model.save_pretrained(tmp_path / "whole")
    base = RNNsearchModel.from_pretrained(tmp_path / "whole")
    decoder_input_ids = torch.tensor([[1, 5]] * 3)
    expected = model.model(**batch.encoded, decoder_input_ids=decoder_input_ids).last_hidden_state
    assert torch.equal(base(**batch.encoded, decoder_input_ids=decoder_input_ids).last_hidden_state, expected)
    base.save_pretrained(tmp_path / "base")
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path / "base")
    for name, weight in base.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], weight)


def test_state_dict_keeps_its_names(make_model):
    """Checkpoints out there are read by these names."""
    assert set(make_model().state_dict()) == {
        *(f"model.{side}.embed_tokens.weight" for side in ("encoder", "decoder")),
        *(
            f"model.{unit}.{name}"
            for unit in ("encoder.forward_unit", "encoder.backward_unit", "decoder.unit")
            for name in ("input_proj.weight", "input_proj.bias", "gate_proj.weight", "candidate_proj.weight")
        ),
        *(f"model.decoder.attention.{name}_proj.weight" for name in ("query", "key", "energy")),
        *(f"model.decoder.readout.{name}_proj.weight" for name in ("state", "embedding", "context")),
        *(f"model.decoder.{name}" for name in ("init_proj.weight", "init_proj.bias", "unit.context_proj.weight")),
        "model.decoder.readout.state_proj.bias",
        "lm_head.weight",
        "lm_head.bias",
    }


def test_special_ids_and_generation_settings_survive(make_model, tmp_path):
    model = make_model()
    model.generation_config.num_beams, model.generation_config.max_length = 7, 90
    model.save_pretrained(tmp_path)
    written = json.loads((tmp_path / "generation_config.json").read_text())
    ids = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    assert written.items() >= {**ids, "num_beams": 7, "max_length": 90}.items()
    generation = RNNsearchForConditionalGeneration.from_pretrained(tmp_path).generation_config
    assert all(getattr(generation, name) == value for name, value in {**ids, "num_beams": 7}.items())


def test_tied_tables_are_one_tensor(make_model, kind, batch, tmp_path):
    model = make_model(dtype=torch.float32, **kind, **TIED)
    assert model.lm_head.weight is model.model.decoder.embed_tokens.weight
    assert model.lm_head.weight is not model.model.encoder.embed_tokens.weight
    model.save_pretrained(tmp_path)
    assert not {"lm_head.weight", "model.decoder.embed_tokens.weight"} <= stored_names(tmp_path)
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path)
    assert again.lm_head.weight is again.model.decoder.embed_tokens.weight
    one, other = (m(**batch.encoded, labels=batch.labels) for m in (model, again))
    assert torch.equal(one.logits, other.logits)

    torch.optim.SGD(again.parameters(), lr=0.1).step(other.loss.backward)
    assert again.lm_head.weight is again.model.decoder.embed_tokens.weight
    again.save_pretrained(tmp_path / "again")
    twice = RNNsearchForConditionalGeneration.from_pretrained(tmp_path / "again")
    assert torch.equal(twice.lm_head.weight, again.lm_head.weight)
    assert not torch.equal(twice.lm_head.weight, model.lm_head.weight)


def test_gradient_of_tied_tables_is_the_sum_of_both(make_model, batch):
    tied, untied = make_model(**TIED), make_model(embedding_size=4)
    untied.load_state_dict(tied.state_dict())
    for model in (tied, untied):
        model(**batch.encoded, labels=batch.labels).loss.backward()
    expected = untied.lm_head.weight.grad + untied.model.decoder.embed_tokens.weight.grad
    torch.testing.assert_close(tied.lm_head.weight.grad, expected, atol=1e-12, rtol=0)


def test_untied_tables_are_two(make_model, tmp_path):
    model = make_model(embedding_size=4)
    model.save_pretrained(tmp_path)
    assert {"lm_head.weight", "model.decoder.embed_tokens.weight"} <= stored_names(tmp_path)
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path)
    assert again.lm_head.weight.data_ptr() != again.model.decoder.embed_tokens.weight.data_ptr()
    assert not torch.equal(again.lm_head.weight, again.model.decoder.embed_tokens.weight)


def test_source_vocabulary_grows_alone(make_model, batch, tmp_path):
    model = make_model()
    before = model(**batch.encoded, labels=batch.labels).logits
    target = model.state_dict()["model.decoder.embed_tokens.weight"].clone()
    table = model.resize_token_embeddings(19)
    assert table is model.get_input_embeddings() is model.model.encoder.embed_tokens
    assert (table.num_embeddings, model.config.src_vocab_size, model.config.vocab_size) == (19, 19, 11)
    assert torch.equal(model.model.decoder.embed_tokens.weight, target) and model.lm_head.out_features == 11
    torch.testing.assert_close(model(**batch.encoded, labels=batch.labels).logits, before, atol=1e-12, rtol=0)
    assert model(torch.tensor([[18, 2]]), labels=torch.tensor([[2]])).logits.isfinite().all()
    model.save_pretrained(tmp_path)
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path, dtype=torch.float64)
    torch.testing.assert_close(again(**batch.encoded, labels=batch.labels).logits, before, atol=1e-12, rtol=0)


@pytest.mark.parametrize("choices", [{}, TIED], ids=["untied", "tied"])
def test_target_vocabulary_grows_with_its_output_layer(make_model, batch, tmp_path, choices):
    model = make_model(**choices)
    before = model(**batch.encoded, labels=batch.labels).logits
    table = model.resize_decoder_token_embeddings(16)
    assert table is model.get_decoder().embed_tokens
    assert (table.num_embeddings, model.lm_head.out_features, model.lm_head.bias.shape[0]) == (16, 16, 16)
    assert (model.config.vocab_size, model.config.src_vocab_size) == (16, 13)
    assert (model.lm_head.weight is table.weight) == bool(choices)
    after = model(**batch.encoded, labels=batch.labels).logits
    torch.testing.assert_close(after[..., :11], before, atol=1e-12, rtol=0)
    assert after.shape[-1] == 16
    assert not table(torch.tensor([1])).any(), "the start word still has no embedding"
    model.save_pretrained(tmp_path)
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path, dtype=torch.float64)
    torch.testing.assert_close(again(**batch.encoded, labels=batch.labels).logits, after, atol=1e-12, rtol=0)
    assert (again.lm_head.weight is again.model.decoder.embed_tokens.weight) == bool(choices)


def test_vocabularies_shrink(make_model):
    model = make_model()
    model.resize_token_embeddings(9)
    model.resize_decoder_token_embeddings(7)
    output = model(torch.tensor([[8, 2]]), labels=torch.tensor([[6, 2]]))
    assert output.logits.shape == (1, 2, 7)
    assert (model.config.src_vocab_size, model.config.vocab_size) == (9, 7)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_loading_in_another_type(model, batch, tmp_path, dtype):
    model.save_pretrained(tmp_path)
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path, dtype=dtype)
    assert {weight.dtype for weight in again.parameters()} == {dtype}
    output = again(**batch.encoded, labels=batch.labels)
    assert output.logits.dtype == dtype
    assert output.loss.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    exact = model(**batch.encoded, labels=batch.labels).loss
    torch.testing.assert_close(output.loss.float(), exact, rtol=0.05, atol=0)
    assert len(again.generate(**batch.encoded, num_beams=3, max_new_tokens=4)) == 3
    again.save_pretrained(tmp_path / "again")
    automatic = RNNsearchForConditionalGeneration.from_pretrained(tmp_path / "again", dtype="auto")
    assert automatic.dtype == dtype


def test_annotations_of_another_type_are_converted(make_model, batch):
    model = make_model(dtype=torch.float32)
    encoded = model.get_encoder()(**batch.encoded)
    expected = model(encoder_outputs=encoded, attention_mask=batch.attention_mask, labels=batch.labels).logits
    encoded.last_hidden_state = encoded.last_hidden_state.double()
    found = model(encoder_outputs=encoded, attention_mask=batch.attention_mask, labels=batch.labels).logits
    assert torch.equal(found, expected)


def test_two_halves_of_a_batch_are_the_whole(make_model, kind, batch):
    """What wrappers over several devices do: split tensors by rows, lengths known from the mask alone."""
    model = make_model(**kind)
    whole = model(**batch.encoded, labels=batch.labels).logits
    halves = [
        model(**{name: tensor[rows] for name, tensor in batch.encoded.items()}, labels=batch.labels[rows]).logits
        for rows in (slice(0, 1), slice(1, 3))
    ]
    torch.testing.assert_close(torch.cat(halves), whole, atol=1e-12, rtol=0)


def test_embeddings_instead_of_ids(make_model, kind, batch):
    model = make_model(**kind)
    words = torch.tensor([[1, 4, 6]] * 3)
    embedded = model(
        inputs_embeds=model.get_input_embeddings()(batch.input_ids),
        attention_mask=batch.attention_mask,
        decoder_inputs_embeds=model.get_decoder().embed_tokens(words),
    )
    assert torch.equal(embedded.logits, model(**batch.encoded, decoder_input_ids=words).logits)


def test_unequal_widths_cannot_be_tied():
    with pytest.raises(ValueError, match="embedding_size"):
        RNNsearchForConditionalGeneration(RNNsearchConfig(embedding_size=3, maxout_size=4, tie_word_embeddings=True))


def test_weights_in_several_files(model, batch, tmp_path):
    model.save_pretrained(tmp_path, max_shard_size="1KB")
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text(encoding="utf-8"))
    assert len(set(index["weight_map"].values())) > 2 and not (tmp_path / "model.safetensors").exists()
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path)
    assert torch.equal(*(m(**batch.encoded, labels=batch.labels).logits for m in (model, again)))


@pytest.mark.parametrize(
    "choices",
    [
        {"device_map": "auto"},
        {"device_map": "cpu"},
        {"low_cpu_mem_usage": True},
        {"device_map": {"model.encoder": "cpu", "model.decoder": "disk", "lm_head": "cpu"}},
        {"device_map": {"model.encoder": "disk", "model.decoder": "cpu", "lm_head": "disk"}},
    ],
    ids=lambda choices: str(next(iter(choices.values()))),
)
def test_places_of_the_weights(model, batch, tmp_path, choices):
    """What is kept on disk is read when it is needed."""
    model.save_pretrained(tmp_path / "model", max_shard_size="2KB")
    place = {"offload_folder": str(tmp_path / "offload")} if "device_map" in choices else {}
    again = RNNsearchForConditionalGeneration.from_pretrained(tmp_path / "model", **choices, **place).eval()
    on_disk = any(weight.device.type == "meta" for weight in again.parameters())
    assert on_disk == ("disk" in str(choices))
    assert torch.equal(*(m(**batch.encoded, labels=batch.labels).logits for m in (model, again)))
    assert torch.equal(*(m.generate(**batch.encoded, num_beams=3, max_new_tokens=5) for m in (model, again)))
