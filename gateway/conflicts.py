"""Flags that mean nothing beside others: refused, because a flag that is passed over in silence misleads.

``--dry-run`` without ``--peer`` would change something after all; ``--suite`` with ``--existing`` would name a
suite that was not measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

from gateway.errors import UnusableError


def given(arguments: argparse.Namespace, add_arguments: Callable[[argparse.ArgumentParser], None]) -> list[str]:
    """The long flags whose value is not the default, in the order of the command's help."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    return [
        "--" + name.replace("_", "-")
        for name, default in vars(parser.parse_args([])).items()
        if getattr(arguments, name, default) != default
    ]


def refuse(flags: Sequence[str], among: Sequence[str], says: str, hint: str = "") -> None:
    """UnusableError names the first of ``among`` that stands in ``flags``; ``says`` has ``{}`` for it."""
    for flag in flags:
        if flag in among:
            raise UnusableError(says.format(flag), hint, "flags-conflict")
