"""Anti-replay sequences of DPDK, VPP and ODP: what arrives, what is accepted, and why the rest is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from esp_support import flip, ipv4, open_one, pair, sa_params, seal_one

import dataplane as dp

CASES = json.loads((Path(__file__).parent / "data" / "esp" / "replay_sequences.json").read_text())["cases"]
PACKET = ipv4(b"replay")
# The vectors' reasons: outside the window and seen before are one counter, as in the kernel.
REASONS = {"replay": "state_seq_error", "window": "state_seq_error", "integrity": "state_proto_error"}


def sealed_as(suite: str, number: int, esn: bool) -> bytes:
    """The packet that carries this 64-bit sequence number."""
    with dp.Sa(sa_params(suite, "out", esn=esn, seq=number - 1)) as sa:
        return seal_one(sa, PACKET)


@pytest.mark.parametrize("suite", ["aes128gcm16", "aes128-sha256"])
@pytest.mark.parametrize("batch", [False, True], ids=["single", "batch"])
@pytest.mark.parametrize("case", CASES, ids=lambda c: str(c["name"]))
def test_sequence(case: dict[str, Any], batch: bool, suite: str) -> None:
    with pair(suite, into={"replay_window": case["window"], "seq": case["start_top"]}, esn=case["esn"]).into as sa:
        for step in case["steps"]:
            packets = [sealed_as(suite, number, case["esn"]) for number in step["seqs"]]
            if step["bad_icv"]:
                packets = [flip(packet, -1) for packet in packets]
            before = sa.counters().drops
            opened = sa.open(packets) if batch else [open_one(sa, packet) for packet in packets]
            assert ["accept" if o.status == "ok" else "drop" for o in opened] == step["expect"], step["what"]
            expected: dict[str, int] = {}
            for reason, count in (step.get("reason_counts") or {}).items():
                expected[REASONS[reason]] = expected.get(REASONS[reason], 0) + count
            if expected and not batch:  # in a batch the number is inferred from the top that the batch began with
                after = sa.counters().drops
                assert {k: v - before.get(k, 0) for k, v in after.items() if v != before.get(k, 0)} == expected
