"""The C library listens where it is glibc; elsewhere nothing happens."""

import platform
import sys

import pytest

from rnnsearch.training.memory import keep_freed_memory


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="this machine has no glibc")
def test_glibc_listens():
    assert keep_freed_memory() is True


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert keep_freed_memory() is False
