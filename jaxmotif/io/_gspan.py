"""gSpan's ``t # 0``, and the ``t n m`` of GraphQL, CFL-Match and DAF: lines that begin with a letter."""

from __future__ import annotations

import numpy as np

from jaxmotif.io._format import Contents, Options, Reader, Sample
from jaxmotif.io._text import TextFile

_LAYOUT = {b"v": "v id label [degree]", b"e": "e u v [label]", b"t": "t # number, or t nodes edges"}


def read_gspan(file: TextFile, options: Options) -> Contents:
    """Read ``v id label`` and ``e u v [label]`` below ``t # 0``, or with degrees below ``t n m``; undirected."""
    sizes: tuple[int, int] | None = None
    begun = ended = False
    nodes: list[bytes] = []
    degrees: list[int] = []
    edges: list[tuple[int, int]] = []
    edge_words: list[bytes] = []
    for number, line in file.lines():
        kind, *words = line.split()
        if ended or (begun and kind == b"t" and words[:1] == [b"#"] and words[1:] != [b"-1"]):
            raise file.error("holds more than one graph; keep one of them", number, line)
        if kind == b"t" and words[:1] == [b"#"]:
            ended = begun and words[1:] == [b"-1"]  # gSpan's last line
        elif kind == b"t" and not begun and len(words) == 2 and all(map(_small, words)):
            sizes = int(words[0]), int(words[1])
        elif kind == b"v" and _is_node(words) and words[0] == b"%d" % len(nodes):
            nodes.append(words[1])
            degrees.append(int(words[2]) if len(words) == 3 else -1)
        elif kind == b"e" and _is_edge(words) and max(map(int, words[:2])) < len(nodes):
            edges.append((int(words[0]), int(words[1])))
            edge_words += words[2:]
            if len(edge_words) not in (0, len(edges)):
                raise file.error("expected a label on each edge, or on none", number, line)
        else:
            next_id = f" (the next id is {len(nodes)})" if kind == b"v" else ""
            wanted = _LAYOUT.get(kind, "a line that begins with t, v or e")
            raise file.error(f"expected {wanted}{next_id}", number, line)
        begun = True
    if not begun:
        raise file.error("expected lines t, v and e, and the file holds none")
    if sizes not in (None, (len(nodes), len(edges))):
        declared = f"{sizes[0]} nodes and {sizes[1]} edges"
        raise file.error(f"declares {declared}, and holds {len(nodes)} and {len(edges)}")
    pairs = np.array(edges, np.int64).reshape(-1, 2)
    found = np.bincount(pairs.ravel(), minlength=len(nodes)).tolist()
    for node, (declared, degree) in enumerate(zip(degrees, found, strict=True)):
        if declared not in (-1, degree):
            raise file.error(f"declares degree {declared} for node {node}, which has {degree} edges")
    node_labels = options.labels().of_bytes(nodes)
    edge_labels = options.labels().of_bytes(edge_words) if edge_words else None
    return Contents(pairs, len(nodes), False, None, node_labels, edge_labels)


def _small(word: bytes) -> bool:
    return word.isdigit() and len(word) < 11


def _is_node(words: list[bytes]) -> bool:
    return 2 <= len(words) <= 3 and all(map(_small, words[2:]))


def _is_edge(words: list[bytes]) -> bool:
    return 2 <= len(words) <= 3 and all(map(_small, words[:2]))


def _is_gspan(sample: Sample) -> bool:
    expected = 0  # the ids of nodes ascend from 0 in each graph
    for kind, *words in sample.rows:
        title = kind == b"t" and (words[:1] == [b"#"] or (len(words) == 2 and all(map(_small, words))))
        node = kind == b"v" and _is_node(words) and words[0] == b"%d" % expected
        if not (title or node or (kind == b"e" and _is_edge(words))):
            return False
        expected = {b"t": 0, b"v": expected + 1}.get(kind, expected)
    return any(row[0] == b"v" for row in sample.rows) and sample.rows[0][0] != b"e"


FORMATS = {"gspan": Reader(read_gspan, _is_gspan)}
