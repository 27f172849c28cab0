"""Kernels that refuse what another grants, and time that passes without packets (topology in loop_support.py)."""

from __future__ import annotations

import ctypes
import multiprocessing
import multiprocessing.connection
import os
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest
from esp_internals import CSRC, compile_objects, link

import dataplane as dp
from tests.loop_support import SPIS, echo, eventually, sa, transfer, tunnel

needs_tun = pytest.mark.skipif(
    os.geteuid() != 0 or not os.access("/dev/net/tun", os.W_OK), reason="needs root and a writable /dev/net/tun"
)

V4 = socket.AF_INET


def test_udp_segmentation_is_given_up_for_one_peer_only() -> None:
    """And several peers share a system call, each with an address of its own."""
    flags = ("-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    io = [CSRC / "io" / name for name in ("peers.c", "udp.c")]
    core = [CSRC / "core" / "clock.c"]
    # udp.c gives the addresses; its own gw_udp_send_failed and gw_udp_set_df yield to the driver's.
    objects = compile_objects((*flags, "-Wno-unused"), [io[0], *core, Path(__file__).parent / "c" / "send_driver.c"])
    objects += compile_objects((*flags, "-Dgw_udp_send_failed=unused_failed", "-Dgw_udp_set_df=unused_set_df"), [io[1]])
    done = subprocess.run([link(objects, flags, "send-driver")], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, gso, moved = done.stdout.splitlines()
    assert first == "round 0: 5 calls, first with 6 messages, fallbacks 2, joined 2 0 2, packets 20 20 20"
    assert second == "round 1: 1 calls, first with 24 messages, fallbacks 2, joined 2 0 2, packets 20 20 20"
    assert gso == "gso 1 0 1, errors 0"
    assert moved == "moved: gso 1, again 1, released 1, next 2"


def _refuse_long_writev(least: int) -> None:
    """seccomp: writev of `least` pieces or more is EINVAL, as super-packets are where a TUN takes none."""
    machine, writev = {"x86_64": (0xC000003E, 20), "aarch64": (0xC00000B7, 66)}[os.uname().machine]
    ld, jeq, jge, ret = 0x20, 0x15, 0x35, 0x06
    program = [
        (ld, 0, 0, 4),  # architecture
        (jeq, 0, 4, machine),
        (ld, 0, 0, 0),  # number
        (jeq, 0, 2, writev),
        (ld, 0, 0, 16 + 2 * 8),  # the third argument
        (jge, 1, 0, least),
        (ret, 0, 0, 0x7FFF0000),
        (ret, 0, 0, 0x00050000 | 22),
    ]
    code = b"".join(struct.pack("HBBI", *one) for one in program)
    buffer = ctypes.create_string_buffer(code)
    fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer)))
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(38, 1, 0, 0, 0) == 0  # PR_SET_NO_NEW_PRIVS
    assert libc.prctl(22, 2, fprog, 0, 0) == 0, ctypes.get_errno()  # PR_SET_SECCOMP, filter


def _transfer_without_super_packets(answer: multiprocessing.connection.Connection) -> None:
    _refuse_long_writev(3)
    with tunnel() as ends:
        transfer(ends, V4, bytes(4_000_000))
        answer.send([end.counters() for end in ends])


@needs_tun
def test_a_tun_that_refuses_super_packets_is_not_asked_for_ever() -> None:
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_transfer_without_super_packets, args=(there,))
    process.start()
    there.close()
    try:
        _, right = here.recv()
    finally:
        process.join(60)
    assert process.exitcode == 0
    assert right["tun_write_einval"] == 16 and right["coalesce_off"] == 1
    assert right["tun_write_segments"] > 2500, "everything arrived all the same"


@needs_tun
def test_an_idle_sa_ends_when_its_time_is_over() -> None:
    with tunnel(keyed=False) as ends:
        path = ends[0].path
        for spi, soft, hard in ((0x1000, 0, 300_000_000), (0x1001, 300_000_000, 10**12), (0x1002, 0, 0)):
            path.sa_add(sa("aes128gcm16", spi, "in", 0, soft_ns=soft, hard_ns=hard))
        begin = time.monotonic()
        assert {c.spi: c.state for c in path.sa_counters()} == dict.fromkeys((4096, 4097, 4098), "valid") or (
            time.monotonic() - begin > 0.2
        )
        eventually(
            lambda: (
                {c.spi: c.state for c in path.sa_counters()} == {0x1000: "expired", 0x1001: "dying", 0x1002: "valid"}
            )
        )
        assert all(c.packets == 0 and c.drops == {} for c in path.sa_counters())
        wakeups = ends[0].counters()["wakeups"]
        time.sleep(0.3)
        assert ends[0].counters()["wakeups"] - wakeups <= 4, "a loop with nothing to wait for sleeps"


@needs_tun
def test_what_waits_for_company_does_not_go_to_the_next_peer() -> None:
    """Peers' numbers are used again: SAs come and go while packets flow."""
    with tunnel() as ends:
        for i in range(50):
            peer = f"198.18.9.{100 + i}"
            ends[0].path.sa_add(sa("aes128gcm16", 0x5000 + i, "out", 0, peer=peer))
            echo(ends, V4, b"to the same peer as ever")
            ends[0].path.sa_del(0x5000 + i, "out")
        assert [c.spi for c in ends[0].path.sa_counters() if c.direction == "out"] == [SPIS[0]]
        assert ends[0].counters()["udp_send_packets"] == 50
        assert isinstance(ends[0].path, dp.Dataplane)
