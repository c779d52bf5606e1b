"""What is carried from word to word in generation: named, movable, and kept nowhere else."""

import copy
import pickle

import pytest
import torch
from torch import Tensor

from rnnsearch import RNNsearchCache
from rnnsearch.modeling.generation_rnnsearch import CACHE

TOLERANCE = {"atol": 1e-10, "rtol": 0}


@pytest.fixture
def cache() -> RNNsearchCache:
    """Two beams of two sentences; row i of each tensor is filled with i, sentence b of keys and values with b."""
    rows, sentences = torch.arange(4.0)[:, None], torch.arange(2.0)[:, None, None]
    return RNNsearchCache(
        rows.expand(4, 3), rows.expand(4, 6), sentences.expand(2, 5, 2), sentences.expand(2, 5, 6), seen_tokens=7
    )


def tensors(cache: RNNsearchCache) -> dict[str, Tensor]:
    return {name: value for name, value in vars(cache).items() if torch.is_tensor(value)}


@torch.no_grad()
@pytest.mark.parametrize("cut", [(1, 1, 1, 1), (2, 2), (1, 3), (3, 1)])
def test_pieces_with_a_carried_state_are_the_whole(make_model, kind, batch, cut):
    model = make_model(**kind)
    words = torch.tensor([[1, 4, 6, 9], [1, 10, 3, 2], [1, 5, 5, 7]])
    whole = model(**batch.encoded, decoder_input_ids=words, use_cache=False, output_attentions=True)
    assert whole.get(CACHE) is None
    cache, logits, alignments = None, [], []
    for piece in words.split(cut, dim=1):
        output = model(**batch.encoded, decoder_input_ids=piece, cache=cache, use_cache=True, output_attentions=True)
        cache = output[CACHE]
        logits.append(output.logits)
        alignments += output.cross_attentions or []
    torch.testing.assert_close(torch.cat(logits, 1), whole.logits, **TOLERANCE)
    if kind["context"] == "search":
        torch.testing.assert_close(torch.cat(alignments, 2), whole.cross_attentions[0], **TOLERANCE)
    assert cache.get_seq_length() == 4


@torch.no_grad()
def test_older_name_of_the_argument_is_understood(make_model, batch):
    model = make_model()
    words = torch.tensor([[1], [1], [1]])
    cache = model(**batch.encoded, decoder_input_ids=words, use_cache=True)[CACHE]
    new, old = (
        model(**batch.encoded, decoder_input_ids=words + 4, **{name: cache}) for name in ("cache", "past_key_values")
    )
    assert torch.equal(new.logits, old.logits)


@torch.no_grad()
def test_a_step_does_not_change_the_state_it_was_given(make_model, kind, batch):
    model = make_model(**kind)
    before = model(**batch.encoded, decoder_input_ids=torch.tensor([[1, 4]] * 3), use_cache=True)[CACHE]
    copied = copy.deepcopy(before)
    for width in (1, 3):
        model(**batch.encoded, decoder_input_ids=torch.full((3, width), 6), cache=before, use_cache=True)
        assert before.seen_tokens == copied.seen_tokens
        assert all(torch.equal(tensors(before)[name], tensor) for name, tensor in tensors(copied).items())


@torch.no_grad()
def test_shapes(make_model, kind, batch):
    cache = make_model(**kind)(**batch.encoded, decoder_input_ids=torch.tensor([[1, 4]] * 3), use_cache=True)[CACHE]
    terms = 3 * 6 + 2 * 4
    expected = {"state": (3, 6), "context": (3, terms)}
    if kind["context"] == "search":
        expected |= {"keys": (3, 7, 3), "values": (3, 7, terms)}
    else:
        assert cache.keys is None and cache.values is None
    assert {name: tuple(tensor.shape) for name, tensor in tensors(cache).items()} == expected
    assert (cache.batch_size, len(cache), cache.seen_tokens) == (3, 1, 2)


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda c: pickle.loads(pickle.dumps(c))])
def test_copies(cache, copied):
    other = copied(cache)
    assert isinstance(other, RNNsearchCache) and other.get_seq_length() == 7
    assert tensors(other).keys() == {"state", "context", "keys", "values"}
    other.reorder_cache(torch.tensor([3, 2, 1, 0]))
    assert cache.state[:, 0].tolist() == [0, 1, 2, 3]


def test_reorder(cache):
    """Beams change places within their sentence, whose keys and values stay."""
    cache.reorder_cache(torch.tensor([1, 1, 2, 3]))
    assert cache.state[:, 0].tolist() == cache.context[:, 5].tolist() == [1, 1, 2, 3]
    assert cache.keys[:, 4, 1].tolist() == cache.values[:, 4, 5].tolist() == [0, 1]


def test_select_rows(cache):
    cache.batch_select_indices(torch.tensor([3, 0]))
    assert cache.state[:, 0].tolist() == cache.context[:, 5].tolist() == [3, 0]
    assert cache.keys[:, 4, 1].tolist() == cache.values[:, 4, 5].tolist() == [1, 0]
    assert cache.batch_size == 2


def test_repeat_rows(cache):
    cache.batch_select_indices(torch.tensor([0, 2]))
    cache.batch_repeat_interleave(3)
    assert cache.state[:, 0].tolist() == [0, 0, 0, 2, 2, 2]
    assert cache.keys[:, 0, 0].tolist() == cache.values[:, 0, 0].tolist() == [0, 1]


def test_fixed_context_has_no_keys_to_move():
    cache = RNNsearchCache(torch.arange(2.0)[:, None], torch.arange(2.0)[:, None], None, None)
    cache.batch_repeat_interleave(2)
    assert cache.keys is None and cache.state[:, 0].tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("action", [lambda cache: cache.crop(3), lambda cache: cache.reset()])
def test_a_recurrent_state_does_not_go_back(cache, action):
    with pytest.raises(ValueError, match="recurrent state"):
        action(cache)


def test_nothing_is_kept_on_any_module(make_model, kind, batch):
    """Attributes, buffers and hooks of every module are the same objects before and after all that a model does."""
    model = make_model(**kind).train()

    def contents() -> dict[tuple[str, str], object]:
        found: dict[tuple[str, str], object] = {}
        for name, module in model.named_modules():
            for attribute, value in vars(module).items():
                parts = value.items() if isinstance(value, dict) else [("", value)]
                found |= {(f"{name}.{attribute}", str(key)): part for key, part in parts}
        return found

    before = contents()
    model(**batch.encoded, labels=batch.labels, output_attentions=True, output_hidden_states=True).loss.backward()
    model(**batch.encoded, decoder_input_ids=torch.tensor([[1]] * 3), use_cache=True)
    model.generate(**batch.encoded, num_beams=2, max_new_tokens=3)
    after = contents()
    assert before.keys() == after.keys()
    changed = [key for key, value in before.items() if after[key] is not value and after[key] != value]
    assert not changed
