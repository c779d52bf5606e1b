"""Which source word stands for an unknown one: hand-made weights, then batches, beams and the pipeline."""

import copy
import logging

import numpy as np
import pytest
import torch
from transformers.utils.logging import warning_once

from rnnsearch import RNNsearchForConditionalGeneration, RNNsearchTokenizer, TranslationPipeline, Translator
from rnnsearch.modeling.unknown_rnnsearch import as_lexicon, words_for_unknown

PAD, EOS, UNK = 0, 2, 3
# "Zorro" and "Quux" are in no vocabulary.
TEXTS = ["Zorro sees the bridge.", "A", "Quux", "The children sing in the old garden, Zorro, and do not sleep."]


def words(tokenizer, source, rows, target_ids, lexicon=None, source_ids=None):
    ids = tokenizer(source).input_ids if source_ids is None else source_ids
    return words_for_unknown(tokenizer, source, ids, target_ids, np.array(rows), lexicon or {})


def test_the_largest_weight_of_a_real_word_decides(tiny_tokenizer):
    source = "A Zorro"
    assert tiny_tokenizer(source).input_ids[1:] == [UNK, EOS]
    rows = [[0.9, 0.1, 0.0], [0.1, 0.2, 0.7], [0.3, 0.1, 0.6]]
    assert words(tiny_tokenizer, source, rows, [7, UNK, UNK]) == ["Zorro", "A"]
    assert words(tiny_tokenizer, source, rows, [7, UNK, UNK], {"Zorro": "de la Vega", "a": "un"}) == [
        "de la Vega",
        "A",
    ]
    assert words(tiny_tokenizer, source, rows, [7, 8, 9]) == []


def test_where_the_end_alone_was_read_nothing_stands_for_it(tiny_tokenizer):
    assert words(tiny_tokenizer, "A Zorro", [[0.0, 0.0, 1.0]], [UNK]) == ["[UNK]"]
    assert words(tiny_tokenizer, "", [[1.0]], [UNK]) == ["[UNK]"]


@pytest.mark.parametrize(("ids", "rows"), [([PAD, 4, UNK, EOS], [[0.9, 0.02, 0.03, 0.05]]),
                                           ([4, UNK, EOS, PAD], [[0.02, 0.03, 0.05, 0.9]])])  # fmt: skip
def test_padding_is_no_word(tiny_tokenizer, ids, rows):
    """Its weight is zero in the model; here it is not, to see that it is left out by itself."""
    assert words(tiny_tokenizer, "A Zorro", rows, [UNK], source_ids=ids) == ["Zorro"]


def test_of_a_source_cut_short_the_first_words_are_left(tiny_tokenizer):
    assert words(tiny_tokenizer, "A Zorro sees Quux", [[0.1, 0.2, 0.7]], [UNK], source_ids=[4, UNK, EOS]) == ["Zorro"]


def test_pieces_know_every_word():
    tokenizer = RNNsearchTokenizer.train(["a"], ["b"], kind="bpe")
    assert words(tokenizer, "a b", [[0.5, 0.5, 0.0]], [UNK]) == []


def test_what_replaces(tiny_tokenizer):
    assert as_lexicon("copy") == {}
    assert as_lexicon({"a": "un"}) == {"a": "un"}
    with pytest.raises(ValueError, match='give "copy", or a mapping'):
        as_lexicon("lexicon")


def test_words_are_put_into_the_text(tiny_tokenizer):
    """By the rules of the language, as if the vocabulary held them."""
    ids = tiny_tokenizer(text_target="Le [UNK] voit maison Zorro.").input_ids
    assert ids.count(UNK) == 5, "Le, [, UNK, ] and Zorro"
    found = tiny_tokenizer.decode(ids, skip_special_tokens=True, unknown_words=["L'", "âne", "d'", "Ur", "Rex"])
    assert found == "L'âne d'Ur voit maison Rex."
    assert tiny_tokenizer.decode(ids, skip_special_tokens=True).count("[UNK]") == 5


def test_words_of_a_text(tiny_tokenizer):
    text = "Zorro doesn't sing, AT&T does: «no»."
    assert tiny_tokenizer.source_words(text) == [
        *("Zorro", "doesn", "'t", "sing", ",", "AT&T", "does", ":", "«", "no", "»", ".")
    ]
    assert tiny_tokenizer.target_words("L'homme qu'il voit") == ["L'", "homme", "qu'", "il", "voit"]
    assert len(tiny_tokenizer(text).input_ids) == 13
    pieces = RNNsearchTokenizer.train(["a"], ["b"], kind="bpe")
    assert pieces.source_words("Zorro doesn't sing, 42€") == ["Zorro", "doesn", "'t", "sing", ",", "42", "€"]
    assert pieces.source_words("") == tiny_tokenizer.target_words("") == []


# In translations


@pytest.fixture(scope="module")
def model(tiny_model) -> RNNsearchForConditionalGeneration:
    """Weights so large that alignments are sharp and beams differ; [UNK] is likely, some translations end early."""
    model = copy.deepcopy(tiny_model)
    generator = torch.Generator().manual_seed(117)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
        model.lm_head.bias[:4] += torch.tensor([-99.0, -99.0, 4.0, 2.0])
    return model.double()


def expected(model, tokenizer, source, ids, lexicon):
    """Replacement from the weights of the same words read again, alone and without a beam."""
    ids = ids[: ids.index(EOS) + 1] if EOS in ids else ids
    read = tokenizer([source], return_tensors="pt")
    weights = model(**read, labels=torch.tensor([ids]), output_attentions=True).cross_attentions[0][0, 0]
    spelled = tokenizer.source_words(source)
    best = [spelled[row[: len(spelled)].argmax()] for index, row in zip(ids, weights, strict=True) if index == UNK]
    return tokenizer.decode(ids, skip_special_tokens=True, unknown_words=[lexicon.get(word, word) for word in best])


@pytest.mark.parametrize("lexicon", [{}, {"Zorro": "Renard", "garden": "grand jardin"}], ids=["copy", "lexicon"])
@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("choices", [(1, 1), (4, 1), (5, 3)], ids=["greedy", "beam", "n-best"])
def test_translations_of_batches_and_beams(model, tiny_tokenizer, choices, batch_size, lexicon):
    num_beams, n_best = choices
    limits = {"num_beams": num_beams, "num_return_sequences": n_best, "max_new_tokens": 20, "min_new_tokens": 1}
    translate = TranslationPipeline(model=model, tokenizer=tiny_tokenizer, device="cpu")
    ids = translate(TEXTS, return_tensors=True, **limits)
    wanted = [
        [expected(model, tiny_tokenizer, source, record["translation_token_ids"][1:].tolist(), lexicon)
         for record in ([found] if n_best == 1 else found)]
        for source, found in zip(TEXTS, ids, strict=True)
    ]  # fmt: skip
    found = translate(TEXTS, batch_size=batch_size, replace_unk=lexicon or "copy", **limits)
    texts = [[record["translation_text"] for record in ([one] if n_best == 1 else one)] for one in found]
    assert texts == wanted
    assert not any("[UNK]" in text for one in wanted for text in one)
    assert any("Zorro" in text or "Renard" in text for one in wanted for text in one)
    assert "Quux" in wanted[2][0].split(), "the whole of its sentence: no other word can stand there"


@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize(("num_beams", "n_best"), [(1, 1), (5, 3)])
def test_translator_and_pipeline_agree(model, tiny_tokenizer, num_beams, n_best, batch_size):
    translator = Translator(model, tiny_tokenizer)
    translate = TranslationPipeline(model=model, tokenizer=tiny_tokenizer, device="cpu")
    texts = [*TEXTS, " "]
    choices = {"num_beams": num_beams, "n_best": n_best, "batch_size": batch_size}
    found = translator.translate(texts, replace_unk={"Zorro": "Renard"}, **choices)
    plain = translator.translate(texts, **choices)
    for source, hypotheses, unreplaced in zip(TEXTS, found, plain, strict=False):
        width = -(-len(tiny_tokenizer(source).input_ids) // 8) * 8
        records = translate(
            source, num_beams=num_beams, num_return_sequences=n_best, min_new_tokens=1,
            max_new_tokens=2 * width + 10, replace_unk={"Zorro": "Renard"},
        )  # fmt: skip
        assert [hypothesis.text for hypothesis in hypotheses] == [record["translation_text"] for record in records]
        for one, other in zip(hypotheses, unreplaced, strict=True):
            assert one.score == pytest.approx(other.score)
            assert one.text == other.text or "[UNK]" in other.text
    assert found[-1][0].text == ""


def test_nothing_is_said_about_it(model, tiny_tokenizer, caplog):
    """Transformers warns of settings that it takes for a mistake, through a logger that passes nothing on."""
    warning_once.cache_clear()  # what was said before would not be said again
    library = logging.getLogger("transformers")
    library.addHandler(caplog.handler)
    try:
        Translator(model, tiny_tokenizer).translate(TEXTS[:1], replace_unk="copy")
        TranslationPipeline(model=model, tokenizer=tiny_tokenizer, device="cpu")(TEXTS[:1], replace_unk="copy")
    finally:
        library.removeHandler(caplog.handler)
    assert [record.getMessage() for record in caplog.records] == []


def test_alignment_and_replacement_together(model, tiny_tokenizer):
    translate = TranslationPipeline(model=model, tokenizer=tiny_tokenizer, device="cpu")
    [both] = translate(TEXTS[2], replace_unk="copy", return_alignment=True, max_new_tokens=9)
    [alone] = translate(TEXTS[2], replace_unk="copy", max_new_tokens=9)
    assert both["translation_text"] == alone["translation_text"]
    assert "[UNK]" in both["target_words"], "the words are those that the model wrote"
    assert list(alone) == ["translation_text"]
