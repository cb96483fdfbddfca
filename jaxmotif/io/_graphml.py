"""GraphML."""

from __future__ import annotations

from jaxmotif.graph._attributes import BOOLEANS
from jaxmotif.io._format import Format, Options
from jaxmotif.io._text import TextFile
from jaxmotif.io._xml import AttributedReader, root_tag

_GRAPHML: dict[str, set[str] | None] = {
    "graphml": {"key", "graph", "desc", "data"}, "key": {"desc", "default"}, "desc": None, "default": set(),
    "graph": {"desc", "data", "node", "edge", "hyperedge"}, "node": {"desc", "data", "port", "graph"},
    "edge": {"desc", "data"}, "data": None, "port": None, "hyperedge": None,
}  # fmt: skip


class _GraphML(AttributedReader):
    def __init__(self, file: TextFile, options: Options):
        super().__init__(file, options, "graphml", _GRAPHML)
        self.elements.start, self.elements.end = self._start, self._end
        self.keys: dict[str, str] = {}
        self.defaults: dict[str, tuple[str, str]] = {}

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        elements = self.elements
        if tag == "key":
            self.key = elements.need(tag, attributes, "id")
            self.kind = attributes.get("for", "all")
            self.keys[self.key] = attributes.get("attr.name", self.key)
        elif tag == "graph":
            if self.directed is not None:
                raise elements.error("holds more than one graph, or a graph inside a node; keep one")
            self.directed = elements.choice(tag, attributes, "edgedefault", {"directed": True, "undirected": False})
        elif tag in ("node", "edge"):
            defaults = {name: value for name, (kind, value) in self.defaults.items() if kind in (tag, "all")}
            self.own, self.attributes = attributes, defaults
        elif tag == "data":
            self.key = elements.need(tag, attributes, "key")
        elif tag == "hyperedge":
            raise elements.error("holds hyperedges, which no graph of pairs can")

    def _end(self, tag: str, text: str) -> None:
        elements, own = self.elements, self.own
        if tag == "data" and elements.stack[-1] in ("node", "edge"):
            self.attributes[self.keys.get(self.key, self.key)] = text
        elif tag == "default":
            self.defaults[self.keys[self.key]] = self.kind, text
        elif tag == "node":
            name = elements.need(tag, own, "id")
            self.graph.node(name, own | self.attributes, line=elements.line)
        elif tag == "edge":
            ends = elements.ends(own)
            directed = elements.choice(tag, own, "directed", BOOLEANS) if "directed" in own else None
            for name in ("id", "sourceport", "targetport"):
                own.pop(name, None)
            self.graph.edge(*ends, own | self.attributes, directed, elements.line)


FORMATS = (
    Format(
        "graphml",
        "GraphML (yEd, igraph, networkx)",
        "those declared",
        lambda file, options: _GraphML(file, options).read(),
        lambda sample: root_tag(sample) == "graphml",
        (".graphml",),
    ),
)
