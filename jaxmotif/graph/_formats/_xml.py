"""GraphML and GEXF, read as a stream of elements; a document type, the way of entity expansion, is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.parsers import expat

from jaxmotif.graph._attributes import BOOLEANS
from jaxmotif.graph._formats._attributed import AttributedGraph
from jaxmotif.graph._formats._base import Contents, Format, Options, Sample
from jaxmotif.graph._textscan import GraphFileError, TextFile

_SKIPPED = "*"
"""The stack's mark of an element whose content is not looked at."""


class _Elements:
    """Reads elements with expat: ``start`` and ``end`` get tag, attributes and text, without name space prefixes.

    Args:
      children: which elements may stand in which, by tag; ``None`` for those whose content is skipped.
    """

    def __init__(self, file: TextFile, root: str, children: dict[str, set[str] | None]):
        self.file, self.root, self.children = file, root, children
        self.stack: list[str] = []
        self.text: list[str] = []
        self.parser = expat.ParserCreate("UTF-8")
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.text.append
        self.start: Callable[[str, dict[str, str]], None] = lambda tag, attributes: None
        self.end: Callable[[str, str], None] = lambda tag, text: None

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber

    def error(self, problem: str) -> GraphFileError:
        return self.file.error(problem, self.line)

    def read(self) -> None:
        try:
            for _, block in self.file.blocks():
                self.parser.Parse(block, False)
            self.parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise self.file.error(
                f"this is no well-formed XML: {expat.ErrorString(error.code)}", error.lineno
            ) from None

    def need(self, tag: str, attributes: dict[str, str], name: str) -> str:
        if name not in attributes:
            raise self.error(f"expected an attribute {name} of <{tag}>")
        return attributes.pop(name)

    def ends(self, attributes: dict[str, str]) -> tuple[str, str]:
        return self.need("edge", attributes, "source"), self.need("edge", attributes, "target")

    def choice(self, tag: str, attributes: dict[str, str], name: str, choices: dict[str, bool]) -> bool:
        value = self.need(tag, attributes, name)
        if value not in choices:
            raise self.error(f"expected {name} to be {' or '.join(choices)}, found {value[:30]!r}")
        return choices[value]

    def _refuse_doctype(self, *_) -> None:
        raise self.error("a document type declaration (<!DOCTYPE>), which no graph needs: take it out")

    def _refuse_entity(self, *_) -> None:
        raise self.error("an entity declaration (<!ENTITY>), which may expand without limit: take it out")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        parent = self.stack[-1] if self.stack else None
        self.text.clear()
        if parent is None and tag != self.root:
            raise self.error(f"expected <{self.root}>, found <{name[:30]}>")
        allowed = {self.root} if parent is None else self.children.get(parent)
        if allowed is None or (":" in name and tag not in allowed):
            self.stack.append(_SKIPPED)  # inside an element that is not looked at, or of another name space
            return
        if tag not in allowed:
            raise self.error(f"did not expect <{name[:30]}> in <{parent}>")
        self.stack.append(tag)
        self.start(tag, {key: value for key, value in attributes.items() if not key.startswith("xml")})

    def _end(self, name: str) -> None:
        tag = self.stack.pop()
        if tag != _SKIPPED:
            self.end(tag, "".join(self.text).strip())
            self.text.clear()


class _Reader:
    """What a file's elements have said so far: ``own`` and ``attributes`` of the node or edge that is being read, and
    the ``key`` and ``kind`` of the attribute."""

    def __init__(self, file: TextFile, options: Options, root: str, children: dict[str, set[str] | None]):
        self.graph = AttributedGraph(file, options)
        self.elements = _Elements(file, root, children)
        self.directed: bool | None = None
        self.key = self.kind = ""
        self.own: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.notes: dict[str, None] = {}

    def read(self) -> Contents:
        self.elements.read()
        if self.directed is None:
            raise self.elements.error("holds no <graph>")
        return self.graph.contents(self.directed, tuple(self.notes))


_GRAPHML: dict[str, set[str] | None] = {
    "graphml": {"key", "graph", "desc", "data"}, "key": {"desc", "default"}, "desc": None, "default": set(),
    "graph": {"desc", "data", "node", "edge", "hyperedge"}, "node": {"desc", "data", "port", "graph"},
    "edge": {"desc", "data"}, "data": None, "port": None, "hyperedge": None,
}  # fmt: skip


class _GraphML(_Reader):
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


_GEXF: dict[str, set[str] | None] = {
    "gexf": {"meta", "graph"}, "meta": None, "graph": {"attributes", "nodes", "edges"}, "attributes": {"attribute"},
    "attribute": {"default", "options"}, "default": set(), "options": None, "nodes": {"node"}, "edges": {"edge"},
    "node": {"attvalues", "spells", "nodes", "edges", "parents"}, "edge": {"attvalues", "spells"},
    "attvalues": {"attvalue"}, "attvalue": set(), "spells": None, "parents": None,
}  # fmt: skip
_EDGE_TYPES = {"directed": True, "undirected": False, "mutual": False}


class _Gexf(_Reader):
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


def _root(sample: Sample) -> str | None:
    """The tag of the first element, or ``""`` if the file is XML and that is far away; ``None``: this is no XML."""
    head = sample.head[:65536].lstrip()
    if not head.startswith(b"<"):
        return None
    while head.startswith((b"<?", b"<!--")):
        head = head.partition(b"?>" if head.startswith(b"<?") else b"-->")[2].lstrip()
    found = re.match(rb"<(?:!DOCTYPE\s+)?(?:\w+:)?(\w+)", head, re.I)  # a document type names the root, and is refused
    return found[1].decode().lower() if found else ""


def _is_page(sample: Sample) -> bool:
    return re.match(rb"\s*<(!doctype\s+html|html)\b", sample.head, re.I) is not None


FORMATS = (
    Format(
        "graphml", "GraphML (yEd, igraph, networkx)", "those declared",
        lambda file, options: _GraphML(file, options).read(), lambda sample: _root(sample) == "graphml", (".graphml",),
    ),
    Format(
        "gexf", "GEXF (Gephi)", "those declared", lambda file, options: _Gexf(file, options).read(),
        lambda sample: _root(sample) == "gexf", (".gexf",),
    ),
    Format(
        "html", "a web page (HTML)", "", None, _is_page, (".html", ".htm"),
        "open it in a browser: it may say why there was nothing to download, or where",
    ),
    Format(
        "xml", "other XML, such as XGMML", "", None,
        lambda sample: not _is_page(sample) and _root(sample) not in (None, "graphml", "gexf"),
        (".xml", ".xgmml"), "export it as GraphML, SIF or a table of edges",
    ),
)  # fmt: skip
