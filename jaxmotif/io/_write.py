"""Writing graphs to files that other programs open. networkx writes the markup formats, such as GraphML."""

from __future__ import annotations

import csv
import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._convert import edge_rows
from jaxmotif.graph._saved import written_whole
from jaxmotif.io._text import COMMENTS

if TYPE_CHECKING:
    import networkx

_logger = logging.getLogger("jaxmotif")

_COMMENTS = tuple(mark.decode() for mark in COMMENTS)
"""Marks at the beginning of a line by which :func:`read_graph` takes it for a comment."""


def _library() -> Any:
    return load_extra("networkx", "this format is written by")


def _table(separator: str) -> Callable[[Graph, Path], None]:
    """Return a function that writes a row an edge: source, target, label and attributes."""

    def write(graph: Graph, path: Path) -> None:
        names = graph._names.tolist()
        ends, columns = edge_rows(graph)
        # A row that begins with the mark of a comment would be skipped when the table is read, so names are quoted.
        marked = any(str(name).lstrip().startswith(_COMMENTS) for name in names)
        if 0 in np.bincount(graph.edge_list().ravel(), minlength=graph.n):
            _logger.info("nodes without an edge are not in a table of edges; GraphML keeps them")
        with open(path, "w", encoding="utf-8", newline="") as file:
            quoting = csv.QUOTE_NONNUMERIC if marked else csv.QUOTE_MINIMAL
            writer = csv.writer(file, delimiter=separator, lineterminator="\n", quoting=quoting)
            writer.writerow(["source", "target", *columns])
            for row, (u, v) in enumerate(ends):
                writer.writerow([names[u], names[v], *(column[row] for column in columns.values())])

    return write


def _write_sif(graph: Graph, path: Path) -> None:
    """Write ``source relation target`` between tabs; the relation is the label, else ``pd`` of arcs and ``pp``."""
    names = graph._names.tolist()
    for name in map(str, names):
        if name.startswith(_COMMENTS) or name != name.strip() or any(mark in name for mark in "\t\r\n"):
            raise ValueError(f"SIF cannot hold the name {name[:30]!r}; GraphML can, and so can a table (csv)")
    ends, columns = edge_rows(graph)
    relations = columns.get("label", ["pd" if graph.directed else "pp"] * len(ends))
    edges = zip(ends, relations, strict=True)
    lines = list(dict.fromkeys(f"{names[u]}\t{relation}\t{names[v]}\n" for (u, v), relation in edges))
    alone = np.flatnonzero(np.bincount(graph.edge_list().ravel(), minlength=graph.n) == 0)
    path.write_text("".join(lines + [f"{names[node]}\n" for node in alone.tolist()]), encoding="utf-8")


def _as_networkx(graph: Graph, titles: tuple[str, ...]) -> networkx.Graph:
    """Return the graph as networkx's.

    Args:
      graph: the graph.
      titles: names of attributes in which the format keeps the names of nodes. Attributes of the graph with these
        names are renamed, or they would overwrite the names of the nodes.
    """
    made = graph.to_networkx()
    for title in titles:
        named = [data for _, data in made.nodes(data=True) if title in data]
        for data in named:
            data[f"node_{title}"] = data.pop(title)
        if named:
            _logger.info("the attribute %r of nodes is written as node_%s: nodes are called by it there", title, title)
    return made


def _markup(name: str, *titles: str, **options: Any) -> Callable[[Graph, Path], None]:
    return lambda graph, path: getattr(_library(), f"write_{name}")(_as_networkx(graph, titles), path, **options)


def _json(name: str, **options: Any) -> Callable[[Graph, Path], None]:
    """Return a function that writes what a function of networkx makes of the graph, as JSON."""

    def write(graph: Graph, path: Path) -> None:
        made = getattr(_library(), name)(_as_networkx(graph, ("label", "name")), **options)
        try:
            text = json.dumps(made, ensure_ascii=False, allow_nan=False)
        except ValueError:
            raise ValueError("JSON has no infinite numbers, which an attribute has; GraphML has") from None
        path.write_text(text, encoding="utf-8")

    return write


WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    "csv": _table(","),
    "tsv": _table("\t"),
    "sif": _write_sif,
    "graphml": _markup("graphml"),
    "gexf": _markup("gexf", "label"),
    "gml": _markup("gml", "label", stringizer=str),
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
