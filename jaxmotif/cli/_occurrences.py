"""Further files about where something occurs: ``--occurrences``, ``--roles`` and ``--subnetwork``."""

from __future__ import annotations

import argparse
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.cli._command import how, place_options
from jaxmotif.cli._output import (
    Column,
    Report,
    arrow_column,
    beside_result,
    choose_format,
    comments,
    safe_row,
    whole_file,
    write_report,
    write_rows,
)

if TYPE_CHECKING:
    from jaxmotif.graph import Graph, GraphLike
    from jaxmotif.patterns import Pattern

logger = logging.getLogger("jaxmotif")


Blocks = Iterator[tuple[list[object], np.ndarray]]
"""Blocks of occurrences: the values with which each row of a block begins, and the names of the nodes, a row each."""


def write_class_files(
    args: argparse.Namespace, graph: Graph, columns: Mapping[str, Column], classes: Iterable[str]
) -> None:
    """Write where classes occur, and who takes which role in them, to the files that the user asked for, if any.

    Args:
      args: The options.
      graph: The graph.
      columns: The columns of the table of classes.
      classes: The strings of the classes, in the order of the table.
    """
    classes = list(map(str, classes))
    told = {name: columns[name] for name in ("count", "class", "id", "name", "verdict") if name in columns}
    write_occurrences(args, graph, [*told, "roles"][1:], _class_rows(told, classes, graph.directed))
    if args.roles is not None:
        from jaxmotif.features import role_table

        with beside_result(args):
            table = role_table(graph, classes, **place_options(args), progress=not args.quiet)
            _write_role_table(args, table, f"{len(table['node'])} roles of nodes")
    if args.subnetwork is not None:
        from jaxmotif.matching import subnetwork

        with beside_result(args):
            _write_subnetwork(args, subnetwork(graph, args.subnetwork[0], **place_options(args)))


def _write_role_table(args: argparse.Namespace, table: Mapping[str, Column], what: str) -> None:
    report = Report({}, table, objects="roles", run=how(args))
    write_report(report, choose_format(None, args.roles), args.roles, escape_formulas=args.escape_formulas)
    logger.info("%s written to %s", what, args.roles)


def check_class(args: argparse.Namespace, graph: Graph) -> None:
    """Raise ValueError, before the work begins, if ``--subnetwork`` names no class or an unknown one."""
    if args.subnetwork is not None:
        from jaxmotif.patterns import as_pattern

        if not args.subnetwork[0]:
            raise ValueError(f"--subnetwork: of which class? Name it before the file: ffl:{args.subnetwork[1]}")
        as_pattern(args.subnetwork[0], graph, name="the class of --subnetwork")


def write_query_subnetwork(args: argparse.Namespace, graph: Graph, query: Any, wildcard: int | None) -> None:
    """Write where a query occurs, and its nodes by role, to the files that the user asked for, if any."""
    if args.subnetwork is None and args.roles is None:
        return
    from jaxmotif.graph._convert import rename_columns
    from jaxmotif.matching import subnetwork

    with beside_result(args):
        part = subnetwork(graph, query, induced=args.induced, wildcard=wildcard, **place_options(args))
        if args.subnetwork is not None:
            with beside_result(args):  # so that the roles are written whatever goes wrong
                _write_subnetwork(args, part)
        if args.roles is not None:
            columns = {} if part.attributes is None else part.attributes.nodes
            table = {"name": part._names, **rename_columns(columns, ["name"], "node")}
            _write_role_table(args, table, f"roles of {part.n} nodes")


def _write_subnetwork(args: argparse.Namespace, part: Graph) -> None:
    from jaxmotif.io import write_graph

    _, path = args.subnetwork
    write_graph(part, path)
    logger.info("subnetwork of %d nodes and %d edges written to %s", part.n, part.m, path)


def write_occurrences(
    args: argparse.Namespace,
    graph: Graph,
    heads: Sequence[str],
    patterns: Iterable[tuple[Mapping[str, object], GraphLike | Pattern]],
    *,
    induced: bool = True,
    wildcard: int | None = None,
    names: Sequence[object] | None = None,
) -> None:
    """Write the occurrences of patterns to the file that the user asked for, if any.

    The file is written as a whole or not at all.

    Args:
      args: The options.
      graph: The graph that the patterns occur in.
      heads: The names of the values that stand before the nodes in each row.
      patterns: For each pattern, these values by name, and the pattern.
      induced: Whether only induced occurrences count, as for :func:`jaxmotif.occurrences`.
      wildcard: A node label of patterns that matches any label.
      names: The names of the pattern's nodes, for the columns, where there is only one pattern.
    """
    if args.occurrences is None:
        return
    from jaxmotif.graph._convert import free_names
    from jaxmotif.matching import occurrences
    from jaxmotif.patterns import as_pattern

    listed: list[tuple[Mapping[str, object], Pattern]] = [(row, as_pattern(query, graph)) for row, query in patterns]
    most = max((pattern.num_nodes for _, pattern in listed), default=0)
    nodes = [f"node_{i}" for i in range(most)] if names is None else free_names(map(str, names), heads, "node")
    written = 0

    def blocks() -> Blocks:
        nonlocal written
        # The workers of a cluster cannot list matches block by block, so this process does it.
        work = {"memory": args.memory, "devices": args.device if args.cluster is None else None}
        for head, pattern in listed:
            for block in occurrences(graph, pattern, induced=induced, wildcard=wildcard, **work):
                yield list(head.values()), block
                written += len(block)

    numbers = graph.node_names is None or graph.node_names.dtype.kind in "iu"
    with beside_result(args), whole_file(args.occurrences) as stream:
        suffix = args.occurrences.suffix.lower()
        if suffix == ".parquet":
            _write_parquet(stream.buffer, heads, nodes, blocks(), numbers, how(args))
        elif suffix == ".csv":
            stream.writelines(comments(how(args)))
            _write_csv(stream, heads, nodes, blocks(), numbers, args.escape_formulas)
        else:
            for head, block in blocks():
                before = dict(zip(heads, head, strict=True))
                stream.writelines(json.dumps({**before, "nodes": row}) + "\n" for row in block.tolist())
    if args.unwritten is None:
        logger.info("%d occurrences written to %s", written, args.occurrences)


def _class_rows(
    columns: Mapping[str, Column], classes: Sequence[str], directed: bool
) -> Iterator[tuple[dict[str, Any], Pattern]]:
    """Yield the values that stand before the nodes, and the class as a pattern, for each class that the graph has.

    The last of the values says what each node of an occurrence does in it.

    Args:
      columns: The numbers of occurrences of the classes, and the columns that say which class it is.
      classes: The strings of the classes.
      directed: Whether they have directions.
    """
    from jaxmotif.patterns import named_pattern
    from jaxmotif.patterns._readings import role_words

    _, *names = columns
    values = [np.asarray(column, object).tolist() for column in columns.values()]
    for text, count, *row in zip(classes, *values, strict=True):
        if count:
            pattern = named_pattern(text, directed)
            yield dict(zip(names, row, strict=True)) | {"roles": ", ".join(role_words(pattern))}, pattern


def _write_csv(
    stream: TextIO, heads: Sequence[str], nodes: list[str], blocks: Blocks, numbers: bool, escape_formulas: bool
) -> None:
    write_rows(stream, [safe_row([*heads, *nodes], escape_formulas)])
    for head, block in blocks:
        before = safe_row(head, escape_formulas)
        padding = [""] * (len(nodes) - block.shape[1])
        # Numbers need no escapes.
        rows = block.tolist() if numbers else (safe_row(row, escape_formulas) for row in block.tolist())
        write_rows(stream, ([*before, *row, *padding] for row in rows))


def _write_parquet(
    stream: BinaryIO, heads: Sequence[str], nodes: list[str], blocks: Blocks, numbers: bool, run: Mapping[str, object]
) -> None:
    pa = load_extra("pyarrow", "--occurrences FILE.parquet needs")
    from pyarrow import parquet

    kinds = {"id": pa.int64()} | dict.fromkeys(nodes, pa.int64() if numbers else pa.string())
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in (*heads, *nodes)])
    schema = schema.with_metadata({"jaxmotif": json.dumps(dict(run))})
    with parquet.ParquetWriter(stream, schema) as writer:
        for head, block in blocks:
            block = block if numbers else np.array([arrow_column(column) for column in block.astype(str)], object)
            types = iter(schema.types)
            values = [pa.repeat(pa.scalar(value, next(types)), len(block)) for value in head]
            values += [pa.array(column, next(types)) for column in block.T]
            values += [pa.nulls(len(block), kind) for kind in types]
            writer.write_table(pa.table(values, schema=schema))
