"""The worker that translates a file as a short script would: batches in the order of the file, `generate`, decode."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

import rnnsearch  # noqa: F401, makes the Auto classes know the model
from protocol import Tasks, serve, stopwatch


def open_worker(model: str, threads: int) -> tuple[dict[str, Any], Tasks]:
    torch.set_num_threads(threads)
    tokenizer = AutoTokenizer.from_pretrained(model)
    network = AutoModelForSeq2SeqLM.from_pretrained(model).eval()

    def translate(source: str, output: str, beams: int, batch: int) -> dict[str, Any]:
        answer: dict[str, Any] = {}
        with stopwatch(answer):
            lines = Path(source).read_text(encoding="utf-8").splitlines()
            written = []
            for start in range(0, len(lines), batch):
                encoded = tokenizer(lines[start : start + batch], padding=True, return_tensors="pt")
                ids = network.generate(**encoded, num_beams=beams, do_sample=False)
                written += tokenizer.batch_decode(ids, skip_special_tokens=True)
            Path(output).write_text("".join(f"{line}\n" for line in written), encoding="utf-8")
        return answer

    return {}, {"translate": translate}


if __name__ == "__main__":
    serve(lambda setup: open_worker(**setup))
