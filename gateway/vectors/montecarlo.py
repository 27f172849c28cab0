"""Monte Carlo tests: a hundred rounds of a thousand dependent steps, every round run, and the chain between them.

The rounds' starting values stand in the file, so that all rounds run abreast; that the next round starts where the last
one ended is checked apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import dataplane
from dataplane.lanes import Lanes
from gateway.vectors.document import Fields
from gateway.vectors.outcome import Book
from gateway.vectors.question import implementations_of, lacking, table_algorithm

STEPS = 1000
DIGEST_BYTES = {"sha1": 20, "sha256": 32, "sha512": 64}


@dataclass(frozen=True, slots=True)
class Round:
    """Where a round of AES starts, and the block that it must end with (empty: not published)."""

    key: bytes
    iv: bytes
    start: bytes
    end: bytes


def _rounds(case: Fields, opening: bool) -> list[Round]:
    start, end = ("ct", "pt") if opening else ("pt", "ct")
    rounds: list[Round] = []
    for number, item in enumerate(case.items("results")):
        if not isinstance(item, dict):
            raise case.complain(f"results[{number}] is not an object")
        try:
            values = {name: bytes.fromhex(item.get(name) or "") for name in ("key", "iv", "pt", "ct")}
        except (TypeError, ValueError):
            raise case.complain(f"results[{number}] is not hexadecimal") from None
        rounds.append(Round(values["key"], values["iv"], values[start], values[end]))
    if not rounds:
        raise case.complain("no results")
    first = rounds[0]
    rounds[0] = Round(
        first.key or case.octets("key"), first.iv or case.octets("iv"), first.start or case.octets(start), first.end
    )
    return rounds


def _thousand(driver: str, mode: str, opening: bool, rounds: list[Round]) -> list[tuple[bytes, bytes]]:
    """(last block, the one before) of each round. AESAVS 6.4.1 (ECB) and 6.4.2 (CBC)."""
    keys = [dataplane.Key(driver, r.key) for r in rounds]
    try:
        lanes = Lanes(driver, keys, data_bytes=16)
        lanes.data[:] = b"".join(r.start for r in rounds)
        chained = mode == "cbc"
        iv = b"".join(r.iv for r in rounds) if chained else b""
        before = iv
        for _ in range(STEPS):
            if not chained:
                before = lanes.out[:]
                lanes.step(opening=opening)
                lanes.data[:] = lanes.out
                continue
            lanes.iv[:] = iv
            text = lanes.data[:]
            lanes.step(opening=opening)
            out = lanes.out[:]
            iv = text if opening else out
            lanes.data[:], before = before, out
        # CBC's input of the step that is not made is the output before the last one.
        last = lanes.out[:]
        before = lanes.data[:] if chained else before
    finally:
        for key in keys:
            key.close()
    return [(last[i : i + 16], before[i : i + 16]) for i in range(0, len(last), 16)]


def _successor(mode: str, now: Round, last: bytes, before: bytes) -> Round:
    """The next round's start. AESAVS 6.4: the key is xored with as many of the last output bytes as it has."""
    mask = (before + last)[-len(now.key) :]
    key = bytes(a ^ b for a, b in zip(now.key, mask, strict=True))
    return Round(key, last if mode == "cbc" else b"", before if mode == "cbc" else last, b"")


def _cipher(driver: str, mode: str, opening: bool, rounds: list[Round]) -> str:
    """What is wrong; empty when nothing is."""
    complete = all(r.key and r.start and (r.iv or mode == "ecb") for r in rounds)
    ends = _thousand(driver, mode, opening, rounds) if complete else []
    now = rounds[0]
    for number, published in enumerate(rounds):
        if number:
            for what in ("key", "iv", "start"):
                value = getattr(published, what)
                if value and (mode == "cbc" or what != "iv") and value != getattr(now, what):
                    return f"round {number} starts with another {what}"
        last, before = ends[number] if complete else _thousand(driver, mode, opening, [now])[0]
        if published.end and last != published.end:
            return f"round {number}"
        now = _successor(mode, now, last, before)
    return ""


def _hash(driver: str, digest_bytes: int, seed: bytes, checkpoints: list[bytes]) -> str:
    """SHAVS 6.4: each step hashes the last three digests; a round starts with three times the last one's digest."""
    lanes = Lanes(driver, [None] * len(checkpoints), data_bytes=3 * digest_bytes, tag_bytes=digest_bytes)
    lanes.data[:] = b"".join(start * 3 for start in [seed, *checkpoints[:-1]])
    size = 3 * digest_bytes
    for _ in range(STEPS):
        lanes.step()
        data, tag = lanes.data[:], lanes.tag[:]
        lanes.data[:] = b"".join(
            data[i * size + digest_bytes : (i + 1) * size] + tag[i * digest_bytes : (i + 1) * digest_bytes]
            for i in range(len(checkpoints))
        )
    tag = lanes.tag[:]
    wrong = [i for i, c in enumerate(checkpoints) if tag[i * digest_bytes : (i + 1) * digest_bytes] != c]
    return f"round {wrong[0]}" if wrong else ""


def run(case: Fields, book: Book) -> None:
    """One case on every implementation of its algorithm."""
    alg = case.word("alg", "")
    algorithm = table_algorithm(alg)
    if case.word("kind", "") == "hash-mct":
        digest_bytes = DIGEST_BYTES.get(alg)
        checkpoints = [_octets(case, c) for c in case.items("checkpoints")]
        seed = case.octets("seed")
        known = digest_bytes is not None
        if known and (not checkpoints or {len(seed), *map(len, checkpoints)} != {digest_bytes}):
            raise case.complain(
                f"seed and checkpoints of {alg} have {digest_bytes} bytes each, and there is one at least"
            )
    else:
        known = algorithm in ("ecb(aes)", "cbc(aes)")
        opening = case.word("direction", "enc", ("enc", "dec")) == "dec"
        mode = algorithm[:3]
        rounds = _rounds(case, opening) if known else []
        if known and (len(rounds[0].start) != 16 or len(rounds[0].key) not in (16, 24, 32)):
            raise case.complain("the first round has no key, or no block of 16 bytes")
    if not known:
        book["-"].not_applicable[f"no Monte Carlo test of {alg} is known here"] += 1
        return
    for implementation in implementations_of(algorithm):
        driver, row = implementation.driver, book[implementation.driver]
        if not implementation.runnable:
            row.not_applicable[lacking(implementation)] += 1
            continue
        try:
            if digest := DIGEST_BYTES.get(alg):
                wrong = _hash(driver, digest, seed, checkpoints)
            else:
                wrong = _cipher(driver, mode, opening, rounds)
        except dataplane.DataplaneError as error:
            wrong = error.message
        row.judge(f"{case.name}: {wrong}" if wrong else "")


def _octets(case: Fields, value: object) -> bytes:
    try:
        return bytes.fromhex(value) if isinstance(value, str) else bytes.fromhex("x")
    except ValueError:
        raise case.complain("a checkpoint is not hexadecimal") from None
