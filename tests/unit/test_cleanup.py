"""Cleaning up: order, errors, signals at any moment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gateway.cleanup import CleanupStack, Interrupted


def test_last_in_first_out_and_once() -> None:
    order: list[int] = []
    with CleanupStack() as stack:
        for i in range(3):
            stack.push(lambda i=i: order.append(i))
        stack.run()
        assert order == [2, 1, 0]
    assert order == [2, 1, 0]


def test_a_failing_action_is_reported_and_the_rest_still_runs() -> None:
    lines: list[str] = []
    done: list[str] = []

    def fail() -> None:
        raise OSError("no such namespace")

    with CleanupStack(lines.append) as stack:
        stack.push(lambda: done.append("first"))
        stack.push(fail, "namespace gw-a")
        stack.push(lambda: done.append("last"))
    assert done == ["last", "first"]
    assert lines == ["cleaning up namespace gw-a: no such namespace"]


def test_runs_after_an_exception_which_goes_on() -> None:
    done: list[int] = []
    with pytest.raises(KeyError), CleanupStack() as stack:
        stack.push(lambda: done.append(1))
        raise KeyError("x")
    assert done == [1]


def test_discarded_actions_do_not_run() -> None:
    done: list[int] = []
    with CleanupStack() as stack:
        action = stack.push(lambda: done.append(1))
        stack.push(lambda: done.append(2))
        stack.discard(action)
        stack.discard(lambda: None)
    assert done == [2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_interruption_and_handlers_are_restored(
    number: signal.Signals, request: pytest.FixtureRequest
) -> None:
    if signal.getsignal(number) == signal.SIG_IGN:
        request.addfinalizer(lambda: signal.signal(number, signal.SIG_IGN))
        signal.signal(number, signal.SIG_DFL)  # whoever runs the tests under nohup ignores SIGHUP
    former = signal.getsignal(number)
    done: list[int] = []
    with pytest.raises(Interrupted) as caught, CleanupStack() as stack:
        stack.push(lambda: done.append(1))
        os.kill(os.getpid(), number)
        pytest.fail("the signal was ignored")
    assert done == [1]
    assert caught.value.number == number and caught.value.exit_status == 130
    assert signal.getsignal(number) is former


def test_a_second_signal_does_not_cut_cleaning_short() -> None:
    done: list[str] = []

    def slow() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("slow")

    with pytest.raises(Interrupted), CleanupStack() as stack:
        stack.push(lambda: done.append("first"))
        stack.push(slow)
        os.kill(os.getpid(), signal.SIGINT)
    assert done == ["slow", "first"]


def test_a_first_signal_while_cleaning_up_normally_does_not_cut_it_short() -> None:
    done: list[str] = []

    def slow() -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        done.append("slow")

    with CleanupStack() as stack:
        stack.push(lambda: done.append("first"))
        stack.push(slow)
    assert done == ["slow", "first"]


def test_interrupted_is_not_swallowed_by_except_exception() -> None:
    assert not issubclass(Interrupted, Exception)


def test_other_threads_may_use_it_without_signals() -> None:
    done: list[int] = []
    former = signal.getsignal(signal.SIGINT)

    def body() -> None:
        with CleanupStack() as stack:
            stack.push(lambda: done.append(1))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert done == [1] and signal.getsignal(signal.SIGINT) is former


def test_a_real_process_interrupted_while_it_sleeps(tmp_path: Path) -> None:
    code = (
        "import sys, time\n"
        "from gateway.cleanup import CleanupStack, Interrupted\n"
        "try:\n"
        "    with CleanupStack() as stack:\n"
        f"        stack.push(lambda: open({str(tmp_path / 'done')!r}, 'w').close())\n"
        "        print('ready', flush=True)\n"
        "        time.sleep(60)\n"
        "except Interrupted as end:\n"
        "    sys.exit(end.exit_status)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    process.stdout.close()
    assert (tmp_path / "done").exists()


def test_a_signal_that_meets_a_finalizer_is_raised_again() -> None:
    class Finalized:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)
            time.sleep(0)  # the handler runs here at the latest, and what it raises is ignored

    undone = []
    with pytest.raises(Interrupted) as interrupted, CleanupStack() as stack:
        stack.push(lambda: undone.append("namespace"))
        Finalized()
        time.sleep(5)
    assert interrupted.value.number == signal.SIGINT
    assert undone == ["namespace"]
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
