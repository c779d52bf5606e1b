"""`rnnsearch export`: a trained model in a format that runs without PyTorch."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .common import Dtype, folder_written_whole, load_translator


class Format(StrEnum):
    """Formats of an export."""

    onnx = "onnx"


def export(
    model: Annotated[str, typer.Argument(help="Folder of a trained model, or its name on the Hugging Face Hub.")],
    output: Annotated[Path, typer.Argument(help="New folder where the export is written.")],
    format: Annotated[
        Format, typer.Option(help="What is written; onnx: encoder.onnx and decoder_step.onnx.")
    ] = Format.onnx,
    int8: Annotated[
        bool, typer.Option("--int8", help="Round embeddings and the weights of products to eight bits.")
    ] = False,
) -> None:
    """Write a model as graphs of ONNX, with its configurations and its tokenizer.

    What the graphs compute is compared with PyTorch: nothing is written if log-probabilities or alignments differ by
    more than 0.0001 in float32. `rnnsearch.OnnxTranslator` translates with them.
    """
    with folder_written_whole(output) as folder:
        from ..export.exporter import export_onnx

        translator = load_translator(model, "cpu", Dtype.float32)
        difference = export_onnx(translator.model, translator.tokenizer, folder, int8)
    print(f"{output}: {format}{', int8' if int8 else ''}; greatest difference from PyTorch: {difference:.1e}")
