"""Commands reach a loop between two batches and are answered; an ended loop refuses them."""

from __future__ import annotations

import errno
import select
import threading
import time
from typing import Any

import pytest
from esp_internals import load

ffi, lib = load()


@pytest.fixture
def box() -> Any:
    mailbox = lib.gw_mailbox_new()
    assert mailbox != ffi.NULL
    yield mailbox
    lib.gw_mailbox_free(mailbox)


def loop(box: Any, stop: threading.Event, drained: list[int]) -> threading.Thread:
    """What a dataplane loop does: polls the eventfd, drains."""

    def run() -> None:
        while not stop.is_set():
            if select.select([lib.gw_mailbox_fd(box)], [], [], 0.05)[0]:
                drained.append(lib.gw_mailbox_drain(box, ffi.cast("void *", 0x1234)))
        lib.gw_mailbox_close(box)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_calls_from_several_threads(box: Any) -> None:
    ran: list[tuple[int, int]] = []

    @ffi.callback("int(void *, void *)")
    def command(loop_pointer: Any, arg: Any) -> int:
        ran.append((int(ffi.cast("uintptr_t", loop_pointer)), threading.get_ident()))
        return int(ffi.cast("uintptr_t", arg))

    stop, drained = threading.Event(), []  # type: tuple[threading.Event, list[int]]
    thread = loop(box, stop, drained)
    results: list[int] = []

    def control(first: int) -> None:
        for n in range(first, first + 50):
            results.append(lib.gw_mailbox_call(box, command, ffi.cast("void *", n), 10_000))

    controls = [threading.Thread(target=control, args=(1000 * i,)) for i in range(4)]
    for c in controls:
        c.start()
    for c in controls:
        c.join()
    stop.set()
    thread.join()
    assert sorted(results) == sorted(1000 * i + n for i in range(4) for n in range(50))
    assert {pointer for pointer, _ in ran} == {0x1234}
    assert {ident for _, ident in ran} == {thread.ident}
    assert sum(drained) == 200
    assert lib.gw_mailbox_call(box, command, ffi.NULL, 1000) == -errno.ESHUTDOWN


def test_timeout_and_the_late_command(box: Any) -> None:
    """Nobody drains: the caller gives up; the command still runs once, later, and is freed."""
    ran: list[int] = []

    @ffi.callback("int(void *, void *)")
    def command(_loop: Any, arg: Any) -> int:
        ran.append(int(ffi.cast("uintptr_t", arg)))
        return 0

    before = time.monotonic()
    assert lib.gw_mailbox_call(box, command, ffi.cast("void *", 7), 50) == -errno.ETIMEDOUT
    assert time.monotonic() - before >= 0.05
    assert ran == []
    assert lib.gw_mailbox_drain(box, ffi.NULL) == 1
    assert ran == [7]
    assert lib.gw_mailbox_drain(box, ffi.NULL) == 0


def test_close_answers_those_that_wait(box: Any) -> None:
    @ffi.callback("int(void *, void *)")
    def command(_loop: Any, _arg: Any) -> int:
        raise AssertionError("must not run")

    results: list[int] = []
    waiting = threading.Thread(target=lambda: results.append(lib.gw_mailbox_call(box, command, ffi.NULL, 10_000)))
    waiting.start()
    assert select.select([lib.gw_mailbox_fd(box)], [], [], 10)[0]  # posted
    lib.gw_mailbox_close(box)
    waiting.join()
    assert results == [-errno.ESHUTDOWN]
