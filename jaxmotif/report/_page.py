"""The frame of a report: one HTML page that loads nothing, shows every name as text and runs only its own script.

Functions that take "text" escape it; functions that take "HTML" expect that its texts have been escaped already.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from numbers import Integral
from string import Template
from typing import NamedTuple

from jaxmotif.drawing._drawing import PALETTE, as_text


class Cell(NamedTuple):
    """A cell of a table: the HTML that it shows and the value that it is sorted by; ``None`` sorts last."""

    html: str
    value: float | str | None = None


def page(title: str, eyebrow: str, heading: str, lead: str, sections: Iterable[str]) -> str:
    """Return a whole page as HTML.

    Args:
      title: The title of the browser's window, as text.
      eyebrow: The line above the heading, as text.
      heading: The heading, as text.
      lead: The paragraph below the heading, as HTML.
      sections: The parts of the page in order, as HTML.
    """
    style, script = read_template("page.css"), read_template("page.js")
    return Template(read_template("page.html")).substitute(
        title=as_text(title),
        eyebrow=as_text(eyebrow),
        heading=as_text(heading),
        lead=lead,
        sections="".join(sections),
        style=style,
        script=script,
        # The page's policy allows only the styles and the script with these hashes. Whatever a name in a graph
        # holds, a browser neither runs nor loads it. An element's text begins at the line break after its tag.
        style_hash=_digest("\n" + style),
        script_hash=_digest("\n" + script),
    )


def read_template(name: str) -> str:
    """Return the text of a file of the folder of templates."""
    return files("jaxmotif.report").joinpath("templates", name).read_text(encoding="utf-8")


@cache
def _texts() -> dict[str, str]:
    """Return the sentences of pages, by their names."""
    return dict(line.split(": ", 1) for line in read_template("texts.txt").splitlines())


def say(name: str, **values: object) -> str:
    """Return a text of ``templates/texts.txt`` with its placeholders filled in."""
    return _texts()[name].format(**values).strip()


def _digest(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def section(heading: str, *body: str, note: str = "") -> str:
    """Return a part of a page, from a heading and a note as text and a body as HTML."""
    paragraph = f'<p class="note">{as_text(note)}</p>' if note else ""
    return f"<section><h2>{as_text(heading)}</h2>{paragraph}{''.join(body)}</section>\n"


def paragraphs(texts: Iterable[str]) -> str:
    """Return a paragraph for each text."""
    return "".join(f'<p class="say">{as_text(text)}</p>' for text in texts)


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    meanings: Mapping[str, str] | None = None,
    wide: Collection[str] = (),
) -> str:
    """Return a table, which the page's script sorts when the head of a column is clicked.

    Args:
      heads: The name of each column, as text. A column without a name does not sort.
      rows: The cells of each row. Columns of words stand to the left and sort by letter.
      meanings: Explanations that are shown when the mouse rests on a head, by the name of the column.
      wide: The names of columns that a phone does not show.
    """
    kinds, head_row = [], ""
    for i, head in enumerate(heads):
        is_word = any(isinstance(row[i].value, str) for row in rows)
        kind = " ".join(["text"] * is_word + ["wide"] * (head in wide))
        kinds.append(f' class="{kind}"' if kind else "")
        name = f'<button type="button">{as_text(head)}</button>' if head.strip() else ""
        meaning = f' title="{as_text(meanings[head])}"' if meanings and head in meanings else ""
        head_row += f'<th scope="col"{kinds[i]}{meaning}>{name}</th>'
    body = []
    for row in rows:
        cells = [f"<td{kind}{_sort_key(cell)}>{cell.html}</td>" for cell, kind in zip(row, kinds, strict=True)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    lines = "\n".join(body)
    return f'<div class="scroll"><table><thead><tr>{head_row}</tr></thead>\n<tbody>{lines}</tbody></table></div>'


def _sort_key(cell: Cell) -> str:
    """Return the attribute by which the page's script sorts a cell: a number, a word or nothing."""
    value = cell.value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        key = ""
    else:
        key = f"{value:.6g}".replace("inf", "Infinity") if isinstance(value, float) else as_text(value)
    return f' data-v="{key}"'


def facts(pairs: Mapping[str, object]) -> str:
    """Return a list of names and their values, both as text."""
    return "<dl>" + "".join(f"<dt>{as_text(k)}</dt><dd>{as_text(v)}</dd>" for k, v in pairs.items()) + "</dl>"


def cards(bodies: Iterable[str]) -> str:
    """Return a grid of cards, from the HTML of each."""
    grid = "".join(f'<div class="card">{body}</div>' for body in bodies)
    return f'<div class="cards">{grid}</div>'


def role_list(drawing: str, nodes: Iterable[tuple[object, int]], role: str = "") -> str:
    """Return a drawing beside the names of nodes and how often each takes the part that the drawing marks.

    Args:
      drawing: The drawing, as HTML.
      nodes: The names of nodes and how often each takes the part.
      role: What the part is called, as text.
    """
    items = f'<li class="soft small">{as_text(role)}</li>' if role else ""
    items += "".join(f"<li><span>{as_text(name)}</span><span>{times:,}</span></li>" for name, times in nodes)
    return f'<div class="role">{drawing}<ol>{items}</ol></div>'


def figure(drawing: str, name: str, caption: str = "") -> str:
    """Return a figure, which the page's script gives a button that saves it.

    Args:
      drawing: An SVG element, as HTML.
      name: The name of the file, without an ending, as text.
      caption: What stands below, as HTML.
    """
    below = f"<figcaption>{caption}</figcaption>" if caption else ""
    return f'<figure data-name="{as_text(name)}">{drawing}{below}</figure>'


def legend_of_groups(names: Iterable[str]) -> str:
    """Return the HTML of a legend of the colours of groups of nodes."""
    dots = (
        f'<svg class="key" viewBox="0 0 10 10"><circle cx="5" cy="5" r="5" fill="{PALETTE[i % len(PALETTE)]}"/></svg>'
        f"{as_text(name)}"
        for i, name in enumerate(names)
    )
    return " &emsp; ".join(dots)


def count_cell(count: float) -> Cell:
    """Return a cell with a count, or with an estimate of one, which is a float."""
    return Cell(f"{count:,}", int(count)) if isinstance(count, Integral) else number_cell(float(count))


def number_cell(value: float, decimals: int | None = None) -> Cell:
    """Return a cell with a number as :func:`number` shows it."""
    return Cell(number(value, decimals), value)


def text_cell(content: object) -> Cell:
    """Return a cell with a text that it is sorted by."""
    return Cell(as_text(content), str(content))


def share_cell(share: float) -> Cell:
    """Return a cell with a share of a whole in per cent."""
    return Cell(f"{100 * share:.3g} %", float(share))


def number(value: float, decimals: int | None = None) -> str:
    """Return a number as a page shows it, a dash for NaN.

    Args:
      value: The number.
      decimals: The number of decimals. The default depends on the size: none from 1,000, one from 10, else two.

    Example:
      >>> number(1234.56), number(206.78), number(0.01234), number(-3, 1), number(float("nan")), number(float("inf"))
      ('1,235', '206.8', '0.01', '−3.0', '–', '∞')
    """
    if math.isnan(value):
        return "–"
    if decimals is None:
        decimals = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{decimals}f}".replace("inf", "∞").replace("-", "−")
