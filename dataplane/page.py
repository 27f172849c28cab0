"""Counter pages of a dataplane that runs in another process, read without its noticing."""

from __future__ import annotations

import struct
from types import TracebackType

from dataplane._native import check, fail, ffi, lib, new_err
from dataplane.path import LoopCounters, loop_counters
from dataplane.sa import DIRECTION_NAMES, DROP_REASONS, STATES, SaCounters

_SA = struct.Struct("=2I5Q2I19Q")
"""gw_sa_counters: a thousand of them are unpacked in a millisecond, which cffi's fields are not."""
if _SA.size != ffi.sizeof("gw_sa_counters"):
    raise ImportError("dataplane: gw_sa_counters has another layout than this module knows")


class CounterPage:
    """One loop's page, by the descriptor that its process handed over; the descriptor may be closed afterwards."""

    def __init__(self, fd: int) -> None:
        """DataplaneError when it is no counter page, or one of another version."""
        err = new_err()
        self._page = lib.gw_page_open(fd, err)
        if self._page == ffi.NULL:
            raise fail(err, 0, "cannot map the counter page")
        self._room = max(1, int(lib.gw_page_max_sas(self._page)))
        self._sas = ffi.new("gw_sa_counters[]", self._room)
        self._bytes = ffi.buffer(self._sas)
        self._loop = ffi.new("gw_loop_counters *")

    def loop(self) -> LoopCounters:
        """The loop's counters; DataplaneError when its process was killed while it wrote them."""
        check(int(lib.gw_page_loop_read(self._page, self._loop)), None, "the counters are torn")
        return loop_counters(self._loop)

    def snapshot(self) -> int:
        """Copies every SA's counters, each consistently; returns how many there are."""
        return int(lib.gw_page_sa_read(self._page, self._sas, self._room))

    def sas(self) -> list[SaCounters]:
        """Of every SA now."""
        found = []
        n = self.snapshot()
        for spi, way, packets, size, wire, seq, last_ns, state, _, created_ns, *drops in _SA.iter_unpack(
            self._bytes[: n * _SA.size]
        ):
            found.append(
                SaCounters(
                    spi=spi,
                    direction=DIRECTION_NAMES[way],
                    packets=packets,
                    bytes=size,
                    wire_bytes=wire,
                    drops={DROP_REASONS[i]: count for i, count in enumerate(drops) if count} if any(drops) else {},
                    seq=seq,
                    state=STATES[state],
                    created_ns=created_ns,
                    last_ns=last_ns,
                )
            )
        return found

    def close(self) -> None:
        """Unmaps; safe twice."""
        if self._page != ffi.NULL:
            lib.gw_page_close(self._page)
            self._page = ffi.NULL

    def __enter__(self) -> CounterPage:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_page", ffi.NULL) != ffi.NULL:
            self.close()
