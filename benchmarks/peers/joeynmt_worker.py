"""The worker of JoeyNMT's recurrent model: GRU, additive attention, input feeding.

Its attention looks with the state after the update, and its output layer reads a tanh layer as wide as the state.
"""

import logging
from types import SimpleNamespace

import torch
from joeynmt.batch import Batch
from joeynmt.model import build_model
from joeynmt.search import search
from joeynmt.vocabulary import Vocabulary
from torch import Tensor

from sizes import Size
from workload import System, serve_system

logging.disable(logging.CRITICAL)


class JoeyNMT(System):
    packages = ("joeynmt", "torch")
    unk, pad, bos, eos = range(4)
    first_word = 4

    def __init__(self, size: Size):
        vocabulary = self._vocabulary(size.vocabulary)
        layer = {"type": "recurrent", "rnn_type": "gru", "num_layers": 1, "hidden_size": size.hidden, "dropout": 0.0}
        embeddings = {"embeddings": {"embedding_dim": size.embedding, "dropout": 0.0}}
        attention = {"attention": "bahdanau", "input_feeding": True, "init_hidden": "bridge", "hidden_dropout": 0.0}
        config = {"encoder": layer | embeddings | {"bidirectional": True}, "decoder": layer | embeddings | attention}
        self.model = build_model(config, vocabulary, vocabulary)
        self.model.loss_function = ("crossentropy", 0.0)

    def _vocabulary(self, size: int) -> Vocabulary:
        """Its words are written past `add_tokens`, which compares each with all before it."""
        names = {"unk_token": "<unk>", "pad_token": "<pad>", "bos_token": "<s>", "eos_token": "</s>"}
        ids = {"unk_id": self.unk, "pad_id": self.pad, "bos_id": self.bos, "eos_id": self.eos}
        vocabulary = Vocabulary([], SimpleNamespace(**names, **ids, sep_token=None, lang_tags=[]))
        for number in range(self.first_word, size):
            vocabulary._itos.append(f"word{number}")
            vocabulary._stoi[f"word{number}"] = number
        return vocabulary

    def _batch(self, sources: Tensor, targets: Tensor | None) -> Batch:
        rows = len(sources)
        lengths = torch.full((rows,), sources.shape[1])
        places = torch.arange(rows)
        return Batch(
            sources, lengths, None, targets, None, places, torch.device("cpu"), self.pad, self.eos, targets is not None
        )

    def loss(self, sources: Tensor, targets: Tensor) -> Tensor:
        started = torch.cat([targets.new_full((len(targets), 1), self.bos), targets], dim=1)
        batch = self._batch(sources, started)
        total, *_ = self.model(return_type="loss", **vars(batch))
        return batch.normalize(total, "tokens")

    def translate(self, sources: Tensor, words: int, beams: int) -> Tensor:
        written, _, _ = search(
            self.model,
            self._batch(sources, None),
            max_output_length=words,
            beam_size=beams,
            beam_alpha=1.0,
            min_output_length=words,
        )
        return torch.from_numpy(written)


if __name__ == "__main__":
    serve_system(JoeyNMT)
