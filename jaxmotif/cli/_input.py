"""Reading of graph files: the loader that all commands share.

Every command takes the same options with the same meaning. A file that says whether it is directed is read in this way,
and a file that says nothing is undirected. ``--directed`` and ``--undirected`` overrule both.
"""

from __future__ import annotations

import argparse
import logging
import os
import shlex
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.io._text import TextFile

logger = logging.getLogger("jaxmotif")


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
    """Read a file or a bundled network as the options of the block ``reading files`` say, and log what was read.

    Args:
      args: The options.
      path: The file to read, ``args.graph`` by default. For another file, the options of columns and labels count if
        its format has columns or labels, and ``--node-labels`` does not count.
      label_ids: The numbers of text labels, to which new labels are added. Files that share this dict agree in their
        labels.
      attributes: Whether to keep all attributes, so that queries can ask about them.
    """
    from jaxmotif.datasets import names, resolve
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
        _refuse_pattern(args, names())
        source = Path("/dev/stdin") if args.graph == "-" else resolve(args.graph)
        of_edges = {"weight": args.weight, "min_weight": args.min_weight}
        graph = read_graph(source, node_labels=args.node_labels, **of_edges, **chosen, **options)
    else:
        graph = None
        while graph is None:
            try:
                graph = read_graph(resolve(path), **chosen, **options)
            except UnusedOption as error:
                del chosen[error.option]
    logger.info("%s, %s", graph.report, "directed" if graph.directed else "undirected")
    return graph


def _refuse_pattern(args: argparse.Namespace, networks: Sequence[str]) -> None:
    """Raise ValueError where a pattern stands in the place of a graph, with the command that was probably meant."""
    from jaxmotif.patterns._names import is_pattern_name

    graph, pattern = getattr(args, "query", "GRAPH"), args.graph
    if pattern == "-" or os.path.exists(pattern) or pattern in networks or not is_pattern_name(pattern):
        return
    command = f"jaxmotif match {shlex.quote(pattern)} {shlex.quote(graph)}"
    raise ValueError(f"{pattern!r} is a pattern, and here is the place of a graph: {command} looks for it in a graph")


def node_rows(file: TextFile, known: Container[str]) -> Iterator[tuple[int, str, list[str], str]]:
    """Yield the lines of a text file about nodes, except blank lines and those that begin with ``#``.

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
