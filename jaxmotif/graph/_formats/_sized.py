"""The text formats that declare their sizes: MatrixMarket, METIS, ORCA, RI, LAD and the labelled text format."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import numpy as np

from jaxmotif.graph._formats._base import (
    INT32_MAX,
    Contents,
    Format,
    LabelColumn,
    Labels,
    Options,
    Sample,
    one_based,
    passed_over,
)  # fmt: skip
from jaxmotif.graph._textscan import COMMENTS, Column, GraphFileError, TextFile, Words, read_table, read_words


def read_header(
    file: TextFile, what: str, least: int, most: int | None = None, comments: tuple[bytes, ...] = COMMENTS
) -> list[int]:
    """The sizes on the next data line."""
    line = file.data_line(comments)
    words = [] if line is None else line.split()
    if not least <= len(words) <= (most or least) or not all(word.isdigit() for word in words):
        if line is None:
            raise file.error(f"expected a line with {what}, but the file ends", max(file.line, 1))
        raise file.error(f"expected {what}, whole numbers", file.line, line)
    sizes = [int(word) if len(word) < 12 else INT32_MAX + 1 for word in words]  # Python converts no 4,300 digits
    if max(sizes) > INT32_MAX:
        raise file.error(f"expected sizes of at most {INT32_MAX}", file.line, line)
    return sizes


def read_orca(file: TextFile, options: Options) -> Contents:
    """ORCA: a line ``n m``, then m lines ``u v`` of ids below n."""
    n, m = read_header(file, "n m", 2)
    ids = [Column(index, "a node id", high=n - 1) for index in range(2)]
    return Contents(read_table(file, 2, ids, rows=m), num_nodes=n)


def read_matrix_market(file: TextFile, options: Options) -> Contents:
    """MatrixMarket coordinates: banner, ``% comments``, ``rows columns entries``, then entries counted from 1."""
    banner = next(file.blocks(1), (1, b""))[1]
    words = banner.decode().lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise file.error("expected a banner %%MatrixMarket matrix coordinate FIELD SYMMETRY", 1, banner)
    layout, field, symmetry = words[2:]
    if layout != "coordinate":
        raise file.error("expected a sparse matrix (coordinate); convert the dense one", 1, banner)
    values = {"pattern": 0, "integer": 1, "real": 1, "double": 1, "complex": 2}
    if field not in values or symmetry not in ("general", "symmetric", "skew-symmetric", "hermitian"):
        raise file.error("expected a field pattern, integer, real or complex and a symmetry such as general", 1, banner)
    n, columns, entries = read_header(file, "rows columns entries", 3)
    if n != columns:
        raise file.error(f"expected a square adjacency matrix, found {n} rows and {columns} columns", file.line)
    ids = [Column(index, "an integer index", 1, n) for index in range(2)]
    edges = read_table(file, 2 + values[field], ids, rows=entries) - 1
    notes = passed_over("the values of the matrix", [field]) if values[field] else ()
    return Contents(edges, n, directed=symmetry == "general", names=one_based, notes=notes)


def read_metis(file: TextFile, options: Options) -> Contents:
    """METIS: ``n m [fmt [ncon]]``, then for each node a line of neighbours counted from 1; weights are passed over."""
    n, m, *rest = read_header(file, "n m [fmt [ncon]]", 2, 4, comments=(b"%",))
    header = file.line
    skip, step = metis_layout(rest)
    counts, neighbours = [], []
    seen = 0
    for first, block in file.blocks():
        words = Words(file, first, block, comments=(b"%",))
        if seen + len(words.counts) > n:
            extra = words.counts[n - seen :]
            if extra.any():
                line = n - seen + int(np.argmax(extra > 0))
                raise words.error(line, f"the header on line {header} declares {n} nodes, and this line is one more")
        values = words.integers(slice(None), "integers, the neighbours of a node")
        place = _places(words.counts)
        entry = (place >= skip) & ((place - skip) % step == 0)
        ragged = (words.counts[: n - seen] < skip) | ((words.counts[: n - seen] - skip) % step != 0)
        if ragged.any():
            line = int(np.argmax(ragged))
            layout = f"{skip} numbers and then " if skip else ""
            raise words.error(line, f"expected {layout}{'a weight after each neighbour' if step > 1 else 'neighbours'}")
        bad = entry & ((values < 1) | (values > n))
        if bad.any():
            word = int(np.argmax(bad))
            raise words.error(words.line_of_word(word), f"expected neighbours in 1..{n}, found {values[word]} in")
        counts.append(((words.counts - skip) // step)[: n - seen])
        neighbours.append(values[entry])
        seen += len(counts[-1])
    if seen < n:
        raise file.error(f"the header on line {header} declares {n} nodes, but only {seen} lines follow", file.line)
    edges = _adjacency(counts, neighbours, base=1)
    loops = edges[:, 0] == edges[:, 1]
    up, down = edges[edges[:, 0] < edges[:, 1]], edges[edges[:, 0] > edges[:, 1]]
    there, back = np.sort(_keys(up, n)), np.sort(_keys(down[:, ::-1], n))
    if not np.array_equal(there, back):
        u, v = divmod(_first_difference(there, back), n)
        raise file.error(f"expected edge {u + 1} {v + 1} as often on the line of {u + 1} as on that of {v + 1}")
    if m not in (len(up), len(up) + np.count_nonzero(loops)):
        raise file.error(f"the header declares {m} edges, the lines hold {len(up)}", header)
    notes = passed_over("weights", ["of nodes"] * (skip > 0) + ["of edges"] * (step > 1))
    return Contents(np.concatenate([up, edges[loops]]), n, directed=False, names=one_based, notes=notes)


def metis_layout(fields: Sequence[int]) -> tuple[int, int]:
    """How many numbers stand before the neighbours of a line, and how many for each neighbour."""
    fmt = fields[0] if fields else 0
    sizes, node_weights, edge_weights = fmt // 100 % 10, fmt // 10 % 10, fmt % 10
    ncon = fields[1] if len(fields) > 1 else 1
    return int(sizes > 0) + (ncon if node_weights else 0), 2 if edge_weights else 1


def read_labelled(file: TextFile, options: Options) -> Contents:
    """``n m directed(0|1)``, n lines with a node label, m lines ``u v [edge label]`` of ids from 0 on."""
    n, m, directed = read_header(file, "n m directed(0|1)", 3)
    if directed > 1:
        raise file.error(f"expected directed to be 0 or 1, found {directed}", file.line)
    node_labels = _label_lines(file, n, options.labels())
    edges, edge_labels = _labelled_edges(file, n, m, options.labels())
    return Contents(edges, n, bool(directed), None, node_labels, edge_labels)


def read_gff(file: TextFile, options: Options) -> Contents:
    """RI, undirected: ``#name``, n, n lines with a node label, m, m lines ``u v [edge label]`` of ids from 0 on."""
    return _read_ri(file, options, directed=False)


def read_gfd(file: TextFile, options: Options) -> Contents:
    """RI, directed."""
    return _read_ri(file, options, directed=True)


def _read_ri(file: TextFile, options: Options, directed: bool) -> Contents:
    title = next(file.blocks(1), (1, b""))[1]
    if not title.startswith(b"#"):
        raise file.error("expected #name, the title of an RI graph", 1, title)
    (n,) = read_header(file, "the number of nodes", 1, comments=())
    node_labels = _label_lines(file, n, options.labels())
    (m,) = read_header(file, "the number of edges", 1, comments=())
    edges, edge_labels = _labelled_edges(file, n, m, options.labels())
    return Contents(edges, n, directed, None, node_labels, edge_labels)


def read_lad(file: TextFile, options: Options) -> Contents:
    """LAD: n, then for each node ``outdegree v1 v2 ...``, ids from 0 on; undirected when every arc has its reverse."""
    return _read_lad(file, options, labelled=False)


def read_labelled_lad(file: TextFile, options: Options) -> Contents:
    """LAD with a node label before each outdegree."""
    return _read_lad(file, options, labelled=True)


def _read_lad(file: TextFile, options: Options, labelled: bool) -> Contents:
    (n,) = read_header(file, "the number of nodes", 1, comments=())
    header = file.line
    labels = options.labels()
    counts, targets, codes = [], [], [np.zeros(0, np.int64)]
    seen = 0
    for first, block in file.blocks():
        words = Words(file, first, block, comments=())
        rows = np.flatnonzero(words.counts)
        if seen + len(rows) > n:
            raise words.error(int(rows[n - seen]), f"line {header} declares {n} nodes, and this line is one more")
        seen += len(rows)
        place = _places(words.counts)
        if labelled:
            text = words.text()
            codes.append(labels.numbering.codes([text[word] for word in np.flatnonzero(place == 0)]))
        numbers = place >= labelled
        values = words.integers(numbers, "integers, an outdegree and its neighbours")
        is_degree = (place == labelled)[numbers]
        degrees = np.full(len(words.counts), -2)
        held = words.counts > labelled
        degrees[held] = values[is_degree]
        wrong = (words.counts > 0) & (words.counts - 1 - labelled != degrees)
        if wrong.any():
            line = int(np.argmax(wrong))
            layout = "label outdegree v1 v2 ..." if labelled else "outdegree v1 v2 ..."
            raise words.error(line, f"expected {layout} with as many neighbours as the outdegree says")
        bad = ~is_degree & (values >= n)
        if bad.any():
            word = int(np.flatnonzero(numbers)[np.argmax(bad)])
            found = values[np.argmax(bad)]
            raise words.error(words.line_of_word(word), f"expected neighbours in 0..{n - 1}, found {found} in")
        counts.append(degrees[held])
        targets.append(values[~is_degree])
    if seen < n:
        raise file.error(f"line {header} declares {n} nodes, but only {seen} lines follow", file.line)
    edges = _adjacency(counts, targets, base=0)
    symmetric = np.array_equal(np.sort(_keys(edges, n)), np.sort(_keys(edges[:, ::-1], n)))
    if symmetric:
        edges = edges[edges[:, 0] <= edges[:, 1]]
    node_labels = labels.column(np.concatenate(codes)) if labelled else None
    return Contents(edges, n, not symmetric, None, node_labels)


def _label_lines(file: TextFile, count: int, labels: Labels) -> LabelColumn:
    codes = [np.zeros(0, np.int64)]
    for words in read_words(file, count, "a node label"):
        codes.append(labels.numbering.codes(words.text()))
    return labels.column(np.concatenate(codes))


def _labelled_edges(file: TextFile, n: int, m: int, labels: Labels) -> tuple[np.ndarray, LabelColumn | None]:
    """The rest of a file: m lines ``u v`` or ``u v label``."""
    rows = file.first_rows(1, comments=())
    columns = [Column(index, "a node id", high=n - 1) for index in range(2)]
    if rows and len(rows[0].split()) == 3:
        columns.append(Column(2, "an edge label", numbering=labels.numbering))
    table = read_table(file, len(columns), columns, rows=m, comments=())
    return np.ascontiguousarray(table[:, :2]), labels.column(table[:, 2]) if len(columns) > 2 else None


def _places(counts: np.ndarray) -> np.ndarray:
    """The place of each word on its line, from the number of words on each line."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _adjacency(counts: list[np.ndarray], targets: list[np.ndarray], base: int) -> np.ndarray:
    """Edges from the neighbours of node 0, 1, ..., which the file counts from ``base``."""
    degrees = np.concatenate([np.zeros(0, np.int64), *counts])
    return np.stack(
        [np.repeat(np.arange(len(degrees)), degrees), np.concatenate([np.zeros(0, np.int64), *targets]) - base], axis=1
    )


def _keys(edges: np.ndarray, n: int) -> np.ndarray:
    return edges[:, 0] * n + edges[:, 1]


def _first_difference(a: np.ndarray, b: np.ndarray) -> int:
    """The smallest key that two sorted arrays do not hold equally often."""
    size = min(len(a), len(b))
    place = int(np.argmax(np.append(a[:size] != b[:size], True)))
    return min(int(keys[place]) for keys in (a, b) if place < len(keys))


def _sizes(sample: Sample) -> list[int]:
    """The numbers of the first row, if it holds at most four whole numbers and nothing else."""
    words = sample.rows[0] if sample.rows else []
    return [int(word) for word in words] if len(words) <= 4 and all(_size(word) for word in words) else []


def _size(word: bytes) -> bool:
    return word.isdigit() and len(word) < 12


def _is_matrix_market(sample: Sample) -> bool:
    """A banner; also one with a mistake in a word, which must not pass for a comment above a table."""
    first = sample.first.lower()
    return first.startswith(b"%") and (b"matrixmarket" in first or b"matrix coordinate" in first)


def _is_metis(sample: Sample) -> bool:
    sizes = _sizes(sample)
    return 2 <= len(sizes) <= 4 and _fits_metis(sample.path, sample.rows[1:], *sizes)


def _fits_metis(path: str, rows: list[list[bytes]], n: int, m: int, fmt: int = 0, ncon: int = 1) -> bool:
    """Whether exactly n lines follow the first, ``rows`` to begin with, and hold the numbers that m edges take."""
    if n == 0 or set(str(fmt)) - {"0", "1"} or fmt > 111 or not os.path.isfile(path):  # a pipe is read only once
        return False
    skip, step = metis_layout([fmt, ncon])
    if not all(_size(word) and (fmt or int(word) <= n) for row in rows for word in row):
        return False
    lines, words, widths = 0, 0, set()
    with TextFile(path) as file:
        if (file.data_line((b"%",)) or b"#").startswith(b"#"):
            return False
        for first, block in file.blocks():
            counts = Words(file, first, block, comments=(b"%",)).counts
            lines += len(counts)
            words += int(counts.sum())
            widths.update(np.unique(counts).tolist())
            if counts[max(0, n - lines + len(counts)) :].any():
                return False
    if lines < n or words != n * skip + 2 * m * step:
        return False
    if len(widths) > 1:
        return True
    with TextFile(path) as file:  # a table could also be an edge list: is it symmetric?
        try:
            read_metis(file, Options())
        except GraphFileError:
            return False
    return True


def _is_labelled(sample: Sample) -> bool:
    """A header ``n m 0|1``, lines of one word, and where lines of two or three begin, it is as the header says."""
    sizes, rows = _sizes(sample), sample.rows
    if len(sizes) != 3 or sizes[2] > 1 or len(rows) < 2 or len(rows[1]) != 1:
        return False
    return not sample.whole or len(rows) != 1 + sizes[0] or sizes[1] == 0


def _is_ri(sample: Sample, directed: bool) -> bool:
    if not sample.first.startswith(b"#"):
        return False
    rows = sample.rows[:2]
    single = len(rows) == 2 and len(rows[0]) == len(rows[1]) == 1 and rows[0][0].isdigit()
    return single and directed == bool(re.search(r"d(\.gz)?$", sample.path))


def _is_lad(sample: Sample, labelled: bool) -> bool:
    sizes, rows = _sizes(sample), sample.rows[1:]
    if len(sizes) != 1 or (rows and sizes[0] == 0) or (labelled and not rows):
        return False
    return _degrees_fit(rows[: sizes[0]], int(labelled))


def _degrees_fit(rows: list[list[bytes]], place: int) -> bool:
    return all(len(row) > place and row[place] == b"%d" % (len(row) - 1 - place) for row in rows)


FORMATS = (
    Format(
        "mtx", "MatrixMarket coordinates, ``general`` directed, ``symmetric`` not", "1..n", read_matrix_market,
        _is_matrix_market, (".mtx",),
    ),
    Format(
        "metis", "``n m [fmt [ncon]]``, a line of neighbours for each node, ids from 1", "1..n", read_metis, _is_metis,
        (".metis", ".graph"),
    ),
    Format("orca", "``n m``, then m lines ``u v`` of ids below n", "0..n-1", read_orca, None, (".orca", ".in")),
    Format(
        "labelled", "``n m directed(0 or 1)``, n node labels, m lines ``u v [edge label]``", "0..n-1", read_labelled,
        _is_labelled,
    ),
    Format(
        "gff", "RI, undirected: ``#name``, n, n node labels, m, m lines ``u v [label]``", "0..n-1", read_gff,
        lambda sample: _is_ri(sample, directed=False), (".gff", ".geu", ".gfu"),
    ),
    Format(
        "gfd", "RI, directed: the same in a file whose name ends in d", "0..n-1", read_gfd,
        lambda sample: _is_ri(sample, directed=True), (".gfd", ".ged"),
    ),
    Format(
        "lad", "n, a line ``outdegree v1 v2 ...`` for each node; undirected if every arc has its reverse", "0..n-1",
        read_lad, lambda sample: _is_lad(sample, labelled=False), (".lad",),
    ),
    Format(
        "lad-labelled", "n, a line ``label outdegree v1 v2 ...`` for each node", "0..n-1", read_labelled_lad,
        lambda sample: _is_lad(sample, labelled=True),
    ),
)  # fmt: skip
