"""Which of the kernel's crypto drivers comes first: raised for a measurement, put back however it ends.

A priority is the whole machine's, so what was changed is written to a journal first, and the journal is replayed by the
next start, or by ``gwbench cleanup``, when the process that wrote it was killed. NETLINK_CRYPTO's update also drops the
instances over a driver (``authenc(...)``, ``seqiv(...)``), which is why every candidate is updated, not only the one
that shall win: the next SA builds its transform anew.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gateway.errors import MeasurementError, UnusableError
from gateway.netlink import crypto
from gateway.netlink.connection import Connection
from gateway.node import kernel_crypto
from gateway.node.kernel_crypto import CryptoAlgorithm

JOURNAL = Path("/run/gwbench-crypto.json")
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_ABOVE = 10_000
"""A raised priority stands this much above the highest: hardware engines have 3000 to 5000."""


def _request(kind: int, driver: str, priority: int | None = None) -> None:
    message = crypto.user_alg()
    message["driver_name"] = driver
    if priority is not None:
        message["attrs"] = [("CRYPTOCFGA_PRIORITY_VAL", priority)]
    with Connection(crypto.NETLINK_CRYPTO, {crypto.CRYPTO_MSG_GETALG: crypto.user_alg}) as socket:
        socket.request(message, kind)


def unusable(error: OSError) -> UnusableError:
    """Why NETLINK_CRYPTO does not answer, and what to do."""
    if error.errno == errno.EPROTONOSUPPORT:
        return UnusableError(
            "the kernel's driver priorities cannot be changed: module crypto_user is missing", "modprobe crypto_user"
        )
    if error.errno == errno.EPERM:
        return UnusableError("the kernel's driver priorities are root's to change", "run it with sudo")
    return UnusableError(f"the kernel refuses to change a driver's priority: {error.strerror or error}")


def set_priority(driver: str, priority: int) -> None:
    """OSError ENOENT when there is no such driver."""
    _request(crypto.CRYPTO_MSG_UPDATEALG, driver, priority)


def instantiate(driver: str) -> None:
    """Makes an instance of templates exist, ``cbc(aes-generic)``. OSError when the kernel cannot."""
    try:
        _request(crypto.CRYPTO_MSG_NEWALG, driver)
    except OSError as error:
        if error.errno != errno.EEXIST:
            raise


def delete_instance(driver: str) -> None:
    """OSError EBUSY while somebody uses it, EINVAL for what is no instance."""
    _request(crypto.CRYPTO_MSG_DELALG, driver)


def find(drivers: Sequence[str], listing: Sequence[CryptoAlgorithm]) -> str:
    """The one algorithm of which all ``drivers`` are. UnusableError says what there is."""
    names: dict[str, str] = {}
    for driver in drivers:
        entry = next((one for one in listing if one.driver == driver and not one.internal), None)
        if entry is None:
            others = ", ".join(sorted({one.driver for one in listing if not one.internal and one.kind != "rng"})[:40])
            raise UnusableError(f"this kernel has no crypto driver {driver!r}", f"there are: {others}")
        names[driver] = entry.name
    if len(set(names.values())) > 1:
        raise UnusableError(
            "the drivers are of different algorithms: " + ", ".join(f"{d} is {n}" for d, n in names.items()),
            "compare drivers of one",
        )
    name = names[drivers[0]]
    alternatives = [one.driver for one in listing if one.name == name and not one.internal]
    if len(alternatives) < 2:
        raise UnusableError(
            f"{name}: not selectable on this kernel: {alternatives[0]} is its only driver",
            "since Linux 6.16 lib/crypto chooses by itself, by the processor's features",
            "not-selectable",
        )
    return name


def users(name: str, listing: Sequence[CryptoAlgorithm]) -> list[str]:
    """Who uses drivers of the algorithm now, in words; empty when nobody does."""
    found = [
        f"{one.driver} has {one.refcnt - 1} user{'s' if one.refcnt > 2 else ''}"
        for one in listing
        if one.name == name and one.refcnt > 1
    ]
    if not found:
        return []
    for uuid in sorted(Path("/sys/block").glob("dm-*/dm/uuid")):
        with contextlib.suppress(OSError):
            if uuid.read_text().startswith("CRYPT-"):
                found.append(f"{uuid.parts[3]} is dm-crypt")
    from gateway.netlink.ipsec import Ipsec

    with contextlib.suppress(OSError), Ipsec() as ipsec:
        if there := len(ipsec.sas()):
            found.append(f"{there} SAs in this network namespace")
    return found


class Priorities:
    """Raises one driver of an algorithm at a time. Close it: everything is as it was."""

    def __init__(self, drivers: Sequence[str], *, system_wide: bool = False, journal: Path = JOURNAL) -> None:
        """Checks and journals; changes nothing yet but missing instances. UnusableError when it cannot be."""
        self._journal = journal
        restore_stale(journal)
        listing = kernel_crypto.read()
        known = {one.driver for one in listing}
        try:
            for driver in drivers:
                if driver not in known and "(" in driver:
                    instantiate(driver)
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.EINVAL):
                raise unusable(error) from None
        listing = kernel_crypto.read()
        self.algorithm = find(drivers, listing)
        self.before = {one.driver: one.priority for one in listing if one.name == self.algorithm and not one.internal}
        if not system_wide and (who := users(self.algorithm, listing)):
            raise UnusableError(
                f"{self.algorithm} is in use on this machine ({'; '.join(who)}), and a priority is the whole machine's",
                "--system-wide, where new users of it may meet another driver meanwhile",
                "in-use",
            )
        self._write()
        try:
            # As they are: proves that they may be changed before anything is measured.
            self._set(self.before)
        except OSError as error:
            self.close()
            raise unusable(error) from None

    def select(self, driver: str) -> None:
        """``driver`` comes first from now on, and instances over the others are gone. MeasurementError if not."""
        above = max(self.before.values()) + _ABOVE
        try:
            self._set({**self.before, driver: above})
        except OSError as error:
            raise unusable(error) from None
        first = max(
            (one for one in kernel_crypto.read() if one.name == self.algorithm and not one.internal),
            key=lambda one: one.priority,
        )
        if first.driver != driver:
            raise MeasurementError(f"{driver} was raised, but {first.driver} comes first")

    def _set(self, wanted: Mapping[str, int]) -> None:
        for driver, priority in wanted.items():
            with contextlib.suppress(FileNotFoundError):  # ENOENT: an instance that is gone
                set_priority(driver, priority)

    def close(self) -> None:
        """Puts every priority back; safe twice. OSError stays in the journal for the next start."""
        if self.before:
            try:
                self._set(self.before)
            finally:
                left = _differing(self.before)
            self.before = {}
            if not left:
                self._journal.unlink(missing_ok=True)

    def _write(self) -> None:
        document = {"schema": "gwbench-priorities/1", "boot": _boot(), "pid": os.getpid(), "before": self.before}
        temporary = self._journal.with_suffix(".new")
        try:
            temporary.write_text(json.dumps(document), encoding="utf-8")
            os.replace(temporary, self._journal)
        except OSError as error:
            raise UnusableError(
                f"cannot write the journal {self._journal}: {error.strerror}", "run it as root"
            ) from None


def _boot() -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _differing(before: Mapping[str, int]) -> list[str]:
    now = {one.driver: one.priority for one in kernel_crypto.read()}
    return [driver for driver, priority in before.items() if now.get(driver, priority) != priority]


def _alive(pid: int) -> bool:
    """A gwbench that still runs: its journal is its own."""
    try:
        return b"gwbench" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def restore_stale(journal: Path = JOURNAL) -> list[str]:
    """Puts back what a killed run left; the drivers whose priority was changed. UnusableError while one still runs."""
    document = _read(journal)
    if not document:
        return []
    pid = int(document.get("pid", 0))
    if pid != os.getpid() and _alive(pid):
        raise UnusableError(f"another gwbench (pid {pid}) has changed driver priorities and still runs", "wait for it")
    before = {str(driver): int(priority) for driver, priority in document.get("before", {}).items()}
    changed = _differing(before) if document.get("boot") == _boot() else []
    try:
        _put_back(before, changed)
    except OSError as error:
        raise unusable(error) from None
    journal.unlink(missing_ok=True)
    return changed


def _put_back(before: Mapping[str, int], changed: Iterable[str]) -> None:
    for driver in changed:
        with contextlib.suppress(FileNotFoundError):
            set_priority(driver, before[driver])


def _read(journal: Path) -> dict[str, Any]:
    try:
        document = json.loads(journal.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) and document.get("schema") == "gwbench-priorities/1" else {}
