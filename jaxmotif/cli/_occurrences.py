"""The option ``--occurrences FILE``, which writes a row for each occurrence of a class or query as it is found."""

from __future__ import annotations

import argparse
import csv
import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from jaxmotif.cli._output import Column, arrow_column, beside_result, comments, pyarrow_for, safe_row, whole_file

if TYPE_CHECKING:
    from jaxmotif.graph import Graph, GraphLike
    from jaxmotif.patterns import Pattern

logger = logging.getLogger("jaxmotif")

_ENDINGS = (".parquet", ".csv", ".jsonl")

Write = Callable[[Sequence[object], np.ndarray], None]
"""A function that writes rows: values with which all rows begin, and a block of nodes by name, a row for each."""


def add_occurrences_option(parser: argparse.ArgumentParser) -> None:
    """Add the option."""
    parser.add_argument(
        "--occurrences",
        type=_file,
        metavar="FILE.parquet|csv|jsonl",
        help="also write where they occur: a row for each occurrence, with its nodes by name",
    )


def _file(text: str) -> Path:
    if not text.lower().endswith(_ENDINGS):
        raise argparse.ArgumentTypeError(f"{text!r} must end in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}")
    if text.lower().endswith(".parquet"):
        try:
            pyarrow_for("--occurrences FILE.parquet")
        except ImportError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return Path(text)


def write_occurrences(
    args: argparse.Namespace,
    graph: Graph,
    patterns: Iterable[tuple[Mapping[str, object], GraphLike | Pattern]],
    run: Mapping[str, object],
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
      patterns: Pairs of the values that stand before the nodes in each row, under the same names for all patterns, and
        a pattern.
      run: How the result was made.
      induced: See :func:`jaxmotif.occurrences`, also for ``wildcard``.
      wildcard: The label that any label matches.
      names: The names of the pattern's nodes, for the columns, where there is only one pattern.
    """
    if args.occurrences is None:
        return
    from jaxmotif.matching import occurrences
    from jaxmotif.patterns import as_pattern

    listed: list[tuple[Mapping[str, object], Pattern]] = [(row, as_pattern(query, graph)) for row, query in patterns]
    most = max((pattern.num_nodes for _, pattern in listed), default=0)
    nodes = [f"node_{i}" for i in range(most)] if names is None else list(map(str, names))
    heads = list(listed[0][0]) if listed else []
    written = 0
    with (
        beside_result(args),
        _writer(args.occurrences, heads, nodes, graph.node_names, run, args.escape_formulas) as write,
    ):
        for head, pattern in listed:
            # The workers of a cluster do not list blocks: this process does.
            devices = args.device if args.cluster is None else None
            blocks = occurrences(
                graph, pattern, induced=induced, wildcard=wildcard, memory=args.memory, devices=devices
            )
            for block in blocks:
                write(list(head.values()), block)
                written += len(block)
    if args.unwritten is None:
        logger.info("%d occurrences written to %s", written, args.occurrences)


def class_rows(columns: Mapping[str, Column], classes: Column) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield the values that stand before the nodes, and the class's string, for each class that the graph has.

    Args:
      columns: The columns of the table of classes.
      classes: The strings of the classes.
    """
    names = [name for name in ("class", "id", "name", "verdict") if name in columns]
    for i, count in enumerate(columns["count"]):
        if count:
            yield {name: columns[name][i] for name in names}, str(classes[i])


@contextmanager
def _writer(
    path: Path,
    heads: Sequence[str],
    nodes: Sequence[str],
    node_names: np.ndarray | None,
    run: Mapping[str, object],
    escape_formulas: bool,
) -> Iterator[Write]:
    """Yield a function that writes rows with the same first values, in the format that the file's ending names."""
    columns = [*heads, *nodes]
    plain = node_names is None or node_names.dtype.kind in "iu"  # Numbers need no escapes.
    with whole_file(path) as stream:
        if path.suffix.lower() == ".parquet":
            with _parquet(stream.buffer, columns, len(heads), node_names, run) as write:
                yield write
        elif path.suffix.lower() == ".csv":
            stream.writelines(comments(run))
            table = csv.writer(stream, lineterminator="\n")
            table.writerow(safe_row(columns, escape_formulas))

            def write_csv(head: Sequence[object], block: np.ndarray) -> None:
                padding = [""] * (len(nodes) - block.shape[1])
                rows = ([*head, *row, *padding] for row in block.tolist())
                table.writerows(rows if plain else (safe_row(row, escape_formulas) for row in rows))

            yield write_csv
        else:

            def write_lines(head: Sequence[object], block: np.ndarray) -> None:
                before = dict(zip(heads, map(_plain, head), strict=True))
                stream.writelines(json.dumps({**before, "nodes": row}) + "\n" for row in block.tolist())

            yield write_lines


@contextmanager
def _parquet(
    stream: BinaryIO, columns: Sequence[str], heads: int, node_names: np.ndarray | None, run: Mapping[str, object]
) -> Iterator[Write]:
    pa = pyarrow_for("--occurrences FILE.parquet")
    from pyarrow import parquet

    numbers = node_names is None or node_names.dtype.kind in "iu"
    kinds = {"id": pa.int64()} | {name: pa.int64() if numbers else pa.string() for name in columns[heads:]}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in columns])
    schema = schema.with_metadata({"jaxmotif": json.dumps(dict(run))})
    with parquet.ParquetWriter(stream, schema) as writer:

        def write(head: Sequence[object], block: np.ndarray) -> None:
            block = block if numbers else np.array([arrow_column(column) for column in block.astype(str)], object)
            values: list[Any] = []
            for i, value in enumerate(head):
                values.append(pa.repeat(pa.scalar(_plain(value), schema.field(i).type), len(block)))
            values += [pa.array(block[:, i]) for i in range(block.shape[1])]
            values += [pa.nulls(len(block), schema.field(i).type) for i in range(len(values), len(columns))]
            writer.write_table(pa.table(values, schema=schema))

        yield write


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value
