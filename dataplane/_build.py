"""How ``dataplane._gwdp`` is made: cffi's API mode over ``csrc/gwdp.h``.

The text between the header's two cffi marks *is* the cdef; there is no second copy. Every C and assembly file of the
dataplane is compiled with one set of flags: a file of another instruction set compiles to nothing (see
``csrc/crypto/impl.h``), so plain ``pip install .`` works everywhere. ``setup.py`` runs this.

Environment: ``GWBENCH_WERROR=1`` makes warnings errors (the Makefile does, for people who install it is no help);
``GWBENCH_SANITIZE=address,undefined`` builds with sanitizers.
"""

from __future__ import annotations

import os
from pathlib import Path

from cffi import FFI

SOURCE_DIRECTORIES = ("core", "crypto", "esp", "io", "bench")
MARK_BEGIN, MARK_END = "/* >>> cffi */", "/* <<< cffi */"


def cdef_text(header: Path) -> str:
    """The declarations between the two cffi marks of ``header``; ValueError when a mark is missing."""
    text = header.read_text(encoding="utf-8")
    if text.count(MARK_BEGIN) != 1 or text.count(MARK_END) != 1:
        raise ValueError(f"{header}: needs exactly one '{MARK_BEGIN}' and one '{MARK_END}'")
    return text.split(MARK_BEGIN)[1].split(MARK_END)[0]


def sources(root: Path) -> list[str]:
    """Every .c and .S of the dataplane, relative to ``root``, in a stable order."""
    found = [
        path
        for directory in SOURCE_DIRECTORIES
        for path in (root / "csrc" / directory).rglob("*")
        if path.suffix in (".c", ".S")
    ]
    return sorted(str(path.relative_to(root)) for path in found)


def compile_args() -> list[str]:
    """The one global flag set."""
    args = [
        "-std=gnu11",
        "-O2",
        # The generic C is the pinned baseline that others are measured against: it stays scalar.
        "-fno-tree-vectorize",
        "-Wall",
        "-Wextra",
        "-fvisibility=hidden",
        "-pthread",
    ]
    if os.environ.get("GWBENCH_WERROR") == "1":
        args.append("-Werror")
    if sanitizers := os.environ.get("GWBENCH_SANITIZE"):
        # -O1: the checks are the same, and vector code with them compiles in half the time.
        args += ["-O1", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"]
    return args


def link_args() -> list[str]:
    """Flags of the linking step; an executable stack is never needed."""
    args = ["-pthread", "-Wl,-z,noexecstack"]
    if sanitizers := os.environ.get("GWBENCH_SANITIZE"):
        args.append(f"-fsanitize={sanitizers}")
    return args


def make_ffi(root: Path) -> FFI:
    """The FFI builder; ``root`` is the directory of setup.py."""
    builder = FFI()
    builder.cdef(cdef_text(root / "csrc" / "gwdp.h"))
    builder.set_source(
        "dataplane._gwdp",
        '#include "gwdp.h"',
        sources=sources(root),
        include_dirs=["csrc"],
        extra_compile_args=compile_args(),
        extra_link_args=link_args(),
        libraries=["dl"],
    )
    return builder


ffi = make_ffi(Path(__file__).resolve().parent.parent)
