"""What is written, how far it is from PyTorch, and what is refused."""

import json

import numpy as np
import onnxruntime
import pytest
import torch

from rnnsearch.errors import InputError
from rnnsearch.export import exporter
from rnnsearch.export.difference import greatest_difference
from rnnsearch.export.exporter import TOLERANCE, export_onnx
from rnnsearch.export.folder import ENCODER, STEP
from rnnsearch.modeling.configuration_rnnsearch import RNNsearchConfig

DOT = {"step_order": "groundhog", "score": "scaled_dot"}
FIXED = {"step_order": "groundhog", "context": "fixed"}


def axes(nodes) -> dict[str, list]:
    return {node.name: node.shape for node in nodes}


@pytest.mark.parametrize("options", [DOT, FIXED])
def test_graphs_compute_what_pytorch_does(options, exported):
    """A ragged batch of sizes that the exporter did not see, with padding on the left, word by word."""
    made = exported(**options)
    assert 0 < made.difference <= TOLERANCE
    source = np.array([[5, 9, 4, 11, 7, 2], [0, 0, 0, 0, 7, 2], [0, 0, 6, 8, 4, 2]])
    mask = np.array([[1, 1, 1, 1, 1, 1], [0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]])
    words = np.random.default_rng(0).integers(4, made.model.config.vocab_size, (6, 3))
    words[:, 0] = 1
    with torch.no_grad():
        expected = made.model(
            torch.tensor(source), torch.tensor(mask), decoder_input_ids=torch.tensor(words), output_attentions=True
        )
    encoder, step = (onnxruntime.InferenceSession(made.folder / name) for name in (ENCODER, STEP))
    known = dict(
        zip(axes(encoder.get_outputs()), encoder.run(None, {"input_ids": source, "attention_mask": mask}), strict=True)
    )
    known |= {"attention_mask": mask, **{name: np.stack([known[name]] * 2, axis=1) for name in ("state", "context")}}
    for position in range(3):
        known |= {"tokens": words[:, position].reshape(3, 2), "seen_tokens": np.array(position)}
        fed = {name: known[name] for name in axes(step.get_inputs())}
        found = dict(zip(axes(step.get_outputs()), step.run(None, fed), strict=True))
        log_probs = expected.logits[:, position].log_softmax(-1).reshape(3, 2, -1)
        np.testing.assert_allclose(found["log_probs"], log_probs, atol=1e-4)
        if expected.cross_attentions:
            weights = expected.cross_attentions[0][:, 0, position].reshape(3, 2, -1)
            np.testing.assert_allclose(found["alignment"], weights, atol=1e-4)
        known |= {"state": found["new_state"], "context": found["new_context"]}


def test_axes_have_names(exported):
    made = exported(**DOT)
    encoder, step = (onnxruntime.InferenceSession(made.folder / name) for name in (ENCODER, STEP))
    of_source, of_hypotheses = ["batch", "source"], ["batch", "hypotheses"]
    assert axes(encoder.get_inputs()) == {"input_ids": of_source, "attention_mask": of_source}
    assert axes(encoder.get_outputs()) == {
        "state": ["batch", 10],
        "context": ["batch", 40],
        "keys": [*of_source, 6],
        "values": [*of_source, 40],
    }
    assert axes(step.get_inputs()) == {
        "tokens": of_hypotheses,
        "state": [*of_hypotheses, 10],
        "context": [*of_hypotheses, 40],
        "keys": [*of_source, 6],
        "values": [*of_source, 40],
        "attention_mask": of_source,
        "seen_tokens": [],
    }
    vocabulary = made.model.config.vocab_size
    assert axes(step.get_outputs()) == {
        "log_probs": [*of_hypotheses, vocabulary],
        "new_state": [*of_hypotheses, 10],
        "new_context": [*of_hypotheses, 40],
        "alignment": [*of_hypotheses, "source"],
    }


def test_what_lies_beside_the_graphs(exported):
    made = exported(**DOT)
    assert RNNsearchConfig.from_pretrained(made.folder).to_dict() == made.model.config.to_dict()
    saved = json.loads((made.folder / "generation_config.json").read_text(encoding="utf-8"))
    assert saved["decoder_start_token_id"] == 1
    assert {"tokenizer.json", "target_tokenizer.json"} < {path.name for path in made.folder.iterdir()}


def test_another_model_is_found(exported, make_model):
    """The check of the exporter, with a weight that changed after the export."""
    made = exported(**DOT)
    model = make_model(**DOT)
    assert greatest_difference(model, made.folder) == made.difference
    with torch.no_grad():
        model.get_decoder().unit.gate_proj.weight[3, 4] += 0.01
    assert greatest_difference(model, made.folder) > TOLERANCE


@pytest.mark.parametrize("difference", [2e-4, float("nan")])
def test_graphs_that_differ_are_refused(difference, make_model, tiny_tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(exporter, "FIRST_TORCH", "2.0")
    monkeypatch.setattr(exporter, "_write", lambda *arguments: None)
    monkeypatch.setattr(exporter, "greatest_difference", lambda model, folder: difference)
    with pytest.raises(InputError, match=r"differ from PyTorch by (0\.0002|nan), more than 0\.0001"):
        export_onnx(make_model(), tiny_tokenizer, tmp_path)


def test_an_old_pytorch_is_named(make_model, tiny_tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(exporter, "FIRST_TORCH", "99.1")
    with pytest.raises(InputError, match=r"needs PyTorch 99\.1 or later, this is 2"):
        export_onnx(make_model(), tiny_tokenizer, tmp_path)
    assert list(tmp_path.iterdir()) == []
