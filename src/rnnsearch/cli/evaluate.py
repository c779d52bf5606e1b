"""`rnnsearch evaluate`: BLEU and chrF of a model, or of translations that are there already."""

import platform
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import InputError
from ..version import __version__
from .common import (
    BatchSize,
    Beam,
    Device,
    DtypeOption,
    LengthPenalty,
    PaperDecoding,
    check_correspondence,
    load_translator,
    written_whole,
)

if TYPE_CHECKING:
    from ..evaluation.report import Report
    from ..evaluation.scores import Score

_PACKAGES = ("sacrebleu", "sacremoses", "torch", "transformers")
_TITLES = {"all": "All", "no_unk": "No UNK"}  # columns of the paper's table 1
_PAPER_MEASURE = "tokenised BLEU"


def evaluate(
    context: typer.Context,
    ref: Annotated[Path, typer.Option(help="References: plain, detokenised text, one sentence a line.")],
    src: Annotated[Path | None, typer.Option(help="Sources of the references.")] = None,
    model: Annotated[str | None, typer.Option(help="Folder of a trained model, or its name on the Hub.")] = None,
    hyp: Annotated[
        Path | None, typer.Option(help="Translations to score instead of the model's; also detokenised.")
    ] = None,
    beam: Beam = 5,
    length_penalty: LengthPenalty = None,
    paper_decoding: PaperDecoding = False,
    batch_size: BatchSize = 64,
    device: Device = None,
    dtype: DtypeOption = None,
    target_lang: Annotated[
        str | None, typer.Option(help="Code of the target language, such as fr.", show_default="the tokenizer's")
    ] = None,
    tokenize: Annotated[
        str | None, typer.Option(help="sacreBLEU's tokenizer for BLEU.", show_default="by target language")
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Where the model's translations are saved.")] = None,
    json_file: Annotated[
        Path | None,
        typer.Option(
            "--json",
            help="Where scores, and with --src also BLEU by length, are saved, beside those of other systems that are "
            "there already; - prints them in place of the table.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            help="What the system is called in --json; a row of that name is replaced.",
            show_default="that of the model or of the file",
        ),
    ] = None,
    smooth: Annotated[
        bool,
        typer.Option(
            "--smooth",
            help="For BLEU by length in --json, move a window of ten words by one at a time; else bins of ten words "
            "stand side by side.",
        ),
    ] = False,
) -> None:
    """Score a model's translations of --src, or those in --hyp, against --ref.

    The column "No UNK" is that of the paper's table 1: sentences without a word unknown to the model's tokenizer,
    which a model translates again with [UNK] forbidden. With --hyp it needs --src and --model, too.

    To compare systems, score each into the same --json; `rnnsearch plot` draws BLEU by length from it.
    """
    if hyp and output:
        raise InputError("--output saves a model's translations, but --hyp gives them: leave one out")
    if hyp and paper_decoding:
        raise InputError("--paper-decoding is how a model translates, but --hyp gives translations: leave one out")
    if (smooth or name) and not json_file:
        raise InputError(f"--{'smooth' if smooth else 'name'} is for what --json writes: give a file with --json")
    if not (hyp or model) or (model and not src):
        raise InputError("give --model and --src, or --hyp, or all three for the No UNK column")
    if not (target_lang or model):
        raise InputError("the target language is not known without a model: give it with --target-lang")

    from ..data.lines import read_lines
    from ..evaluation.by_length import bleu_by_length
    from ..evaluation.report import SystemScores
    from ..evaluation.scores import all_scores, known_sentences

    references = read_lines(ref)
    sources, hypotheses = (read_lines(path) if path else [] for path in (src, hyp))
    for path, lines in ((src, sources), (hyp, hypotheses)):
        if path:
            check_correspondence(path, lines, ref, references)
    to_file = json_file if json_file and str(json_file) != "-" else None
    report = _report(references, to_file)

    with ExitStack() as files:
        saved = files.enter_context(written_whole(output)) if output else None
        written = files.enter_context(written_whole(to_file))

        tokenizer = None
        if not hyp:
            translator = load_translator(str(model), device, dtype)
            tokenizer = translator.tokenizer

            def translated(lines: list[str], forbid_unk: bool) -> list[str]:
                results = translator.translate(
                    lines,
                    num_beams=beam,
                    length_penalty=length_penalty,
                    batch_size=batch_size,
                    forbid_unk=forbid_unk,
                    paper_decoding=paper_decoding,
                    scores=False,
                    progress=sys.stderr.isatty(),
                )
                return [best.text for (best,) in results]

            hypotheses = translated(sources, forbid_unk=False)
        elif model:
            from ..loading import load_tokenizer

            tokenizer = load_tokenizer(model)
        if saved:
            saved.writelines(line.encode() + b"\n" for line in hypotheses)

        # Positions in the test set and their translations
        columns: dict[str, tuple[Sequence[int], list[str]]] = {"all": (range(len(references)), hypotheses)}
        if tokenizer:
            known = known_sentences(tokenizer, sources, references)
            chosen = [hypotheses[position] for position in known]
            if not hyp and tokenizer.kind == "word":
                chosen = translated([sources[position] for position in known], forbid_unk=True)
            columns["no_unk"] = known, chosen

        language = target_lang or (tokenizer.target_lang if tokenizer else "")
        scores, by_length = {}, {}
        for column, (positions, translations) in columns.items():
            their_references = [references[position] for position in positions]
            scores[column] = all_scores(translations, their_references, language, tokenize) if positions else []
            if json_file and sources:
                lengths = [len(sources[position].split()) for position in positions]
                by_length[column] = (
                    bleu_by_length(translations, their_references, lengths, language, step=1 if smooth else None)
                    if positions
                    else []
                )

        table = _table(scores)
        if json_file:
            if length_penalty is None:
                length_penalty = 0.0 if paper_decoding else 1.0
            options = context.params | {"length_penalty": length_penalty}
            row = SystemScores(scores, by_length, options, _versions())
            report = report.with_system(name or _name(hyp, str(model)), row)
            table += _comparison(report)
        written.write((report.to_json() if json_file else table).encode())
        if to_file:
            print(table, end="")


def _report(references: list[str], path: Path | None) -> "Report":
    """The scores that the file holds already."""
    from ..evaluation.report import Report, read_report

    empty = Report.of(references)
    if path is None or not path.is_file():
        return empty
    report = read_report(path)
    if report.sha256 != empty.sha256:
        raise InputError(f"{path}: holds scores against other references: choose another file, or remove it")
    return report


def _name(hyp: Path | None, model: str) -> str:
    """A system's name from that of its file without endings, or of its folder."""
    return hyp.name.partition(".")[0] if hyp else Path(model).resolve().name


def _table(columns: Mapping[str, Sequence["Score"]]) -> str:
    """Measures in rows, `columns` side by side, then the signature of each measure."""
    measures = columns["all"]
    rows = [["", *(_TITLES[name] for name in columns)]]
    rows.append(["sentences", *(str(scores[0].sentences if scores else 0) for scores in columns.values())])
    for number, measure in enumerate(measures):
        cells = [f"{scores[number].value:.2f}" if scores else "-" for scores in columns.values()]
        rows.append([measure.name, *cells])
    width = max(len(row[0]) for row in rows)
    lines = [row[0].ljust(width) + "".join(cell.rjust(10) for cell in row[1:]) for row in rows]
    signatures = [f"{measure.name}: {measure.signature}" for measure in measures]
    return "\n".join([*lines, "", *signatures]) + "\n"


def _comparison(report: "Report") -> str:
    """All systems by the paper's measure, as in its table 1; nothing where there is one alone."""
    if len(report.systems) < 2:
        return ""
    rows = [[_PAPER_MEASURE, *(cell for title in _TITLES.values() for cell in (title, "sentences"))]]
    for name, system in report.systems.items():
        rows.append([name])
        for column in _TITLES:
            score = next((one for one in system.scores.get(column, ()) if one.name == _PAPER_MEASURE), None)
            rows[-1] += [f"{score.value:.2f}", str(score.sentences)] if score else ["-", "-"]
    width = max(len(row[0]) for row in rows)
    return "\n" + "".join(row[0].ljust(width) + "".join(cell.rjust(11) for cell in row[1:]) + "\n" for row in rows)


def _versions() -> dict[str, Any]:
    """What may change the numbers."""
    own = {"rnnsearch": __version__, "python": platform.python_version()}
    return own | {package: version(package) for package in _PACKAGES}
