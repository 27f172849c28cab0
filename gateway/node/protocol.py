"""The line-JSON protocol between the control plane and a node, version 1.

One request a line on the node's stdin, one answer a line on its stdout, in order; stderr is for people::

    {"id": 1, "op": "hello", "protocol": 1}
    {"id": 1, "ok": true, "result": {...}}
    {"id": 2, "ok": false, "error": {"code": "no-tun", "message": "one clear line", "hint": "what to do"}}

Operations and their arguments are the fields of the dataclasses in ``base.py`` by the same names:
``hello {}``, ``open_path {PathConfig}``, ``add_sa {SaConfig; keys in hex}``, ``delete_sa {spi, direction}``,
``set_policy {spi, src, dst}``, ``counters {sas, first, max}``, ``health {}``, ``close {}``. Keys travel on this pipe
only, never in an argument list. End of file on stdin is ``close``. An unknown operation or a wrong protocol version is
answered with ``unknown-op`` or ``bad-protocol``, never with silence.

Arguments stand flat beside ``op``. Results are the fields of ``Hello``, ``PathInfo`` and ``NodeCounters``; ``add_sa``
answers ``{"implementation": "driver + driver"}``, ``delete_sa`` the SA's last counters, ``{"last": {SaCounters}}``, the
others ``{}``. ``hello`` carries the client's protocol version.
``counters`` lists ``max`` SAs at most (SAS_A_LINE), from the ``first`` on (0), or none where ``sas`` is false (true);
``sas_there`` says how many there are: lines are limited, SAs are not.
Requests may be sent ahead of the answers to earlier ones: ten thousand SAs need not wait for ten thousand round trips.

On a router (``gwnode --stdio --lease 5``) the node lives while it hears something every so many seconds; an *empty*
line is a heartbeat and is not answered. What would outlive its process is journalled and undone, however it ends; this
adds ``close_path {}`` (the process lives on), ``add_address {interface, address}``, ``add_route {interface, prefix,
via}``, ``set_sysctl {name, value}`` -> ``{before}``, ``firewall {interface, prefixes, peer, port, encap}`` -> ``{kind:
fw4 | iptables | none, rules}`` and ``check_firewall {}`` -> ``{rules, missing}``. ``hello`` then also says ``journal``
and ``undone`` (changes of a dead session). With ``--kernel`` the data path is XFRM: addresses and routes are set on the
interface that has the outer address.

What stands beside the data path: ``echo {local, port, df, tcp}`` -> ``{port}`` sends back what it gets, ``echo_seen
{port}`` -> ``{peer, peer_port, packets}`` says from whom, ``echo_close {port}``; ``iperf3 {arguments}`` -> ``{pid}``,
``iperf3_output {}`` -> ``{running, listening, status, output}``, ``iperf3_stop {}``.

How it grows: fields of a *result* that a reader does not know are ignored, but an *argument* that a node does not know
is refused (``bad-request``), because a measurement must never run without what was asked of it. So that a newer client
still reaches an older node, arguments at their default are not sent; the defaults of ``base.py`` are part of the
protocol, and changing one is a new version. ``hello`` alone ignores unknown arguments.

Error codes that mean something to a program:

==============  ====================================================================================
bad-request     not JSON, no object, a missing, ill-typed or unknown argument, a line too long
bad-protocol    another protocol version
unknown-op
no-path         an operation that needs ``open_path`` first
path-ended      the data path ended by itself (TUN deleted, namespace gone): the measurement failed
kernel-lacks    this kernel lacks a module or feature; the message names it
not-supported   this node has no such data path, or not yet, or only with a lease
busy            another gwnode is at work on that machine
refused         a prefix or sysctl that a test must not touch on somebody's router
rules-gone      rules of ours are gone: the router's firewall was reloaded
internal        a bug in the node; the message names it, without arguments where keys were among them
error           anything else: a program has no use for more than the message
==============  ====================================================================================
"""

from __future__ import annotations

PROTOCOL_VERSION = 1
MAX_LINE_BYTES = 4 << 20
"""A longer line is refused as ``bad-request``."""

SAS_A_LINE = 4096
"""SAs that ``counters`` lists when nothing else is asked: with 600 bytes each they stay below MAX_LINE_BYTES."""

KEY_FIELDS = ("enc_key", "auth_key", "salt")
"""Fields in hex that both sides keep out of immutable strings, wipe, and never log."""

OPERATIONS = (
    "hello",
    "open_path",
    "add_sa",
    "delete_sa",
    "set_policy",
    "counters",
    "health",
    "close",
)
