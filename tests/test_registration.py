"""`import rnnsearch` costs nothing and still makes the Auto classes know the model, whichever comes first."""

import json
import os
import subprocess
import sys
from pathlib import Path

import evaluate
import pytest
import torch
import transformers
from datasets import Dataset
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer, pipeline

import rnnsearch
from rnnsearch.metrics import BLEU_BY_LENGTH

ROOT = Path(__file__).parents[1]


def python(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_auto_classes_know_the_model(tiny_model, tiny_model_dir):
    assert type(AutoConfig.from_pretrained(tiny_model_dir)) is rnnsearch.RNNsearchConfig
    assert type(AutoTokenizer.from_pretrained(tiny_model_dir)) is rnnsearch.RNNsearchTokenizer
    assert type(AutoModel.from_pretrained(tiny_model_dir)) is rnnsearch.RNNsearchModel
    model = AutoModelForSeq2SeqLM.from_pretrained(tiny_model_dir)
    assert type(model) is rnnsearch.RNNsearchForConditionalGeneration
    expected = tiny_model.state_dict()
    assert all(torch.equal(weight, expected[name]) for name, weight in model.state_dict().items())
    assert type(AutoModelForSeq2SeqLM.from_config(AutoConfig.for_model("rnnsearch", hidden_size=4))) is type(model)


TRANSLATE = """
import json, sys
{imports}
folder = sys.argv[1]
tokenizer = AutoTokenizer.from_pretrained(folder)
model = AutoModelForSeq2SeqLM.from_pretrained(folder)
inputs = tokenizer(["The red house is small.", "A dog"], padding=True, return_tensors="pt")
classes = [type(tokenizer).__module__, type(model).__module__, type(AutoModel.from_pretrained(folder)).__module__,
           type(AutoConfig.from_pretrained(folder)).__module__]
print(json.dumps([classes, model.generate(**inputs, num_beams=2, max_new_tokens=5).tolist()]))
"""
CLASSES = "from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer"


@pytest.mark.parametrize(
    "imports",
    [
        f"import rnnsearch\n{CLASSES}",
        f"{CLASSES}\nimport rnnsearch",
        f"import rnnsearch\nrnnsearch.RNNsearchModel\n{CLASSES}",
        f"import rnnsearch\nfrom transformers import T5Model\n{CLASSES}",
        f"from transformers import T5Model\nimport rnnsearch\n{CLASSES}",
        f"import rnnsearch, transformers.modeling_layers\n{CLASSES}",
    ],
    ids=[
        "before Transformers",
        "after Transformers",
        "our model first",
        "before another model",
        "after another model",
        "before the layers",
    ],
)
def test_order_of_imports_does_not_matter(tiny_model, tiny_tokenizer, tiny_model_dir, imports):
    classes, ids = json.loads(python(TRANSLATE.format(imports=imports), str(tiny_model_dir)))
    assert classes == [
        "rnnsearch.tokenizer.tokenization_rnnsearch",
        "rnnsearch.modeling.modeling_rnnsearch",
        "rnnsearch.modeling.modeling_rnnsearch",
        "rnnsearch.modeling.configuration_rnnsearch",
    ]
    inputs = tiny_tokenizer(["The red house is small.", "A dog"], padding=True, return_tensors="pt")
    assert ids == tiny_model.generate(**inputs, num_beams=2, max_new_tokens=5).tolist()


@pytest.mark.parametrize(
    "imports",
    [
        "from transformers.pipelines import pipeline\nfrom rnnsearch import TranslationPipeline",
        "from rnnsearch import TranslationPipeline\nfrom transformers import pipeline",
    ],
    ids=["after Transformers", "before Transformers"],
)
def test_translation_is_a_task(tiny_model_dir, imports):
    make = "import sys; p = pipeline('translation_en_to_fr', model=sys.argv[1]); print(type(p) is TranslationPipeline)"
    assert python(f"{imports}\n{make}", str(tiny_model_dir)) == "True"


def test_import_is_light():
    """Neither PyTorch nor Transformers nor NumPy, and the version is there."""
    heavy = "{'torch', 'transformers', 'numpy'}"
    found = python(f"import sys, rnnsearch; print(rnnsearch.__version__, *({heavy} & set(sys.modules)))")
    assert found == rnnsearch.__version__


def test_import_adds_nothing_to_that_of_transformers():
    code = "import sys, transformers; known = {*sys.modules}; import rnnsearch; print(*{*sys.modules} - known)"
    added = {name.split(".")[0] for name in python(code).split()}
    assert added - sys.stdlib_module_names == {"rnnsearch"}


def test_configuration_is_read_without_the_model():
    code = "import sys; from rnnsearch import RNNsearchConfig; print(*sys.modules)"
    modules = python(code).split()
    assert "rnnsearch.modeling.configuration_rnnsearch" in modules
    assert "rnnsearch.modeling.modeling_rnnsearch" not in modules


def test_every_exported_name_exists():
    assert set(rnnsearch.__all__) <= set(dir(rnnsearch))
    for name in rnnsearch.__all__:
        assert getattr(rnnsearch, name) is getattr(rnnsearch, name)
    with pytest.raises(AttributeError, match="RNNserach"):
        rnnsearch.RNNserach  # noqa: B018


def test_registering_twice_does_no_harm():
    from rnnsearch._registration import register_when_imported

    finders = list(sys.meta_path)
    register_when_imported()
    sys.meta_path[:] = finders
    assert AutoConfig.for_model("rnnsearch").model_type == "rnnsearch"


@pytest.mark.parametrize("folder", ["modeling", "tokenizer"])
def test_second_copy_of_a_folder_is_refused(folder):
    """At the root of the repository `import modeling` would make other classes of the same names."""
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\ntry: import {folder}\nexcept ImportError as e: print(e)"
    assert f"import `rnnsearch.{folder}` instead" in python(code)


def test_evaluator_takes_folder_model_and_pipeline(tiny_model_dir):
    pipe = pipeline("translation", model=str(tiny_model_dir), device="cpu")
    with_languages = pipeline("translation_en_to_fr", model=str(tiny_model_dir), device="cpu")
    sources = ["The red house is small.", "A dog sees the old bridge.", "We do not sleep."]
    written = [record["translation_text"] for record in pipe(sources)]
    assert len(set(written)) == 3 and all(len(text.split()) >= 4 for text in written)
    data = Dataset.from_dict({"en": sources, "fr": [*written[:2], "Autre chose."]})
    metric = evaluate.load(BLEU_BY_LENGTH, "fr")
    expected = metric.compute(predictions=written, references=data["fr"])["bleu"]
    assert 0 < expected < 100
    evaluator = evaluate.evaluator("translation")
    for given in (
        {"model_or_pipeline": str(tiny_model_dir)},
        {"model_or_pipeline": pipe.model, "tokenizer": pipe.tokenizer},
        {"model_or_pipeline": pipe},
        {"model_or_pipeline": with_languages},
    ):
        found = evaluator.compute(**given, data=data, metric=metric, input_column="en", label_column="fr", device=-1)
        assert (found["bleu"], found["sentences"]) == (expected, 3), given


def test_no_class_of_tensorflow_is_promised():
    assert not hasattr(transformers, "TFPreTrainedModel")
