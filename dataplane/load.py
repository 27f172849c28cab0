"""Load at a stated rate, and where it arrives: threads of ``csrc/bench`` on sockets that the caller made.

Python starts a generator, sleeps, and reads what was counted; it never touches a packet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from dataplane._native import DataplaneError, fail, ffi, init, lib, new_err, set_addr
from dataplane.sa import Sa

SMALLEST_BYTES, LARGEST_BYTES = 44, 9216
"""IP packets that a generator makes."""
_BUCKETS = int(lib.GW_LATENCY_BUCKETS)


@dataclass(frozen=True, slots=True)
class GeneratorStats:
    """What a generator did."""

    numbered: int
    """Packets that were made."""
    sent: int
    bytes: int
    """UDP payload."""
    failed: int
    """Refused by the socket."""
    lost: int
    """Left out on purpose."""
    held: int
    """Sent later than their turn, on purpose."""
    started_ns: int
    ended_ns: int
    slipped_ns: int
    """By how much its schedule was moved, because the thread did not get to run."""
    cpu_ns: int
    last_errno: int

    @property
    def seconds(self) -> float:
        return (self.ended_ns - self.started_ns) / 1e9


class Generator:
    """A stream that begins at once. ``finish`` (or the end of a ``with``) ends it."""

    def __init__(
        self,
        fd: int,
        sizes: Sequence[int],
        *,
        count: int,
        packets_per_s: float = 0.0,
        max_s: float = 60.0,
        trial: int = 0,
        train: int = 64,
        sa: Sa | None = None,
        src: tuple[str, int] = ("", 0),
        dst: tuple[str, int] = ("", 0),
        lose_every: int = 0,
        hold_every: int = 0,
        hold_for: int = 0,
        sas: Sequence[Sa] = (),
        run: int = 1,
    ) -> None:
        """fd: a connected UDP socket; sizes: IP packets in bytes, taken in turns; packets_per_s: 0 = as fast as it
        goes; train: packets of one length and moment that go as one (UDP_SEGMENT), at most 64; sa: seals inner packets
        src -> dst (IPv4 address and port) and is the generator's alone until it has finished. lose_every, hold_every,
        hold_for: of so many sealed packets one is left out, or sent after hold_for others. sas: SAs of the same suite
        that seal instead of sa, in random order, run packets of one at a time. DataplaneError when the arguments do not
        fit."""
        init()
        config = ffi.new("gw_gen_config *")
        config.fd, config.trial, config.train = fd, trial & 0xFFFF, train
        config.sa = ffi.NULL if sa is None else sa.pointer
        set_addr(config.src, *src)
        set_addr(config.dst, *dst)
        config.n_sizes = len(sizes)
        for i, size in enumerate(sizes[: int(lib.GW_GEN_SIZES)]):
            config.sizes[i] = size
        config.packets_per_s, config.count, config.max_ns = packets_per_s, count, int(max_s * 1e9)
        config.lose_every, config.hold_every, config.hold_for = lose_every, hold_every, hold_for
        many = ffi.new("gw_sa *[]", [one.pointer for one in sas])
        config.sas, config.n_sas, config.run = many, len(sas), run
        err = new_err()
        self._keep = (sa, tuple(sas), many)
        self._generator = lib.gw_gen_start(config, err)
        if self._generator == ffi.NULL:
            raise fail(err, 0, "no generator")

    @property
    def done(self) -> bool:
        """It has sent all, or given up."""
        return self._generator == ffi.NULL or bool(lib.gw_gen_done(self._generator))

    def finish(self) -> GeneratorStats:
        """Stops it where it still runs. DataplaneError the second time."""
        if self._generator == ffi.NULL:
            raise DataplaneError("the generator was finished before")
        out = ffi.new("gw_gen_stats *")
        generator, self._generator = self._generator, ffi.NULL
        lib.gw_gen_finish(generator, out)
        return GeneratorStats(**_fields(GeneratorStats, out))

    def __enter__(self) -> Generator:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self._end()

    def __del__(self) -> None:
        if getattr(self, "_generator", ffi.NULL) != ffi.NULL:
            self._end()

    def _end(self) -> None:
        if self._generator != ffi.NULL:
            self.finish()


@dataclass(frozen=True, slots=True)
class SinkStats:
    """What arrived since the trial began."""

    packets: int
    bytes: int
    foreign: int
    """Of another trial or stream."""
    reordered: int
    """Came after one with a higher number."""
    checked: int
    """Content compared."""
    wrong: int
    """Of these: different, or not authentic."""
    socket_drops: int
    receives: int
    last_ns: int
    cpu_ns: int
    """Since the sink began."""
    latencies: int
    latency_sum_ns: int
    latency_min_ns: int
    latency_max_ns: int


class Sink:
    """Receives on a UDP socket until it is closed."""

    def __init__(self, fd: int, *, spi: int = 0, sa: Sa | None = None) -> None:
        """spi: 0 for a generator's payloads, else that of ESP; sa: inbound, opens the sample that is compared."""
        init()
        config = ffi.new("gw_sink_config *")
        config.fd, config.spi = fd, spi
        config.sa = ffi.NULL if sa is None else sa.pointer
        err = new_err()
        self._keep = sa
        self._sink: Any = lib.gw_sink_start(config, err)
        if self._sink == ffi.NULL:
            raise fail(err, 0, "no sink")

    def begin(self, trial: int, *, check_every: int = 64, times: bool = False) -> None:
        """Counts from 0 again; times: latencies are taken (of ESP, those of packets that are compared)."""
        lib.gw_sink_trial(self._pointer(), trial & 0xFFFF, check_every, int(times))

    def read(self) -> SinkStats:
        """Counts now."""
        out = ffi.new("gw_sink_stats *")
        lib.gw_sink_read(self._pointer(), out, ffi.NULL)
        return SinkStats(**_fields(SinkStats, out))

    def histogram(self) -> dict[int, int]:
        """Latencies: least nanoseconds of a bucket -> packets, those that are not 0, ascending."""
        out, counts = ffi.new("gw_sink_stats *"), ffi.new("uint64_t[]", _BUCKETS)
        lib.gw_sink_read(self._pointer(), out, counts)
        return {int(lib.gw_latency_ns(i)): n for i, n in enumerate(ffi.unpack(counts, _BUCKETS)) if n}

    def close(self) -> None:
        """Safe twice."""
        if self._sink != ffi.NULL:
            lib.gw_sink_free(self._sink)
            self._sink = ffi.NULL

    def _pointer(self) -> Any:
        if self._sink == ffi.NULL:
            raise DataplaneError("the sink was closed")
        return self._sink


def _fields(kind: Any, c: Any) -> dict[str, int]:
    return {name: int(getattr(c, name)) for name in kind.__dataclass_fields__}
