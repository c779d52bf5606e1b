"""To the Hub from one process and from it in another, with the package and without."""

import json
import re
import subprocess
import sys

import pytest

from rnnsearch import TranslationPipeline
from rnnsearch.data.grammar import corpus

pytestmark = pytest.mark.slow  # two fresh processes that import Transformers

TEXTS = ["The red house is small.", "A dog sees the old bridge.", "We do not sleep."]
SEARCHES = {
    "greedy": {"num_beams": 1},
    "beams": {"num_beams": 4},
    "both beams": {"num_beams": 2, "num_return_sequences": 2},
}
FIRST = {"num_beams": 1, "max_new_tokens": 6}

PUSH = """
import json, sys
import rnnsearch
from rnnsearch.cli import app
from transformers import AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer, pipeline
from typer.testing import CliRunner

folder, text, texts, first = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), json.loads(sys.argv[4])
model, tokenizer = AutoModelForSeq2SeqLM.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
made = pipeline("translation", model=model, tokenizer=tokenizer)
model.push_to_hub("parts")
sha = tokenizer.push_to_hub("parts").oid
made.push_to_hub("whole")
for words in (
    ["push", "--model", folder, "--repo", "pushed", "--example", texts[0]],
    ["train", "--train", f"{text}/train.en", f"{text}/train.fr", "--output_dir", f"{text}/trained", "--use_cpu",
     "--embedding_size", "8", "--hidden_size", "8", "--alignment_size", "8", "--maxout_size", "8", "--max_steps", "2",
     "--push_to_hub", "--hub_model_id", "somebody/trained", "--tokenizer_kind", "word", "--disable_tqdm", "1"],
):
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, (result.output, result.exception)
# Published weights that differ from the first ones, for `revision`
model.lm_head.bias.data += 5 - 10 * (model.lm_head.bias.data.new_tensor(range(len(model.lm_head.bias))) % 2)
model.push_to_hub("parts")

report = {"sha": sha}
assert type(AutoModelForSeq2SeqLM.from_pretrained("somebody/whole")) is rnnsearch.RNNsearchForConditionalGeneration
assert type(AutoModel.from_pretrained("somebody/whole")) is rnnsearch.RNNsearchModel
assert type(AutoTokenizer.from_pretrained("somebody/whole")) is rnnsearch.RNNsearchTokenizer
for name in ("parts", "whole", "pushed", "trained"):
    translate = pipeline("translation_en_to_fr", model=f"somebody/{name}")
    report[name] = [each["translation_token_ids"].tolist() for each in translate(texts, return_tensors=True, **first)]
print(json.dumps(report))
"""

LOAD = """
import json, sys

class NoPackage:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "rnnsearch":
            raise ImportError(name)

sys.meta_path.insert(0, NoPackage())
from transformers import AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer, pipeline

texts, searches, sha, snippet = *map(json.loads, sys.argv[1:3]), *sys.argv[3:]
report = {}
for name in ("parts", "whole", "pushed", "trained"):
    translate = pipeline("translation", model=f"somebody/{name}", trust_remote_code=True)
    report[name] = {search: translate(texts, return_tensors=True, **choice) for search, choice in searches.items()}
for auto in (AutoConfig, AutoModel, AutoModelForSeq2SeqLM, AutoTokenizer):
    found = auto.from_pretrained("somebody/whole", trust_remote_code=True)
    assert type(found).__module__.startswith("transformers_modules."), type(found)
first = pipeline("translation", model="somebody/parts", revision=sha, trust_remote_code=True)
report["revision"] = {search: first(texts, return_tensors=True, **choice) for search, choice in searches.items()}
assert not any(name.split(".")[0] == "rnnsearch" for name in sys.modules)
print(json.dumps(report, default=lambda ids: ids.tolist()))
exec(snippet)
"""


@pytest.fixture(scope="module")
def run(hub, tmp_path_factory):
    work = tmp_path_factory.mktemp("travel")

    def go(code: str, home: str, *arguments: object) -> list[str]:
        words = [one if isinstance(one, str) else json.dumps(one) for one in arguments]
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True, text=True, env=hub.environment(work / home), cwd=work, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return go


@pytest.fixture(scope="module")
def pushed(run, tiny_model_dir, tmp_path_factory) -> dict:
    """What the process that pushed saw of what it had pushed."""
    text = tmp_path_factory.mktemp("text")
    pairs = corpus(12, (3, 6), 1)
    (text / "train.en").write_text("".join(f"{pair.source}\n" for pair in pairs), encoding="utf-8")
    (text / "train.fr").write_text("".join(f"{pair.target}\n" for pair in pairs), encoding="utf-8")
    return json.loads(run(PUSH, "home", str(tiny_model_dir), str(text), TEXTS, FIRST)[-1])


@pytest.fixture(scope="module")
def snippet(hub, pushed) -> str:
    """The first block of Python in the card of `somebody/pushed`."""
    card = hub.get("somebody/pushed/resolve/main/README.md").decode()
    return re.search(r"^```python\n(.*?)^```$", card, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture(scope="module")
def abroad(run, pushed, snippet) -> tuple[dict, str]:
    """What a process without the package makes of the same, and what the card's snippet prints there."""
    report, printed = run(LOAD, "abroad", TEXTS, SEARCHES, pushed["sha"], snippet)[-2:]
    return json.loads(report), printed


@pytest.fixture(scope="module")
def expected(tiny_model, tiny_tokenizer):
    translate = TranslationPipeline(model=tiny_model, tokenizer=tiny_tokenizer, device="cpu")

    def ids(**choices) -> list:
        found = translate(TEXTS, return_tensors=True, **choices)
        return json.loads(json.dumps(found, default=lambda ids: ids.tolist()))

    return ids


def test_all_that_is_needed_is_there(hub, pushed, tiny_model_dir):
    needed = {path.name for path in tiny_model_dir.iterdir()}
    for name in ("parts", "whole", "pushed", "trained"):
        assert needed <= hub.files(f"somebody/{name}"), name


def test_with_the_package_by_name(pushed, expected):
    first = [record["translation_token_ids"] for record in expected(**FIRST)]
    assert pushed["whole"] == pushed["pushed"] == first
    assert pushed["parts"] != first, "these weights have been changed"


@pytest.mark.parametrize("search", SEARCHES)
def test_without_the_package_token_for_token(abroad, expected, search):
    report, _ = abroad
    ids = expected(**SEARCHES[search])
    assert len({json.dumps(one) for one in ids}) == 3, "the test needs three different translations"
    assert report["whole"][search] == report["pushed"][search] == ids


def test_an_earlier_revision(abroad, expected):
    report, _ = abroad
    assert report["revision"]["beams"] == expected(**SEARCHES["beams"]) != report["parts"]["beams"]


def test_the_snippet_prints_what_the_card_says(abroad, snippet):
    _, printed = abroad
    assert snippet.splitlines()[-1] == f"# {printed}" != "# "


def test_the_card_of_a_training(hub, pushed):
    card = hub.get("somebody/trained/resolve/main/README.md").decode()
    for line in ("# somebody/trained", "- Text: train.en, train.fr", "- Pairs: 12", "pipeline_tag: translation"):
        assert f"\n{line}\n" in card
    assert "- Length: 2 updates," in card and '"hidden_size": 8' in card
    assert "hub_model_id" not in card and "output_dir" not in card
