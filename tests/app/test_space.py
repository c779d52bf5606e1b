"""examples/space as the Hub reads it; test_page.py starts it."""

from pathlib import Path

from huggingface_hub import RepoCard
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
SPACE = ROOT / "examples" / "space"


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
