"""Known answers of the schema crypto-kat-v1, as operations of the dataplane.

A :class:`Question` is one case in one direction for one algorithm of the implementation table; it makes the
:class:`dataplane.Op` for one implementation in a chosen layout and judges the result.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dataplane

DATA = Path(__file__).resolve().parent / "data"
FILES = sorted(DATA.glob("kat_*.json"))

AEAD = {"aes-gcm": "gcm(aes)", "chacha20-poly1305": "rfc7539(chacha20,poly1305)"}
HASHED = {"hmac-sha256": "hmac(sha256)", "hmac-sha1": "hmac(sha1)", "hmac-sha512": "hmac(sha512)"}


def table_algorithm(alg: str) -> str:
    """The implementation table's name for a schema's: aes-xts -> xts(aes), speck128-256-xts -> xts(speck128)."""
    if alg in AEAD or alg in HASHED:
        return AEAD.get(alg) or HASHED[alg]
    cipher, _, mode = alg.rpartition("-")
    return f"{mode}({cipher.split('-')[0]})" if cipher else alg


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the bytes lie: leading span, offset from 64-byte alignment, output over input."""

    first_span: int = 0
    misalign: int = 0
    in_place: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """``accept`` False: opening must fail; ``exists`` False: a nonce length that the algorithm does not have."""

    case_id: str
    kind: str
    opening: bool
    key: bytes
    iv: bytes
    aad: bytes
    data: bytes
    out: bytes
    tag: bytes
    accept: bool
    exists: bool

    def op(self, driver: str, layout: Layout, key: dataplane.Key | None) -> dataplane.Op:
        """The operation; ``key`` was expanded for ``driver``."""
        spans: tuple[int, ...] = ()
        if not layout.in_place and 0 < layout.first_span <= len(self.data):
            spans = (layout.first_span,)
        return dataplane.Op(
            data=self.data,
            key=key if self.kind in ("cipher", "xts", "aead") else None,
            mac_key=key if self.kind == "mac" else None,
            iv=self.iv,
            aad=self.aad,
            tag=self.tag if self.opening else b"",
            tag_bytes=0 if self.opening else len(self.tag),
            spans=spans,
            in_place=layout.in_place,
            misalign=layout.misalign,
        )

    def wrong(self, result: dataplane.OpResult) -> str:
        """Empty when the answer is right."""
        if self.opening and self.kind == "aead":
            if result.ok != self.accept:
                return f"{self.case_id}: {'accepted' if result.ok else 'refused'}"
            return f"{self.case_id}: plaintext" if result.ok and result.out != self.out else ""
        if self.kind not in ("hash", "mac") and result.out != self.out:
            return f"{self.case_id}: output"
        # A wrong tag in the data must differ from the right one.
        return f"{self.case_id}: tag" if self.tag and (result.tag == self.tag) != self.accept else ""


def load(path: Path) -> list[dict[str, Any]]:
    """The cases of one file."""
    document = json.loads(path.read_text())
    assert document["schema"] == "crypto-kat-v1"
    assert document["count"] == len(document["cases"])
    return list(document["cases"])


def questions(case: dict[str, Any]) -> Iterator[Question]:
    """One case, in each direction that it speaks about; nothing for Monte Carlo cases."""
    kind, accept = case["kind"], case["result"] != "invalid"
    if kind.endswith("-mct"):
        return
    get = {
        name: bytes.fromhex(case.get(name) or "") for name in ("key", "iv", "aad", "pt", "ct", "tag", "msg", "digest")
    }
    if kind == "xts":
        get["iv"] = get["iv"].ljust(8 if case["alg"].startswith("speck64") else 16, b"\0")
    exists = kind != "aead" or (len(get["iv"]) == 12 if "chacha" in case["alg"] else len(get["iv"]) > 0)
    tag = get["tag"] or get["digest"]
    common = (get["key"], get["iv"], get["aad"])
    if kind in ("hash", "mac"):
        yield Question(case["id"], kind, False, *common, get["msg"], b"", tag, accept, True)
        return
    if case["direction"] in ("enc", "both") and accept:
        yield Question(case["id"], kind, False, *common, get["pt"], get["ct"], tag, True, exists)
    if case["direction"] in ("dec", "both"):
        yield Question(case["id"], kind, True, *common, get["ct"], get["pt"], tag, accept, exists)


def runnable(algorithm: str) -> list[str]:
    """Drivers of the algorithm that this CPU can run."""
    return [i.driver for i in dataplane.implementations() if i.alg == algorithm and i.runnable]
