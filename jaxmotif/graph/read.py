"""Reading graph files: recognising the format, and the front door."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxmotif.graph import edgelist, formats
from jaxmotif.graph.container import Graph
from jaxmotif.graph.edgelist import Contents, Options
from jaxmotif.graph.textscan import GraphFileError, TextFile, Words

if TYPE_CHECKING:
    from jaxmotif.graph.build import Pad

FORMATS: dict[str, Callable[[TextFile, Options], Contents]] = {
    "edges": edgelist.read_edges,
    "csv": edgelist.read_csv,
    "tsv": edgelist.read_tsv,
    "konect": edgelist.read_konect,
    "mtx": formats.read_matrix_market,
    "metis": formats.read_metis,
    "orca": formats.read_orca,
    "labelled": formats.read_labelled,
    "gff": formats.read_gff,
    "gfd": formats.read_gfd,
    "lad": formats.read_lad,
    "lad-labelled": formats.read_labelled_lad,
}
_LISTS = ("edges", "csv", "tsv", "auto")
_SAMPLE = 64
"""Rows that recognising a format looks at."""
_logger = logging.getLogger("jaxmotif")


def read_graph(
    path: str | os.PathLike[str],
    directed: bool | None = None,
    format: str = "auto",
    *,
    columns: Sequence[int | str] | None = None,
    text_ids: bool = False,
    label_ids: dict[str, int] | None = None,
    self_loops: Literal["drop", "error"] = "drop",
    duplicates: Literal["drop", "error"] = "drop",
    reverse: Literal["merge", "error"] = "merge",
    isolated: Literal["keep", "drop"] | None = None,
    pad: Pad = None,
    device: Any = None,
) -> Graph:
    """Reads a graph from a text file, plain or gzip.

    | format | content | nodes |
    |---|---|---|
    | ``edges`` | two or more columns between blanks, ``#`` or ``%`` comments (SNAP) | the ids that occur |
    | ``csv``, ``tsv`` | the same between ``,`` or ``;``, or between tabs; quotes as in CSV | the ids that occur |
    | ``konect`` | ``% sym``, ``% asym`` or ``% bip``, perhaps ``% m n n``, ids from 1 | 1..n, or the ids that occur |
    | ``mtx`` | MatrixMarket coordinates, ``general`` directed, ``symmetric`` not | 1..n |
    | ``metis`` | ``n m [fmt [ncon]]``, a line of neighbours for each node, ids from 1 | 1..n |
    | ``orca`` | ``n m``, then m lines ``u v`` | 0..n-1 |
    | ``labelled`` | ``n m directed(0 or 1)``, n node labels, m lines ``u v [edge label]`` | 0..n-1 |
    | ``gff``, ``gfd`` | RI: ``#name``, n, n node labels, m, m lines ``u v [label]``; ``gfd`` is directed | 0..n-1 |
    | ``lad``, ``lad-labelled`` | n, a line ``[label] outdegree v1 v2 ...`` for each node | 0..n-1 |

    ``auto`` looks at the content: banners first; then the number line of METIS, LAD or the labelled format, if the
    lines after it fit what it declares; else an edge list. An edge list whose first row ``n m`` is followed by
    exactly m rows of ids below n is ORCA's. Name the format where that guess would be wrong, and for METIS from a
    pipe. Edge lists may start with a row of column names: one with usual names (source and target, from and to, ...),
    one of words above a row with numbers, or one that ``columns`` names. Weights, times and other columns are passed
    over.

    Ids of an edge list are integers if those of the first row are, else text. Nodes are numbered in the order of
    their ids, text by code point; ``node_names`` of the result holds the ids of the file unless they are 0..n-1.

    Args:
      path: the file; gzip is known by its first bytes, not by its name.
      directed: ``None`` for what the file says, undirected if it says nothing. An edge of a file that says
        undirected becomes two arcs if True; arcs of a file that says directed lose their direction if False.
      format: one of those above, or ``"auto"``.
      columns: for edge lists, which two columns are the ends, and perhaps a third that is an edge label; numbers
        counted from 0, or names in the first row. The first two columns, or the usual names, if not given.
      text_ids: take ids of an edge list as text even where they are numbers.
      label_ids: take labels as text and number them through this dict, which grows; pass one dict to all files
        whose labels are to agree. If not given, labels must be integers.
      self_loops, duplicates, reverse: as in :meth:`Graph.from_edges`.
      isolated: ``"keep"`` keeps every id from 0 to the largest of an edge list of integers, ``"drop"`` drops nodes
        without an edge; ``None`` takes the nodes of the table above.
      pad, device: as in :meth:`Graph.from_edges`.

    Returns:
      The graph; its ``report`` says what was left out.

    Raises:
      GraphFileError: (a ValueError) the file is not what its format says; names the line where it goes wrong.
      ValueError: an option is not one of its choices.
      OSError: the file cannot be opened.

    Example:
      >>> import tempfile, os
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     path = os.path.join(folder, "proteins.csv")
      ...     with open(path, "w") as file:
      ...         _ = file.write("source,target,score\\nTP53,MDM2,0.9\\nMDM2,MDM4,0.8\\n")
      ...     graph = read_graph(path)
      >>> int(graph.num_edges), graph.node_names.tolist()
      (2, ['MDM2', 'MDM4', 'TP53'])
    """
    options = _options(format, columns, text_ids, label_ids)
    if isolated not in (None, "keep", "drop"):
        raise ValueError(f"isolated must be None, 'keep' or 'drop', got {isolated!r}")
    with TextFile(path) as file:
        if format == "auto":
            format = _sniff(file) or "auto"
        if (columns is not None or text_ids) and format not in _LISTS:
            raise ValueError(f"columns and text_ids are for edge lists, and {file.path} is read as {format}")
        contents = FORMATS.get(format, edgelist.read_any_list)(file, options)
    _logger.info("%s: read as %s", file.path, contents.format or format)
    names, edges, num_nodes = contents.names, contents.edges, contents.num_nodes
    if num_nodes is None and isolated == "keep":
        num_nodes = int(edges.max(initial=-1)) + 1
        if num_nodes > edgelist.INT32_MAX:
            raise GraphFileError(
                f"{file.path}: isolated='keep' keeps all ids up to {num_nodes - 1}, over the limit of 2**31 - 1; "
                "leave it out to number the ids that occur",
                file.path,
            )
        names = None if names is None else names[:num_nodes]
    elif num_nodes is None:
        edges, kept = _occurring(edges)
        num_nodes = len(kept)
        if names is not None:
            names = names[kept]
        elif num_nodes and kept[-1] != num_nodes - 1:
            names = kept
    edge_labels = contents.edge_labels
    if directed and contents.directed is False:
        edges = np.concatenate([edges, edges[edges[:, 0] != edges[:, 1]][:, ::-1]])
        if edge_labels is not None:
            loop = contents.edges[:, 0] == contents.edges[:, 1]
            edge_labels = np.concatenate([edge_labels, edge_labels[~loop]])
    directed = bool(contents.directed if directed is None else directed)
    try:
        return Graph.from_edges(
            edges, num_nodes, directed, contents.node_labels, edge_labels, self_loops=self_loops, duplicates=duplicates,
            reverse=reverse, isolated=isolated or "keep", node_names=names, pad=pad, device=device,
        )  # fmt: skip
    except ValueError as error:
        if "edges[" not in str(error):
            raise
        places = "edges[i] is row i of the file, from 0, between node numbers from 0"
        raise GraphFileError(f"{file.path}: {error} ({places})", file.path) from error


def _options(
    format: str, columns: Sequence[int | str] | None, text_ids: bool, label_ids: dict[str, int] | None
) -> Options:
    if format not in ("auto", *FORMATS):
        raise ValueError(f"format must be auto, {', '.join(FORMATS)}; got {format!r}")
    if columns is not None:
        wrong_type = any(isinstance(column, bool) or not isinstance(column, int | str) for column in columns)
        if isinstance(columns, str) or len(columns) not in (2, 3) or wrong_type:
            raise ValueError(f"columns must be two or three column numbers or names, got {columns!r}")
        if any(isinstance(column, int) and column < 0 for column in columns):
            raise ValueError(f"columns are counted from 0, got {columns!r}")
        columns = tuple(columns)
    if label_ids is not None and not isinstance(label_ids, dict):
        raise TypeError(f"label_ids must be a dict from label to number, got {label_ids!r}")
    return Options(columns, text_ids, label_ids)


def _sniff(file: TextFile) -> str | None:
    """The format a file declares, or ``None`` for an edge list."""
    first = file.head()[0].split(b"\n", 1)[0]
    if first.lower().startswith(b"%%matrixmarket"):
        return "mtx"
    if edgelist.looks_like_konect(first):
        return "konect"
    if first.startswith(b"#"):
        rows = [row.split() for row in file.first_rows(2)]
        if len(rows) == 2 and len(rows[0]) == len(rows[1]) == 1 and rows[0][0].isdigit():
            return "gfd" if re.search(r"d(\.gz)?$", file.path) else "gff"
    rows = [row.split() for row in file.first_rows(_SAMPLE)]
    if not rows or not all(word.isdigit() for word in rows[0]):
        return None
    sizes = [int(word) for word in rows[0]]
    if len(sizes) == 1:
        return _sniff_lad(sizes[0], rows[1:])
    if 2 <= len(sizes) <= 4 and _fits_metis(file.path, rows[1:], *sizes):
        return "metis"
    if len(sizes) == 3 and sizes[2] in (0, 1) and len(rows) > 1 and len(rows[1]) == 1:
        return "labelled"
    return None


def _sniff_lad(n: int, rows: list[list[bytes]]) -> str | None:
    if rows and n == 0:
        return None
    for label, name in ((0, "lad"), (1, "lad-labelled")):
        if all(len(row) > label and row[label] == b"%d" % (len(row) - 1 - label) for row in rows[:n]):
            return name
    return None


def _fits_metis(path: str, rows: list[list[bytes]], n: int, m: int, fmt: int = 0, ncon: int = 1) -> bool:
    """Whether exactly n lines follow the first, ``rows`` to begin with, and hold the numbers that m edges take."""
    if n == 0 or set(str(fmt)) - {"0", "1"} or fmt > 111 or not os.path.isfile(path):  # a pipe is read only once
        return False
    skip, step = formats.metis_layout([fmt, ncon])
    if not all(word.isdigit() and (fmt or int(word) <= n) for row in rows for word in row):
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
            formats.read_metis(file, Options())
        except GraphFileError:
            return False
    return True


def _occurring(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Edges between 0..k-1, and the k ids that occur, ascending."""
    top = int(edges.max(initial=-1)) + 1
    if top > 4 * edges.size + 1024:
        kept, places = np.unique(edges, return_inverse=True)
        return places.reshape(edges.shape), kept
    present = np.zeros(top, bool)
    present[edges] = True
    kept = np.flatnonzero(present)
    return edges if len(kept) == top else (np.cumsum(present) - 1)[edges], kept
