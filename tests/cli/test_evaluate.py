"""`rnnsearch evaluate`: the numbers of the table and of the JSON are those of the library's functions."""

import importlib.metadata
import json

import pytest
from typer.testing import CliRunner

from rnnsearch import Translator
from rnnsearch.cli import app
from rnnsearch.evaluation.scores import all_scores

SOURCES = [
    "The red house is small.",
    "A zebra sees the old bridge.",
    "The dog is old.",
    "The old house.",
    "Green zebra.",
]
REFERENCES = [
    "La maison rouge est petite.",
    "Un chien voit l'âne du pont.",
    "Le zèbre.",
    "La vieux maison.",
    "Chien vert.",
]
HYPOTHESES = ["La maison rouge est belle.", "Un chat voit l'âne du pont.", "le zèbre.", "La vieux pont.", "Un chien."]
KNOWN = [0, 3]  # "zebra" is unknown on the source side, "zèbre" on the target side


@pytest.fixture
def files(tmp_path) -> dict[str, str]:
    """Paths of source, reference and hypothesis files."""
    paths = {}
    for name, lines in (("src", SOURCES), ("ref", REFERENCES), ("hyp", HYPOTHESES)):
        paths[name] = str(tmp_path / f"{name}.txt")
        (tmp_path / f"{name}.txt").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return paths


def evaluate(*options):
    return CliRunner().invoke(app, ["evaluate", *map(str, options)])


def values(scores) -> list[float]:
    return [score.value for score in scores]


def test_table_of_given_translations(files):
    result = evaluate("--hyp", files["hyp"], "--ref", files["ref"], "--target-lang", "fr")
    assert result.exit_code == 0, result.stderr
    head, count, *rows = result.stdout.split("\n\n")[0].splitlines()
    assert head.split() == ["All"]
    assert count.split() == ["sentences", "5"]
    scores = all_scores(HYPOTHESES, REFERENCES, "fr")
    assert [score.name for score in scores] == [
        "BLEU",
        "tokenised BLEU",
        "lower-cased tokenised BLEU",
        "chrF2",
    ]
    assert [row.rsplit(maxsplit=1) for row in rows] == [[score.name, f"{score.value:.2f}"] for score in scores]
    assert len(set(values(scores))) == 4
    for score in scores:
        assert f"{score.name}: {score.signature}\n" in result.stdout


def test_no_unk_column_of_given_translations(files, tiny_model_dir):
    result = evaluate(*[f"--{name}={path}" for name, path in files.items()], "--model", tiny_model_dir, "--json", "-")
    assert result.exit_code == 0, result.stderr
    scores = json.loads(result.stdout)["scores"]
    known = all_scores([HYPOTHESES[i] for i in KNOWN], [REFERENCES[i] for i in KNOWN], "fr")
    assert [score["value"] for score in scores["no_unk"]] == values(known)
    assert [score["sentences"] for score in scores["no_unk"]] == [2] * 4
    assert [score["value"] for score in scores["all"]] == values(all_scores(HYPOTHESES, REFERENCES, "fr"))


def test_a_model_is_translated_with_and_scored(files, tiny_model_dir, tmp_path):
    output, report = tmp_path / "out.txt", tmp_path / "scores.json"
    options = ["--model", tiny_model_dir, "--src", files["src"], "--ref", files["ref"], "--beam", 2]
    result = evaluate(*options, "--output", output, "--json", report)
    assert result.exit_code == 0, result.stderr

    translator = Translator.from_pretrained(tiny_model_dir)
    translations = [best.text for (best,) in translator.translate(SOURCES, num_beams=2)]
    assert output.read_text(encoding="utf-8").split("\n") == [*translations, ""]
    without_unk = translator.translate([SOURCES[i] for i in KNOWN], num_beams=2, forbid_unk=True)
    columns = {
        "all": all_scores(translations, REFERENCES, "fr"),
        "no_unk": all_scores([best.text for (best,) in without_unk], [REFERENCES[i] for i in KNOWN], "fr"),
    }
    written = json.loads(report.read_text(encoding="utf-8"))
    for name, scores in columns.items():
        assert [score["value"] for score in written["scores"][name]] == values(scores)
        assert [score["signature"] for score in written["scores"][name]] == [score.signature for score in scores]
    assert result.stdout.splitlines()[0].split() == ["All", "No", "UNK"]
    assert result.stdout.splitlines()[1].split() == ["sentences", "5", "2"]
    assert written["versions"]["sacrebleu"] == importlib.metadata.version("sacrebleu")
    assert written["options"]["beam"] == 2
    assert written["options"]["src"] == files["src"]


def test_no_unk_column_without_a_sentence(files, tiny_model_dir, tmp_path):
    for name in ("src", "ref", "hyp"):
        (tmp_path / f"{name}.txt").write_text("Zebra zebra.\n", encoding="utf-8")
    options = [f"--{name}={path}" for name, path in files.items()]
    rows = evaluate(*options, "--model", tiny_model_dir).stdout.splitlines()
    assert rows[1].split() == ["sentences", "1", "0"]
    assert [row.split()[-1] for row in rows[2:6]] == ["-"] * 4


def test_chinese_and_the_override(tmp_path):
    (tmp_path / "ref").write_text("我喜欢猫。\n", encoding="utf-8")
    (tmp_path / "hyp").write_text("我喜欢狗。\n", encoding="utf-8")
    options = ["--hyp", tmp_path / "hyp", "--ref", tmp_path / "ref", "--target-lang", "zh"]
    assert "|tok:zh|" in evaluate(*options).stdout
    assert "|tok:char|" in evaluate(*options, "--tokenize", "char").stdout


@pytest.mark.parametrize(
    "options, message",
    [
        (["--ref", "ref"], "give --model and --src, or --hyp"),
        (["--ref", "ref", "--src", "src"], "give --model and --src, or --hyp"),
        (["--ref", "ref", "--hyp", "hyp"], "give it with --target-lang"),
        (["--ref", "ref", "--hyp", "hyp", "--output", "out", "--target-lang", "fr"], "leave one out"),
        (["--ref", "ref", "--hyp", "short", "--target-lang", "fr"], "short has 2 lines but ref has 5"),
        (["--ref", "ref", "--src", "short", "--model", "m"], "short has 2 lines but ref has 5"),
        (["--ref", "missing", "--hyp", "hyp", "--target-lang", "fr"], "missing: "),
        (["--ref", "ref", "--hyp", "hyp", "--target-lang", "fr", "--tokenize", "x"], "no tokenizer 'x'"),
        (["--ref", "ref", "--hyp", "hyp", "--target-lang", "fr", "--json", "no/such"], "no/such: cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(files, tmp_path, monkeypatch, options, message):
    for name in files:
        (tmp_path / f"{name}.txt").rename(tmp_path / name)
    (tmp_path / "short").write_text("a\nb\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = evaluate(*options)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert sorted(tmp_path.iterdir()) == before
