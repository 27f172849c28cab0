"""SAs by SPI: every one of ten thousand is found, none that is gone, and ownership goes where the header says."""

from __future__ import annotations

import mmap
import os
import random
import re
import struct
from typing import Any

import pytest
from esp_internals import load

ffi, lib = load()
OUT, IN = int(lib.GW_DIR_OUT), int(lib.GW_DIR_IN)
EEXIST, ENOSPC = 17, 28
KEYS = ffi.new("uint8_t[]", bytes(range(64)))


def new_sa(spi: int, direction: int = IN) -> Any:
    p = ffi.new("gw_sa_params *")
    p.spi, p.direction, p.flags = spi, direction, lib.GW_SA_LAB
    p.suite = lib.gw_suite_find(b"aes128gcm16")
    p.enc_key = p.salt = KEYS
    err = ffi.new("gw_err *")
    sa = lib.gw_sa_new(p, 0, err)
    assert sa != ffi.NULL, ffi.string(err.text)
    return sa


@pytest.fixture
def sadb(request: pytest.FixtureRequest) -> Any:
    db = lib.gw_sadb_new(getattr(request, "param", 64))
    yield db
    lib.gw_sadb_free(db)


def packets(spis: list[int], lengths: list[int] | None = None) -> tuple[Any, list[Any]]:
    pkts, keep = ffi.new("gw_pkt[]", len(spis)), []
    for i, spi in enumerate(spis):
        data = ffi.new("uint8_t[]", spi.to_bytes(4, "big") + bytes(60))
        pkts[i].out, pkts[i].out_len = data, lengths[i] if lengths else 64
        keep.append(data)
    return pkts, keep


@pytest.mark.parametrize("sadb", [10_000], indirect=True)
@pytest.mark.parametrize("spis", ["consecutive", "random", "high bits only"])
def test_ten_thousand(sadb: Any, spis: str) -> None:
    rng = random.Random(4301)
    chosen = {
        "consecutive": list(range(0x1000, 0x1000 + 10_000)),
        "random": rng.sample(range(256, 1 << 32), 10_000),
        "high bits only": [(i + 1) << 18 for i in range(10_000)],
    }[spis]
    for spi in chosen:
        assert lib.gw_sadb_add(sadb, new_sa(spi)) == 0
    asked = rng.sample(chosen, 2000)
    pkts, keep = packets(asked)
    lib.gw_sadb_lookup(sadb, pkts, len(asked))
    assert [lib.gw_sa_spi(pkts[i].sa) for i in range(len(asked))] == asked
    # remove half in random order: the rest stays, the removed are gone
    gone = set(rng.sample(chosen, 5000))
    for spi in gone:
        sa = lib.gw_sadb_remove(sadb, spi, IN)
        assert lib.gw_sa_spi(sa) == spi
        lib.gw_sa_free(sa)
    for spi in chosen:
        found = lib.gw_sadb_in(sadb, spi)
        assert (found == ffi.NULL) == (spi in gone)
    del keep


def test_lookup_of_a_batch(sadb: Any) -> None:
    assert lib.gw_sadb_add(sadb, new_sa(0x1000)) == 0
    assert lib.gw_sadb_add(sadb, new_sa(0x2000, OUT)) == 0
    spis = [0x1000, 0x1001, 0x2000, 0x1000, 0x1000, 0, 0xFFFFFFFF]
    pkts, keep = packets(spis, [64, 64, 64, 8, 7, 64, 0])
    lib.gw_sadb_lookup(sadb, pkts, len(spis))
    names = [ffi.string(lib.gw_drop_name(pkts[i].status)).decode() for i in range(len(spis))]
    assert names == ["ok", "in_no_states", "in_no_states", "ok", "in_hdr_error", "in_no_states", "in_hdr_error"]
    assert [pkts[i].sa != ffi.NULL for i in range(len(spis))] == [n == "ok" for n in names]
    # opening keeps those reasons
    lib.gw_open_batch(pkts, len(spis), 0)
    assert [pkts[i].status for i in (1, 4)] == [lib.GW_IN_NO_STATES, lib.GW_IN_HDR_ERROR]
    del keep


def test_directions_do_not_mix(sadb: Any) -> None:
    inbound, outbound = new_sa(0x1000, IN), new_sa(0x1000, OUT)
    assert lib.gw_sadb_add(sadb, inbound) == 0
    assert lib.gw_sadb_out(sadb, 0x1000) == ffi.NULL
    assert lib.gw_sadb_add(sadb, outbound) == 0
    assert lib.gw_sadb_in(sadb, 0x1000) == inbound and lib.gw_sadb_out(sadb, 0x1000) == outbound
    assert lib.gw_sadb_remove(sadb, 0x1000, OUT) == outbound
    assert lib.gw_sadb_in(sadb, 0x1000) == inbound
    assert lib.gw_sadb_remove(sadb, 0x1000, OUT) == ffi.NULL
    lib.gw_sa_free(outbound)


@pytest.mark.parametrize("sadb", [3], indirect=True)
def test_full_and_duplicate(sadb: Any) -> None:
    for spi in (0x1000, 0x1001, 0x1002):
        assert lib.gw_sadb_add(sadb, new_sa(spi)) == 0
    refused = new_sa(0x1003)
    assert lib.gw_sadb_add(sadb, refused) == -ENOSPC
    same = new_sa(0x1001)
    assert lib.gw_sadb_add(sadb, same) == -EEXIST
    lib.gw_sa_free(lib.gw_sadb_remove(sadb, 0x1001, IN))
    assert lib.gw_sadb_add(sadb, same) == 0  # a refused SA still belongs to the caller
    lib.gw_sa_free(refused)


@pytest.mark.parametrize("sadb", [64], indirect=True)
def test_churn_against_a_dict(sadb: Any) -> None:
    """Removal shifts entries back: thousands of adds and removals in a table that is nearly full."""
    rng = random.Random(6479)
    alive: dict[int, Any] = {}
    for _ in range(4000):
        spi = rng.randrange(256, 400)
        if spi in alive:
            assert lib.gw_sadb_remove(sadb, spi, IN) == alive.pop(spi)
        elif len(alive) < 64:
            sa = new_sa(spi)
            assert lib.gw_sadb_add(sadb, sa) == 0
            alive[spi] = sa
        probe = rng.randrange(256, 400)
        assert lib.gw_sadb_in(sadb, probe) == alive.get(probe, ffi.NULL)


def test_counters_move_with_the_sa(sadb: Any) -> None:
    """From private memory to a page's slot and back, without losing a count."""
    fd = ffi.new("int *")
    page = lib.gw_counters_new(2, fd)
    assert page != ffi.NULL and fd[0] >= 0
    sa, out = new_sa(0x1000), ffi.new("gw_sa_counters *")
    lib.gw_sa_drop(sa, lib.GW_STATE_PROTO_ERROR, 3)
    slot = lib.gw_counters_take(page)
    other = lib.gw_counters_take(page)
    assert other != slot and lib.gw_counters_take(page) == ffi.NULL
    assert lib.gw_sa_set_counters(sa, slot) == ffi.NULL, "it leaves its own memory"
    lib.gw_sa_drop(sa, lib.GW_STATE_PROTO_ERROR, 4)
    lib.gw_sa_read(sa, out)
    assert (out.spi, out.drops[lib.GW_STATE_PROTO_ERROR]) == (0x1000, 7)
    assert lib.gw_sa_set_counters(sa, ffi.NULL) == slot
    lib.gw_counters_release(slot)
    assert lib.gw_counters_take(page) == slot
    lib.gw_sa_read(sa, out)
    assert out.drops[lib.GW_STATE_PROTO_ERROR] == 7
    lib.gw_sa_free(sa)
    lib.gw_counters_free(page, fd[0])


def test_a_writer_killed_inside_does_not_hang_its_reader() -> None:
    seq, source, target = ffi.new("uint32_t *", 2), ffi.new("char[]", b"whole"), ffi.new("char[6]")
    assert lib.gw_seq_read(seq, target, source, 6) and ffi.string(target) == b"whole"
    seq[0] = 3  # odd: inside
    assert not lib.gw_seq_read(seq, target, source, 6)


def test_who_is_handed_the_page_can_read_it_only() -> None:
    """Cut short, it would kill the loop; written, it would lead it astray."""
    fd = ffi.new("int *")
    page = lib.gw_counters_new(2, fd)
    size = os.fstat(fd[0]).st_size
    with mmap.mmap(fd[0], size, prot=mmap.PROT_READ) as seen:
        assert seen[:4] == struct.pack("=I", 0x67777062)
    for wanted in (0, size + 1):
        with pytest.raises(PermissionError):
            os.ftruncate(fd[0], wanted)
    if tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) >= (5, 1):
        with pytest.raises(PermissionError):
            os.pwrite(fd[0], b"x", 0)
    lib.gw_counters_free(page, fd[0])


def test_histogram_buckets() -> None:
    """1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, 65-128, more."""
    edges = [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 1 << 40]
    assert [lib.gw_hist_bucket(n) for n in edges] == [0, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8]
