"""Published vectors (tests/vectors/data) on every implementation of every emulated machine.

Each case runs alone and as five equal operations of one batch, aligned and not, in place and not, so that the paths
for one packet and for several abreast both meet published answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import emulator
import pytest

DATA = emulator.ROOT / "tests" / "vectors" / "data"
AEAD = {"aes-gcm": "gcm(aes)", "chacha20-poly1305": "rfc7539(chacha20,poly1305)"}
HASHED = {"hmac-sha256": "hmac(sha256)", "hmac-sha1": "hmac(sha1)", "hmac-sha512": "hmac(sha512)"}
# (copies, offset, in place)
LAYOUTS = ((1, 0, 0), (5, 3, 1))


@dataclass(frozen=True)
class Question:
    """One line for gwnode and what must come back. ``accept`` False: the tag must be found wrong; ``exists`` False:
    the algorithm has no such nonce or tag length."""

    case_id: str
    line: str
    out: str
    tag: str
    accept: bool = True
    tag_differs: bool = False
    exists: bool = True


def table_algorithm(alg: str) -> str:
    """The implementation table's name for a schema's: aes-xts -> xts(aes), speck128-256-xts -> xts(speck128)."""
    if alg in AEAD or alg in HASHED:
        return AEAD.get(alg) or HASHED[alg]
    cipher, _, mode = alg.rpartition("-")
    return f"{mode}({cipher.split('-')[0]})" if cipher else alg


def load_cases(directory: Path = DATA) -> dict[str, list[dict[str, Any]]]:
    """Cases by the implementation table's algorithm, from every crypto-kat-v1 file."""
    cases: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(directory.glob("kat_*.json")):
        document = json.loads(path.read_text())
        if document.get("schema", "").startswith("crypto-kat-v1"):
            for case in document["cases"]:
                cases.setdefault(table_algorithm(case["alg"]), []).append(case)
    return cases


def directions(case: dict[str, Any]) -> Iterator[str]:
    if case["direction"] in ("enc", "both"):
        yield "encrypt"
    if case["direction"] in ("dec", "both"):
        yield "decrypt"


def lengths_exist(case: dict[str, Any]) -> bool:
    """RFC 8439 has one nonce and tag length; SP 800-38D any nonce but the empty one."""
    if case["kind"] != "aead":
        return True
    nonce, tag = len(case["iv"]) // 2, case["tag_len"]
    return (nonce, tag) == (12, 16) if case["alg"].startswith("chacha20") else nonce > 0 and tag > 0


def questions(case: dict[str, Any], driver: str) -> Iterator[Question]:
    """Lines for one case and driver."""
    kind, valid = case["kind"], case["result"] == "valid"
    if kind.endswith("-mct"):
        return  # Monte Carlo runs natively
    for copies, offset, in_place in LAYOUTS:
        layout = f"copies={copies} offset={offset} inplace={in_place}"
        if kind in ("hash", "mac"):
            tag = case["digest"] if kind == "hash" else case["tag"]
            key = f"key={case['key']} " if kind == "mac" else ""
            line = f"run {driver} encrypt {key}in={case['msg']} tag_len={len(tag) // 2} {layout}"
            yield Question(case["id"], line, "", tag, tag_differs=not valid)
            continue
        iv = case.get("iv", "")
        fields = f"key={case['key']} iv={iv.ljust(32, '0') if kind == 'xts' else iv} {layout}"
        for direction in directions(case):
            seal = direction == "encrypt"
            if seal and not valid:
                continue
            text, other = (case["pt"], case["ct"]) if seal else (case["ct"], case["pt"])
            line = f"run {driver} {direction} {fields} in={text}"
            if kind == "aead":
                line += f" aad={case['aad']} " + (
                    f"tag_len={case['tag_len']}" if seal else f"tag={case.get('tag', '00' * case['tag_len'])}"
                )
            tag = case.get("tag", "") if kind == "aead" else ""
            yield Question(case["id"], line, other, tag, accept=valid, exists=lengths_exist(case))


def is_right(question: Question, reply: str) -> bool:
    if not question.exists:
        return reply == "refused no such operation"
    words = ["" if w == "-" else w for w in reply.split(" ")]
    if words[0] != "ok":
        return False
    status, out, tag = int(words[1]), words[2], words[3]
    if not question.accept:
        return status != 0 and out == ""
    if question.tag_differs:
        return tag != question.tag
    return status == 0 and out == question.out and tag == question.tag


def may_refuse(question: Question, reply: str) -> bool:
    """Speck is built with its longest keys only."""
    return reply == "refused key length" and "speck" in question.line.split()[1]


@pytest.fixture(scope="session")
def cases() -> dict[str, list[dict[str, Any]]]:
    found = load_cases()
    assert found, f"no vectors in {DATA}"
    return found


def test_published_vectors(machine: emulator.Machine, cases: dict[str, list[dict[str, Any]]]) -> None:
    listing = emulator.run(machine, "vectors", stdin="list\n").stdout.splitlines()
    drivers = [line.split()[1:3] for line in listing if line.startswith("impl ") and line.split()[5] == "1"]
    assert {"cbc(aes)", "gcm(aes)", "hmac(sha256)"} <= {alg for alg, _ in drivers}
    asked = [q for alg, driver in drivers for case in cases.get(alg, ()) for q in questions(case, driver)]
    done = emulator.run(machine, "vectors", stdin="".join(q.line + "\n" for q in asked))
    replies = done.stdout.splitlines()
    assert len(replies) == len(asked), done.stderr
    wrong = [
        f"{q.case_id}: {q.line[:90]} -> {reply[:90]}"
        for q, reply in zip(asked, replies, strict=True)
        if not is_right(q, reply) and not may_refuse(q, reply)
    ]
    assert not wrong, "\n".join([f"{len(wrong)} of {len(asked)}", *wrong[:20]])
    assert all(cases.get(alg) for alg, _ in drivers if alg in ("gcm(aes)", "xts(aes)", "ctr(aes)", "ecb(aes)"))
