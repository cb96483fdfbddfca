"""GML, DOT and DotMotif: small languages of words and brackets."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

from jaxmotif.graph._formats._attributed import AttributedGraph
from jaxmotif.graph._formats._base import Contents, Format, Options, Sample, passed_over, uncommented
from jaxmotif.graph._textscan import GraphFileError, TextFile

_DEEPEST = 50
"""Brackets inside brackets; a graph needs two or three."""


_MOST_EDGES = 1 << 18
"""So many edges more than it has bytes a DOT file may hold: groups multiply."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _Tokens:
    """The tokens of a file, one ahead: words (``word``), quoted text (``text``) and marks (themselves)."""

    def __init__(self, file: TextFile, pattern: re.Pattern[str]):
        self.file = file
        self.source = b"".join(block for _, block in file.blocks()).decode()
        self._counted = 0, 1  # a place and its line
        self._found = self._scan(pattern)
        self.next = next(self._found)

    def _scan(self, pattern: re.Pattern[str]):
        place = 0
        while place < len(self.source):
            match = pattern.match(self.source, place)
            if match is None:
                text = self.source[place : place + 30].split("\n")[0]
                raise self.file.error("expected a word, a quoted text or a bracket", self.line(place), text)
            kind = match.lastgroup or "skip"
            if kind != "skip":
                yield _Token(match[kind] if kind == "mark" else kind, match[kind], place)
            place = match.end()
        while True:
            yield _Token("end", "the end of the file", place)

    def line(self, place: int) -> int:
        """The line of a place; quick where places are asked for in order."""
        if place < self._counted[0]:
            self._counted = 0, 1
        start, line = self._counted
        self._counted = place, line + self.source.count("\n", start, place)
        return self._counted[1]

    def take(self, *kinds: str) -> _Token:
        token = self.next
        if kinds and token.kind not in kinds:
            raise self.error(f"expected {' or '.join(kinds)}, found {token.text[:30]!r}")
        self.next = next(self._found)
        return token

    def taken(self, *kinds: str) -> bool:
        """Whether the next token is one of these, and then takes it."""
        found = self.next.kind in kinds
        if found:
            self.take()
        return found

    def error(self, problem: str, token: _Token | None = None) -> GraphFileError:
        return self.file.error(problem, self.line((token or self.next).start))


_GML = re.compile(
    r'(?P<skip>[ \t\r\n\f\v]+|#[^\n]*)|"(?P<text>[^"]*)"|(?P<mark>[\[\]])'
    r"|(?P<word>[A-Za-z_][\w.:-]*|[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?=[\s\[\]]|$)"
)


def read_gml(file: TextFile, options: Options) -> Contents:
    """``graph [ directed 0|1 node [ id 1 label "a" ... ] edge [ source 1 target 2 ... ] ]``."""
    tokens, graph = _Tokens(file, _GML), AttributedGraph(file, options)
    found, directed = False, False
    unknown: dict[str, None] = {}
    while tokens.next.kind != "end":
        key = tokens.take("word").text.lower()
        if key != "graph":
            _gml_value(tokens)
            continue
        if found:
            raise tokens.error("holds more than one graph; keep one of them")
        found = True
        tokens.take("[")
        while not tokens.taken("]"):
            token = tokens.take("word")
            directed |= _gml_entry(tokens, token, graph, unknown)
    if not found:
        raise file.error("expected graph [ ... ]")
    return graph.contents(directed, passed_over("lists", list(unknown)))


def _gml_entry(tokens: _Tokens, token: _Token, graph: AttributedGraph, unknown: dict[str, None]) -> bool:
    """Reads what a graph holds; returns whether it was ``directed 1``."""
    key, line = token.text.lower(), tokens.line(token.start)
    if key not in ("node", "edge"):
        if tokens.next.kind == "[":
            unknown[key] = None
        value = _gml_value(tokens)
        if key == "directed" and value not in ("0", "1"):
            raise tokens.error("expected directed 0 or directed 1", token)
        return key == "directed" and value == "1"
    own = _gml_list(tokens)
    needed = ("id",) if key == "node" else ("source", "target")
    for name in needed:
        if not re.fullmatch(r"-?\d+", own.get(name, "")):
            raise tokens.error(f"expected {name} and a whole number in this {key}", token)
    names = [own.pop(name) for name in needed]
    if key == "node":
        graph.node(names[0], own, own.pop("label", None), line)
    else:
        graph.edge(names[0], names[1], own, line=line)
    return False


def _gml_list(tokens: _Tokens) -> dict[str, str]:
    tokens.take("[")
    own: dict[str, str] = {}
    while not tokens.taken("]"):
        token = tokens.take("word")
        value = _gml_value(tokens)
        if token.text in own and token.text in ("id", "source", "target", "label"):
            raise tokens.error(f"{token.text} is there twice", token)
        own[token.text] = value
    return own


def _gml_value(tokens: _Tokens) -> str:
    """A number or text; a list is stepped over, and is ``""``."""
    token = tokens.take("word", "text", "[")
    if token.kind != "[":
        return html.unescape(token.text) if token.kind == "text" else token.text
    depth = 1
    while depth:
        inner = tokens.take("word", "text", "[", "]")
        depth += {"[": 1, "]": -1}.get(inner.kind, 0)
    return ""


_DOT = re.compile(
    r'(?P<skip>[ \t\r\n\f\v]+|//[^\n]*|(?<![^\n])#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)|"(?P<text>(?:[^"\\]|\\.)*)"'
    r"|(?P<mark>->|--|[\[\]{};,=:+])|(?P<word>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?))",
    re.S,
)


def read_dot(file: TextFile, options: Options) -> Contents:
    """Graphviz: ``graph { a -- b; }`` or ``digraph { a -> {b c} [color=red]; }``; groups lose their names."""
    return _Dot(file, options).read()


class _Dot:
    def __init__(self, file: TextFile, options: Options):
        self.tokens = _Tokens(file, _DOT)
        self.graph = AttributedGraph(file, options, declared=False)
        self.own: dict[str, dict[str, str]] = {}
        self.edges: list[tuple[str, str, dict[str, str], int]] = []
        self.arrow = ""

    def read(self) -> Contents:
        tokens = self.tokens
        kind = self._word()
        kind = self._word() if kind == "strict" else kind
        if kind not in ("graph", "digraph"):
            raise tokens.error("expected graph or digraph")
        self.arrow = "->" if kind == "digraph" else "--"
        if tokens.next.kind in ("word", "text"):
            tokens.take()
        tokens.take("{")
        self._statements(0)
        if tokens.next.kind != "end":
            raise tokens.error("holds more than one graph; keep one of them")
        for name, own in self.own.items():
            self.graph.node(name, own)
        for source, target, own, line in self.edges:
            self.graph.edge(source, target, own, line=line)
        return self.graph.contents(kind == "digraph")

    def _word(self) -> str:
        return self.tokens.take("word").text.lower()

    def _statements(self, depth: int) -> list[str]:
        """Statements up to the closing brace; the nodes that they name."""
        tokens, named = self.tokens, []
        while not tokens.taken("}"):
            if not tokens.taken(";", ","):
                named += self._statement(depth)
        return named

    def _statement(self, depth: int) -> list[str]:
        tokens = self.tokens
        first = tokens.next
        if first.kind == "word" and first.text.lower() in ("graph", "node", "edge"):
            tokens.take()
            if not tokens.taken("="):
                self._attributes()
                return []
            tokens.take("word", "text")
            return []
        line = tokens.line(first.start)
        groups = [self._operand(depth)]
        if tokens.taken("="):
            tokens.take("word", "text")
            return []
        while tokens.next.kind in ("->", "--"):
            if tokens.take().kind != self.arrow:
                raise tokens.error(f"expected {self.arrow} in this kind of graph")
            groups.append(self._operand(depth))
        attributes = self._attributes()
        for group in groups:
            for name in group:
                self.own.setdefault(name, {})
        if len(groups) == 1 and first.kind != "{":
            for name in groups[0]:
                self.own[name] |= attributes
        for sources, targets in itertools.pairwise(groups):
            if len(self.edges) + len(sources) * len(targets) > _MOST_EDGES + len(tokens.source):
                raise tokens.error(f"edges between groups multiply beyond {_MOST_EDGES}", first)
            self.edges += [(a, b, attributes, line) for a in sources for b in targets]
        return list(dict.fromkeys(name for group in groups for name in group))

    def _operand(self, depth: int) -> Sequence[str]:
        """A node, perhaps with a port, or a group in braces."""
        tokens = self.tokens
        token = tokens.take("word", "text", "{")
        if token.kind == "word" and token.text.lower() == "subgraph":
            if tokens.next.kind in ("word", "text"):
                tokens.take()
            token = tokens.take("{")
        if token.kind == "{":
            if depth == _DEEPEST:
                raise tokens.error(f"groups more than {_DEEPEST} deep", token)
            return self._statements(depth + 1)
        name = token.text
        while token.kind == "text" and tokens.taken("+"):
            name += tokens.take("text").text
        if tokens.next.kind == "=":
            return []
        while tokens.taken(":"):
            tokens.take("word", "text")
        return [name.replace('\\"', '"')]

    def _attributes(self) -> dict[str, str]:
        tokens, own = self.tokens, {}
        while tokens.taken("["):
            while not tokens.taken("]"):
                if tokens.taken(";", ","):
                    continue
                name = tokens.take("word", "text").text
                own[name] = tokens.take("word", "text").text if tokens.taken("=") else "true"
        return own


_ARROW = rb"[ \t]*(->|-!>|!>|-\w*>|~>|~!>|\|)[ \t]*"
_DOTMOTIF = re.compile(rb"\w+" + _ARROW + rb"\w+\s*(\[.*\]\s*)?(#.*)?")


def read_dotmotif(file: TextFile, options: Options) -> Contents:
    """Lines ``A -> B``, all of a DotMotif text that is read: arcs that must be there."""
    graph = AttributedGraph(file, options, declared=False)
    for first, block in file.blocks():
        for number, line in enumerate(block.decode().split("\n")[:-1], first):
            text = line.split("#")[0].strip()
            match = re.fullmatch(r"(\w+)\s*->\s*(\w+)", text)
            if match is None and text:
                raise file.error("of DotMotif, lines A -> B alone are read", number, line)
            if match is not None:
                graph.edge(match[1], match[2], line=number)
    return graph.contents(directed=True)


def _is_gml(sample: Sample) -> bool:
    head = uncommented(
        sample.head[:65536], (b"#", b"creator", b"Creator", b"version", b"Version", b"comment", b"Comment")
    )
    return re.match(rb"\s*graph\s*\[", head, re.I) is not None


def _is_dot(sample: Sample) -> bool:
    head = uncommented(re.sub(rb"/\*.*?\*/", b"", sample.head[:65536], flags=re.S), (b"#", b"//"))
    return re.match(rb'\s*(strict\s+)?(di)?graph\b\s*("[^"]*"|[\w.-]+)?\s*\{', head, re.I) is not None


def _is_dotmotif(sample: Sample) -> bool:
    return bool(sample.lines) and all(_DOTMOTIF.fullmatch(line.strip()) for line in sample.lines[:8])


FORMATS = (
    Format("gml", "GML (Newman's collection, igraph, networkx)", "those declared", read_gml, _is_gml, (".gml",)),
    Format(
        "dot", "Graphviz's DOT: ``graph`` or ``digraph``", "the names in the file", read_dot, _is_dot, (".dot", ".gv"),
    ),
    Format(
        "dotmotif", "DotMotif: lines ``A -> B`` (no negative edges, no attributes), directed", "the names in the file",
        read_dotmotif, _is_dotmotif, (".motif",),
    ),
)  # fmt: skip
