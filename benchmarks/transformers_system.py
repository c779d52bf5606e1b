"""What the workers of Transformers' models share: `model(...).loss` and `generate`."""

from typing import Any

from torch import Tensor

from workload import System


class TransformersSystem(System):
    """A system whose model is one of Transformers."""

    model: Any  # with `generate`, which `torch.nn.Module` does not know

    def loss(self, sources: Tensor, targets: Tensor) -> Tensor:
        return self.model(input_ids=sources, attention_mask=sources.new_ones(sources.shape), labels=targets).loss

    def translate(self, sources: Tensor, words: int, beams: int) -> Tensor:
        written = self.model.generate(
            input_ids=sources,
            attention_mask=sources.new_ones(sources.shape),
            num_beams=beams,
            do_sample=False,
            min_new_tokens=words,
            max_new_tokens=words,
        )
        return written[:, 1:]  # without the start token
