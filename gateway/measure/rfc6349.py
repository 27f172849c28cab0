"""``gwbench iperf --rfc6349``: for every candidate a baseline without load, then transfers with windows in steps."""

from __future__ import annotations

import socket
import statistics
import struct
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway import rfc6349
from gateway.errors import MeasurementError
from gateway.lab import gate
from gateway.lab.namespaces import NetworkNamespace
from gateway.lab.topology import CLIENT_V4, OUTER_MTU, SERVER_V4
from gateway.lab.tunnel import Tunnel
from gateway.load import iperf3
from gateway.measure.endtoend import EndToEnd, Options, Plan, Progress
from gateway.measure.machines import Machines
from gateway.measure.sample import Sample
from gateway.rounds import Case, Repeats, Taken
from gateway.rounds import run as run_rounds

HANDSHAKES = 100
STREAMS = 4
"""For the bottleneck: one stream alone may not fill the path."""
_PORT = 9076
_TCPI_RTT, _TCPI_SND_MSS = 8 + 15 * 4, 8 + 2 * 4
"""Offsets in linux/tcp.h's tcp_info."""


class Rfc6349(EndToEnd):
    """Measures a candidate by RFC 6349's steps; its sample is the transfer of the kernel's own window."""

    def __init__(
        self,
        machines: Machines,
        ends: tuple[NetworkNamespace, NetworkNamespace],
        options: Options,
        load: iperf3.Load,
        progress: Progress,
    ) -> None:
        """ends: client and server."""
        super().__init__(machines, options, load, progress)
        self._ends = ends
        self._plain_load = load
        self.paths: dict[Case, list[rfc6349.Path]] = {}

    def _measured(self, case: Case, tunnel: Tunnel | None, report: gate.GateReport | None) -> Sample:
        self._progress.stage("round trips without load")
        rtts, mss = handshakes(*self._ends)
        base, load = min(rtts), self._plain_load
        self._progress.stage(f"the bottleneck, by {STREAMS} streams")
        self._load = replace(load, parallel=STREAMS)
        wide = self._transfer(case, tunnel, report, None, mss)
        self._load = load
        self._progress.stage("the kernel's own window")
        own = self._transfer(case, tunnel, report, None, mss)
        bottleneck = max(wide[1].mbit_per_s, own[1].mbit_per_s)
        transfers = []
        largest = largest_window()
        for share in rfc6349.SHARES:
            window = rfc6349.window_bytes(share, rfc6349.bdp_bytes(bottleneck, base))
            if window > largest:
                continue  # net.core.wmem_max: iperf3 would refuse
            self._progress.stage(f"a window of {window:,} bytes, {share:.0%} of the bandwidth-delay product")
            self._load = replace(load, window_bytes=window)
            transfers.append(self._transfer(case, tunnel, report, share, mss)[1])
        self._load = load
        fastest = max(t.mbit_per_s for t in (wide[1], own[1], *transfers))
        path = rfc6349.Path(
            tunnel.inner_mtu if tunnel else OUTER_MTU, base, statistics.median(rtts), fastest, (*transfers, own[1])
        )
        # A measurement that is repeated because of noise replaces what it gave before.
        kept = self.paths.setdefault(case, [])
        del kept[self._round :]
        kept.append(path)
        return own[0]

    def measure(self, case: Case, number: int) -> Sample:
        self._round = number
        return super().measure(case, number)

    def _transfer(
        self, case: Case, tunnel: Tunnel | None, report: gate.GateReport | None, share: float | None, mss: int
    ) -> tuple[Sample, rfc6349.Transfer]:
        sample = super()._measured(case, tunnel, report)
        if sample.verdict is not None and sample.verdict.reasons:
            raise MeasurementError(f"{case.label}: {sample.verdict.reasons[0]}", code="invalid")
        (flow,) = sample.load.flows
        if flow.received_bytes == 0:
            raise MeasurementError(f"{case.label}: nothing arrived", code="iperf3")
        return sample, rfc6349.Transfer(
            self._load.window_bytes,
            share,
            flow.seconds,
            flow.received_bytes,
            flow.sent_bytes,
            flow.retransmits,
            mss,
            flow.mean_rtt_us,
        )


def run(
    machines: Machines,
    ends: tuple[NetworkNamespace, NetworkNamespace],
    options: Options,
    checked: Plan,
    progress: Progress,
) -> tuple[Mapping[Case, Sequence[Taken[Sample]]], list[dict[str, Any]]]:
    """All candidates in rounds: (the transfers of the kernel's window, what the result's ``rfc6349`` says)."""
    procedure = Rfc6349(machines, ends, options, checked.load, progress)
    repeats = Repeats(max(0, options.repeats))
    taken = run_rounds(
        checked.cases,
        options.rounds,
        procedure.measure,
        lambda sample: sample.noise.reason,
        repeats,
        progress.repeat,
    )
    found = []
    for case in checked.cases:
        of_this = taken[case][0].value
        found.append(
            {
                "role": case.role,
                "suite": case.suite or None,
                "implementation": of_this.implementation or None,
                "dataplane": case.dataplane,
                "driver": case.driver or None,
                **rfc6349.describe(procedure.paths[case]),
            }
        )
    return taken, found


def handshakes(client: NetworkNamespace, server: NetworkNamespace, n: int = HANDSHAKES) -> tuple[list[float], int]:
    """(round trips of n TCP handshakes by the client's kernel in microseconds, the segment size that was agreed on).

    Kernels answer a SYN themselves: no program's wake-up is in it. MeasurementError when none is answered.
    """
    rtts = []
    mss = 0
    with server.entered(), client_socket() as listener:
        listener.bind((SERVER_V4, _PORT))
        listener.listen(n + 16)
        for _ in range(n):
            with client.entered():
                one = client_socket()
            with one:
                one.settimeout(2.0)
                one.bind((CLIENT_V4, 0))
                try:
                    one.connect((SERVER_V4, _PORT))
                except OSError as error:
                    raise MeasurementError(f"no TCP connection through the path: {error}", code="no-path") from None
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
                rtts.append(float(struct.unpack_from("=I", info, _TCPI_RTT)[0]))
                mss = int(struct.unpack_from("=I", info, _TCPI_SND_MSS)[0])
    return [max(rtt, 1.0) for rtt in rtts], mss


def client_socket() -> socket.socket:
    """TCP, in the thread's namespace."""
    return socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)


def largest_window(core: Path = Path("/proc/sys/net/core")) -> int:
    """That any program may ask for, bytes."""
    found = []
    for name in ("wmem_max", "rmem_max"):
        try:
            found.append(int((core / name).read_text()))
        except (OSError, ValueError):
            continue
    return min(found, default=212992)
