"""csrc's inner interfaces for tests: everything but node/ and io/ as a shared library, loaded by cffi's ABI mode.

The extension hides what gwdp.h does not name; here nothing is hidden. Declarations are read from the headers
themselves. Built once for each state of the sources, under build/.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from cffi import FFI

ROOT = Path(__file__).resolve().parent.parent
CSRC = ROOT / "csrc"
DIRECTORIES = ("core", "crypto", "esp", "bench")
BUILD = ROOT / "build" / "test-objects"
WARNINGS = ("-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread")

PLAIN_FLAGS = ("-O1", "-fPIC")


def sources(directories: Sequence[str] = DIRECTORIES) -> list[Path]:
    found = sorted(p for d in directories for p in (CSRC / d).rglob("*") if p.suffix in (".c", ".S"))
    # The one file of io/ that others use: the generator's packets have checksums.
    return [*found, CSRC / "io" / "checksum.c"] if "bench" in directories else found


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _headers() -> bytes:
    return b"".join(p.read_bytes() for p in sorted(CSRC.rglob("*")) if p.suffix in (".h", ".inc"))


def compile_objects(flags: Sequence[str], files: Sequence[Path], compiler: str = "gcc") -> list[Path]:
    """Objects of these files under these flags; only what changed is compiled."""
    BUILD.mkdir(parents=True, exist_ok=True)
    common = _digest(_headers() + " ".join([compiler, *flags]).encode())

    def one(path: Path) -> Path:
        target = BUILD / f"{path.stem}-{common}-{_digest(path.read_bytes() + str(path).encode())}.o"
        if not target.exists():
            part = target.with_suffix(f".{os.getpid()}.part")
            subprocess.run([compiler, *WARNINGS, *flags, "-c", str(path), "-o", str(part)], check=True, cwd=ROOT)
            part.rename(target)
        return target

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(one, files))


def link(objects: Sequence[Path], flags: Sequence[str], name: str, compiler: str = "gcc") -> Path:
    """One file out of objects, named after them."""
    target = BUILD / f"{name}-{_digest(' '.join(map(str, objects)).encode())}"
    if not target.exists():
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        subprocess.run(
            [compiler, *flags, *map(str, objects), "-o", str(part), "-pthread", "-ldl"], check=True, cwd=ROOT
        )
        part.rename(target)
    return target


def _declarations(header: Path) -> str:
    """A header without preprocessor lines, extern "C" and inline functions."""
    text = header.read_text()
    if "/* >>> cffi */" in text:
        return text.split("/* >>> cffi */")[1].split("/* <<< cffi */")[0]
    text = re.sub(r"static inline .*?\n}\n", "", text, flags=re.S)
    return "\n".join(line for line in text.splitlines() if not line.startswith("#"))


@functools.cache
def load() -> tuple[Any, Any]:
    """``(ffi, lib)``, initialised."""
    ffi = FFI()
    for header in ("gwdp.h", "esp/esp.h", "core/mailbox.h"):
        ffi.cdef(_declarations(CSRC / header))
    ffi.cdef(  # counters.h carries attributes that cffi does not parse
        "int gw_hist_bucket(uint64_t n);"
        "bool gw_seq_read(const uint32_t *seq, void *to, const void *from, size_t n);"
        "typedef struct gw_counter_page gw_counter_page;"
        "gw_counter_page *gw_counters_new(uint32_t max_slots, int *fd);"
        "void gw_counters_free(gw_counter_page *page, int fd);"
        "struct gw_counter_slot *gw_counters_take(gw_counter_page *page);"
        "void gw_counters_release(struct gw_counter_slot *slot);"
    )
    objects = compile_objects(PLAIN_FLAGS, sources())
    lib = ffi.dlopen(str(link(objects, ("-shared",), "internals.so")))
    err = ffi.new("gw_err *")
    failed = lib.gw_init(err)
    if failed:
        raise AssertionError(f"{failed} implementations fail their known answers")
    return ffi, lib
