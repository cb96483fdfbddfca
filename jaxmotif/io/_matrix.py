"""Adjacency matrices, as text with names or without."""

from __future__ import annotations

import math

import numpy as np

from jaxmotif.io._edge_list import counts_up, delimiter_of, no_rows, usual_ends
from jaxmotif.io._format import SAMPLE, Contents, Options, Reader, Sample, passed_over
from jaxmotif.io._text import TextFile, fields_of

_WORDS = dict.fromkeys([b"", b"na", b"nan", b"null", b"none", b"-", b".", b"false"], b"0") | {b"true": b"1"}
"""The numbers that fields in small letters stand for."""


def matrix_contents(file: TextFile, values: np.ndarray, options: Options, names: list[str] | None = None) -> Contents:
    """Return the graph of an adjacency matrix: an arc for each entry that is not 0, undirected if it is symmetric.

    Args:
      file: the file, for messages.
      values: numbers or truth values ``[n, n]``; the row is the source.
      options: what is asked of the file; attributes are the column ``weight``.
      names: the name of each row, which is that of the column, too.

    Raises:
      GraphFileError: an entry is not a number, is infinite, or a name occurs twice.
    """
    if names is not None and len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise file.error(f"the name {twice[:30]!r} stands over two columns")
    if values.dtype.kind not in "iufb" or not np.isfinite(values).all():
        raise file.error(f"expected a matrix of finite numbers, found {values.dtype}")
    symmetric = np.array_equal(values, values.T)
    edges = np.argwhere(np.triu(values) if symmetric else values).astype(np.int64)
    contents = _entries(edges, values[edges[:, 0], edges[:, 1]], len(values), symmetric, options)
    return contents._replace(names=None if names is None else np.array(names, object))


def sparse_contents(
    file: TextFile, values: np.ndarray, rows: np.ndarray, columns: np.ndarray, n: int, options: Options
) -> Contents:
    """Return what :func:`matrix_contents` does of an ``[n, n]`` matrix that is 0 but for some entries.

    Args:
      file: the file, for messages.
      values: numbers or truth values ``[E]``; the sum counts where several stand at one place.
      rows, columns: the places of the values, integers ``[E]``.
      n: the number of rows.
      options: what is asked of the file.

    Raises:
      GraphFileError: an entry is not a number, or is infinite.
    """
    if values.dtype.kind not in "iufb" or not np.isfinite(values).all():
        raise file.error(f"expected a matrix of finite numbers, found {values.dtype}")
    # SciPy would take memory for all rows, of which a small file may say that there are billions.
    places, entries = np.unique(rows.astype(np.int64) * n + columns, return_inverse=True)
    sums = np.zeros(places.size, values.dtype)
    np.add.at(sums, entries, values)
    places, sums = places[sums != 0], sums[sums != 0]
    u, v = places // max(n, 1), places % max(n, 1)
    order = np.lexsort((u, v))
    symmetric = np.array_equal(v[order] * n + u[order], places) and np.array_equal(sums[order], sums)
    kept = u <= v if symmetric else np.ones(places.size, bool)
    return _entries(np.stack([u, v], axis=1)[kept], sums[kept], n, symmetric, options)


def _entries(edges: np.ndarray, weights: np.ndarray, n: int, symmetric: bool, options: Options) -> Contents:
    """Return the graph whose edges are the places of some entries, int64 ``[E, 2]``."""
    contents = Contents(edges, n, not symmetric)
    if options.attributes:
        return contents._replace(edge_columns={"weight": weights.tolist()})
    if (weights == 1).all():
        return contents
    remedy = '; weight="weight" keeps them'
    return contents._replace(notes=passed_over("the values of the matrix", [str(weights.dtype)], remedy))


def _names_of(rows: list[list[bytes]]) -> tuple[list[bytes] | None, list[bytes]] | None:
    """Return the names above a matrix, and the first fields of its rows, if no numbers of it; ``None``: no matrix.

    Names stand above (perhaps with a field in the corner) and also before the rows, in whose place the rows may be
    numbered; or above alone, or nowhere.
    """
    if len(rows) < 3:
        return None
    width, firsts = len(rows[1]), [row[0] for row in rows[1:]]
    has_corner = len(rows[0]) == width and not _is_number(rows[0][0] or b"corner")
    if has_corner or len(rows[0]) == width - 1:
        names = rows[0][1 - width :]
        if 2 * len(set(names) & set(firsts)) > len(firsts):
            return names, names
        if counts_up(firsts) and len(firsts) < width and (has_corner or not any(map(_is_number, names))):
            return names, [b"%d" % (int(firsts[0]) + i) for i in range(len(names))]
    if len(rows[0]) == width and (not any(map(_is_number, rows[0])) or _is_header(rows[0], len(rows))):
        return rows[0], []
    return None, []


def _is_header(first: list[bytes], rows: int) -> bool:
    """Say whether a first row of numbers has names: its numbers all differ, and there is one row more than columns."""
    return rows == len(first) + 1 == len({*first}) + 1


def _is_number(field: bytes) -> bool:
    try:
        return math.isfinite(float(_as_number(field)))
    except ValueError:
        return False


def _as_number(field: bytes, comma: bytes = b".") -> bytes:
    """Return the number that a word of a matrix stands for, and any other field with its comma as a point."""
    return _WORDS.get(field.lower(), field).replace(b",", comma)


def is_matrix(sample: Sample) -> bool:
    """Tell whether rows are a square matrix of numbers, with names or without, and not a table of edges.

    A small square of numbers without names could be either. It is a matrix if all its entries are 0 or 1, or if its
    diagonal is 0; with three rows and a diagonal of 0 it must also be symmetric. Titles of a table's ends, such as
    source and target, are no names of nodes where they stand above alone. With names both above and before the rows it
    is a matrix though it may have a mistake, which :func:`read_matrix` names.

    Raises:
      GraphFileError: something stands before each row of such a square, and nothing above.
    """
    lines = sample.lines
    delimiter = delimiter_of(lines[0]) if lines else b""
    rows = [fields_of(line, delimiter) for line in lines]
    found = _names_of(rows)
    if found is None:
        return False
    names, firsts = found
    named, body = names is not None and firsts is names, rows if names is None else rows[1:]
    if names and not named and usual_ends([name.decode() for name in names]):
        return False
    cells = [row[1:] if firsts else row for row in body]
    numbers = [_is_number(field) for row in cells for field in row]
    if named and not any(map(_is_number, firsts)):
        return 2 * sum(numbers) > len(numbers)
    whole = sample.file.head()[1] and len(rows) < SAMPLE
    is_distinct = len({row[0] for row in rows}) == len(rows)
    if whole and names is None and is_distinct and _is_adjacency([row[1:] for row in rows]):
        raise sample.file.error(
            "these may be the rows of a matrix, each behind its name, or edges; write the names above, too, or say "
            "columns=(0, 1)"
        )
    if not all(numbers) or {len(row) for row in cells} != {len(cells[0])}:
        return False
    if named:
        return [row[0] for row in body] == firsts[: len(body)] and (not whole or len(body) == len(cells[0]))
    return _is_adjacency(cells) if whole else len(cells[0]) >= len(cells)


def _is_adjacency(rows: list[list[bytes]]) -> bool:
    """Tell whether rows are a square of numbers, 0 and 1 alone or with a diagonal of 0 (of three: and symmetric)."""
    if any(len(row) != len(rows) or not all(map(_is_number, row)) for row in rows):
        return False
    values = np.array([[float(_as_number(field)) for field in row] for row in rows])
    hollow = not values.diagonal().any() and (len(rows) > 3 or np.array_equal(values, values.T))
    return hollow or bool(np.isin(values, (0, 1)).all())


def read_matrix(file: TextFile, options: Options) -> Contents:
    """Read a matrix as text: a row a node, between blanks, tabs, commas or semicolons; an empty field is 0."""
    lines = file.first_rows(SAMPLE)
    if not lines:
        raise no_rows(file)
    delimiter = delimiter_of(lines[0])
    names, firsts = _names_of([fields_of(line, delimiter) for line in lines]) or (None, [])
    rows, above = list[np.ndarray](), names is not None
    comma = b"," if delimiter == b"," else b"."
    for number, line in file.lines():
        fields = fields_of(line, delimiter)
        if above:
            above = False
            continue
        if firsts and fields[:1] != firsts[len(rows) : len(rows) + 1]:
            raise file.error("expected rows with the names that stand above, in their order", number, line)
        try:
            cells = [_as_number(field, comma) for field in fields[bool(firsts) :]]
            rows.append(np.array(cells).astype(np.float64))
        except ValueError:
            raise file.error("expected numbers alone in a row of the matrix", number, line) from None
        if len(rows[-1]) != len(rows[0]):
            raise file.error(f"expected {len(rows[0])} numbers, found {len(rows[-1])}", number, line)
    n = len(rows[0])
    first = fields_of(lines[0], delimiter)
    if names is None and _is_header(first, len(rows)):  # the sample above did not show how many rows there are
        names, rows = first, rows[1:]
    if len(rows) != n or (names is not None and len(names) != n):
        raise file.error(f"expected a square matrix, found {len(rows)} rows of {n} numbers")
    values = np.array(rows).reshape(n, n)
    return matrix_contents(file, values, options, None if names is None else [name.decode() for name in names])


FORMATS = {"matrix": Reader(read_matrix, is_matrix, "rows")}
