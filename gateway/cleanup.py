"""Undo what was done, in reverse order, however the program ends: normally, by an exception, by SIGINT or SIGTERM.

The first signal raises :class:`Interrupted` in the main thread, and cleaning up then happens on the way out; later
signals are ignored while that runs, so that an impatient second Ctrl-C leaves nothing behind.

Python raises wherever it happens to be. Where that is a finalizer or a fork's callback, it only reports the exception
as ignored and goes on; then it is raised again a moment later.
"""

from __future__ import annotations

import signal
import sys
import types
from collections.abc import Callable
from typing import Any

from gateway.errors import EXIT_INTERRUPTED

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AGAIN_S = 0.01


class Interrupted(KeyboardInterrupt):
    """A signal asked to end. Not an Exception: nothing that retries or records failures may swallow it. And a
    KeyboardInterrupt, because asyncio (netlink runs on it) hands on that one only, and swallows any other."""

    exit_status = EXIT_INTERRUPTED

    def __init__(self, number: int) -> None:
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.number = number


class CleanupStack:
    """A ``with`` block whose ``push``-ed actions run last first. An action that fails is reported, the rest still run.

    Signals are handled from entry to exit (in the main thread only) and their former handlers are restored.
    """

    def __init__(self, report: Callable[[str], None] | None = None) -> None:
        """``report`` gets one line for each action that failed; default: stderr."""
        self._actions: list[tuple[str, Callable[[], object]]] = []
        self._report = report or (lambda line: print(line, file=sys.stderr))
        self._former: dict[int, Any] = {}
        self._running = False
        self._former_hook: Callable[[Any], object] | None = None

    def push(self, action: Callable[[], object], what: str = "") -> Callable[[], object]:
        """Registers ``action``; ``what`` names it in messages ("namespace gw-a"). Returns it, for ``discard``."""
        self._actions.append((what or getattr(action, "__qualname__", "cleanup"), action))
        return action

    def discard(self, action: Callable[[], object]) -> None:
        """Takes an action off again, because what it would undo is gone. Unknown ones are ignored."""
        self._actions = [item for item in self._actions if item[1] != action]

    def run(self) -> None:
        """Runs and forgets every action, last first; a second call has nothing to do. Never raises Exception."""
        self._running = True
        try:
            while self._actions:
                what, action = self._actions.pop()
                try:
                    action()
                except Exception as error:
                    self._report(f"cleaning up {what}: {error}")
        finally:
            self._running = False

    def _on_signal(self, number: int, frame: types.FrameType | None) -> None:
        if self._running:
            return
        for one in SIGNALS:
            signal.signal(one, signal.SIG_IGN)
        raise Interrupted(number)

    def _on_ignored(self, ignored: Any) -> None:
        if not isinstance(ignored.exc_value, Interrupted):
            (self._former_hook or sys.__unraisablehook__)(ignored)
            return
        number = ignored.exc_value.number
        # Not at once: this hook's own exceptions are ignored as well.
        signal.signal(signal.SIGALRM, lambda *_: self._on_signal(number, None))
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_S)

    def __enter__(self) -> CleanupStack:
        for number in SIGNALS:
            try:
                former = signal.getsignal(number)
                # nohup and shells' background jobs ignore on purpose
                if former != signal.SIG_IGN or number == signal.SIGINT:
                    signal.signal(number, self._on_signal)
                    self._former[number] = former
            except ValueError:  # not the main thread: signals are not ours
                break
        if self._former:
            self._former_hook, sys.unraisablehook = sys.unraisablehook, self._on_ignored
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: types.TracebackType | None
    ) -> None:
        try:
            self.run()
        finally:
            if self._former:
                signal.setitimer(signal.ITIMER_REAL, 0)
                sys.unraisablehook = self._former_hook or sys.__unraisablehook__
            for number, former in self._former.items():
                signal.signal(number, former if former is not None else signal.SIG_DFL)
            self._former.clear()
