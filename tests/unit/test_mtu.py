"""``gwbench mtu``: the arithmetic is the data path's, and the table says it in the terms of a router's settings."""

from __future__ import annotations

import json

import pytest

from dataplane import suites, wire_len
from gateway.cli import main
from gateway.errors import EXIT_OK, EXIT_UNUSABLE
from gateway.measure.mtu import Row, rows

ALL = [s.name for s in suites()]


@pytest.mark.parametrize("mode", ["tunnel", "transport"])
def test_one_byte_more_does_not_fit(mode: str) -> None:
    for row in rows(ALL, (576, 1280, 1492, 1500, 9000), mode=mode):
        encap = {"udp": "udp", "esp": "none"}[row.encap]
        family = {"ipv4": 4, "ipv6": 6}[row.outer]

        def wire(n: int, row: Row = row, encap: str = encap, family: int = family) -> int:
            return wire_len(row.suite, n, mode=mode, encap=encap, outer_af=family)

        assert wire(row.inner_mtu_bytes) <= row.outer_mtu_bytes < wire(row.inner_mtu_bytes + 1)
        assert row.overhead_bytes == wire(row.inner_mtu_bytes) - row.inner_mtu_bytes


def test_mss() -> None:
    (row,) = rows(["aes128gcm16"], (1492,), ("udp",), ("ipv4",))
    # PPPoE: 1492 - 20 IP - 8 UDP - 8 ESP - 8 IV - 16 ICV - 2 = 1430, whole words.
    assert (row.inner_mtu_bytes, row.mss_ipv4_bytes, row.mss_ipv6_bytes) == (1430, 1390, 1370)
    # Less than 1280 bytes carry no IPv6 (RFC 8200), and transport mode carries the line's own IP version only.
    (narrow,) = rows(["aes128gcm16"], (1300,), ("udp",), ("ipv4",))
    assert (narrow.mss_ipv4_bytes, narrow.mss_ipv6_bytes) == (narrow.inner_mtu_bytes - 40, 0)
    (direct,) = rows(["aes128gcm16"], (1500,), ("esp",), ("ipv6",), "transport")
    assert (direct.mss_ipv4_bytes, direct.mss_ipv6_bytes) == (0, direct.inner_mtu_bytes - 60)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mtu", "--suite", "aes256-sha256", "--outer-mtu", "1500", "--json"]) == EXIT_OK
    out = capsys.readouterr().out
    document = json.loads(out)
    assert document["schema"] == "gwbench-mtu/1"
    assert {(r["encap"], r["outer"]): r["inner_mtu_bytes"] for r in document["rows"]} == {
        ("udp", "ipv4"): 1422,
        ("udp", "ipv6"): 1406,
        ("esp", "ipv4"): 1438,
        ("esp", "ipv6"): 1406,
    }
    for wrong in ("--outer-mtu=67", "--outer-mtu=x", "--suite=nothing", "--encap=gre", "--outer=ipx"):
        assert main(["mtu", wrong]) == EXIT_UNUSABLE
        assert len(capsys.readouterr().err.splitlines()) == 1
