"""RFC 6349's arithmetic, by the RFC's own examples and by hand; round trips in iperf3's output; tables and plots."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway import rfc6349
from gateway.load.iperf3_parse import parse
from gateway.output import rfc6349 as output
from gateway.report import rfc6349 as report
from gateway.rfc6349 import Path as Way
from gateway.rfc6349 import Transfer

FIXTURES = Path(__file__).parent / "fixtures" / "iperf3"


def transfer(mbit_per_s: float = 80.0, window: int = 0, retransmits: int | None = 0, rtt_us: float = 20e3) -> Transfer:
    size = round(mbit_per_s * 1e6 / 8 * 10)
    return Transfer(window, 1.0 if window else None, 10.0, size, size, retransmits, 1448, rtt_us)


def test_the_rfcs_example_of_a_window() -> None:
    # 3.3: 44.21 Mbit/s (T3) at 25 ms need 138 kB of window.
    assert rfc6349.bdp_bytes(44.21, 25_000) == pytest.approx(138_156, rel=0.001)
    # 3.3.1: a window of 32 KB at 25 ms lets 10.5 Mbit/s through.
    assert rfc6349.expected_mbit_per_s(32768, 44.21, 25_000) == pytest.approx(10.5, rel=0.01)
    assert rfc6349.expected_mbit_per_s(1 << 20, 44.21, 25_000) == 44.21
    assert rfc6349.expected_mbit_per_s(0, 44.21, 25_000) == 44.21


def test_the_three_figures() -> None:
    # 4.1: a transfer that takes 12 s where 8 s are ideal has a ratio of 1.5; here by rates of the same bytes.
    assert rfc6349.transfer_time_ratio(transfer(80.0), 120.0) == pytest.approx(1.5)
    # 4.2: 100,000 bytes sent, 2,000 of them again: 98 %.
    assert Transfer(0, None, 1.0, 100_000, 100_000, 2, 1000, None).efficiency == pytest.approx(0.98)
    assert transfer(retransmits=None).efficiency is None
    # 4.3: 25 ms without load and 32 ms under it: 28 %.
    assert rfc6349.buffer_delay(transfer(rtt_us=32e3), 25e3) == pytest.approx(0.28)
    assert rfc6349.buffer_delay(Transfer(0, None, 1.0, 1, 1, 0, 1448, None), 25e3) is None


def test_a_window_is_never_less_than_the_kernel_takes() -> None:
    assert rfc6349.window_bytes(0.25, 100.0) == rfc6349.LEAST_WINDOW_BYTES
    assert rfc6349.window_bytes(0.5, 1e6) == 500_000


def described() -> list[dict[str, object]]:
    ways = [
        Way(1438, rtt, rtt + 5, 100.0, (transfer(50.0, 65536, 10), transfer(100.0)))  # two rounds
        for rtt in (10e3, 12e3)
    ]
    return [
        {
            "role": "accelerated",
            "suite": "aes128gcm16",
            "implementation": "x",
            "dataplane": "user",
            "driver": None,
            **rfc6349.describe(ways),
        }
    ]


def test_rounds_are_told_by_their_medians() -> None:
    (found,) = described()
    assert found["baseline_rtt_us"] == 11e3 and found["rounds"] == 2
    assert found["optimal_window_bytes"] == round(100 * 11e3 / 8)
    small, own = found["transfers"]  # type: ignore[misc]
    assert small["window_bytes"] == 65536 and own["window_bytes"] is None
    assert small["transfer_time_ratio"] == pytest.approx(2.0)
    assert own["buffer_delay"] == pytest.approx((2.0 + 20 / 12) / 2 - 1)
    assert small["retransmits"] == [10, 10]


def test_tables_and_plots() -> None:
    found = described()
    text = "\n".join(output.render(found))
    assert "kernel's" in text and "100%" in text and "1438" in text
    text.encode("ascii")
    speed, delay = report.plots(found)
    assert [bar.label for bar in speed.bars] == ["aes128gcm16, 100%", "aes128gcm16, kernel's"]
    assert all(bar.value >= 0 for bar in delay.bars)
    paths, transfers = report.tables(found)
    for one in (paths, transfers):
        assert all(len(row) == len(one.head) for row in one.rows)


@pytest.mark.parametrize(
    ("name", "rtts"),
    [("3.12-tcp.json", [32.0]), ("3.17-stream.jsonl", [32.0]), ("3.12-bidir.json", [295.0, 7.0])],
)
def test_round_trips_in_iperf3s_output(name: str, rtts: list[float]) -> None:
    result = parse((FIXTURES / name).read_text())
    assert [flow.mean_rtt_us for flow in result.flows] == rtts


def test_udp_has_none() -> None:
    result = parse((FIXTURES / "3.12-udp.json").read_text())
    assert [flow.mean_rtt_us for flow in result.flows] == [None]
