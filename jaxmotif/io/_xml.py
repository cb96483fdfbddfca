"""GraphML and GEXF, read as a stream of elements; a document type, the way of entity expansion, is refused."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from functools import partial
from xml.parsers import expat

from jaxmotif.graph._attributes import BOOLEANS
from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._text import TextFile

_PIECE = 1 << 13
"""Bytes that are parsed at a time: with many more elements, collecting garbage would take most of the time."""


@dataclasses.dataclass(eq=False, slots=True)
class Element:
    """An element of a file.

    Attributes:
      file: the file.
      line: the number of the line where the element begins.
      tag: the tag, without the prefix of a name space.
      own: the attributes.
      parent: the element that it stands in.
      text: the text before its end.
      values: what the reader of the format has gathered for it, by name.
    """

    file: TextFile
    line: int
    tag: str
    own: dict[str, str]
    parent: Element | None
    text: str = ""
    values: dict[str, str] = dataclasses.field(default_factory=dict)

    def error(self, problem: str) -> GraphFileError:
        return self.file.error(problem, self.line)

    def need(self, name: str) -> str:
        """Take an attribute that must be there."""
        if name not in self.own:
            raise self.error(f"expected an attribute {name} of <{self.tag}>")
        return self.own.pop(name)

    def choice(self, name: str, choices: dict[str, bool]) -> bool:
        """Take an attribute that must have one of some values."""
        value = self.need(name)
        if value not in choices:
            raise self.error(f"expected {name} to be {' or '.join(choices)}, found {value[:30]!r}")
        return choices[value]


def read_elements(file: TextFile, root: str, children: dict[str, set[str]]) -> Iterator[Element]:
    """Yield each element when it has ended, that is after the elements that stand in it.

    Args:
      file: the file.
      root: the tag of the outermost element.
      children: which elements may stand in which, by tag; the content of others is skipped.

    Raises:
      GraphFileError: the XML is not well-formed, an element stands where it may not, or a document type is declared.
    """
    parser = expat.ParserCreate("UTF-8")
    parser.buffer_text = True
    stack: list[Element | None] = []  # None is an element that is skipped
    text: list[str] = []
    ended: list[Element] = []

    def refuse(*_) -> None:  # entities are declared inside of a document type, so none is ever read
        problem = "a document type declaration (<!DOCTYPE>), which no graph needs: take it out"
        raise file.error(problem, parser.CurrentLineNumber)

    def start(name: str, attributes: dict[str, str]) -> None:
        tag, line = name.rpartition(":")[2], parser.CurrentLineNumber
        text.clear()
        if not stack and tag != root:
            raise file.error(f"expected <{root}>, found <{name[:30]}>", line)
        parent = stack[-1] if stack else None
        allowed = {root} if not stack else children.get(parent.tag) if parent is not None else None
        if allowed is None or (":" in name and tag not in allowed):
            stack.append(None)  # inside an element that is not looked at, or of another name space
            return
        if tag not in allowed:
            raise file.error(f"did not expect <{name[:30]}> in <{parent and parent.tag}>", line)
        own = {key: value for key, value in attributes.items() if not key.startswith("xml")}
        stack.append(Element(file, line, tag, own, parent))

    def end(_: str) -> None:
        element = stack.pop()
        if element is not None:
            element.text = "".join(text).strip()
            text.clear()
            ended.append(element)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, text.append
    try:
        for _, block in file.blocks():
            for place in range(0, len(block), _PIECE):
                parser.Parse(block[place : place + _PIECE], False)
                yield from ended
                ended.clear()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise file.error(f"this is no well-formed XML: {expat.ErrorString(error.code)}", error.lineno) from None
    yield from ended


def root_tag(sample: Sample) -> str | None:
    """Return the tag of the first element, ``""`` where that is far away, or ``None`` for what is no XML."""
    head = sample.head[:65536].lstrip()
    if not head.startswith(b"<"):
        return None
    while head.startswith((b"<?", b"<!--")):
        head = head.partition(b"?>" if head.startswith(b"<?") else b"-->")[2].lstrip()
    found = re.match(rb"<(?:!DOCTYPE\s+)?(?:\w+:)?(\w+)", head, re.I)  # a document type names the root, and is refused
    return found[1].decode().lower() if found else ""


_CHILDREN: dict[str, dict[str, set[str]]] = {
    "graphml": {
        "graphml": {"key", "graph", "desc", "data"},
        "key": {"desc", "default"},
        "default": set(),
        "graph": {"desc", "data", "node", "edge", "hyperedge"},
        "node": {"desc", "data", "port", "graph"},
        "edge": {"desc", "data"},
    },
    "gexf": {
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
    },
}
"""Elements that may stand in each element, by the root of the file; the content of others is skipped."""

_TYPES = {"directed": True, "undirected": False, "mutual": False}
_DIRECTIONS: dict[tuple[str, str], tuple[str, dict[str, bool]]] = {
    ("graphml", "graph"): ("edgedefault", {"directed": True, "undirected": False}),
    ("graphml", "edge"): ("directed", BOOLEANS),
    ("gexf", "graph"): ("defaultedgetype", _TYPES),
    ("gexf", "edge"): ("type", _TYPES),
}
"""The attribute that says whether edges are arcs, and its values, by the root of the file and the element."""

_UNREAD = {"graphml": ("id", "sourceport", "targetport"), "gexf": ("id",)}
"""Attributes of edges that mean nothing to a graph, by the root of the file."""


def read_xml(file: TextFile, options: Options, root: str) -> Contents:
    """Read GraphML or GEXF, as the root says.

    GraphML: ``<key>``, then a ``<graph>`` of ``<node id>`` and ``<edge source target>`` with ``<data key>``. GEXF: a
    ``<graph>`` of ``<attributes>``, and of ``<node id>`` and ``<edge source target>`` with ``<attvalue>``.
    """
    graph, is_gexf = AttributedGraph(file, options), root == "gexf"
    directed: bool | None = None
    titles: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
    notes: dict[str, None] = {}
    for element in read_elements(file, root, _CHILDREN[root]):
        tag, own, parent = element.tag, element.own, element.parent
        if parent is None:  # the root
            continue
        if tag in titles:
            values = defaults[tag] | {titles[tag].get(key, key): value for key, value in element.values.items()}
            if tag == "node":
                name = element.need("id")
                graph.node(name, own | values, own.get("label") if is_gexf else None, element.line)
                continue
            ends = element.need("source"), element.need("target")
            which, types = _DIRECTIONS[root, tag]
            arc = element.choice(which, types) if which in own else None
            if is_gexf:
                values.pop("networkx_key", None)  # its number of a parallel edge
            own = {name: value for name, value in own.items() if name not in _UNREAD[root]}
            graph.edge(*ends, own | values, arc, element.line)
        elif tag == "data":
            parent.values[element.need("key")] = element.text
        elif tag == "attvalue" and parent.parent is not None:
            parent.parent.values[own.get("for", own.get("id", ""))] = element.need("value")
        elif tag == "graph":
            if directed is not None:
                raise element.error("holds more than one graph, or a graph inside a node; keep one")
            if is_gexf:
                own.setdefault("defaultedgetype", "undirected")
            directed = element.choice(*_DIRECTIONS[root, tag])
        elif tag == "hyperedge":
            raise element.error("holds hyperedges, which no graph of pairs can")
        elif tag in ("nodes", "edges") and parent.tag == "node":
            raise element.error("holds nodes inside nodes (a hierarchy), which a plain graph cannot")
        elif tag == "spells" or (tag in ("nodes", "edges") and {"start", "end"} & own.keys()):
            notes["passed over: times (spells)"] = None
        elif tag == "default":
            parent.values["default"] = element.text
        elif tag in ("key", "attribute"):
            key = element.need("id")
            title = own.get("title" if is_gexf else "attr.name", key)
            kind = parent.own.get("class") if is_gexf else own.get("for", "all")
            for of in titles:
                if kind == of or not is_gexf:
                    titles[of][key] = title
                if kind in (of, "all") and "default" in element.values:
                    defaults[of][title] = element.values["default"]
        elif tag == "attributes":
            element.need("class")
    if directed is None:
        raise file.error("holds no <graph>", file.line)
    return graph.contents(directed, tuple(notes))


FORMATS = {
    "graphml": Reader(partial(read_xml, root="graphml"), lambda sample: root_tag(sample) == "graphml"),
    "gexf": Reader(partial(read_xml, root="gexf"), lambda sample: root_tag(sample) == "gexf"),
}
