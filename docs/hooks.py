"""What the site has beyond MkDocs: drawings, tables from the package itself, pages of results, notebooks as pages.

A block called ``drawing`` holds lines ``PATTERN | caption``: a pattern by name, or a query in words; ``PATTERN @ 0,2``
marks nodes. One called ``columns`` holds the name of a table of ``jaxmotif help columns``; ``formats`` and
``language`` are empty. ``ratios`` holds lines ``task | time of another / ours | which other``, drawn as bars.

The block ``gallery`` holds lines ``COMMAND | caption``. The commands are run when the site is built, in a folder that
has the files of ``docs/data``; each shows the page that it writes, small. ``page`` holds lines ``FILE | caption`` and
shows such a page large. Where ``JAXMOTIF_PAGES`` names a folder in which `.ci/tutorials` has run the commands, pages
are taken from there.
"""

import contextlib
import html
import inspect
import io
import json
import math
import os
import re
import shlex
import shutil
import tempfile
from functools import cache
from pathlib import Path

import griffe

from jaxmotif.cli._app import main
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
BLOCK = re.compile(r"^```(columns|drawing|formats|gallery|language|page|ratios)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCS = Path(__file__).parent


class Roles(griffe.Extension):
    """Sphinx's roles in docstrings become links, where the reference has what they name; an example is examples."""

    def on_instance(self, *, obj: griffe.Object, **_) -> None:
        if obj.docstring:
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
            obj.docstring.value = ROLE.sub(_link, text)


def _link(role: re.Match[str]) -> str:
    name = role[1].rpartition(".")[2] if role[1].startswith("jaxmotif.") else role[1]
    return f'<autoref optional identifier="{role[1]}"><code>{name}</code></autoref>'


def on_page_markdown(markdown: str, page, **_) -> str:
    """Writes out the blocks of a page. Sessions get the language by which their prompts are told from what is typed."""
    made = {"columns": _columns, "drawing": _drawings, "formats": _formats, "language": _language, "ratios": _ratios}
    made |= {"gallery": lambda lines: _gallery(lines, page.url), "page": lambda lines: _pages(lines, page.url)}
    markdown = BLOCK.sub(lambda block: made[block[1]](block[2]), markdown)
    return re.sub(r"^( *)```python\n(?=( *)>>> )", r"\1```pycon\n", markdown, flags=re.MULTILINE)


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


# ---- pages of results


def gallery() -> list[tuple[str, str]]:
    """The commands of the gallery and their captions."""
    blocks = BLOCK.findall((DOCS / "gallery.md").read_text("utf-8"))
    lines = [line for kind, text in blocks if kind == "gallery" for line in text.splitlines()]
    return [tuple(line.rsplit(" | ", 1)) for line in lines]


def page_of(command: str) -> str:
    """The page that a command writes."""
    words = shlex.split(command)
    return words[words.index("--report") + 1]


@cache
def pages_folder(commands: tuple[str, ...]) -> Path:
    """The folder with the pages that the commands have written."""
    if "JAXMOTIF_PAGES" in os.environ:
        return Path(os.environ["JAXMOTIF_PAGES"]).resolve()
    folder = Path(tempfile.mkdtemp())
    shutil.copytree(DOCS / "data", folder, dirs_exist_ok=True)
    for command in commands:
        said = io.StringIO()
        with contextlib.chdir(folder), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = main(shlex.split(command)[1:])
        if status:
            raise RuntimeError(f"{command}: {said.getvalue()}")
    return folder


def _gallery(lines: str, url: str) -> str:
    shown = []
    for line in lines.splitlines():
        command, caption = line.rsplit(" | ", 1)
        shown.append(f"{_picture(page_of(command), caption, url)}\n\n```sh\n{command}\n```")
    boxes = "".join(f"<div markdown>\n\n{one}\n\n</div>\n\n" for one in shown)
    return f'<div class="gallery" markdown>\n\n{boxes}</div>'


def _pages(lines: str, url: str) -> str:
    return "\n".join(_picture(*line.rsplit(" | ", 1), url, "large") for line in lines.splitlines())


def _picture(page: str, caption: str, url: str, size: str = "small") -> str:
    """A page as a picture of itself: a frame that a browser scales and that cannot be used, in a link to the page."""
    from mkdocs.utils import get_relative_url

    source, words = get_relative_url(f"gallery/{page}", url), html.escape(caption)
    frame = f'<iframe src="{source}" loading="lazy" scrolling="no" tabindex="-1" aria-hidden="true"></iframe>'
    return f'<figure class="page {size}"><a href="{source}" title="{words}"><span>{frame}</span>{words}</a></figure>'


# ---- notebooks


def on_files(files, config):
    """Adds the pages of the gallery, and a page for each notebook, with the outputs that are stored in it."""
    from mkdocs.structure.files import File

    commands = tuple(command for command, _ in gallery())
    for page in map(page_of, commands):
        text = (pages_folder(commands) / page).read_text("utf-8")
        files.append(File.generated(config, f"gallery/{page}", content=text))
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
        size = "" if 'viewBox="0 0 64 64"' in data["image/svg+xml"] else " class='network'"
        return f'<div class="drawings"><figure{size}>{data["image/svg+xml"]}</figure></div>'
    return f"```text\n{data['text/plain'].rstrip()}\n```"
