"""Batches fetch the SAs of later packets: what a compiler must not take for nothing."""

from __future__ import annotations

import platform
import subprocess

import pytest
from esp_internals import CSRC


@pytest.mark.skipif(platform.machine() != "x86_64", reason="counts x86's instruction")
@pytest.mark.parametrize("source", ["seal.c", "open.c", "sadb.c"])
@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_prefetches_survive_the_compiler(source: str, level: str) -> None:
    """gcc leaves out calls of a function that does nothing but prefetch: it has no effects."""
    text = subprocess.run(
        ["gcc", "-std=gnu11", level, "-S", "-o", "-", str(CSRC / "esp" / source)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    # The table's entry and the SA's three lines; the batches also fetch what an SA points to.
    assert text.count("\tprefetch") >= (4 if source == "sadb.c" else 8)
