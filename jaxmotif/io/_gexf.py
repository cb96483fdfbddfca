"""GEXF, Gephi's format."""

from __future__ import annotations

from jaxmotif.io._format import Format, Options
from jaxmotif.io._text import TextFile
from jaxmotif.io._xml import AttributedReader, root_tag

_GEXF: dict[str, set[str] | None] = {
    "gexf": {"meta", "graph"}, "meta": None, "graph": {"attributes", "nodes", "edges"}, "attributes": {"attribute"},
    "attribute": {"default", "options"}, "default": set(), "options": None, "nodes": {"node"}, "edges": {"edge"},
    "node": {"attvalues", "spells", "nodes", "edges", "parents"}, "edge": {"attvalues", "spells"},
    "attvalues": {"attvalue"}, "attvalue": set(), "spells": None, "parents": None,
}  # fmt: skip
_EDGE_TYPES = {"directed": True, "undirected": False, "mutual": False}


class _Gexf(AttributedReader):
    def __init__(self, file: TextFile, options: Options):
        super().__init__(file, options, "gexf", _GEXF)
        self.elements.start, self.elements.end = self._start, self._end
        self.titles: dict[tuple[str, str], str] = {}
        self.defaults: dict[tuple[str, str], str] = {}

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        elements, parent = self.elements, self.elements.stack[-2] if len(self.elements.stack) > 1 else ""
        if tag == "graph":
            if self.directed is not None:
                raise elements.error("holds more than one graph; keep one")
            attributes.setdefault("defaultedgetype", "undirected")
            self.directed = elements.choice(tag, attributes, "defaultedgetype", _EDGE_TYPES)
        elif tag == "attributes":
            self.kind = elements.need(tag, attributes, "class")
        elif tag == "attribute":
            self.key = elements.need(tag, attributes, "id")
            self.titles[self.kind, self.key] = attributes.get("title", self.key)
        elif tag in ("nodes", "edges") and parent == "node":
            raise elements.error("holds nodes inside nodes (a hierarchy), which a plain graph cannot")
        elif tag in ("node", "edge"):
            self.kind, self.own = tag, attributes
            self.attributes = {title: value for (kind, title), value in self.defaults.items() if kind == tag}
        elif tag == "attvalue":
            key = attributes.get("for", attributes.get("id", ""))
            self.attributes[self.titles.get((self.kind, key), key)] = elements.need(tag, attributes, "value")
        elif tag == "spells" or "start" in attributes or "end" in attributes:
            self.notes["passed over: times (spells)"] = None

    def _end(self, tag: str, text: str) -> None:
        elements, own = self.elements, self.own
        if tag == "default" and elements.stack[-1] == "attribute":
            self.defaults[self.kind, self.titles[self.kind, self.key]] = text
        elif tag == "node":
            name, label = elements.need(tag, own, "id"), own.pop("label", None)
            self.graph.node(name, own | self.attributes, label, elements.line)
        elif tag == "edge":
            ends = elements.ends(own)
            directed = elements.choice(tag, own, "type", _EDGE_TYPES) if "type" in own else None
            own.pop("id", None)
            self.graph.edge(*ends, own | self.attributes, directed, elements.line)


FORMATS = (
    Format(
        "gexf",
        "GEXF (Gephi)",
        "those declared",
        lambda file, options: _Gexf(file, options).read(),
        lambda sample: root_tag(sample) == "gexf",
        (".gexf",),
    ),
)
