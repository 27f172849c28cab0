"""gwnode for this machine, built by its gcc from the sources of ``make cross``."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dataplane._build import compile_args, sources

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "gwnode-host"
COMPILER = ("ccache", "gcc") if shutil.which("ccache") else ("gcc",)


def node_sources() -> list[str]:
    """What mk/cross.mk calls NODE_SRC, but with every implementation, as the worker has them."""
    test_only = re.search(
        r"^NODE_TEST_SRC := .*?,(common[^)]*)\)", (ROOT / "mk" / "cross.mk").read_text(), re.MULTILINE
    )
    assert test_only
    names = {path.stem for path in (ROOT / "csrc" / "node").glob("*.c")} - set(test_only[1].split()) - {"table_esp"}
    names |= {"selftest", "speed"}
    return [f"csrc/node/{name}.c" for name in sorted(names)]


def build() -> Path:
    """Compiles what changed; objects of one source are never shared with another build. GWBENCH_TEST_GWNODE names one
    that is built already."""
    if named := os.environ.get("GWBENCH_TEST_GWNODE"):
        return Path(named)

    def compile_one(source: str) -> Path:
        obj = BUILD / (source.replace("/", "_") + ".o")
        depends = obj.with_suffix(".d")
        if obj.exists() and depends.exists():
            made_of = depends.read_text().replace("\\\n", " ").partition(":")[2].split()
            if all(Path(p).exists() and Path(p).stat().st_mtime < obj.stat().st_mtime for p in made_of):
                return obj
        flags = [*compile_args(), "-Werror", "-MMD", "-Wno-sign-compare"]
        subprocess.run([*COMPILER, *flags, "-c", "-o", str(obj), str(ROOT / source)], check=True)
        return obj

    BUILD.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        objects = list(pool.map(compile_one, [*sources(ROOT), *node_sources()]))
    scratch = BUILD / f"gwnode.{os.getpid()}"
    subprocess.run(["gcc", "-pthread", "-o", str(scratch), *map(str, objects), "-ldl"], check=True)
    return scratch.rename(BUILD / "gwnode")
