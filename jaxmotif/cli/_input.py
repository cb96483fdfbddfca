"""Reading of graph files: the options that say how, and the loader that all commands share.

Every command takes the same options with the same meaning. A file that says whether it is directed is read in this way,
and a file that says nothing is undirected. ``--directed`` and ``--undirected`` overrule both.
"""

from __future__ import annotations

import argparse
import logging
import os
from collections.abc import Container, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.io._text import TextFile

logger = logging.getLogger("jaxmotif")


class _FormatNames:
    """The names of formats, which are looked up only when they are needed."""

    def __iter__(self) -> Iterator[str]:
        from jaxmotif.io._registry import READABLE

        return iter(("auto", *READABLE))

    def __contains__(self, name: object) -> bool:
        return name in tuple(self)


def add_input_options(parser: argparse.ArgumentParser, positional: bool = True) -> None:
    """Add the options of all commands that read graphs, and if ``positional`` the graph itself, as ``args.graph``."""
    if positional:
        parser.add_argument(
            "graph",
            metavar="FILE|DATASET",
            help="a graph file, plain or .gz (-: standard input), or a bundled network",
        )
    group = parser.add_argument_group("reading files")
    group.add_argument(
        "--input-format",
        choices=_FormatNames(),
        default="auto",
        metavar="NAME",
        help="%(choices)s (default: %(default)s, by looking)",
    )
    direction = group.add_mutually_exclusive_group()
    direction.add_argument("--directed", action="store_const", const=True, dest="directed", help="rows are arcs")
    direction.add_argument(
        "--undirected",
        action="store_const",
        const=False,
        dest="directed",
        help="rows are edges (default: what the file says, undirected if it says nothing)",
    )
    group.add_argument(
        "--columns",
        type=columns,
        metavar="SOURCE,TARGET[,LABEL]",
        help="which columns of a table of edges are the ends and perhaps an edge label: names of a header row, or "
        "numbers counted from 0",
    )
    group.add_argument(
        "--edge-label", type=column, metavar="COLUMN", help="the column or the attribute of edges that is their label"
    )
    group.add_argument(
        "--weight",
        type=column,
        metavar="COLUMN",
        help="the column or the attribute of edges that is their weight; repeated rows are summed",
    )
    group.add_argument(
        "--min-weight", type=float, metavar="W", help="leave out edges of less weight, after rows are summed"
    )
    group.add_argument("--node-label", metavar="NAME", help="the attribute of nodes that is their label")
    group.add_argument("--node-labels", type=Path, metavar="FILE", help="rows `node label` for all nodes of the graph")
    group.add_argument("--text-ids", action="store_true", help="take ids of a table as text, also numbers")
    group.add_argument(
        "--encoding", metavar="NAME", help="the encoding of the text, such as latin-1 or shift-jis (default: UTF-8)"
    )
    group.add_argument(
        "--isolated",
        choices=("keep", "drop"),
        help="keep all ids from 0 to the largest, or drop nodes without an edge (default: as the file declares)",
    )


def columns(text: str) -> tuple[int | str, ...]:
    """Parse columns such as ``source,target`` or ``0,2``.

    Example:
      >>> columns("pre,post,kind"), columns("0,2")
      (('pre', 'post', 'kind'), (0, 2))
    """
    chosen = tuple(column(name) for name in text.split(","))
    if len(chosen) not in (2, 3) or "" in chosen:
        raise argparse.ArgumentTypeError(f"{text!r} is not two or three columns such as source,target or 0,1")
    return chosen


def column(text: str) -> int | str:
    """Parse the number of a column, counted from 0, or its name."""
    return int(text) if text.isdecimal() and len(text) < 10 else text


def network_name(path: str) -> str:
    """Return the name of a network, which is its file's name without endings.

    Example:
      >>> network_name("data/yeast.edges.gz"), network_name("celegans")
      ('yeast', 'celegans')
    """
    name = Path(path).name
    return name.split(".")[0] or name


def load_graph(
    args: argparse.Namespace,
    path: str | os.PathLike[str] | None = None,
    *,
    label_ids: dict[str, int] | None = None,
    attributes: bool = False,
) -> Graph:
    """Read a file or a bundled network as the options of :func:`add_input_options` say, and log what was read.

    Args:
      args: The options.
      path: The file to read, ``args.graph`` by default. For another file, the options of columns and labels count if
        its format has columns or labels, and ``--node-labels`` does not count.
      label_ids: The numbers of text labels, to which new labels are added. Files that share this dict agree in their
        labels.
      attributes: Whether to keep all attributes, so that queries can ask about them.
    """
    from jaxmotif.datasets import resolve
    from jaxmotif.io import read_graph
    from jaxmotif.io._registry import UnusedOption

    chosen = {name: getattr(args, name) for name in ("columns", "edge_label", "node_label", "text_ids")}
    options: dict[str, Any] = {
        "directed": args.directed,
        "format": args.input_format,
        "isolated": args.isolated,
        "encoding": args.encoding,
        "label_ids": label_ids,
        "attributes": attributes,
        # Padded sizes let compiled programs serve all graphs of about this size. A limit of memory asks for no padding.
        "pad": None if getattr(args, "memory", None) else "bucket",
    }
    if path is None:
        source = Path("/dev/stdin") if args.graph == "-" else resolve(args.graph)
        of_edges = {"weight": args.weight, "min_weight": args.min_weight}
        graph = read_graph(source, node_labels=args.node_labels, **of_edges, **chosen, **options)
    else:
        try:
            graph = read_graph(resolve(path), **chosen, **options)
        except UnusedOption:
            graph = read_graph(resolve(path), **options)
    logger.info("%s, %s", graph.report, "directed" if graph.directed else "undirected")
    return graph


def node_rows(file: TextFile, known: Container[str]) -> Iterator[tuple[int, str, list[str], str]]:
    """Yield the lines of a text file about nodes, except blank lines and comments after ``#``.

    Fields are separated by tabs, blanks, commas or semicolons, whichever of these is the first that leaves the name of
    a node before it. Names that contain a separator may be quoted.

    Args:
      file: The file.
      known: The names of nodes.

    Yields:
      The number of the line, its text, its fields, and their separator.
    """
    from jaxmotif.io._text import fields_of

    for first, block in file.blocks():
        for line, text in enumerate(block.split(b"\n"), first):
            if not text.strip() or text.lstrip().startswith(b"#"):
                continue
            split = {mark: [field.decode() for field in fields_of(text.strip(), mark.encode())] for mark in "\t ,;"}
            split[" "] = [field for field in split[" "] if field]
            fitting = [mark for mark, fields in split.items() if len(fields) > 1] or [" "]
            mark = next((mark for mark in fitting if split[mark][0] in known), fitting[0])
            yield line, text.decode(), split[mark], mark
