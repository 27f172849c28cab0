"""The report: what it shows is in its data, it needs nothing from outside, and other kinds of results fit in."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from test_result import document

from gateway.cli import main
from gateway.report.model import number

FIXTURES = Path(__file__).parent / "fixtures" / "compare"


class Page(HTMLParser):
    """Tables' cells, ids, addresses, and whether elements nest."""

    VOID = frozenset(("meta", "link", "br"))

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.numbers: list[tuple[float, str]] = []
        self._value: float | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids += [given["id"] or ""] if "id" in given else []
        self.addresses += [given[name] or "" for name in ("src", "href", "xlink:href") if name in given]
        if tag == "td" and "data-value" in given:
            self._value = float(given["data-value"] or "")
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        self._value = None

    def handle_data(self, data: str) -> None:
        if self._value is not None:
            self.numbers.append((self._value, data))


def saved(tmp_path: Path, name: str = "before.json", **more: tuple[str, ...]) -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(document(**more)))
    return path


def report(tmp_path: Path, *results: Path, name: str = "report.html") -> str:
    out = tmp_path / name
    assert main(["report", *map(str, results), "-o", str(out)]) == 0
    return out.read_text()


def data_of(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert found
    return json.loads(found.group(1))  # type: ignore[no-any-return]


def leaves(value: object) -> set[float]:
    if isinstance(value, dict):
        return {leaf for one in value.values() for leaf in leaves(one)}
    if isinstance(value, list):
        return {leaf for one in value for leaf in leaves(one)}
    return {float(value)} if isinstance(value, int | float) and not isinstance(value, bool) else set()


def test_a_page_stands_alone(tmp_path: Path) -> None:
    page = Page(report(tmp_path, saved(tmp_path)))
    assert page.open == []
    assert len(page.ids) == len(set(page.ids))
    assert all(address.startswith(("#", "data:")) for address in page.addresses)


def test_every_number_shown_is_in_the_data(tmp_path: Path) -> None:
    text = report(tmp_path, saved(tmp_path))
    page, data = Page(text), data_of(text)
    known = leaves(data)
    assert len(page.numbers) > 20
    for value, shown in page.numbers:
        assert value in known
        assert shown in (number(value), f"{value:,.0f}")
    assert data["results"] == [json.loads(json.dumps(document()))]
    # In the plots, too: the medians that stand at the bars.
    for row in document()["results"]:  # type: ignore[attr-defined]
        assert number(row["mbit_per_s"]["median"]) in text


def test_plots_are_xml_and_take_the_pages_ink(tmp_path: Path) -> None:
    path = saved(tmp_path)
    whole = json.loads(path.read_text())
    for row in whole["results"]:  # a second second, so that there is a course to draw
        row["intervals"] += [{**one, "start_s": 1.0, "end_s": 2.0} for one in row["intervals"]]
    path.write_text(json.dumps(whole))
    text = report(tmp_path, path)
    plots = re.findall(r"<svg .*?</svg>", text, re.S)
    assert len(plots) == 4
    for plot in plots:
        xml.etree.ElementTree.fromstring(plot)
        assert "currentColor" in plot and "#010203" not in plot and 'width="' not in plot[: plot.index(">")]


def test_the_verdict_comes_first_and_what_does_not_add_up_is_said(tmp_path: Path) -> None:
    text = report(tmp_path, saved(tmp_path, generic=("reverse: 5 unexplained",)))
    assert text.index("Verdict: x.") < text.index("<svg")
    assert 'class="verdict bad"' in text and re.search("NO: [^<]*5 unexplained", text) and "class=bad" in text


def test_two_results_are_compared(tmp_path: Path) -> None:
    text = report(tmp_path, saved(tmp_path), saved(tmp_path, "after.json"))
    assert "before -&gt; after: 0 rows better, 0 worse beyond noise" in text
    assert Page(text).open == []


def test_content_cannot_break_out(tmp_path: Path) -> None:
    made = document()
    made["verdict"] = ["</script><script>alert(1)</script> & <b>"]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(made))
    text = report(tmp_path, path)
    assert "<script>alert" not in text and Page(text).open == []


@pytest.mark.parametrize("name", sorted(path.name for path in FIXTURES.iterdir()))
def test_whatever_can_be_compared_can_be_reported(tmp_path: Path, name: str) -> None:
    page = Page(report(tmp_path, FIXTURES / name))
    assert page.open == [] and page.numbers


def test_markdown_has_the_intervals_as_iperf_prints_them(tmp_path: Path) -> None:
    text = report(tmp_path, saved(tmp_path), name="report.md")
    assert text.startswith("# gwbench: before\n\nVerdict: x.")
    assert "|---|" in text.replace(" ", "").replace("-:", "-")
    assert re.search(r"    0\.00-  1\.00 sec +50\.0 MBytes +400\.0 Mbits/sec", text)


def test_json_to_stdout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(saved(tmp_path)), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "gwbench-report/1"


@pytest.mark.parametrize(
    ("content", "words"),
    [("{}", "cannot be compared"), ("hello", "nothing that can be compared"), (None, "no saved result")],
)
def test_what_is_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, words: str) -> None:
    path = tmp_path / "x.json"
    if content is not None:
        path.write_text(content)
    assert main(["report", str(path), "-o", str(tmp_path / "r.html")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and words in said
