"""`pipeline("translation")`: what it takes and returns, its defaults, and what a translation was read from."""

import copy

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import WhitespaceSplit
from tokenizers.processors import TemplateProcessing
from transformers import (
    GenerationConfig,
    MarianConfig,
    MarianMTModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    pipeline,
)
from transformers.pipelines.pt_utils import KeyDataset

import rnnsearch
from rnnsearch import RNNsearchForConditionalGeneration, TranslationPipeline

TEXTS = ["The red house is small.", "A dog", "We do not sleep in the old house."]


@pytest.fixture(scope="module")
def model(tiny_model) -> RNNsearchForConditionalGeneration:
    """`tiny_model` with weights so large that its translations differ, some of them ending early."""
    model = copy.deepcopy(tiny_model)
    generator = torch.Generator().manual_seed(98)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
        model.lm_head.bias[:3] += torch.tensor([-9.0, -9.0, 4.0])  # no padding, no start, an end
    return model


@pytest.fixture(scope="module")
def translate(model, tiny_tokenizer) -> TranslationPipeline:
    return pipeline("translation", model=model, tokenizer=tiny_tokenizer, device="cpu")


@pytest.fixture(scope="module")
def written(model, tiny_tokenizer):
    """Texts that `generate` itself writes for one text, best first."""

    def write(text: str, **arguments) -> list[str]:
        ids = model.generate(**tiny_tokenizer([text], return_tensors="pt"), **arguments)
        return tiny_tokenizer.batch_decode(ids, skip_special_tokens=True)

    return write


# What comes back


def test_a_text_gives_a_list_with_its_translation(translate, written):
    expected = written(TEXTS[0], num_beams=4, max_new_tokens=5)
    assert translate(TEXTS[0], max_new_tokens=5) == [{"translation_text": expected[0]}]


@pytest.mark.parametrize("batch_size", [1, 2, 3])
def test_a_list_gives_a_record_for_each(translate, written, batch_size):
    expected = [written(text, num_beams=4, max_new_tokens=5)[0] for text in TEXTS]
    assert len(set(expected)) == 3, "the test needs three different translations"
    found = translate(TEXTS, batch_size=batch_size, max_new_tokens=5)
    assert found == [{"translation_text": text} for text in expected]


@pytest.mark.parametrize("batch_size", [1, 2])
def test_several_translations_of_each(translate, written, batch_size):
    choices = {"num_beams": 3, "num_return_sequences": 2, "max_new_tokens": 5}
    expected = [[{"translation_text": text} for text in written(source, **choices)] for source in TEXTS]
    assert translate(TEXTS, batch_size=batch_size, **choices) == expected
    assert translate(TEXTS[1], **choices) == expected[1]


@pytest.mark.parametrize(
    "source",
    [lambda: (text for text in TEXTS), lambda: KeyDataset([{"en": text} for text in TEXTS], "en")],
    ids=["generator", "data set"],
)
def test_what_is_read_lazily_gives_an_iterator(translate, source):
    found = translate(source(), batch_size=2, max_new_tokens=5)
    assert not isinstance(found, list)
    assert list(found) == [[record] for record in translate(TEXTS, max_new_tokens=5)]


def test_no_text_gives_nothing(translate):
    assert translate([]) == []


def test_of_lists_the_first_text_is_translated(translate):
    first, second = translate([[TEXTS[0], TEXTS[1]], [TEXTS[2]]], max_new_tokens=5)
    assert [first, second] == [translate(TEXTS[0], max_new_tokens=5), translate(TEXTS[2], max_new_tokens=5)]


def test_ids_in_the_place_of_text(translate, model, tiny_tokenizer):
    expected = model.generate(**tiny_tokenizer([TEXTS[0]], return_tensors="pt"), num_beams=4, max_new_tokens=5)[0]
    [record] = translate(TEXTS[0], return_tensors=True, max_new_tokens=5)
    assert list(record) == ["translation_token_ids"]
    assert torch.equal(record["translation_token_ids"], expected)


def test_long_texts_are_cut_on_request(translate, tiny_tokenizer, model):
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.model_max_length = 3  # of the sentence, two words and its end
    short = TranslationPipeline(model=model, tokenizer=tokenizer, device="cpu")
    cut = short(TEXTS[2], truncation=True, max_new_tokens=5)
    assert cut == translate("We do", max_new_tokens=5) != translate(TEXTS[2], max_new_tokens=5)


@pytest.mark.parametrize("wrong", [("A dog",), 3, [None], {"text": "A dog"}], ids=repr)
def test_what_is_not_text_is_named(translate, wrong):
    with pytest.raises(TypeError, match="give a string or a list of strings"):
        translate(wrong)


# Defaults


@pytest.fixture
def seen(monkeypatch):
    """The arguments that `generate` gets from a pipeline."""

    def arguments(pipe: TranslationPipeline, **given) -> dict:
        calls = []
        generate = pipe.model.generate
        with monkeypatch.context() as patch:
            patch.setattr(pipe.model, "generate", lambda **given: calls.append(given) or generate(**given))
            pipe("A dog", **given)
        [call] = calls
        return call

    return arguments


def test_four_beams_and_no_limit_unless_told(translate, seen):
    assert seen(translate)["num_beams"] == 4
    assert not {"max_length", "max_new_tokens"} & seen(translate).keys(), "the model has its own"
    assert seen(translate, num_beams=2)["num_beams"] == 2
    assert seen(translate, max_length=7)["max_length"] == 7


def test_arguments_of_the_pipeline_are_those_of_its_calls(model, tiny_tokenizer, seen):
    pipe = TranslationPipeline(model=model, tokenizer=tiny_tokenizer, device="cpu", num_beams=3, max_new_tokens=2)
    assert {"num_beams": 3, "max_new_tokens": 2}.items() <= seen(pipe).items()
    assert {"num_beams": 1, "max_new_tokens": 2}.items() <= seen(pipe, num_beams=1).items()


def test_settings_saved_with_the_model_hold(model, tiny_tokenizer, seen):
    model = copy.deepcopy(model)
    model.generation_config.num_beams = 2
    model.generation_config.max_length = 4
    pipe = TranslationPipeline(model=model, tokenizer=tiny_tokenizer, device="cpu")
    assert not {"num_beams", "max_new_tokens"} & seen(pipe).keys()
    [record] = pipe(TEXTS[0], return_tensors=True)
    assert len(record["translation_token_ids"]) <= 4


def test_a_configuration_of_the_caller_holds_and_stays_as_it_is(translate, written):
    config = GenerationConfig(num_beams=1, max_new_tokens=3)
    before = config.to_dict()
    assert translate(TEXTS[0], generation_config=config) == [
        {"translation_text": written(TEXTS[0], num_beams=1, max_new_tokens=3)[0]}
    ]
    assert config.to_dict() == before
    found = translate(TEXTS[0], generation_config=GenerationConfig(max_new_tokens=3))
    assert found == [{"translation_text": written(TEXTS[0], num_beams=4, max_new_tokens=3)[0]}]


# Names


def test_task_with_languages(tiny_model_dir):
    pipe = pipeline("translation_en_to_fr", model=str(tiny_model_dir), device="cpu")
    assert type(pipe) is TranslationPipeline is rnnsearch.TranslationPipeline
    assert pipe("A dog", max_new_tokens=3) == pipeline("translation", model=str(tiny_model_dir), device="cpu")(
        "A dog", max_new_tokens=3
    )


def test_other_names_are_as_unknown_as_before(tiny_model_dir):
    for name in ("translation_en", "summarization"):
        with pytest.raises(KeyError, match=name):
            pipeline(name, model=str(tiny_model_dir))


# Alignments


@pytest.mark.parametrize(
    "choices",
    [{"num_beams": 1}, {"num_beams": 4}, {"num_beams": 5, "num_return_sequences": 5}],
    ids=["greedy", "beam", "all beams"],
)
def test_alignment_is_that_of_the_same_words_read_again(model, tiny_tokenizer, choices):
    """Beams change places at every step; a model that is made to write the translation has none."""
    model = copy.deepcopy(model).double()  # weights this large make much of a last digit
    translate = TranslationPipeline(model=model, tokenizer=tiny_tokenizer, device="cpu")
    records = translate(TEXTS, batch_size=3, return_alignment=True, return_tensors=True, max_new_tokens=12, **choices)
    lengths = set()
    for source, found in zip(TEXTS, records, strict=True):
        for record in found if isinstance(found, list) else [found]:
            ids = record["translation_token_ids"][1:]
            ids = ids[: (ids == 2).nonzero()[0] + 1 if (ids == 2).any() else len(ids)]
            lengths.add(len(ids))
            read = tiny_tokenizer([source], return_tensors="pt")
            forced = model(**read, labels=ids[None], output_attentions=True).cross_attentions[0][0, 0]
            torch.testing.assert_close(record["alignment"], forced, atol=1e-9, rtol=0)
            assert record["source_words"] == tiny_tokenizer.source_tokens(read["input_ids"][0])
            assert record["target_words"] == tiny_tokenizer.target_tokens(ids)
    assert len(lengths) > 1, "the test needs translations of different lengths"


def test_alignment_stands_beside_the_text(translate):
    plain = translate(TEXTS[0], max_new_tokens=5)
    [record] = translate(TEXTS[0], return_alignment=True, max_new_tokens=5)
    assert list(record) == ["translation_text", "source_words", "target_words", "alignment"]
    assert plain == [{"translation_text": record["translation_text"]}]
    assert record["alignment"].shape == (len(record["target_words"]), 7)
    torch.testing.assert_close(record["alignment"].sum(1), torch.ones(len(record["target_words"]), dtype=torch.double))


def test_alignment_needs_a_model_that_attends(tiny_model, tiny_tokenizer):
    config = copy.deepcopy(tiny_model.config)
    config.context = "fixed"
    fixed = RNNsearchForConditionalGeneration(config).eval()
    pipe = TranslationPipeline(model=fixed, tokenizer=tiny_tokenizer, device="cpu")
    assert list(pipe("A dog", max_new_tokens=2)[0]) == ["translation_text"]
    with pytest.raises(ValueError, match="fixed context"):
        pipe("A dog", return_alignment=True)


# Other models of the same process


@pytest.fixture(scope="module")
def other() -> TranslationPipeline:
    """A T5 with random weights and a tokenizer of six words."""
    vocabulary = {"<pad>": 0, "</s>": 1, "[UNK]": 2, "say": 3, "a": 4, "b": 5}
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(
        T5Config(
            vocab_size=6, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2, decoder_start_token_id=0,
            task_specific_params={"translation_a_to_b": {"prefix": "say "}},
        )
    ).eval()  # fmt: skip
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="[UNK]")
    return pipeline("translation", model=model, tokenizer=fast, device="cpu")


def test_other_models_translate_too(other, seen):
    assert type(other) is TranslationPipeline
    ids = torch.tensor([[4, 5, 4, 1]])
    expected = other.model.generate(input_ids=ids, num_beams=4, max_new_tokens=9)[0]
    [record] = other("a b a", max_new_tokens=9, return_tensors=True)
    assert torch.equal(record["translation_token_ids"], expected)
    assert seen(other)["max_new_tokens"] == 256, "or Transformers would stop after 20"
    assert "max_new_tokens" not in seen(other, max_length=5)
    with pytest.raises(ValueError, match="'t5'"):
        other("a", return_alignment=True)


def test_words_before_the_text_that_another_model_wants(other, seen):
    told = TranslationPipeline(model=other.model, tokenizer=other.tokenizer, task="translation_a_to_b", device="cpu")
    assert told.preprocess("a b")["input_ids"].tolist() == [[3, 4, 5, 1]]
    assert other.preprocess("a b")["input_ids"].tolist() == [[4, 5, 1]]


def test_tokenizers_of_many_languages_are_told_theirs(other):
    class ManyLanguages(PreTrainedTokenizerFast):
        def _build_translation_inputs(self, text, **told):
            return text, told

    tokenizer = ManyLanguages(tokenizer_object=other.tokenizer.backend_tokenizer)
    pipe = TranslationPipeline(model=other.model, tokenizer=tokenizer, task="translation_xx_to_yy", device="cpu")
    told = {"return_tensors": "pt", "truncation": False, "src_lang": "xx", "tgt_lang": "yy"}
    assert pipe.preprocess("a", **pipe._preprocess_params) == ("a", told)


def test_a_saved_marian_translates(other, tmp_path):
    """By its folder, whose configuration says which model it is."""
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=6, d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, bos_token_id=None,
        decoder_attention_heads=2, encoder_ffn_dim=8, decoder_ffn_dim=8, max_position_embeddings=16, pad_token_id=0,
        eos_token_id=1, forced_eos_token_id=1, decoder_start_token_id=0,
    )  # fmt: skip
    model = MarianMTModel(config).eval()
    model.save_pretrained(tmp_path)
    other.tokenizer.save_pretrained(tmp_path)
    translate = pipeline("translation_a_to_b", model=str(tmp_path), tokenizer=other.tokenizer, device="cpu")
    assert type(translate) is TranslationPipeline and type(translate.model) is MarianMTModel
    choices = {"num_beams": 3, "num_return_sequences": 2, "max_new_tokens": 6}
    expected = model.generate(input_ids=torch.tensor([[4, 5, 1]]), **choices)
    found = translate("a b", return_tensors=True, **choices)
    assert torch.equal(torch.stack([record["translation_token_ids"] for record in found]), expected)
