"""The last saved measurements: the newest end-to-end result, and the newest of ``gwbench crypto --json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gateway.metrics.exposition import Families

NEAREST_BYTES = 1408
_LOOK_AT_MOST = 200
"""Files, newest first: a directory of thousands must not slow a scrape down."""


class Results:
    """The collector. Without a directory there is nothing to tell, and no series."""

    name = "results"

    def __init__(self, directory: Path, named: bool = True) -> None:
        """``named``: somebody asked for this directory. The default one may lie where a service user has no way to."""
        self._directory, self._named = directory, named
        self._seen: tuple[tuple[str, float], ...] = ()
        self._newest: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def collect(self, families: Families) -> None:
        """OSError when the directory cannot be read."""
        try:
            if not self._directory.is_dir():
                return
        except PermissionError:
            if self._named:
                raise
            return
        self._look()
        if (found := self._newest.get("gwbench/1")) is not None:
            _end_to_end(families, *found)
        if (found := self._newest.get("gwbench-crypto/1")) is not None:
            _crypto(families, *found)

    def _look(self) -> None:
        """Reads files again only when something in the directory changed."""
        files = sorted(
            ((path.name, path.stat().st_mtime) for path in self._directory.glob("*.json")),
            key=lambda f: f[1],
            reverse=True,
        )[:_LOOK_AT_MOST]
        if tuple(files) == self._seen:
            return
        self._newest = {}
        for name, modified_s in files:
            try:
                content = json.loads((self._directory / name).read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue  # being written, or not ours
            # A result that names its test is another measurement of the same schema.
            if isinstance(content, dict) and isinstance(content.get("schema"), str) and "test" not in content:
                self._newest.setdefault(content["schema"], (modified_s, content))
            if len(self._newest) >= 2:
                break
        self._seen = tuple(files)


def _end_to_end(families: Families, modified_s: float, result: Mapping[str, Any]) -> None:
    for row in result.get("results", ()):
        labels = (row.get("suite") or "", row.get("implementation") or "", row.get("role") or "")
        direction = row.get("direction") or ""
        if row.get("mbit_per_s"):  # not measured: absent
            families.add("gwbench_result_bytes_per_second", (*labels, direction), row["mbit_per_s"]["median"] * 1e6 / 8)
            families.add("gwbench_result_valid", (*labels, direction), int(bool(row.get("valid"))))
        if direction != "reverse" or len({r.get("direction") for r in result["results"]}) == 1:
            for gateway, cost in (row.get("gateways") or {}).items():
                if cost.get("cpu_s_per_gb"):
                    families.add(
                        "gwbench_result_cpu_seconds_per_byte", (*labels, gateway), cost["cpu_s_per_gb"]["median"] / 1e9
                    )
    families.add("gwbench_result_timestamp_seconds", (), round(modified_s, 3))
    version = _version(result)
    if version:
        families.add("gwbench_result_version_info", (version,), 1)


def _version(result: Mapping[str, Any]) -> str:
    return str(((result.get("environment") or {}).get("machine") or {}).get("gwbench") or "")


def _crypto(families: Families, modified_s: float, result: Mapping[str, Any]) -> None:
    algorithms = set()
    for (algorithm, driver, operation), cycles in sorted(_nearest(result)):
        families.add("gwbench_implementation_cycles_per_byte", (algorithm, driver, operation), cycles)
        algorithms.add(algorithm)
    for algorithm in sorted(algorithms):
        families.add("gwbench_implementation_timestamp_seconds", (algorithm,), round(modified_s, 3))


def _nearest(result: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str, str], float]]:
    best: dict[tuple[str, str, str], tuple[int, int, float]] = {}
    for row in result.get("rows", ()):
        if not row.get("cycles_per_byte"):
            continue
        key = (row["algorithm"], row["implementation"], row["op"])
        this = (abs(row["bytes"] - NEAREST_BYTES), -(row.get("key_bits") or 0), row["cycles_per_byte"]["median"])
        if key not in best or this < best[key]:
            best[key] = this
    for key, (_, _, cycles) in best.items():
        yield key, cycles
