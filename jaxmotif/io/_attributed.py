"""A collector of graphs whose nodes and edges have names and attributes: GraphML, GEXF, GML, Pajek, JSON, DOT."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jaxmotif.io._format import Contents, LabelColumn, Options, passed_over
from jaxmotif.io._text import TextFile, shown

_NOTHING: Mapping[str, object] = {}
_INTEGER = re.compile(r"0|-?[1-9]\d{0,17}")


class AttributedGraph:
    """A graph while it is read: nodes and edges in the order of the file, with the attributes that are to be kept."""

    def __init__(self, file: TextFile, options: Options):
        self.file, self.options = file, options
        self.ids: dict[str, int] = {}
        self._titles: list[str | None] = []
        self._labels_are_titles = True
        self._edges: list[tuple[str, str, int | None]] = []
        self._kinds: list[bool | None] = []
        self._labels = {"node": options.node_label, "edge": options.edge_label}
        self._names: dict[str, dict[str, None]] = {"node": {}, "edge": {}}
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
        attributes = attributes or {}
        self._titles.append(title)
        self._labels_are_titles &= attributes.get("label", title) == title
        self._keep("node", attributes)

    def edge(
        self,
        source: str,
        target: str,
        attributes: Mapping[str, object] | None = None,
        directed: bool | None = None,
        line: int | None = None,
    ) -> None:
        """Add an edge; ``directed`` is ``None`` if the edge itself does not say whether it is directed."""
        self._edges.append((source, target, line))
        self._kinds.append(directed)
        self._keep("edge", attributes or {})

    def _keep(self, kind: str, attributes: Mapping[str, object]) -> None:
        """Keep the attributes of a node or an edge that were asked for, and the names of all of them."""
        names, label = self._names[kind], self._labels[kind]
        for name in attributes:
            names[name] = None
        if not self.options.attributes:
            attributes = {label: attributes[label]} if isinstance(label, str) and label in attributes else _NOTHING
        self._kept[kind].append(attributes)

    def _columns(self, kind: str) -> dict[str, list[Any]] | None:
        """Return every attribute as a column, if attributes are asked for."""
        items, names = self._kept[kind], self._beside_titles(kind)
        return {name: [item.get(name) for item in items] for name in names} if self.options.attributes else None

    def _beside_titles(self, kind: str) -> list[str]:
        """Return the names of attributes, without ``label`` where it is the title by which nodes are called."""
        is_title = kind == "node" and self._labels_are_titles and self._unique_titles() is not None
        return [name for name in self._names[kind] if name != "label" or not is_title]

    def _unique_titles(self) -> list[str] | None:
        """Return the titles of the nodes if each has one and no two are equal."""
        titles = [title for title in self._titles if title]
        return titles if len(titles) == len(set(titles)) == len(self.ids) else None

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
            self._node_names(),
            self._label_column("node"),
            self._label_column("edge"),
            self._columns("node"),
            self._columns("edge"),
            (*notes, *self._notes()),
        )
        return contents.with_undirected(np.array([kind is False for kind in arcs], bool))

    def _label_column(self, kind: str) -> LabelColumn | None:
        label = self._labels[kind]
        if label is None:
            return None
        values = [item.get(str(label)) for item in self._kept[kind]]
        present = [str(value) for value in values if value is not None]
        if len(present) < len(values) or not isinstance(label, str):
            which = f"{len(values) - len(present)} of {len(values)} {kind}s have no attribute {label!r}"
            raise self.file.error(f"{which}; {kind} attributes are: {', '.join(self._names[kind]) or 'none'}")
        return self.options.labels().of(present)

    def _notes(self) -> Iterator[str]:
        """Yield notes on the attributes that are passed over."""
        for kind in self._names:
            names = [] if self.options.attributes else self._beside_titles(kind)
            passed = [name for name in names if name != self._labels[kind]]
            yield from passed_over(f"{kind} attributes", passed, f"; {kind}_label= makes one the labels")

    def _node_names(self) -> np.ndarray | None:
        """Return the names of the nodes: their titles if no two are equal, else their ids; integers if all are."""
        names = self._unique_titles() or list(self.ids)
        if all(_INTEGER.fullmatch(name) for name in names):
            numbers = np.array([int(name) for name in names], np.int64)
            return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers
        return np.array(names, object)
