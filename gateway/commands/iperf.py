"""The end-to-end test: client, gateways and server, an ESP tunnel between them, iperf3 through it.

Without --peer it happens in network namespaces of this machine (--lab), with or without root. With --peer the far
gateway is a router: a plan is shown before anything is changed there, and nothing is left. Implementations are
compared in interleaved rounds; every packet must be accounted for, or the result is marked invalid.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from gateway.errors import EXIT_FAILED, EXIT_OK, UnusableError

if TYPE_CHECKING:
    from gateway.measure.endtoend import Options

LAB_TOPOLOGIES = ("client", "site-to-site")
PEER_TOPOLOGIES = ("one-arm", "endpoint")

_OF_PEER = ("--dry-run", "--yes", "--keep", "--remote-dir", "--gwnode", "--inner", "--outer-mtu")
_NOT_OF_EXISTING = (
    *("--lab", "--peer", "--driver", "--topology", "--encap", "--outer", "--zero-udp-checksum", "--offload", "--suite"),
    *("--impl", "--waterfall", "--legacy", "--repeats", "--system-wide", "--queues", "--no-offload", "--node"),
)
_NOT_OF_RFC6349 = ("--peer", "--existing", "--waterfall", "--udp", "--reverse", "--bidir", "--bitrate")

EXAMPLE = "gwbench iperf --lab --topology site-to-site -t 5 --rounds 5 --suite aes256-sha256,aes128gcm16 --json r.json"

_STDOUT = "-"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Flags take iperf3's short forms where they mean the same."""
    where = parser.add_argument_group("where")
    where.add_argument("--lab", action="store_true", help="in namespaces of this machine (default without --peer)")
    where.add_argument(
        "--peer", metavar="[USER@]HOST[:PORT]", help="a router over ssh as the far gateway; needs root here"
    )
    where.add_argument(
        "--topology",
        choices=(*LAB_TOPOLOGIES, *PEER_TOPOLOGIES),
        default="",
        help="--lab: who terminates ESP on the near side, the client itself or a gateway before it (default: client); "
        "--peer: the server is here, too, on the same cable, or it is the router (default: one-arm if possible)",
    )
    where.add_argument(
        "--encap",
        choices=("udp", "esp"),
        default="udp",
        help="between the gateways: ESP in UDP (RFC 3948), or bare, as IP protocol 50 (default: udp)",
    )
    where.add_argument(
        "--outer", choices=("ipv4", "ipv6"), default="ipv4", help="IP version between the gateways (default: ipv4)"
    )
    where.add_argument(
        "--zero-udp-checksum", action="store_true", help="outer UDP checksums of zero, as many kernels send them"
    )
    where.add_argument(
        "--offload",
        choices=("default", "wire", "off"),
        default="default",
        help="of the laboratory's veths; wire: as network cards without UDP segmentation; off: none (default: default)",
    )
    where.add_argument(
        "--existing",
        metavar="SERVER",
        help="through SAs that the kernel has already (an IKE daemon's), to an iperf3 -s behind the tunnel; no key and "
        "no policy is touched, at 10 Mbit/s unless --saturate or -b",
    )
    where.add_argument("--saturate", action="store_true", help="--existing as fast as it goes: others will notice")
    peer = parser.add_argument_group("with --peer")
    peer.add_argument("--dry-run", action="store_true", help="shows the plan, and changes nothing")
    peer.add_argument("--yes", action="store_true", help="begins although the router may be in use, without asking")
    peer.add_argument("--keep", action="store_true", help="leaves gwnode there for the next time")
    peer.add_argument("--remote-dir", default="/tmp", metavar="DIR", help="where gwnode goes there (default: /tmp)")
    peer.add_argument("--gwnode", default="", metavar="FILE", help="the binary for it (default: by its processor)")
    peer.add_argument(
        "--inner", default="", metavar="PREFIX", help="test addresses, of 198.18.0.0/15 (default: a free /24 of it)"
    )
    peer.add_argument(
        "--outer-mtu", type=_mtu, default=0, metavar="N", help="between here and there, bytes (default: the devices')"
    )
    what = parser.add_argument_group("what is compared")
    what.add_argument(
        "--suite",
        default="aes256-sha256,aes128gcm16",
        metavar="A,B",
        help="ESP suites (default: aes256-sha256,aes128gcm16)",
    )
    what.add_argument(
        "--impl",
        metavar="A,B",
        help="implementations: generic, accelerated, a tag (aesni, vaes, ...) or driver names joined by + "
        "(default: generic,accelerated)",
    )
    what.add_argument(
        "--waterfall",
        action="store_true",
        help="the first suite step by step: line, forwarding, TUN without crypto, integrity, cipher, both",
    )
    what.add_argument(
        "--rfc6349",
        action="store_true",
        help="TCP throughput by RFC 6349: round trip without load, bottleneck, optimal window, transfer time ratio, "
        "efficiency, buffer delay; one round unless --rounds",
    )
    what.add_argument("--legacy", action="store_true", help="takes legacy suites (SHA-1) too")
    what.add_argument("--rounds", type=_positive, metavar="N", help="interleaved rounds of all of them (default: 3)")
    what.add_argument(
        "--repeats",
        type=_not_negative,
        metavar="N",
        help="how many measurements that met a disturbed machine are repeated in all (default: a third of them)",
    )
    what.add_argument(
        "--dataplane",
        default="",
        metavar="A,B",
        help="user (gwbench's own), kernel (XFRM), or both in turns (default: user; --peer: what the router has)",
    )
    what.add_argument(
        "--driver",
        default="",
        metavar="A,B",
        help="with --dataplane kernel: crypto drivers by /proc/crypto's names, compared by raising each one's priority "
        "in turn; needs root and the module crypto_user",
    )
    what.add_argument(
        "--system-wide", action="store_true", help="--driver also while others on this machine use the algorithm"
    )
    what.add_argument(
        "--queues",
        type=_queues,
        default=1,
        metavar="N",
        help="loops a gateway, each with a thread and a pair of SAs of its own (RFC 9611); use -P for as many streams "
        "or more (default: 1)",
    )
    what.add_argument("--no-offload", action="store_true", help="switches the data path's own offloads off")
    what.add_argument(
        "--node",
        action="append",
        default=[],
        metavar="[END=]KIND",
        help="worker or gwnode, the routers' binary, at both ends or one (client, gateway; gw1, gw2); "
        "GWBENCH_GWNODE says where it is, perhaps behind an emulator (default: worker)",
    )
    load = parser.add_argument_group("load (as iperf3's options)")
    load.add_argument("-t", "--time", type=_positive, default=5, metavar="S", help="seconds a measurement (default: 5)")
    load.add_argument("-i", "--interval", type=_interval, default=1.0, metavar="S", help="live lines (default: 1)")
    load.add_argument("-P", "--parallel", type=_positive, default=1, metavar="N", help="streams (default: 1)")
    load.add_argument("-R", "--reverse", action="store_true", help="the server sends")
    load.add_argument("--bidir", action="store_true", help="both send")
    load.add_argument("-u", "--udp", action="store_true", help="UDP instead of TCP")
    load.add_argument(
        "-b", "--bitrate", type=_bitrate, default="", metavar="N[KMG]", help="target; UDP's default is iperf3's 1M"
    )
    load.add_argument(
        "-l", "--length", type=_size, default=0, metavar="N[K]", help="bytes of a write or datagram (UDP: what fits)"
    )
    load.add_argument("-O", "--omit", type=_not_negative, default=0, metavar="S", help="seconds left out at the start")
    load.add_argument(
        "-C", "--congestion", default="", metavar="NAME", help="TCP's (default: cubic where there is one)"
    )
    load.add_argument("-M", "--set-mss", type=_positive, default=0, metavar="N", help="TCP's maximum segment size")
    load.add_argument("-p", "--port", type=_port, default=5201, metavar="N", help="iperf3's port (default: 5201)")
    output = parser.add_argument_group("output")
    output.add_argument(
        "-J", "--json", nargs="?", const=_STDOUT, metavar="FILE", help="the result as JSON, to stdout without FILE"
    )
    output.add_argument("--no-save", action="store_true", help="keeps no copy under ~/.local/state/gwbench/results")


def run(arguments: argparse.Namespace) -> int:
    """Checks what can be checked, enters the namespace if need be, measures, prints."""
    if arguments.peer and arguments.lab:
        raise UnusableError("--peer and --lab exclude each other")
    from gateway.conflicts import given, refuse

    flags = given(arguments, add_arguments)
    if not arguments.peer:
        refuse(flags, _OF_PEER, "{} is of a measurement with a router", "add --peer root@ROUTER")
    if arguments.existing:
        refuse(flags, _NOT_OF_EXISTING, "--existing and {} exclude each other")
    else:
        refuse(flags, ("--saturate",), "{} is for SAs of somebody else", "add --existing SERVER")
    if not arguments.driver:
        refuse(flags, ("--system-wide",), "{} is of the kernel's drivers", "add --dataplane kernel --driver A,B")
    topologies = PEER_TOPOLOGIES if arguments.peer else LAB_TOPOLOGIES
    if arguments.topology and arguments.topology not in topologies:
        where = "--peer" if arguments.peer else "the laboratory"
        raise UnusableError(f"{where} has no topology {arguments.topology}", f"there are: {', '.join(topologies)}")
    if arguments.reverse and arguments.bidir:
        raise UnusableError("-R and --bidir exclude each other")
    if arguments.encap == "esp" and arguments.zero_udp_checksum:
        raise UnusableError("--encap esp has no UDP whose checksum could be zero")
    if arguments.rfc6349:
        refuse(flags, _NOT_OF_RFC6349, "--rfc6349 is one TCP direction in the laboratory, without {}")
    if arguments.rounds is None:
        arguments.rounds = 1 if arguments.rfc6349 else 3
    if arguments.udp and (arguments.congestion or arguments.set_mss):
        raise UnusableError("-C and -M are TCP's, not UDP's")
    from gateway.output.document import check_writable
    from gateway.words import words

    check_writable(arguments.json)
    if arguments.impl is not None:
        words(arguments.impl, "implementation", "--impl generic,accelerated, for example; `gwbench crypto` lists more")
    if arguments.existing:
        return _run_existing(arguments)
    if arguments.peer:
        return _run_peer(arguments)
    # Before anything is imported that could start a thread.
    from gateway.lab import userns

    userns.enter_if_needed()

    from gateway.measure import laboratory
    from gateway.output.console import human

    valid = laboratory.run(
        _options(arguments),
        human(arguments.json == _STDOUT),
        command=sys.argv,
        json_to=_json_to(arguments),
        save=not arguments.no_save,
    )
    return EXIT_OK if valid else EXIT_FAILED


def _json_to(arguments: argparse.Namespace) -> TextIO | Path | None:
    return None if arguments.json is None else sys.stdout if arguments.json == _STDOUT else Path(arguments.json)


def _run_existing(arguments: argparse.Namespace) -> int:
    """SAs of somebody else: another measurement, the same load options."""
    from dataclasses import replace

    from gateway import environment, result
    from gateway.measure import existing
    from gateway.measure.laboratory import deliver
    from gateway.output import existing as output
    from gateway.output.console import human

    console = human(arguments.json == _STDOUT)
    load = replace(_options(arguments).load, server=arguments.existing)
    bitrate = ""
    if not load.bitrate and not arguments.saturate:
        bitrate = existing.DEFAULT_BITRATE
        load = replace(load, bitrate=bitrate)
    recorded = environment.record()
    report = existing.run(load, arguments.rounds, lambda _: None, console.print)
    for line in output.render(report, bitrate):
        console.print(line)
    document = output.document(report, result.recorded_command(sys.argv), environment.record(recorded))
    deliver(document, console, _json_to(arguments), not arguments.no_save)
    return EXIT_OK if document["valid"] else EXIT_FAILED


def _run_peer(arguments: argparse.Namespace) -> int:
    for name, given in (
        ("--offload", arguments.offload != "default"),
        ("--node", bool(arguments.node)),
        ("--outer", arguments.outer != "ipv4"),
        ("--driver", bool(arguments.driver)),
    ):
        if given:
            raise UnusableError(f"{name} is the laboratory's", "with --peer the router's own address decides")
    from gateway.output.console import human
    from gateway.peer import session
    from gateway.peer.address import parse

    options = session.PeerOptions(
        peer=parse(arguments.peer),
        test=_options(arguments),
        topology=arguments.topology,
        inner=arguments.inner,
        outer_mtu=arguments.outer_mtu,
        gwnode=arguments.gwnode,
        directory=arguments.remote_dir,
        keep=arguments.keep,
        yes=arguments.yes,
        dry_run=arguments.dry_run,
    )
    valid = session.run(
        options,
        human(arguments.json == _STDOUT),
        command=sys.argv,
        json_to=_json_to(arguments),
        save=not arguments.no_save,
    )
    return EXIT_OK if valid else EXIT_FAILED


def _options(arguments: argparse.Namespace) -> Options:
    from gateway.lab import makers
    from gateway.lab.topology import CLIENT_V4, SERVER_V4
    from gateway.load.iperf3 import Load
    from gateway.measure.endtoend import Options
    from gateway.node import kernel_crypto
    from gateway.node.base import OFFLOADS
    from gateway.words import words

    # Empty with --peer: every one that the router has.
    dataplanes = arguments.dataplane or ("" if arguments.peer else "user")
    topology = LAB_TOPOLOGIES[0] if arguments.peer else arguments.topology or LAB_TOPOLOGIES[0]
    return Options(
        topology=topology,
        offload=arguments.offload,
        dataplane_offload=() if arguments.no_offload else OFFLOADS,
        encap="none" if arguments.encap == "esp" else arguments.encap,
        outer=arguments.outer,
        udp_checksum=not arguments.zero_udp_checksum,
        queues=arguments.queues,
        suites=tuple(arguments.suite.split(",")),
        implementations=() if arguments.impl is None else words(arguments.impl, "implementation"),
        legacy=arguments.legacy,
        waterfall=arguments.waterfall,
        rfc6349=arguments.rfc6349,
        line=not arguments.peer,
        rounds=arguments.rounds,
        repeats=-1 if arguments.repeats is None else arguments.repeats,
        dataplanes=tuple(dict.fromkeys(w.strip() for w in dataplanes.split(",") if w.strip())),
        drivers=tuple(kernel_crypto.split_list(arguments.driver)),
        system_wide=arguments.system_wide,
        gwnodes=makers.parse(arguments.node, topology),
        load=Load(
            server=SERVER_V4,
            client=CLIENT_V4,
            seconds=arguments.time,
            interval_s=arguments.interval,
            parallel=arguments.parallel,
            reverse=arguments.reverse,
            bidir=arguments.bidir,
            udp=arguments.udp,
            bitrate=arguments.bitrate,
            length=arguments.length,
            omit=arguments.omit,
            congestion=arguments.congestion,
            mss=arguments.set_mss,
            port=arguments.port,
        ),
    )


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value


def _queues(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 64:
        raise argparse.ArgumentTypeError(f"{text} is not between 1 and 64")
    return value


def _not_negative(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative")
    return value


def _mtu(text: str) -> int:
    value = int(text)
    if not 576 <= value <= 9216:
        raise argparse.ArgumentTypeError(f"{text} is not between 576 and 9216")
    return value


def _interval(text: str) -> float:
    value = float(text)
    if not 0.1 <= value <= 60:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.1 and 60")
    return value


def _port(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return value


def _bitrate(text: str) -> str:
    # iperf3 takes 1X for 1 bit/s and -5 for no limit at all.
    if text and re.fullmatch(r"\d+(\.\d+)?[KMGT]?(/\d+)?", text, re.ASCII | re.IGNORECASE) is None:
        raise argparse.ArgumentTypeError(f"{text} is not a number with K, M, G or nothing behind it")
    return text


def _size(text: str) -> int:
    factors = {"k": 1 << 10, "m": 1 << 20}
    factor = factors.get(text[-1:].lower(), 1)
    value = int(text[:-1] if factor > 1 else text) * factor
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not at least 1")
    return value
