"""A fleet's measurements as a matrix: who reaches whom with how many Mbit/s, for each suite.

A directory of result files whose names are FROM--TO.json, as the Ansible playbook gathers them; FROM--TO.failed says in
its first line why there is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gateway.errors import UnusableError
from gateway.report.model import Cell, Report, Section, Table

Pair = tuple[str, str]


def build(directory: Path) -> Report:
    """UnusableError when there is no result."""
    if not directory.is_dir():
        raise UnusableError(f"{directory} is not a directory", "the playbook's results directory")
    documents, failures = _read(directory)
    if not documents and not failures:
        raise UnusableError(f"no FROM--TO.json in {directory}", "config/ansible/measure.yml gathers them there")
    hosts = sorted({host for pair in (*documents, *failures) for host in pair})
    suites = dict.fromkeys(row["suite"] for document in documents.values() for row in _rows(document))
    tables = [_matrix(suite, hosts, documents, failures) for suite in suites]
    slowest = _slowest(documents)
    lines = [f"{len(documents)} pairs measured" + (f", {len(failures)} failed" if failures else "") + "."]
    if slowest is not None:
        (source, target), row = slowest
        speed = f"{row['mbit_per_s']['median']:.0f} Mbit/s with {row['suite']}"
        lines.append(f"The slowest: {source} to {target}, {speed}.")
    if invalid := [f"{a} to {b}" for (a, b), document in documents.items() if not _valid(document)]:
        lines.append(f"INVALID, packets did not add up: {', '.join(invalid)}.")
    lines += [f"{a} to {b}: {why}" for (a, b), why in failures.items()]
    return Report(
        f"gwbench: {len(hosts)} gateways",
        tuple(lines),
        not failures and not invalid,
        (Section("Mbit/s, from the row's gateway to the column's", tables=tuple(tables)),),
        None,
        tuple(documents.values()),
    )


def _read(directory: Path) -> tuple[dict[Pair, dict[str, Any]], dict[Pair, str]]:
    documents: dict[Pair, dict[str, Any]] = {}
    failures: dict[Pair, str] = {}
    for path in sorted(directory.iterdir()):
        source, dashes, target = path.stem.partition("--")
        if not dashes:
            continue
        if path.suffix == ".failed":
            words = path.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            failures[source, target] = words[0] if words else "failed"
        elif path.suffix == ".json":
            try:
                document = json.loads(path.read_text(encoding="utf-8"))
                if document["schema"] != "gwbench/1":
                    raise ValueError(f"schema {document['schema']}")
                _rows(document)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise UnusableError(f"{path}: not a whole result: {error}") from None
            documents[source, target] = document
    for pair in documents:
        failures.pop(pair, None)
    return documents, failures


def _rows(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """With a suite that encrypts, and a speed."""
    return [
        row
        for row in document["results"]
        if row["suite"] and row["role"] not in ("plain", "null") and row["mbit_per_s"] is not None
    ]


def _best(document: Mapping[str, Any], suite: str) -> dict[str, Any] | None:
    rows = [row for row in _rows(document) if row["suite"] == suite]
    return max(rows, key=lambda row: float(row["mbit_per_s"]["median"]), default=None)


def _valid(document: Mapping[str, Any]) -> bool:
    return all(row["valid"] for row in _rows(document))


def _matrix(suite: str, hosts: list[str], documents: dict[Pair, dict[str, Any]], failures: dict[Pair, str]) -> Table:
    def cell(source: str, target: str) -> Cell:
        if (source, target) in failures:
            return "failed"
        document = documents.get((source, target))
        row = _best(document, suite) if document else None
        if row is None:
            return None
        return float(row["mbit_per_s"]["median"]) if row["valid"] else "INVALID"

    body = tuple((source, *(cell(source, target) for target in hosts)) for source in hosts)
    return Table(suite, ("from \\ to", *hosts), body)


def _slowest(documents: dict[Pair, dict[str, Any]]) -> tuple[Pair, dict[str, Any]] | None:
    rows = [
        (pair, row)
        for pair, document in documents.items()
        for suite in {row["suite"] for row in _rows(document)}
        if (row := _best(document, suite)) is not None and row["valid"]
    ]
    return min(rows, key=lambda found: float(found[1]["mbit_per_s"]["median"]), default=None)
