"""SAs of somebody else: which tunnel carries a packet, and books over SPIs that come and go."""

from __future__ import annotations

import dataclasses
import socket
from typing import Any

import pytest

from gateway.cli import main
from gateway.errors import UnusableError
from gateway.load.iperf3 import LoadReport
from gateway.load.iperf3_parse import Flow, Iperf3Result
from gateway.measure import existing
from gateway.measure.existing import Books, Counted, Tunnel
from gateway.netlink import xfrm
from gateway.netlink.ipsec import KernelSa
from gateway.node.kernel import missing
from gateway.node.kernel_crypto import parse
from gateway.output import existing as output
from tests.unit.test_doctor_kernel import sa as bare_sa

TUNNEL = Tunnel("10.1.0.2", ("192.0.2.1", "192.0.2.2"), 7, "tunnel")


def policy(direction: int, src: str, dst: str, *, priority: int = 100, action: int = 0, template: bool = True) -> Any:
    one = xfrm.userpolicy_info()
    (source, source_bits), (destination, destination_bits) = (p.split("/") for p in (src, dst))
    one.update({"dir": direction, "priority": priority, "action": action, "sel_family": socket.AF_INET})
    one.update({"sel_saddr": source, "sel_prefixlen_s": int(source_bits)})
    one.update({"sel_daddr": destination, "sel_prefixlen_d": int(destination_bits)})
    one["attrs"] = []
    if template:
        what = {"saddr": "192.0.2.1", "daddr": "192.0.2.2", "reqid": 7, "mode": 1}
        one["attrs"] = [("XFRMA_TMPL", [what])]
    # Through bytes, as the kernel gives them.
    one["header"] = {"type": xfrm.XFRM_MSG_NEWPOLICY, "flags": 0}
    one.encode()
    again = xfrm.userpolicy_info(bytearray(one.data))
    again.decode()
    return again


def test_the_policy_that_takes_the_packet() -> None:
    right = policy(1, "10.1.0.0/16", "10.2.0.0/16", priority=5)
    others = [
        policy(0, "10.2.0.0/16", "10.1.0.0/16"),
        policy(1, "10.1.0.0/16", "10.3.0.0/16", priority=1),
        policy(1, "10.1.0.0/16", "0.0.0.0/0", priority=9, action=1, template=False),
    ]
    assert existing.find_tunnel("10.2.0.1", "10.1.0.2", [*others, right]) == TUNNEL
    with pytest.raises(UnusableError, match="no IPsec policy takes packets from 192"):
        existing.find_tunnel("10.2.0.1", "192.0.2.9", [*others, right])
    with pytest.raises(UnusableError, match="in clear, or blocks"):
        existing.find_tunnel("10.9.0.1", "10.1.0.2", [*others, right])


def sa(spi: int, packets: int, *, out: bool = True, **more: Any) -> KernelSa:
    ends = TUNNEL.outer if out else TUNNEL.outer[::-1]
    return dataclasses.replace(
        bare_sa(), spi=spi, src=ends[0], dst=ends[1], packets=packets, bytes=packets * 100, reqid=7, **more
    )


def test_counters_are_summed_over_a_rekey() -> None:
    books = Books(TUNNEL, [sa(1, 10), sa(2, 20, out=False), sa(3, 0, out=False)])
    books.note([sa(1, 50), sa(2, 60, out=False)])
    # The new pair comes, the old one carries on for a while and goes; what it had counted last is in the event.
    books.note([sa(1, 55), sa(2, 70, out=False), sa(11, 1), sa(12, 2, out=False)])
    books.note_last(1, *TUNNEL.outer, Counted(60, 6000))
    books.note_last(2, *TUNNEL.outer[::-1], Counted(75, 7500))
    books.note_last(77, "198.51.100.1", "198.51.100.2", Counted(1000, 1))
    books.note([sa(11, 100), sa(12, 200, out=False)])
    # An older reading that comes late takes nothing away.
    books.note([sa(11, 90)])
    assert books.moved("out") == Counted(50 + 100, 15000)
    assert books.moved("in") == Counted(55 + 200, 25500)
    assert books.spis("out") == [1, 11] and books.new_spis("in") == [12]


def test_another_tunnels_sas_are_not_counted() -> None:
    other = dataclasses.replace(sa(5, 100), reqid=8)
    assert TUNNEL.direction(other) == "" and TUNNEL.direction(sa(5, 1)) == "out"
    books = Books(TUNNEL, [other])
    books.note([dataclasses.replace(other, packets=900)])
    assert books.moved("out") == Counted(0, 0)


def load(sent: int, received: int) -> LoadReport:
    flow = Flow("forward", 10.0, sent, received, 0, 5.0, 0, None, None, None)
    return LoadReport(Iperf3Result("3.12", "TCP", "cubic", (flow,), ()), (), 0, [])


def test_traffic_that_did_not_take_the_tunnel_is_invalid() -> None:
    good = {"out": Counted(1000, 1_040_000), "in": Counted(400, 20_000)}
    assert existing.check(load(1_000_000, 1_000_000), good) == []
    (reason,) = existing.check(load(1_000_000, 1_000_000), {**good, "out": Counted(3, 200)})
    assert "did not go through the tunnel" in reason
    (reason,) = existing.check(load(1_000_000, 1_000_000), {**good, "out": Counted(10_000, 50_000_000)})
    assert "other traffic" in reason
    (reason,) = existing.check(load(1_000_000, 1_000_000), {**good, "in": Counted()})
    assert "no packet came back" in reason


def test_the_driver_that_runs_is_told_by_its_use() -> None:
    text = "\n\n".join(
        f"name : {name}\ndriver : {driver}\nrefcnt : {users}"
        for name, driver, users in (
            ("echainiv(authenc(hmac(sha256),cbc(aes)))", "echainiv(authenc(hmac(sha256-ni),cbc-aes-aesni))", 3),
            ("seqiv(rfc4106(gcm(aes)))", "seqiv(rfc4106-gcm-aesni)", 1),
        )
    )
    found = existing.implementation_of(sa(1, 1, integrity="hmac(sha256)"), parse(text))
    assert found == "cbc-aes-aesni/kernel + hmac(sha256-ni)/kernel"
    gcm = dataclasses.replace(sa(1, 1), cipher="rfc4106(gcm(aes))")
    assert existing.implementation_of(gcm, parse(text)) == ""


def test_the_list_of_sas() -> None:
    encap = dataclasses.replace(sa(0x1234, 5, integrity="hmac(sha256)"), encap=(2, 4500, 4501), icv_bits=128, esn=True)
    text = "\n".join(output.sa_lines([encap, dataclasses.replace(sa(2, 0, out=False), offload="packet", replayed=3)]))
    for word in ("0x00001234", "192.0.2.1 > 192.0.2.2", "UDP 4500-4501", "ESN", "hmac(sha256) to 128 bit", "3 replay"):
        assert word in text
    assert "packet offload" in text
    assert "WARN" not in text
    short = dataclasses.replace(encap, icv_bits=96, integrity_failed=7)
    warned = " ".join(" ".join(output.sa_lines([encap, short])).split())
    assert warned.count("WARN") == 1
    assert "WARN 0x00001234: HMAC-SHA-256 is cut to 96 bits here" in warned
    assert "7 packets failed their ICV: the other end probably sends 128" in warned
    assert output.sa_lines([]) == ["no SA is in this network namespace"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["iperf", "--saturate"], "--existing SERVER"),
        (["iperf", "--existing", "127.0.0.1", "--lab"], "exclude each other"),
        (["iperf", "--existing", "127.0.0.1", "--no-save"], missing() or "no IPsec policy takes packets"),
        (["sa", "rekey", "x", "--from-kernel"], "only listed"),
    ],
)
def test_bad_input_is_one_line(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    err = capsys.readouterr().err
    assert says in err and len(err.splitlines()) == 1


def test_the_kernels_sas_are_listed_here(capsys: pytest.CaptureFixture[str]) -> None:
    """None, as a rule; and where none can be, the command says which module is missing."""
    lack = missing()
    assert main(["sa", "--from-kernel"]) == (2 if lack else 0)
    said = capsys.readouterr()
    assert lack in said.err and len(said.err.splitlines()) == 1 if lack else said.out.strip()
