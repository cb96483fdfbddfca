"""Writing of results as an aligned table, JSON, CSV, TSV or Parquet, to standard output or to a file.

A file appears as a whole or not at all. A result says how it was made: JSON has this under ``run``, CSV and TSV in
lines before the header that start with ``# `` (pandas: ``read_csv(file, comment="#")``), and Parquet in its metadata
under the key ``jaxmotif``.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import io
import itertools
import json
import logging
import math
import os
import stat
import sys
import tempfile
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.arrays._present import Column, visible
from jaxmotif.graph._saved import check_writable, named_errors, written_whole

_SUFFIXES = {".json": "json", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".txt": "table"}
_CHUNK_ROWS = 8192  # rows that are formatted at a time
_DIGITS = {"table": 5, "json": 10, "csv": 10, "tsv": 10}  # significant digits of floats; Parquet keeps all
_DASH = "-"  # in a table, for a value that is missing
_LINE = 120  # letters of a line of a table's scalars
_FORMULA = ("=", "+", "-", "@")
"""First letters of text that a spreadsheet runs as a formula.

A spreadsheet skips tabs and line ends before these letters, but they are written as escapes.
"""

logger = logging.getLogger("jaxmotif")


@dataclasses.dataclass(frozen=True)
class Report:
    """The result of a command.

    Attributes:
      scalars: Single values, by name.
      columns: A table as columns of equal length, arrays or lists, by name. A result for JSON may have none.
      narrow: The columns that a table shows without ``--wide``; ``None`` for all.
      objects: If set, JSON writes a list of this name, with an object for each row.
      run: How the result was made: the command's name, its options, and versions.
      kept: A context in which the result is written, such as one that keeps a checkpoint until then.
    """

    scalars: Mapping[str, object]
    columns: Mapping[str, Column]
    narrow: Sequence[str] | None = None
    objects: str | None = None
    run: Mapping[str, object] = dataclasses.field(default_factory=dict)
    kept: contextlib.AbstractContextManager[object] = dataclasses.field(default_factory=contextlib.nullcontext)


def choose_format(form: str | None, path: Path | None) -> str:
    """Return the format of the result, which is that of the option, else of the file's ending, else a table.

    Example:
      >>> choose_format(None, Path("x.csv")), choose_format("json", Path("x.csv")), choose_format(None, None)
      ('csv', 'json', 'table')
    """
    if form is None and path is not None and not _is_special(path):
        form = _SUFFIXES.get(path.suffix.lower())
        if form is None and path.suffix:
            endings = ", ".join(suffix for suffix in _SUFFIXES if suffix != ".txt")
            logger.info("%s: written as a table (a name ending in %s, or --format, chooses another)", path, endings)
    return form or "table"


@contextlib.contextmanager
def _early_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OSError(f"cannot write {path}: {error.strerror}") from error


def check_outputs(args: argparse.Namespace) -> None:
    """Check before the work that all its files can be written after it.

    No file may be named twice, or be one that is read. Not every command has all of the options that name files.
    """
    named = {name: path for name, path in vars(args).items() if path is not None}
    if "subnetwork" in named:
        from jaxmotif.io._write import writer_of

        _, named["subnetwork"] = args.subnetwork
        writer_of(named["subnetwork"])
    options = ("output", "occurrences", "roles", "subnetwork", "report", "certificate", "to")
    files = {name: named[name] for name in options if name in named}
    folders = {name: named[name] for name in ("figures", "checkpoint") if name in named}
    if args.format == "parquet":
        load_extra("pyarrow", "--format parquet needs")
        if args.output is None and sys.stdout.isatty():
            raise ValueError("Parquet is not for a terminal: name a file with --output")
    if "figures" in named:
        from jaxmotif.graph._plot import check_matplotlib

        check_matplotlib()
    written: dict[Path, str] = {}  # the options that name each file
    for name, path in files.items():
        if _is_special(path) and not path.is_dir():
            continue
        with _early_errors(path):
            check_writable(path)
        if before := written.get(path.resolve()):
            raise ValueError(f"{before} and --{name} are one file; name a file for each")
        written[path.resolve()] = str(path) if name == "to" else f"--{name} {path}"
    places = {path.parent: option for path, option in written.items()}  # the folders that files are written to
    for name, path in folders.items():
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(f"--{name} {path}: is a file; name a folder")
        places[path.resolve()] = f"--{name} {path}"
        existing = next(p for p in (path, *path.absolute().parents) if p.exists())
        with _early_errors(path), tempfile.TemporaryFile(dir=existing):
            pass
    for path in _paths_to_read(args, {*files, *folders}):
        if os.path.isfile(path) and (option := written.get(Path(path).resolve())):
            raise ValueError(f"{option}: this file is read, and would be replaced; name another")
        if os.path.isdir(path) and (option := places.get(Path(path).resolve())):
            raise ValueError(f"{option}: each file in {path} is a query, and this would be one; name another folder")
    if "report" in files and files["report"].suffix.lower() not in ("", ".html", ".htm", ".xhtml"):
        raise ValueError(f"--report {files['report']}: the page is HTML; name a file that ends in .html")
    if "output" in files and files["output"].suffix.lower() in (".xlsx", ".xls", ".pdf", ".html", ".docx"):
        raise ValueError(f"--output {files['output']}: no such format; a name ending in .csv opens in a spreadsheet")


def _paths_to_read(args: argparse.Namespace, written: Collection[str]) -> list[str | Path]:
    """Return what may be paths of files that a command reads, apart from the options that name files to write."""
    graphs = getattr(args, "graph", None) or []
    paths: list[str | Path] = [graphs] if isinstance(graphs, str) else [*graphs]
    paths += [value for name in ("query", "colors", "file") if (value := getattr(args, name, None)) is not None]
    return paths + [value for name, value in vars(args).items() if isinstance(value, Path) and name not in written]


@contextlib.contextmanager
def beside_result(args: argparse.Namespace) -> Iterator[None]:
    """Log the error if a further file cannot be written, and keep it, to be raised after the result is written.

    No error of a page, a figure or a certificate, in whatever library, may cost the result.
    """
    try:
        yield
    except Exception as error:
        said = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) else error
        logger.warning("%s; going on to the result", said)
        args.unwritten = error


def write_report(
    report: Report, form: str, path: Path | None = None, wide: bool = False, escape_formulas: bool = False
) -> None:
    """Write a report as ``table``, ``json``, ``csv``, ``tsv`` or ``parquet``.

    Args:
      report: The result.
      form: The format.
      path: The file, or ``None`` for standard output.
      wide: Whether a table has all columns.
      escape_formulas: Whether to put an apostrophe before text in CSV that a spreadsheet would run.
    """
    if not report.columns and form in ("csv", "tsv", "parquet"):  # which readers take for tables
        row = {name: [value] for name, value in report.scalars.items()}
        report = dataclasses.replace(report, scalars={}, columns=row)
    with named_errors("standard output") if path is None else whole_file(path) as file:
        stream = file or sys.stdout
        if form == "table":
            _write_table(report, stream, wide)
        elif form == "json":
            _write_json(report, stream)
        elif form in ("csv", "tsv"):
            _write_csv(report, stream, "," if form == "csv" else "\t", escape_formulas)
        else:
            _write_parquet(report, stream.buffer)
        stream.flush()


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Open a text file that appears when all of it is written, or not at all; a device or a pipe is just opened."""
    if _is_special(path):
        with named_errors(path), open(path, "w", encoding="utf-8") as stream:
            yield stream
        return
    with written_whole(path) as partial, open(partial, "x", encoding="utf-8", newline="") as stream:
        yield stream
        stream.flush()
        os.fsync(stream.fileno())


def _is_special(path: Path) -> bool:
    """Return whether there is a device or a pipe with this path, which a file cannot replace."""
    return path.exists() and not stat.S_ISREG(path.stat().st_mode)


def _write_table(report: Report, stream: TextIO, wide: bool) -> None:
    width = max(map(len, report.scalars), default=0)
    for name, value in report.scalars.items():
        shown = visible(" ".join(str(_value(value, "table")).split()))
        lines = textwrap.wrap(shown, max(_LINE - width - 2, _LINE // 2), break_long_words=False) or [""]
        stream.write(f"{name:<{width}}  " + ("\n" + " " * (width + 2)).join(lines) + "\n")
    if report.scalars and report.columns:
        stream.write("\n")
    if not report.columns:
        return
    chosen = report.columns if wide or report.narrow is None else {n: report.columns[n] for n in report.narrow}
    layout = [_layout(name, column) for name, column in chosen.items()]
    cells = "  ".join(f"{{:{'>' if number else '<'}{width}}}" for number, width in layout)
    stream.write(cells.format(*chosen).rstrip() + "\n")
    for rows in _row_chunks(chosen, "table"):
        stream.writelines([cells.format(*row).rstrip() + "\n" for row in rows])


def _write_json(report: Report, stream: TextIO) -> None:
    scalars = {name: _value(value, "json") for name, value in report.scalars.items()}
    run = {"run": dict(report.run)} if report.run else {}
    columns = report.columns
    if report.objects is not None:
        rows = (row for rows in _row_chunks(columns, "json") for row in rows)
        scalars[report.objects] = [dict(zip(columns, row, strict=True)) for row in rows]
    elif columns:
        # There may be many rows, so that they are written as they come.
        head = json.dumps(scalars | {"columns": list(columns)} | run)
        stream.write(f'{head[:-1]}, "rows": [')
        separator = "\n"
        for rows in _row_chunks(columns, "json"):
            stream.write(separator + json.dumps(rows)[1:-1])
            separator = ",\n"
        stream.write("\n]}\n")
        return
    json.dump(scalars | run, stream, indent=2)
    stream.write("\n")


def _write_csv(report: Report, stream: TextIO, delimiter: str, escape_formulas: bool) -> None:
    stream.writelines(comments({**report.run, **report.scalars}))
    write_rows(stream, [safe_row(report.columns, escape_formulas)], delimiter)
    rows = itertools.chain.from_iterable(_row_chunks(report.columns, "csv"))
    write_rows(stream, (safe_row(row, True) for row in rows) if escape_formulas else rows, delimiter)


def write_rows(stream: TextIO, rows: Iterable[Sequence[object]], delimiter: str = ",") -> None:
    """Write rows of CSV, whose text is in quotes if it has a "#", or a reader takes the rest of a line for a comment.

    Example:
      >>> write_rows(sys.stdout, [["TP53", 1], ["a,b", 2]])
      TP53,1
      "a,b",2
      >>> write_rows(sys.stdout, [["HEK#1", 1]])
      "HEK#1",1
    """
    left = iter(rows)
    while chunk := list(itertools.islice(left, _CHUNK_ROWS)):
        for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC):
            text = io.StringIO()
            csv.writer(text, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(chunk)
            if "#" not in text.getvalue():
                break
        stream.write(text.getvalue())


def safe_row(cells: Iterable[object], escape_formulas: bool) -> list[object]:
    """Return the cells of a row of CSV with control characters as escapes.

    Args:
      cells: Text, numbers, or other values that ``csv`` takes.
      escape_formulas: Whether to put an apostrophe before text that a spreadsheet would run as a formula.

    Example:
      >>> safe_row(["=1+1", -3, "a\\x1bb", "TP53"], True)
      ["'=1+1", -3, 'a\\\\x1bb', 'TP53']
    """
    shown = [visible(cell) if isinstance(cell, str) else cell for cell in cells]
    if not escape_formulas:
        return shown
    return [f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for cell in shown]


def comments(values: Mapping[str, object]) -> list[str]:
    """Return the lines before the header of a CSV file."""
    return [f"# {name}: {visible(' '.join(str(_value(value, 'csv')).split()))}\n" for name, value in values.items()]


def _write_parquet(report: Report, stream: BinaryIO) -> None:
    pa = load_extra("pyarrow", "--format parquet needs")
    from pyarrow import parquet

    columns = {name: arrow_column(column) for name, column in report.columns.items()}
    facts = {name: _value(value, "json") for name, value in {**report.run, **report.scalars}.items()}
    table = pa.table(columns).replace_schema_metadata({"jaxmotif": json.dumps(facts)})
    parquet.write_table(table, stream)


def arrow_column(column: Column) -> Column:
    """Return a column in a form that Arrow takes.

    Python integers beyond 64 bits become text, in full, and halves of characters, which UTF-8 cannot hold, become
    escapes.
    """
    if isinstance(column, np.ndarray) and column.dtype.kind not in "OU":
        return column
    values = [value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value for value in column]
    wide = any(isinstance(value, int) and not -(2**63) <= value < 2**63 for value in values)
    mixed = len({type(value) for value in values if value is not None}) > 1
    return [None if value is None else str(value) for value in values] if wide or mixed else values


def _row_chunks(columns: Mapping[str, Column], form: str) -> Iterator[list[tuple[Any, ...]]]:
    all_columns = list(columns.values())
    for start in range(0, len(all_columns[0]) if all_columns else 0, _CHUNK_ROWS):
        chunk = [_as_list(column[start : start + _CHUNK_ROWS], form) for column in all_columns]
        yield list(zip(*chunk, strict=True))


def _as_list(column: Column, form: str) -> list[Any]:
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        return column.tolist()
    values = [_value(value, form) for value in (column.tolist() if isinstance(column, np.ndarray) else column)]
    return values if form == "json" else [visible(value) if isinstance(value, str) else value for value in values]


def _value(value: object, form: str) -> object:
    """Return a value as it is written, with a readable number of digits, and truth values as in JSON."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        value = float(f"{value:.{_DIGITS[form]}g}") if math.isfinite(value) else None
    if form == "json":
        return value
    if value is None:
        return _DASH if form == "table" else ""
    return ("false", "true")[value] if isinstance(value, bool) else value


def _layout(name: str, column: Column) -> tuple[bool, int]:
    """Return whether a column has numbers, which stand to the right, and the width of its widest value."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "iu":
        is_number, values = True, ([column.min(), column.max()] if column.size else [])
    else:
        values = _as_list(column, "table")
        is_number = all(isinstance(value, int | float) or value == _DASH for value in values)
    return is_number, max([len(name), *(len(str(value)) for value in values)])
