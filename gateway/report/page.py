"""A report as one HTML file: no network, light and dark, readable on a phone, its data inside."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

from gateway.report.model import Cell, Plot, Report, Section, Table, number

_STYLE = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1c1e21;--soft:#5c6370;--line:#d9dce1;--box:#f4f5f7;--bad:#b3261e}
@media(prefers-color-scheme:dark){:root{--paper:#15171a;--ink:#e6e8eb;--soft:#9aa2ad;
--line:#32363c;--box:#1e2126;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:62rem;padding:1rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.4rem;margin:.2rem 0 .8rem;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .6rem;padding-top:.8rem;border-top:1px solid var(--line);overflow-wrap:anywhere}
h3{font-size:1rem;margin:1.2rem 0 .4rem}
.verdict{background:var(--box);border-left:.3rem solid #3b82c4;padding:.7rem 1rem;font-size:1.1rem}
.verdict.bad{border-color:var(--bad)}
.verdict p{margin:.2rem 0;overflow-wrap:anywhere}
.note{color:var(--soft)}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(27rem,100%),1fr));gap:0 2rem;align-items:start}
figure{margin:1rem 0;min-width:0}figcaption{font-weight:600;margin-bottom:.3rem}
svg{display:block;width:100%;height:auto}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--line);vertical-align:top}
th{position:relative;white-space:nowrap}th button{all:unset;cursor:pointer;font-weight:600}
th button:focus-visible{outline:2px solid #3b82c4}
td.long{text-align:left;min-width:16rem}
td.word,th.word{text-align:left}td.word{min-width:6rem}
tr.bad td{color:var(--bad)}
pre{background:var(--box);padding:.8rem;overflow-x:auto;font-size:.85rem}
details{margin:1rem 0}summary{cursor:pointer;font-weight:600}
@media print{details{display:none}}
"""

_SCRIPT = """
document.querySelectorAll('th button').forEach(function(b){b.addEventListener('click',function(){
var th=b.parentNode,t=th.closest('table'),i=[].indexOf.call(th.parentNode.children,th);
var up=th.getAttribute('aria-sort')!=='ascending';
t.querySelectorAll('th').forEach(function(o){o.removeAttribute('aria-sort')});
th.setAttribute('aria-sort',up?'ascending':'descending');
var rows=[].slice.call(t.tBodies[0].rows);
function key(r){var c=r.cells[i],v=c.dataset.value;return v===undefined?c.textContent:parseFloat(v)}
rows.sort(function(a,b){var x=key(a),y=key(b),n=typeof x==='number',m=typeof y==='number';
var d=n&&m?x-y:n?-1:m?1:x.localeCompare(y);return up?d:-d});
rows.forEach(function(r){t.tBodies[0].appendChild(r)})})});
"""


def page(report: Report, draw: Callable[[Plot, str], str]) -> str:
    """draw: a plot and a prefix of its ids -> an ``<svg>`` element."""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<link rel="icon" href="data:,">',  # or a browser asks for one
        f"<title>{html.escape(report.title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(report.title)}</h1>",
        f'<div class="verdict{"" if report.valid else " bad"}">',
        *(f"<p>{html.escape(line)}</p>" for line in report.verdict),
        "" if report.valid else "<p>Some numbers do not add up; those rows say so.</p>",
        "</div>",
    ]
    for i, section in enumerate(report.sections):
        parts += _section(section, report.verdict, draw, f"s{i}-")
    if report.environment is not None:
        parts += ["<details><summary>Environment</summary>", _table(report.environment), "</details>"]
    data = json.dumps(shown(report)).replace("<", "\\u003c")
    parts += [f'<script type="application/json" id="data">{data}</script>', f"<script>{_SCRIPT}</script></body></html>"]
    return "\n".join(part for part in parts if part) + "\n"


def _section(section: Section, said: tuple[str, ...], draw: Callable[[Plot, str], str], prefix: str) -> list[str]:
    parts = [f"<section><h2>{html.escape(section.title)}</h2>"]
    parts += [f'<p class="note">{html.escape(line)}</p>' for line in section.lines if line not in said]
    drawn = [(i, plot) for i, plot in enumerate(section.plots) if plot.bars or plot.lines]
    if drawn:
        parts.append('<div class="plots">')
        for i, plot in drawn:
            caption = html.escape(plot.title)
            parts.append(f"<figure><figcaption>{caption}</figcaption>{draw(plot, f'{prefix}p{i}-')}</figure>")
        parts.append("</div>")
    for table in section.tables:
        parts += [f"<h3>{html.escape(table.title)}</h3>", _table(table)]
    if section.preformatted:
        text = html.escape("\n".join(section.preformatted))
        parts.append(f"<details><summary>Intervals</summary><pre>{text}</pre></details>")
    parts.append("</section>")
    return parts


def _table(table: Table) -> str:
    def word(i: int) -> str:
        return ' class="word"' if i < table.words else ""

    head = "".join(
        f'<th scope="col"{word(i)}><button>{html.escape(name) or "&nbsp;"}</button></th>'
        for i, name in enumerate(table.head)
    )
    body = "".join(
        f"<tr{' class=bad' if n in table.marked else ''}>"
        + "".join(
            f"<td{word(i) or _long(cell)}{_value(cell)}>{html.escape(number(cell))}</td>" for i, cell in enumerate(row)
        )
        + "</tr>"
        for n, row in enumerate(table.rows)
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _long(cell: Cell) -> str:
    """A sentence among numbers would stand a word a line."""
    return ' class="long"' if isinstance(cell, str) and len(cell) > 30 else ""


def _value(cell: Cell) -> str:
    return "" if cell is None or isinstance(cell, str) else f' data-value="{cell!r}"'


def shown(report: Report) -> dict[str, object]:
    """The results as read, and every table's cells unrounded: intervals and paired ratios stand in no result."""
    tables = [
        {"title": table.title, "head": table.head, "rows": table.rows}
        for section in report.sections
        for table in section.tables
    ]
    return {"schema": "gwbench-report/1", "verdict": report.verdict, "tables": tables, "results": report.documents}
