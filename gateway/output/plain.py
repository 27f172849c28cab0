"""Tables and text of at most 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

COLUMNS = 80


def table(head: Sequence[str], body: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Aligned lines under a head; the first ``left`` columns are words, the others numbers."""
    widths = [max(len(line[i]) for line in [head, *body]) for i in range(len(head))]
    gap = "  " if sum(widths) + 2 * len(widths) <= COLUMNS else " "

    def line(cells: Sequence[str]) -> str:
        return gap.join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()

    return [line(head), *(line(cells) for cells in body)]


def wrap(text: str) -> list[str]:
    """Indented by two, further lines by four."""
    return textwrap.wrap(text, COLUMNS, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)


OWNERS = ("/gwbench", "/openssl", "/ipsec-mb")
"""Suffixes that say nothing that the driver's name does not; the kernel's is kept, because it explains slowness."""


def short(implementation: str, width: int = 0) -> str:
    """Drivers without their owner; with ``width`` cut to it, visibly."""
    for owner in OWNERS:
        implementation = implementation.replace(owner, "")
    return implementation if not width or len(implementation) <= width else implementation[: width - 1] + "~"
