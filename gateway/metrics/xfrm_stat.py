"""/proc/net/xfrm_stat, by the words of the kernel's documentation: XfrmInNoStates becomes in_no_states."""

from __future__ import annotations

import re
from pathlib import Path

from gateway.metrics.exposition import Families

_WORD = re.compile(r"(?<!^)(?=[A-Z])")


class XfrmStat:
    """The collector. A kernel without XFRM has no such file, and then there is no series."""

    name = "xfrm_stat"

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._path = proc / "net" / "xfrm_stat"

    def collect(self, families: Families) -> None:
        """OSError when it cannot be read."""
        try:
            text = self._path.read_text(encoding="ascii")
        except FileNotFoundError:
            return
        for line in text.splitlines():
            name, _, value = line.partition("\t") if "\t" in line else line.partition(" ")
            word = word_of(name.strip())
            if word and value.strip().isdigit():
                families.add("gwbench_kernel_xfrm_drops_total", (word,), int(value))


def word_of(name: str) -> str:
    """Our reason words follow the kernel's: in_state_seq_error is counted as the SA's state_seq_error."""
    word = _WORD.sub("_", name.removeprefix("Xfrm")).lower() if name.startswith("Xfrm") else ""
    return word.removeprefix("in_") if word.startswith("in_state_") and word != "in_state_invalid" else word
