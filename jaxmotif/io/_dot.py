"""Graphviz's DOT."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from jaxmotif.io._attributed import AttributedGraph
from jaxmotif.io._format import Contents, Options, Reader, Sample, uncommented
from jaxmotif.io._text import TextFile
from jaxmotif.io._tokens import Tokens

_DEEPEST = 50
"""Depth to which groups may stand inside groups; a graph needs two or three."""

_MOST_EDGES = 1 << 18
"""A file may hold this many edges more than it has bytes. ``{a b} -- {c d}`` joins all pairs, so edges multiply."""

_DOT = re.compile(
    r'(?P<skip>[ \t\r\n\f\v]+|//[^\n]*|(?<![^\n])#[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)|"(?P<text>(?:[^"\\]|\\.)*)"'
    r"|(?P<mark>->|--|[\[\]{};,=:+])|(?P<word>[^\W\d]\w*|-?(?:\.\d+|\d+(?:\.\d*)?)(?![\w.]))",
    re.S,
)


def read_dot(file: TextFile, options: Options) -> Contents:
    """Read Graphviz: ``graph { a -- b; }`` or ``digraph { a -> {b c} [color=red]; }``; groups lose their names."""
    return _Dot(file, options).read()


class _Dot:
    def __init__(self, file: TextFile, options: Options):
        self.tokens = Tokens(file, _DOT)
        self.graph = AttributedGraph(file, options)
        self.own: dict[str, dict[str, str]] = {}
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}, "graph": {}}
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
        """Read statements up to the closing brace; return the nodes that they name."""
        tokens, named = self.tokens, []
        while not tokens.taken("}"):
            if not tokens.taken(";", ","):
                named += self._statement(depth)
        return named

    def _statement(self, depth: int) -> list[str]:
        tokens = self.tokens
        first = tokens.next
        if first.kind == "word" and first.text.lower() in ("graph", "node", "edge"):
            kind = tokens.take().text.lower()
            if not tokens.taken("="):
                self.defaults[kind] = self.defaults[kind] | self._attributes()
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
                self.own.setdefault(name, dict(self.defaults["node"]))
        if len(groups) == 1 and first.kind != "{":
            for name in groups[0]:
                self.own[name] |= attributes
        attributes = self.defaults["edge"] | attributes
        for sources, targets in itertools.pairwise(groups):
            if len(self.edges) + len(sources) * len(targets) > _MOST_EDGES + len(tokens.source):
                raise tokens.error(f"edges between groups multiply beyond {_MOST_EDGES}", first)
            self.edges += [(a, b, attributes, line) for a in sources for b in targets]
        return list(dict.fromkeys(name for group in groups for name in group))

    def _operand(self, depth: int) -> Sequence[str]:
        """Read a node, perhaps with a port, or a group in braces."""
        tokens = self.tokens
        token = tokens.take("word", "text", "{")
        if token.kind == "word" and token.text.lower() == "subgraph":
            if tokens.next.kind in ("word", "text"):
                tokens.take()
            token = tokens.take("{")
        if token.kind == "{":
            if depth == _DEEPEST:
                raise tokens.error(f"groups more than {_DEEPEST} deep", token)
            outer, self.defaults = self.defaults, dict(self.defaults)  # what is set in a group holds there
            named = self._statements(depth + 1)
            self.defaults = outer
            return named
        name = token.text
        while token.kind == "text" and tokens.taken("+"):
            name += tokens.take("text").text
        while tokens.taken(":"):
            tokens.take("word", "text")
        return [name]

    def _attributes(self) -> dict[str, str]:
        tokens, own = self.tokens, {}
        while tokens.taken("["):
            while not tokens.taken("]"):
                if tokens.taken(";", ","):
                    continue
                name = tokens.take("word", "text").text
                own[name] = tokens.take("word", "text").text if tokens.taken("=") else "true"
        return own


def _is_dot(sample: Sample) -> bool:
    head = uncommented(re.sub(rb"/\*.*?\*/", b"", sample.head[:65536], flags=re.S), (b"#", b"//"))
    return re.match(rb'\s*(strict\s+)?(di)?graph\b\s*("[^"]*"|[\w.-]+)?\s*\{', head, re.I) is not None


FORMATS = {"dot": Reader(read_dot, _is_dot)}
