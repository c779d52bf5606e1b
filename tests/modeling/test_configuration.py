"""The configuration: the paper's numbers, every field alive, mistakes named."""

import dataclasses
import json

import pytest
import torch
from huggingface_hub.errors import StrictDataclassFieldValidationError

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration
from rnnsearch.modeling.generation_rnnsearch import CACHE


def test_defaults_are_the_papers():
    config = RNNsearchConfig()
    assert (config.src_vocab_size, config.vocab_size) == (30_000, 30_000)
    assert (config.embedding_size, config.hidden_size) == (620, 1000)
    assert (config.alignment_size, config.maxout_size) == (1000, 500)
    assert (config.step_order, config.context, config.score) == ("paper", "search", "additive")
    assert (config.embedding_dropout, config.annotation_dropout, config.readout_dropout) == (0, 0, 0)
    assert config.initializer_range == 0.01
    assert not config.tie_word_embeddings
    assert (config.pad_token_id, config.bos_token_id, config.eos_token_id, config.unk_token_id) == (0, 1, 2, 3)
    assert config.decoder_start_token_id == 1
    assert config.is_encoder_decoder and config.use_cache


@pytest.mark.parametrize(("context", "count"), [("search", 80_401_000), ("fixed", 68_540_000)])
def test_number_of_weights_at_the_papers_sizes(context, count):
    """The paper prints no biases: weights are all that has two axes."""
    with torch.device("meta"):
        model = RNNsearchForConditionalGeneration(RNNsearchConfig(context=context))
    assert sum(weight.numel() for weight in model.parameters() if weight.dim() == 2) == count
    assert {name.rpartition(".")[2] for name, weight in model.named_parameters() if weight.dim() == 1} == {"bias"}


def changed_shapes(make_model, **change) -> set[str]:
    """Names of the weights that the change gives another shape, adds or takes away."""
    before, after = (
        {name: tuple(weight.shape) for name, weight in make_model(**choices).state_dict().items()}
        for choices in ({}, change)
    )
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"src_vocab_size": 17}, {"model.encoder.embed_tokens.weight"}),
        ({"vocab_size": 17}, {"model.decoder.embed_tokens.weight", "lm_head.weight", "lm_head.bias"}),
        (
            {"alignment_size": 8},
            {f"model.decoder.attention.{name}_proj.weight" for name in ("query", "key", "energy")},
        ),
        ({"score": "dot"}, {"model.decoder.attention.energy_proj.weight"}),
        ({"score": "scaled_dot"}, {"model.decoder.attention.energy_proj.weight"}),
        (
            {"maxout_size": 3},
            {
                "lm_head.weight",
                "model.decoder.readout.state_proj.bias",
                *(f"model.decoder.readout.{name}_proj.weight" for name in ("state", "embedding", "context")),
            },
        ),
        (
            {"embedding_size": 8},
            {
                *(f"model.{side}.embed_tokens.weight" for side in ("encoder", "decoder")),
                *(f"model.{unit}.input_proj.weight" for unit in ("encoder.forward_unit", "encoder.backward_unit")),
                "model.decoder.unit.input_proj.weight",
                "model.decoder.readout.embedding_proj.weight",
            },
        ),
    ],
    ids=lambda value: "-".join(map(str, *value.items())) if isinstance(value, dict) else "",
)
def test_size_reaches_its_weights_and_no_others(make_model, change, names):
    assert changed_shapes(make_model, **change) == names


def test_hidden_size_reaches_all_but_the_tables(make_model):
    untouched = {
        "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight", "lm_head.bias",
        "model.decoder.attention.energy_proj.weight", "model.decoder.readout.embedding_proj.weight",
        "model.decoder.readout.state_proj.bias",
    }  # fmt: skip
    assert changed_shapes(make_model, hidden_size=9) == make_model().state_dict().keys() - untouched


def test_fixed_context_takes_away_the_backward_unit_and_the_attention(make_model):
    names = changed_shapes(make_model, context="fixed")
    gone = {name for name in names if name not in make_model(context="fixed").state_dict()}
    assert gone == {name for name in make_model().state_dict() if "backward_unit" in name or "attention" in name}
    assert names - gone == {"model.decoder.unit.context_proj.weight", "model.decoder.readout.context_proj.weight"}


def test_order_and_score_change_the_logits(make_model, batch):
    def logits(**choices):
        model = make_model()
        other = make_model(**choices)
        other.load_state_dict(model.state_dict(), strict=False)
        return other(**batch.encoded, labels=batch.labels).logits

    variants = [logits(), logits(step_order="groundhog"), logits(score="dot"), logits(score="scaled_dot")]
    for i, one in enumerate(variants):
        assert not any(torch.allclose(one, other) for other in variants[i + 1 :])


@pytest.mark.parametrize("name", ["embedding_dropout", "annotation_dropout", "readout_dropout"])
def test_dropout_acts_in_training_only(make_model, batch, name):
    plain, model = make_model(), make_model(**{name: 0.5})
    expected = plain(**batch.encoded, labels=batch.labels).logits
    assert torch.equal(model(**batch.encoded, labels=batch.labels).logits, expected)
    torch.manual_seed(0)
    assert not torch.allclose(model.train()(**batch.encoded, labels=batch.labels).logits, expected)
    assert torch.equal(plain.train()(**batch.encoded, labels=batch.labels).logits, expected)


def test_each_dropout_drops_its_share_where_it_says(make_model):
    source, words = torch.arange(4, 12).expand(200, -1), torch.tensor([[1, 4, 5, 6]]).expand(200, -1)

    def share(values: torch.Tensor) -> float:
        return float((values == 0).double().mean())

    torch.manual_seed(0)
    model = make_model(embedding_dropout=0.25).train()
    output = model(source, decoder_input_ids=words, output_hidden_states=True)
    assert share(output.encoder_hidden_states[0]) == pytest.approx(0.25, abs=0.02)
    assert share(output.decoder_hidden_states[0][:, 1:]) == pytest.approx(0.25, abs=0.02)
    assert share(output.encoder_last_hidden_state) == 0

    model = make_model(annotation_dropout=0.25).train()
    output = model(source, decoder_input_ids=words, output_hidden_states=True)
    assert share(output.encoder_last_hidden_state) == pytest.approx(0.25, abs=0.02)
    assert share(output.encoder_hidden_states[0]) == 0

    model = make_model(readout_dropout=0.25).train()
    output = model.model(source, decoder_input_ids=words)
    assert share(output.last_hidden_state) == pytest.approx(0.25, abs=0.02)


def test_special_ids_are_the_configured_ones(make_model):
    """The start word is read as zeros and padding is found under other ids as well."""
    model = make_model(pad_token_id=5, decoder_start_token_id=7, eos_token_id=4, bos_token_id=7)
    assert not model.get_decoder().embed_tokens(torch.tensor([7])).any()
    assert model.get_decoder().embed_tokens(torch.tensor([1])).all()
    alone = model(torch.tensor([[6, 4]]), decoder_input_ids=torch.tensor([[7, 8]])).logits
    padded = model(torch.tensor([[6, 4, 5, 5]]), decoder_input_ids=torch.tensor([[7, 8]])).logits
    torch.testing.assert_close(padded, alone, atol=1e-12, rtol=0)
    assert model.prepare_decoder_input_ids_from_labels(torch.tensor([[8, 4, -100]])).tolist() == [[7, 8, 4]]
    assert model.prepare_decoder_input_ids_from_labels(torch.tensor([[4, -100, -100]])).tolist() == [[7, 4, 5]]
    generation = model.generation_config
    assert (generation.pad_token_id, generation.eos_token_id, generation.decoder_start_token_id) == (5, 4, 7)


def test_use_cache_is_the_default_of_the_model(make_model):
    for use_cache in (True, False):
        output = make_model(use_cache=use_cache)(torch.tensor([[4, 2]]), decoder_input_ids=torch.tensor([[1]]))
        assert (output.get(CACHE) is not None) == use_cache


def test_round_trip_through_json(tmp_path):
    config = RNNsearchConfig(
        src_vocab_size=13, vocab_size=11, embedding_size=4, hidden_size=6, alignment_size=3, maxout_size=4,
        step_order="groundhog", context="fixed", score="dot", embedding_dropout=0.1, annotation_dropout=0.2,
        readout_dropout=0.3, initializer_range=0.02, tie_word_embeddings=True, use_cache=False,
    )  # fmt: skip
    config.save_pretrained(tmp_path)
    written = json.loads((tmp_path / "config.json").read_text())
    again = RNNsearchConfig.from_pretrained(tmp_path)
    own = {field.name for field in dataclasses.fields(RNNsearchConfig)} & RNNsearchConfig.__annotations__.keys()
    assert {"step_order", "context", "score", "vocab_size"} < own
    defaults = RNNsearchConfig()
    for name in own:
        assert getattr(again, name) == getattr(config, name), name
        assert written.get(name, getattr(defaults, name)) == getattr(config, name), name
    assert written["model_type"] == "rnnsearch"


def test_target_size_has_a_second_name():
    assert RNNsearchConfig(tgt_vocab_size=17).vocab_size == 17
    assert RNNsearchConfig(vocab_size=17).tgt_vocab_size == 17
    assert RNNsearchConfig(vocab_size=17).get_text_config(decoder=True).vocab_size == 17


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"step_order": "grundhog"}, ["step_order", "grundhog", "'paper', 'groundhog'"]),
        ({"context": "serch"}, ["context", "serch", "'search', 'fixed'"]),
        ({"score": "scaled-dot"}, ["score", "scaled-dot", "'additive', 'dot', 'scaled_dot'"]),
        ({"hidden_size": "1000"}, ["hidden_size", "int", "str", "'1000'"]),
        ({"hidden_size": 6.0}, ["hidden_size", "int", "float", "6.0"]),
        ({"readout_dropout": "0.1"}, ["readout_dropout", "str"]),
        ({"tie_word_embeddings": 1}, ["tie_word_embeddings", "bool"]),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_wrong_type_or_choice_is_named(wrong, words):
    with pytest.raises(StrictDataclassFieldValidationError) as caught:
        RNNsearchConfig(**wrong)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hidden_size": 0}, "`hidden_size` is 0: give a size of 1 or more"),
        ({"vocab_size": -3}, "`vocab_size` is -3: give a size of 1 or more"),
        ({"annotation_dropout": 1.0}, "`annotation_dropout` is 1.0: give a share from 0 up to, not including, 1"),
        ({"readout_dropout": -0.1}, "`readout_dropout` is -0.1: give a share from 0 up to, not including, 1"),
        ({"tie_word_embeddings": True}, "`embedding_size` (620) equal to `maxout_size` (500)"),
    ],
)
def test_wrong_value_is_named(wrong, message):
    with pytest.raises(ValueError) as caught:
        RNNsearchConfig(**wrong)
    assert message in str(caught.value)
