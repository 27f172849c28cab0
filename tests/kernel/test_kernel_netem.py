"""Loss, reordering, duplication, delay and corruption between our ESP and the kernel's, in both directions.

netem tells what it dropped; the receiver tells what came and why it took it or not. Nothing may be left over.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.kernel import netem
from tests.kernel.machine import Boot

FAMILIES = ("v4", "v6")
WAYS = ("to_kernel", "to_us")
# A bit of the Ethernet header (14 of about 300 bytes) takes a packet away where nobody counts it. 600 packets, 5 % of
# them corrupt: 1.4 such packets are to be expected.
UNSEEN = 12


def sealed_and_accepted(one: dict[str, Any], way: str) -> tuple[int, int]:
    """Packets by the SA counters of sender and receiver."""
    ours, kernel = one["ours"]["sa"], one["kernel"]
    if way == "to_kernel":
        return ours["out"]["packets"], kernel["in"]["packets"]
    return kernel["out"]["packets"], ours["in"]["packets"]


def replays(one: dict[str, Any], way: str) -> int:
    """Refused by the receiver's window."""
    if way == "to_kernel":
        return int(one["kernel"]["in"]["replayed"]) + int(one["kernel"]["in"]["outside_window"])
    return int(one["ours"]["sa"]["in"]["drops"].get("state_seq_error", 0))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", netem.DISTURBANCES)
def test_disturbed(name: str, family: str, way: str, machine: Boot) -> None:
    one = machine.result("netem", name)[family]
    counts = one[way]
    sealed, accepted = sealed_and_accepted(one, way)
    # Nothing corrupt was delivered, no replay was accepted, and all that was accepted was delivered.
    assert counts["foreign"] == counts["copies"] == 0
    assert counts["sent"] == sealed == netem.PACKETS
    assert counts["distinct"] == accepted
    lost = sealed - accepted
    if "corrupt" not in netem.DISTURBANCES[name]:
        assert lost == counts["netem_drops"]
    if "duplicate" in name:
        assert replays(one, way) > 0
    elif name != "everything":
        assert replays(one, way) == 0
    if name == "reorder 25%":
        assert counts["late"] > netem.PACKETS // 20
    if name in ("reorder 25%", "delay 50ms", "duplicate 10%"):
        assert accepted == sealed


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", netem.DISTURBANCES)
def test_we_account_for_every_datagram(name: str, family: str, machine: Boot) -> None:
    """Each one that the socket gave us was opened or dropped for a reason with a name."""
    one = machine.result("netem", name)[family]
    ours, statistics = one["ours"], one["statistics_left"]
    drops = {**ours["drops"]}
    for reason, n in ours["sa"]["in"]["drops"].items():
        drops[reason] = drops.get(reason, 0) + n
    others = ours["loop"]["keepalives"] + ours["loop"]["non_esp"]
    assert ours["loop"]["udp_recv_packets"] == ours["sa"]["in"]["packets"] + sum(drops.values()) + others
    expected = {"state_seq_error"} if "duplicate" in netem.DISTURBANCES[name] else set()
    if "corrupt" in netem.DISTURBANCES[name]:
        # A bit of the SPI, of the sequence number, of anything else; of UDP's or IP's length.
        expected |= {"state_proto_error", "state_seq_error", "in_no_states", "in_hdr_error", "in_ecn_illegal"}
    assert set(drops) <= expected
    # The socket's count of drops has those of a wrong UDP checksum too, and only these; it is told with the next
    # datagram, so that the very last ones are not known.
    wrong_sums = sum(statistics.get(name, 0) for name in ("UdpInCsumErrors", "Udp6InCsumErrors"))
    assert 0 <= wrong_sums - ours["loop"]["udp_rcvbuf_drops"] <= (4 if wrong_sums else 0)
    assert ours["loop"]["udp_send_errors"] == 0
    assert ours["sa"]["out"]["drops"] == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_corruption_is_seen_by_the_icv_or_before(family: str, machine: Boot) -> None:
    """What is missing was thrown away by us, or by UDP's or IP's checks in front of us."""
    one = machine.result("netem", "corrupt 5%")[family]
    sealed, accepted = sealed_and_accepted(one, "to_us")
    drops = sum(one["ours"]["sa"]["in"]["drops"].values()) + sum(one["ours"]["drops"].values())
    before = ("IpInHdrErrors", "IpInAddrErrors", "IpInUnknownProtos", "UdpInErrors", "UdpNoPorts")
    before += ("Ip6InHdrErrors", "Ip6InAddrErrors", "Ip6InUnknownProtos", "Udp6InErrors", "Udp6NoPorts")
    stack = sum(one["statistics_left"].get(name, 0) for name in before)
    assert sealed - accepted > 0
    assert sealed - accepted - one["to_us"]["netem_drops"] - UNSEEN <= drops + stack
    if family == "v4":  # the kernel sends UDP without a checksum over IPv4: only the ICV stands in the way
        assert one["ours"]["sa"]["in"]["drops"]["state_proto_error"] > 0
