"""GEXF, Gephi's format."""

from __future__ import annotations

from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Reader
from jaxmotif.io._text import TextFile
from jaxmotif.io._xml import read_elements, root_tag

_GEXF: dict[str, set[str] | None] = {
    "gexf": {"meta", "graph"},
    "graph": {"attributes", "nodes", "edges"},
    "attributes": {"attribute"},
    "attribute": {"default", "options"},
    "default": set(),
    "nodes": {"node"},
    "edges": {"edge"},
    "node": {"attvalues", "spells", "nodes", "edges", "parents"},
    "edge": {"attvalues", "spells"},
    "attvalues": {"attvalue"},
    "attvalue": set(),
}
"""Elements that may stand in each element; the content of others is skipped."""
_EDGE_TYPES = {"directed": True, "undirected": False, "mutual": False}


def read_gexf(file: TextFile, options: Options) -> Contents:
    """Read a ``<graph>`` of ``<attributes>``, and of ``<node id>`` and ``<edge source target>`` with ``<attvalue>``."""
    graph = AttributedGraph(file, options)
    directed: bool | None = None
    titles: dict[str, dict[str, str]] = {}
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    notes: dict[str, None] = {}
    for element, ended in read_elements(file, "gexf", _GEXF):
        tag, own, parent = element.tag, element.own, element.parent
        if not ended:
            if tag == "graph":
                if directed is not None:
                    raise element.error("holds more than one graph; keep one")
                own.setdefault("defaultedgetype", "undirected")
                directed = element.choice("defaultedgetype", _EDGE_TYPES)
            elif tag == "attributes":
                element.values["class"] = element.need("class")
            elif tag in ("nodes", "edges") and parent is not None and parent.tag == "node":
                raise element.error("holds nodes inside nodes (a hierarchy), which a plain graph cannot")
            elif tag == "spells" or (tag in ("nodes", "edges") and {"start", "end"} & own.keys()):
                notes["passed over: times (spells)"] = None
        elif tag == "default" and parent is not None:
            parent.values["default"] = element.text
        elif tag == "attribute" and parent is not None:
            kind, key = parent.values["class"], element.need("id")
            title = titles.setdefault(kind, {})[key] = own.get("title", key)
            if "default" in element.values:
                defaults.setdefault(kind, {})[title] = element.values["default"]
        elif tag == "attvalue" and parent is not None and parent.parent is not None:
            key, item = own.get("for", own.get("id", "")), parent.parent
            item.values[titles.get(item.tag, {}).get(key, key)] = element.need("value")
        elif tag == "node":
            name, label = element.need("id"), own.pop("label", None)
            graph.node(name, own | defaults[tag] | element.values, label, element.line)
        elif tag == "edge":
            ends = element.need("source"), element.need("target")
            arc = element.choice("type", _EDGE_TYPES) if "type" in own else None
            own.pop("id", None)
            graph.edge(*ends, own | defaults[tag] | element.values, arc, element.line)
    if directed is None:
        raise file.error("holds no <graph>", file.line)
    return graph.contents(directed, tuple(notes))


FORMATS = {"gexf": Reader(read_gexf, lambda sample: root_tag(sample) == "gexf")}
