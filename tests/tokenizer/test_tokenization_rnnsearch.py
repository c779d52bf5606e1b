"""The tokenizer: two sides, exact round trips of pieces, words as Moses splits them, and files that come back."""

import copy
import gzip
import json
import lzma
import os
import pickle
import random
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import pytest
from transformers import AutoTokenizer, DataCollatorForSeq2Seq

from rnnsearch import RNNsearchTokenizer

SOURCE = ["the red cat sleeps", "the cat doesn't sleep", "a red house , a red cat", "the houses ( red ones )"]
TARGET = ["le chat rouge dort", "l'homme ne dort pas", "une maison rouge , un chat rouge", "l'ami d'aujourd'hui"]
LITERALS = ["<pad>", "<s>", "</s>", "[UNK]"]
EOS = 2


@pytest.fixture(scope="module")
def bpe():
    return RNNsearchTokenizer.train(SOURCE * 3, TARGET * 3, kind="bpe", vocab_size=300, src_vocab_size=290)


@pytest.fixture(scope="module")
def word():
    return RNNsearchTokenizer.train(SOURCE, TARGET, kind="word")


@pytest.fixture(params=["bpe", "word"])
def either(request):
    return request.getfixturevalue(request.param)


# Two sides


def test_source_and_target_have_their_own_vocabularies(either):
    both = either(SOURCE, text_target=TARGET)
    assert sorted(both) == ["attention_mask", "input_ids", "labels"]
    assert both["labels"] == either(text_target=TARGET)["input_ids"]
    assert both["input_ids"] == either(SOURCE)["input_ids"], "left in target mode"
    assert either.batch_decode(both["labels"], skip_special_tokens=True) == [
        text.replace(" ,", "," if either.kind == "word" else " ,") for text in TARGET
    ]
    assert either.decode(both["input_ids"][0], True, use_source_tokenizer=True) == SOURCE[0]
    assert either.decode(both["input_ids"][0], True) != SOURCE[0]
    if either.kind == "word":
        assert either("dort")["input_ids"] == [3, EOS], "a word of the other side"
    assert either.src_vocab_size == len(either) == len(either.get_vocab()) != either.target_vocab_size
    assert either.target_vocab_size == len(either.get_target_vocab())


def test_special_tokens_have_the_same_ids_and_only_the_end_is_marked(either):
    for vocabulary in (either.get_vocab(), either.get_target_vocab()):
        assert [vocabulary[token] for token in LITERALS] == [0, 1, 2, 3]
    assert (either.pad_token_id, either.bos_token_id, either.eos_token_id, either.unk_token_id) == (0, 1, 2, 3)
    for row in either(["red cat", ""], text_target=["chat rouge", ""]).values():
        assert [1, 2, 3] not in row
    encoded = either(["red cat", ""], text_target=["chat", ""])
    assert encoded["input_ids"][1] == encoded["labels"][1] == [EOS]
    assert encoded["input_ids"][0].count(EOS) == 1 and encoded["input_ids"][0][-1] == EOS
    assert not {0, 1, 3} & set(encoded["input_ids"][0])


def test_source_side_returns_when_a_target_is_refused(either):
    expected = either("red")["input_ids"]
    with pytest.raises((TypeError, ValueError)):
        either("red", text_target=3)
    assert either.encode("red") == expected
    with pytest.raises((TypeError, ValueError)):
        either.decode(["x"])
    assert either.encode("red") == expected


def test_padding_and_truncation(either):
    texts = ["the red cat sleeps", "red"]
    short, long = sorted(either(texts)["input_ids"], key=len)
    missing = len(long) - len(short)
    right = either(texts, padding=True, return_tensors="pt")
    assert right["input_ids"].tolist() == [long, short + [0] * missing]
    assert right["attention_mask"].tolist() == [[1] * len(long), [1] * len(short) + [0] * missing]
    left = either(texts, padding=True, padding_side="left")
    assert left["input_ids"] == [long, [0] * missing + short]
    assert left["attention_mask"][1] == [0] * missing + [1] * len(short)
    assert either(texts, truncation=True, max_length=3)["input_ids"][0] == [*long[:2], EOS]
    assert either(text_target=TARGET[0], truncation=True, max_length=2)["input_ids"][-1] == EOS
    assert either(texts)["input_ids"] == [long, short], "no setting of the last call may stay"


def test_data_collator(either):
    rows = [dict(either(source, text_target=target)) for source, target in zip(SOURCE, TARGET, strict=True)]
    batch = DataCollatorForSeq2Seq(either)(rows)
    assert batch["input_ids"].shape == batch["attention_mask"].shape
    assert (batch["labels"] == -100).any()
    texts = either.batch_decode(batch["labels"], skip_special_tokens=True)
    assert texts == [either.decode(row["labels"], skip_special_tokens=True) for row in rows], "-100 counts as padding"


def test_split_words(either):
    together, split = either("the red cat")["input_ids"], either(["the", "red", "cat"], is_split_into_words=True)
    assert split["input_ids"] == together
    assert split.word_ids()[0] == 0 and split.word_ids()[-2] == 2


# Pieces


def _random_texts(count):
    draw = random.Random(7)
    parts = [
        *LITERALS,
        *"aZé ñßœŁжЩλ漢字あ한ا١٢09½,.;:!?'\"’‘“”«»…—-()[]{}<>/\\@#$€%&*_+=~^`|",
        *"    \u00a0\u202f\u2003\u3000\u2009\u200b\u200d\u00ad\ufeff\u2028",
        *[
            "e\u0301",
            "A\u030a",
            "🙂",
            "👩‍👩‍👧",
            "🇫🇷",
            "👍🏽",
            "l'",
            "don't",
            "L’",
            " '",
            "Ġ",
            "▁",
            "\ufffd",
            "ﬁ",
            "\U0010ffff",
            "\ue000",
        ],
        *["the", " red", "maison", "12,500", "DOTMULTI", "&amp;", "</S>", "<unk>"],
    ]
    for _ in range(count):
        yield "".join(draw.choice(parts) for _ in range(draw.randrange(12)))
    yield from parts
    yield from (
        "",
        " ",
        "  ",
        " a",
        "a ",
        "  a  b  ",
        "\u00a0a\u00a0",
        " </s>",
        "</s> ",
        "a</s>b",
        "[UNK][UNK]",
        "<s> <s>",
    )


def test_pieces_give_back_every_text(bpe):
    texts = list(_random_texts(4000))
    encoded = bpe(texts, text_target=texts)
    for name, use_source in (("input_ids", True), ("labels", False)):
        for skip in (True, False):
            decoded = bpe.batch_decode(encoded[name], skip_special_tokens=skip, use_source_tokenizer=use_source)
            assert decoded == [text + ("" if skip else "</s>") for text in texts]
        assert all(row[-1] == EOS and not {0, 1, 2, 3} & set(row[:-1]) for row in encoded[name])


def test_training_text_may_hold_the_literals():
    texts = [f"a {literal} b{literal}" for literal in LITERALS] * 5
    tokenizer = RNNsearchTokenizer.train(texts, texts)
    for text, ids in zip(texts, tokenizer(texts)["input_ids"], strict=True):
        assert not {0, 1, 2, 3} & set(ids[:-1])
        assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_a_word_has_the_same_pieces_first_and_later(bpe):
    first, later = bpe("red cat")["input_ids"], bpe("cat red")["input_ids"]
    assert len(first) == 3, "both words were learnt whole"
    assert first[:2] == later[1::-1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("l'homme n’a pas", ["l'", "homme", "n’", "a", "pas"]),
        ("I don't, you'll", ["I", "don", "'t", ",", "you", "'ll"]),
        ("'dogs' bark", ["'", "dogs", "'", "bark"]),
        ("(12,5 %)", ["(", "12", ",", "5", "%)"]),
        ("cafe\u0301 हिन्दी", ["cafe\u0301", "हिन्दी"]),
        ("a😀b", ["a", "😀", "b"]),
        ("the <s> end", ["the", "<", "s", ">", "end"]),
    ],
)
def test_pieces_stay_inside_words_and_can_be_joined_to_them(bpe, text, words):
    ids = bpe(text_target=text)["input_ids"]
    pieces, starts = bpe.target_tokens(ids), bpe.target_word_starts(ids)
    assert (pieces[-1], starts[-1], len(pieces)) == ("</s>", True, len(ids))
    joined: list[str] = []
    for piece, start in zip(pieces, starts, strict=True):
        joined[len(joined) if start else -1 :] = [("" if start else joined[-1]) + piece]
    assert joined == [*words, "</s>"]


def test_pieces_around_special_tokens(bpe):
    ids = [1, *bpe("red cat")["input_ids"], 0, -100]
    assert bpe.source_tokens(ids) == ["<s>", "red", "cat", "</s>", "<pad>", "<pad>"]
    assert all(bpe.source_word_starts(ids))
    with pytest.raises(ValueError, match=r"Id 9999 .*290"):
        bpe.source_tokens([5, 9999])


def test_vocabulary_sizes_count_special_tokens(bpe):
    assert (bpe.src_vocab_size, bpe.target_vocab_size) == (290, 300)


# Words


def test_the_most_frequent_words_and_nothing_else():
    # by hand: "red" 4, "the" 4 (upper case is another word), "cat" 3, "a" 2; equal counts in alphabetical order
    texts = ["the red cat", "the red cat the", "a red cat", "the red a", "The house"]
    tokenizer = RNNsearchTokenizer.train(texts, texts, kind="word", vocab_size=8, src_vocab_size=6)
    assert tokenizer.source_tokens(range(6)) == [*LITERALS, "red", "the"]
    assert tokenizer.target_tokens(range(8)) == [*LITERALS, "red", "the", "cat", "a"]
    assert tokenizer("The red cat")["input_ids"] == [3, 4, 3, EOS]
    frequent = RNNsearchTokenizer.train(texts, texts, kind="word", min_frequency=3)
    assert frequent.source_tokens(range(frequent.src_vocab_size)) == [*LITERALS, "red", "the", "cat"]


def _round_trip(text, language):
    tokenizer = RNNsearchTokenizer.train([text], [text], kind="word", source_lang=language, target_lang=language)
    ids = tokenizer(text, text_target=text)
    assert 3 not in ids["input_ids"] + ids["labels"]
    source = tokenizer.decode(ids["input_ids"], skip_special_tokens=True, use_source_tokenizer=True)
    assert source == tokenizer.decode(ids["labels"], skip_special_tokens=True)
    return source


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("L'homme d'aujourd'hui, qu'il n'a pas vu.", "fr"),
        ("L’homme d’aujourd’hui, qu’il n’a pas vu.", "fr"),
        ("Les 'grands' coûtent 150 $ par jour : « trop » !", "fr"),
        ("The dog's tail, don't you think (it's 2,500)?", "en"),
        ("The dog’s tail won’t", "en"),
        ('AT&T said "[no]" it\'s <b>', "en"),
        ("Q&amp;A &amp; R&D &#39; &apos;", "en"),
        ('He left."', "en"),
        ("x..y ...", "en"),
    ],
)
def test_words_come_back_as_written(text, language):
    assert _round_trip(text, language) == {"x..y ...": "x.. y..."}.get(text, text)


@pytest.mark.parametrize(
    ("text", "language", "mended"),
    [
        ("L' homme d' aujourd' hui , qu' il n' a pas vu .", "fr", "L'homme d'aujourd'hui, qu'il n'a pas vu."),
        ("l’ ami", "fr", "l’ami"),
        ("the dog 's tail", "en", "the dog's tail"),
        ("I do n't and ca n’t", "en", "I don't and can’t"),
        ("the EU' s policy", "en", "the EU's policy"),
    ],
)
def test_stray_spaces_at_apostrophes_go(text, language, mended):
    assert _round_trip(text, language) == mended


def test_words_of_a_model_are_joined():
    words = ["L'", "homme", "d’", "aujourd'", "hui", "dort", "."]
    tokenizer = RNNsearchTokenizer.train(["don 't do n't"], [" ".join(words)], kind="word")
    vocabulary = tokenizer.get_target_vocab()
    assert tokenizer.decode([vocabulary[w] for w in words]) == "L'homme d’aujourd'hui dort."
    assert tokenizer.decode([3, vocabulary["dort"], EOS, 0], skip_special_tokens=True) == "[UNK] dort"


def test_no_escapes_in_the_vocabulary():
    text = "it's \"[a]\" <b> | & 'c'"
    tokenizer = RNNsearchTokenizer.train([text], [text], kind="word")
    assert not [token for token in tokenizer.get_vocab() if "&" in token and token != "&"]


def test_lookalikes_have_the_same_ids():
    tokenizer = RNNsearchTokenizer.train(["x"], ["l'eau du café coûte"], kind="word")
    expected = tokenizer(text_target="l'eau du caf\u00e9")["input_ids"]
    assert 3 not in expected
    for text in ("l'eau du cafe\u0301", "l\u2019eau du café", "l'eau\u200b du ca\u00adfé", "\ufeffl'eau du café"):
        assert tokenizer(text_target=text)["input_ids"] == expected
    decomposed = RNNsearchTokenizer.train(["x"], [unicodedata.normalize("NFD", "café")], kind="word")
    assert "caf\u00e9" in decomposed.get_target_vocab()


def test_apostrophe_rule_is_saved(tmp_path):
    texts = ["l’eau et l'air"]
    keep = RNNsearchTokenizer.train(texts, texts, kind="word", source_lang="fr")
    assert {"l’", "l'"} <= set(keep.get_vocab())
    RNNsearchTokenizer.train(texts, texts, kind="word", source_lang="fr", apostrophe="straight").save_pretrained(
        tmp_path
    )
    straight = RNNsearchTokenizer.from_pretrained(tmp_path)
    assert json.loads((tmp_path / "tokenizer_config.json").read_text("utf-8"))["apostrophe"] == "straight"
    assert not [token for token in straight.get_vocab() if "’" in token]
    assert straight.decode(straight(text_target="l’eau")["input_ids"], skip_special_tokens=True) == "l'eau"


@pytest.mark.parametrize("split", [False, True])
def test_literals_are_words_never_control_tokens(word, split):
    for literal in LITERALS:
        for text in (literal, f"red {literal} cat", f"red{literal}"):
            given = text.split() if split else text
            ids = word(given, text_target=given, is_split_into_words=split)
            for row in (ids["input_ids"], ids["labels"]):
                assert row[-1] == EOS and not {0, 1, 2} & set(row[:-1])


def test_clean_up_of_spaces_is_only_on_request():
    tokenizer = RNNsearchTokenizer.train(["x"], ["vous êtes là ?"], kind="word")
    ids = tokenizer(text_target="vous êtes là ?")["input_ids"]
    assert tokenizer.decode(ids, True) == tokenizer.decode(ids, True, clean_up_tokenization_spaces=False)
    assert tokenizer.decode(ids, True) == "vous êtes là ?"
    assert tokenizer.decode(ids, True, clean_up_tokenization_spaces=True) == "vous êtes là?"


def test_sacremoses_is_asked_for_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacremoses", None)
    with pytest.raises(ImportError, match="pip install sacremoses"):
        RNNsearchTokenizer.train(["x"], ["x"], kind="word", source_lang="zz", target_lang="zz")


# Files


def _same(tokenizer, other):
    assert dict(tokenizer(SOURCE, text_target=TARGET)) == dict(other(SOURCE, text_target=TARGET))
    labels = tokenizer(SOURCE, text_target=TARGET)["labels"]
    assert tokenizer.batch_decode(labels, skip_special_tokens=True) == other.batch_decode(
        labels, skip_special_tokens=True
    )
    text = "".join(LITERALS)
    assert tokenizer(text, text_target=text) == other(text, text_target=text)
    for name in ("kind", "source_lang", "target_lang", "shared", "apostrophe", "add_eos_token", "add_bos_token"):
        assert getattr(tokenizer, name) == getattr(other, name)


def test_save_load_pickle_and_copy(either, tmp_path):
    either(SOURCE, text_target=TARGET, padding="max_length", max_length=4, truncation=True)
    either.save_pretrained(tmp_path)
    for name in ("tokenizer.json", "target_tokenizer.json"):
        state = json.loads((tmp_path / name).read_text("utf-8"))
        assert state["padding"] is state["truncation"] is None, "settings of one call would become defaults"
    loaded = RNNsearchTokenizer.from_pretrained(tmp_path)
    loaded.save_pretrained(tmp_path / "again")
    _same(either, loaded)
    _same(either, RNNsearchTokenizer.from_pretrained(tmp_path / "again"))
    _same(either, copy.deepcopy(either))
    _same(either, pickle.loads(pickle.dumps(either)))
    automatic = AutoTokenizer.from_pretrained(tmp_path)
    assert type(automatic) is RNNsearchTokenizer
    _same(either, automatic)
    (tmp_path / "target_tokenizer.json").unlink()
    with pytest.raises(ValueError, match=r"target_tokenizer\.json is missing"):
        RNNsearchTokenizer.from_pretrained(tmp_path)


def test_options_come_back(tmp_path):
    options = {"kind": "word", "source_lang": "de", "target_lang": "en"}
    RNNsearchTokenizer.train(["das Haus"], ["the house"], **options).save_pretrained(tmp_path)
    loaded = RNNsearchTokenizer.from_pretrained(tmp_path)
    assert {name: getattr(loaded, name) for name in options} == options


def test_loads_without_the_package(word, tmp_path):
    word.save_pretrained(tmp_path)
    code = f"""
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "rnnsearch":
            raise ImportError(name)
sys.meta_path.insert(0, Block())
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained({str(tmp_path)!r}, trust_remote_code=True)
tokenizer.save_pretrained({str(tmp_path / "again")!r})
again = AutoTokenizer.from_pretrained({str(tmp_path / "again")!r}, trust_remote_code=True)
print(again({SOURCE!r}, text_target={TARGET!r}))
"""
    environment = {**os.environ, "HF_MODULES_CACHE": str(tmp_path / "modules"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(word(SOURCE, text_target=TARGET))


def test_shared_vocabulary(tmp_path):
    for kind in ("bpe", "word"):
        tokenizer = RNNsearchTokenizer.train(SOURCE, TARGET, kind=kind, shared=True, vocab_size=300)
        tokenizer.save_pretrained(tmp_path / kind)
        for shared in (tokenizer, RNNsearchTokenizer.from_pretrained(tmp_path / kind), copy.deepcopy(tokenizer)):
            assert shared.source_tokenizer is shared.target_tokenizer
            assert shared.src_vocab_size == shared.target_vocab_size
            assert shared("chat")["input_ids"] == shared(text_target="chat")["input_ids"]
            assert 3 not in shared("red chat")["input_ids"]
        assert not (tmp_path / kind / "target_tokenizer.json").exists()


def test_training_from_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(SOURCE[:2]).encode())
    with gzip.open(tmp_path / "b.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(SOURCE[2:]) + "\n")
    with lzma.open(tmp_path / "t.xz", "wt", encoding="utf-8") as file:
        file.write("\n".join(TARGET))
    for kind in ("bpe", "word"):
        from_files = RNNsearchTokenizer.train(
            [tmp_path / "a.txt", Path(tmp_path / "b.gz")], str(tmp_path / "t.xz"), kind=kind
        )
        in_memory = RNNsearchTokenizer.train(iter(SOURCE), (text for text in TARGET), kind=kind)
        assert from_files.get_vocab() == in_memory.get_vocab()
        assert from_files.get_target_vocab() == in_memory.get_target_vocab()


# Added and renamed tokens


def test_without_files():
    tokenizer = RNNsearchTokenizer()
    assert (tokenizer.src_vocab_size, tokenizer.target_vocab_size) == (260, 260)
    assert tokenizer.decode(tokenizer("Né à “Łódź”")["input_ids"], skip_special_tokens=True) == "Né à “Łódź”"
    assert RNNsearchTokenizer(kind="word").src_vocab_size == 4
    assert RNNsearchTokenizer(extra_special_tokens=["<2fr>"])("<2fr>")["input_ids"] == [260, EOS]


def test_special_tokens_by_keyword(either, tmp_path):
    either.save_pretrained(tmp_path)
    named = RNNsearchTokenizer.from_pretrained(tmp_path, pad_token="[PAD]", eos_token="[END]")
    for text in ({"text": "red"}, {"text_target": "chat"}):
        assert named(**text)["input_ids"][-1] == named.eos_token_id
    assert named.target_tokenizer.token_to_id("[PAD]") == named.pad_token_id
    assert named.decode(named(text_target="chat rouge")["input_ids"], skip_special_tokens=True) == "chat rouge"


def test_added_special_tokens_have_one_id(either, tmp_path):
    tokenizer = copy.deepcopy(either)
    assert tokenizer.src_vocab_size != tokenizer.target_vocab_size
    tokenizer.add_special_tokens({"extra_special_tokens": ["<2fr>"]})
    index = tokenizer.convert_tokens_to_ids("<2fr>")
    assert tokenizer.get_target_vocab()["<2fr>"] == index
    assert tokenizer.src_vocab_size == tokenizer.target_vocab_size == index + 1
    tokenizer.save_pretrained(tmp_path)
    loaded = RNNsearchTokenizer.from_pretrained(tmp_path)
    assert (loaded.src_vocab_size, loaded.target_vocab_size) == (index + 1, index + 1)
    for other in (tokenizer, loaded):
        ids = other("<2fr> the red cat </s>")["input_ids"]
        assert ids[0] == index and ids.count(EOS) == 1
        assert "<2fr>" not in other.decode(ids, True, use_source_tokenizer=True)


def test_added_words_go_to_both_sides_or_to_the_target(either):
    tokenizer = copy.deepcopy(either)
    sizes = tokenizer.src_vocab_size, tokenizer.target_vocab_size
    assert tokenizer.add_tokens(["Yoshua Bengio"]) == 1
    assert (tokenizer.src_vocab_size, tokenizer.target_vocab_size) == (sizes[0] + 1, sizes[1] + 1)
    assert tokenizer.add_target_tokens(["Montréal", "chat"]) >= 1
    assert tokenizer.src_vocab_size == sizes[0] + 1
    text = "le chat à Montréal"
    ids = tokenizer(text_target=text)["input_ids"]
    assert tokenizer.get_target_vocab()["Montréal"] in ids
    if tokenizer.kind == "bpe":
        assert tokenizer.decode(ids, skip_special_tokens=True) == text
        assert tokenizer.decode(ids) == text + "</s>"


def test_template_of_both_sides_follows_and_is_saved(either, tmp_path):
    tokenizer = copy.deepcopy(either)
    tokenizer.add_bos_token = True
    tokenizer.save_pretrained(tmp_path)
    for other in (tokenizer, RNNsearchTokenizer.from_pretrained(tmp_path)):
        for ids in other("red", text_target="chat").values():
            if ids != [1] * len(ids):
                assert (ids[0], ids[-1]) == (1, EOS)
    tokenizer.add_eos_token = False
    assert EOS not in tokenizer("red")["input_ids"] + tokenizer(text_target="chat")["input_ids"]


def test_training_anew_keeps_the_options(either):
    new = either.train_new_from_iterator([["un chat"], ["deux chats"]], 300, special_tokens_map={"</s>": "[END]"})
    assert (new.kind, new.eos_token) == (either.kind, "[END]")
    ids = new("deux chats", text_target="deux chats")
    assert ids["input_ids"] == ids["labels"] and ids["labels"][-1] == new.eos_token_id
    assert new.decode(ids["labels"], skip_special_tokens=True) == "deux chats"


# Errors and speed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "char"}, "kind='char' is unknown; choose one of bpe, word"),
        ({"apostrophe": "curly"}, "choose one of keep, straight"),
        ({"vocab_size": 259}, "at least 260 entries, not 259"),
        ({"kind": "word", "src_vocab_size": 3}, "at least 4 entries, not 3"),
        ({"shared": True, "src_vocab_size": 300}, "one size"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        RNNsearchTokenizer.train(["a"], ["b"], **options)


@pytest.mark.parametrize("kind", ["bpe", "word"])
def test_no_text(kind):
    with pytest.raises(ValueError, match="no text on the target side"):
        RNNsearchTokenizer.train(["a"], ["", " "], kind=kind)


def test_foreign_vocabulary_is_refused(tmp_path, word):
    word.save_pretrained(tmp_path)
    file = tmp_path / "target_tokenizer.json"
    state = json.loads(file.read_text("utf-8"))
    vocabulary = state["model"]["vocab"]
    vocabulary["</s>"], vocabulary["<s>"] = vocabulary["<s>"], vocabulary["</s>"]
    file.write_text(json.dumps(state), "utf-8")
    with pytest.raises(ValueError, match="Ids 0 to 3"):
        RNNsearchTokenizer.from_pretrained(tmp_path)


def test_batches_are_fast(bpe):
    texts = [f"the red cat {number} sleeps , a red house ( and {number} more words )" for number in range(3000)]
    start = time.perf_counter()
    bpe(texts)
    assert time.perf_counter() - start < 5, "29,000 sentences are meant to take a few seconds"
