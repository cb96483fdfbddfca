"""GraphML."""

from __future__ import annotations

from jaxmotif.graph._attributes import BOOLEANS
from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Reader
from jaxmotif.io._text import TextFile
from jaxmotif.io._xml import read_elements, root_tag

_GRAPHML: dict[str, set[str] | None] = {
    "graphml": {"key", "graph", "desc", "data"},
    "key": {"desc", "default"},
    "default": set(),
    "graph": {"desc", "data", "node", "edge", "hyperedge"},
    "node": {"desc", "data", "port", "graph"},
    "edge": {"desc", "data"},
}
"""Elements that may stand in each element; the content of others is skipped."""


def read_graphml(file: TextFile, options: Options) -> Contents:
    """Read ``<key>``, then a ``<graph>`` of ``<node id>`` and ``<edge source target>`` with ``<data key>``."""
    graph = AttributedGraph(file, options)
    directed: bool | None = None
    names: dict[str, str] = {}
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    for element, ended in read_elements(file, "graphml", _GRAPHML):
        tag, own, parent = element.tag, element.own, element.parent
        if not ended:
            if tag == "graph":
                if directed is not None:
                    raise element.error("holds more than one graph, or a graph inside a node; keep one")
                directed = element.choice("edgedefault", {"directed": True, "undirected": False})
            elif tag == "hyperedge":
                raise element.error("holds hyperedges, which no graph of pairs can")
        elif tag == "default" and parent is not None:
            parent.values["default"] = element.text
        elif tag == "key":
            key = element.need("id")
            names[key] = own.get("attr.name", key)
            for kind, values in defaults.items():
                if "default" in element.values and own.get("for", "all") in (kind, "all"):
                    values[names[key]] = element.values["default"]
        elif tag == "data" and parent is not None:
            key = element.need("key")
            parent.values[names.get(key, key)] = element.text
        elif tag == "node":
            name = element.need("id")
            graph.node(name, own | defaults[tag] | element.values, line=element.line)
        elif tag == "edge":
            ends = element.need("source"), element.need("target")
            arc = element.choice("directed", BOOLEANS) if "directed" in own else None
            own = {key: value for key, value in own.items() if key not in ("id", "sourceport", "targetport")}
            graph.edge(*ends, own | defaults[tag] | element.values, arc, element.line)
    if directed is None:
        raise file.error("holds no <graph>", file.line)
    return graph.contents(directed)


FORMATS = {"graphml": Reader(read_graphml, lambda sample: root_tag(sample) == "graphml")}
