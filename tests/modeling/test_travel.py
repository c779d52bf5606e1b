"""A saved folder without the package and without a network: it loads, translates, trains and is saved again."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer

import rnnsearch
from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchModel

ROOT = Path(__file__).parents[2]
TRAVELLERS = {path.name: path for room in ("modeling", "tokenizer") for path in (ROOT / room).glob("*_rnnsearch.py")}
TEXTS = ["The red house is small.", "A dog"]
MAP = {
    "AutoConfig": "configuration_rnnsearch.RNNsearchConfig",
    "AutoModel": "modeling_rnnsearch.RNNsearchModel",
    "AutoModelForSeq2SeqLM": "modeling_rnnsearch.RNNsearchForConditionalGeneration",
}

ABROAD = """
import json, socket, sys

class NoPackage:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "rnnsearch":
            raise ImportError(name)

def refuse(*arguments):
    raise AssertionError("the network was asked for")

sys.meta_path.insert(0, NoPackage())
socket.socket.connect = socket.getaddrinfo = refuse

import torch
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer, pipeline

source, target, texts = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
config, base, model, tokenizer = (
    auto.from_pretrained(source, trust_remote_code=True)
    for auto in (AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer)
)
report = {"classes": {type(each).__name__: type(each).__module__ for each in (config, base, model, tokenizer)}}
batch = tokenizer(texts, padding=True, return_tensors="pt")
report["annotations"] = base.get_encoder()(**batch).last_hidden_state.tolist()
translate = pipeline("translation", model=source, trust_remote_code=True, device="cpu")
report["translations"] = translate(texts, max_new_tokens=4, batch_size=2)
[record] = translate(texts[1], max_new_tokens=4, return_alignment=True)
report["alignment"] = record["alignment"].tolist()
report["task"] = pipeline(model=source, trust_remote_code=True, device="cpu").task

optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model.train()(**batch, labels=batch["input_ids"]).loss.backward()
optimizer.step()
model.save_pretrained(target)
tokenizer.save_pretrained(target)
report["trained"] = model.eval()(**batch, labels=batch["input_ids"]).logits.tolist()
report["rnnsearch"] = any(name.split(".")[0] == "rnnsearch" for name in sys.modules)
print(json.dumps(report))
"""


@pytest.fixture(scope="module")
def abroad(tiny_model_dir, tmp_path_factory):
    """What a process without the package reports of a saved folder, the folder it saves, and the next report."""
    work = tmp_path_factory.mktemp("abroad")
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "HF_HOME": str(work / "hf")}

    def run(source: Path, target: Path) -> dict:
        command = [sys.executable, "-c", ABROAD, str(source), str(target), json.dumps(TEXTS)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=work, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    first = run(tiny_model_dir, work / "again")
    return first, work / "again", run(work / "again", work / "third")


def python_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.py")}


def entries(folder: Path, name: str = "config.json") -> dict:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def assert_everything_travels(folder: Path) -> None:
    assert python_files(folder) == {name: path.read_bytes() for name, path in TRAVELLERS.items()}
    assert entries(folder)["auto_map"] == MAP
    tokenizers = entries(folder, "tokenizer_config.json")["auto_map"]
    assert [name for name in tokenizers["AutoTokenizer"] if name] == ["tokenization_rnnsearch.RNNsearchTokenizer"]
    assert entries(folder)["custom_pipelines"]["translation"]["impl"] == "pipeline_rnnsearch.TranslationPipeline"


def test_all_files_are_saved(tiny_model_dir):
    assert len(TRAVELLERS) == 10
    assert_everything_travels(tiny_model_dir)


def test_it_loads_without_the_package(abroad):
    report, _, _ = abroad
    assert set(report["classes"]) == {
        "RNNsearchConfig",
        "RNNsearchModel",
        "RNNsearchForConditionalGeneration",
        "RNNsearchTokenizer",
    }
    assert all(module.startswith("transformers_modules.") for module in report["classes"].values())
    assert not report["rnnsearch"]
    assert report["task"] == "translation"


def test_it_says_the_same_abroad(abroad, tiny_model, tiny_tokenizer):
    report, _, _ = abroad
    batch = tiny_tokenizer(TEXTS, padding=True, return_tensors="pt")
    annotations = tiny_model.get_encoder()(**batch).last_hidden_state
    torch.testing.assert_close(torch.tensor(report["annotations"]), annotations, atol=1e-6, rtol=0)
    pipe = rnnsearch.TranslationPipeline(model=tiny_model, tokenizer=tiny_tokenizer, device="cpu")
    assert report["translations"] == pipe(TEXTS, max_new_tokens=4, batch_size=2)
    [record] = pipe(TEXTS[1], max_new_tokens=4, return_alignment=True)
    torch.testing.assert_close(torch.tensor(report["alignment"], dtype=torch.double), record["alignment"])


def test_saved_again_it_travels_on(abroad):
    """Trained by a step in one process, loaded by the next, both without the package."""
    first, again, second = abroad
    assert_everything_travels(again)
    assert_everything_travels(again.parent / "third")
    assert second["classes"].keys() == first["classes"].keys()
    assert second["annotations"] != first["annotations"], "the step has changed the weights"


def test_it_comes_home(abroad, tiny_tokenizer):
    first, again, _ = abroad
    model = AutoModelForSeq2SeqLM.from_pretrained(again).eval()
    assert type(model) is RNNsearchForConditionalGeneration
    batch = AutoTokenizer.from_pretrained(again)(TEXTS, padding=True, return_tensors="pt")
    logits = model(**batch, labels=batch["input_ids"]).logits
    torch.testing.assert_close(torch.tensor(first["trained"]), logits, atol=1e-5, rtol=0)


def test_the_installed_classes_win(tiny_model_dir):
    """Nobody who has the package is asked to trust code; who trusts it gets the installed model all the same."""
    config = AutoConfig.from_pretrained(tiny_model_dir)
    assert not hasattr(config, "custom_pipelines") and not hasattr(config, "auto_map")
    for trust in (None, True):
        assert type(AutoConfig.from_pretrained(tiny_model_dir, trust_remote_code=trust)) is RNNsearchConfig
        assert type(AutoModel.from_pretrained(tiny_model_dir, trust_remote_code=trust)) is RNNsearchModel


def test_the_base_model_alone_travels_too(tiny_model, tmp_path):
    tiny_model.model.save_pretrained(tmp_path)
    assert set(python_files(tmp_path)) == {name for name in TRAVELLERS if (ROOT / "modeling" / name).exists()}
    assert entries(tmp_path)["auto_map"] == MAP
    assert entries(tmp_path)["architectures"] == ["RNNsearchModel"]
