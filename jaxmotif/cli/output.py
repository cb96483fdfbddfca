"""Results as an aligned table, JSON or CSV, to standard output or to a file that appears whole or not at all."""

from __future__ import annotations

import argparse
import csv
import dataclasses
import json
import os
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np

Column = Sequence[Any] | np.ndarray

_CHUNK_ROWS = 8192


@dataclasses.dataclass(frozen=True)
class Report:
    """What a command found.

    Attributes:
      scalars: single values, by name.
      columns: one table, by column name; columns of equal length, arrays or lists. JSON may do without.
      mapping: when set, JSON writes the (two) columns as one object of this name, key to value.
    """

    scalars: Mapping[str, Any]
    columns: Mapping[str, Column]
    mapping: str | None = None


def add_output_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=tuple(_WRITERS), default="table", help="default: %(default)s")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write here instead of standard output")


def check_output(path: Path | None) -> None:
    """Finds out before the work whether the result can be written after it."""
    if path is None:
        return
    try:
        if path.is_dir():
            raise IsADirectoryError(21, "is a directory")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(13, "is read-only")
        if not _is_special(path):
            with tempfile.TemporaryFile(dir=path.resolve().parent):
                pass
    except OSError as error:
        raise OSError(f"cannot write {path}: {error.strerror}") from error


def write_report(report: Report, form: str, path: Path | None = None) -> None:
    """Writes a report as ``table``, ``json`` or ``csv``."""
    write = _WRITERS[form]
    if path is None:
        write(report, sys.stdout)
        return
    if _is_special(path):
        with open(path, "w", encoding="utf-8") as stream:
            write(report, stream)
        return
    target = path.resolve()
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with open(partial, "x", encoding="utf-8", newline="") as stream:
            write(report, stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, target)
    finally:
        partial.unlink(missing_ok=True)


def _is_special(path: Path) -> bool:
    """Whether the path is there and is a device or a pipe, which cannot be replaced by a file."""
    return path.exists() and not stat.S_ISREG(path.stat().st_mode)


def _write_table(report: Report, stream: TextIO) -> None:
    width = max(map(len, report.scalars), default=0)
    for name, value in report.scalars.items():
        stream.write(f"{name:<{width}}  {value}\n")
    if report.scalars:
        stream.write("\n")
    cells = "  ".join(_cell_format(name, column) for name, column in report.columns.items())
    stream.write(cells.format(*report.columns).rstrip() + "\n")
    for rows in _row_chunks(report):
        stream.writelines([cells.format(*row).rstrip() + "\n" for row in rows])


def _write_json(report: Report, stream: TextIO) -> None:
    if not report.columns:
        json.dump(dict(report.scalars), stream)
        stream.write("\n")
        return
    if report.mapping is not None:
        keys, values = map(_as_list, report.columns.values())
        json.dump(dict(report.scalars) | {report.mapping: dict(zip(keys, values, strict=True))}, stream, indent=2)
        stream.write("\n")
        return
    head = json.dumps(dict(report.scalars) | {"columns": list(report.columns)})
    stream.write(f'{head[:-1]}, "rows": [')
    separator = "\n"
    for rows in _row_chunks(report):
        stream.write(separator + json.dumps(rows)[1:-1])
        separator = ",\n"
    stream.write("\n]}\n")


def _write_csv(report: Report, stream: TextIO) -> None:
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(report.columns)
    for rows in _row_chunks(report):
        writer.writerows(rows)


_WRITERS = {"table": _write_table, "json": _write_json, "csv": _write_csv}


def _row_chunks(report: Report) -> Iterator[list[tuple[Any, ...]]]:
    columns = list(report.columns.values())
    for start in range(0, len(columns[0]), _CHUNK_ROWS):
        yield list(zip(*(_as_list(column[start : start + _CHUNK_ROWS]) for column in columns), strict=True))


def _as_list(column: Column) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _cell_format(name: str, column: Column) -> str:
    """Numbers to the right, text to the left, as wide as the widest value."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        number, ends = True, ([column.min(), column.max()] if column.size else [])
    else:
        ends = _as_list(column)
        number = all(isinstance(value, int) for value in ends)
    width = max(len(name), *(len(str(value)) for value in ends), 1)
    return f"{{:{'>' if number else '<'}{width}}}"
