"""The file of scores: what is written is read again, and what is something else is named."""

import hashlib
import json

import pytest

from rnnsearch.errors import InputError
from rnnsearch.evaluation.by_length import LengthBin
from rnnsearch.evaluation.report import Report, SystemScores, read_json_object, read_report
from rnnsearch.evaluation.scores import Score

ROW = SystemScores(
    {"all": [Score("BLEU", 12.5, "tok:13a", 2)], "no_unk": []},
    {"all": [LengthBin(1, 10, 2, 12.5, 10.0, 15.0)], "no_unk": []},
    {"beam": 5},
    {"rnnsearch": "0"},
)


def test_what_is_written_is_read_again(tmp_path):
    report = Report.of(["Été.", "b"]).with_system("one", ROW).with_system("two", ROW)
    (tmp_path / "s.json").write_text(report.to_json(), encoding="utf-8")
    assert read_report(tmp_path / "s.json") == report
    written = json.loads(report.to_json())
    assert written["references"] == {"sentences": 2, "sha256": hashlib.sha256("Été.\nb\n".encode()).hexdigest()}
    assert written["systems"]["two"]["bleu_by_length"]["all"] == [
        {"low": 1, "high": 10, "sentences": 2, "bleu": 12.5, "confidence_low": 10.0, "confidence_high": 15.0}
    ]


def test_a_row_of_the_same_name_is_replaced():
    other = SystemScores({}, {}, {}, {})
    report = Report.of(["a"]).with_system("one", ROW).with_system("two", ROW).with_system("one", other)
    assert report.systems == {"one": other, "two": ROW}
    assert [*report.systems] == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        ("BLEU 3", "holds no JSON object"),
        ("[1]", "holds no JSON object"),
        ('{"systems": {}}', "holds no scores"),
        ('{"references": {"sentences": 1, "sha256": ""}, "systems": 3}', "holds no scores"),
        ('{"references": {"sentences": 1, "sha256": ""}, "systems": {"a": {"scores": {}}}}', "holds no scores"),
    ],
)
def test_what_is_no_report_is_named(tmp_path, content, message):
    path = tmp_path / "s.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=f"s.json: {message}"):
        read_report(path)


def test_an_object_is_read(tmp_path):
    (tmp_path / "o.json").write_text('{"a": 1}', encoding="utf-8")
    assert read_json_object(tmp_path / "o.json") == {"a": 1}
