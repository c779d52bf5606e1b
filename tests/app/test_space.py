"""examples/space as the Hub would take and start it."""

import json
from pathlib import Path
from urllib.request import urlopen

from huggingface_hub import RepoCard
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SPACE = ROOT / "examples" / "space"
# What `python app.py` does, after the code that watches.
START = "import runpy\nrunpy.run_path(sys.argv[1], run_name='__main__')"


def test_the_card_configures_the_space():
    settings = RepoCard.load(SPACE / "README.md").data.to_dict()
    assert settings["sdk"] == "gradio"
    assert f"gradio=={settings['sdk_version']}" in (ROOT / "constraints.txt").read_text().splitlines()
    assert settings["python_version"] == "3.11"  # the Hub's own choice is older than this package allows
    assert (SPACE / settings["app_file"]).is_file()
    assert len(settings["short_description"]) <= 60


def test_its_requirements_bring_the_app():
    lines = (SPACE / "requirements.txt").read_text().splitlines()
    [requirement] = [Requirement(line) for line in lines if not line.startswith("--")]
    assert (requirement.name, requirement.extras) == ("rnnsearch", {"app"})


def test_it_starts_with_the_model_of_its_variable(started, model_folder):
    with started(START, str(SPACE / "app.py"), MODEL=str(model_folder)) as (address, _):
        parts = json.load(urlopen(f"{address}config"))["components"]
    [model] = [one["props"]["value"] for one in parts if one["props"].get("label") == "Model"]
    assert model == str(model_folder)
