"""Lines that begin with a letter: gSpan's ``t # 0`` and the ``t n m`` of GraphQL, CFL-Match and DAF."""

from __future__ import annotations

import numpy as np

from jaxmotif.graph._formats._base import Contents, Format, LabelColumn, Options, Sample
from jaxmotif.graph._textscan import TextFile

_LAYOUT = {b"v": "v id label [degree]", b"e": "e u v [label]", b"t": "t # number, or t nodes edges"}


class _Lettered:
    """The lines of a file, as they are read."""

    def __init__(self, file: TextFile, options: Options):
        self.file, self.options = file, options
        self.sizes: tuple[int, int] | None = None
        self.begun = self.ended = False
        self.labels, self.edge_labels = options.labels(), options.labels()
        self.nodes: list[bytes] = []
        self.degrees: list[int] = []
        self.edges: list[tuple[int, int]] = []
        self.edge_words: list[bytes] = []

    def line(self, number: int, line: bytes) -> None:
        kind, *words = line.split()
        if self.ended:
            raise self.file.error("holds more than one graph; keep one of them", number, line)
        good = {b"t": self._title, b"v": self._node, b"e": self._edge}.get(kind, lambda words: False)(words)
        if not good:
            next_id = f" (the next id is {len(self.nodes)})" if kind == b"v" else ""
            wanted = _LAYOUT.get(kind, "a line that begins with t, v or e")
            raise self.file.error(f"expected {wanted}{next_id}", number, line)

    def _title(self, words: list[bytes]) -> bool:
        if words[:1] == [b"#"]:
            self.ended = words[1:] == [b"-1"] and self.begun  # gSpan's last line
            if self.begun and not self.ended:
                raise self.file.error("holds more than one graph; keep one of them")
        elif self.begun or len(words) != 2 or not all(map(_small, words)):
            return False
        else:
            self.sizes = int(words[0]), int(words[1])
        self.begun = True
        return True

    def _node(self, words: list[bytes]) -> bool:
        if not 2 <= len(words) <= 3 or words[0] != b"%d" % len(self.nodes):
            return False
        self.begun = True
        self.nodes.append(words[1])
        self.degrees.append(int(words[2]) if len(words) == 3 and _small(words[2]) else -1)
        return len(words) == 2 or self.degrees[-1] >= 0

    def _edge(self, words: list[bytes]) -> bool:
        if not 2 <= len(words) <= 3 or not all(map(_small, words[:2])):
            return False
        self.edges.append((int(words[0]), int(words[1])))
        self.edge_words += words[2:]
        return len(self.edge_words) in (0, len(self.edges)) and max(self.edges[-1]) < len(self.nodes)

    def contents(self) -> Contents:
        n, m = len(self.nodes), len(self.edges)
        if self.sizes is not None and self.sizes != (n, m):
            raise self.file.error(f"declares {self.sizes[0]} nodes and {self.sizes[1]} edges, and holds {n} and {m}")
        edges = np.array(self.edges, np.int64).reshape(-1, 2)
        found, declared = np.bincount(edges.ravel(), minlength=n), np.array(self.degrees, np.int64)
        wrong = np.flatnonzero((declared >= 0) & (declared != found[:n]))
        if len(wrong):
            node = int(wrong[0])
            raise self.file.error(f"declares degree {declared[node]} for node {node}, which has {found[node]} edges")
        node_labels = self.labels.column(self.labels.numbering.codes(self.nodes))
        edge_labels: LabelColumn | None = None
        if self.edge_words:
            edge_labels = self.edge_labels.column(self.edge_labels.numbering.codes(self.edge_words))
        return Contents(edges, n, False, None, node_labels, edge_labels)


def read_lettered(file: TextFile, options: Options) -> Contents:
    """``v id label`` and ``e u v [label]`` below ``t # 0``, or with degrees below ``t n m``; undirected."""
    lettered = _Lettered(file, options)
    for first, block in file.blocks():
        for number, line in enumerate(block.split(b"\n")[:-1], first):
            if line.strip() and not line.lstrip().startswith((b"#", b"%")):
                lettered.line(number, line)
    if not lettered.begun:
        raise file.error("expected lines t, v and e, and the file holds none")
    return lettered.contents()


def _small(word: bytes) -> bool:
    return word.isdigit() and len(word) < 11


def _is_lettered(sample: Sample) -> bool:
    expected = 0  # the ids of nodes ascend from 0 in each graph
    for row in sample.rows:
        if not _fits(row) or (row[0] == b"v" and row[1] != b"%d" % expected):
            return False
        expected = {b"t": 0, b"v": expected + 1}.get(row[0], expected)
    return any(row[0] == b"v" for row in sample.rows) and sample.rows[0][0] != b"e"


def _fits(row: list[bytes]) -> bool:
    """Whether a row could be one of the file."""
    if row[0] == b"t":
        return row[1:2] == [b"#"] or (len(row) == 3 and all(map(_small, row[1:])))
    if row[0] == b"v":
        return len(row) == 3 or (len(row) == 4 and _small(row[3]))
    return row[0] == b"e" and 3 <= len(row) <= 4 and all(map(_small, row[1:3]))


FORMATS = (
    Format(
        "gspan", "``t # 0`` or ``t n m``, ``v id label [degree]``, ``e u v [label]`` (gSpan, GraphQL, DAF), undirected",
        "0..n-1", read_lettered, _is_lettered, (".lg", ".graph", ".gspan"),
    ),
)  # fmt: skip
