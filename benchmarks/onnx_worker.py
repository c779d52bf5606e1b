"""The worker that translates a file with a model in PyTorch or with its exported graphs."""

from pathlib import Path
from typing import Any

import torch

from protocol import Tasks, serve, stopwatch
from rnnsearch import OnnxTranslator, Translator


def open_worker(folder: str, threads: int) -> tuple[dict[str, Any], Tasks]:
    torch.set_num_threads(threads)
    graphs = list(Path(folder).glob("*.onnx"))
    if graphs:
        translate_lines = OnnxTranslator(folder, threads).translate
    else:
        translator = Translator.from_pretrained(folder, "cpu")

        def translate_lines(lines: list[str], num_beams: int) -> list[str]:
            return [best.text for [best] in translator.translate(lines, num_beams, scores=False)]

    def translate(source: str, output: str, beams: int) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        with stopwatch(answer):
            lines = Path(source).read_text(encoding="utf-8").splitlines()
            written = translate_lines(lines, num_beams=beams)
            Path(output).write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
        return answer

    weights = graphs or [Path(folder) / "model.safetensors"]
    return {"megabytes": sum(path.stat().st_size for path in weights) / 1e6}, {"translate": translate}


if __name__ == "__main__":
    serve(lambda setup: open_worker(**setup))
