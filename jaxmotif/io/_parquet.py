"""Tables of edges in Parquet, Feather or Arrow's file format, through pyarrow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from jaxmotif.arrays._extras import load_extra
from jaxmotif.io._edge_list import layout_of, sorted_names
from jaxmotif.io._format import Contents, Options, Reader, passed_over
from jaxmotif.io._numpy import checked_ids
from jaxmotif.io._table import Numbering
from jaxmotif.io._text import TextFile


def read_table_file(file: TextFile, options: Options) -> Contents:
    """Read a table of edges in Parquet, Feather or Arrow's file format, through pyarrow."""
    pa = load_extra("pyarrow", f"{file.path}: Parquet and Arrow files need")
    parquet = load_extra("pyarrow.parquet", f"{file.path}: Parquet and Arrow files need")
    data = file.data()
    with file.refuse_damage("this table cannot be read"):
        if data.startswith(b"PAR1"):
            source = parquet.ParquetFile(io.BytesIO(data))
            names, rows = list(source.schema_arrow.names), source.metadata.num_rows
            read = lambda chosen: source.read(chosen)  # noqa: E731
        else:
            reader = pa.ipc.open_file(pa.BufferReader(data))
            names, rows = list(reader.schema.names), 0
            read = lambda chosen: reader.read_all().select(chosen)  # noqa: E731
        file.check_growth(16 * rows, len(data))
        chosen = _table_columns(file, names, options)
        table = read(names if options.attributes else chosen)
        table.validate(full=True)
        columns = [table.column(name) for name in chosen]
    contents = _table_edges(file, columns[:2], chosen, options)
    if options.attributes:
        values = {name: _values(table.column(name)) for name in names if name not in chosen[:2]}
        contents = contents._replace(edge_columns=values, header=names)
    else:
        others = [repr(name) for name in names if name not in chosen]
        contents = contents._replace(notes=passed_over("columns", others))
    if len(chosen) < 3:
        return contents
    words = [_text(file, value, chosen[2], row) for row, value in enumerate(columns[2].to_pylist())]
    return contents._replace(edge_labels=options.labels().of(words))


def _table_columns(file: TextFile, names: list[str], options: Options) -> list[str]:
    if len(set(names)) < len(names) or not all(isinstance(name, str) and name for name in names):
        raise file.error("expected columns with a name each")
    layout = layout_of([[name.encode() for name in names]], options)
    if layout.header is None and options.columns is None and (len(names) != 2 or options.edge_label is not None):
        raise file.error(f"which columns are the ends? columns= of {', '.join(map(repr, names))[:200]}")
    chosen = [names[c] if isinstance(c, int) and c < len(names) else c for c in layout.chosen]
    for column in chosen:
        if column not in names:
            raise file.error(f"there is no column {column!r} among {', '.join(map(repr, names))[:200]}")
    return [str(column) for column in chosen]


def _table_edges(file: TextFile, columns: list[Any], names: list[str], options: Options) -> Contents:
    import pyarrow as pa

    if any(column.null_count for column in columns):
        raise file.error(f"a missing value among the ends, columns {names[0]!r} and {names[1]!r}")
    if all(pa.types.is_integer(column.type) for column in columns) and not options.text_ids:
        return Contents(np.stack([checked_ids(file, column.to_numpy()) for column in columns], axis=1))
    numbering = Numbering()
    ends = []
    for column, name in zip(columns, names, strict=False):
        words = [_text(file, value, name, row) for row, value in enumerate(column.to_pylist())]
        ends.append(numbering.codes([word.encode() for word in words]))
    return sorted_names(Contents(np.stack(ends, axis=1)), numbering.known)


def _values(column: Any) -> list[object]:
    """Return the values of a column; decimals, which other formats have as text, are text."""
    import pyarrow as pa

    return (column.cast("string") if pa.types.is_decimal(column.type) else column).to_pylist()


def _text(file: TextFile, value: object, column: str, row: int) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise file.error(f"expected text or whole numbers in column {column!r}, found {str(value)[:30]!r} in row {row}")
    return str(value)


FORMATS = {"parquet": Reader(read_table_file, lambda sample: sample.magic.startswith((b"PAR1", b"ARROW1")), "bytes")}
