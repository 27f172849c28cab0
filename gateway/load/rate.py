"""The rate that iperf3 was told to send at."""

from __future__ import annotations

from collections.abc import Sequence

_UDP_DEFAULT = "1M"
_FACTORS = {"K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}


def offered_mbit_per_s(command: Sequence[str]) -> float | None:
    """Of all streams together, in both directions with ``--bidir``, by iperf3's own ``command``.

    None where it sends as fast as it can: TCP without ``-b``, or ``-b 0``.
    """
    text = _value(command, "-b", _UDP_DEFAULT if "-u" in command else "0").partition("/")[0].upper()
    factor = _FACTORS.get(text[-1:], 1.0)
    bit_per_s = float(text[:-1] if text[-1:] in _FACTORS else text) * factor
    streams = int(_value(command, "-P", "1")) * (2 if "--bidir" in command else 1)
    return bit_per_s * streams / 1e6 or None


def _value(command: Sequence[str], flag: str, default: str) -> str:
    return command[command.index(flag) + 1] if flag in command else default
