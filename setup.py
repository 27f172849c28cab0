"""Builds the C extension. Everything declarative stands in pyproject.toml.

Three things setuptools does not do by itself: it rejects ``.S`` sources, it recompiles every file when one changed, and
it builds no programs.
"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext

READER = "gwbench-xfrm-reader"


def up_to_date(obj: Path) -> bool:
    """Is the object newer than everything that it was made of? gcc wrote the list beside it (-MMD)."""
    try:
        made_of = obj.with_suffix(".d").read_text().replace("\\\n", " ").partition(":")[2].split()
        built = obj.stat().st_mtime
        return bool(made_of) and all(Path(path).stat().st_mtime < built for path in made_of)
    except OSError:  # never built, or a header is gone
        return False


class BuildExt(build_ext):
    """Accepts assembly; compiles on all cores and only what changed (a source, or a header that it includes)."""

    def build_extensions(self) -> None:
        # A class attribute in distutils: extend this compiler's own copy.
        self.compiler.src_extensions = [*self.compiler.src_extensions, ".S"]
        self.compiler.compile = self.compile_changed
        self.force = True  # whether to compile is decided per file, below
        super().build_extensions()
        self.build_reader()

    def build_reader(self) -> None:
        """gwbench-xfrm-reader, a program of its own beside the extension: it alone sees the kernel's keys."""
        extension = self.extensions[0]
        sources = sorted(str(path) for path in Path("csrc/exporter").glob("*.c"))
        if not sources:
            return
        objects = self.compiler.compile(
            sources,
            output_dir=self.build_temp,
            extra_preargs=["-fPIE"],
            extra_postargs=extension.extra_compile_args,
        )
        self.compiler.link_executable(
            objects,
            READER,
            output_dir=str(Path(self.build_lib) / "dataplane"),
            extra_postargs=[*extension.extra_link_args, "-pie"],
        )

    def copy_extensions_to_source(self) -> None:
        super().copy_extensions_to_source()
        built, beside = Path(self.build_lib) / "dataplane" / READER, Path("dataplane") / READER
        if not built.exists():
            return
        # By a rename: a reader that runs must not be written into.
        self.copy_file(str(built), f"{beside}.new")
        os.replace(f"{beside}.new", beside)

    def compile_changed(
        self,
        sources: list[str],
        output_dir: str | None = None,
        macros: Any = None,
        include_dirs: list[str] | None = None,
        debug: bool = False,
        extra_preargs: list[str] | None = None,
        extra_postargs: list[str] | None = None,
        depends: list[str] | None = None,
    ) -> list[str]:
        compiler = self.compiler
        flags = " ".join([*compiler.compiler_so, *(extra_postargs or []), repr(macros)])
        # Other flags, other objects: a sanitizer build and a plain one never mix.
        output = os.path.join(output_dir or "build", hashlib.sha256(flags.encode()).hexdigest()[:8])
        macros, objects, postargs, pp_opts, build = compiler._setup_compile(
            output, macros, include_dirs, sources, depends, extra_postargs
        )
        cc_args = compiler._get_cc_args(pp_opts, debug, extra_preargs)

        def compile_one(obj: str) -> None:
            source, extension = build[obj]
            if up_to_date(Path(obj)):
                return
            args = [*postargs, "-MMD"]
            if not source.startswith("csrc"):  # what cffi generated is not ours to keep free of warnings
                args = [arg for arg in args if arg not in ("-Wall", "-Wextra", "-Werror")]
            compiler._compile(obj, source, extension, cc_args, args, pp_opts)

        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            list(pool.map(compile_one, (obj for obj in objects if obj in build)))
        return objects


# GWBENCH_PURE=1: register the package only, `make build` compiles the extension in place (and incrementally).
extension = {} if os.environ.get("GWBENCH_PURE") == "1" else {"cffi_modules": ["dataplane/_build.py:ffi"]}
setup(cmdclass={"build_ext": BuildExt}, **extension)
