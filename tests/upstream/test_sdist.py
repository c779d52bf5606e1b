"""How Transformers' own tests get here, with a download that is none."""

import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from . import sdist
from .sdist import Unavailable, own_tests

RELEASE = {
    "PKG-INFO": b"Version: 7.8.9\n",
    "src/transformers/__init__.py": b"",
    "tests/__init__.py": b"",
    "tests/test_modeling_common.py": b"class ModelTesterMixin: pass\n",
}


def write_archive(folder: Path, files: dict[str, bytes], inside: str = "transformers-7.8.9") -> None:
    with tarfile.open(folder / "transformers-7.8.9.tar.gz", "w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(f"{inside}/{name}")
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


def test_the_archive_is_downloaded_once_and_its_tests_are_kept(tmp_path):
    asked = []

    def download(version: str, folder: Path) -> None:
        asked.append(version)
        write_archive(folder, RELEASE)

    cache = tmp_path / "new" / "cache"
    for _ in range(2):
        tests = own_tests("7.8.9", cache, download)
        assert tests == cache / "transformers-7.8.9" / "tests"
        assert (tests / "test_modeling_common.py").read_bytes() == RELEASE["tests/test_modeling_common.py"]
    assert asked == ["7.8.9"]
    assert [path.name for path in cache.iterdir()] == ["transformers-7.8.9"]
    assert [path.name for path in tests.parent.iterdir()] == ["tests"]


@pytest.mark.parametrize(
    ("files", "inside"),
    [
        (RELEASE, "transformers-7.8.8"),
        ({"PKG-INFO": RELEASE["PKG-INFO"]}, "transformers-7.8.9"),
    ],
    ids=["another release", "no tests"],
)
def test_what_is_not_the_release_is_refused_and_not_kept(tmp_path, files, inside):
    with pytest.raises(Unavailable, match=r"transformers-7\.8\.9\.tar\.gz holds no tests of transformers 7\.8\.9"):
        own_tests("7.8.9", tmp_path, lambda version, folder: write_archive(folder, files, inside))
    assert list(tmp_path.iterdir()) == []


def test_two_processes_may_download_at_once(tmp_path):
    def download(version: str, folder: Path) -> None:
        write_archive(folder, RELEASE)
        own_tests(version, tmp_path, lambda version, folder: write_archive(folder, RELEASE))

    assert (own_tests("7.8.9", tmp_path, download) / "test_modeling_common.py").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["transformers-7.8.9"]


def test_one_sentence_says_what_is_missing_and_how_to_give_it(tmp_path, monkeypatch):
    def pip(command, **_):
        assert command[:4] == [sys.executable, "-m", "pip", "download"] and command[-1] == "transformers==7.8.9"
        raise subprocess.CalledProcessError(1, command, stderr="WARNING: retry\nERROR: No network\n")

    monkeypatch.setattr(sdist.subprocess, "run", pip)
    with pytest.raises(Unavailable) as caught:
        own_tests("7.8.9", tmp_path)
    assert str(caught.value) == (
        "Transformers' own tests need the source archive of transformers 7.8.9, which pip cannot download "
        "(ERROR: No network): run once with a network, or let RNNSEARCH_TEST_CACHE name a folder that has "
        "transformers-7.8.9/tests."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match=r"cannot be kept in .*file/cache: let RNNSEARCH_TEST_CACHE name a folder"):
        own_tests("7.8.9", tmp_path / "file" / "cache")


def test_the_cache_can_be_moved(tmp_path, monkeypatch):
    monkeypatch.setenv("RNNSEARCH_TEST_CACHE", str(tmp_path))
    assert sdist.cache_folder() == tmp_path
    monkeypatch.delenv("RNNSEARCH_TEST_CACHE")
    assert sdist.cache_folder().name == "rnnsearch-tests"
