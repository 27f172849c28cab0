"""Published tables, shipped in ``gateway/data``: every row in one form, so that ours can stand beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.errors import UnusableError

DATA = Path(__file__).resolve().parent.parent / "data"
NAMES = ("wdr4900", "beaglebone", "rpi3", "hikey960", "sm8650")
DEVICES = {"rpi3": "Raspberry Pi 3", "hikey960": "HiKey960"}
"""Tables of one file that two names share."""
TARGETS = {
    "wdr4900": ("e500v2", "e500v2"),
    "beaglebone": ("armv7", "cortex-a8"),
    "rpi3": ("aarch64-neon", "cortex-a53"),
    "hikey960": ("aarch64-ce", "cortex-a53"),
}
"""(target, core) of the instruction counts that stand for the machine."""
OPS = {"enc": "encrypt", "dec": "decrypt", "encryption": "encrypt", "decryption": "decrypt"}
ABSOLUTE_BYTES = 4096
"""Request size assumed where a table names none (dm-crypt's and tcrypt's largest)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One published figure: the speed of an implementation, of the one it was compared with, or only their ratio."""

    algorithm: str
    op: str
    """encrypt or decrypt."""
    key_bits: int
    """XTS counts both halves."""
    bytes: int
    label: str
    """What the table calls it."""
    family: str
    """Which of our implementations stands beside it: ``generic`` or ``accelerated`` (the best that is not)."""
    base_mb_per_s: float | None
    mb_per_s: float | None
    """10^6 bytes a second."""
    ratio: float | None


@dataclass(frozen=True, slots=True)
class Table:
    """A machine's figures."""

    name: str
    cpu: str
    year: int
    source: str
    summary: str
    rows: tuple[Row, ...]


def _read(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text(encoding="utf-8"))
    return content


def _wdr4900() -> Table:
    content = _read("wdr4900")

    def rows() -> Iterator[Row]:
        for row in content["tcrypt"]["rows"]:
            for name, ratio in row["speedup"].items():
                mode, direction = name.split("_")
                bits = row["key_bits"] * (2 if mode == "xts" else 1)
                yield Row(
                    f"{mode}(aes)", OPS[direction], bits, row["block_bytes"], name, "accelerated", None, None, ratio
                )

    summary = content["tcrypt"]["metric"]
    return Table("wdr4900", content["cpu"], content["year"], content["source"], summary, tuple(rows()))


def _beaglebone() -> Table:
    content = _read("beaglebone")

    def rows() -> Iterator[Row]:
        for before, after in zip(content["baseline"], content["accelerated"], strict=True):
            for b, a in zip(before["results"], after["results"], strict=True):
                base, fast = b["bytes_per_s"] / 1e6, a["bytes_per_s"] / 1e6
                yield Row(
                    after["algorithm"], OPS[after["direction"]], a["key_bits"], a["block_bytes"],
                    f"{after['driver']} over {before['driver']}", "accelerated", base, fast, fast / base,
                )  # fmt: skip

    return Table(
        "beaglebone", content["cpu"], content["year"], content["source"], content["published_summary"], tuple(rows())
    )


SPECK_ROWS = {
    "Speck64/128-XTS": ("xts(speck64)", 256),
    "Speck128/256-XTS": ("xts(speck128)", 512),
    "AES-128-XTS": ("xts(aes)", 256),
    "AES-256-XTS": ("xts(aes)", 512),
}


def _speck(name: str) -> Table:
    content = _read("speck")
    table = next(t for t in content["tables"] if t["device"].startswith(DEVICES[name]))
    generic = {r["algorithm"].split(" ")[0]: r for r in table["results"] if r["algorithm"].endswith("(generic)")}

    def rows() -> Iterator[Row]:
        for row in table["results"]:
            cipher = row["algorithm"].split(" ")[0]
            algorithm, bits = SPECK_ROWS[cipher]
            family = "generic" if row is generic.get(cipher) else "accelerated"
            for op in ("encryption", "decryption"):
                base = generic[cipher][f"{op}_mb_per_s"] if cipher in generic else None
                speed = row[f"{op}_mb_per_s"]
                yield Row(
                    algorithm, OPS[op], bits, ABSOLUTE_BYTES, row["algorithm"], family, base, speed,
                    speed / base if base else None,
                )  # fmt: skip

    return Table(name, table["device"], content["year"], content["source"], "MB/s, fastest first", tuple(rows()))


def _sm8650() -> Table:
    content = _read("sm8650")
    mib = (1 << 20) / 1e6

    def rows() -> Iterator[Row]:
        for before, after in zip(content["before"], content["after"], strict=True):
            cipher, mode = after["algorithm"].split("-")
            for op in ("encryption", "decryption"):
                old, new = before[f"{op}_mib_per_s"], after[f"{op}_mib_per_s"]
                if old is not None and new is not None:
                    yield Row(
                        f"{mode}({cipher})", OPS[op], after["key_bits"], 1 << 20, "after over before", "accelerated",
                        old * mib, new * mib, new / old,
                    )  # fmt: skip

    summary = f"{content['published_summary']}; the ratio is of {content['change']}, not of an implementation over C"
    return Table("sm8650", content["cpu"], content["year"], content["source"], summary, tuple(rows()))


def load(name: str) -> Table:
    """One of :data:`NAMES`; UnusableError for another."""
    if name == "wdr4900":
        return _wdr4900()
    if name == "beaglebone":
        return _beaglebone()
    if name in DEVICES:
        return _speck(name)
    if name == "sm8650":
        return _sm8650()
    raise UnusableError(f"nothing published is called '{name}'", f"there are: {', '.join(NAMES)}")


def iperf() -> Mapping[str, Any]:
    """The WDR4900's end-to-end test: generic and SPE, Mbit/s."""
    content: Mapping[str, Any] = _read("wdr4900")["iperf"]
    return content
