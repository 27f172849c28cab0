"""Reads what iperf3 prints, tolerantly: every version since 3.1 has its own way of writing JSON that is not JSON.

What is tolerated (each has a fixture in tests/unit/fixtures/iperf3):

* text before and after the document, a second document after it;
* ``nan``, ``-nan``, ``inf``: read as absent, never as 0;
* the same key twice in ``--bidir`` before 3.11 (``sum``, ``sum_sent``, ``sum_received``): the second is the other way;
* unsigned wrap-around (``retransmits`` of 1.8e19 or 4294967295 for "not known"): read as absent;
* ``--json-stream`` (3.17 and later): one event a line, in any mixture with other lines;
* missing keys: absent; errors as ``{"error": ...}``, as an ``error`` event, or as plain text.

No I/O here. Raises :class:`Iperf3Error` with iperf3's own reason.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from gateway.errors import MeasurementError

FORWARD = "forward"
"""Client to server."""
REVERSE = "reverse"

_NOT_A_NUMBER = re.compile(r"(?<=[:\[,\s])-?(?:nan(?:\([^)]*\))?|inf(?:inity)?)(?=\s*[,}\]\s])", re.IGNORECASE)
_STRING = re.compile(r'("(?:[^"\\]|\\.)*")')
_UNKNOWN_COUNT = 1 << 31
"""No honest packet or retransmit count of one run reaches this; a wrapped -1 does."""


class Iperf3Error(MeasurementError):
    """iperf3 ran and reported an error, or printed nothing that can be read."""


@dataclass(frozen=True, slots=True)
class Interval:
    """One line of iperf3's periodic report, all streams together."""

    start_s: float
    end_s: float
    mbit_per_s: float
    bytes: int
    retransmits: int | None
    omitted: bool
    """Within ``-O``: not part of the result."""
    direction: str


@dataclass(frozen=True, slots=True)
class Flow:
    """One direction of a finished test, all streams together."""

    direction: str
    mbit_per_s: float
    """At the receiver."""
    sent_bytes: int
    """Payload that the sender handed to its socket, without the omitted seconds."""
    received_bytes: int
    omitted_bytes: int
    """Payload of the omitted seconds, at the end that counted it; in part an estimate (see _omitted_bytes)."""
    seconds: float
    retransmits: int | None
    """TCP only; None when iperf3 does not know."""
    lost_packets: int | None
    packets: int | None
    """UDP only."""
    jitter_ms: float | None
    mean_rtt_us: float | None = None
    """TCP: by the sender's kernel, mean of iperf3's samples, of all streams; None when iperf3 does not say."""


@dataclass(frozen=True, slots=True)
class Iperf3Result:
    """A finished test."""

    version: str
    protocol: str
    """``TCP`` or ``UDP``."""
    congestion: str
    """What the sender used; empty when unknown."""
    flows: tuple[Flow, ...]
    intervals: tuple[Interval, ...]

    @property
    def carried_bytes(self) -> int:
        """Goodput of all directions, omitted seconds included: what CPU time is divided by.

        The sender counts omitted bytes when its socket takes them, so what was under way at the end of the omitted
        seconds is received bytes as well: never more than was sent.
        """
        return sum(min(f.received_bytes, f.sent_bytes) + f.omitted_bytes for f in self.flows)


def parse(text: str, *, direction: str = FORWARD) -> Iperf3Result:
    """Reads the client's whole output. direction: that of the first flow (``reverse`` after ``-R``)."""
    document = _load(text)
    error = document.get("error")
    if isinstance(error, str) and error:
        raise Iperf3Error(f"iperf3: {_clean(error)}", code="iperf3")
    end = _dict(document, "end")
    if not end:
        raise Iperf3Error(f"iperf3 ended without a result{_hint(text)}", code="iperf3")
    start = _dict(document, "start")
    test = _dict(start, "test_start")
    protocol = str(test.get("protocol") or ("UDP" if "lost_packets" in _dict(end, "sum") else "TCP")).upper()
    if not test and not start:
        direction_first = direction
    else:
        direction_first = REVERSE if _number(test.get("reverse")) == 1 else direction
    intervals = tuple(_intervals(document, direction_first))
    flows = []
    for suffix in ("", "_bidir_reverse"):
        which = direction_first if not suffix else _other(direction_first)
        flow = _flow(end, suffix, which, protocol, intervals, _number(test.get("omit")) or 0.0)
        if flow is not None:
            flows.append(flow)
    if not flows:
        raise Iperf3Error("iperf3's result has no sum of bytes received", code="iperf3")
    return Iperf3Result(
        version=str(start.get("version", "")),
        protocol=protocol,
        congestion=str(end.get("sender_tcp_congestion", "")),
        flows=tuple(flows),
        intervals=intervals,
    )


def interval_of_event(line: str, direction: str = FORWARD) -> list[Interval]:
    """Intervals in one line of ``--json-stream`` output; empty for any other line."""
    if not line.lstrip().startswith("{"):
        return []
    try:
        event = _decode(line)[0]
    except ValueError:
        return []
    if event.get("event") != "interval" or not isinstance(event.get("data"), dict):
        return []
    return list(_intervals({"intervals": [event["data"]]}, direction))


def _other(direction: str) -> str:
    return REVERSE if direction == FORWARD else FORWARD


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result and key.startswith("sum"):
            result.setdefault(f"{key}_bidir_reverse", value)
        else:
            result[key] = value
    return result


def _decode(text: str) -> tuple[dict[str, Any], int]:
    """The first JSON object in ``text`` and where it ends. ValueError when there is none."""
    begin = text.index("{")
    value, end = json.JSONDecoder(object_pairs_hook=_pairs).raw_decode(text, begin)
    if not isinstance(value, dict):
        raise ValueError("no object")
    return value, end


def _numbers_repaired(text: str) -> str:
    """``nan`` and ``inf`` outside strings become null."""
    parts = _STRING.split(text)
    return "".join(part if i % 2 else _NOT_A_NUMBER.sub("null", part) for i, part in enumerate(parts))


def _load(text: str) -> dict[str, Any]:
    repaired = _numbers_repaired(text)
    streamed = _load_stream(repaired)
    if streamed is not None:
        return streamed
    position, first_error = 0, None
    while True:
        begin = repaired.find("{", position)
        if begin < 0:
            break
        try:
            document, _ = _decode(repaired[begin:])
        except (ValueError, RecursionError) as error:
            first_error = first_error or error
            # Text such as "unable to {...}" may precede the document; documents start on their own line.
            newline = repaired.find("\n{", begin)
            if newline < 0:
                break
            position = newline + 1
            continue
        if "end" in document or "error" in document or "start" in document:
            return document
        position = begin + 1
    if first_error is not None:
        raise Iperf3Error(f"iperf3's output is cut off or no JSON{_hint(text)}", code="iperf3")
    raise Iperf3Error(f"iperf3 printed no result{_hint(text)}", code="iperf3")


def _load_stream(text: str) -> dict[str, Any] | None:
    """Events of ``--json-stream`` put together as one document; None when there is no event."""
    document: dict[str, Any] = {}
    intervals: list[Any] = []
    for line in text.splitlines():
        if not line.lstrip().startswith('{"event"'):
            continue
        try:
            event, _ = _decode(line)
        except ValueError:
            continue
        kind, data = event.get("event"), event.get("data")
        if kind == "interval" and isinstance(data, dict):
            intervals.append(data)
        elif kind in ("start", "end") and isinstance(data, dict):
            document[str(kind)] = data
        elif kind == "error":
            document["error"] = str(data)
    if not document and not intervals:
        return None
    document["intervals"] = intervals
    return document


def _hint(text: str) -> str:
    """iperf3's own words, when it printed any."""
    for line in text.splitlines():
        if "error" in line.lower() and "{" not in line:
            return f": {_clean(line)}"
    stripped = text.strip()
    return "" if not stripped or stripped.startswith("{") else f": {_clean(stripped.splitlines()[0])}"


def _clean(text: str) -> str:
    line = " ".join(text.split())[:200]
    return re.sub(r"^(iperf3: )?error - ", "", line).strip('" ,')


def _dict(parent: Any, key: str) -> dict[str, Any]:
    value = parent.get(key) if isinstance(parent, dict) else None
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _count(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and 0 <= number < _UNKNOWN_COUNT else None


def _bytes(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and 0 <= number < 1 << 62 else None


def _intervals(document: dict[str, Any], direction: str) -> Iterable[Interval]:
    entries = document.get("intervals")
    for entry in entries if isinstance(entries, list) else []:
        for suffix in ("", "_bidir_reverse"):
            total = _dict(entry, f"sum{suffix}")
            start, end = _number(total.get("start")), _number(total.get("end"))
            rate, size = _number(total.get("bits_per_second")), _bytes(total.get("bytes"))
            if start is None or end is None or rate is None or size is None:
                continue
            yield Interval(
                start_s=start,
                end_s=end,
                mbit_per_s=rate / 1e6,
                bytes=size,
                retransmits=_count(total.get("retransmits")),
                omitted=bool(total.get("omitted")),
                direction=direction if not suffix else _other(direction),
            )


def _omitted_bytes(intervals: tuple[Interval, ...], direction: str, omit_s: float, mbit_per_s: float) -> int:
    """Payload of the omitted seconds. Where the end of an interval and the end of the omitted time meet, iperf3 loses
    the interval: what is missing is taken at the rate of the rest."""
    if omit_s <= 0:
        return 0
    omitted = [i for i in intervals if i.omitted and i.direction == direction]
    seconds, size = sum(i.end_s - i.start_s for i in omitted), sum(i.bytes for i in omitted)
    rate = size / seconds if seconds > 0 else mbit_per_s * 125e3
    return size + int(rate * max(0.0, omit_s - seconds))


def _flow(
    end: dict[str, Any],
    suffix: str,
    direction: str,
    protocol: str,
    intervals: tuple[Interval, ...],
    omit_s: float,
) -> Flow | None:
    total = _dict(end, f"sum{suffix}")
    sent = _dict(end, f"sum_sent{suffix}") or total
    received = _dict(end, f"sum_received{suffix}") or total
    size = _bytes(received.get("bytes"))
    seconds = _number(received.get("seconds"))
    rate = _number(received.get("bits_per_second"))
    if size is None or rate is None or seconds is None:
        return None
    # In UDP the packet counts of the receiving side are in "sum" everywhere, and elsewhere in later versions only.
    counted = received if _count(received.get("packets")) else total
    lost, packets = _count(counted.get("lost_packets")), _count(counted.get("packets"))
    if protocol == "UDP" and received is total and packets and lost is not None and sent is total:
        # Before 3.13 UDP had one sum, of the sender's bytes: what arrived is less by what was lost.
        rate *= (packets - lost) / packets
        size = size * (packets - lost) // packets
    return Flow(
        direction=direction,
        mbit_per_s=rate / 1e6,
        sent_bytes=_bytes(sent.get("bytes")) or size,
        received_bytes=size,
        omitted_bytes=_omitted_bytes(intervals, direction, omit_s, rate / 1e6),
        seconds=seconds,
        retransmits=_count(sent.get("retransmits")) if protocol != "UDP" else None,
        lost_packets=lost if protocol == "UDP" else None,
        packets=packets if protocol == "UDP" else None,
        jitter_ms=_number(total.get("jitter_ms")) if protocol == "UDP" else None,
        mean_rtt_us=None if protocol == "UDP" else _mean_rtt_us(end, reverse=suffix != ""),
    )


def _mean_rtt_us(end: dict[str, Any], *, reverse: bool) -> float | None:
    """Of the streams of one direction. With --bidir those of the other direction say that they are no sender's."""
    streams = end.get("streams")
    found = []
    for stream in streams if isinstance(streams, list) else []:
        sender = _dict(stream, "sender")
        rtt = _number(sender.get("mean_rtt"))
        if rtt and bool(sender.get("sender", True)) != reverse:
            found.append(rtt)
    return sum(found) / len(found) if found else None
