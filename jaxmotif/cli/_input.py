"""How the command reads graph files: the options that say so, and the one loader of all commands.

Every command takes the same options with the same meaning. A file that says whether it is directed is read so; one
that says nothing is undirected; ``--directed`` and ``--undirected`` overrule both.
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
    """The formats there are, looked up only when they are asked for."""

    def __iter__(self) -> Iterator[str]:
        from jaxmotif.io._registry import READABLE

        return iter(("auto", *READABLE))

    def __contains__(self, name: object) -> bool:
        return name in tuple(self)


def add_input_options(parser: argparse.ArgumentParser, positional: bool = True) -> None:
    """The options of all commands that read graphs; ``positional``: and the graph itself, as ``args.graph``."""
    if positional:
        parser.add_argument(
            "graph", metavar="FILE|DATASET",
            help="a graph file, plain or .gz (-: standard input), or a bundled network",
        )  # fmt: skip
    group = parser.add_argument_group("reading files")
    group.add_argument(
        "--input-format", choices=_FormatNames(), default="auto", metavar="NAME",
        help="%(choices)s (default: %(default)s, by looking)",
    )  # fmt: skip
    direction = group.add_mutually_exclusive_group()
    direction.add_argument("--directed", action="store_const", const=True, dest="directed", help="rows are arcs")
    direction.add_argument(
        "--undirected", action="store_const", const=False, dest="directed",
        help="rows are edges (default: what the file says, undirected if it says nothing)",
    )  # fmt: skip
    group.add_argument(
        "--columns", type=columns, metavar="SOURCE,TARGET[,LABEL]",
        help="which columns of a table of edges are the ends and perhaps an edge label: names of a header row, or "
        "numbers counted from 0",
    )  # fmt: skip
    group.add_argument(
        "--edge-label", type=column, metavar="COLUMN", help="the column or the attribute of edges that is their label"
    )
    group.add_argument("--node-label", metavar="NAME", help="the attribute of nodes that is their label")
    group.add_argument("--node-labels", type=Path, metavar="FILE", help="rows `node label` for all nodes of the graph")
    group.add_argument("--text-ids", action="store_true", help="take ids of a table as text, also numbers")
    group.add_argument(
        "--isolated", choices=("keep", "drop"),
        help="keep all ids from 0 to the largest, or drop nodes without an edge (default: as the file declares)",
    )  # fmt: skip


def columns(text: str) -> tuple[int | str, ...]:
    """Columns from ``source,target`` or ``0,2``.

    Example:
      >>> columns("pre,post,kind"), columns("0,2")
      (('pre', 'post', 'kind'), (0, 2))
    """
    chosen = tuple(column(name) for name in text.split(","))
    if len(chosen) not in (2, 3) or "" in chosen:
        raise argparse.ArgumentTypeError(f"{text!r} is not two or three columns such as source,target or 0,1")
    return chosen


def column(text: str) -> int | str:
    """A column's number, counted from 0, or its name."""
    return int(text) if text.isdecimal() and len(text) < 10 else text


def network_name(path: str) -> str:
    """What a network is called: its file's name without endings.

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
    """Reads a file or bundled network as the options of :func:`add_input_options` say, and logs what was read.

    Args:
      args: the parsed options.
      path: what to read; ``args.graph`` if not given. Of another file than that, columns and labels are chosen as
        there if its format has any, and ``--node-labels`` says nothing.
      label_ids: numbers of text labels, which grow; one dict for all files whose labels are to agree.
      attributes: keep all attributes, for queries to ask about.
    """
    from jaxmotif.datasets import resolve
    from jaxmotif.io import read_graph
    from jaxmotif.io._registry import UnusedOption

    chosen = {name: getattr(args, name) for name in ("columns", "edge_label", "node_label", "text_ids")}
    options: dict[str, Any] = {
        "directed": args.directed, "format": args.input_format, "isolated": args.isolated, "label_ids": label_ids,
        "attributes": attributes,
        # Padded sizes, so that a compilation cache serves all graphs of about this size; who bounds memory wants none.
        "pad": None if getattr(args, "memory", None) else "bucket",
    }  # fmt: skip
    if path is None:
        source = Path("/dev/stdin") if args.graph == "-" else resolve(args.graph)
        graph = read_graph(source, node_labels=args.node_labels, **chosen, **options)
    else:
        try:
            graph = read_graph(resolve(path), **chosen, **options)
        except UnusedOption:
            graph = read_graph(resolve(path), **options)
    logger.info("%s, %s", graph.report, "directed" if graph.directed else "undirected")
    return graph


def node_rows(file: TextFile, known: Container[str]) -> Iterator[tuple[int, str, list[str], str]]:
    """The lines of a text file about nodes that are neither blank nor comments (``#``).

    Fields are between tabs, blanks, commas or semicolons: whichever is the first that leaves the name of a node before
    it. Names that hold one may be quoted.

    Yields:
      The line's number, its text, its fields, and what is between these.
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
