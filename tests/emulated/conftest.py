"""The emulated tier: what runs on every machine of emulator.py. Nothing is skipped: a missing tool is a failure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

import emulator


@pytest.fixture(params=list(emulator.MACHINES))
def machine(request: pytest.FixtureRequest) -> emulator.Machine:
    found = emulator.MACHINES[request.param]
    missing = emulator.missing_tools([found])
    if missing:
        pytest.fail("needs " + ", ".join(missing), pytrace=False)
    return found
