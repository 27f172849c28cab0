"""The window against a model straight from RFC 4303 appendix A2: a set of numbers and two comparisons."""

from __future__ import annotations

import pytest
from esp_support import flip, ipv4, open_one, pair, sa_params, seal_one, statuses
from hypothesis import given, settings
from hypothesis import strategies as st

import dataplane as dp

PACKET = ipv4(b"")
WINDOWS = [32, 33, 63, 64, 65, 127, 128, 192, 200, 256, 1000, 1024, 4096, 65535, 65536]
SUITE = "aes128gcm16"
WRAP = 1 << 32


class Model:
    """What a receiver accepts, with 64-bit numbers that it is told."""

    def __init__(self, window: int, top: int = 0) -> None:
        self.window, self.top = window, top
        self.seen: set[int] = set()

    def accept(self, number: int) -> bool:
        if number == 0 or number <= self.top - self.window or number in self.seen:
            return False
        self.top = max(self.top, number)
        self.seen.add(number)
        return True

    def infer(self, low: int) -> int | None:
        """A2.2, in the RFC's own words: Tl, Th, Sl, Sh."""
        tl, th = self.top % WRAP, self.top // WRAP
        bottom = (tl - self.window + 1) % WRAP
        sh = (th if low >= bottom else th + 1) if tl >= self.window - 1 else (th - 1 if low >= bottom else th)
        return sh * WRAP + low if 0 <= sh < WRAP else None


class Sender:
    """Seals any number: an SA per packet, since an SA only counts up."""

    def __init__(self, esn: bool) -> None:
        self.esn = esn
        self.made: dict[int, bytes] = {}

    def packet(self, number: int) -> bytes:
        if number not in self.made:
            with dp.Sa(sa_params(SUITE, "out", esn=self.esn, seq=number - 1)) as sa:
                self.made[number] = seal_one(sa, PACKET)
        return self.made[number]


@pytest.mark.parametrize("window", WINDOWS)
def test_edges(window: int) -> None:
    """Exactly `window` numbers: the lowest is taken once, the one below never."""
    sender = Sender(esn=False)
    top = 3 * window + 7
    with dp.Sa(sa_params(SUITE, "in", replay_window=window)) as sa:
        order = [top, top - window + 1, top - window, top - window + 1, top - 1, top, top + 1, top - window + 1]
        expected = [True, True, False, False, True, False, True, False]
        assert [open_one(sa, sender.packet(n)).status == "ok" for n in order] == expected
        assert sa.counters().drops == {"state_seq_error": 4}


def test_default_window_is_64() -> None:
    sender = Sender(esn=False)
    with dp.Sa(sa_params(SUITE, "in")) as sa:
        assert statuses([open_one(sa, sender.packet(n)) for n in (100, 37, 36)]) == ["ok", "ok", "state_seq_error"]


@settings(max_examples=150, deadline=None)
@given(
    window=st.sampled_from([32, 64, 100, 128, 1024, 65536]),
    start=st.integers(0, 1 << 33),
    jumps=st.lists(st.one_of(st.integers(-70, 70), st.integers(-70000, 70000)), max_size=40),
    batch=st.integers(1, 9),
    esn=st.booleans(),
)
def test_random_walks(window: int, start: int, jumps: list[int], batch: int, esn: bool) -> None:
    if not esn:
        start %= 1 << 31
    model, sender = Model(window, start), Sender(esn)
    numbers, at = [], start
    for jump in jumps:
        at = max(1, at + jump)
        numbers.append(at)
    with dp.Sa(sa_params(SUITE, "in", replay_window=window, seq=start, esn=esn)) as sa:
        for i in range(0, len(numbers), batch):
            group = numbers[i : i + batch]
            opened = sa.open([sender.packet(n) for n in group])
            inferred = [model.infer(n % WRAP) if esn else n for n in group]  # from the top before the batch
            wanted = [n == guess and model.accept(n) for n, guess in zip(group, inferred, strict=True)]
            assert [o.status == "ok" for o in opened] == wanted
            assert sa.counters().seq == model.top


def test_two_copies_in_one_batch() -> None:
    ours = pair(SUITE)
    first, second = (s.esp for s in ours.out.seal([PACKET, PACKET]))
    opened = ours.into.open([first, first, second, first, second])
    assert statuses(opened) == ["ok", "state_seq_error", "ok", "state_seq_error", "state_seq_error"]
    assert ours.into.counters().packets == 2


def test_copies_across_chunks_of_a_large_batch() -> None:
    """Batches are worked off in pieces: a copy 200 packets later is still a copy."""
    ours = pair(SUITE, into={"replay_window": 1024})
    packets = [s.esp for s in ours.out.seal([PACKET] * 200)]
    opened = ours.into.open(packets + packets)
    assert statuses(opened) == ["ok"] * 200 + ["state_seq_error"] * 200


def test_forged_packets_move_nothing() -> None:
    ours = pair(SUITE)
    genuine = [s.esp for s in ours.out.seal([PACKET] * 3)]
    far = Sender(esn=False).packet(1 << 20)
    assert open_one(ours.into, flip(far, -1)).status == "state_proto_error"
    assert ours.into.counters().seq == 0
    assert statuses(ours.into.open(genuine)) == ["ok"] * 3


def test_number_zero_is_never_sent() -> None:
    """RFC 4303 2.2: the first packet has number 1. Number 0 with a right ICV is refused."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    p = sa_params(SUITE, "in")
    head, iv = p.spi.to_bytes(4, "big") + bytes(4), b"8 bytes!"
    text = PACKET + bytes([1, 2, 2, 4])
    esp = head + iv + AESGCM(bytes(p.enc_key)).encrypt(bytes(p.salt) + iv, text[:20] + bytes([1, 2, 2, 4]), head)
    with dp.Sa(p) as sa:
        assert open_one(sa, esp).status == "state_seq_error"


def test_esn_rolls_over() -> None:
    """Packets on both sides of 2^32, late ones included; the high half is never on the wire."""
    start = WRAP - 5
    ours = pair(SUITE, out={"seq": start}, into={"seq": start}, esn=True)
    sealed = [s.esp for s in ours.out.seal([PACKET] * 10)]
    assert [int.from_bytes(esp[4:8], "big") for esp in sealed] == [(start + 1 + i) % WRAP for i in range(10)]
    order = [0, 1, 7, 2, 9, 3, 4, 5, 6, 8]
    assert statuses(ours.into.open([sealed[i] for i in order])) == ["ok"] * 10
    assert ours.into.counters().seq == start + 10
    assert statuses(ours.into.open(sealed)) == ["state_seq_error"] * 10


@pytest.mark.parametrize(("esn", "last"), [(False, WRAP - 1), (True, (1 << 64) - 1)], ids=["seq32", "esn"])
@pytest.mark.parametrize("suite", ["aes128gcm16", "aes256-sha256"])
def test_last_sequence_number(suite: str, esn: bool, last: int) -> None:
    """The last number is used, and nothing after it: the counter never wraps (RFC 4303 3.3.3)."""
    ours = pair(suite, out={"seq": last - 2}, into={"seq": last - 2}, esn=esn)
    sealed = ours.out.seal([PACKET] * 4)
    assert statuses(sealed) == ["ok", "ok", "out_state_seq_error", "out_state_seq_error"]
    assert statuses(ours.out.seal([PACKET])) == ["out_state_seq_error"]
    assert statuses(ours.into.open([s.esp for s in sealed[:2]])) == ["ok", "ok"]
    counters = ours.out.counters()
    assert (counters.seq, counters.state, counters.packets) == (last, "expired", 2)
    assert counters.drops == {"out_state_seq_error": 3}
    assert ours.into.counters().seq == last


def test_no_replay_takes_copies() -> None:
    ours = pair(SUITE, into={"replay": False})
    esp = seal_one(ours.out, PACKET)
    assert statuses(ours.into.open([esp, esp])) == ["ok", "ok"]


def test_ivs_do_not_repeat_after_a_restart() -> None:
    """A sender that starts again with the same keys (a restarted gateway) uses other IVs."""
    ivs = set()
    for _ in range(3):
        with dp.Sa(sa_params(SUITE, "out")) as sa:
            ivs |= {s.esp[8:16] for s in sa.seal([PACKET] * 100)}
    assert len(ivs) == 300


@pytest.mark.parametrize("window", [32, 64, 1024, 4096, 65536])
@pytest.mark.parametrize("beyond", [-1, 0])
def test_reordering_as_deep_as_the_window_loses_nothing(window: int, beyond: int) -> None:
    """Every seventh packet is overtaken by window - 1 others, the most that a window of this size holds, or by one
    more."""
    late_by = window + beyond
    total = min(2 * window, window + 500) + 50
    arrival = sorted(range(1, total + 1), key=lambda number: number + (late_by + 0.5 if number % 7 == 0 else 0))
    with dp.Sa(sa_params(SUITE, "out")) as out, dp.Sa(sa_params(SUITE, "in", replay_window=window)) as sa:
        sealed = out.seal([PACKET] * total)
        opened = sa.open([sealed[number - 1].esp for number in arrival])
        model = Model(window)
        accepted = [model.accept(number) for number in arrival]
        assert [one.status == "ok" for one in opened] == accepted
        assert all(accepted) == (beyond < 0)
        assert sa.counters().drops == ({} if all(accepted) else {"state_seq_error": accepted.count(False)})
