"""MatrixMarket's sparse matrices."""

from __future__ import annotations

from jaxmotif.io._format import Contents, Options, Reader, Sample, one_based, passed_over
from jaxmotif.io._sized import read_header
from jaxmotif.io._table import Column, read_table
from jaxmotif.io._text import TextFile

_VALUES = {"pattern": 0, "integer": 1, "real": 1, "double": 1, "complex": 2}
"""Numbers that an entry of each field has."""


def read_matrix_market(file: TextFile, options: Options) -> Contents:
    """Read coordinates: banner, ``% comments``, ``rows columns entries``, then entries counted from 1."""
    banner = b"".join(file.take_lines(1))
    words = banner.decode().lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise file.error("expected a banner %%MatrixMarket matrix coordinate FIELD SYMMETRY", 1, banner)
    layout, field, symmetry = words[2:]
    if layout != "coordinate":
        raise file.error("expected a sparse matrix (coordinate); convert the dense one", 1, banner)
    if field not in _VALUES or symmetry not in ("general", "symmetric", "skew-symmetric", "hermitian"):
        raise file.error("expected a field pattern, integer, real or complex and a symmetry such as general", 1, banner)
    n, columns, entries = read_header(file, "rows columns entries", 3)
    if n != columns:
        raise file.error(f"expected a square adjacency matrix, found {n} rows and {columns} columns", file.line)
    ids = [Column(index, "an integer index", 1, n) for index in range(2)]
    edges = read_table(file, 2 + _VALUES[field], ids, rows=entries) - 1
    notes = passed_over("the values of the matrix", [field]) if _VALUES[field] else ()
    return Contents(edges, n, directed=symmetry == "general", names=one_based, notes=notes)


def _is_matrix_market(sample: Sample) -> bool:
    """Tell whether the file begins with a banner, perhaps with a mistake in a word: no comment of a table looks so."""
    first = sample.first.lower()
    return first.startswith(b"%") and (b"matrixmarket" in first or b"matrix coordinate" in first)


FORMATS = {"mtx": Reader(read_matrix_market, _is_matrix_market)}
