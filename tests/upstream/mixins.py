"""The mixins of Transformers' own tests as a package, whose name their relative imports do not mind.

What the source archive lacks is given here: `tests/generation/test_utils.py` from a checkout of Transformers, if the
environment names one, and stand-ins for the rest.
"""

import importlib
import os
import re
import sys
import unittest
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest import mock

import pytest
import transformers

from rnnsearch.modeling.generation_rnnsearch import CACHE

from . import sdist

PACKAGE = "tests_of_transformers"
CHECKOUT = "RNNSEARCH_TRANSFORMERS_CHECKOUT"
# A value unlike its default for every field that configurations have in common.
COMMON_FIELDS = {
    "return_dict": False,
    "output_hidden_states": True,
    "output_attentions": True,
    "dtype": "float16",
    "architectures": ["Some"],
    "id2label": {0: "one"},
    "label2id": {"one": 0},
    "problem_type": "regression",
}


class Missing:
    """In the place of a mixin that the source archive has not."""


def load(name: str) -> ModuleType:
    """A module of Transformers' own tests. Where they cannot be had, the calling test file is skipped."""
    missing = _install()
    if missing:
        pytest.skip(missing, allow_module_level=True)
    # Made for the folders of a checkout; the installed package is meant.
    with mock.patch("transformers.utils.direct_transformers_import", lambda *_, **__: transformers):
        return importlib.import_module(f"{PACKAGE}.{name}")


def leave_out(reasons: dict[str, str]):
    """Skip these tests of a class; one that the class does not have is an error."""

    def decorate(case: type) -> type:
        for name, reason in reasons.items():
            setattr(case, name, unittest.skip(f"not applicable: {reason}")(getattr(case, name)))
        return case

    return decorate


@cache
def _install() -> str | None:
    """Make the package importable; what is missing, if it cannot be."""
    try:
        folder = sdist.own_tests(transformers.__version__, sdist.cache_folder())
    except sdist.Unavailable as unavailable:
        return str(unavailable)
    _module(PACKAGE).__path__ = [str(folder)]
    _stand_in("exporters.test_export", ExportTesterMixin=Missing, ExportGenerateTesterMixin=Missing)
    _stand_in("utils.test_configuration_utils", config_common_kwargs=COMMON_FIELDS)
    generation = _stand_in("generation.test_utils", GenerationTesterMixin=Missing)
    if CHECKOUT in os.environ:
        _run_source(Path(os.environ[CHECKOUT]) / "tests" / "generation" / "test_utils.py", generation)
    return None


def _module(name: str) -> ModuleType:
    return sys.modules.setdefault(name, ModuleType(name))


def _stand_in(name: str, **content: object) -> ModuleType:
    """A module in the package with this content, and the package around it."""
    folder, _, file = name.partition(".")
    parent, module = _module(f"{PACKAGE}.{folder}"), _module(f"{PACKAGE}.{name}")
    parent.__path__ = []
    setattr(parent, file, module)
    vars(module).update(content)
    return module


def _run_source(file: Path, module: ModuleType) -> None:
    """Run a file of a checkout as `module`; it may be older than the name that Transformers 5.24 gave to the cache."""
    source = file.read_text(encoding="utf-8").replace("from tests.", f"from {PACKAGE}.")
    source = re.sub(r"\bpast_key_values\b", CACHE, source)
    exec(compile(source, str(file), "exec"), vars(module))
