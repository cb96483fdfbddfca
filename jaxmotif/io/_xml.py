"""GraphML and GEXF, read as a stream of elements; a document type, the way of entity expansion, is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.parsers import expat

from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Sample
from jaxmotif.io._text import TextFile

_SKIPPED = "*"
"""The stack's mark of an element whose content is not looked at."""


class Elements:
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


class AttributedReader:
    """Reader of a file's elements that gathers nodes, edges and their attributes.

    Attributes:
      graph: the nodes and edges so far.
      elements: the elements that the file may have.
      directed: whether the graph is, where the file has said so.
      key: the attribute that is being read.
      kind: the kind of this attribute.
      own: attributes that the node or edge being read has by itself.
      attributes: further attributes of this node or edge.
      notes: notes so far, as keys.
    """

    def __init__(self, file: TextFile, options: Options, root: str, children: dict[str, set[str] | None]):
        self.graph = AttributedGraph(file, options)
        self.elements = Elements(file, root, children)
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


def root_tag(sample: Sample) -> str | None:
    """Return the tag of the first element, ``""`` where that is far away, or ``None`` for what is no XML."""
    head = sample.head[:65536].lstrip()
    if not head.startswith(b"<"):
        return None
    while head.startswith((b"<?", b"<!--")):
        head = head.partition(b"?>" if head.startswith(b"<?") else b"-->")[2].lstrip()
    found = re.match(rb"<(?:!DOCTYPE\s+)?(?:\w+:)?(\w+)", head, re.I)  # a document type names the root, and is refused
    return found[1].decode().lower() if found else ""
