"""Reading graph files: the front door, from what a file says to a graph."""

from __future__ import annotations

import dataclasses
import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jaxmotif.arrays._checks import check_switch
from jaxmotif.arrays._present import counted
from jaxmotif.arrays._rows import renumber
from jaxmotif.graph._attributes import Attributes, from_words
from jaxmotif.graph._build import LabelConflict
from jaxmotif.graph._container import Graph
from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._edge_list import delimiter_of
from jaxmotif.io._format import INT32_MAX, Contents, LabelColumn, Labels, Options
from jaxmotif.io._registry import READABLE, UnusedOption, read_contents
from jaxmotif.io._text import TextFile, fields_of
from jaxmotif.io._weights import sum_weights, weight_column

if TYPE_CHECKING:
    from jaxmotif.graph._fields import Pad, Placement

_FREE_NODES, _NODES_PER_ROW = 1 << 20, 64
"""A header may declare ``_FREE_NODES`` nodes in any case, and ``_NODES_PER_ROW`` more for each row that follows."""
_logger = logging.getLogger("jaxmotif")


def read_graph(
    path: str | os.PathLike[str],
    directed: bool | None = None,
    format: str = "auto",
    *,
    columns: Sequence[int | str] | None = None,
    edge_label: int | str | None = None,
    node_label: str | None = None,
    node_labels: str | os.PathLike[str] | None = None,
    weight: int | str | None = None,
    min_weight: float | None = None,
    text_ids: bool = False,
    encoding: str | None = None,
    label_ids: dict[str, int] | None = None,
    attributes: bool = False,
    self_loops: Literal["drop", "error"] = "drop",
    duplicates: Literal["drop", "error"] = "drop",
    reverse: Literal["merge", "error"] = "merge",
    isolated: Literal["keep", "drop"] | None = None,
    pad: Pad = "bucket",
    device: Placement = None,
) -> Graph:
    r"""Read a graph from a file, plain or gzip, of any format of :func:`jaxmotif.graph.format_table`.

    With ``format="auto"`` the format is recognised from the content of the file, never from its name alone. Banners and
    brackets are looked for first; then numbers of nodes and edges, if the lines after them fit; then relations between
    names. Any other file is read as a table of edges. A file that fits two formats, or whose format is known but not
    read, is refused with a message that says what to do. A table whose first row ``n m`` is followed by exactly m rows,
    at least one, of ids below n is taken for ORCA's format, with a note. To read METIS from a pipe, name the format.

    A file that says whether it is directed is read accordingly. Interactions of a kind that has no direction by
    convention (``pp`` of Cytoscape) are edges. Everything else is undirected, with a note that names ``directed=True``.

    Tables of edges may start with a row of column names. A first row is taken for one if it has usual names (source and
    target, from and to, ...), if it has words above a row with numbers, or if an option gives one of its names; a
    comment above the rows may name the columns, too. ``report.notes`` and the log name everything in the file that is
    not used, such as weights, times and attributes. They also mention a first row that may be a header or an edge, and
    a first column that is left out because it only numbers the rows. A table without a row is refused.

    Ids of a table are integers if the ids of its first row are and none has leading zeros, else text. Nodes of a table
    are numbered in the order of their ids, text by code point; ``node_names`` of the result holds the names or ids in
    the file unless they are 0..n-1. If all labels are integers below 2^31 without leading zeros, they stay as they are.
    Other labels are numbered in their order as text, and ``node_label_names`` and ``edge_label_names`` of the result
    say which word each number stands for.

    Args:
      path: the file; gzip is known by its first bytes, not by its name.
      directed: ``None`` to follow the file, which is undirected if it says nothing. With True, an edge that is
        undirected according to the file becomes two arcs. With False, arcs lose their direction.
      format: a format's name, or ``"auto"``.
      columns: for tables, which two columns are the ends, and perhaps a third that is an edge label; numbers
        counted from 0, or names in the first row. The first two columns, or the usual names, if not given.
      edge_label: the column or the attribute of edges that is their label.
      node_label: the attribute of nodes that is their label.
      node_labels: a file with rows ``node label`` for all nodes; its text is in ``encoding``, or in UTF-8.
      weight: the column or the attribute of edges that is their weight, positive numbers. Weights of repeated rows are
        summed, which a note says, and the sums are ``attributes.edges`` of the result under the name of the column.
        Sums of whole numbers are exact; beyond 64 bits they are objects.
      min_weight: leave out edges that weigh less, after summing; their nodes stay, unless ``isolated="drop"``.
      text_ids: take ids of tables as text even where they are numbers.
      encoding: the encoding of a text file. By default it is UTF-8, or UTF-16 with its mark; what is neither is read as
        Windows' cp1252, with a note.
      label_ids: take labels as text and number them through this dict, which grows; pass one dict to all files
        whose labels are to agree.
      attributes: keep all attributes of nodes and edges (of a table: all its columns) as ``attributes`` of the result,
        for queries to ask about.
      self_loops, duplicates, reverse: as in :meth:`Graph.from_edges`.
      isolated: ``"keep"``, for an edge list of integers, keeps all ids from 0 to the largest one; ``"drop"`` drops
        nodes without an edge; with ``None`` the graph has the nodes that the table of formats says.
      pad, device: as in :meth:`Graph.from_edges`.

    Returns:
      The graph; its ``report`` says what was left out.

    Raises:
      GraphFileError: (a ValueError) the file is not what its format says; names the line where it goes wrong.
      ValueError: an option is not one of its choices.
      OSError: the file cannot be opened.
      ImportError: a library that reads this format is missing; the error names the extra that installs it.

    Example:
      >>> import tempfile, os
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     path = os.path.join(folder, "proteins.csv")
      ...     with open(path, "w") as file:
      ...         _ = file.write("source,target,score\nTP53,MDM2,0.9\nMDM2,MDM4,0.8\n")
      ...     graph = read_graph(path)
      >>> int(graph.num_edges), graph.node_names.tolist()
      (2, ['MDM2', 'MDM4', 'TP53'])
      >>> graph.report.notes[0]
      "passed over: column 'score'; edge_label= makes one the edges' label"
    """
    if directed is not None:
        check_switch(directed, "directed")
    if min_weight is not None and weight is None:
        raise ValueError("min_weight is for weights: name their column with weight=")
    if min_weight is not None and np.isnan(min_weight):
        raise ValueError(f"min_weight must be a number, got {min_weight}")
    keep_columns = attributes or weight is not None
    _check_options(format, columns, edge_label, label_ids)
    shared = None if label_ids is None else Labels(label_ids)
    options = Options(columns, edge_label, node_label, text_ids, keep_columns, shared)
    if isolated not in (None, "keep", "drop"):
        raise ValueError(f"isolated must be None, 'keep' or 'drop', got {isolated!r}")
    with TextFile(path, encoding) as file:
        contents = read_contents(file, format, options)
    _check_used(file.path, contents, options)
    declared = contents.num_nodes
    contents, names, ids = _choose_nodes(file.path, contents, isolated)
    notes = [*file.notes, *contents.notes]
    if contents.directed is None and directed is None:
        notes.append("read as undirected: the file does not say; directed=True takes rows as arcs")
    edges, labels, edge_labels = contents.edges, contents.node_labels, contents.edge_labels
    rows = np.arange(len(edges))
    directed = bool(contents.directed if directed is None else directed)
    if directed and (contents.directed is False or contents.undirected is not None):
        both_ways = edges[:, 0] != edges[:, 1]
        back = np.flatnonzero(both_ways if contents.undirected is None else both_ways & contents.undirected)
        rows = np.append(rows, back)
        edges = np.concatenate([edges, edges[back][:, ::-1]])
    sums, num_rows = None, len(edges)
    if weight is not None:
        weight, weights = weight_column(file.path, contents, weight)
        enough, sums, weight_notes = sum_weights(weights[rows], edges, directed, min_weight)
        notes += weight_notes
        edges, rows = edges[enough], rows[enough]
    if edge_labels is not None:
        edge_labels = edge_labels._replace(values=edge_labels.values[rows])
    if node_labels is not None:
        labels = _labels_from(node_labels, encoding, ids if names is None else names, options, notes)
    for note in notes:
        _logger.info("%s: %s", file.path, note)
    _logger.info("%s: read as %s", file.path, contents.format)
    try:
        graph = Graph.from_edges(
            edges,
            contents.num_nodes,
            directed,
            labels and labels.values,
            edge_labels and edge_labels.values,
            self_loops=self_loops,
            duplicates=duplicates,
            reverse=reverse,
            isolated=isolated or "keep",
            node_names=names,
            pad=pad,
            device=device,
        )
    except LabelConflict as error:
        raise _conflict(error, file.path, edges, names, edge_labels, directed) from error
    except ValueError as error:
        raise _placed(error, file.path) from error
    report = graph.report
    if report is not None:
        isolated_nodes = report.isolated + (0 if declared is None else declared - len(ids))
        report = dataclasses.replace(report, format=contents.format, notes=tuple(notes), isolated=isolated_nodes)
        if sums is not None:  # repeated rows are in the sums, and not left out
            report = dataclasses.replace(report, duplicates=0, reverse_duplicates=0, rows=num_rows)
    graph = graph._with_host_fields(
        report, graph.node_names, labels and labels.names, edge_labels and edge_labels.names
    )
    if not keep_columns:
        return graph
    beside = _attributes(graph, contents, ids, edges, rows) if attributes else Attributes()
    if sums is not None:
        sums = sums if beside.rows is None else sums[beside.rows]
        beside = dataclasses.replace(beside, edges={**beside.edges, weight: sums})
    return graph._with_attributes(beside)


def _attributes(graph: Graph, contents: Contents, ids: np.ndarray, edges: np.ndarray, rows: np.ndarray) -> Attributes:
    """Return the columns of a file as attributes of its graph.

    Args:
      graph: the graph.
      contents: the contents of the file.
      ids: int64 ``[n]``, the ids that the nodes have in the file.
      edges: int64 ``[R, 2]``, the rows that the graph was made of.
      rows: int64 ``[R]``, which row of the file each of them is.
    """
    if graph.n < len(ids):  # since nodes of self loops alone are left out
        loops = edges[:, 0] == edges[:, 1]
        kept = np.unique(edges[~loops])
        edges = np.where(loops[:, None], 0, np.searchsorted(kept, edges))
        ids = ids[kept]
    of_nodes = {name: from_words(values)[ids] for name, values in (contents.node_columns or {}).items()}
    of_edges = {name: from_words(values)[rows] for name, values in (contents.edge_columns or {}).items()}
    return Attributes.of_rows(graph, of_nodes, of_edges, edges)


def _choose_nodes(
    path: str, contents: Contents, isolated: str | None
) -> tuple[Contents, np.ndarray | None, np.ndarray]:
    """Return the nodes that a file declares, or those that occur in its edges.

    Returns:
      The contents with the edges, number and labels of these nodes; their names ``[n]``, or ``None``; and int64
      ``[n]``, their ids in the file.
    """
    edges, n, names, labels = contents.edges, contents.num_nodes, contents.names, contents.node_labels
    highest = int(edges.max(initial=-1))
    if isolated == "drop" or (n is None and isolated is None):
        edges, ids = renumber(edges, highest + 1)
        labels = None if labels is None else labels._replace(values=labels.values[ids])
    else:
        n = highest + 1 if n is None else n
        meant = isolated == "keep" and contents.num_nodes is not None
        if n > INT32_MAX or (not meant and n > _FREE_NODES + _NODES_PER_ROW * len(edges)):
            limit = INT32_MAX if n > INT32_MAX else f"{_FREE_NODES} and {_NODES_PER_ROW} for each of {len(edges)} edges"
            raise GraphFileError(
                f'{path}: {n} nodes are over the limit of {limit}; isolated="drop" leaves out those without an edge',
                path,
            )
        ids = np.arange(n)
    if names is not None:
        names = names(ids) if callable(names) else names[ids]
    elif len(ids) and ids[-1] != len(ids) - 1:
        names = ids
    return contents._replace(edges=edges, num_nodes=len(ids), node_labels=labels), names, ids


def open_about_nodes(path: str | os.PathLike[str], encoding: str | None) -> TextFile:
    """Open a text file about the nodes of a graph, in the encoding of the graph's file or else in UTF-8."""
    try:
        return TextFile(path, encoding)
    except GraphFileError:
        return TextFile(path, "utf-8")


def _labels_from(
    path: str | os.PathLike[str], encoding: str | None, names: np.ndarray, options: Options, notes: list[str]
) -> LabelColumn:
    """Read the labels of the nodes that are called by these names from a file.

    Every node must have a label. The rows are ``node label``, between blanks, commas, semicolons or tabs.
    """
    numbers = {str(name): number for number, name in enumerate(names.tolist())}
    words: list[str | None] = [None] * len(names)
    others = 0
    with open_about_nodes(path, encoding) as file:
        rows = file.first_rows(1)
        delimiter = delimiter_of(rows[0]) if rows else b""
        for line, text in file.lines():
            fields = [field.decode() for field in fields_of(text, delimiter)]
            if len(fields) != 2 or not all(fields):
                raise file.error("expected a node and its label", line, text)
            number = numbers.get(fields[0])
            if number is None:
                others += 1
            elif words[number] not in (None, fields[1]):
                raise file.error(f"node {fields[0]!r} has another label, {words[number]!r}, above", line, text)
            else:
                words[number] = fields[1]
        known = [word for word in words if word is not None]
        if len(known) < len(words):
            missing = str(names[words.index(None)])
            raise file.error(f"{counted(len(words) - len(known), 'node')} without a label here, first {missing[:30]!r}")
        if others:
            notes.append(f"{file.path}: {others} rows for nodes that are not in the graph (or a header)")
    return options.labels().of(known)


def _conflict(
    error: LabelConflict,
    path: str,
    edges: np.ndarray,
    names: np.ndarray | None,
    labels: LabelColumn | None,
    directed: bool,
) -> ValueError:
    """Return the error of two rows that give one edge two labels, by the names and words of the file."""
    first, second = ([node if names is None else names[node] for node in edges[row].tolist()] for row in error.rows)
    values = error.labels if labels is None or labels.names is None else [labels.names[x] for x in error.labels]
    remedy = "keep one of them"
    if not directed and first == second[::-1]:
        remedy = "these are arcs of two directions: directed=True keeps both"
    shown = f"{first[0]} and {first[1]} are joined twice, with the labels {values[0]!r} and {values[1]!r}"
    return GraphFileError(f"{path}: {shown}; {remedy}", path)


def _placed(error: ValueError, path: str) -> ValueError:
    """Turn an error of building a graph into an error of the file, if it is about its rows."""
    if "edges[" not in str(error):
        return error
    places = "edges[i] is row i of the file, from 0, between node numbers from 0"
    return GraphFileError(f"{path}: {error} ({places})", path)


def _check_options(format: str, columns: Any, edge_label: object, label_ids: object) -> None:
    """Check the options of :func:`read_graph` that users mistake."""
    if format not in ("auto", *READABLE):
        raise ValueError(f"format must be auto, {', '.join(READABLE)}; got {format!r}")
    if columns is not None:
        if isinstance(columns, str) or len(columns) not in (2, 3) or not all(map(_is_column, columns)):
            raise ValueError(f"columns must be two or three column numbers or names, got {columns!r}")
        if any(isinstance(column, int) and column < 0 for column in columns):
            raise ValueError(f"columns are counted from 0, got {columns!r}")
    if edge_label is not None and (not _is_column(edge_label) or (isinstance(edge_label, int) and edge_label < 0)):
        raise ValueError(f"edge_label must be a column counted from 0, or a name, got {edge_label!r}")
    if edge_label is not None and columns is not None and len(columns) == 3 and columns[2] != edge_label:
        raise ValueError(f"columns={columns!r} and edge_label={edge_label!r} name two columns of labels; give one")
    if label_ids is not None and not isinstance(label_ids, dict):
        raise TypeError(f"label_ids must be a dict from label to number, got {label_ids!r}")


def _is_column(column: object) -> bool:
    return isinstance(column, int | str) and not isinstance(column, bool)


def _check_used(path: str, contents: Contents, options: Options) -> None:
    """Refuse options that say nothing about a file of this format, rather than pass them over."""
    given = {
        "edge_label": (options.edge_label, contents.edge_labels),
        "node_label": (options.node_label, contents.node_labels),
    }
    for name, (wanted, labels) in given.items():
        if wanted is not None and labels is None and len(contents.edges):
            raise UnusedOption(name, f"is for attributes, and {path}, read as {contents.format}, has none to choose")
