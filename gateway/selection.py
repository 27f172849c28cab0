"""Which of several constant-time implementations this machine is fastest with: measured once a CPU model, then cached.

``GWBENCH_SELECT`` says how: ``cached`` (the default) measures when no earlier measurement fits, ``measure`` always,
``static`` never, so that priorities decide, the same everywhere. A wish (``--impl``) stands above all of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dataplane
from gateway.environment import cpu_model
from gateway.errors import UnusableError

SCHEMA = "gwbench-selection/1"
HOW = ("cached", "measure", "static")
ALG_MS = 2.0
"""Milliseconds of measurement for an algorithm that has a choice."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What is in force in this process now."""

    source: str
    """``static``, ``measured`` or ``cache``."""
    preferred: dict[str, str]
    """Algorithm -> driver; empty when priorities decide."""


def identity(cpuinfo: str) -> dict[str, Any]:
    """What a measurement is valid for: the CPU, what of it may be used, and this version of the code."""
    return {
        "cpu_model": cpu_model(cpuinfo),
        "cpu_features": list(dataplane.cpu_features()),
        "version": dataplane.version(),
        "drivers": sorted(i.driver for i in _candidates()),
    }


def cache_file(of: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> Path:
    """Under XDG_CACHE_HOME (or ~/.cache), named by the identity."""
    home = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME") or "/nonexistent", ".cache")
    name = hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:16]
    return Path(home) / "gwbench" / f"selection-{name}.json"


def select(environ: Mapping[str, str] = os.environ, proc: Path = Path("/proc")) -> Selection:
    """Prefers the fastest implementations in this process; UnusableError for an unknown ``GWBENCH_SELECT``.

    Takes milliseconds when it measures. A cache that cannot be written is no error: the next process measures again.
    """
    how = environ.get("GWBENCH_SELECT") or "cached"
    if how not in HOW:
        raise UnusableError(f"GWBENCH_SELECT is '{how}'; there is: {', '.join(HOW)}")
    dataplane.reset_selection()
    if how == "static":
        return Selection("static", {})
    of = identity(_cpuinfo(proc))
    path = cache_file(of, environ)
    if how == "cached" and (cached := _read(path, of)) is not None and _prefer(cached):
        return Selection("cache", cached)
    dataplane.reset_selection()
    dataplane.measure_selection(ALG_MS)
    measured = {alg: driver for alg in sorted({i.alg for i in _candidates()}) if (driver := dataplane.preferred(alg))}
    _write(path, {"schema": SCHEMA, "of": of, "preferred": measured})
    return Selection("measured", measured)


def _candidates() -> list[dataplane.Impl]:
    """Ours, as far as their answers are right: a choice made without one that failed must not outlive the failure.
    Providers are never chosen unless named."""
    ours = [i for i in dataplane.implementations() if i.driver.endswith("/gwbench") and i.constant_time]
    return [i for i in ours if i.runnable and i.checked == "passed"]


def _cpuinfo(proc: Path) -> str:
    try:
        return (proc / "cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _prefer(drivers: Mapping[str, str]) -> bool:
    """False when one of them cannot be selected any more, its known answers failing for example."""
    try:
        for alg, driver in drivers.items():
            if dataplane.find_impl(driver).alg != alg:
                return False
            dataplane.prefer(driver)
    except dataplane.DataplaneError:
        return False
    return True


def _read(path: Path, of: Mapping[str, Any]) -> dict[str, str] | None:
    """The cached choice, if the file is whole and was written for this identity."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA or document.get("of") != of:
        return None
    preferred = document.get("preferred")
    if not isinstance(preferred, dict) or not all(isinstance(v, str) for v in preferred.values()):
        return None
    return preferred


def _write(path: Path, document: Mapping[str, Any]) -> None:
    """Whole or not at all: two gateways start at the same time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
        os.replace(temporary, path)
    except OSError:
        return
