"""What is running."""

from __future__ import annotations

import os
import platform

from gateway import __version__
from gateway.metrics.exposition import Families


class BuildInfo:
    """The collector."""

    name = "build"

    def collect(self, families: Families) -> None:
        """Never fails."""
        families.add("gwbench_build_info", (__version__, platform.python_version(), os.uname().machine), 1)
