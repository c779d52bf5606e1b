"""`rnnsearch evaluate`: BLEU and chrF of a model, or of translations that are there already."""

import json
import platform
import sys
from contextlib import ExitStack
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import InputError
from ..version import __version__
from .common import BatchSize, Beam, Device, DtypeOption, LengthPenalty, load_translator, written_whole

if TYPE_CHECKING:
    from ..evaluation.scores import Score

_PACKAGES = ("sacrebleu", "sacremoses", "torch", "transformers")


def evaluate(
    context: typer.Context,
    ref: Annotated[Path, typer.Option(help="References: plain, detokenised text, one sentence a line.")],
    src: Annotated[Path | None, typer.Option(help="Sources of the references.")] = None,
    model: Annotated[str | None, typer.Option(help="Folder of a trained model, or its name on the Hub.")] = None,
    hyp: Annotated[
        Path | None, typer.Option(help="Translations to score instead of the model's; also detokenised.")
    ] = None,
    beam: Beam = 5,
    length_penalty: LengthPenalty = 1.0,
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
        Path | None, typer.Option("--json", help="Where scores are saved; - prints them in place of the table.")
    ] = None,
) -> None:
    """Score a model's translations of --src, or those in --hyp, against --ref.

    The column "No UNK" is that of the paper's table 1: sentences without a word unknown to the model's tokenizer,
    which a model translates again with [UNK] forbidden. With --hyp it needs --src and --model, too.
    """
    if hyp and output:
        raise InputError("--output saves a model's translations, but --hyp gives them: leave one out")
    if (src is None) != (model is None) or not (hyp or model):
        raise InputError("give --model and --src, or --hyp, or all three for the No UNK column")
    if not (target_lang or model):
        raise InputError("the target language is not known without a model: give it with --target-lang")

    from ..data.lines import read_lines
    from ..evaluation.scores import all_scores, known_sentences

    references = read_lines(ref)
    sources, hypotheses = (read_lines(path) if path else [] for path in (src, hyp))
    for path, lines in ((src, sources), (hyp, hypotheses)):
        if path and len(lines) != len(references):
            raise InputError(f"{path} has {len(lines)} lines but {ref} has {len(references)}; they must correspond")

    with ExitStack() as files:
        saved = files.enter_context(written_whole(output)) if output else None
        to_file = json_file is not None and str(json_file) != "-"
        report = files.enter_context(written_whole(json_file if to_file else None))

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

        language = target_lang or (tokenizer.target_lang if tokenizer else "")
        columns = {"all": all_scores(hypotheses, references, language, tokenize)}
        if tokenizer:
            known = known_sentences(tokenizer, sources, references)
            chosen = [hypotheses[position] for position in known]
            if not hyp and tokenizer.kind == "word":
                chosen = translated([sources[position] for position in known], forbid_unk=True)
            known_references = [references[position] for position in known]
            columns["no_unk"] = all_scores(chosen, known_references, language, tokenize) if known else []

        table = _table(columns)
        report.write((_json(columns, context.params) if json_file else table).encode())
        if to_file:
            print(table, end="")


def _table(columns: dict[str, list["Score"]]) -> str:
    """Measures in rows, `columns` side by side, then the signature of each measure."""
    titles = {"all": "All", "no_unk": "No UNK"}
    measures = columns["all"]
    rows = [["", *(titles[name] for name in columns)]]
    rows.append(["sentences", *(str(scores[0].sentences if scores else 0) for scores in columns.values())])
    for number, measure in enumerate(measures):
        cells = [f"{scores[number].value:.2f}" if scores else "-" for scores in columns.values()]
        rows.append([measure.name, *cells])
    width = max(len(row[0]) for row in rows)
    lines = [row[0].ljust(width) + "".join(cell.rjust(10) for cell in row[1:]) for row in rows]
    signatures = [f"{measure.name}: {measure.signature}" for measure in measures]
    return "\n".join([*lines, "", *signatures]) + "\n"


def _json(columns: dict[str, list["Score"]], options: dict[str, object]) -> str:
    """All that is needed to repeat and compare the evaluation."""
    versions = {"rnnsearch": __version__, "python": platform.python_version()}
    return (
        json.dumps(
            {
                "scores": {name: [asdict(score) for score in scores] for name, scores in columns.items()},
                "options": options,
                "versions": versions | {package: version(package) for package in _PACKAGES},
            },
            indent=2,
            ensure_ascii=False,
            default=str,
        )
        + "\n"
    )
