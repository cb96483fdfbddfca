"""The registry of file formats, from which recognition, messages, help and the table of formats come.

``formats.txt`` says in words what a format is, and names the file that reads it. That file has the code of the format
in its ``FORMATS``, under the same name.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from jaxmotif.io._edge_list import read_any_list
from jaxmotif.io._format import Contents, Format, Options, Reader, Sample
from jaxmotif.io._refused import known_by
from jaxmotif.io._text import TextFile


def _read_registry() -> Iterator[Format]:
    """Yield the entry of each format of ``formats.txt``, in its order."""
    readers: dict[str, Reader] = {}
    for line in Path(__file__).with_name("formats.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            readers = import_module(f"jaxmotif.io._{line[3:]}").FORMATS
        elif line and not line.startswith("# "):
            name, suffixes, nodes, content, *refusal = line.split(" | ")
            remedy, sight = (*refusal, "", "")[:2]
            endings = () if suffixes == "-" else tuple(suffixes.split())
            yield Format(name, endings, nodes, content, remedy, *(known_by(sight) if sight else readers[name]))


FORMATS = {entry.name: entry for entry in _read_registry()}
READABLE = tuple(name for name, entry in FORMATS.items() if entry.read is not None)
"""Values of ``format=`` and ``--input-format``, beside ``auto``."""

TABLES = ("edges", "csv", "tsv", "konect", "parquet")
"""The tables of edges, with columns to choose from."""


class UnusedOption(ValueError):
    """The error of an option that says nothing about a file of this format.

    Args:
      option: the argument of :func:`jaxmotif.read_graph`.
      why: the rest of the message.
    """

    def __init__(self, option: str, why: str):
        super().__init__(f"{option} {why}")
        self.option = option


def read_contents(file: TextFile, format: str, options: Options) -> Contents:
    """Read a file of a named format, or by looking (``"auto"``); the result says which format it was.

    Raises:
      GraphFileError: as the format's reader; a format that is known and not read; or two formats that fit.
      UnusedOption: an option that is for other formats.
    """
    name = recognise(file, table=options.columns is not None) if format == "auto" else format
    entry = None if name is None else FORMATS[name]
    if entry is not None and entry.read is None:
        raise file.error(f"this looks like {entry.content}, which is not read; {entry.remedy}")
    unused = "columns" if options.columns is not None else "text_ids" if options.text_ids and name != "adjlist" else ""
    if unused and name not in (None, *TABLES):
        raise UnusedOption(unused, f"is for tables of edges ({', '.join(TABLES)}), and {file.path} is read as {name}")
    read = (entry and entry.read) or read_any_list
    contents = read(file, options)
    return contents._replace(format=contents.format or name or "edges")


def recognise(file: TextFile, table: bool = False) -> str | None:
    """Return the name of the format that a file's beginning shows, or ``None`` for a table of edges.

    Args:
      table: what begins with rows of words is a table, whatever else it might be.

    Raises:
      GraphFileError: several formats fit, and the ending of the name does not decide.
    """
    sample = Sample(file)
    for looks in ("bytes", "text", *(() if table else ("rows",))):
        fitting = [entry for entry in FORMATS.values() if entry.looks == looks and entry.fits and entry.fits(sample)]
        if len(fitting) > 1:
            fitting = [entry for entry in fitting if sample.has_suffix(entry.suffixes)] or fitting
        if len(fitting) > 1:
            names = " or ".join(f'format="{entry.name}"' for entry in fitting)
            raise file.error(f"this fits more than one format; say which: {names}")
        if fitting:
            return fitting[0].name
    return None


def format_table() -> str:
    """Return the formats as a Markdown table, as the documentation has it.

    Example:
      >>> print(format_table().splitlines()[3])
      | `edges` | two or more columns between blanks, `#` or `%` comments (SNAP) | the ids that occur |
    """
    lines = ["| format | content | nodes |", "|---|---|---|"]
    for entry in FORMATS.values():
        if entry.read is not None:
            lines.append(f"| `{entry.name}` | {entry.content.replace('``', '`')} | {entry.nodes.replace('``', '`')} |")
    names = ", ".join(entry.content.replace("``", "`") for entry in FORMATS.values() if entry.read is None)
    return "\n".join(lines) + f"\n\nKnown by sight and refused with what to do instead: {names}.\n"
