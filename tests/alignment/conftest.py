"""Models whose alignments are worth a look."""

import pytest
import torch

from rnnsearch import RNNsearchForConditionalGeneration


@pytest.fixture(scope="session")
def make_model(make_config):
    """Builds a model for a tokenizer, in float64, with random weights large enough for alignments far from even."""

    def make(tokenizer, **options) -> RNNsearchForConditionalGeneration:
        torch.manual_seed(0)
        sizes = {"embedding_size": 5, "hidden_size": 6, "alignment_size": 7, "maxout_size": 3}
        model = RNNsearchForConditionalGeneration(make_config(tokenizer, **sizes, **options))
        for parameter in model.parameters():
            torch.nn.init.normal_(parameter, std=0.7)
        return model.double()

    return make
