"""The text formats that declare their sizes: MatrixMarket, METIS, ORCA, RI, LAD and the labelled text format."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxmotif.graph.edgelist import ID, LABEL, Contents, Options, pairs, read_header
from jaxmotif.graph.textscan import Column, Numbering, TextFile, Words, read_table, read_words


def read_orca(file: TextFile, options: Options) -> Contents:
    """ORCA: a line ``n m``, then m lines ``u v`` of ids below n."""
    n, m = read_header(file, "n m", 2)
    ids = [Column(index, ID, high=n - 1) for index in range(2)]
    return Contents(pairs(read_table(file, 2, ids, rows=m)), num_nodes=n)


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
    edges = pairs(read_table(file, 2 + values[field], ids, rows=entries)) - 1
    return Contents(edges, n, directed=symmetry == "general", names=np.arange(1, n + 1))


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
    return Contents(np.concatenate([up, edges[loops]]), n, directed=False, names=np.arange(1, n + 1))


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
    labels = options.labels()
    node_labels = _label_lines(file, n, labels)
    edges, edge_labels = _labelled_edges(file, n, m, labels)
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
    labels = options.labels()
    (n,) = read_header(file, "the number of nodes", 1, comments=())
    node_labels = _label_lines(file, n, labels)
    (m,) = read_header(file, "the number of edges", 1, comments=())
    edges, edge_labels = _labelled_edges(file, n, m, labels)
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
    counts, targets, node_labels = [], [], []
    seen = 0
    for first, block in file.blocks():
        words = Words(file, first, block, comments=())
        rows = np.flatnonzero(words.counts)
        if seen + len(rows) > n:
            raise words.error(int(rows[n - seen]), f"line {header} declares {n} nodes, and this line is one more")
        seen += len(rows)
        place = _places(words.counts)
        if labelled:
            first_word = place == 0
            if labels is None:
                node_labels.append(words.integers(first_word, LABEL))
            else:
                text = words.text()
                node_labels.append(labels.codes([text[word] for word in np.flatnonzero(first_word)]))
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
    return Contents(edges, n, not symmetric, None, np.concatenate(node_labels) if node_labels else None)


def _label_lines(file: TextFile, count: int, labels: Numbering | None) -> np.ndarray:
    parts = [np.zeros(0, np.int64)]
    for words in read_words(file, count, "a node label"):
        parts.append(words.integers(slice(None), LABEL) if labels is None else labels.codes(words.text()))
    return np.concatenate(parts)


def _labelled_edges(file: TextFile, n: int, m: int, labels: Numbering | None) -> tuple[np.ndarray, np.ndarray | None]:
    """The rest of a file: m lines ``u v`` or ``u v label``."""
    rows = file.first_rows(1, comments=())
    columns = [Column(index, ID, high=n - 1) for index in range(2)]
    labelled = bool(rows) and len(rows[0].split()) == 3
    if labelled:
        columns.append(Column(2, LABEL, numbering=labels))
    source, target, *edge_labels = read_table(file, len(columns), columns, rows=m, comments=())
    return pairs([source, target]), edge_labels[0] if edge_labels else None


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
