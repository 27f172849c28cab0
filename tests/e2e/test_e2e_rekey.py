"""Keys changed every second under iperf3: make before break, and not one packet is lost by the SAs' own counters.

REKEY_SECONDS=60 runs for longer than the ten seconds of every day.
"""

from __future__ import annotations

import itertools
import os
import time

from dataplane import find_suite
from gateway.keys import FreshKeys, random_spi
from gateway.lab.topology import CLIENT_V4, SERVER_V4, Laboratory
from gateway.lab.tunnel import Tunnel, TunnelConfig, open_tunnel
from gateway.load import iperf3
from gateway.node.base import SaConfig, SaCounters

SUITE = "aes128gcm16"
SECONDS = int(os.environ.get("REKEY_SECONDS", "10"))
PERIOD_S = 1.0


class Rekeyer:
    """Replaces both SAs of a tunnel now and then; keeps the last counters of those that went."""

    def __init__(self, lab: Laboratory, tunnel: Tunnel) -> None:
        self.lab, self.tunnel = lab, tunnel
        self.gone: list[SaCounters] = []
        self.rekeys = 0
        self._old: list[tuple[str, int]] = []
        self._next_s = time.monotonic() + PERIOD_S

    def watch(self) -> None:
        """Called some 20 times a second while iperf3 runs."""
        if time.monotonic() < self._next_s:
            return
        self._next_s += PERIOD_S
        self.rekeys += 1
        for direction, spi in self._old:  # for a period nothing has been sent under these
            self.gone.append(self._ends(direction)[1][0].delete_sa(spi, "in"))
        self._old = [self._replace(direction) for direction in ("forward", "reverse")]

    def _ends(self, direction: str):  # type: ignore[no-untyped-def]
        ends = ((self.tunnel.left, self.lab.left), (self.tunnel.right, self.lab.right))
        return ends if direction == "forward" else ends[::-1]

    def _replace(self, direction: str) -> tuple[str, int]:
        (sender, here), (receiver, there) = self._ends(direction)
        old, new = self.tunnel.spis[direction], random_spi(self.tunnel.spis.values())
        with FreshKeys(find_suite(SUITE)) as keys:
            for node, site, other, way in ((receiver, there, here, "in"), (sender, here, there, "out")):
                node.add_sa(
                    SaConfig(
                        spi=new,
                        direction=way,
                        suite=SUITE,
                        local=site.outer,
                        peer=other.outer,
                        peer_port=4500,
                        local_port=4500,
                        enc_key=keys.enc_key,
                        auth_key=keys.auth_key,
                        salt=keys.salt,
                    )
                )
        sender.set_policy(new)
        self.gone.append(sender.delete_sa(old, "out"))
        self.tunnel.spis[direction] = new
        return direction, old


def test_no_packet_is_lost_while_keys_change() -> None:
    with Laboratory("site-to-site") as lab:
        lab.route_tunnel()
        tunnel = open_tunnel(lab, TunnelConfig(SUITE, "auto"))
        try:
            rekeyer = Rekeyer(lab, tunnel)
            load = iperf3.Load(SERVER_V4, CLIENT_V4, seconds=SECONDS, bidir=True, congestion="cubic", bitrate="400M")
            iperf3.run(load, lab.client, iperf3.NamespaceServer(lab.server), watch=rekeyer.watch)
            for _ in range(100):  # the last acknowledgements
                left, right = tunnel.counters()
                time.sleep(0.1)
                if (left.sas, right.sas) == tuple(c.sas for c in tunnel.counters()):
                    break
            sas = [*rekeyer.gone, *left.sas, *right.sas]
            by_spi = {
                spi: {sa.direction: sa.packets for sa in group}
                for spi, group in itertools.groupby(sorted(sas, key=lambda sa: sa.spi), key=lambda sa: sa.spi)
            }
            print(f"{rekeyer.rekeys} rekeys, {sum(p['out'] for p in by_spi.values())} packets")
            assert rekeyer.rekeys >= SECONDS - 2
            assert len(by_spi) == 2 * rekeyer.rekeys + 2
            assert all(p["out"] == p["in"] for p in by_spi.values()), "each SA's packets arrived, every one"
            assert sum(p["out"] > 0 for p in by_spi.values()) >= len(by_spi) - 2
            assert [sa.drops for sa in sas if sa.drops] == []
            for counters in (left, right):
                # The kernel's own packets, before the first policy was set.
                assert set(counters.drops) <= {"out_pol_block"}
                assert counters.loop["udp_rcvbuf_drops"] == counters.loop["udp_send_errors"] == 0
        finally:
            tunnel.close()
