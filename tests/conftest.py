"""A tiny tokenizer and a tiny model with random weights, made in memory once for all tests; a Hub, and a browser."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import huggingface_hub.constants
import pytest
import torch

from rnnsearch import RNNsearchConfig, RNNsearchForConditionalGeneration, RNNsearchTokenizer

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

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
def make_config() -> Callable[..., RNNsearchConfig]:
    """The configuration of a small model for a tokenizer, no two sizes alike."""

    def make(tokenizer: RNNsearchTokenizer, **options) -> RNNsearchConfig:
        vocabularies = {"src_vocab_size": tokenizer.src_vocab_size, "vocab_size": tokenizer.target_vocab_size}
        sizes = {"embedding_size": 7, "hidden_size": 10, "alignment_size": 6, "maxout_size": 5}
        return RNNsearchConfig(**vocabularies, **(sizes | options))

    return make


@pytest.fixture(scope="session")
def tiny_model(tiny_tokenizer, make_config) -> RNNsearchForConditionalGeneration:
    """A model for `tiny_tokenizer` with random weights, in evaluation mode. Copy it before changing it."""
    torch.manual_seed(0)
    return RNNsearchForConditionalGeneration(make_config(tiny_tokenizer)).eval()


@pytest.fixture(scope="session")
def with_large_weights() -> Callable[..., RNNsearchForConditionalGeneration]:
    """Gives a model weights so large that no two words are nearly as likely, and gives it back."""

    def change(model: RNNsearchForConditionalGeneration) -> RNNsearchForConditionalGeneration:
        generator = torch.Generator().manual_seed(11)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.7, generator=generator)
        return model

    return change


@pytest.fixture(scope="session")
def some_lines(tiny_tokenizer) -> Callable[[int, int], list[str]]:
    """Lines of 1 to 20 known words, in no order of length, two of them blank; by their number and a seed."""

    def make(count: int, seed: int) -> list[str]:
        generator = random.Random(seed)
        words = tiny_tokenizer.source_tokens(range(4, tiny_tokenizer.src_vocab_size))
        lines = [" ".join(generator.choices(words, k=generator.randint(1, 20))) for _ in range(count)]
        lines[4], lines[17] = "", " \t "
        return lines

    return make


@pytest.fixture(scope="session")
def tiny_model_dir(tiny_model, tiny_tokenizer, tmp_path_factory) -> Path:
    """Folder with `tiny_model` and `tiny_tokenizer` as `save_pretrained` writes them."""
    folder = tmp_path_factory.mktemp("tiny_model")
    tiny_model.save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    return folder


@dataclass(frozen=True)
class FakeHub:
    """What tests see of the server in fake_hub.py."""

    url: str

    def environment(self, home: Path) -> dict[str, str]:
        """For a fresh process, which keeps what it downloads in `home`."""
        here = {"HF_ENDPOINT": self.url, "HF_TOKEN": "hf_test", "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1"}
        return os.environ | here | {"HF_HOME": str(home), "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}

    def get(self, path: str) -> bytes:
        with urlopen(f"{self.url}/{path}") as answer:
            return answer.read()

    def tell(self, wish: str) -> None:
        """`cut` the next upload of weights in the middle, or `mend` what was cut."""
        urlopen(Request(f"{self.url}/fake/{wish}", method="POST")).close()

    def info(self, name: str) -> dict:
        return json.loads(self.get(f"api/models/{name}"))

    def files(self, name: str) -> set[str]:
        return {file["rfilename"] for file in self.info(name)["siblings"]} - {".gitattributes"}


@pytest.fixture(scope="session")
def hub() -> Iterator[FakeHub]:
    command = [sys.executable, str(Path(__file__).with_name("fake_hub.py"))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield FakeHub(server.stdout.readline().strip())
        server.terminate()


@pytest.fixture
def on_hub(hub, monkeypatch, tmp_path) -> FakeHub:
    """Lets huggingface_hub in this process speak to the fake Hub."""
    addresses = huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(
        huggingface_hub.constants.ENDPOINT, hub.url
    )
    monkeypatch.setattr(huggingface_hub.constants, "HUGGINGFACE_CO_URL_TEMPLATE", addresses)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setenv("HF_TOKEN", "hf_test")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return hub


@pytest.fixture(scope="session")
def two_processes() -> Callable[..., tuple[str, str]]:
    """What a script with its words prints to standard output and error when `torchrun` starts two of it, over gloo."""

    def run(*words: object) -> tuple[str, str]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        launcher = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", str(port)]
        command = [sys.executable, *launcher, *map(str, words)]
        environment = os.environ | {"HF_HUB_OFFLINE": "1"}
        result = subprocess.run(command, capture_output=True, text=True, timeout=180, env=environment)
        assert result.returncode == 0, result.stderr
        return result.stdout, result.stderr

    return run


@pytest.fixture(scope="session")
def browser(tmp_path_factory) -> Iterator["Chrome"]:
    """Chromium without a window; what a page logs is in `get_log("browser")`. No test may lead it to the network."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromedriver (Debian's packages chromium and chromium-driver)")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in (
        "headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "disable-quic", "no-first-run",
        "disable-background-networking", "disable-component-update", "disable-sync", "no-proxy-server",
        f"user-data-dir={tmp_path_factory.mktemp('browser')}", "window-size=1000,800",
    ):  # fmt: skip
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    with webdriver.Chrome(options, webdriver.ChromeService(driver)) as started:
        yield started
