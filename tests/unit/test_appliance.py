"""The gateway's control plane, driven by hand: time is passed in, nodes record what they are told."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path
from typing import Any

import pytest

from gateway.appliance import config as configuration
from gateway.appliance.config import Config, Peer
from gateway.appliance.gateway import Appliance
from gateway.appliance.status import status
from gateway.errors import MeasurementError, UnusableError
from gateway.metrics.dataplane import OwnTunnels
from gateway.metrics.exposition import Families
from gateway.metrics.ledger import Ledger, SaReading, TunnelName
from gateway.node.base import Hello, NodeCounters, PathConfig, PathInfo, SaConfig, SaCounters

ROOT = Path(__file__).resolve().parents[2]
TOML = """
[gateway]
local = "192.0.2.1"
[rekey]
seconds = 100
bytes = "1M"
packets = 1000
grace_seconds = 5
[peer.b]
ssh = "root@b"
local = "192.0.2.2"
[peer.c]
ssh = "root@c"
local = "192.0.2.3"
[tunnel.lan]
peer = "b"
local = "10.1.0.0/24"
remote = "10.2.0.0/24"
[tunnel.more]
peer = "c"
local = "10.1.0.0/24"
remote = "10.3.0.0/24"
suite = "aes256-sha256"
"""


class FakeNode:
    """Keeps the books that a node keeps, and copies of the keys that it was given."""

    keys_seen: list[bytes] = []  # noqa: RUF012 - of all nodes, on purpose

    def __init__(self, name: str, log: list[tuple[str, str, Any]]) -> None:
        self.name, self.log = name, log
        self.sas: dict[tuple[int, str], SaCounters] = {}
        self.configs: dict[tuple[int, str], SaConfig] = {}
        self.policies: dict[tuple[str, str], int] = {}
        self.path: PathConfig | None = None
        self.fail: dict[str, Exception] = {}
        self.closed = False

    def _told(self, op: str, what: Any) -> None:
        self.log.append((self.name, op, what))
        if op in self.fail:
            raise self.fail[op]

    def hello(self) -> Hello:
        self._told("hello", None)
        return Hello("worker", 1, "", "", "", (), (), ())

    def open_path(self, config: PathConfig) -> PathInfo:
        self._told("open_path", config)
        self.path = config
        return PathInfo(config.tun, 1, config.port, (), 1, 1, 1, 1)

    def add_sa(self, config: SaConfig) -> str:
        self._told("add_sa", (config.spi, config.direction))
        key = (config.spi, config.direction)
        assert key not in self.sas
        if config.direction == "in":
            self.keys_seen.append(bytes(config.enc_key) + bytes(config.salt))
        self.sas[key] = SaCounters(config.spi, config.direction, 0, 0, 0, {}, 0, "valid", "impl")
        self.configs[key] = config
        return "impl"

    def delete_sa(self, spi: int, direction: str) -> SaCounters:
        self._told("delete_sa", (spi, direction))
        return self.sas.pop((spi, direction))

    def set_policy(self, spi: int, src: str = "", dst: str = "") -> None:
        self._told("set_policy", (src, dst))
        assert (spi, "out") in self.sas
        self.policies[src, dst] = spi

    def counters(self, sas: bool = True) -> NodeCounters:
        raise NotImplementedError

    def health(self) -> None:
        self._told("health", None)

    def close(self) -> None:
        self.closed = True
        self.sas.clear()

    def count(self, direction: str, packets: int, size: int = 0, **more: Any) -> None:
        """Traffic through the newest SA of a direction."""
        key = next(key for key in reversed(self.sas) if key[1] == direction)
        old = self.sas[key]
        fields = {name: getattr(old, name) for name in SaCounters.__dataclass_fields__}
        fields |= {"packets": old.packets + packets, "bytes": old.bytes + size, "seq": old.seq + packets, **more}
        self.sas[key] = SaCounters(**fields)


class World:
    """An appliance among fake nodes."""

    def __init__(self, text: str = TOML) -> None:
        self.log: list[tuple[str, str, Any]] = []
        self.said: list[str] = []
        self.made: list[FakeNode] = []
        self.unreachable: set[str] = set()
        self.routes: list[str] = []
        self.local = FakeNode("local", self.log)
        self.now = 1000.0
        self.appliance = Appliance(
            parse(text), self.local, self._make, lambda: dict(self.local.sas), self.routes.append, self.said.append
        )
        self.appliance.start()

    def _make(self, peer: Peer) -> FakeNode:
        if peer.name in self.unreachable:
            raise UnusableError(f"{peer.name} is unreachable")
        self.made.append(FakeNode(peer.name, self.log))
        return self.made[-1]

    def peer(self, name: str) -> FakeNode:
        return next(node for node in reversed(self.made) if node.name == name)

    def tick(self, after_s: float = 0.0) -> None:
        self.now += after_s
        self.appliance.tick(1_000_000.0 + self.now, self.now)


def parse(text: str) -> Config:
    return configuration.parse(tomllib.loads(text))


def test_tunnels_come_up_receivers_first() -> None:
    world = World()
    world.tick()
    of_lan = [(name, op, what[1]) for name, op, what in world.log if op == "add_sa"][:4]
    assert [(name, way) for name, _, way in of_lan] == [("b", "in"), ("local", "in"), ("local", "out"), ("b", "out")]
    policies = [i for i, (_, op, _) in enumerate(world.log) if op == "set_policy"]
    assert policies[0] > [i for i, (_, op, _) in enumerate(world.log) if op == "add_sa"][3]
    assert world.local.path is not None and world.local.path.routes == ("10.2.0.0/24", "10.3.0.0/24")
    assert world.peer("b").path.routes == ("10.1.0.0/24",)  # type: ignore[union-attr]
    for (spi, way), config in world.local.configs.items():
        far = world.peer("b" if config.peer == "192.0.2.2" else "c").configs[spi, "out" if way == "in" else "in"]
        assert (config.local, config.peer, config.selector_src) == (far.peer, far.local, far.selector_src)
        inner = ("10.1.0.0/24", config.selector_dst) if way == "out" else (config.selector_src, "10.1.0.0/24")
        assert (config.selector_src, config.selector_dst) == inner
    assert world.local.path.mtu == 1422, "the smaller of what two suites leave of 1500"


@pytest.mark.parametrize(
    "due",
    [
        {"after_s": 100.0},
        {"packets": 1000},
        {"size": 1 << 20},
        {"state": "dying"},
    ],
    ids=str,
)
def test_rekeyed_before_any_limit_and_make_before_break(due: dict[str, Any]) -> None:
    world = World()
    world.tick()
    before = dict(world.local.sas)
    world.log.clear()
    if "after_s" not in due:
        world.local.count(
            "out", due.get("packets", 1), due.get("size", 1), **{k: v for k, v in due.items() if k == "state"}
        )
    world.tick(due.get("after_s", 1.0))
    fresh = world.local.sas.keys() - before.keys()
    assert len(fresh) == (4 if "after_s" in due else 2)
    assert before.keys() <= world.local.sas.keys(), "the old ones still receive"
    assert not any(op == "delete_sa" for _, op, _ in world.log)
    assert set(world.local.policies.values()) >= {spi for spi, way in fresh if way == "out"}
    world.tick(5.1)
    assert len(world.local.sas) == 4 and fresh <= world.local.sas.keys()
    deleted = [name for name, op, what in world.log if op == "delete_sa"]
    assert deleted.count("local") == len(deleted) / 2
    # Not again at once.
    world.log.clear()
    world.tick(1.0)
    assert not [entry for entry in world.log if entry[1] == "add_sa"]


def test_no_key_is_ever_used_twice_also_after_a_restart() -> None:
    FakeNode.keys_seen.clear()
    for _ in range(3):
        world = World()
        for _ in range(5):
            world.tick(101.0)
        world.appliance.close()
        assert world.local.closed and all(node.closed for node in world.made)
    assert len(FakeNode.keys_seen) == 3 * 5 * 4
    assert len(set(FakeNode.keys_seen)) == len(FakeNode.keys_seen)
    assert all(any(key) for key in FakeNode.keys_seen)
    assert "enc_key" not in repr(world.local.configs)


def test_a_lost_peer_takes_only_its_own_tunnels_down_and_comes_back_with_fresh_keys() -> None:
    world = World()
    world.tick()
    lost, other = world.peer("b"), world.peer("c")
    of_c = set(other.sas)
    world.unreachable.add("b")
    lost.fail["health"] = MeasurementError("b was lost", code="dead")
    world.tick(5.0)
    assert lost.closed and not other.closed
    assert {(spi, "in" if way == "out" else "out") for spi, way in of_c} == set(world.local.sas)
    assert [t["state"] for t in status(world.appliance, 0, 0, world.now)["tunnels"]] == ["down", "up"]
    tries = 0
    for _ in range(120):
        before = len(world.said)
        world.tick(1.0)
        tries += len(world.said) - before
    assert tries <= 1, "a peer that stays away is said once"
    world.unreachable.clear()
    world.tick(60.0)
    assert [t["state"] for t in status(world.appliance, 0, 0, world.now)["tunnels"]] == ["up", "up"]
    assert len(world.peer("b").sas) == 2


def test_a_step_that_fails_leaves_nothing_behind() -> None:
    world = World()
    world.local.fail["set_policy"] = UnusableError("no room")
    world.tick()
    assert not world.local.sas and not world.peer("b").sas and not world.appliance.records
    del world.local.fail["set_policy"]
    world.tick(1.0)
    assert len(world.local.sas) == 4


def test_an_sa_that_cannot_be_rekeyed_ends_at_its_hard_limit() -> None:
    world = World()
    world.tick()
    world.peer("b").fail["add_sa"] = UnusableError("the table is full")
    world.tick(101.0)
    assert sum(c.peer == "192.0.2.2" for k, c in world.local.configs.items() if k in world.local.sas) == 2
    world.tick(25.0)
    assert not [c for k, c in world.local.configs.items() if k in world.local.sas and c.peer == "192.0.2.2"]
    tunnel = status(world.appliance, 0, 0, world.now)["tunnels"][0]
    assert (tunnel["state"], tunnel["problem"]) == ("down", "the table is full")


def test_our_own_data_path_that_ended_ends_the_gateway() -> None:
    world = World()
    world.tick()
    world.local.fail["health"] = MeasurementError("the TUN is gone", code="path-ended")
    with pytest.raises(MeasurementError, match="TUN"):
        world.tick(6.0)


def test_by_hand() -> None:
    world = World()
    world.tick()
    before = set(world.local.sas)
    assert world.appliance.rekey("lan") == 1
    world.tick(0.1)
    assert len(set(world.local.sas) - before) == 2
    assert world.appliance.delete("lan") == 1
    assert len(world.local.sas) == 2
    world.tick(200.0)
    assert status(world.appliance, 0, 0, world.now)["tunnels"][0]["state"] == "stopped"
    assert world.appliance.rekey("all") == 2
    world.tick(0.1)
    assert status(world.appliance, 0, 0, world.now)["tunnels"][0]["state"] == "up"
    with pytest.raises(UnusableError, match="there are: lan, more"):
        world.appliance.rekey("lam")


def test_reload_changes_only_what_changed() -> None:
    world = World()
    world.tick()
    of_c = {key for key, config in world.local.configs.items() if config.peer == "192.0.2.3"}
    b, c = world.peer("b"), world.peer("c")
    world.log.clear()
    assert world.appliance.reload(parse(TOML)) == []
    added = TOML + '[tunnel.third]\npeer = "b"\nlocal = "10.1.0.0/24"\nremote = "10.4.0.0/24"\n'
    assert world.appliance.reload(parse(added)) == ["tunnel third: added"]
    assert world.log == []
    world.tick(0.1)
    assert world.routes == ["10.4.0.0/24"] and len(world.local.sas) == 6 and not b.closed
    assert world.appliance.reload(parse(TOML)) == ["tunnel third: removed"]
    assert len(world.local.sas) == 4
    # Another suite is a rekey: the old SA goes on until the new one is there.
    changed = TOML.replace('remote = "10.2.0.0/24"', 'remote = "10.2.0.0/24"\nreplay_window = 64')
    assert world.appliance.reload(parse(changed)) == ["tunnel lan: changed"]
    assert len(world.local.sas) == 4
    world.tick(0.1)
    assert [c.replay_window for k, c in world.local.configs.items() if k in world.local.sas].count(64) == 2
    # Another machine: that peer alone connects again.
    moved = changed.replace("root@b", "root@b2")
    assert world.appliance.reload(parse(moved)) == ["peer b: connects again"]
    assert b.closed and not c.closed and of_c <= world.local.sas.keys()
    with pytest.raises(UnusableError, match="restart"):
        world.appliance.reload(parse(TOML.replace('"192.0.2.1"', '"192.0.2.9"')))


def test_metrics_never_fall_and_say_what_is_missing() -> None:
    world = World()
    collector = OwnTunnels(
        lambda: dict(world.local.sas),
        lambda: world.appliance.records,
        world.appliance.gone,
        lambda: [TunnelName("lan", "lan", "192.0.2.2"), TunnelName("more", "more", "192.0.2.3")],
        clock=lambda: 1_000_000.0 + world.now,
    )

    def told() -> dict[str, float]:
        families = Families()
        collector.collect(families)
        lines = (line.rpartition(" ") for line in families.text().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    assert [v for k, v in told().items() if k.startswith("gwbench_tunnel_up")] == [0, 0]
    sent = 0
    before: dict[str, float] = {}
    for n in range(30):
        world.tick(40.0)
        world.local.count("out", 7, 700)
        sent += 7
        if n % 3:
            now = told()
            assert all(now[k] >= v for k, v in before.items() if "_total" in k)
            before = now
    total = sum(v for k, v in told().items() if k.startswith("gwbench_tunnel_packets_total") and '"out"' in k)
    assert total == sent
    assert [v for k, v in told().items() if k.startswith("gwbench_tunnel_up")] == [1, 1]


def test_a_last_word_that_comes_late_is_not_counted_twice() -> None:
    ledger, name = Ledger(), TunnelName("t", "t", "p")

    def reading(packets: int) -> SaReading:
        return SaReading("key", 1, "out", packets, packets, {"x": packets}, created_s=0.0)

    ledger.update([(name, reading(10))], [], 1.0)
    ledger.update([], [], 2.0)
    assert ledger.directions[name, "out"].packets == 10
    ledger.update([], [(name, reading(13))], 3.0)
    direction = ledger.directions[name, "out"]
    assert (direction.packets, direction.bytes, direction.drops, direction.seen) == (13, 13, {"x": 13}, 1)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("[gateway]", "[gatewai]"), "'gatewai' does not exist"),
        (('local = "192.0.2.1"', ""), "lacks local"),
        (('local = "192.0.2.1"', 'local = "here"'), "'here' is no IP address"),
        (('local = "192.0.2.1"', 'local = "192.0.2.1"\nport = "x"'), "port = 'x' is not of type int"),
        (('local = "192.0.2.1"', 'local = "192.0.2.1"\nencap = "gre"'), "encap 'gre' does not exist"),
        (('ssh = "root@b"', ""), "needs ssh"),
        (('local = "192.0.2.2"', 'local = "2001:db8::1"'), "not of .* IP version"),
        (('peer = "b"', 'peer = "d"'), "peer 'd' is not there"),
        (('remote = "10.2.0.0/24"', ""), "lacks remote"),
        (('remote = "10.2.0.0/24"', 'remote = "10.2.0.1/24"'), "has host bits set"),
        (('remote = "10.2.0.0/24"', 'remote = "fd00::/64"'), "same IP version"),
        (('remote = "10.2.0.0/24"', 'remote = "10.3.0.0/24"'), "same prefixes"),
        (('bytes = "1M"', 'bytes = "many"'), "is no number"),
        (("seconds = 100", "seconds = 0"), "too soon"),
        (("seconds = 100", "secounds = 100"), "'secounds' does not exist"),
    ],
)
def test_a_wrong_configuration_is_one_line(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text(TOML.replace(*change, 1))
    assert path.read_text() != TOML
    with pytest.raises(UnusableError, match=says) as error:
        configuration.load(path)
    assert str(path) in error.value.message and "\n" not in str(error.value)


def test_several_prefixes_are_several_children() -> None:
    text = TOML.replace('remote = "10.2.0.0/24"', 'remote = ["10.2.0.0/24", "10.5.0.0/24"]')
    names = [(c.tunnel, c.name, c.remote) for c in parse(text).children]
    assert names[:2] == [("lan", "lan-1", "10.2.0.0/24"), ("lan", "lan-2", "10.5.0.0/24")]


def test_the_example_is_a_configuration() -> None:
    config = configuration.load(ROOT / "config/gateway.toml")
    assert config.children and config.metrics.listen and config.gateway.user == "gwbench"
    assert len(list(itertools.chain(config.peers))) >= 1


# ---- OpenWrt's format ----

UCI = (ROOT / "config" / "gateway.uci").read_text()


def test_uci_says_the_same_as_toml(tmp_path: Path) -> None:
    path = tmp_path / "gateway"
    path.write_text(UCI.replace("branch_lan", "office"))
    toml = (ROOT / "config" / "gateway.toml").read_text().replace("[tunnel.branch]", "[tunnel.office]")
    (tmp_path / "gateway.toml").write_text(toml)
    assert configuration.load(path) == configuration.load(tmp_path / "gateway.toml")


def test_uci_lists_comments_quotes_and_what_belongs_to_others(tmp_path: Path) -> None:
    path = tmp_path / "gwbench"
    text = UCI.replace("list local '10.1.0.0/24'", 'option local "10.1.0.0/24 10.4.0.0/24" # two')
    text += "\nconfig gwbench 'main'\n\toption enabled '0'\n\toption port '10795'\n"
    text += "config tunnel 'off'\n\toption enabled 'no'\n"
    path.write_text("package gwbench\n\n" + text.replace("option per_sa '0'", "option per_sa on"))
    config = configuration.load(path)
    assert [child.local for child in config.children] == ["10.1.0.0/24", "10.4.0.0/24"]
    assert config.metrics.per_sa is True and config.rekey.packets == 4 << 30 and config.gateway.name == "gwbench"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("option port '4500'", "option port 'http'"), "gateway port 'http' is no number"),
        (("option port '4500'", "option port '4500"), "line 7: a quotation mark is not closed"),
        (("option port '4500'", "option port"), "line 7: no line of UCI: option port"),
        (("option port '4500'", "list port '4500'"), "gateway port is an option, not a list"),
        (("option port '4500'", "option prot '4500'"), "'prot' does not exist"),
        (("option per_sa '0'", "option per_sa 'maybe'"), "metrics per_sa 'maybe' is neither 1 nor 0"),
        (("config tunnel 'branch_lan'", "config tunnel 'branch'"), "two sections are called 'branch'"),
        (("config peer 'branch'", "config peer"), "'config peer' needs a name"),
        (
            ("config metrics 'metrics'\n\tlist listen '127.0.0.1:10795'\n\toption per_sa '0'", "config rekey 'again'"),
            "a second",
        ),
        (("option enabled '1'", "option enabled '0'"), "the gateway is not enabled"),
        (("option bytes '256G'", "option bytes 'many'"), "rekey bytes 'many' is no number"),
    ],
)
def test_wrong_uci_is_one_line(change: tuple[str, str], says: str, tmp_path: Path) -> None:
    path = tmp_path / "gwbench"
    path.write_text(UCI.replace(*change, 1))
    assert path.read_text() != UCI
    with pytest.raises(UnusableError, match=says) as error:
        configuration.load(path)
    assert str(path) in error.value.message and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("suite", "says"),
    [
        ("aes128gcm17", r"\[tunnel\.\w+\]: no suite is called 'aes128gcm17' \(there are: aes128gcm16"),
        ("null", "does not encrypt"),
        ("aes256-none", "does not encrypt"),
        ("aes128-sha1", "is legacy"),
        ("", "no suite is named"),
        ("aes128gcm16,aes256gcm16", "suite is one name"),
    ],
)
def test_a_tunnel_takes_suites_that_exist_and_encrypt(suite: str, says: str) -> None:
    """`up --check` said nothing of null, and ended with a traceback for a name that no suite has."""
    assert TOML.count('suite = "aes256-sha256"') >= 1
    with pytest.raises(UnusableError, match=says):
        parse(TOML.replace('suite = "aes256-sha256"', f'suite = "{suite}"'))
