"""/proc/net/xfrm_stat: why the kernel's IPsec dropped packets, in our words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

XFRM_STAT = Path("/proc/thread-self/net/xfrm_stat")


def word(name: str) -> str:
    """``XfrmInStateProtoError`` is ``state_proto_error``, ``XfrmInNoStates`` is ``in_no_states``."""
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.removeprefix("Xfrm")).lower()
    return re.sub(r"^in_(state_(?:proto|seq|mode|expired)\w*)", r"\1", snake)


def read(path: Path = XFRM_STAT) -> dict[str, int]:
    """By our words; empty where the kernel keeps no such statistics (CONFIG_XFRM_STATISTICS)."""
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError:
        return {}
    pairs = (line.split() for line in lines)
    return {word(pair[0]): int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def difference(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What was added, zeros left out."""
    return {name: value - before.get(name, 0) for name, value in after.items() if value != before.get(name, 0)}
