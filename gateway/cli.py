"""The ``gwbench`` command: finds the subcommand, loads only its module, turns errors into one line and a status.

A command is a module ``gateway/commands/NAME.py`` with ``add_arguments(parser)``, ``run(arguments) -> int``, and an
``EXAMPLE``. Nothing heavy is imported before it is known that it is needed.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from gateway.cleanup import SIGNALS, CleanupStack, Interrupted
from gateway.errors import EXIT_INTERRUPTED, EXIT_OK, EXIT_UNUSABLE, GwbenchError, UnusableError
from gateway.usage import answer, available, usage


def _fail(message: str) -> None:
    print(f"gwbench: {' '.join(message.split())}", file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the whole usage and without the names of our functions."""

    def error(self, message: str) -> NoReturn:
        message = re.sub(r"invalid (?:_\w+|int|float) value: (.*)", r"\1 is no usable number", message)
        raise UnusableError(message, f"{self.prog} --help")


def main(argv: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    try:
        # Here already, not only in the command: importing takes a while, and a signal may come at any moment.
        with CleanupStack():
            try:
                status = _main(list(sys.argv[1:] if argv is None else argv))
                sys.stdout.flush()  # here, where a full disk or a reader that went away is understood
                return status
            except Interrupted as interrupted:
                # Blocked until the process has ended: an impatient user's next Ctrl-C must not change the status.
                signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
                _fail(str(interrupted))
                return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        _fail("interrupted")
        return EXIT_INTERRUPTED
    except GwbenchError as error:
        _fail(str(error))
        return error.exit_status
    except ImportError as error:
        if "dataplane" not in str(error):
            raise
        _fail(str(error))  # the extension is not built, and the line says how to
        return EXIT_UNUSABLE
    except BrokenPipeError:
        # A reader that went away; the interpreter must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_OK
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        # What is still buffered cannot be written at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(f"cannot write the output: {error.strerror}")
        return EXIT_UNUSABLE


def _main(argv: list[str]) -> int:
    if not argv:
        print(usage())
        return EXIT_UNUSABLE
    text = answer(argv)
    if text is not None:
        print(text)
        return EXIT_OK
    name = argv[0]
    known = [command for _, command, _ in available()]
    if name not in known:
        _fail(f"there is no command {name!r}; there are: {', '.join(known)}")
        return EXIT_UNUSABLE
    module = importlib.import_module(f"gateway.commands.{name}")
    parser = _Parser(
        prog=f"gwbench {name}",
        description=module.__doc__,
        epilog=f"example:\n  {module.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    try:
        arguments = parser.parse_args(argv[1:])
    except SystemExit as error:  # --help
        return int(error.code or 0)
    if os.environ.get("GWBENCH_CPU_DISABLE") or os.environ.get("GWBENCH_SLOW_DOWN"):
        from gateway.suites import check_cpu_mask

        check_cpu_mask()
    return int(module.run(arguments))


if __name__ == "__main__":
    sys.exit(main())
