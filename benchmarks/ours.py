"""The worker of RNNsearch."""

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration
from sizes import Size
from transformers_system import TransformersSystem
from workload import serve_system


class RNNsearch(TransformersSystem):
    packages = ("rnnsearch", "torch", "transformers")
    eos = 2
    first_word = 4

    def __init__(self, size: Size):
        self.model = RNNsearchForConditionalGeneration(
            RNNsearchConfig(
                src_vocab_size=size.vocabulary,
                vocab_size=size.vocabulary,
                embedding_size=size.embedding,
                hidden_size=size.hidden,
                alignment_size=size.alignment,
                maxout_size=size.maxout,
            )
        )


if __name__ == "__main__":
    serve_system(RNNsearch)
