"""The books: what adds up is valid, every way of not adding up is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gateway.errors import MeasurementError
from gateway.node.base import NodeCounters, SaCounters
from gateway.validity import check, difference

INNER, WIRE = 1400, 1440
PACKETS, ACKS, SENDS = 1000, 100, 25
PAYLOAD = PACKETS * (INNER - 52)


def sa(spi: int, direction: str, packets: int, inner: int, wire: int, **drops: int) -> SaCounters:
    return SaCounters(spi, direction, packets, packets * inner, packets * wire, drops, packets, "valid", "impl")


def node(
    sas: tuple[SaCounters, ...], sent: int, sends: int, wire_bytes: int, received: int, **more: Any
) -> NodeCounters:
    loop = {
        "udp_sends": sends,
        "udp_send_packets": sent,
        "udp_send_errors": 0,
        "udp_recvs": 10,
        "udp_recv_packets": received,
        "udp_rcvbuf_drops": 0,
        "tun_writes": 30,
        "tun_write_segments": received,
    }
    wan = {"tx_packets": sends, "tx_bytes": wire_bytes + sends * 42, "tx_dropped": 0, "rx_dropped": 0}
    return NodeCounters(sas, loop | more, {}, {}, 10**9, {"wan": wan})


def left(**more: Any) -> NodeCounters:
    sas = (sa(1, "out", PACKETS, INNER, WIRE), sa(2, "in", ACKS, 52, 92))
    return node(sas, PACKETS, SENDS, PACKETS * WIRE, ACKS, **more)


def right(opened: int = PACKETS, drops: dict[str, int] | None = None, **more: Any) -> NodeCounters:
    sas = (sa(1, "in", opened, INNER, WIRE, **(drops or {})), sa(2, "out", ACKS, 52, 92))
    return node(sas, ACKS, ACKS, ACKS * 92, opened, **more)


def reasons(a: NodeCounters, b: NodeCounters, offload: str = "default", received: int = PAYLOAD) -> list[str]:
    verdict = check(a, b, offload=offload, received_bytes={"forward": received}, sent_bytes={"forward": PAYLOAD})
    assert verdict.valid == (not verdict.reasons)
    return list(verdict.reasons)


def test_everything_adds_up() -> None:
    assert reasons(left(), right()) == []


def test_drops_by_reason_are_part_of_the_sum() -> None:
    drops = {"state_seq_error": 3, "state_proto_error": 2}
    assert reasons(left(), right(PACKETS - 5, drops), received=PAYLOAD - 5 * INNER) == []


def test_dummies_were_sealed_but_never_count_as_opened() -> None:
    assert reasons(left(), right(PACKETS - 2, {"in_dummy": 2}), received=PAYLOAD - 2 * INNER) == []


def test_drops_without_an_sa_count_as_well() -> None:
    b = replace(right(PACKETS - 1), drops={"in_no_states": 1})
    assert reasons(left(), b, received=PAYLOAD - INNER) == []


def test_one_packet_missing_is_invalid() -> None:
    (reason,) = reasons(left(), right(PACKETS - 1), received=PAYLOAD - INNER)
    assert "sealed 1000" in reason and "opened 999" in reason and "1 unexplained" in reason


def test_one_packet_too_many_is_invalid() -> None:
    assert any("-1 unexplained" in reason for reason in reasons(left(), right(PACKETS + 1)))


@pytest.mark.parametrize(("missing", "buffers", "valid"), [(40, 1, True), (1, 1, True), (200, 1, False), (1, 2, False)])
def test_a_dropped_buffer_explains_1_to_128_packets(missing: int, buffers: int, valid: bool) -> None:
    b = right(PACKETS - missing, udp_rcvbuf_drops=buffers)
    assert (reasons(left(), b, received=PAYLOAD - missing * INNER) == []) is valid


def test_a_counted_buffer_without_a_missing_packet_is_invalid() -> None:
    assert reasons(left(), right(udp_rcvbuf_drops=1)) != []


def test_what_the_socket_refused_never_left() -> None:
    a = left(udp_send_errors=4)
    assert reasons(a, right(PACKETS - 4), received=PAYLOAD - 4 * INNER) == []


def test_what_the_tun_refused_was_opened() -> None:
    b = right(tun_write_segments=PACKETS - 7)
    assert any("written to the TUN" in reason for reason in reasons(left(), b))
    assert reasons(left(), replace(b, drops={"in_buffer_error": 7})) == []


def test_the_interface_is_a_witness_of_bytes() -> None:
    a = left()
    a.interfaces["wan"]["tx_bytes"] += 50_000
    assert any("wan sent" in reason for reason in reasons(a, right()))
    a.interfaces["wan"]["tx_bytes"] -= 50_000 + SENDS * 14 + 1
    assert any("wan sent" in reason for reason in reasons(a, right()))


def test_an_interface_that_counts_after_the_ethernet_header_adds_up() -> None:
    """A veth with GRO does, so a train of acknowledgements, each a send of its own, comes to 28 bytes a packet."""
    a, b = left(), right()
    b.interfaces["wan"]["tx_bytes"] = ACKS * (92 + 28)
    assert reasons(a, b) == []
    b.interfaces["wan"]["tx_bytes"] -= 1
    assert any("wan sent" in reason for reason in reasons(a, b))


def test_the_interface_is_a_witness_of_packets_when_offloads_are_off() -> None:
    a, b = left(), right()
    assert any("wan saw 25" in reason for reason in reasons(a, b, "off"))
    a.interfaces["wan"].update(tx_packets=PACKETS + 3, tx_bytes=PACKETS * (WIRE + 42) + 3 * 42)
    assert reasons(a, b, "off") == []


def test_iperf3_cannot_have_received_more_than_the_sa_opened() -> None:
    assert any("iperf3 received" in reason for reason in reasons(left(), right(), received=PACKETS * INNER))


def test_the_sa_cannot_have_sealed_far_more_than_iperf3_sent() -> None:
    a = replace(left(), sas=(replace(left().sas[0], bytes=200 << 20), left().sas[1]))
    assert any("far more" in reason for reason in reasons(a, right()))


def reading(*sas: SaCounters) -> NodeCounters:
    return NodeCounters(sas, {}, {}, {}, 0, {})


def test_a_rekey_between_two_readings_loses_no_packet() -> None:
    before = reading(sa(1, "out", 10, INNER, WIRE), sa(2, "in", 7, INNER, WIRE))
    after = reading(sa(2, "in", 8, INNER, WIRE), sa(4, "out", 5, INNER, WIRE))
    removed = [sa(1, "out", 13, INNER, WIRE), sa(3, "out", 2, INNER, WIRE)]  # 3 came and went
    change = difference(after, before, removed)
    assert sum(s.packets for s in change.sas if s.direction == "out") == 3 + 2 + 5
    assert sum(s.packets for s in change.sas if s.direction == "in") == 1


def test_an_spi_that_is_used_again_begins_at_zero() -> None:
    before, after = reading(sa(1, "out", 10, INNER, WIRE)), reading(sa(1, "out", 4, INNER, WIRE))
    change = difference(after, before, [sa(1, "out", 13, INNER, WIRE)])
    assert [s.packets for s in change.sas] == [3, 4]


def test_an_sa_that_vanished_without_its_counters_is_no_measurement() -> None:
    with pytest.raises(MeasurementError, match=r"SA 0x1 \(out\) was removed"):
        difference(reading(), reading(sa(1, "out", 10, INNER, WIRE)))


def test_difference_starts_new_sas_at_zero() -> None:
    before = NodeCounters((sa(1, "out", 10, INNER, WIRE),), {"udp_sends": 5}, {"in_no_states": 1}, {}, 100, {})
    after = NodeCounters(
        (sa(1, "out", 15, INNER, WIRE), sa(9, "out", 3, INNER, WIRE)),
        {"udp_sends": 8},
        {"in_no_states": 1},
        {},
        150,
        {},
    )
    change = difference(after, before)
    assert [s.packets for s in change.sas] == [5, 3]
    assert change.loop == {"udp_sends": 3}
    assert change.drops == {"in_no_states": 0}
    assert change.cpu_ns == 50
