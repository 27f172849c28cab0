"""The README names every environment variable that the programs read."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OURS = {"GWBENCH_WERROR", "GWBENCH_SANITIZE", "GWBENCH_PURE", "GWBENCH_USERNS"}
"""Of the build, or from ourselves to ourselves."""


def test_environment_variables_are_in_the_readme() -> None:
    files = [p for d in ("csrc", "gateway", "dataplane") for p in (ROOT / d).rglob("*") if p.suffix in (".c", ".py")]
    names = {name for p in files for name in re.findall(r'"(GWBENCH_[A-Z_]+)"', p.read_text(encoding="utf-8"))} - OURS
    assert {"GWBENCH_SELECT", "GWBENCH_LIBCRYPTO", "GWBENCH_LIBIPSEC_MB", "GWBENCH_CPU_DISABLE"} <= names
    documented = (ROOT / "README.md").read_text(encoding="utf-8")
    documented += "".join(p.read_text(encoding="utf-8") for p in (ROOT / "docs").glob("*.md"))
    assert [name for name in sorted(names) if name not in documented] == []
