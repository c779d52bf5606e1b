"""Transformers' own tests: its wheels have none, so they come from the source archive of the same release."""

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path

import platformdirs

CACHE = "RNNSEARCH_TEST_CACHE"


class Unavailable(Exception):
    """The tests cannot be had; the message is one sentence on what is missing and how to give it."""


def cache_folder() -> Path:
    """Where what was downloaded is kept: the folder that the environment names, or one of the user's cache."""
    named = os.environ.get(CACHE)
    return Path(named) if named else platformdirs.user_cache_path("rnnsearch-tests")


def download(version: str, folder: Path) -> None:
    """Let pip put `transformers-{version}.tar.gz` into `folder`.

    Raises:
        Unavailable: pip has no such archive, or no network.
    """
    command = [
        sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--retries", "1",
        "--no-deps", "--no-binary", "transformers", "--no-build-isolation", "--dest", str(folder),
        f"transformers=={version}",
    ]  # fmt: skip
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=180)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        said = (error.stderr or "").splitlines() if isinstance(error, subprocess.CalledProcessError) else []
        reason = said[-1] if said else str(error)
        raise Unavailable(
            f"Transformers' own tests need the source archive of transformers {version}, which pip cannot download "
            f"({reason}): run once with a network, or let {CACHE} name a folder that has transformers-{version}/tests."
        ) from error


def unpack_tests(archive: Path, version: str, folder: Path) -> Path:
    """Unpack the tests of a source archive into `folder`; returns the folder of the release, which holds `tests`.

    Raises:
        Unavailable: it is not the archive of that release.
    """
    release = f"transformers-{version}"
    with tarfile.open(archive) as tar:
        wanted = [member for member in tar if member.name.startswith(f"{release}/tests/")]
        tar.extractall(folder, members=wanted, filter="data")
    if not (folder / release / "tests" / "test_modeling_common.py").is_file():
        raise Unavailable(f"{archive.name} holds no tests of transformers {version}.")
    return folder / release


def own_tests(version: str, cache: Path, download: Callable[[str, Path], None] = download) -> Path:
    """Folder with Transformers' own tests, downloaded at the first call and read from `cache` later.

    Raises:
        Unavailable: it is not in the cache and cannot be downloaded, or there can be no such cache.
    """
    kept = cache / f"transformers-{version}"
    if not kept.is_dir():
        try:
            cache.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"Transformers' tests cannot be kept in {cache}: let {CACHE} name a folder.") from error
        with tempfile.TemporaryDirectory(dir=cache) as name:
            work = Path(name)
            download(version, work)
            unpacked = unpack_tests(work / f"transformers-{version}.tar.gz", version, work / "unpacked")
            try:
                unpacked.rename(kept)
            except OSError:  # another process was faster
                if not kept.is_dir():
                    raise
    return kept / "tests"
