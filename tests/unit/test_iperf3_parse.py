"""iperf3's output of every version, as files in fixtures/iperf3; what it means is asserted here."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.load.iperf3_parse import FORWARD, REVERSE, Iperf3Error, Iperf3Result, interval_of_event, parse

FIXTURES = Path(__file__).parent / "fixtures" / "iperf3"


def read(name: str, direction: str = FORWARD) -> Iperf3Result:
    return parse((FIXTURES / name).read_text(), direction=direction)


def test_tcp() -> None:
    result = read("3.12-tcp.json")
    (flow,) = result.flows
    assert (result.version, result.protocol, result.congestion) == ("iperf 3.12", "TCP", "bbr")
    assert flow.direction == FORWARD
    assert flow.mbit_per_s == pytest.approx(flow.received_bytes * 8e-6 / flow.seconds, rel=1e-3)
    assert flow.retransmits == 7
    assert flow.lost_packets is None and flow.packets is None and flow.jitter_ms is None
    assert [i.omitted for i in result.intervals] == [False]


def test_reverse_says_so_itself() -> None:
    assert [f.direction for f in read("3.12-reverse.json").flows] == [REVERSE]


def test_omitted_seconds_are_apart_and_one_stream_sums_to_two() -> None:
    result = read("3.12-omit-parallel.json")
    (flow,) = result.flows
    assert [i.omitted for i in result.intervals] == [True, False, False]
    assert flow.omitted_bytes == pytest.approx(result.intervals[0].bytes, rel=0.01)
    assert flow.seconds == pytest.approx(2, rel=0.01)
    assert result.carried_bytes == min(flow.received_bytes, flow.sent_bytes) + flow.omitted_bytes


@pytest.mark.parametrize("name", ["3.12-bidir.json", "3.7-bidir-duplicate-keys.json"])
def test_bidir_keys_of_their_own_or_twice(name: str) -> None:
    result = read(name)
    forward, reverse = result.flows
    assert (forward.direction, reverse.direction) == (FORWARD, REVERSE)
    assert forward.mbit_per_s == pytest.approx(6592.76, abs=0.01)
    assert reverse.mbit_per_s == pytest.approx(26749.54, abs=0.01)
    assert [i.direction for i in result.intervals] == [FORWARD, REVERSE]
    assert result.carried_bytes == forward.received_bytes + reverse.received_bytes


def test_udp() -> None:
    (flow,) = read("3.12-udp.json").flows
    assert (flow.packets, flow.lost_packets, flow.retransmits) == (77, 0, None)
    assert flow.jitter_ms == pytest.approx(0.038, abs=0.001)


def test_udp_both_ways() -> None:
    assert [f.packets for f in read("3.12-udp-bidir.json").flows] == [77, 77]


def test_nan_is_absent_and_the_one_sum_of_old_is_the_senders() -> None:
    (flow,) = read("3.1-udp-nan.json").flows
    assert flow.jitter_ms is None
    assert (flow.packets, flow.lost_packets) == (100, 25)
    assert flow.received_bytes == 750_000
    assert flow.mbit_per_s == pytest.approx(6.0)


def test_text_before_and_after() -> None:
    assert read("3.6-text-around.json").flows == read("3.12-tcp.json").flows


def test_wrapped_retransmits_are_unknown_not_huge() -> None:
    result = read("3.9-retransmits-wrapped.json")
    assert result.flows[0].retransmits is None
    assert all(i.retransmits is None for i in result.intervals)


def test_stream() -> None:
    assert read("3.17-stream.jsonl").flows == read("3.12-tcp.json").flows
    lines = (FIXTURES / "3.17-stream.jsonl").read_text().splitlines()
    assert [len(interval_of_event(line)) for line in lines] == [0, 1, 0]


@pytest.mark.parametrize(
    "line", ["", "iperf3: hello", "{", '{"event":"interval"}', '{"event":"interval","data":3}', "[]"]
)
def test_other_lines_are_no_intervals(line: str) -> None:
    assert interval_of_event(line) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("3.12-error.json", "unable to connect to server: Connection refused"),
        ("3.17-stream-error.jsonl", "control socket has closed unexpectedly"),
        ("3.6-error-without-json.txt", "congestion control algorithm not supported"),
        ("3.12-cut-off.json", "cut off"),
    ],
)
def test_errors_carry_iperf3s_reason(name: str, says: str) -> None:
    with pytest.raises(Iperf3Error, match=says) as caught:
        read(name)
    assert caught.value.exit_status == 1
    assert "\n" not in str(caught.value)


def test_nothing_at_all() -> None:
    with pytest.raises(Iperf3Error, match="no result"):
        parse("")


def test_nan_inside_a_string_stays() -> None:
    text = (FIXTURES / "3.12-tcp.json").read_text().replace('"system_info":\t"Linux"', '"system_info":\t"a, -nan, b"')
    text = text.replace('"system_info": "Linux"', '"system_info": "a, -nan, b"')
    assert parse(text).flows == read("3.12-tcp.json").flows


@given(st.integers(0, 4000), st.integers(0, 4000), st.text(max_size=20))
def test_no_damage_raises_anything_else(begin: int, length: int, instead: str) -> None:
    """A damaged document gives a result or an Iperf3Error, nothing else."""
    text = (FIXTURES / "3.12-bidir.json").read_text()
    try:
        parse(text[:begin] + instead + text[begin + length :])
    except Iperf3Error as error:
        assert "\n" not in str(error)
