"""The kernel's SAs as tunnels: no key leaves the reader, no counter falls, names outlive SPIs."""

from __future__ import annotations

import errno
import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.errors import MeasurementError
from gateway.metrics.exposition import Families
from gateway.metrics.kernel_sas import PATIENCE_S, KernelSas, suite
from gateway.metrics.ledger import FORGET_S, TunnelName
from gateway.metrics.vici_names import names_of
from gateway.node.xfrm_reader import XfrmReader, find
from tests.xfrm_messages import AUTH_KEY, ENC_KEY, FakeKernel, FakeSa

OUT = {"src": "192.0.2.1", "dst": "192.0.2.2", "direction": 2}
IN = {"src": "192.0.2.2", "dst": "192.0.2.1", "direction": 1}


@pytest.fixture
def kernel() -> Iterator[FakeKernel]:
    fake = FakeKernel()
    yield fake
    fake.close()


@pytest.fixture
def reader(kernel: FakeKernel) -> Iterator[XfrmReader]:
    fd = kernel.readers.fileno()
    one = XfrmReader([str(find()), "--netlink-fd", str(fd)], pass_fds=(fd,))
    yield one
    one.close()


def told(collector: KernelSas) -> dict[str, float]:
    """Samples by their text."""
    families = Families()
    collector.collect(families)
    lines = (line.rpartition(" ") for line in families.text().splitlines() if not line.startswith("#"))
    return {name: float(value) for name, _, value in lines}


def total(samples: dict[str, float], name: str) -> float:
    return sum(value for key, value in samples.items() if key.startswith(name + "{"))


def test_the_reader_tells_counters_and_no_key(kernel: FakeKernel, reader: XfrmReader) -> None:
    kernel.sas = [
        FakeSa(0x1000, **OUT, packets=7, bytes=700, oseq=5 << 32 | 9, hard_s=3600),
        FakeSa(0xC0FFEE, **IN, failed=3, replayed=2, below_window=4, aead=True, esn=False, seq=77),
    ]
    fd = kernel.readers.fileno()
    process = subprocess.run(
        [str(find()), "--netlink-fd", str(fd)],
        input=b"dump\n",
        capture_output=True,
        pass_fds=(fd,),
        timeout=10,
        check=True,
    )
    for key in (ENC_KEY, AUTH_KEY):
        for part in (key, key.hex().encode(), key[:8], key[:8].hex().encode()):
            assert part not in process.stdout + process.stderr
    first, second, end, rest = process.stdout.decode().split("\n")
    assert (end, rest) == ("end", "")
    assert "spi=00001000 proto=50 dir=out src=192.0.2.1 dst=192.0.2.2 reqid=1" in first
    assert f"packets=7 add=1000000 use=0 below_window=0 replayed=0 failed=0 hard_s=3600 oseq={5 << 32 | 9}" in first
    assert "enc=cbc(aes) enc_bits=256 auth=hmac(sha256) auth_bits=256" in first
    assert "below_window=4 replayed=2 failed=3" in second and "aead=rfc4106(gcm(aes)) aead_bits=160" in second


def test_counters_never_fall_over_twenty_rekeys(kernel: FakeKernel, reader: XfrmReader) -> None:
    collector = KernelSas(reader, clock=lambda: 2_000_000.0)
    spis = itertools.count(0x2000)
    packets = {"out": 0, "in": 0}
    before: dict[str, float] = {}
    for _rekey in range(21):
        fresh = [FakeSa(next(spis), **OUT), FakeSa(next(spis), **IN)]
        old, kernel.sas = kernel.sas, kernel.sas + fresh
        for _ in range(2):
            for sa in kernel.sas:
                sa.packets += 5
                sa.bytes += 500
                packets["out" if sa.direction == 2 else "in"] += 5
            after = told(collector)
            for name, value in before.items():
                if "_total" in name:
                    assert after[name] >= value, name
            before = after
        for n, sa in enumerate(old):  # the last packets, counted by nobody's dump
            sa.packets += 3
            packets["out" if sa.direction == 2 else "in"] += 3
            kernel.remove(sa, expired=n % 2 == 1)
        assert kernel.sas == fresh
    after = told(collector)
    labels = '{tunnel="192.0.2.1-192.0.2.2",child="reqid1",peer="192.0.2.2",direction="%s"}'
    for direction, count in packets.items():
        assert after["gwbench_tunnel_packets_total" + labels % direction] == count
        assert after["gwbench_tunnel_rekeys_total" + labels % direction] == 20
        assert after["gwbench_tunnel_sas" + labels % direction] == 1
    assert len([name for name in after if name.startswith("gwbench_tunnel_packets_total")]) == 2


def test_an_sa_that_lived_between_two_scrapes_is_counted(kernel: FakeKernel, reader: XfrmReader) -> None:
    collector = KernelSas(reader, clock=lambda: 2_000_000.0)
    told(collector)
    sa = FakeSa(0x3000, **OUT, packets=11)
    kernel.sas.append(sa)
    kernel.remove(sa)
    assert total(told(collector), "gwbench_tunnel_packets_total") == 11
    assert total(told(collector), "gwbench_tunnel_packets_total") == 11


def test_a_tunnel_is_down_without_one_direction_and_forgotten_after_a_day(
    kernel: FakeKernel, reader: XfrmReader
) -> None:
    now = [2_000_000.0]
    collector = KernelSas(reader, clock=lambda: now[0])
    kernel.sas = [FakeSa(0x4000, **OUT, packets=1), FakeSa(0x4001, **IN, failed=2)]
    samples = told(collector)
    assert total(samples, "gwbench_tunnel_up") == 1
    assert sum(v for k, v in samples.items() if "drops" in k and 'reason="state_proto_error"' in k) == 2
    kernel.remove(kernel.sas[1])
    assert total(told(collector), "gwbench_tunnel_up") == 0
    kernel.remove(kernel.sas[0])
    samples = told(collector)
    assert total(samples, "gwbench_tunnel_up") == 0 and total(samples, "gwbench_tunnel_packets_total") == 1
    assert not any("sa_age" in name for name in samples)
    now[0] += FORGET_S + 1
    assert not any(name.startswith("gwbench_tunnel") for name in told(collector))


def test_per_sa_series_only_when_asked(kernel: FakeKernel, reader: XfrmReader) -> None:
    kernel.sas = [FakeSa(0x5000, **OUT, packets=1)]
    assert "spi=" not in str(told(KernelSas(reader)))
    assert total(told(KernelSas(reader, per_sa=True)), "gwbench_sa_packets_total") == 1


def test_a_refused_dump_is_an_error_and_no_zero(kernel: FakeKernel, reader: XfrmReader) -> None:
    kernel.sas = [FakeSa(0x5000, **OUT)]
    kernel.refuse = errno.EPERM
    with pytest.raises(MeasurementError, match="CAP_NET_ADMIN"):
        reader.dump()
    kernel.refuse = 0
    assert len(reader.dump().sas) == 1


def test_a_reader_that_died_is_started_again(kernel: FakeKernel, reader: XfrmReader) -> None:
    kernel.sas = [FakeSa(0x5000, **OUT)]
    assert len(reader.dump().sas) == 1
    assert reader._process is not None
    reader._process.kill()
    reader._process.wait()
    with pytest.raises(MeasurementError, match="ended"):
        reader.dump()
    assert len(reader.dump().sas) == 1


def test_names_of_strongswan_and_patience(kernel: FakeKernel, reader: XfrmReader) -> None:
    now = [2_000_000.0]
    known: dict[int, TunnelName] = {}
    collector = KernelSas(reader, lambda: known, clock=lambda: now[0])
    kernel.sas = [FakeSa(0x6000, **OUT, packets=4, reqid=3)]
    assert total(told(collector), "gwbench_tunnel_packets_total") == 0, "its name would change"
    known[0x6000] = TunnelName("office", "lan", "192.0.2.2")
    office = '{tunnel="office",child="lan",peer="192.0.2.2",direction="out"}'
    assert told(collector)["gwbench_tunnel_packets_total" + office] == 4
    # Rekeyed, and strongSwan has not said so yet: the reqid stays.
    kernel.sas.append(FakeSa(0x6001, **OUT, packets=2, reqid=3))
    known.clear()
    samples = told(collector)
    assert [v for k, v in samples.items() if k.startswith("gwbench_tunnel_packets_total")] == [6]
    kernel.sas.append(FakeSa(0x7000, **OUT, packets=1, reqid=9))  # somebody else's
    told(collector)
    now[0] += PATIENCE_S + 1
    assert 'child="reqid9"' in str(told(collector))


def test_names_from_list_sas() -> None:
    message = {
        "office": {
            "remote-host": b"192.0.2.2",
            "child-sas": {"lan-7": {"name": b"lan", "reqid": b"1", "spi-in": b"c0ffee01", "spi-out": b"cafe0001"}},
        }
    }
    name = TunnelName("office", "lan", "192.0.2.2")
    assert names_of([message]) == {0xC0FFEE01: name, 0xCAFE0001: name}


def test_suite_words() -> None:
    assert suite({"aead": "rfc4106(gcm(aes))", "aead_bits": "160"}) == "aes128gcm16"
    assert suite({"enc": "cbc(aes)", "enc_bits": "256", "auth": "hmac(sha256)"}) == "aes256-sha256"
    assert suite({"enc": "cbc(camellia)", "enc_bits": "256", "auth": "xcbc(aes)"}) == "cbc(camellia)+xcbc(aes)"


def test_the_reader_drops_what_it_does_not_need(kernel: FakeKernel) -> None:
    """Not root, CAP_NET_ADMIN alone, no new privileges, no core dump."""
    fd = kernel.readers.fileno()
    process = subprocess.Popen(
        [str(find()), "--netlink-fd", str(fd)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(fd,)
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(b"dump\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"end\n"
        status = Path(f"/proc/{process.pid}/status").read_text()
        fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
        assert int(fields["CapEff"], 16) in (0, 1 << 12) and int(fields["CapPrm"], 16) in (0, 1 << 12)
        assert fields["Uid"].split()[0] != "0" and fields["NoNewPrivs"] == "1"
        limits = Path(f"/proc/{process.pid}/limits").read_text()
        assert next(line for line in limits.splitlines() if "core" in line).split()[4] == "0"
    finally:
        process.stdin.close()
        assert process.wait(5) == 0
