"""Writing graphs to files that other programs open; markup is networkx's."""

from __future__ import annotations

import csv
import json
import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._saved import written_whole

if TYPE_CHECKING:
    import networkx

_logger = logging.getLogger("jaxmotif")


def _library() -> Any:
    return load_extra("networkx", "this format is written by")


def _table(separator: str) -> Callable[[Graph, Path], None]:
    """Return a function that writes a row an edge: source, target, label and attributes."""

    def write(graph: Graph, path: Path) -> None:
        names = graph._names.tolist()
        columns = _edge_columns(graph)
        if 0 in np.bincount(graph.edge_list().ravel(), minlength=graph.n):
            _logger.info("nodes without an edge are not in a table of edges; GraphML keeps them")
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=separator, lineterminator="\n")
            writer.writerow(["source", "target", *columns])
            for row, (u, v) in enumerate(graph.edge_list().tolist()):
                writer.writerow([names[u], names[v], *(column[row] for column in columns.values())])

    return write


def _write_sif(graph: Graph, path: Path) -> None:
    """Write ``source relation target`` between tabs; the relation is the label, else ``pd`` of arcs and ``pp``."""
    names, relations = graph._names.tolist(), _edge_columns(graph).get("label")
    lines = [
        f"{names[u]}\t{('pd' if graph.directed else 'pp') if relations is None else relations[row]}\t{names[v]}\n"
        for row, (u, v) in enumerate(graph.edge_list().tolist())
    ]
    alone = np.flatnonzero(np.bincount(graph.edge_list().ravel(), minlength=graph.n) == 0)
    path.write_text("".join(lines + [f"{names[node]}\n" for node in alone.tolist()]), encoding="utf-8")


def _edge_columns(graph: Graph) -> dict[str, list[Any]]:
    """Return the labels and attributes of the edges, by the name of the column."""
    found = {}
    if graph.edge_labels is not None:
        words, labels = graph.edge_label_names or {}, np.asarray(graph.edge_labels)[graph.edge_slots()].tolist()
        found["label"] = [words.get(label, label) for label in labels]
    if graph.attributes is not None and graph.attributes.rows is None:
        found |= {name: column.tolist() for name, column in graph.attributes.edges.items()}
    return found


def _with_attributes(graph: Graph) -> networkx.Graph:
    """Return the graph as networkx's, with all attributes but the missing values."""
    made, names = graph.to_networkx(), graph._names.tolist()
    ends = [(names[u], names[v]) for u, v in graph.edge_list().tolist()]
    of_nodes = {} if graph.attributes is None else graph.attributes.nodes
    for name, column in of_nodes.items():
        _library().set_node_attributes(made, _present(names, column.tolist()), name)
    for name, column in _edge_columns(graph).items():
        _library().set_edge_attributes(made, _present(ends, column), name)
    return made


def _present(items: Sequence[Any], values: Sequence[Any]) -> dict[Any, Any]:
    """Return the value of each item that has one; not-a-number, which is not equal to itself, is none."""
    pairs = zip(items, values, strict=True)
    return {item: value for item, value in pairs if value is not None and value == value}


def _markup(name: str, **options: Any) -> Callable[[Graph, Path], None]:
    return lambda graph, path: getattr(_library(), f"write_{name}")(_with_attributes(graph), path, **options)


def _json(name: str, **options: Any) -> Callable[[Graph, Path], None]:
    """Return a function that writes what a function of networkx makes of the graph, as JSON."""

    def write(graph: Graph, path: Path) -> None:
        made = getattr(_library(), name)(_with_attributes(graph), **options)
        path.write_text(json.dumps(made, ensure_ascii=False), encoding="utf-8")

    return write


WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    "csv": _table(","),
    "tsv": _table("\t"),
    "sif": _write_sif,
    "graphml": _markup("graphml"),
    "gexf": _markup("gexf"),
    "gml": _markup("gml", stringizer=str),
    "cyjs": _json("cytoscape_data"),
    "json": _json("node_link_data", edges="links"),
    "npz": lambda graph, path: graph.with_attributes().save(path),
}
"""Formats that are written, by the ending of the file's name."""


def write_graph(graph: GraphLike, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a graph to a file, whole or not at all.

    Names of nodes, directions and labels are kept, and attributes by all formats but ``sif`` and ``npz``.
    :func:`read_graph` reads each of these files, Cytoscape all but ``npz``, Gephi GraphML and GEXF.

    Args:
      graph: any graph, or what :func:`jaxmotif.graph.as_graph` takes for one.
      path: the file; one that is there is replaced.
      format: ``"csv"``, ``"tsv"``, ``"sif"``, ``"graphml"``, ``"gexf"``, ``"gml"``, ``"cyjs"``, ``"json"`` or
        ``"npz"`` (default: the ending of the name).

    Raises:
      ValueError: no such format, or one that cannot hold the graph.
      ImportError: networkx is missing, which writes the markup.
      OSError: the file cannot be written.

    Example:
      >>> import tempfile, os
      >>> with tempfile.TemporaryDirectory() as folder:
      ...     path = os.path.join(folder, "loop.sif")
      ...     write_graph(Graph.from_edges([(0, 1), (0, 2), (1, 2)], node_names=["X", "Y", "Z"], directed=True), path)
      ...     print(Path(path).read_text().split())
      ['X', 'pd', 'Y', 'X', 'pd', 'Z', 'Y', 'pd', 'Z']
    """
    path = Path(path)
    write = writer_of(path, format)
    with written_whole(path) as partial:
        write(as_graph(graph), partial)


def writer_of(path: Path, format: str | None = None) -> Callable[[Graph, Path], None]:
    """Return the function that writes a format, by default that of the ending of a file's name.

    Raises:
      ValueError: no such format.
    """
    name = (format or path.suffix.removeprefix(".")).lower()
    if name not in WRITERS:
        raise ValueError(f"{path}: graphs are written as {', '.join(WRITERS)}, by the ending of the name; got {name!r}")
    return WRITERS[name]
