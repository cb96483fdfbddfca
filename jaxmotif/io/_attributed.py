"""Collects a graph whose nodes and edges have names and attributes: GraphML, GEXF, GML, Pajek, JSON, DOT."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jaxmotif.io._format import Contents, LabelColumn, Options, passed_over
from jaxmotif.io._text import TextFile, shown

_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")


class AttributedGraph:
    """Nodes and edges in the order of the file, and of their attributes those that were asked for."""

    def __init__(self, file: TextFile, options: Options):
        self.file, self.options = file, options
        self.ids: dict[str, int] = {}
        self._titles: list[str | None] = []
        self._node_words: list[str | None] = []
        self._edges: list[tuple[str, str, int | None]] = []
        self._kinds: list[bool | None] = []
        self._edge_words: list[str | None] = []
        self._passed: dict[str, dict[str, None]] = {"node": {}, "edge": {}}
        self._kept: dict[str, list[Mapping[str, object]]] = {"node": [], "edge": []}

    def node(
        self,
        name: str,
        attributes: Mapping[str, object] | None = None,
        title: str | None = None,
        line: int | None = None,
    ) -> None:
        """Add a node: its id, its attributes, and the title to show instead of the id."""
        if name in self.ids:
            raise self.file.error(f"node {shown(name)} is there twice", line)
        self.ids[name] = len(self.ids)
        self._titles.append(title)
        self._node_words.append(self._label("node", self.options.node_label, attributes or {}))

    def edge(
        self,
        source: str,
        target: str,
        attributes: Mapping[str, object] | None = None,
        directed: bool | None = None,
        line: int | None = None,
    ) -> None:
        """Add an edge; ``directed`` says which kind it is where the edge says so itself."""
        self._edges.append((source, target, line))
        self._kinds.append(directed)
        self._edge_words.append(self._label("edge", self.options.edge_label, attributes or {}))

    def _label(self, kind: str, wanted: int | str | None, attributes: Mapping[str, object]) -> str | None:
        for name in attributes:
            if name != wanted:
                self._passed[kind][name] = None
        if self.options.attributes:
            self._kept[kind].append(attributes)
        label = attributes.get(wanted) if isinstance(wanted, str) else None
        return label if label is None or isinstance(label, str) else str(label)

    def _columns(self, kind: str) -> dict[str, list[Any]] | None:
        """Return every attribute as a column, if attributes are asked for."""
        items = self._kept[kind]
        names = dict.fromkeys(name for item in items for name in item)
        return {name: [item.get(name) for item in items] for name in names} if self.options.attributes else None

    def contents(self, directed: bool | None, notes: Sequence[str] = ()) -> Contents:
        """Return the contents of the file; ``directed`` holds for edges that do not say it themselves."""
        pairs = np.empty((len(self._edges), 2), np.int64)
        for row, (source, target, line) in enumerate(self._edges):
            for side, name in enumerate((source, target)):
                number = self.ids.get(name)
                if number is None:
                    raise self.file.error(f"an edge ends at node {shown(name)}, which the file does not declare", line)
                pairs[row, side] = number
        arcs = [directed if kind is None else kind for kind in self._kinds]
        contents = Contents(
            pairs,
            len(self.ids),
            None if None in arcs else True in arcs if arcs else directed,
            self._names(),
            self._labels("node", self.options.node_label, self._node_words),
            self._labels("edge", self.options.edge_label, self._edge_words),
            self._columns("node"),
            self._columns("edge"),
            (*notes, *self._notes()),
        )
        return contents.with_undirected(np.array([kind is False for kind in arcs], bool))

    def _labels(self, kind: str, wanted: int | str | None, words: list[str | None]) -> LabelColumn | None:
        if wanted is None:
            return None
        found = [word for word in words if word is not None]
        if len(found) < len(words) or not isinstance(wanted, str):
            others = ", ".join(self._passed[kind]) or "none"
            which = f"{len(words) - len(found)} of {len(words)} {kind}s have no attribute {wanted!r}"
            raise self.file.error(f"{which}; {kind} attributes are: {others}")
        return self.options.labels().of(found)

    def _notes(self) -> tuple[str, ...]:
        if self.options.attributes:
            return ()
        remedy = "; {0}_label= makes one the labels"
        return tuple(
            note
            for kind, names in self._passed.items()
            for note in passed_over(f"{kind} attributes", list(names), remedy.format(kind))
        )

    def _names(self) -> np.ndarray | None:
        """Return the names of the nodes: shown names if these tell nodes apart, else ids; integers as such."""
        names = [name for name in self._titles if name]
        if len(names) < len(self.ids) or len(set(names)) < len(names):
            names = list(self.ids)
        if all(_INTEGER.fullmatch(name) for name in names):
            numbers = np.array([int(name) for name in names], np.int64)
            return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers
        return np.array(names, object)
