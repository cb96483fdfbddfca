"""The frame of a report: one page that needs nothing else, shows names as text, and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from jaxmotif.drawing._drawing import as_text

_STYLE = """
:root { color-scheme: light dark; --paper: #fdfcfa; --ink: #1d1b18; --soft: #6d675e; --rule: #e5e0d8; --tint: #f6f2ec;
  --accent: #b8380c; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #161412; --ink: #ece8e1; --soft: #a29a8e; --rule: #36322d; --tint: #211e1b; --accent: #ff8f63; } }
* { box-sizing: border-box; }
html { background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%; }
body { max-width: 62rem; margin: 0 auto; padding: 4rem 1.5rem 5rem;
  font: 1rem/1.55 Charter, "Bitstream Charter", "Sitka Text", Cambria, "Liberation Serif", Georgia, serif; }
h1, h2, h3, p, figure, table, ol, dl, pre { margin: 0; }
h1 { font-size: 2.6rem; line-height: 1.1; font-weight: 600; letter-spacing: -.015em; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; line-height: 1.25; font-weight: 600; margin-bottom: .35rem; }
.eyebrow, th, .key, figcaption, .axis, .small, dt {
  font-family: "Avenir Next", "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial, sans-serif; }
.eyebrow { color: var(--accent); font-size: .78rem; font-weight: 600; letter-spacing: .09em; text-transform: uppercase;
  margin-bottom: .7rem; }
.lead { font-size: 1.18rem; line-height: 1.5; max-width: 44rem; margin-top: 1rem; }
section { margin-top: 3.2rem; border-top: 1px solid var(--rule); padding-top: 1.1rem; }
.note { color: var(--soft); max-width: 44rem; margin-bottom: 1.2rem; }
.note + .note { margin-top: -.6rem; }
p.say { max-width: 44rem; margin-bottom: .7rem; }
figure { margin: .6rem 0 0; }
svg { display: block; max-width: 100%; height: auto; overflow: visible; }
svg.drawing { width: 3.1rem; height: 3.1rem; max-width: none; color: var(--ink); }
svg.worded, .role svg.worded { width: 4.6rem; height: 4.6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums lining-nums; }
th, td { text-align: right; padding: .32rem .55rem; vertical-align: middle; white-space: nowrap; }
td { border-top: 1px solid var(--rule); }
thead th { font-size: .76rem; font-weight: 600; color: var(--soft); vertical-align: bottom; padding-bottom: .45rem; }
th.text, td.text { text-align: left; }
td.text { white-space: normal; overflow-wrap: anywhere; }
th:first-child, td:first-child { padding-left: .2rem; }
tbody tr:hover { background: var(--tint); }
th button { all: unset; cursor: pointer; border-radius: 2px; }
th button:hover, th[aria-sort] button { color: var(--accent); }
th button:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
th button::after { content: "\\00a0\\2195"; opacity: .35; }
th[aria-sort=ascending] button::after { content: "\\00a0\\2191"; opacity: 1; }
th[aria-sort=descending] button::after { content: "\\00a0\\2193"; opacity: 1; }
.soft { color: var(--soft); }
.small { font-size: .8rem; }
.mark { color: var(--accent); font-weight: 600; }
.bar { width: 6rem; height: 1rem; display: inline-block; vertical-align: -.15rem; }
.axis { font-size: 11px; fill: var(--soft); }
.line { fill: none; stroke: var(--accent); stroke-width: 1.8; stroke-linejoin: round; }
.line.other { stroke: var(--ink); stroke-width: 1.4; }
.dot { fill: var(--paper); stroke: var(--accent); stroke-width: 1.8; }
.dot.full { fill: var(--accent); }
.dot.other { stroke: var(--ink); stroke-width: 1.4; }
.dot.other.full { fill: var(--ink); }
.band { fill: var(--ink); opacity: .09; }
.grid { stroke: var(--rule); stroke-width: 1; }
.zero { stroke: var(--soft); stroke-width: 1; }
.positive { fill: var(--accent); }
.negative { fill: var(--soft); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.2rem, 1fr)); gap: 1.5rem 1.4rem; }
.card { break-inside: avoid; min-width: 0; }
.card h3 { font-size: .98rem; font-weight: 600; overflow-wrap: anywhere; }
.role { display: flex; gap: .8rem; margin-top: .6rem; align-items: flex-start; }
.role svg.drawing { flex: none; width: 2.5rem; height: 2.5rem; margin-top: .2rem; }
.role ol { list-style: none; padding: 0; flex: 1; min-width: 0; font-size: .9rem; line-height: 1.4; }
.role li { display: flex; justify-content: space-between; gap: .6rem; }
.role li span:first-child { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.role li span:last-child { color: var(--soft); font-variant-numeric: tabular-nums lining-nums; }
dl { display: grid; grid-template-columns: max-content 1fr max-content 1fr; gap: .25rem 1.4rem; font-size: .94rem;
  margin-bottom: 1.2rem; }
dt { color: var(--soft); font-size: .8rem; padding-top: .12rem; }
dd { margin: 0; overflow-wrap: anywhere; }
pre, code { font-family: "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; font-size: .86rem; }
pre { background: var(--tint); border-radius: 4px; padding: .8rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere;
  margin-bottom: 1.2rem; }
@media (max-width: 40rem) { body { padding: 2rem 1rem 3rem; } h1 { font-size: 2rem; }
  dl { grid-template-columns: max-content 1fr; } }
@page { margin: 14mm 14mm 15mm; }
@media print {
  :root { color-scheme: light; --paper: #fff; --ink: #1d1b18; --soft: #625c54; --rule: #d9d3ca; --tint: #f4f0ea;
    --accent: #b8380c; }
  html { font-size: 11.5px; }
  body { padding: 0; max-width: none; line-height: 1.45; }
  section { margin-top: 1.8rem; padding-top: .8rem; } .note { margin-bottom: .7rem; }
  .note, .lead, p.say { max-width: none; }
  th, td { padding: .1rem .5rem; } svg.drawing { width: 2.55rem; height: 2.55rem; }
  .cards { grid-template-columns: repeat(4, 1fr); gap: 1rem 1.6rem; }
  tr, figure, .card, dl { break-inside: avoid; } h2 { break-after: avoid; } thead { display: table-header-group; }
  .scroll { overflow: visible; } th button::after { content: none; }
  pre { padding: .4rem .6rem; margin-bottom: .6rem; }
}
"""

_SCRIPT = """
"use strict";
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.parentElement, body = head.closest("table").tBodies[0], at = head.cellIndex;
  const down = head.getAttribute("aria-sort") !== "descending", text = head.classList.contains("text");
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = (row) => { const v = row.cells[at].dataset.v; return text ? v : v === "" ? NaN : Number(v); };
  const compare = (a, b) => {
    const x = key(a), y = key(b);
    if (text) return x < y ? -1 : x > y ? 1 : 0;
    const last = down ? -1 : 1;  // rows without a value
    if (Number.isNaN(x)) return Number.isNaN(y) ? 0 : last;
    return Number.isNaN(y) ? -last : x - y || 0;
  };
  const rows = [...body.rows].sort((a, b) => (down ? -1 : 1) * compare(a, b));
  body.append(...rows);
});
"""


class Cell(NamedTuple):
    """What a table shows, as HTML, and the value it is sorted by (``None``: the last)."""

    html: str
    value: float | str | None = None


class Head(NamedTuple):
    """The name of a column, whether it is text, what it means, and whether the table can be sorted by it."""

    name: str
    text: bool = False
    meaning: str = ""
    sorts: bool = True


def page(title: str, eyebrow: str, heading: str, lead: str, sections: Iterable[str]) -> str:
    """A whole page. ``lead`` and the sections are HTML, the rest is text."""
    # Styles and script are allowed by their hashes, so that nothing a name could hold is ever run or loaded.
    policy = (
        f"default-src 'none'; style-src '{_digest(_STYLE)}'; script-src '{_digest(_SCRIPT)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<title>{as_text(title)}</title>\n<link rel="icon" href="data:,">\n<style>{_STYLE}</style></head>\n<body>\n'
        f'<header><p class="eyebrow">{as_text(eyebrow)}</p><h1>{as_text(heading)}</h1>'
        f'<p class="lead">{lead}</p></header>\n'
        f"{''.join(sections)}<script>{_SCRIPT}</script>\n</body></html>\n"
    )


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def section(heading: str, *body: str, note: str = "") -> str:
    """A part of a page; ``heading`` and ``note`` are text, the body is HTML."""
    said = f'<p class="note">{as_text(note)}</p>' if note else ""
    return f"<section><h2>{as_text(heading)}</h2>{said}{''.join(body)}</section>\n"


def paragraphs(sentences: Iterable[str]) -> str:
    """Text in paragraphs."""
    return "".join(f'<p class="say">{as_text(sentence)}</p>' for sentence in sentences)


def table(heads: Sequence[Head], rows: Iterable[Sequence[Cell]]) -> str:
    """A table that can be sorted by a click on the head of a column."""
    kinds = [' class="text"' if head.text else "" for head in heads]
    top = []
    for head, kind in zip(heads, kinds, strict=True):
        meaning = f' title="{as_text(head.meaning)}"' if head.meaning else ""
        name = f'<button type="button">{as_text(head.name)}</button>' if head.sorts else as_text(head.name)
        top.append(f'<th scope="col"{kind}{meaning}>{name}</th>')
    body = []
    for row in rows:
        cells = zip(row, kinds, strict=True)
        body.append(f"<tr>{''.join(f'<td{kind}{_sort_key(cell)}>{cell.html}</td>' for cell, kind in cells)}</tr>")
    return (
        f'<div class="scroll"><table><thead><tr>{"".join(top)}</tr></thead>\n<tbody>'
        + "\n".join(body)
        + "</tbody></table></div>"
    )


def _sort_key(cell: Cell) -> str:
    if cell.value is None or (isinstance(cell.value, float) and not math.isfinite(cell.value)):
        return ' data-v=""' if cell.value is None or math.isnan(cell.value) else f' data-v="{_infinite(cell.value)}"'
    return f' data-v="{as_text(f"{cell.value:.6g}" if isinstance(cell.value, float) else cell.value)}"'


def _infinite(value: float) -> str:
    return "Infinity" if value > 0 else "-Infinity"


def facts(pairs: Mapping[str, object]) -> str:
    """Names and values, as text."""
    return "<dl>" + "".join(f"<dt>{as_text(k)}</dt><dd>{as_text(v)}</dd>" for k, v in pairs.items()) + "</dl>"


def whole(value: int) -> Cell:
    """A count."""
    return Cell(f"{value:,}", int(value))


def number(value: float, decimals: int | None = None) -> str:
    """A number with so many decimals, or as many as its size asks for; a dash for none.

    Example:
      >>> number(1234.56), number(206.78), number(0.01234), number(-3, 1), number(float("nan")), number(float("inf"))
      ('1,235', '206.8', '0.01', '−3.0', '–', '∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if decimals is None:
        decimals = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{decimals}f}".replace("-", "−")
