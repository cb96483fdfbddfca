"""DotMotif's lines ``A -> B``."""

from __future__ import annotations

import re

from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._text import TextFile

_ARROW = rb"[ \t]*(->|-!>|!>|-\w*>|~>|~!>|\|)[ \t]*"
_DOTMOTIF = re.compile(rb"\w+" + _ARROW + rb"\w+\s*(\[.*\]\s*)?(#.*)?")


def read_dotmotif(file: TextFile, options: Options) -> Contents:
    """Read lines ``A -> B``, which are arcs; no other lines of DotMotif's language are read as a graph."""
    graph = AttributedGraph(file, options)
    for number, line in file.lines((b"#",)):
        text = line.decode().split("#")[0].strip()
        match = re.fullmatch(r"(\w+)\s*->\s*(\w+)", text)
        if match is None:
            raise file.error("of DotMotif, lines A -> B alone are read", number, line)
        for name in match.groups():
            if name not in graph.ids:
                graph.node(name)
        graph.edge(match[1], match[2], line=number)
    return graph.contents(directed=True)


def _is_dotmotif(sample: Sample) -> bool:
    return bool(sample.lines) and all(_DOTMOTIF.fullmatch(line.strip()) for line in sample.lines[:8])


FORMATS = {"dotmotif": Reader(read_dotmotif, _is_dotmotif)}
