"""Writing graphs to files that other programs open. networkx writes the markup formats, such as GraphML."""

from __future__ import annotations

import csv
import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._convert import GraphColumns, columns_of, rename_columns, to_networkx
from jaxmotif.graph._saved import written_whole
from jaxmotif.io._edge_list import missing_words
from jaxmotif.io._format import is_undirected
from jaxmotif.io._text import COMMENTS

if TYPE_CHECKING:
    import networkx

_logger = logging.getLogger("jaxmotif")

_COMMENTS = tuple(mark.decode() for mark in COMMENTS)
"""Marks at the beginning of a line by which :func:`read_graph` takes it for a comment."""

_SCALARS = (type(None), bool, int, float, str)
"""The types of values that every format can hold."""


class _Limits(NamedTuple):
    """Limits of what a format can hold.

    Attributes:
      title: its name in messages.
      names: a pattern that is found in names of nodes that it cannot hold.
      titles: likewise for the names of attributes.
      texts: likewise for labels, and for text in attributes.
      node_keys: names that networkx or :func:`read_graph` takes for something else than attributes of nodes, which
        are renamed; ``None`` if nodes have no attributes there.
      edge_keys: likewise for edges.
      holds: tells whether it can hold a value that is no text, number or truth value.
    """

    title: str
    names: str
    titles: str
    texts: str
    node_keys: Sequence[str] | None = None
    edge_keys: Sequence[str] = ()
    holds: Callable[[object], bool] = lambda value: False


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True


# What formats cannot hold. A reader of tables takes away blanks at the ends of fields.
_NOTHING = "(?!)"
_LINE_ENDS = "[\0\r\n\ud800-\udfff]"
_NO_FIELD = rf"{_LINE_ENDS}|^$|^\s|\s$"
_NO_TITLE = rf"{_LINE_ENDS}|^\s|\s$|\t|^[,;]|[,;]$"  # in the first row, which shows what separates fields
_CONTROLS = "[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]"
_GEXF_NODE = ("id", "label", "key", "parents", "spells", "viz")
_GEXF_EDGE = ("id", "type", "key", "networkx_key", "spells", "viz")
_JSON_NODE = ("id", "name", "label", "shared_name", "SUID")
_JSON_EDGE = ("source", "target", "id", "key", "SUID")
_LIMITS = {
    "csv": _Limits("CSV", _NO_FIELD, _NO_TITLE, _LINE_ENDS, holds=lambda value: True),
    "tsv": _Limits("TSV", _NO_FIELD, _NO_TITLE, _LINE_ENDS, holds=lambda value: True),
    "sif": _Limits("SIF", rf'{_NO_FIELD}|\t|^[#%"\ufeff]', _NOTHING, rf'{_NO_FIELD}|\t|^"'),
    "graphml": _Limits("GraphML", _CONTROLS, _CONTROLS, rf"{_CONTROLS}|\r", ()),
    "gexf": _Limits("GEXF", _CONTROLS, _CONTROLS, _CONTROLS, _GEXF_NODE, _GEXF_EDGE),
    "gml": _Limits(
        "GML", f"{_CONTROLS}|^$", "^$|^[^A-Za-z]|[^0-9A-Za-z_]", _CONTROLS, ("id", "label"), ("source", "target", "key")
    ),
    "cyjs": _Limits("Cytoscape's JSON", _NOTHING, _NOTHING, _NOTHING, (*_JSON_NODE, "value"), _JSON_EDGE, _is_json),
    "json": _Limits("JSON", _NOTHING, _NOTHING, _NOTHING, _JSON_NODE, _JSON_EDGE, _is_json),
}
"""The limits of each format, by the ending of the file's name."""


def _library() -> Any:
    return load_extra("networkx", "this format is written by")


def _check_texts(title: str, what: str, texts: Iterable[str], pattern: str) -> None:
    """Raise ValueError if a pattern of what a format cannot hold is found in one of some texts."""
    for text in texts:
        if wrong := re.search(pattern, text):
            raise ValueError(
                f"{title} cannot hold the {what} {text[:30]!r} (because of {wrong[0]!r} at place {wrong.start()}); "
                "GraphML can hold all text but control characters, and JSON any text"
            )


def _columns_for(format: str, graph: Graph) -> GraphColumns:
    """Return the columns of a graph as a format can hold them, with names that are text or integers.

    Raises:
      ValueError: it cannot hold a name or a value, or two nodes have one name.
    """
    limits = _LIMITS[format]
    columns = columns_of(graph)
    names = [name if type(name) is int else str(name) for name in columns.names]
    if len(set(map(str, names))) < len(names):
        raise ValueError("several nodes have one name, by which files tell nodes apart; give others as node_names")
    _check_texts(limits.title, "name", map(str, names), limits.names)
    keys = limits.node_keys
    if keys is not None and columns.nodes.get("name") == names:  # then it may be taken for the names of the nodes
        keys = [key for key in keys if key != "name"]
    nodes = {} if keys is None else rename_columns(columns.nodes, keys, "node")
    edges = rename_columns(columns.edges, limits.edge_keys, "edge")
    for kind, named in (("node", nodes), ("edge", edges)):
        _check_texts(limits.title, f"{kind} attribute", named, limits.titles)
        for name, values in named.items():
            texts = {value for value in values if type(value) is str}
            _check_texts(limits.title, f"{kind} attribute {name!r} with the value", texts, limits.texts)
            others = (
                type(value).__name__ for value in values if type(value) not in _SCALARS and not limits.holds(value)
            )
            if (other := next(others, None)) is not None:
                raise ValueError(
                    f"{limits.title} cannot hold the {kind} attribute {name!r}, in which a value is of type {other}; "
                    "json and cyjs can hold lists, and csv and tsv any value, as text"
                )
    return GraphColumns(names, nodes, columns.ends, edges)


def _table(format: str, separator: str) -> Callable[[Graph, Path], None]:
    """Return a function that writes a row an edge: source, target, label and attributes."""

    def write(graph: Graph, path: Path) -> None:
        names, _, ends, columns = _columns_for(format, graph)
        for name, values in columns.items():
            missing = missing_words({value for value in values if type(value) is str and value})
            if missing and (name != "label" or graph.edge_labels is None):  # labels may be any words
                raise ValueError(
                    f"{_LIMITS[format].title} cannot hold the edge attribute {name!r} with the value {min(missing)!r}, "
                    "which means a missing one in tables; GraphML and JSON can"
                )
        # A row that begins with the mark of a comment would be skipped when the table is read, so names are quoted.
        marked = any(str(name).startswith(_COMMENTS) for name in names)
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
    names, _, ends, columns = _columns_for("sif", graph.with_attributes())
    if not ends:  # where no line has a tab, words are fields
        _check_texts("SIF without edges", "name", map(str, names), r"\s")
    relations = columns.get("label", ["pd" if graph.directed else "pp"] * len(ends))
    rows = {(*end, relation) for end, relation in zip(ends, relations, strict=True)}
    one_way = [relation for u, v, relation in rows if is_undirected(relation) and (v, u, relation) not in rows]
    if graph.directed and one_way:
        raise ValueError(
            f"SIF cannot hold arcs with the relation {one_way[0]!r}, which means edges without direction; GraphML can"
        )
    lines = [f"{names[u]}\t{relation}\t{names[v]}\n" for (u, v), relation in zip(ends, relations, strict=True)]
    alone = np.flatnonzero(np.bincount(graph.edge_list().ravel(), minlength=graph.n) == 0)
    path.write_text("".join(lines + [f"{names[node]}\n" for node in alone.tolist()]), encoding="utf-8")


def _as_networkx(graph: Graph, format: str) -> networkx.Graph:
    return to_networkx(graph, _columns_for(format, graph))


def _markup(format: str, **options: Any) -> Callable[[Graph, Path], None]:
    return lambda graph, path: getattr(_library(), f"write_{format}")(_as_networkx(graph, format), path, **options)


def _json(format: str, name: str, **options: Any) -> Callable[[Graph, Path], None]:
    """Return a function that writes what a function of networkx makes of the graph, as JSON."""

    def write(graph: Graph, path: Path) -> None:
        made = getattr(_library(), name)(_as_networkx(graph, format), **options)
        try:
            text = json.dumps(made, ensure_ascii=False, allow_nan=False)
        except ValueError:
            raise ValueError("JSON has no infinite numbers, which an attribute has; GraphML has") from None
        path.write_text(text, encoding="utf-8", errors="backslashreplace")  # unpaired surrogates become JSON's escapes

    return write


WRITERS: dict[str, Callable[[Graph, Path], None]] = {
    "csv": _table("csv", ","),
    "tsv": _table("tsv", "\t"),
    "sif": _write_sif,
    "graphml": _markup("graphml"),
    "gexf": _markup("gexf"),
    "gml": _markup("gml", stringizer=str),
    "cyjs": _json("cyjs", "cytoscape_data"),
    "json": _json("json", "node_link_data", edges="links"),
    "npz": lambda graph, path: graph.with_attributes().save(path),
}
"""Formats that are written, by the ending of the file's name."""


def write_graph(graph: GraphLike, path: str | os.PathLike[str], format: str | None = None) -> None:
    """Write a graph to a file, whole or not at all.

    Names of nodes, directions and labels are kept, and attributes by all formats but ``sif`` and ``npz``. An attribute
    whose name means something else in the format is written with ``node_`` or ``edge_`` before its name.
    :func:`read_graph` reads each of these files, Cytoscape all but ``npz``, Gephi GraphML and GEXF.

    Args:
      graph: any graph, or what :func:`jaxmotif.graph.as_graph` takes for one.
      path: the file; one that is there is replaced.
      format: ``"csv"``, ``"tsv"``, ``"sif"``, ``"graphml"``, ``"gexf"``, ``"gml"``, ``"cyjs"``, ``"json"`` or
        ``"npz"`` (default: the ending of the name).

    Raises:
      ValueError: no such format, or one that cannot hold a name or a value of the graph.
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
