"""A tiny tokenizer and a tiny model with random weights, made in memory once for all tests."""

import os
from pathlib import Path

import pytest
import torch

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchTokenizer

# Threads wait longer for each other than tensors of this size take. The commands that tests start get one as well:
# sums come out the same, bit for bit, only with the same number of threads.
torch.set_num_threads(1)
os.environ["OMP_NUM_THREADS"] = "1"

SOURCES = [
    "The red house is small.",
    "A dog sees the old bridge.",
    "The children sing in the garden.",
    "My sister buys three green apples.",
    "We do not sleep in the old house.",
]
TARGETS = [
    "La maison rouge est petite.",
    "Un chien voit le vieux pont.",
    "Les enfants chantent dans le jardin.",
    "Ma sœur achète trois pommes vertes.",
    "Nous ne dormons pas dans l’ancienne maison.",
]


@pytest.fixture(scope="session")
def tiny_tokenizer() -> RNNsearchTokenizer:
    """Words of five sentences, English to French; the two vocabularies have different sizes."""
    return RNNsearchTokenizer.train(SOURCES, TARGETS, kind="word")


@pytest.fixture(scope="session")
def tiny_model(tiny_tokenizer) -> RNNsearchForConditionalGeneration:
    """A model for `tiny_tokenizer` with random weights, in evaluation mode. Copy it before changing it."""
    torch.manual_seed(0)
    config = RNNsearchConfig(
        src_vocab_size=tiny_tokenizer.src_vocab_size,
        vocab_size=tiny_tokenizer.target_vocab_size,
        embedding_size=7,
        hidden_size=10,
        alignment_size=6,
        maxout_size=5,
    )
    return RNNsearchForConditionalGeneration(config).eval()


@pytest.fixture(scope="session")
def tiny_model_dir(tiny_model, tiny_tokenizer, tmp_path_factory) -> Path:
    """Folder with `tiny_model` and `tiny_tokenizer` as `save_pretrained` writes them."""
    folder = tmp_path_factory.mktemp("tiny_model")
    tiny_model.save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    return folder
