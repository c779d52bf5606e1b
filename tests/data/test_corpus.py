"""Pairs: the same from every format, always both sides together, and errors that name file and line."""

import gzip
import json
import lzma
import os
import subprocess
import sys

import pytest

from rnnsearch.data.corpus import FilterReport, Pair, filter_pairs, load_pairs, words_in_longer_side
from rnnsearch.errors import InputError

PAIRS = [
    Pair("the café", "le café"),
    Pair('"well", he said', "« eh bien », dit-il"),
    Pair("a cat\u2028sleeps\x85here", "猫\u2029dort\x0cici"),
    Pair("the end", "la fin"),
]
EN_FR = ("en", "fr")


def lines(texts) -> bytes:
    return "".join(f"{text}\n" for text in texts).encode()


def translations(pairs=PAIRS) -> list[dict]:
    return [{"id": n, "translation": {"en": en, "de": "x", "fr": fr}} for n, (en, fr) in enumerate(pairs)]


def flat(pairs=PAIRS) -> list[dict]:
    return [{"fr": fr, "en": en, "score": 0.5} for en, fr in pairs]


def json_lines(rows, **how) -> bytes:
    return lines(json.dumps(row, **how) for row in rows)


@pytest.fixture
def write(tmp_path):
    def write(name: str, content: bytes) -> str:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        return str(path)

    return write


@pytest.fixture
def private_cache(tmp_path, monkeypatch):
    """A place of its own for what `load_dataset` prepares."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")


def message(files, *languages, **how) -> str:
    """The error of input that cannot be read: one line."""
    with pytest.raises(InputError) as caught:
        load_pairs(files, *languages, **how)
    text = str(caught.value)
    assert "\n" not in text
    return text


class TestFormatsGiveTheSamePairs:
    def test_two_files(self, write):
        sources, targets = zip(*PAIRS, strict=True)
        files = [write("a.en", lines(sources)), write("a.fr", lines(targets))]
        assert load_pairs(files) == PAIRS
        assert load_pairs(files, *EN_FR) == PAIRS

    def test_two_files_compressed(self, write):
        sources, targets = zip(*PAIRS, strict=True)
        files = [write("a.en.gz", gzip.compress(lines(sources))), write("a.fr.xz", lzma.compress(lines(targets)))]
        assert load_pairs(files) == PAIRS

    def test_tsv(self, write):
        content = lines("\t".join(pair) for pair in PAIRS)
        assert load_pairs([write("a.tsv", content)], *EN_FR) == PAIRS
        assert load_pairs([write("a.tsv.xz", lzma.compress(content))]) == PAIRS

    def test_csv(self, write):
        content = lines(",".join('"' + text.replace('"', '""') + '"' for text in pair) for pair in PAIRS)
        assert load_pairs([write("a.csv", content)], *EN_FR) == PAIRS

    @pytest.mark.parametrize("rows", [translations(), flat()], ids=["translation", "columns"])
    @pytest.mark.parametrize("escaped", [True, False])
    def test_json_lines(self, write, rows, escaped):
        content = json_lines(rows, ensure_ascii=escaped)
        assert load_pairs([write("a.jsonl", content)], *EN_FR) == PAIRS
        assert load_pairs([write("a.json.gz", gzip.compress(content))], *EN_FR) == PAIRS

    @pytest.mark.parametrize("rows", [translations(), flat()], ids=["translation", "columns"])
    def test_saved_data_sets(self, tmp_path, rows):
        import datasets

        data = datasets.Dataset.from_list(rows)
        data.save_to_disk(tmp_path / "one")
        datasets.DatasetDict(train=data.select([0]), dev=data).save_to_disk(tmp_path / "parts")
        assert load_pairs([tmp_path / "one"], *EN_FR) == PAIRS
        assert load_pairs([tmp_path / "parts"], *EN_FR, split="dev") == PAIRS
        assert load_pairs([tmp_path / "parts"], *EN_FR) == PAIRS[:1]

    @pytest.mark.parametrize("streaming", [False, True])
    def test_folders_of_data_files(self, write, tmp_path, private_cache, streaming):
        import datasets

        write("hub/train.jsonl", json_lines(translations()))
        write("hub/validation.jsonl", json_lines(translations(PAIRS[:2])))
        for split, pairs in (("train", PAIRS), ("validation", PAIRS[:2])):
            assert list(load_pairs([tmp_path / "hub"], *EN_FR, split=split, streaming=streaming)) == pairs
        (tmp_path / "columns").mkdir()
        datasets.Dataset.from_list(flat()).to_parquet(tmp_path / "columns" / "train.parquet")
        assert list(load_pairs([tmp_path / "columns"], *EN_FR, streaming=streaming)) == PAIRS


def test_languages_give_the_direction(write):
    path = write("a.jsonl", json_lines(translations()))
    assert load_pairs([path], "fr", "en") == [Pair(fr, en) for en, fr in PAIRS]


def test_a_language_may_be_called_translation(write):
    path = write("a.jsonl", json_lines([{"text": "a", "translation": "A"}]))
    assert load_pairs([path], "text", "translation") == [Pair("a", "A")]


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("owner/set", ("owner/set", None)),
        ("owner/set:en-fr", ("owner/set", "en-fr")),
        ("wmt14:fr-en", ("wmt14", "fr-en")),
    ],
)
@pytest.mark.parametrize("streaming", [False, True])
def test_hub_names(monkeypatch, name, asked, streaming):
    import datasets

    calls = []

    def load_dataset(path, config=None, **how):
        calls.append(((path, config), how))
        return translations()

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)
    pairs = load_pairs([name], *EN_FR, split="train[:9]", streaming=streaming)
    assert list(pairs) == PAIRS
    assert calls == [(asked, {"split": "train[:9]", "streaming": streaming})]


def test_streaming_reads_no_further_than_asked(monkeypatch):
    import datasets

    def rows():
        yield from translations()
        raise AssertionError("a row that nobody asked for")

    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: rows())
    pairs = load_pairs(["owner/set"], *EN_FR, streaming=True)
    assert [next(pairs) for _ in PAIRS] == PAIRS


def test_streamed_files_raise_where_the_fault_is(write):
    pairs = load_pairs([write("a.tsv", b"a\tA\nb\n")], streaming=True)
    assert next(pairs) == Pair("a", "A")
    with pytest.raises(InputError, match="line 2"):
        next(pairs)


def test_tsv_knows_no_quotes(write):
    path = write("pairs.tsv", b'a\tA\n"b\tB\nc "d"\tC\ne\tE\n')
    assert load_pairs([path]) == [Pair("a", "A"), Pair('"b', "B"), Pair('c "d"', "C"), Pair("e", "E")]


def test_csv_knows_quotes(write):
    path = write("pairs.csv", b'"x, y",Z\n"he said ""no""",N\n"two\nlines",L\n')
    assert load_pairs([path]) == [Pair("x, y", "Z"), Pair('he said "no"', "N"), Pair("two\nlines", "L")]


@pytest.mark.parametrize("name", ["a.tsv", "a.csv", "a.jsonl"])
def test_line_ends_and_byte_order_mark(write, name):
    first, second = {
        "a.tsv": ("a\té", "b\tB"),
        "a.csv": ('"a",é', "b,B"),
        "a.jsonl": ('{"en": "a", "fr": "é"}', '{"en": "b", "fr": "B"}'),
    }[name]
    pairs = [Pair("a", "é"), Pair("b", "B")]
    for content in (f"{first}\n{second}\n", f"\ufeff{first}\r\n{second}\r\n", f"{first}\n{second}"):
        assert load_pairs([write(name, content.encode())], *EN_FR) == pairs


def test_crlf_and_byte_order_mark_in_two_files(write):
    files = [write("a.en", b"\xef\xbb\xbfa\r\nb\r\n"), write("a.fr", b"A\nB")]
    assert load_pairs(files) == [Pair("a", "A"), Pair("b", "B")]


@pytest.mark.parametrize(("sources", "targets"), [(3, 2), (2, 3), (1, 1200)])
def test_unequal_line_counts(write, sources, targets):
    files = [write("a.en", b"a\n" * sources), write("a.fr", b"A\n" * targets)]
    assert message(files).startswith(f"{files[0]} has {sources:,} lines but {files[1]} has {targets:,}; ")


def test_missing_last_line_end_is_no_difference(write):
    files = [write("a.en", b"a\nb\nc\n"), write("a.fr", b"A\nB\nC")]
    assert load_pairs(files) == [Pair("a", "A"), Pair("b", "B"), Pair("c", "C")]


def test_wrong_encoding_names_file_and_line(write):
    good, bad = write("a.en", b"a\nb\n"), write("a.fr", "A\né\n".encode("latin-1"))
    assert message([good, bad]).startswith(f"{bad}, line 2: byte 0xe9")
    tsv = write("a.tsv", b"a\tA\nb\t\0\n")
    assert message([tsv]).startswith(f"{tsv}, line 2: holds a NUL")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.tsv", b"a\tA\nb B\n", ", line 2: has 1 columns"),
        ("a.tsv", b"a\tA\nb\tB\tC\n", ", line 2: has 3 columns"),
        ("a.tsv", b"a\tA\n\nb\tB\n", ", line 2: has 1 columns"),
        ("a.tsv", b"fr\ten\nA\ta\n", ", line 1: is a header"),
        ("a.csv", b"en,fr\na,A\n", ", line 1: is a header"),
        ("a.csv", b"a,A\nx, y,Z\n", ", line 2: has 3 columns"),
        ("a.csv", b'a,A\n"b,B\nc,C\n', ", line 3: not CSV"),
        ("a.jsonl", b'{"en": "a", "fr": "A"}\n{"en"\n', ", line 2: not JSON: "),
        ("a.jsonl", b'{"en": "a", "fr": "A"}\n["b", "B"]\n', ", line 2: not a JSON object"),
        ("a.jsonl", b'{"en": "a", "fr": "A"}\n\n', ", line 2: not JSON: "),
        ("a.jsonl", b'{"en": "a", "de": "A"}\n', ", line 1: no 'fr'; there are: en, de"),
        ("a.jsonl", b'{"id": 1, "translation": {"cs": "a"}}\n', ", line 1: no 'en' and no 'fr'; there are: cs"),
        ("a.jsonl", b'{"en": "a", "fr": 7}\n', ", line 1: 'fr' is not text but 7"),
        ("a.jsonl", b'{"en": "a\\u0000", "fr": "A"}\n', ", line 1: 'en' holds a NUL"),
        ("a.jsonl", b'{"en": "a", "fr": "\\ud83d"}\n', ", line 1: 'fr' holds a NUL character or half"),
        ("a.tsv", b"", ": is empty"),
        ("a.csv", b"", ": is empty"),
        ("a.jsonl", b"", ": is empty"),
    ],
)
def test_faults_in_files(write, name, content, said):
    path = write(name, content)
    assert message([path], *EN_FR).startswith(f"{path}{said}")


def test_languages_must_be_named_where_texts_have_names(write):
    path = write("a.jsonl", json_lines(translations()))
    said = f"{path}, line 1: name the languages of source and target; there are: en, de, fr"
    assert message([path]) == message([path], "en") == message([path], None, "fr") == said


def test_null_is_blank(write, tmp_path):
    import datasets

    rows = [{"en": "a", "fr": None}, {"en": "b", "fr": "B"}]
    datasets.Dataset.from_list(rows).save_to_disk(tmp_path / "saved")
    for given in (write("a.jsonl", json_lines(rows)), tmp_path / "saved"):
        assert load_pairs([given], *EN_FR) == [Pair("a", ""), Pair("b", "B")]


@pytest.mark.parametrize("files", [[], ["a", "b", "c"]])
def test_number_of_files(files):
    assert message(files).endswith(f"there are {len(files)}")


def test_file_of_pairs_is_given_alone(write):
    text, pairs = write("a.en", b"a\n"), write("a.jsonl.gz", b"")
    assert message([text, pairs], *EN_FR) == f"{pairs}: a .jsonl file holds both sides; give it alone"


def test_plain_text_needs_its_other_side(write):
    path = write("a.en", b"a\n")
    assert message([path], *EN_FR).startswith(f"{path}: one text file holds one side; give two, or one of .tsv, ")


def test_missing_files(write, tmp_path):
    there, absent = write("a.en", b"a\n"), str(tmp_path / "a.fr")
    assert message([there, absent]).startswith(f"{absent}: cannot be read: No such file")
    assert message([absent], *EN_FR) == f"{absent}: no such file or folder"
    assert message([f"{absent}.tsv"]).startswith(f"{absent}.tsv: cannot be read: No such file")
    assert message([there, str(tmp_path)]) == f"{tmp_path}: is a folder, not a text file"


class TestFaultsInDataSets:
    def test_unknown_split_of_a_saved_one(self, tmp_path):
        import datasets

        data = datasets.Dataset.from_list(flat())
        datasets.DatasetDict(train=data, dev=data).save_to_disk(tmp_path / "parts")
        said = f"{tmp_path / 'parts'}: no split 'test'; there are: train, dev"
        assert message([tmp_path / "parts"], *EN_FR, split="test") == said

    def test_unknown_split_of_data_files(self, write, tmp_path, private_cache):
        write("hub/train.jsonl", json_lines(flat()))
        text = message([tmp_path / "hub"], *EN_FR, split="test")
        assert text.startswith(f"{tmp_path / 'hub'}: cannot be read as a data set: ")
        assert "train" in text

    def test_missing_column(self, tmp_path):
        import datasets

        datasets.Dataset.from_list(flat()).save_to_disk(tmp_path / "saved")
        said = f"{tmp_path / 'saved'}, row 1: no 'de'; there are: fr, en, score"
        assert message([tmp_path / "saved"], "en", "de") == said

    def test_no_rows(self, tmp_path, monkeypatch):
        import datasets

        none = datasets.Dataset.from_dict({"en": [], "fr": []})
        none.save_to_disk(tmp_path / "saved")
        assert message([tmp_path / "saved"], *EN_FR).startswith(f"{tmp_path / 'saved'}: ")
        monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: none)
        assert message(["owner/set"], *EN_FR) == "owner/set: split 'train' is empty"

    def test_damaged(self, tmp_path):
        import datasets

        datasets.Dataset.from_list(flat()).save_to_disk(tmp_path / "saved")
        (tmp_path / "saved" / "data-00000-of-00001.arrow").write_bytes(b"nothing")
        assert message([tmp_path / "saved"], *EN_FR).startswith(
            f"{tmp_path / 'saved'}: cannot be read as a data set: "
        )

    def test_damaged_data_file_says_why(self, write, tmp_path, private_cache):
        write("hub/train.jsonl", b'{"en": "a", "fr"\n')
        text = message([tmp_path / "hub"], *EN_FR)
        assert text.startswith(f"{tmp_path / 'hub'}: cannot be read as a data set: ")
        assert "An error occurred while generating the dataset" not in text

    def test_folder_without_data(self, tmp_path, private_cache):
        (tmp_path / "none").mkdir()
        assert message([tmp_path / "none"], *EN_FR).startswith(f"{tmp_path / 'none'}: cannot be read as a data set: ")

    @pytest.mark.parametrize("streaming", [False, True])
    def test_out_of_reach(self, monkeypatch, streaming):
        import datasets

        def load_dataset(*_, **__):
            raise ConnectionError("no way to the Hub\nfor 'owner/set'")

        monkeypatch.setattr(datasets, "load_dataset", load_dataset)
        said = "owner/set: no such file or folder, and cannot be read as a data set: no way to the Hub for 'owner/set'"
        with pytest.raises(InputError, match=f"^{said}$"):
            list(load_pairs(["owner/set"], *EN_FR, streaming=streaming))


SCRIPT = """
import locale, sys
assert locale.getencoding() != "utf-8" and not sys.flags.utf8_mode
from rnnsearch.data.corpus import load_pairs
for files in (sys.argv[1:3], *([file] for file in sys.argv[3:])):
    print(ascii([tuple(pair) for pair in load_pairs(files, "en", "fr")]))
assert "datasets" not in sys.modules
"""


def test_machine_encoding_does_not_matter(write):
    files = [
        write("a.en", "café\n".encode()),
        write("a.fr.gz", gzip.compress("猫\n".encode())),
        write("a.tsv", "café\t猫\n".encode()),
        write("a.csv", "café,猫\n".encode()),
        write("a.jsonl", '{"en": "café", "fr": "猫"}\n'.encode()),
    ]
    machine = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONWARNDEFAULTENCODING": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error::EncodingWarning", "-c", SCRIPT, *files],
        env=os.environ | machine,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [ascii([("café", "猫")])] * 4


@pytest.mark.parametrize("second", [("", "B"), ("", ""), ("b", ""), (" \t", "B"), ("b", "\u00a0\u2028")])
def test_blank_sides_are_dropped_together(second):
    pairs, report = filter_pairs([Pair("a", "A"), Pair(*second), Pair("c", "C")])
    assert pairs == [Pair("a", "A"), Pair("c", "C")]
    assert (report.kept, report.blank, report.blank_lines) == (2, 1, (2,))
    assert str(report) == "2 pairs kept; 1 dropped: 1 blank (at line 2)"


def test_blank_lines_in_files(write):
    files = [write("a.en", b"a\n\nc\n"), write("a.fr", b"A\nB\nC\n")]
    pairs, report = filter_pairs(load_pairs(files))
    assert pairs == [Pair("a", "A"), Pair("c", "C")]
    assert report.blank_lines == (2,)


def test_long_pairs_are_dropped_by_either_side():
    pairs = [Pair("a b c", "A"), Pair("a", "A B C D"), Pair("a b c d", "A"), Pair("", "A B C D")]
    kept, report = filter_pairs(pairs, max_length=3)
    assert kept == pairs[:1]
    assert str(report) == "1 pair kept; 3 dropped: 1 blank (at line 4), 2 over 3 words (at lines 2, 3)"
    assert filter_pairs(pairs)[1].too_long == 0


def test_length_in_another_unit():
    pairs = [Pair("ab", "A"), Pair("a", "ABC")]
    kept, report = filter_pairs(pairs, 2, lambda source, target: max(len(source), len(target)), "tokens")
    assert kept == pairs[:1]
    assert str(report) == "1 pair kept; 1 dropped: 1 over 2 tokens (at line 2)"


def test_length_of_a_pair_in_words():
    assert words_in_longer_side("one  two", "un") == 2
    assert words_in_longer_side("", " un deux trois ") == 3


def test_report_of_many():
    report = FilterReport(28998, 1200, 0, (3, 8, 9), (), None, "words")
    assert str(report) == "28,998 pairs kept; 1,200 dropped: 1,200 blank (first at lines 3, 8, 9)"
    assert str(FilterReport(2, 0, 0, (), (), 50, "words")) == "2 pairs kept; 0 dropped"
    _, report = filter_pairs([Pair("", "A")] * 9 + [Pair("a", "A")])
    assert (report.blank, report.blank_lines) == (9, (1, 2, 3))


def test_filters_what_is_streamed():
    pairs, report = filter_pairs(Pair(text, "A") for text in ("a", "", "c"))
    assert pairs == [Pair("a", "A"), Pair("c", "A")]
    assert report.blank == 1


def test_nothing_left():
    with pytest.raises(InputError, match=r"^no pair is left to use: 0 pairs kept; 1 dropped: 1 blank \(at line 1\)$"):
        filter_pairs([Pair("", "A")])


def test_limit_below_one():
    with pytest.raises(InputError, match=r"at least 1 .* not 0"):
        filter_pairs(PAIRS, max_length=0)
