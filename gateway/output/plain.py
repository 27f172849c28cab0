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


OURS = "/gwbench"
NAMED = ("-openssl/openssl", "-ipsecmb/ipsec-mb")
"""Drivers whose owner stands in their name already."""


def short(implementation: str, width: int = 0) -> str:
    """Drivers joined by +, ours with their owner once, at the end: never a bare name that could be the kernel's.

    With ``width`` cut to it, visibly.
    """
    for name in NAMED:
        implementation = implementation.replace(name, name.partition("/")[0])
    parts = implementation.replace(" ", "").split("+")
    if len(parts) > 1 and all(part.endswith(OURS) for part in parts):
        parts = [part.removesuffix(OURS) for part in parts[:-1]] + parts[-1:]
    text = " + ".join(parts)
    return text if not width or len(text) <= width else text[: width - 1] + "~"
