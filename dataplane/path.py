"""The running dataplane: a TUN, outer sockets and loop threads in C. No packet passes through Python."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any

from dataplane._native import (
    DataplaneError,
    check,
    fail,
    ffi,
    get_addr,
    init,
    lib,
    new_err,
    set_addr,
    text,
)
from dataplane.sa import (
    DIRECTIONS,
    SaCounters,
    SaParams,
    Selector,
    c_params,
    drops_by_name,
    fill_selector,
    sa_counters,
)
from dataplane.suites import ENCAPS

OFFLOADS: dict[str, int] = {
    "tun-tso": int(lib.GW_OFF_TUN_TSO),
    "udp-gso": int(lib.GW_OFF_UDP_GSO),
    "udp-gro": int(lib.GW_OFF_UDP_GRO),
    "tun-coalesce": int(lib.GW_OFF_TUN_COALESCE),
    "tun-uso": int(lib.GW_OFF_TUN_USO),
}

FRAGMENT: dict[str, int] = {"after": 0, "before": int(lib.GW_DP_FRAGMENT_BEFORE)}

_ARRAYS = ("drops", "stage_cycles", "seal_batch_hist", "open_batch_hist")
_SCALARS: tuple[str, ...] = tuple(name for name, _ in ffi.typeof("gw_loop_counters").fields if name not in _ARRAYS)


@dataclass(frozen=True, slots=True)
class DataplaneConfig:
    """See gw_dp_config."""

    local: str
    """Outer address."""
    port: int = 4500
    """Outer UDP port; 0 = any free one."""
    tun: str = ""
    mtu: int = 1400
    txqueuelen: int = 10000
    queues: int = 1
    rcvbuf_bytes: int = 8 << 20
    sndbuf_bytes: int = 8 << 20
    offload: tuple[str, ...] = ("tun-tso", "udp-gso", "udp-gro", "tun-coalesce")
    max_sas: int = 64
    udp_checksum: bool = True
    encap: str = "udp"
    tun_fd: int = -1
    clamp_mss: bool = True
    """Lower TCP's MSS to what the tunnel has room for, both directions."""
    fragment: str = "after"
    """Where IPv4 without DF that does not fit is cut: ``before`` or ``after`` sealing."""


@dataclass(frozen=True, slots=True)
class DataplaneInfo:
    """What was granted."""

    tun: str
    ifindex: int
    local: str
    port: int
    offload: tuple[str, ...]
    gso_max_segments: int
    rcvbuf_bytes: int
    sndbuf_bytes: int
    queues: int
    ports: tuple[int, ...]
    """Outer ports of the loops."""


@dataclass(frozen=True, slots=True)
class LoopCounters:
    """One loop's counters at one moment."""

    values: dict[str, int]
    """gw_loop_counters' numbers by name."""
    drops: dict[str, int]
    """Drops without an SA, by reason."""
    stage_cycles: dict[str, int]
    """Clock cycles by stage, since start."""
    seal_batch_hist: tuple[int, ...]
    open_batch_hist: tuple[int, ...]
    """Batches by size: 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, 65-128, more."""


def stage_names() -> tuple[str, ...]:
    """Names of the loop's stages, by GW_STAGE_*."""
    return tuple(text(lib.gw_stage_name(i)) for i in range(int(lib.GW_STAGES)))


def loop_counters(c: Any) -> LoopCounters:
    """A gw_loop_counters as a dataclass."""
    return LoopCounters(
        values={name: int(getattr(c, name)) for name in _SCALARS},
        drops=drops_by_name(c.drops),
        stage_cycles=dict(zip(stage_names(), (int(n) for n in c.stage_cycles), strict=True)),
        seal_batch_hist=tuple(int(n) for n in c.seal_batch_hist),
        open_batch_hist=tuple(int(n) for n in c.open_batch_hist),
    )


class Dataplane:
    """Opens the TUN and the sockets (CAP_NET_ADMIN); ``start`` runs the loops; ``close`` joins and wipes everything."""

    def __init__(self, config: DataplaneConfig) -> None:
        init()
        unknown = [name for name in config.offload if name not in OFFLOADS]
        if unknown:
            raise DataplaneError(f"no offload is called '{unknown[0]}'; there are: {', '.join(OFFLOADS)}")
        if config.encap not in ENCAPS:
            raise DataplaneError(f"no encapsulation is called '{config.encap}'; there are: {', '.join(ENCAPS)}")
        if config.fragment not in FRAGMENT:
            raise DataplaneError(
                f"no place of fragmentation is called '{config.fragment}'; there are: {', '.join(FRAGMENT)}"
            )
        self._dp = ffi.NULL
        c = ffi.new("gw_dp_config *")
        tun = ffi.new("char[]", config.tun.encode())
        c.tun_name = tun
        set_addr(c.local, config.local, config.port)
        for name in ("mtu", "txqueuelen", "queues", "rcvbuf_bytes", "sndbuf_bytes", "max_sas", "tun_fd"):
            setattr(c, name, getattr(config, name))
        c.offload = sum(OFFLOADS[name] for name in set(config.offload))
        c.udp_checksum = int(config.udp_checksum)
        c.encap = ENCAPS[config.encap]
        c.flags = FRAGMENT[config.fragment] | (0 if config.clamp_mss else int(lib.GW_DP_KEEP_MSS))
        err = new_err()
        self._max_sas = config.max_sas or 64
        self._dp = lib.gw_dp_new(c, err)
        if self._dp == ffi.NULL:
            raise fail(err, 0, "cannot open the data path")

    @property
    def _pointer(self) -> Any:
        if self._dp == ffi.NULL:
            raise DataplaneError("the data path was closed")
        return self._dp

    def start(self) -> None:
        """Starts the loop threads."""
        err = new_err()
        check(int(lib.gw_dp_start(self._pointer, err)), err, "cannot start the loops")

    def describe(self) -> DataplaneInfo:
        """What was granted."""
        info = ffi.new("gw_dp_info *")
        lib.gw_dp_describe(self._pointer, info)
        local, port = get_addr(info.local)
        offload = tuple(name for name, bit in OFFLOADS.items() if int(info.offload) & bit)
        return DataplaneInfo(
            tun=text(info.tun_name),
            ifindex=int(info.ifindex),
            local=local,
            port=port,
            offload=offload,
            gso_max_segments=int(info.gso_max_segments),
            rcvbuf_bytes=int(info.rcvbuf_bytes),
            sndbuf_bytes=int(info.sndbuf_bytes),
            queues=int(info.queues),
            ports=tuple(int(lib.gw_dp_port(self._pointer, loop)) for loop in range(int(info.queues))),
        )

    def health(self) -> None:
        """DataplaneError with the reason when a loop has ended by itself."""
        err = new_err()
        check(int(lib.gw_dp_health(self._pointer, err)), err, "the data path has ended")

    def sa_add(self, params: SaParams) -> str:
        """Installs an SA; returns after the loop has acknowledged it: what runs it (``driver + driver``)."""
        err = new_err()
        ran = ffi.new("char[]", 160)
        p, keep = c_params(params)
        result = int(lib.gw_dp_sa_add(self._pointer, p, ran, len(ran), err))
        del keep
        check(result, err, f"cannot install SA {params.spi:#x}")
        return text(ran)

    def sa_del(self, spi: int, direction: str) -> SaCounters:
        """Removes and wipes an SA; returns what it had counted, which no later reading has."""
        err = new_err()
        last = ffi.new("gw_sa_counters *")
        result = int(lib.gw_dp_sa_del(self._pointer, spi, DIRECTIONS[direction], last, err))
        check(result, err, f"cannot remove SA {spi:#x}")
        return sa_counters(last)

    def policy_set(self, selector: Selector, spi: int) -> None:
        """Packets that match leave under the outbound SA ``spi``; an equal selector is replaced."""
        err = new_err()
        c = ffi.new("gw_selector *")
        fill_selector(c, selector)
        check(int(lib.gw_dp_policy_set(self._pointer, c, spi, err)), err, "cannot set the policy")

    def policy_del(self, selector: Selector) -> None:
        """Removes the policy of an equal selector."""
        err = new_err()
        c = ffi.new("gw_selector *")
        fill_selector(c, selector)
        check(int(lib.gw_dp_policy_del(self._pointer, c, err)), err, "cannot remove the policy")

    def loop_counters(self, loop: int = 0) -> LoopCounters:
        """Counters of one loop."""
        c = ffi.new("gw_loop_counters *")
        check(int(lib.gw_dp_loop_read(self._pointer, loop, c)), None, f"loop {loop}")
        return loop_counters(c)

    def sa_counters(self) -> tuple[SaCounters, ...]:
        """Counters of every SA."""
        return self.sa_page(0, self._max_sas)[0]

    def sa_page(self, first: int, most: int) -> tuple[tuple[SaCounters, ...], int]:
        """Counters of ``most`` SAs at most, from the ``first`` on, and how many SAs there are."""
        out = ffi.new("gw_sa_counters[]", self._max_sas)
        n = int(lib.gw_dp_sa_read(self._pointer, out, self._max_sas))
        return tuple(sa_counters(out[i]) for i in range(min(first, n), min(first + most, n))), n

    def counters_fd(self, loop: int = 0) -> int:
        """The memfd of a loop's counter page; it belongs to the dataplane."""
        return check(int(lib.gw_dp_counters_fd(self._pointer, loop)), None, f"no counter page of loop {loop}")

    def close(self) -> None:
        """Stops, joins, wipes, closes; safe twice."""
        if self._dp != ffi.NULL:
            lib.gw_dp_free(self._dp)
            self._dp = ffi.NULL

    def __enter__(self) -> Dataplane:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_dp", ffi.NULL) != ffi.NULL:
            self.close()
