"""What may be chosen: providers loaded at run time, and which of several implementations is preferred."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from dataclasses import dataclass

from dataplane._native import check, fail, ffi, init, lib, new_err, text


@dataclass(frozen=True, slots=True)
class ProvidersLoaded:
    """What :func:`load_providers` found."""

    rows: int
    """Implementations that the wished providers have here; they are in ``implementations()`` now."""
    absent: str
    """One line that says which wished provider is not here and why; empty when all are."""


def load_providers(names: str | Iterable[str] = "all") -> ProvidersLoaded:
    """Loads OpenSSL, intel-ipsec-mb and the kernel's AF_ALG drivers where they are present, and checks them.

    ``names``: of ``openssl``, ``ipsec-mb``, ``af_alg``, ``all``; DataplaneError for another word. An absent provider is
    no error. A second call adds nothing. Call it before a dataplane or an SA is made.
    """
    init()
    err = new_err()
    which = names if isinstance(names, str) else ",".join(names)
    result = int(lib.gw_providers_load(which.encode(), err))
    if result < 0 and result != -errno.ENOENT:
        raise fail(err, result, f"cannot load {which}")
    return ProvidersLoaded(rows=max(result, 0), absent=text(err.text))


def measure_selection(alg_ms: float = 2.0) -> int:
    """Measures constant-time implementations that compete and prefers the fastest; returns how many algorithms had a
    choice. About ``alg_ms`` milliseconds for each."""
    init()
    err = new_err()
    return check(int(lib.gw_select_measure(int(alg_ms * 1e6), err)), err, "cannot measure the implementations")


def prefer(driver: str) -> None:
    """Prefers ``driver`` to others of its algorithm; DataplaneError when it is unknown, cannot be selected here, or is
    not constant-time."""
    init()
    check(int(lib.gw_select_prefer(driver.encode())), None, f"cannot prefer {driver}")


def preferred(alg: str) -> str | None:
    """The preferred driver of ``alg``; None when priority decides."""
    pointer = lib.gw_select_preferred(alg.encode())
    return None if pointer == ffi.NULL else text(pointer)


def reset_selection() -> None:
    """Back to priorities, which are the same on every machine."""
    lib.gw_select_reset()
