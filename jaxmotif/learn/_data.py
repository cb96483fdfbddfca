"""Data sets of graphs, whatever library the graphs come from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from jaxmotif.arrays._private_folder import make_private, why_not_private
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.graph import Graph, Graphs, GraphsLike, as_graphs

DataSet: TypeAlias = GraphsLike | Sequence[Sequence[Any]] | str | os.PathLike[str]


def data_set(graphs: Any, directed: bool = False) -> Graphs:
    """Convert a data set in any of several forms to ``Graphs``.

    Args:
      graphs: ``Graphs``; a sequence whose items :func:`jaxmotif.graph.as_graph` accepts, or are PyTorch Geometric's
        ``Data``, or GraKeL's lists; or the folder of a data set of TUDataset.
      directed: whether edges of arrays and ``Data`` are arcs.

    Raises:
      ValueError: no graphs, one graph in place of many, or labels that only a part of GraKeL's nodes or edges have.
      TypeError: as :func:`jaxmotif.graph.as_graph`.
    """
    if isinstance(graphs, str | os.PathLike):
        graphs = read_tu(graphs, directed)[0]
    if isinstance(graphs, Graph):  # which may be a stack of many
        graphs = as_graphs(graphs) or graphs
    if not isinstance(graphs, Graphs | Sequence | np.ndarray):
        raise TypeError(f"expected a list of graphs, got {type(graphs).__name__}; put one graph in a list")
    if not len(graphs):
        raise ValueError("at least one graph is needed, got none")
    if isinstance(graphs, Graphs):
        return graphs
    graphs = list(graphs)
    if all(hasattr(graph, "edge_index") and hasattr(graph, "num_nodes") for graph in graphs):
        edges = [np.asarray(graph.edge_index).T for graph in graphs]
        return Graphs.from_edges(edges, [graph.num_nodes for graph in graphs], directed)
    if all(isinstance(one, list | tuple) and len(one) in (2, 3) and isinstance(one[1], dict | None) for one in graphs):
        return _from_grakel(graphs, directed)
    found = as_graphs(graphs, directed)
    if found is None:
        raise ValueError("expected a list of graphs, got the edges of one graph; put it in a list")
    return found


def read_tu(folder: str | os.PathLike[str], directed: bool = False) -> tuple[Graphs, np.ndarray]:
    """Read a data set in the format of TUDataset, with its labels of nodes and edges.

    Args:
      folder: a folder with ``NAME_A.txt``, ``NAME_graph_indicator.txt`` and ``NAME_graph_labels.txt``, and perhaps
        ``NAME_node_labels.txt`` and ``NAME_edge_labels.txt``; files of attributes are ignored.
      directed: whether rows of ``NAME_A.txt`` are arcs.

    Returns:
      The graphs, and their classes, int64 ``[graphs]``.

    Raises:
      FileNotFoundError: if these files do not exist.
      ValueError: if the files do not fit each other, or hold anything but whole numbers.

    Example:
      >>> import tempfile
      >>> files = {"A": "1, 2\\n2, 1\\n3, 4\\n", "graph_indicator": "1\\n1\\n2\\n2\\n2\\n", "graph_labels": "1\\n-1\\n"}
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     for name, text in files.items():
      ...         _ = Path(folder, f"PAIRS_{name}.txt").write_text(text)
      ...     graphs, classes = read_tu(folder)
      >>> graphs.n.tolist(), graphs.m.tolist(), classes.tolist()
      ([2, 3], [1, 1], [1, -1])
    """
    found = sorted(Path(folder).glob("*_A.txt"))
    if len(found) != 1:
        raise FileNotFoundError(f"{folder} must have one file NAME_A.txt of a data set, and has {len(found)}")

    def path(what: str) -> Path:
        return found[0].with_name(f"{found[0].name.removesuffix('A.txt')}{what}.txt")

    def read(what: str, columns: int = 1) -> np.ndarray:
        table = np.loadtxt(path(what), np.int64, delimiter=",", ndmin=2)
        if table.size and table.shape[1] != columns:
            raise ValueError(f"{path(what)} has {table.shape[1]} columns, and {columns} are read")
        return table.reshape(-1, columns)

    classes, owner = read("graph_labels")[:, 0], read("graph_indicator")[:, 0]
    if (np.diff(owner, prepend=1, append=len(classes)) < 0).any():
        raise ValueError(f"graph_indicator.txt of {folder} must ascend from 1 to {len(classes)}, the number of graphs")
    labels = (read(what)[:, 0] if path(what).exists() else None for what in ("node_labels", "edge_labels"))
    starts = np.searchsorted(owner, np.arange(len(classes) + 1), side="right")
    return Graphs.from_edge_index(read("A", 2).T - 1, starts, directed, *labels), classes


def file_of_content(folder: str | os.PathLike[str], content: Iterable[Any]) -> Path:
    """Return the path of the file that caches a result which depends on some content alone; it need not exist.

    Args:
      folder: the folder of the cache, made if it is missing.
      content: what :func:`jaxmotif.devices._checkpoint.fingerprint` takes: arrays, numbers, text, ``None``, sequences.

    Raises:
      PermissionError: if others may write to the folder.
    """
    place = Path(folder).expanduser().absolute()
    make_private(place)
    if reason := why_not_private(place):
        raise PermissionError(f"{reason}: what is kept in {place} could be somebody else's")
    return place / f"{fingerprint(*content)}.npy"


def _from_grakel(graphs: list[Sequence[Any]], directed: bool) -> Graphs:
    """Return the graphs of GraKeL's lists, with their labels of nodes and of edges.

    A list has edges, a dictionary of node labels or ``None``, and perhaps one of edge labels. Edges are pairs, tuples
    with a weight, keys of a dictionary, a dictionary of the neighbours of each node, or an adjacency matrix: an array,
    or a list of lists. The label of an undirected edge may stand at either of its two pairs.
    """
    rows, nodes, edges, sizes = [], [], [], []
    for i, (given, *labels) in enumerate(graphs):
        node_labels, edge_labels = [some or {} for some in (*labels, None)][:2]
        given = given.toarray() if hasattr(given, "toarray") else given
        pairs, keys = list(given), []
        # Of lists, a matrix has rows of three and more: two lists of two nodes are edges.
        square = all(isinstance(row, list | np.ndarray) and len(row) == len(pairs) for row in pairs)
        if square and (isinstance(given, np.ndarray) or len(pairs) > 2):
            pairs, keys = np.argwhere(given).tolist(), range(len(given))
        elif isinstance(given, dict) and all(hasattr(near, "__iter__") for near in given.values()):
            pairs, keys = [(u, v) for u, near in given.items() for v in near], pairs
        # As in GraKeL, weights stand in tuples alone: lists of three, and rows of arrays, would be parts of matrices.
        if not all(isinstance(pair, tuple | list) and len(pair) in (2, 2 + isinstance(pair, tuple)) for pair in pairs):
            raise ValueError(f"graphs[{i}]: edges must be pairs of nodes, with a weight or not, or a square array")
        pairs = [(u, v) for u, v, *_ in pairs]
        joined = {*pairs} if directed else {*pairs, *((v, u) for u, v in pairs)}
        if strays := [pair for pair in edge_labels if pair not in joined]:
            raise ValueError(f"graphs[{i}]: {strays[0]!r} has a label and is no edge; leave out labels of other pairs")
        turned = {} if directed else {(v, u): label for (u, v), label in edge_labels.items()}
        if any(turned.get(pair, label) != label for pair, label in edge_labels.items()):
            raise ValueError(f"graphs[{i}]: labels disagree on one edge, which may be given in both directions")
        edge_labels = turned | edge_labels
        names = {u: i for i, u in enumerate(dict.fromkeys([*node_labels, *keys, *(u for pair in pairs for u in pair)]))}
        rows.append(np.array([[names[u], names[v]] for u, v in pairs], np.int64).reshape(-1, 2))
        nodes.append([(u, node_labels.get(u)) for u in names])
        edges.append([((u, v), edge_labels.get((u, v))) for u, v in pairs])
        sizes.append(len(names))
    return Graphs.from_edges(rows, sizes, directed, _all_labels("node", nodes), _all_labels("edge", edges))


def _all_labels(kind: str, graphs: list[list[tuple[Any, Any]]]) -> list[list[Any]] | None:
    """Return the labels of the nodes, or edges (``kind``), of each graph; ``None`` if there are none.

    Args:
      kind: "node" or "edge", for the message.
      graphs: for each graph its nodes, or edges, each with its label or ``None``.

    Raises:
      ValueError: some have labels, and others have not.
    """
    missing = [(i, place) for i, places in enumerate(graphs) for place, label in places if label is None]
    if len(missing) == sum(map(len, graphs)):
        return None
    if missing:
        i, place = missing[0]
        raise ValueError(f"graphs[{i}] has no label of {kind} {place}, and others have; give all a label, or none")
    return [[label for _, label in places] for places in graphs]
