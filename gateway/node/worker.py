"""A node on our own dataplane: ``python -m gateway.node.worker`` inside the gateway's namespace."""

from __future__ import annotations

import argparse
import dataclasses
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from functools import partial

import dataplane
import gateway
from dataplane import (
    Dataplane,
    DataplaneConfig,
    DataplaneError,
    SaParams,
    Selector,
    cpu_features,
    implementations,
    suites,
)
from gateway.errors import GwbenchError, MeasurementError, UnusableError
from gateway.node import privileges
from gateway.node.base import (
    Hello,
    ImplementationInfo,
    LoopCounters,
    NodeCounters,
    PathConfig,
    PathInfo,
    SaConfig,
    SaCounters,
)
from gateway.node.process import enter_netns, harden, interface_counters, threads_cpu_ns
from gateway.node.protocol import PROTOCOL_VERSION
from gateway.node.server import run_node
from gateway.selection import select


class DataplaneBackend:
    """One data path and its SAs."""

    def __init__(self, tun_netns_fd: int | None = None, pages_fd: int | None = None) -> None:
        """tun_netns_fd: the network namespace that gets the TUN, while the outer sockets stay where the process is;
        pages_fd: a Unix socket that is sent the counter pages' descriptors when the path is open."""
        self._tun_netns_fd = tun_netns_fd
        self._pages_fd = pages_fd
        self._path: Dataplane | None = None
        self._loops = 0
        self._implementations: dict[tuple[int, str], str] = {}

    def hello(self) -> Hello:
        """Nothing is changed by asking."""
        system = os.uname()
        return Hello(
            kind="worker",
            protocol=PROTOCOL_VERSION,
            version=gateway.__version__,
            machine=system.machine,
            kernel=system.release,
            cpu_features=cpu_features(),
            implementations=tuple(ImplementationInfo(**dataclasses.asdict(impl)) for impl in implementations()),
            suites=tuple(suite.name for suite in suites()),
        )

    def open_path(self, config: PathConfig) -> PathInfo:
        """TUN, addresses, routes and sockets; the loops run when it returns."""
        if self._path is not None:
            raise UnusableError("a path is open already", "close it first")
        try:
            path = Dataplane(
                DataplaneConfig(
                    local=config.local,
                    port=config.port,
                    tun=config.tun,
                    mtu=config.mtu,
                    txqueuelen=config.txqueuelen,
                    queues=config.queues,
                    rcvbuf_bytes=config.rcvbuf_bytes,
                    sndbuf_bytes=config.sndbuf_bytes,
                    offload=config.offload,
                    max_sas=config.max_sas,
                    udp_checksum=config.udp_checksum,
                    encap=config.encap,
                    clamp_mss=config.clamp_mss,
                    fragment=config.fragment,
                )
            )
        except DataplaneError as error:
            asked = f"asked for: TUN {config.tun}, outer address {config.local}, UDP port {config.port}"
            raise UnusableError(error.message, asked) from None
        try:
            info = path.describe()
            # Here, not above: the import costs a fifth of a second, and hello should not.
            from gateway.node.tun import configure_tun, move_tun

            if self._tun_netns_fd is not None:
                # This thread goes along, for the counters of the TUN; descriptors do not care.
                move_tun(info.ifindex, self._tun_netns_fd)
                enter_netns(os.dup(self._tun_netns_fd))
                info = dataclasses.replace(info, ifindex=socket.if_nametoindex(info.tun))
            configure_tun(info.ifindex, info.tun, config)
            path.start()
        except DataplaneError as error:
            path.close()
            raise UnusableError(error.message) from None
        except BaseException:
            path.close()
            raise
        self._path, self._loops = path, info.queues
        if self._pages_fd is not None:
            pages = [path.counters_fd(loop) for loop in range(info.queues)]
            with socket.socket(fileno=os.dup(self._pages_fd)) as to:
                socket.send_fds(to, [b"pages"], pages)
        return PathInfo(
            tun=info.tun,
            ifindex=info.ifindex,
            port=info.port,
            offload=info.offload,
            gso_max_segments=info.gso_max_segments,
            rcvbuf_bytes=info.rcvbuf_bytes,
            sndbuf_bytes=info.sndbuf_bytes,
            queues=info.queues,
            ports=info.ports,
        )

    def add_sa(self, config: SaConfig) -> str:
        """The SA is in the loop when it returns."""
        path = self._open()
        if config.df not in ("copy", "set", "clear"):
            raise UnusableError(f"SA {config.spi:#x}: unknown value '{config.df}'", code="bad-request")
        try:
            implementation = path.sa_add(
                SaParams(
                    spi=config.spi,
                    suite=config.suite,
                    direction=config.direction,
                    enc_key=config.enc_key,
                    auth_key=config.auth_key,
                    salt=config.salt,
                    implementation=config.implementation,
                    mode=config.mode,
                    esn=config.esn,
                    lab=config.lab,
                    icv_bytes=config.icv_bytes,
                    replay_window=config.replay_window,
                    loop=config.loop,
                    copy_df=config.df == "copy",
                    set_df=config.df == "set",
                    copy_dscp=config.copy_dscp,
                    ecn=config.ecn,
                    roam=config.roam,
                    selector=Selector(src=config.selector_src, dst=config.selector_dst),
                    local=config.local,
                    local_port=config.local_port,
                    peer=config.peer,
                    peer_port=config.peer_port,
                )
            )
        except (DataplaneError, ValueError, KeyError) as error:
            raise self._failed(error, f"SA {config.spi:#x}") from None
        self._implementations[config.spi, config.direction] = implementation
        return implementation

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        """The SA is wiped when it returns."""
        path = self._open()
        try:
            last = path.sa_del(spi, direction)
        except (DataplaneError, KeyError) as error:
            raise self._failed(error, f"SA {spi:#x}") from None
        return _counters_of(last, self._implementations.pop((spi, direction), ""))

    def set_policy(self, spi: int, src: str, dst: str) -> None:
        """An equal selector is replaced (make before break)."""
        path = self._open()
        try:
            path.policy_set(Selector(src=src, dst=dst), spi)
        except (DataplaneError, ValueError) as error:
            raise self._failed(error, f"policy for SA {spi:#x}") from None

    def counters(self, first: int, most: int) -> NodeCounters:
        """Each loop and the sums; ``loop["alive"]`` is 0 when one ended by itself."""
        path = self._open()
        loops = tuple(_loop_of(path.loop_counters(index)) for index in range(self._loops))
        loop = _sums(one.counters for one in loops)
        loop["started_ns"] = min(one.counters["started_ns"] for one in loops)
        loop["now_ns"] = max(one.counters["now_ns"] for one in loops)
        try:
            path.health()
            loop["alive"] = 1
        except DataplaneError:
            loop["alive"] = 0
        cpu_ns = threads_cpu_ns()
        sas, sas_there = path.sa_page(first, most)
        return NodeCounters(
            sas=tuple(_counters_of(sa, self._implementations.get((sa.spi, sa.direction), "")) for sa in sas),
            loop=loop,
            drops=_sums(one.drops for one in loops),
            stage_cycles=_sums(one.stage_cycles for one in loops),
            cpu_ns=loop["cpu_ns"] if cpu_ns < 0 else cpu_ns,
            interfaces=interface_counters(),
            loops=loops,
            sas_there=sas_there,
        )

    def health(self) -> None:
        """MeasurementError with the loop's own last line."""
        try:
            self._open().health()
        except DataplaneError as error:
            raise MeasurementError(error.message, code="path-ended") from None

    def close(self) -> None:
        """Loops joined, SAs wiped, TUN gone; safe twice."""
        if self._path is not None:
            self._path.close()
            self._path = None

    def _open(self) -> Dataplane:
        if self._path is None:
            raise UnusableError("no path is open", "open_path comes first", "no-path")
        return self._path

    def _failed(self, error: Exception, what: str) -> GwbenchError:
        """A refused command, unless the loop that should have answered it is gone."""
        self.health()
        if isinstance(error, KeyError):  # a word that one of the dataplane's tables does not have
            return UnusableError(f"{what}: unknown value {error}", code="bad-request")
        return UnusableError(f"{what}: {error}")


def _fastest_backend(own: argparse.Namespace) -> DataplaneBackend:
    """With the implementations that are the fastest here; GWBENCH_SELECT says how they are found."""
    if own.keep is not None:
        _load_what_paths_need()
        privileges.drop(own.user, own.keep)
        harden()  # another user's process is dumpable again
    select()
    return DataplaneBackend(own.tun_netns_fd, own.pages_fd)


def _load_what_paths_need() -> None:
    """The next user may have no way to this package: home directories are closed to others."""
    from pyroute2 import IPRoute

    import gateway.node.tun  # noqa: F401

    IPRoute().close()


def _sums(parts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def _loop_of(one: dataplane.LoopCounters) -> LoopCounters:
    counters = dict(one.values)
    for name, histogram in (("seal", one.seal_batch_hist), ("open", one.open_batch_hist)):
        counters |= {f"{name}_batch_hist_{bucket}": value for bucket, value in enumerate(histogram)}
    return LoopCounters(counters["cpu_ns"], one.stage_cycles, one.drops, counters)


def _counters_of(sa: dataplane.SaCounters, implementation: str) -> SaCounters:
    return SaCounters(
        spi=sa.spi,
        direction=sa.direction,
        packets=sa.packets,
        bytes=sa.bytes,
        wire_bytes=sa.wire_bytes,
        drops=sa.drops,
        seq=sa.seq,
        state=sa.state,
        implementation=implementation,
    )


def main() -> int:
    """Entry point of the process."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--tun-netns-fd", type=int)
    parser.add_argument("--pages-fd", type=int)
    parser.add_argument("--user")
    parser.add_argument("--keep", type=int, nargs="*")
    own, rest = parser.parse_known_args()
    what = "A gwbench data path that speaks line JSON on stdin and stdout."
    return run_node(partial(_fastest_backend, own), what, rest)


if __name__ == "__main__":
    sys.exit(main())
