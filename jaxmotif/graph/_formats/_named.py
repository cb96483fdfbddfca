"""Lists of names: SIF, adjacency lists, FANMOD's colors and TGF, and what tells them from edge lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from jaxmotif.graph._formats._base import (
    ID,
    Contents,
    Format,
    LabelColumn,
    Options,
    Sample,
    chosen_format,
    is_undirected,
    passed_over,
)  # fmt: skip
from jaxmotif.graph._formats._lists import (
    HEADER_ROWS,
    MISSING,
    delimiter_of,
    fields_of,
    is_number,
    layout_of,
    no_rows,
    sorted_names,
)
from jaxmotif.graph._numbering import Numbering
from jaxmotif.graph._textscan import Column, TextFile, read_table

_SIF_LABELS = (None, 1, "relation", "interaction")
_COLORS = 16
"""Colors of FANMOD are small: it takes at most so many."""


def read_sif(file: TextFile, options: Options) -> Contents:
    """SIF: lines ``source relation target [target ...]``, or a node alone; between tabs if there are any."""
    if options.edge_label not in _SIF_LABELS:
        raise file.error(f"SIF has one edge label, the relation, not {options.edge_label!r}")
    numbering, labels = Numbering(), options.labels()
    edges: list[tuple[int, int]] = []
    relations: list[bytes] = []
    for number, fields in _lines(file):
        if len(fields) == 2 or b"" in fields:
            raise file.error("expected source, relation and target", number, b"\t".join(fields))
        codes = numbering.codes([fields[0], *fields[2:]]).tolist()
        edges += [(codes[0], target) for target in codes[1:]]
        relations += fields[1:2] * (len(fields) - 2)
    if not numbering.known:
        raise no_rows(file)
    undirected = np.array([is_undirected(relation.decode()) for relation in relations], bool)
    contents = Contents(np.array(edges, np.int64).reshape(-1, 2), len(numbering.known))
    contents = sorted_names(contents.with_undirected(undirected), numbering.known)
    if options.edge_label is not None:
        return contents._replace(edge_labels=labels.column(labels.numbering.codes(relations)))
    return contents._replace(notes=_relation_note(relations))


def _relation_note(relations: list[bytes]) -> tuple[str, ...]:
    words = sorted({relation.decode() for relation in set(relations)})
    return passed_over("the relations", words, "; edge_label=1 (--edge-label 1) makes them the edges' labels")


def read_adjacency_list(file: TextFile, options: Options) -> Contents:
    """Lines ``node neighbour neighbour ...``, as networkx writes them; an undirected edge on one or both."""
    numbering = Numbering()
    edges: list[tuple[int, int]] = []
    numeric = not options.text_ids
    for _, fields in _lines(file, tabs=False):
        numeric = numeric and all(re.fullmatch(rb"0|[1-9][0-9]{0,17}", field) for field in fields)
        source, *targets = numbering.codes(fields).tolist()
        edges += [(source, target) for target in targets]
    if not numbering.known:
        raise no_rows(file)
    contents = Contents(np.array(edges, np.int64).reshape(-1, 2), len(numbering.known))
    if not numeric:
        return sorted_names(contents, numbering.known)
    ids = np.array([int(name) for name in numbering.known], np.int64)
    names, rank = np.unique(ids, return_inverse=True)
    return contents._replace(edges=rank.reshape(-1)[contents.edges], num_nodes=len(names), names=names)


def read_fanmod(file: TextFile, options: Options) -> Contents:
    """FANMOD: ``u v`` of integers, perhaps the colors of u and v, perhaps the color of the edge."""
    rows = file.first_rows(1)
    if not rows:
        raise no_rows(file)
    width = len(rows[0].split())
    if not 2 <= width <= 5:
        raise file.error("expected two ends, perhaps their two colors, and perhaps the edge's", file.line + 1, rows[0])
    first_line = file.line + 1
    colors = [Column(column, f"a color below {_COLORS}", high=_COLORS - 1) for column in range(2, width)]
    table = read_table(file, width, [Column(0, ID), Column(1, ID), *colors])
    edges = np.ascontiguousarray(table[:, :2])
    edge_labels = LabelColumn(table[:, -1]) if width in (3, 5) else None
    contents = Contents(edges, directed=True, edge_labels=edge_labels)
    if width < 4:
        return contents
    ids, places = np.unique(edges.T.ravel(), return_inverse=True)
    given = table[:, 2:4].T.ravel()
    color = np.zeros(len(ids), np.int64)
    color[places] = given
    wrong = np.flatnonzero(color[places] != given)
    if len(wrong):
        node = ids[places[wrong[0]]]
        raise file.error(
            f"node {node} has two colors, {given[wrong[0]]} and {color[places[wrong[0]]]}; "
            f"{chosen_format('edges')} passes these columns over",
            first_line + int(wrong[0] % len(edges)) if file.line - first_line + 1 == len(edges) else None,
        )
    return contents._replace(
        edges=places.reshape(2, -1).T, num_nodes=len(ids), names=ids, node_labels=LabelColumn(color)
    )


def _lines(file: TextFile, tabs: bool = True) -> Iterator[tuple[int, list[bytes]]]:
    """The rows of the rest of a file, with their line numbers; ``tabs``: between tabs if the first rows hold any."""
    delimiter = b"\t" if tabs and any(b"\t" in row for row in file.first_rows(8)) else b""
    for first, block in file.blocks():
        for number, line in enumerate(block.split(b"\n")[:-1], first):
            if line.strip() and not line.lstrip().startswith((b"#", b"%")):
                yield number, [field.strip() for field in line.split(delimiter)] if delimiter else line.split()


def _table(sample: Sample) -> list[list[bytes]]:
    """The first rows as an edge list would read them, without a header; nothing if they have one or are numbers."""
    if not sample.lines:
        return []
    delimiter = delimiter_of(sample.lines[0])
    rows = [fields_of(line, delimiter) for line in sample.lines]
    layout = layout_of(rows[:HEADER_ROWS], Options())
    return [] if layout.header is not None or layout.first == "numbers" else rows


def _is_sif(sample: Sample) -> bool:
    """Whether the words of a middle column are relations, which never are an end of another row.

    Raises:
      GraphFileError: they may be relations, and as well ends of rows whose third column is an attribute.
    """
    rows = _table(sample)
    if not rows or not any(len(row) > 2 for row in rows) or any(len(row) == 2 for row in rows):
        return False
    rows = [row for row in rows if len(row) > 2]
    sources, middle = {row[0] for row in rows}, {row[1] for row in rows}
    targets, third = {word for row in rows for word in row[2:]}, {row[2] for row in rows}
    if all(map(is_number, sources | middle)) or (all(map(_is_value, third)) and not all(map(is_number, sources))):
        return False  # ids and numbers beside them: a weight, a time
    if middle & (sources | targets):
        return False
    if sources & targets or sample.has_suffix((".sif",)):
        return True
    raise sample.file.error(
        f"the middle column may hold relations or ends of edges; say which: {chosen_format('sif')}, or "
        "columns=(0, 1) (--columns 0,1)"
    )


def _is_value(word: bytes) -> bool:
    """Whether a word stands for a number, or for one that is missing."""
    return is_number(word) or word.lower() in MISSING


def _is_adjacency_list(sample: Sample) -> bool:
    """Whether networkx's banner stands above; or rows differ in length, and each begins with another word.

    Raises:
      GraphFileError: without a banner, where rows could be neighbours as well as an edge and its attributes.
    """
    if re.match(rb"#[^\n]*\n# GMT [^\n]*\n#", sample.head):
        return True
    rows = sample.rows
    firsts = {row[0] for row in rows}
    if len(rows) < 2 or len(firsts) < len(rows) or max(map(len, rows)) < 3 or delimiter_of(sample.lines[0]) != b"":
        return False
    if sample.has_suffix((".adjlist", ".adj")):
        return True
    closed = all(set(row) <= firsts and len(set(row)) == len(row) for row in rows)
    if sample.whole and closed:
        raise sample.file.error(
            "the rows may be neighbours of their first words, or edges with attributes; say which: "
            f"{chosen_format('adjlist')}, or columns=(0, 1) (--columns 0,1)"
        )
    return False


def _is_fanmod(sample: Sample) -> bool:
    """Whether two columns of small numbers say the same of every end, and not the same of all."""
    rows = sample.rows
    if not rows or len(rows[0]) not in (4, 5) or any(len(row) != len(rows[0]) for row in rows):
        return False
    if not all(word.isdigit() for row in rows for word in row):
        return False
    colors: dict[bytes, bytes] = {}
    repeats = 0
    for row in rows:
        for end, color in zip(row[:2], row[2:4], strict=True):
            repeats += end in colors
            if len(color) > 2 or int(color) >= _COLORS or colors.setdefault(end, color) != color:
                return False
    return repeats > 1 and len(set(colors.values())) > 1


def _is_tgf(sample: Sample) -> bool:
    """A line ``#`` between rows of nodes and rows of edges."""
    return re.search(rb"(^|\n)[^#%\s][^\n]*\n#[ \t\r]*\n", sample.head[:65536]) is not None


FORMATS = (
    Format(
        "sif", "``source relation target [target ...]`` (Cytoscape)", "the names in the file", read_sif,
        _is_sif, (".sif",), looks="rows",
    ),
    Format(
        "adjlist", "``node neighbour neighbour ...`` (networkx)", "the names in the file", read_adjacency_list,
        _is_adjacency_list, (".adjlist", ".adj"), looks="rows",
    ),
    Format(
        "fanmod", "``u v [color of u, color of v] [color of the edge]`` (FANMOD), directed", "the ids that occur",
        read_fanmod, _is_fanmod, looks="rows",
    ),
    Format(
        "tgf", "nodes, a line ``#``, edges (Trivial Graph Format)", "", None, _is_tgf, (".tgf",),
        'keep the rows after the line "#" alone: they are an edge list', looks="rows",
    ),
)  # fmt: skip
