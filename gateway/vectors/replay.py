"""Anti-replay sequences (schema replay-sequence-v1): what arrives, what is accepted, and why the rest is not."""

from __future__ import annotations

import functools
import hashlib
import struct
from collections import Counter

import dataplane as dp
from gateway.vectors.document import Document, Fields, fields
from gateway.vectors.outcome import Book

SUITES = ("aes128gcm16", "aes128-sha256")
REASONS = {"replay": "state_seq_error", "window": "state_seq_error", "integrity": "state_proto_error"}
"""The vectors' reasons: outside the window and seen before are one counter, as in the kernel."""
SPI = 0x1001
PACKET = struct.pack("!BBHHHBBH8s", 0x45, 0, 20, 1, 0, 64, 253, 0, bytes([10, 0, 0, 1, 10, 0, 0, 2]))


def _sa(suite: str, direction: str, *, esn: bool, seq: int, window: int = 0) -> dp.Sa:
    s = dp.find_suite(suite)
    material = hashlib.shake_128(suite.encode()).digest(128)  # test keys: the same in both directions
    return dp.Sa(
        dp.SaParams(
            spi=SPI,
            suite=suite,
            direction=direction,
            enc_key=material[: s.enc_key_bytes],
            auth_key=material[32 : 32 + s.auth_key_bytes],
            salt=material[96 : 96 + s.salt_bytes],
            esn=esn,
            seq=seq,
            replay_window=window,
        )
    )


@functools.lru_cache(maxsize=4096)
def _sealed(suite: str, number: int, esn: bool) -> bytes:
    """The packet that carries this 64-bit sequence number; only the low half travels."""
    if not esn:
        number &= 0xFFFFFFFF
    if number == 0:  # no sender makes it
        packet = _sealed(suite, 1, esn)
        return packet[:4] + bytes(4) + packet[8:]
    with _sa(suite, "out", esn=esn, seq=number - 1) as sa:
        return sa.seal([PACKET])[0].esp


def _steps(case: Fields, suite: str, sa: dp.Sa, esn: bool) -> str:
    """What is wrong; empty when nothing is."""
    for position, step in enumerate(case.items("steps")):
        if not isinstance(step, dict):
            raise case.complain(f"step {position} is not an object")
        numbers, expect = step.get("seqs"), step.get("expect")
        if not isinstance(numbers, list) or not all(isinstance(n, int) and 0 <= n < 1 << 64 for n in numbers):
            raise case.complain(f'step {position}: "seqs" is not a list of sequence numbers')
        if not isinstance(expect, list) or len(expect) != len(numbers) or not set(expect) <= {"accept", "drop"}:
            raise case.complain(f'step {position}: "expect" is not accept or drop for each packet')
        bad = step.get("bad_icv") or False
        bad = bad if isinstance(bad, list) else [bad] * len(numbers)
        packets = [_sealed(suite, number, esn) for number in numbers]
        packets = [p[:-1] + bytes([p[-1] ^ int(bool(b))]) for p, b in zip(packets, bad, strict=True)]
        before = sa.counters().drops
        got = ["accept" if sa.open([packet])[0].status == "ok" else "drop" for packet in packets]
        if got != expect:
            return f"step {position} ({step.get('what', '')})"
        wanted: Counter[str] = Counter()
        for reason, count in (step.get("reason_counts") or {}).items():
            if reason not in REASONS or not isinstance(count, int):
                raise case.complain(f'step {position}: "reason_counts" has an unknown reason, or no number')
            wanted[REASONS[reason]] += count
        after = Counter(sa.counters().drops)
        after.subtract(before)
        if wanted and {k: v for k, v in after.items() if v} != {k: v for k, v in wanted.items() if v}:
            return f"step {position} ({step.get('what', '')}): drop counters"
    return ""


def run(document: Document, book: Book) -> None:
    """Every sequence, under an AEAD and under an encrypt-then-MAC suite."""
    for case in fields(document):
        esn = case.flag("esn")
        window, top = case.number("window", 0, 1 << 31), case.number("start_top")
        if not case.items("steps"):
            raise case.complain("no steps")
        if not case.word("start_bitmap", "empty").lower().startswith(("empty", "fresh")):
            book["-"].not_applicable["a window that starts partly filled cannot be set"] += 1
            continue
        for suite in SUITES:
            try:
                row = book[dp.resolve(suite)]
                sa = _sa(suite, "in", esn=esn, seq=top, window=window)
            except dp.DataplaneError as error:
                book[suite].not_applicable[error.message] += 1
                continue
            with sa:
                wrong = _steps(case, suite, sa, esn)
            row.judge(f"{case.name}: {wrong}" if wrong else "")
