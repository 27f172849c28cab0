"""The binding: what the header declares is what Python has, and mistakes are errors, not crashes."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import ModuleType

import pytest

import dataplane
import gateway
from dataplane import DataplaneError, Key, Op, Sa, SaParams, run
from dataplane._native import ffi, get_addr, lib, set_addr
from gateway.node.base import OFFLOADS, PathConfig

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "csrc" / "gwdp.h"


@pytest.fixture(scope="module")
def build_module() -> ModuleType:
    """dataplane/_build.py; it is run by setup.py and not part of the package's interface."""
    spec = importlib.util.spec_from_file_location("gwbench_build", ROOT / "dataplane" / "_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def declared(text: str) -> set[str]:
    return set(re.findall(r"\b(gw_\w+)\(", re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)))


def test_every_function_of_the_header_is_there_and_between_the_marks(build_module: ModuleType) -> None:
    inside = build_module.cdef_text(HEADER)
    functions = declared(inside)
    assert len(functions) > 40
    assert functions == declared(HEADER.read_text())
    assert {name for name in dir(lib) if name.startswith("gw_")} == functions


@pytest.mark.parametrize(
    "text", ["", "/* >>> cffi */", "/* <<< cffi */", "/* >>> cffi */ /* >>> cffi */ /* <<< cffi */"]
)
def test_a_header_without_marks_is_refused(build_module: ModuleType, tmp_path: Path, text: str) -> None:
    (tmp_path / "gwdp.h").write_text(text)
    with pytest.raises(ValueError, match="exactly one"):
        build_module.cdef_text(tmp_path / "gwdp.h")


def test_all_sources_are_built_assembly_too(build_module: ModuleType) -> None:
    sources = build_module.sources(ROOT)
    on_disk = {
        str(path.relative_to(ROOT))
        for directory in ("core", "crypto", "esp", "io", "bench")
        for path in (ROOT / "csrc" / directory).rglob("*")
        if path.suffix in (".c", ".S")
    }
    assert set(sources) == on_disk and len(sources) == len(on_disk)
    assert any(source.endswith(".S") for source in sources)


def test_arrays_are_as_long_as_their_constants_say() -> None:
    fields = dict(ffi.typeof("gw_loop_counters").fields)
    assert fields["drops"].type.length == lib.GW_DROP_REASONS
    assert fields["stage_cycles"].type.length == lib.GW_STAGES
    assert fields["seal_batch_hist"].type.length == fields["open_batch_hist"].type.length == lib.GW_HIST_BUCKETS
    assert dict(ffi.typeof("gw_sa_counters").fields)["drops"].type.length == lib.GW_DROP_REASONS
    assert dict(ffi.typeof("gw_op").fields)["in"].type.length == lib.GW_OP_SPANS


def test_drop_reasons_are_the_kernels_words() -> None:
    assert dataplane.DROP_REASONS[lib.GW_IN_NO_STATES] == "in_no_states"
    assert dataplane.DROP_REASONS[lib.GW_STATE_SEQ_ERROR] == "state_seq_error"
    assert len(set(dataplane.DROP_REASONS)) == lib.GW_DROP_REASONS
    assert lib.gw_drop_name(lib.GW_DROP_REASONS) == ffi.NULL
    assert lib.gw_drop_name(-1) == ffi.NULL


def test_known_answers_pass_and_every_runnable_implementation_was_checked() -> None:
    assert dataplane.init() == 0
    table = dataplane.implementations()
    assert {impl.checked for impl in table if impl.runnable} == {"passed"}
    assert {impl.checked for impl in table if not impl.runnable} <= {"not run"}
    assert len({impl.driver for impl in table}) == len(table)
    for impl in table:
        if impl.runnable:
            dataplane.selftest(impl.driver)


def isolated(code: str, **env: str) -> str:
    """Output of a fresh interpreter: what follows changes the process for good."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **env}, timeout=60, check=True
    )
    return done.stdout


def test_an_implementation_that_fails_is_not_selected_any_more() -> None:
    code = (
        "import dataplane as d\n"
        "before = d.resolve('aes128gcm16', 'auto')\n"
        "d.inject_fault(before)\n"
        "try:\n"
        "    d.selftest(before)\n"
        "except d.DataplaneError as e:\n"
        "    print(e.errno, bool(e.message))\n"
        "print(d.find_impl(before).checked, d.resolve('aes128gcm16', 'auto') != before)\n"
    )
    assert isolated(code).splitlines() == ["74 True", "failed True"]


def test_features_can_be_hidden_by_the_environment() -> None:
    features = dataplane.cpu_features()
    if not features:
        pytest.skip("this CPU has no features to hide")
    code = (
        "import dataplane as d\n"
        "print(' '.join(d.cpu_features()))\n"
        "print({i.tag for i in d.implementations() if i.runnable})\n"
    )
    visible, tags = isolated(code, GWBENCH_CPU_DISABLE=",".join(features)).splitlines()
    assert visible == ""
    assert "generic" in tags and "aesni" not in tags and "vaes" not in tags and "neon" not in tags


def test_unknown_names_are_errors() -> None:
    for action in (
        lambda: dataplane.find_impl("nothing"),
        lambda: dataplane.selftest("nothing"),
        lambda: dataplane.inject_fault("nothing"),
        lambda: Key("nothing", b""),
        lambda: run("nothing", []),
    ):
        with pytest.raises(DataplaneError):
            action()
    with pytest.raises(DataplaneError, match=r"there are: .*aes128gcm16"):
        dataplane.find_suite("nothing")
    with pytest.raises(DataplaneError):
        dataplane.resolve("aes128gcm16", "nothing")


def test_keys_of_a_wrong_length_are_refused_and_used_keys_cannot_be_used_again() -> None:
    with pytest.raises(DataplaneError):
        Key("cbc-aes-generic/gwbench", bytes(17))
    key = Key("cbc-aes-generic/gwbench", bytes(16))
    key.close()
    key.close()
    with pytest.raises(DataplaneError, match="wiped"):
        run("cbc-aes-generic/gwbench", [Op(data=bytes(16), key=key, iv=bytes(16))])


def test_a_batch_of_one_fips_197_block_and_its_way_back() -> None:
    key = bytes.fromhex("000102030405060708090a0b0c0d0e0f")
    plain = bytes.fromhex("00112233445566778899aabbccddeeff")
    cipher = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
    with Key("ecb-aes-generic/gwbench", key) as expanded:
        for in_place in (False, True):
            (sealed,) = run("ecb-aes-generic/gwbench", [Op(data=plain, key=expanded, in_place=in_place, misalign=3)])
            assert sealed.ok and sealed.out == cipher
        (opened,) = run("ecb-aes-generic/gwbench", [Op(data=cipher, key=expanded)], opening=True)
        assert opened.out == plain
        assert run("ecb-aes-generic/gwbench", []) == []


def test_spans_must_fit() -> None:
    with Key("ecb-aes-generic/gwbench", bytes(16)) as key:
        for spans in ((63,), (64, 64, 64), (128,), (-64,)):
            with pytest.raises(ValueError, match="spans"):
                run("ecb-aes-generic/gwbench", [Op(data=bytes(64), key=key, spans=spans)])
        with pytest.raises(ValueError, match="one span"):
            run("ecb-aes-generic/gwbench", [Op(data=bytes(128), key=key, spans=(64,), in_place=True)])


def test_a_hash_cannot_be_opened() -> None:
    with pytest.raises(DataplaneError, match="cannot open"):
        run("sha256-generic/gwbench", [Op(data=b"abc", tag=bytes(32))], opening=True)
    (digest,) = run("sha256-generic/gwbench", [Op(data=b"abc", tag_bytes=32)])
    assert digest.tag.hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"suite": "nothing"}, "there are"),
        ({"enc_key": bytes(15)}, "16 bytes, not 15"),
        ({"auth_key": b"x"}, "authentication key of 0 bytes"),
        ({"salt": bytes(3)}, "salt of 4 bytes"),
        ({"implementation": "nothing"}, "nothing"),
        ({"suite": "null", "enc_key": b"", "salt": b""}, "null"),
    ],
)
def test_bad_sas_are_refused(change: dict[str, object], words: str) -> None:
    good: dict[str, object] = {
        "spi": 0x1000,
        "suite": "aes128gcm16",
        "direction": "out",
        "enc_key": bytes(16),
        "salt": bytes(4),
    }
    with Sa(SaParams(**good)) as sa:  # type: ignore[arg-type]
        assert "/gwbench" in sa.implementation
    with pytest.raises(DataplaneError, match=words):
        Sa(SaParams(**{**good, **change}))  # type: ignore[arg-type]
    with pytest.raises(DataplaneError, match="closed"):
        sa.seal([b"E" + bytes(19)])


@pytest.mark.parametrize(
    ("address", "port", "family"),
    [("192.0.2.1", 4500, 4), ("2001:db8::1", 65535, 6), ("", 7, 0)],
)
def test_addresses_go_there_and_back(address: str, port: int, family: int) -> None:
    addr = ffi.new("gw_addr *")
    set_addr(addr, address, port)
    assert (int(addr.family), get_addr(addr)) == (family, (address, port))


def test_prefixes() -> None:
    addr = ffi.new("gw_addr *")
    set_addr(addr, "10.1.0.0/16")
    assert int(addr.prefix) == 16
    set_addr(addr, "10.1.0.1")
    assert int(addr.prefix) == 32
    with pytest.raises(ValueError, match="300"):
        set_addr(addr, "300.1.1.1")


def test_python_runs_while_c_works() -> None:
    """cffi releases the GIL: a timed bench in another thread does not stop this one."""
    samples: list[dataplane.BenchSample] = []

    def bench() -> None:
        samples.append(
            dataplane.bench_impl(
                "cbc-aes-generic/gwbench", opening=False, key_len=16, bytes_=1408, batch=8, min_ns=300_000_000
            )
        )

    thread = threading.Thread(target=bench)
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 20
    (sample,) = samples
    assert sample.ns >= 300_000_000
    assert sample.bytes == sample.ops * 1408 > 0


def test_what_is_written_twice_agrees() -> None:
    assert dataplane.version() == gateway.__version__
    assert f'\nversion = "{gateway.__version__}"\n' in (ROOT / "pyproject.toml").read_text()
    defaults = dataplane.DataplaneConfig(local="192.0.2.1"), PathConfig(local="192.0.2.1")
    assert defaults[0].offload == defaults[1].offload == OFFLOADS
    written = re.search(r'defaults\[\] = "(.*)";', (ROOT / "csrc/node/path.c").read_text())
    assert written and tuple(written[1].split("\\0")) == OFFLOADS
