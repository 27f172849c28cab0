"""The kernel's own ESP (XFRM) as a node: ``python -m gateway.node.kernel`` inside the gateway's namespace.

There is no TUN: inner prefixes are routed to the interface that holds the outer address, and policies take the packets
from there. Where no policy stands yet, one that blocks does, so that nothing leaves in clear. The data path runs in the
kernel on whatever core a packet arrives: it has no thread whose time could be told, and its CPU time is "not known".
"""

from __future__ import annotations

import contextlib
import errno
import ipaddress
import os
import socket
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import gateway
from dataplane import find_suite, suites
from gateway.errors import GwbenchError, UnusableError
from gateway.node import kernel_crypto, xfrm_stat
from gateway.node.base import Hello, ImplementationInfo, NodeCounters, PathConfig, PathInfo, SaConfig, SaCounters
from gateway.node.process import interface_counters
from gateway.node.protocol import PROTOCOL_VERSION
from gateway.node.server import run_node

if TYPE_CHECKING:
    from gateway.netlink.ipsec import Ipsec

_PROBE_SPI = 0x67777062
_REQID = 0x6777
_UDP_ENCAP, _UDP_ENCAP_ESPINUDP = 100, 2
_BLOCK_PRIORITY, _ALLOW_PRIORITY = 4000, 100
_ANY = {4: "0.0.0.0/0", 6: "::/0"}
_HINT = "use --dataplane user, or a kernel with IPsec"


def missing(family: socket.AddressFamily = socket.AF_INET) -> str:
    """What this kernel lacks for ESP, in one line; empty when nothing. Adds and removes one SA in this namespace."""
    from gateway.netlink.ipsec import EspSa, Ipsec

    # Documentation addresses: RFC 5737, RFC 3849.
    src, dst = ("192.0.2.1", "192.0.2.2") if family == socket.AF_INET else ("2001:db8::1", "2001:db8::2")
    try:
        with Ipsec() as ipsec:
            probe = EspSa(_PROBE_SPI, src, dst, find_suite("null"), b"", b"", b"", esn=False, replay_window=0)
            try:
                ipsec.add_sa(probe)
            except OSError as error:
                return "" if error.errno == errno.EEXIST else _lack(error.errno or 0, "ecb(cipher_null)", family)
            ipsec.delete_sa(_PROBE_SPI, dst)
    except OSError as error:
        if error.errno == errno.EPROTONOSUPPORT:
            return "this kernel has no XFRM: module xfrm_user is missing"
        return f"the kernel's XFRM does not answer: {error.strerror or error}"
    return ""


_MODULES = {
    "ecb(cipher_null)": "crypto_null",
    "rfc4106(gcm(aes))": "gcm, seqiv",
    "rfc7539esp(chacha20,poly1305)": "chacha20poly1305, seqiv",
    "rfc3686(ctr(aes))": "ctr, seqiv, authenc",
    "cbc(aes)": "cbc, echainiv, authenc",
}


def _lack(number: int, algorithm: str, family: socket.AddressFamily) -> str:
    if number == errno.EPROTONOSUPPORT:
        return f"this kernel has no ESP: module {'esp6' if family == socket.AF_INET6 else 'esp4'} is missing"
    if number in (errno.ENOSYS, errno.ENOENT):
        return f"this kernel lacks the algorithm {algorithm}: module {_MODULES.get(algorithm, algorithm)} is missing"
    if number == errno.EPERM:
        return "the kernel's XFRM needs CAP_NET_ADMIN"
    return f"the kernel refuses an ESP SA: {os.strerror(number)}"


def drivers(proc_crypto: str = "/proc/crypto") -> tuple[ImplementationInfo, ...]:
    """The kernel's crypto drivers as ``hello`` lists implementations; empty without /proc/crypto."""
    from pathlib import Path

    return tuple(
        ImplementationInfo(
            alg=one.name,
            driver=f"{one.driver}/kernel",
            tag="kernel",
            isa=one.module,
            kind=one.kind,
            priority=one.priority,
            constant_time=None,
            runnable=not one.internal,
            checked="passed" if one.selftest == "passed" else "not run",
        )
        for one in kernel_crypto.read(Path(proc_crypto))
    )


class KernelBackend:
    """The kernel's XFRM in this network namespace."""

    def __init__(self) -> None:
        # Here, not above: pyroute2 costs a fifth of a second, and not every import of this module needs it.
        from gateway.netlink.ipsec import Ipsec

        self._config: PathConfig | None = None
        self._socket: socket.socket | None = None
        self._interface = ("", 0)
        self._started_ns = 0
        self._statistics: dict[str, int] = {}
        self._sas: dict[tuple[int, str], tuple[SaConfig, str, str]] = {}
        """By SPI and direction: what was asked (without keys), destination, what runs."""
        self._undo = contextlib.ExitStack()
        try:
            self._ipsec: Ipsec | None = Ipsec()
        except OSError:
            self._ipsec = None

    def hello(self) -> Hello:
        """Nothing but a probe's SA is made by asking; no suite is offered where none can run."""
        system = os.uname()
        lack = missing()
        return Hello(
            kind="kernel",
            protocol=PROTOCOL_VERSION,
            version=gateway.__version__,
            machine=system.machine,
            kernel=system.release,
            cpu_features=(),
            implementations=drivers(),
            suites=() if lack else tuple(suite.name for suite in suites()),
        )

    def open_path(self, config: PathConfig) -> PathInfo:
        """Routes, blocking policies and the socket that takes ESP out of UDP. UnusableError names what lacks."""
        if self._config is not None:
            raise UnusableError("a path is open already", "close it first")
        family = socket.AF_INET6 if ":" in config.local else socket.AF_INET
        if lack := missing(family):
            raise UnusableError(lack, _HINT, "kernel-lacks")
        if config.queues > 1:
            raise UnusableError("the kernel's data path has no loops of its own", "--queues 1", "not-supported")
        try:
            self._interface = self._route(config)
            for prefix in config.routes:
                self._policy("out", _any_of(prefix), prefix, None, _BLOCK_PRIORITY)
            port = self._encapsulate(config, family)
        except BaseException:
            self._undo.close()
            raise
        self._config = replace(config, port=port)
        self._started_ns = time.monotonic_ns()
        self._statistics = xfrm_stat.read()
        return PathInfo(self._interface[0], self._interface[1], port, (), 1, 0, 0, 1)

    def _route(self, config: PathConfig) -> tuple[str, int]:
        from gateway.node.routes import route_to_interface

        try:
            interface, undo = route_to_interface(config)
        except OSError as error:
            raise UnusableError(f"cannot route {', '.join(config.routes)}: {error.strerror or error}") from None
        self._undo.callback(undo)
        return interface

    def _encapsulate(self, config: PathConfig, family: socket.AddressFamily) -> int:
        if config.encap != "udp":
            return 0
        sock = socket.socket(family, socket.SOCK_DGRAM)
        self._undo.callback(sock.close)
        try:
            sock.bind((config.local, config.port))
            sock.setsockopt(socket.IPPROTO_UDP, _UDP_ENCAP, _UDP_ENCAP_ESPINUDP)
        except OSError as error:
            raise UnusableError(f"UDP port {config.port} of {config.local}: {error.strerror}", "--encap esp") from None
        self._socket = sock
        return int(sock.getsockname()[1])

    def _policy(
        self, direction: str, src: str, dst: str, template: tuple[str, str, int, int] | None, priority: int
    ) -> None:
        ipsec = self._open_ipsec()
        try:
            ipsec.set_policy(direction, src, dst, template, priority)
        except OSError as error:
            raise UnusableError(f"policy {src} -> {dst} {direction}: {error.strerror}") from None

        def undo() -> None:
            with contextlib.suppress(OSError):
                ipsec.delete_policy(direction, src, dst)

        self._undo.callback(undo)

    def add_sa(self, config: SaConfig) -> str:
        """Returns the drivers that the kernel chose, from /proc/crypto's use counts."""
        from gateway.netlink.ipsec import EspSa, instance_name

        path, ipsec = self._open(), self._open_ipsec()
        suite = find_suite(config.suite)
        if suite.bench_only and not config.lab:
            raise UnusableError(f"suite '{config.suite}' does not encrypt", "for the laboratory only")
        if config.implementation not in ("auto", "accelerated", "kernel"):
            raise UnusableError(
                f"the kernel chooses its drivers by priority, not by the word '{config.implementation}'",
                "--driver NAME changes priorities",
                "not-supported",
            )
        outward = config.direction == "out"
        src, dst = (config.local, config.peer) if outward else (config.peer, config.local)
        ports = (config.local_port, config.peer_port) if outward else (config.peer_port, config.local_port)
        sa = EspSa(
            config.spi,
            src,
            dst,
            suite,
            config.enc_key,
            config.auth_key,
            config.salt,
            direction=config.direction,
            mode=config.mode,
            reqid=_REQID,
            icv_bytes=config.icv_bytes,
            esn=config.esn,
            replay_window=config.replay_window,
            encap_ports=ports if path.encap == "udp" else None,
        )
        before = kernel_crypto.read()
        try:
            ipsec.add_sa(sa)
        except OSError as error:
            family = socket.AF_INET6 if ":" in dst else socket.AF_INET
            raise UnusableError(
                f"SA {config.spi:#x}: {_lack(error.errno or 0, _algorithm(config.suite), family)}",
                _HINT,
                "kernel-lacks",
            ) from None
        runs = kernel_crypto.running(instance_name(suite, config.esn), before, kernel_crypto.read())
        words = kernel_crypto.words(runs) or "unknown/kernel"
        self._sas[config.spi, config.direction] = (replace(config, enc_key=b"", auth_key=b"", salt=b""), dst, words)
        if not outward:
            for prefix in path.routes:
                for direction in ("in", "fwd"):
                    template = (src, dst, _REQID, 0)
                    self._policy(direction, prefix, _any_of(prefix), template, _ALLOW_PRIORITY)
        return words

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        """The kernel wipes its keys; the counters are read before, packets in between are lost to them."""
        if (spi, direction) not in self._sas:
            raise UnusableError(f"there is no SA {spi:#x} {direction}", code="error")
        (last,) = (sa for sa in self._counters_of_sas() if (sa.spi, sa.direction) == (spi, direction))
        _, dst, _ = self._sas.pop((spi, direction))
        try:
            self._open_ipsec().delete_sa(spi, dst)
        except OSError as error:
            raise UnusableError(f"SA {spi:#x}: {error.strerror}") from None
        return last

    def set_policy(self, spi: int, src: str, dst: str) -> None:
        """Inner packets src -> dst (empty: any, to the path's routes) leave under exactly this SA."""
        path = self._open()
        if (spi, "out") not in self._sas:
            raise UnusableError(f"there is no SA {spi:#x} out")
        config, _, _ = self._sas[spi, "out"]
        template = (config.local, config.peer, _REQID, spi)
        for prefix in [dst] if dst else path.routes:
            self._policy("out", src or _any_of(prefix), prefix, template, _ALLOW_PRIORITY)

    def counters(self, first: int, most: int) -> NodeCounters:
        """SAs from NETLINK_XFRM, drops without one from /proc/net/xfrm_stat since the path was opened."""
        self._open()
        sas = self._counters_of_sas()
        drops = xfrm_stat.difference(self._statistics, xfrm_stat.read())
        for sa in sas:  # what an SA accounts for is not the namespace's
            for reason, count in sa.drops.items():
                drops[reason] = drops.get(reason, 0) - count
        loop = {
            "alive": 1,
            "started_ns": self._started_ns,
            "now_ns": time.monotonic_ns(),
            "xfrm_out_packets": sum(sa.packets for sa in sas if sa.direction == "out"),
            "xfrm_in_packets": sum(sa.packets for sa in sas if sa.direction == "in"),
        }
        return NodeCounters(
            sas=tuple(sas[first : first + most]),
            loop=loop,
            drops={reason: count for reason, count in drops.items() if count > 0},
            stage_cycles={},
            cpu_ns=0,
            interfaces=interface_counters(),
            sas_there=len(sas),
        )

    def _counters_of_sas(self) -> list[SaCounters]:
        try:
            there = {(sa.spi, sa.dst): sa for sa in self._open_ipsec().sas()}
        except OSError as error:
            raise UnusableError(f"the kernel does not list its SAs: {error.strerror}") from None
        found = []
        for (spi, direction), (_, dst, runs) in self._sas.items():
            sa = there.get((spi, dst))
            if sa is None:
                raise UnusableError(f"SA {spi:#x} {direction} is gone: somebody else removed it", code="path-ended")
            drops = {"state_proto_error": sa.integrity_failed, "state_seq_error": sa.outside_window + sa.replayed}
            found.append(
                SaCounters(
                    spi=spi,
                    direction=direction,
                    packets=sa.packets,
                    bytes=sa.bytes,
                    wire_bytes=0,
                    drops={reason: count for reason, count in drops.items() if count},
                    seq=sa.seq,
                    state="valid",
                    implementation=runs,
                )
            )
        return found

    def health(self) -> None:
        """UnusableError ``path-ended`` when somebody removed an SA."""
        if self._sas:
            self._counters_of_sas()

    def close(self) -> None:
        """SAs, policies, routes and socket gone; safe twice, never raises."""
        for (spi, _), (_, dst, _) in list(self._sas.items()):
            if self._ipsec is not None:
                with contextlib.suppress(OSError):
                    self._ipsec.delete_sa(spi, dst)
        self._sas.clear()
        with contextlib.suppress(OSError, GwbenchError):
            self._undo.close()
        if self._ipsec is not None:
            self._ipsec.close()
        self._ipsec, self._config = None, None

    def _open(self) -> PathConfig:
        if self._config is None:
            raise UnusableError("no path is open", "open_path comes first", "no-path")
        return self._config

    def _open_ipsec(self) -> Ipsec:
        if self._ipsec is None:
            raise UnusableError("this kernel has no XFRM: module xfrm_user is missing", _HINT, "kernel-lacks")
        return self._ipsec


def _any_of(prefix: str) -> str:
    return _ANY[ipaddress.ip_network(prefix, strict=False).version]


def _algorithm(suite: str) -> str:
    """The one that the kernel most likely lacks when it says "no such algorithm"."""
    from gateway.netlink.ipsec import AEADS, CIPHERS

    cipher = find_suite(suite).enc_alg
    return AEADS.get(cipher) or CIPHERS.get(cipher, cipher)


def main() -> int:
    """Entry point of the process."""
    return run_node(KernelBackend, "The kernel's IPsec as a gwbench node; line JSON on stdin and stdout.")


if __name__ == "__main__":
    sys.exit(main())
