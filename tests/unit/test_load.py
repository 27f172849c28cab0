"""Generators and sinks over loopback: every packet is counted, its content compared, and losses are those asked for."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dataplane import DataplaneError, Generator, GeneratorStats, Sa, SaParams, Sink, SinkStats, find_suite, open_batch
from gateway.measure.latency import Latency, percentile_ns

SRC, DST = ("192.0.2.1", 7), ("192.0.2.2", 9)
SPI = 0x1234


@contextmanager
def sockets() -> Iterator[tuple[socket.socket, socket.socket]]:
    """(sender, receiver), connected to each other."""
    with socket.socket(type=socket.SOCK_DGRAM) as a, socket.socket(type=socket.SOCK_DGRAM) as b:
        for one in (a, b):
            one.bind(("127.0.0.1", 0))
            one.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
        a.connect(b.getsockname())
        b.connect(a.getsockname())
        yield a, b


def sa(direction: str, suite: str = "aes128gcm16", fill: int = 1) -> Sa:
    info = find_suite(suite)
    return Sa(
        SaParams(
            SPI,
            suite,
            direction,
            enc_key=bytes([fill]) * info.enc_key_bytes,
            auth_key=bytes([fill]) * info.auth_key_bytes,
            salt=bytes(info.salt_bytes),
            lab=True,
            replay_window=65536,
        )
    )


def finished(generator: Generator, sink: Sink) -> tuple[GeneratorStats, SinkStats]:
    while not generator.done:
        time.sleep(0.005)
    made = generator.finish()
    deadline = time.monotonic() + 5
    while sink.read().packets + sink.read().foreign < made.sent and time.monotonic() < deadline:
        time.sleep(0.01)
    return made, sink.read()


@pytest.mark.parametrize("train", [1, 7, 64])
@pytest.mark.parametrize("sizes", [(44,), (1400,), (46,) * 7 + (576,) * 4 + (1438,)])
def test_plain_packets_arrive_as_they_were_sent(train: int, sizes: tuple[int, ...]) -> None:
    with sockets() as (a, b):
        sink = Sink(b.fileno())
        sink.begin(3, check_every=1)
        made, seen = finished(
            Generator(a.fileno(), sizes, count=1200, packets_per_s=20_000, trial=3, train=train), sink
        )
        sink.close()
    assert (made.numbered, made.sent, made.failed) == (1200, 1200, 0)
    assert (seen.packets, seen.foreign, seen.reordered, seen.wrong) == (1200, 0, 0, 0)
    assert seen.checked == 1200
    assert seen.bytes == made.bytes == sum(sizes[i % len(sizes)] - 28 for i in range(1200))


def test_a_rate_is_kept_on_the_whole() -> None:
    """Counted, not timed: the number of packets is the rate times the time that it took, less what slipped."""
    with sockets() as (a, b):
        sink = Sink(b.fileno())
        sink.begin(1)
        made, _ = finished(Generator(a.fileno(), [60], count=2000, packets_per_s=5000), sink)
        sink.close()
    ran_s = made.seconds - made.slipped_ns / 1e9
    assert made.sent == 2000
    # never faster; slower by what it may catch up with at the end
    assert ran_s >= 1999 / 5000 - 0.02


def test_packets_of_another_trial_are_foreign() -> None:
    with sockets() as (a, b):
        sink = Sink(b.fileno())
        sink.begin(2)
        _, seen = finished(Generator(a.fileno(), [60], count=100, trial=1), sink)
        sink.close()
    assert (seen.packets, seen.foreign) == (0, 100)


@pytest.mark.parametrize("suite", ["aes128gcm16", "aes256-sha256", "null"])
def test_sealed_packets_open_to_what_was_sent(suite: str) -> None:
    with sockets() as (a, b), sa("out", suite) as sender, sa("in", suite) as receiver:
        sink = Sink(b.fileno(), spi=SPI, sa=receiver)
        sink.begin(5, check_every=4)
        generator = Generator(a.fileno(), [46, 46, 1400], count=999, trial=5, sa=sender, src=SRC, dst=DST)
        made, seen = finished(generator, sink)
        assert sender.counters().packets == 999
        assert receiver.counters().packets == seen.checked
        sink.close()
    assert made.sent == seen.packets == 999
    assert seen.checked == 249 and seen.wrong == 0  # sequence numbers 4, 8, ... 996


def test_a_sealed_packet_is_an_udp_packet_inside() -> None:
    with sockets() as (a, b), sa("out") as sender, sa("in") as receiver:
        with Generator(a.fileno(), [60], count=1, trial=5, sa=sender, src=SRC, dst=DST) as generator:
            esp = b.recv(2000)
            generator.finish()
        (opened,) = open_batch([(receiver, esp)])
    inner = opened.inner
    assert opened.status == "ok" and len(inner) == 60
    assert inner[12:20] == socket.inet_aton(SRC[0]) + socket.inet_aton(DST[0])
    assert inner[20:26] == bytes([0, 7, 0, 9, 0, 40])
    words = [int.from_bytes(inner[i : i + 2], "big") for i in range(0, 20, 2)]
    assert sum(words) % 0xFFFF == 0  # RFC 1071


def test_what_another_key_sealed_is_wrong() -> None:
    with sockets() as (a, b), sa("out") as sender, sa("in", fill=2) as receiver:
        sink = Sink(b.fileno(), spi=SPI, sa=receiver)
        sink.begin(5, check_every=1)
        _, seen = finished(Generator(a.fileno(), [60], count=50, trial=5, sa=sender, src=SRC, dst=DST), sink)
        sink.close()
    assert (seen.packets, seen.checked, seen.wrong) == (50, 50, 50)


def test_losses_and_detours_are_exact() -> None:
    with sockets() as (a, b), sa("out") as sender, sa("in") as receiver:
        sink = Sink(b.fileno(), spi=SPI, sa=receiver)
        sink.begin(0, check_every=1)
        generator = Generator(
            a.fileno(), [60], count=1000, sa=sender, src=SRC, dst=DST, lose_every=10, hold_every=25, hold_for=40
        )
        made, seen = finished(generator, sink)
        sink.close()
    assert (made.numbered, made.lost) == (1000, 100)
    # number 49, 99, ... are both: lost packets are not held
    assert made.held == 20
    assert made.sent == seen.packets == seen.checked == 900
    assert seen.wrong == 0  # none twice, none broken
    # the last one's followers end before its turn: it goes last, but is not overtaken by all
    assert seen.reordered == 20


def test_latencies_stand_in_the_histogram() -> None:
    with sockets() as (a, b):
        sink = Sink(b.fileno())
        sink.begin(1, times=True)
        _, seen = finished(Generator(a.fileno(), [60], count=300, packets_per_s=3000, trial=1), sink)
        histogram = sink.histogram()
        sink.close()
    assert seen.latencies == sum(histogram.values()) == 300
    assert min(histogram) <= seen.latency_min_ns <= percentile_ns(histogram, 1e-9)
    assert max(histogram) <= seen.latency_max_ns < percentile_ns(histogram, 100)
    assert list(histogram) == sorted(histogram)


def test_percentiles_are_upper_edges() -> None:
    histogram = {10: 50, 1000: 49, 1 << 20: 1}
    assert percentile_ns(histogram, 50) == 11
    assert percentile_ns(histogram, 50.5) == 1008  # 64 buckets from 512 on: 8 wide
    assert percentile_ns(histogram, 99) == 1008
    assert percentile_ns(histogram, 99.9) == (1 << 20) + (1 << 14)
    with pytest.raises(ValueError, match="empty"):
        percentile_ns({}, 50)
    one = Latency("seal", 0.5, 1.0, 100, histogram, 0.01, 0.5, 1049.0, 0.0)
    assert one.percentile_us(100) == 1049.0  # never above what was seen


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"sizes": [43]}, "44 to 9216"),
        ({"sizes": []}, "1 to 64 packet sizes"),
        ({"sizes": [60] * 65}, "1 to 64 packet sizes"),
        ({"train": 0}, "trains of 1 to 64"),
        ({"lose_every": 2}, "only sealed packets"),
        ({"packets_per_s": -1.0}, "not negative"),
    ],
)
def test_what_does_not_fit(arguments: dict[str, object], says: str) -> None:
    with sockets() as (a, _), pytest.raises(DataplaneError, match=says):
        Generator(a.fileno(), **{"sizes": [60], "count": 1, **arguments})  # type: ignore[arg-type]


def test_a_generator_that_is_forgotten_ends() -> None:
    with sockets() as (a, _):
        generator = Generator(a.fileno(), [60], count=1 << 40, packets_per_s=100.0)
        assert not generator.done
        del generator  # joins its thread
