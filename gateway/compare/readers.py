"""Reads what is compared: gwbench's results, the kernel's raw tcrypt log, cryptsetup benchmark's output.

A row that occurs several times in a text (runs appended to one file) has as many samples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from gateway.compare.series import Row, Series
from gateway.errors import UnusableError

_MOST_BYTES = 256 << 20


def read(path: Path) -> Series:
    """UnusableError says what is wrong with the file."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise UnusableError(f"{path} is larger than any result")
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UnusableError(f"cannot read {path}: {error.strerror}") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Series:
    """The kind is told from the content."""
    if text.lstrip().startswith("{"):
        try:
            document = json.loads(text)
        except ValueError as error:
            raise UnusableError(f"{name} is no whole JSON document: {error}") from None
        return of_document(document, name)
    for kind, reader in (("tcrypt", tcrypt), ("cryptsetup", cryptsetup)):
        if rows := reader(text):
            return Series(name, kind, tuple(rows))
    raise UnusableError(
        f"{name} is nothing that can be compared", "gwbench's JSON, a tcrypt log, or cryptsetup benchmark's output"
    )


def of_document(document: Mapping[str, Any], name: str) -> Series:
    """gwbench's own schemas."""
    schema = str(document.get("schema", ""))
    readers: dict[str, Callable[[Mapping[str, Any]], list[Row]]] = {
        "gwbench/1": iperf,
        "gwbench-crypto/1": crypto,
        "gwbench-cost/1": cost,
        "gwbench-af_alg/1": depths,
        "gwbench-engine/1": engine,
    }
    if schema not in readers:
        raise UnusableError(
            f"{name}: schema {schema or '(none)'} cannot be compared", f"there are: {', '.join(readers)}"
        )
    try:
        rows = {"ndr": ndr, "reorder": reorder}.get(str(document.get("test")), readers[schema])(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnusableError(f"{name}: {schema} is not whole: {type(error).__name__} {error}") from None
    if not rows:
        raise UnusableError(f"{name} has no results")
    return Series(name, schema, tuple(rows), document.get("environment") or {})


def _samples(summary: Mapping[str, Any] | None) -> tuple[float, ...]:
    return tuple(float(x) for x in (summary or {}).get("samples", ()))


def iperf(document: Mapping[str, Any]) -> list[Row]:
    """Throughput and CPU time per GB of every candidate. Implementations are no part of the key while a role names
    the row: what ran may be what changed."""
    found = []
    results = document["results"]
    roles = [_role(row) for row in results]
    for row, role in zip(results, roles, strict=True):
        ran = (row.get("implementation") or "").replace("/gwbench", "")
        key: tuple[str, ...] = (row["suite"] or "plain", role[1], role[2] if roles.count(role) == 1 else ran)
        if role[3] == "reverse":
            key = (*key, "reverse")
        for unit, quantity, more in (("Mbit/s", "mbit_per_s", True), ("CPU s/GB", "cpu_s_per_gb", False)):
            if samples := _samples(row.get(quantity)):
                found.append(Row((*key, unit), unit, samples, more, bool(row.get("valid", True)), ran))
    return found


def ndr(document: Mapping[str, Any]) -> list[Row]:
    """Non-drop and partial-drop rates by frame size and way; latencies at shares of PDR."""
    found = []
    for row in document["results"]:
        place = (row["suite"], f"{row['frame']} B" if row["frame"].isdigit() else row["frame"], row["direction"])
        ran, valid = row["implementation"].replace("/gwbench", ""), bool(row["valid"])
        for goal in ("ndr", "pdr"):
            # None where not even the lowest rate held: still a row, without a figure.
            samples = _samples(row[goal]["packets_per_s"])
            found.append(Row((*place, goal.upper()), "packets/s", samples, True, valid, ran))
        for one in row["latency"]:
            name = f"median latency at {one['share_of_pdr']:.0%} of PDR"
            found.append(
                Row((*place, one["way"], name), "us", (float(one["percentiles_us"]["50"]),), False, valid, ran)
            )
    return found


def reorder(document: Mapping[str, Any]) -> list[Row]:
    """Packets that replay windows dropped."""
    return [
        Row(
            (f"window {row['replay_window_packets']}", f"{row['held_for_packets']} packets late"),
            "packets dropped",
            (float(row["dropped"]),),
            False,
            bool(row["valid"]),
        )
        for row in document["results"]
    ]


def _role(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    role = row["role"] if row["role"] != "plain" else ""
    if row.get("dataplane") == "kernel" and role != "kernel":
        role += " kernel"
    return (row["suite"] or "", role, row.get("driver") or "", row["direction"])


def crypto(document: Mapping[str, Any]) -> list[Row]:
    """MB/s of each implementation, operation, key and size."""
    return [
        Row(
            (row["algorithm"], row["implementation"], row["op"], f"{row['key_bits']} bit", f"{row['bytes']} B"),
            "MB/s",
            _samples(row["mb_per_s"]) if isinstance(row["mb_per_s"], Mapping) else (float(row["mb_per_s"]),),
        )
        for row in document["rows"]
    ]


def cost(document: Mapping[str, Any]) -> list[Row]:
    """Cycles (or ns) a packet of each length, of gwbench esp."""
    return [
        Row(
            (row["suite"], row["op"], f"batch {row['batch']}", f"{point['bytes']} B"),
            str(document.get("unit", "")),
            (float(point["cost"]),),
            False,
            True,
            str(row["implementation"]),
        )
        for row in document["rows"]
        for point in row["points"]
    ]


def depths(document: Mapping[str, Any]) -> list[Row]:
    """gwbench crypto --depth."""
    return [
        Row((row["driver"], row["op"], f"{row['bytes']} B", f"depth {row['depth']}"), "MB/s", _samples(row["mb_per_s"]))
        for row in document["rows"]
    ]


def engine(document: Mapping[str, Any]) -> list[Row]:
    """gwbench engine."""
    return [
        Row(
            (row["suite"], row["strategy"], f"{row['bytes']} B"),
            "MB/s",
            _samples(row["mb_per_s"]),
        )
        for row in document["rows"]
    ]


# ---- texts ----

_TESTING = re.compile(
    r"testing speed of (?:async |multibuffer |sync )*(\S+?)(?: \((.+)\))?(?: (encryption|decryption))?$"
)
_CIPHER = re.compile(
    r"test +\d+ \((\d+) bit key, +(\d+) byte blocks\): +(\d+) operations? in (\d+) (seconds|cycles) \((\d+) bytes\)"
)
_HASH = re.compile(
    r"test *\d+ \( *(\d+) byte blocks, *(\d+) bytes per update, *\d+ updates\): +(?:(\d+) opers/sec, +(\d+) bytes/sec|"
    r"(\d+) cycles/operation)"
)


def tcrypt(text: str) -> list[Row]:
    """``modprobe tcrypt mode=... sec=...``'s lines in a kernel log, with or without time stamps."""
    found: dict[tuple[str, ...], list[float]] = {}
    units: dict[tuple[str, ...], str] = {}
    head: tuple[str, ...] = ("", "", "")
    for line in text.splitlines():
        if testing := _TESTING.search(line.rstrip()):
            head = (testing[1], testing[2] or "", testing[3] or "")
        elif cipher := _CIPHER.search(line):
            bits, size, operations, amount, what, _ = cipher.groups()
            key = (*head, f"{bits} bit", f"{size} B")
            _note(found, units, key, what, int(operations), int(amount), int(size))
        elif hashing := _HASH.search(line):
            blocks, update, operations, _, cycles = hashing.groups()
            key = (*head, "", f"{blocks} B", "" if update == blocks else f"{update} B an update")
            if cycles:
                _note(found, units, key, "cycles", 1, int(cycles), int(blocks))
            else:
                _note(found, units, key, "seconds", int(operations), 1, int(blocks))
    return _rows(found, units)


def _note(
    found: dict[tuple[str, ...], list[float]],
    units: dict[tuple[str, ...], str],
    key: tuple[str, ...],
    what: str,
    operations: int,
    amount: int,
    size: int,
) -> None:
    """One measurement. Cycles an operation, or MB/s of operations in seconds."""
    if operations and amount:
        cycles = what == "cycles"
        found.setdefault(key, []).append(amount / operations if cycles else operations * size / amount / 1e6)
        units[key] = "cycles" if cycles else "MB/s"


_SETUP = re.compile(r"^\s*([a-z0-9-]+)\s+(\d+)b?\s+(?:([\d.]+) MiB/s|N/A)\s+(?:([\d.]+) MiB/s|N/A)\s*$")
_PBKDF = re.compile(r"^\s*(PBKDF2-\S+)\s+(\d+) iterations per second for (\d+)-bit key")


def cryptsetup(text: str) -> list[Row]:
    """``cryptsetup benchmark``. What it could not measure (N/A) has no row."""
    found: dict[tuple[str, ...], list[float]] = {}
    units: dict[tuple[str, ...], str] = {}
    key: tuple[str, ...]
    for line in text.splitlines():
        if row := _SETUP.match(line):
            for word, value in (("encryption", row[3]), ("decryption", row[4])):
                if value and float(value) > 0:
                    key = (row[1], f"{row[2]}b", word)
                    found.setdefault(key, []).append(float(value))
                    units[key] = "MiB/s"
        elif kdf := _PBKDF.match(line):
            key = (kdf[1], f"{kdf[3]}b")
            found.setdefault(key, []).append(float(kdf[2]))
            units[key] = "iterations/s"
    return _rows(found, units)


def _rows(found: Mapping[tuple[str, ...], Iterable[float]], units: Mapping[tuple[str, ...], str]) -> list[Row]:
    return [Row(key, units[key], tuple(samples), units[key] != "cycles") for key, samples in found.items()]
