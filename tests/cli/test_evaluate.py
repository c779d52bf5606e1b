"""`rnnsearch evaluate`: the numbers of the table and of the JSON are those of the library's functions."""

import gzip
import importlib.metadata
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rnnsearch import Translator
from rnnsearch.cli import app
from rnnsearch.decoding.translator import Hypothesis
from rnnsearch.evaluation.by_length import bleu_by_length
from rnnsearch.evaluation.report import read_report
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
    [row] = json.loads(result.stdout)["systems"].values()
    scores = row["scores"]
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
    written = json.loads(report.read_text(encoding="utf-8"))["systems"][tiny_model_dir.name]
    for name, scores in columns.items():
        assert [score["value"] for score in written["scores"][name]] == values(scores)
        assert [score["signature"] for score in written["scores"][name]] == [score.signature for score in scores]
    assert result.stdout.splitlines()[0].split() == ["All", "No", "UNK"]
    assert result.stdout.splitlines()[1].split() == ["sentences", "5", "2"]
    assert written["versions"]["sacrebleu"] == importlib.metadata.version("sacrebleu")
    assert written["options"]["beam"] == 2
    assert written["options"]["length_penalty"] == 1.0
    assert written["options"]["src"] == files["src"]


def test_paper_decoding(files, tiny_model_dir, tmp_path, monkeypatch):
    """All lines by the paper's rules, and the known ones again, with [UNK] forbidden."""
    asked = []

    def translate(self, lines, **options):
        asked.append((len(lines), options["paper_decoding"], options["forbid_unk"], options["length_penalty"]))
        return [[Hypothesis("Un chien.", None)] for _ in lines]

    monkeypatch.setattr(Translator, "translate", translate)
    options = ["--model", tiny_model_dir, "--src", files["src"], "--ref", files["ref"], "--json", tmp_path / "s.json"]
    result = evaluate(*options, "--paper-decoding")
    assert result.exit_code == 0, result.stderr
    assert asked == [(5, True, False, None), (2, True, True, None)]
    [row] = read_report(tmp_path / "s.json").systems.values()
    assert (row.options["paper_decoding"], row.options["length_penalty"]) == (True, 0.0)


def test_several_systems_stand_in_one_file(files, tiny_model_dir, tmp_path):
    """A row by name, replaced if it is there; the table has all of them, with "-" where unknown words are unknown."""
    scores, french = tmp_path / "scores.json", tmp_path / "other.fr.gz"
    french.write_bytes(gzip.compress("".join(f"{line}\n" for line in REFERENCES).encode()))
    both = ["--ref", files["ref"], "--src", files["src"], "--json", scores]
    assert evaluate(*both, "--hyp", french, "--target-lang", "fr", "--name", "mine").exit_code == 0
    assert evaluate(*both, "--hyp", french, "--target-lang", "fr").exit_code == 0
    result = evaluate(*both, "--hyp", files["hyp"], "--model", tiny_model_dir, "--name", "mine")
    assert result.exit_code == 0, result.stderr
    report = read_report(scores)
    assert [*report.systems] == ["mine", "other"]
    assert [*report.systems["mine"].scores] == ["all", "no_unk"] == [*report.systems["mine"].bleu_by_length]
    assert [*report.systems["other"].scores] == ["all"] == [*report.systems["other"].bleu_by_length]
    everything = values(all_scores(HYPOTHESES, REFERENCES, "fr"))[1]
    known = values(all_scores([HYPOTHESES[i] for i in KNOWN], [REFERENCES[i] for i in KNOWN], "fr"))[1]
    assert [line.split() for line in result.stdout.splitlines()[-3:]] == [
        ["tokenised", "BLEU", "All", "sentences", "No", "UNK", "sentences"],
        ["mine", f"{everything:.2f}", "5", f"{known:.2f}", "2"],
        ["other", "100.00", "5", "-", "-"],
    ]


@pytest.mark.parametrize(("words", "step"), [([], None), (["--smooth"], 1)])
def test_bleu_by_words_of_the_source(files, tmp_path, words, step):
    """Bins of ten words, or a window of ten; the sources here have two words to six, and one has twelve."""
    sources = [*SOURCES[:4], "a b c d e f g h i j k l"]
    Path(files["src"]).write_text("".join(f"{line}\n" for line in sources), encoding="utf-8")
    options = ["--ref", files["ref"], "--src", files["src"], "--hyp", files["hyp"], "--target-lang", "fr"]
    result = evaluate(*options, "--json", tmp_path / "s.json", *words)
    assert result.exit_code == 0, result.stderr
    [row] = read_report(tmp_path / "s.json").systems.values()
    bins = bleu_by_length(HYPOTHESES, REFERENCES, [5, 6, 4, 3, 12], "fr", step=step)
    assert row.bleu_by_length == {"all": bins}
    assert [one.low for one in bins] == ([1, 11] if step is None else [1, 2, 3])


def test_scores_of_another_test_set_are_not_mixed_in(files, tmp_path):
    scores = tmp_path / "scores.json"
    options = ["--target-lang", "fr", "--json", scores]
    assert evaluate("--ref", files["ref"], "--hyp", files["hyp"], *options).exit_code == 0
    before = scores.read_bytes()
    result = evaluate("--ref", files["src"], "--hyp", files["hyp"], *options)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert f"{scores}: holds scores against other references: choose another file" in result.stderr
    scores.write_text('{"mine": 1}', encoding="utf-8")
    result = evaluate("--ref", files["ref"], "--hyp", files["hyp"], *options)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert f"{scores}: holds no scores; give a file that `rnnsearch evaluate --json` wrote" in result.stderr
    assert before != scores.read_bytes() == b'{"mine": 1}'


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
        (["--ref", "ref", "--hyp", "hyp", "--model", "m"], "give --model and --src, or --hyp"),
        (
            ["--ref", "ref", "--hyp", "hyp", "--target-lang", "fr", "--paper-decoding"],
            "--paper-decoding is how a model",
        ),
        (["--ref", "ref", "--hyp", "hyp", "--target-lang", "fr", "--smooth"], "--smooth is for what --json writes"),
        (["--ref", "ref", "--hyp", "hyp", "--target-lang", "fr", "--name", "x"], "--name is for what --json writes"),
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
