"""What the site is made with beyond MkDocs: drawings, tables from the package itself, notebooks as pages.

A block called ``drawing`` holds lines ``PATTERN | caption``: a pattern by name, or a query in words; ``PATTERN @ 0,2``
marks nodes. One called ``columns`` holds the name of a table of ``jaxmotif help columns``; ``formats`` and
``language`` are empty. ``ratios`` holds lines ``task | time of another / ours | which other``, drawn as bars.
"""

import html
import inspect
import json
import math
import re
from pathlib import Path

import griffe

from jaxmotif.cli._columns import COLUMNS
from jaxmotif.graph import Graph
from jaxmotif.io import format_table
from jaxmotif.language import parse
from jaxmotif.matching import query
from jaxmotif.matching._bind import bind
from jaxmotif.patterns import named_pattern
from jaxmotif.report import Drawing, draw_pattern

ROLE = re.compile(r":(?:attr|class|data|func|meth|mod):`~?([\w.]+)`")
COLORS = {0: "red", 1: "blue"}
"""Of node labels in drawings."""
SIGNS = {0: "+", 1: "-"}
"""Of edge labels."""
BLOCK = re.compile(r"^```(columns|drawing|formats|language|ratios)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Roles(griffe.Extension):
    """Sphinx's roles in docstrings become links, where the reference has what they name; an example is examples."""

    def on_instance(self, *, obj: griffe.Object, **_) -> None:
        if obj.docstring:
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = ROLE.sub(_link, text)


def _link(role: re.Match[str]) -> str:
    name = role[1].rpartition(".")[2] if role[1].startswith("jaxmotif.") else role[1]
    return f'<autoref optional identifier="{role[1]}"><code>{name}</code></autoref>'


def on_page_markdown(markdown: str, **_) -> str:
    """Writes out the blocks of a page."""
    made = {"columns": _columns, "drawing": _drawings, "formats": _formats, "language": _language, "ratios": _ratios}
    return BLOCK.sub(lambda block: made[block[1]](block[2]), markdown)


def _drawings(lines: str) -> str:
    figures = []
    for line in lines.splitlines():
        pattern, _, caption = (part.strip() for part in line.partition(" | "))
        words = html.escape(caption or pattern)
        figures.append(f"<figure>{drawing(pattern).svg()}<figcaption>{words}</figcaption></figure>")
    return f'<div class="drawings">{"".join(figures)}</div>'


def drawing(text: str) -> Drawing:
    """The picture of a pattern's name, or of a query in words."""
    name, _, marked = text.partition(" @ ")
    nodes = [int(node) for node in marked.split(",")] if marked else []
    if ">" not in name:
        return draw_pattern(named_pattern(name, None, COLORS, SIGNS), COLORS, SIGNS, marked=nodes, title=name)
    asked = parse(name)
    graph = Graph.from_edges([(0, 1)], directed=True)
    return draw_pattern(bind(asked, graph), names=asked.names, marked=nodes, title=name)


def _columns(table: str) -> str:
    rows = [f"| `{name}` | {meaning} |" for name, meaning in COLUMNS[table.strip()].items()]
    return "\n".join(["| column | meaning |", "|---|---|", *rows])


def _formats(_: str) -> str:
    return format_table()


def _language(_: str) -> str:
    """How queries are written, as the function that takes them says it."""
    said = inspect.getdoc(query) or ""
    return said[said.index("| written") : said.index("\n\nArgs:")].replace("``", "`")


def _ratios(lines: str) -> str:
    """Bars from 1 to the right or to the left, on a logarithmic scale from 1/20 to 100."""
    rows = [[part.strip() for part in line.split("|")] for line in lines.splitlines()]
    one, unit, high = 470, 105, 22
    tall = high * len(rows) + 8
    parts = [f'<svg class="ratios" viewBox="0 0 820 {tall}" role="img"><title>Times as fast</title>']
    parts.append(f'<path d="M{one} 0V{tall}" stroke="currentColor" opacity=".4"/>')
    for number, (task, times, other) in enumerate(rows):
        theirs, ours = map(float, times.split(" / "))
        length, top = unit * math.log10(theirs / ours), high * number + 6
        fill = "var(--accent)" if length > 0 else "currentColor"
        beside = one + max(length, 0) + 6
        parts.append(
            f'<text x="0" y="{top + 11}">{html.escape(task)}</text>'
            f'<rect x="{one + min(length, 0):.0f}" y="{top}" width="{abs(length):.0f}" height="14" fill="{fill}"/>'
            f'<text x="{beside:.0f}" y="{top + 11}">{theirs / ours:.2g} × {html.escape(other)}</text>'
        )
    return "".join([*parts, "</svg>"])


# ---- notebooks


def on_files(files, config):
    """Adds a page for each notebook, with the outputs that are stored in it."""
    from mkdocs.structure.files import File

    for path in sorted(Path(config.docs_dir).glob("notebooks/*.ipynb")):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook_page(path)))
    return files


def notebook_page(path: Path) -> str:
    """A notebook in Markdown."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```py\n{source}\n```")
        parts.extend(_shown(output) for output in cell.get("outputs", ()))
    parts.append(f"[This page as a notebook]({path.name})")
    return "\n\n".join(parts)


def _shown(output: dict) -> str:
    data = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text", "")}).items()}
    if "image/svg+xml" in data:
        return f'<div class="drawings"><figure>{data["image/svg+xml"]}</figure></div>'
    return f"```text\n{data['text/plain'].rstrip()}\n```"
