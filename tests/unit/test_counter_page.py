"""Counter pages as another process reads them: what it may believe, and that the numbers are the data path's own."""

from __future__ import annotations

import mmap
import os
import struct

import pytest

from dataplane import CounterPage, Dataplane, DataplaneConfig, DataplaneError, SaParams, find_suite
from gateway.lab.namespaces import NetworkNamespace

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="not root")
SAS = 1000


def fresh(spi: int) -> SaParams:
    suite = find_suite("aes128gcm16")
    return SaParams(
        spi=spi,
        suite=suite.name,
        direction="in" if spi % 2 else "out",
        enc_key=os.urandom(suite.enc_key_bytes),
        salt=os.urandom(suite.salt_bytes),
        local="127.0.0.1",
        local_port=4500,
        peer="127.0.0.1",
        peer_port=4501,
    )


def test_a_thousand_sas_as_the_data_path_counts_them() -> None:
    with NetworkNamespace("page") as space, space.entered():
        with Dataplane(DataplaneConfig(local="127.0.0.1", port=0, max_sas=SAS)) as path:
            path.start()
            spis = range(1000, 1000 + SAS)
            for spi in spis:
                path.sa_add(fresh(spi))
            fd = os.dup(path.counters_fd())
            with CounterPage(fd) as page:
                os.close(fd)
                assert page.snapshot() == SAS
                assert sorted(page.sas(), key=lambda sa: sa.spi) == sorted(path.sa_counters(), key=lambda sa: sa.spi)
                assert {sa.spi for sa in page.sas()} == set(spis)
                path.sa_del(1000, "out")
                assert page.snapshot() == SAS - 1
                now, own = page.loop(), path.loop_counters()
                assert now.values["started_ns"] == own.values["started_ns"] > 0
                assert now.values.keys() == own.values.keys() and now.stage_cycles.keys() == own.stage_cycles.keys()
            page.close()


@pytest.mark.parametrize(
    ("at", "value", "says"),
    [(0, 1, "no counter page"), (4, 999, "another version"), (12, 1 << 20, "cut short"), (28, 64, "another version")],
)
def test_a_page_of_another_kind_is_refused(at: int, value: int, says: str) -> None:
    with NetworkNamespace("page") as space, space.entered():
        with Dataplane(DataplaneConfig(local="127.0.0.1", port=0)) as path:
            real = mmap.mmap(path.counters_fd(), 0, prot=mmap.PROT_READ)[:]
    fd = os.memfd_create("copy")
    try:
        os.write(fd, real)
        CounterPage(fd).close()
        os.pwrite(fd, struct.pack("=I", value), at)
        with pytest.raises(DataplaneError, match=says):
            CounterPage(fd)
    finally:
        os.close(fd)


def test_what_is_no_page_is_refused() -> None:
    read, write = os.pipe()
    try:
        for fd in (read, 9999):
            with pytest.raises(DataplaneError, match="no counter page"):
                CounterPage(fd)
    finally:
        os.close(read)
        os.close(write)
