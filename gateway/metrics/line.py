"""What the line can carry: as configured, or the speed of the interface that has the outer address."""

from __future__ import annotations

import contextlib
from pathlib import Path

from gateway.metrics.exposition import Families


class Line:
    """The collector. Virtual interfaces have no speed: then there is no series."""

    name = "line"

    def __init__(self, local: str, mbit: float = 0.0, sys: Path = Path("/sys")) -> None:
        self._local, self._mbit, self._sys = local, mbit, sys

    def collect(self, families: Families) -> None:
        """OSError when the kernel cannot be asked."""
        mbit = self._mbit or self._speed()
        if mbit > 0:
            families.add("gwbench_line_bytes_per_second", (), mbit * 1e6 / 8)

    def _speed(self) -> float:
        from pyroute2 import IPRoute

        with IPRoute() as ip:
            for one in ip.get_addr():
                if self._local in (one.get_attr("IFA_LOCAL"), one.get_attr("IFA_ADDRESS")):
                    name = ip.get_links(int(one["index"]))[0].get_attr("IFLA_IFNAME")
                    with contextlib.suppress(OSError, ValueError):  # EINVAL: it has none, or is down
                        return float((self._sys / "class/net" / str(name) / "speed").read_text())
        return 0.0
