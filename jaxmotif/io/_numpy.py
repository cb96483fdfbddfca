"""NumPy's npy and npz: arrays of edges, sparse matrices of SciPy, graphs that were saved."""

from __future__ import annotations

import io
import json
import math
import zipfile
from typing import Any

import numpy as np

from jaxmotif.graph._saved import FORMAT, HEADER, LABELS, VERSION, WORDS
from jaxmotif.io._format import INT32_MAX, Contents, LabelColumn, Options, Reader, Sample
from jaxmotif.io._matrix import matrix_contents, sparse_contents
from jaxmotif.io._text import TextFile

_SPARSE = {"csr", "csc", "coo"}


def read_npy(file: TextFile, options: Options) -> Contents:
    """Read an integer array of edges ``[E, 2]``, or an adjacency matrix."""
    array = read_array(file, file.data())
    if array.ndim == 2 and array.shape[0] == array.shape[1] > 2:
        return matrix_contents(file, array, options)._replace(format="npy")
    if array.dtype.kind not in "iu" or array.ndim != 2 or array.shape[1] != 2:
        integers = array.dtype.kind in "iu"
        remedy = "transpose it" if integers and array.ndim == 2 and len(array) == 2 else "or a square matrix"
        raise file.error(
            f"expected edges, integers of shape (E, 2), found {array.dtype} of shape {array.shape}; {remedy}"
        )
    if array.shape == (2, 2) and (array.max() < 2 or not np.array_equal(array, array.T)):
        raise file.error("a 2 x 2 array may hold edges as rows, as columns or as a matrix; use Graph.from_edges")
    return Contents(checked_ids(file, array))


def read_npz(file: TextFile, options: Options) -> Contents:
    """Read a SciPy sparse matrix (``scipy.sparse.save_npz``), or a graph that ``Graph.save`` wrote.

    A matrix is undirected if it is symmetric.
    """
    arrays = _members(file, file.data())
    if HEADER in arrays:
        return _saved_graph(file, arrays, options)
    kind = str(arrays["format"].astype(str)) if "format" in arrays and arrays["format"].ndim == 0 else None
    needed = {"row", "col", "shape"} if kind == "coo" else {"indices", "indptr", "shape"}
    if kind not in _SPARSE or not needed <= set(arrays):
        raise file.error(
            f"expected a sparse matrix of format {', '.join(sorted(_SPARSE))} (scipy.sparse.save_npz), found arrays "
            f"{', '.join(sorted(arrays))[:60]}; Graph.from_edges takes an array of edges"
        )
    shape = arrays["shape"].tolist()
    if arrays["shape"].dtype.kind not in "iu" or np.shape(shape) != (2,) or shape[0] != shape[1]:
        raise file.error(f"expected a square matrix, found shape {str(shape)[:30]}")
    n = shape[0]
    if not 0 <= n <= INT32_MAX:
        raise file.error(f"expected a matrix of at most {INT32_MAX} rows, found {n}")
    if kind == "coo":
        rows, columns = (checked_ids(file, arrays[name], n) for name in ("row", "col"))
        if len(rows) != len(columns):
            raise file.error(f"expected as many rows as columns of entries, found {len(rows)} and {len(columns)}")
    else:
        pointers, minor = arrays["indptr"], checked_ids(file, arrays["indices"], n)
        if pointers.dtype.kind not in "iu" or pointers.shape != (n + 1,) or (np.diff(pointers) < 0).any():
            raise file.error(f"expected {n + 1} ascending row pointers")
        if pointers[0] != 0 or pointers[-1] != len(minor):
            raise file.error(f"row pointers from {pointers[0]} to {pointers[-1]} do not fit {len(minor)} entries")
        major = np.repeat(np.arange(n), np.diff(pointers))
        rows, columns = (major, minor) if kind == "csr" else (minor, major)
    values = arrays.get("data", np.ones(len(rows), bool))
    if values.shape != rows.shape:
        raise file.error(f"expected {len(rows)} values, one an entry, found an array of shape {values.shape}")
    return sparse_contents(file, values, rows, columns, n, options)


def _saved_graph(file: TextFile, arrays: dict[str, np.ndarray], options: Options) -> Contents:
    """Read a graph that ``Graph.save`` wrote."""
    with file.refuse_damage("this graph of Graph.save is damaged"):
        header = json.loads(arrays[HEADER].tobytes())
        if (header["format"], header["version"]) != (FORMAT, VERSION):
            raise ValueError(f"it is a {header['format']} of version {header['version']}, not {VERSION}")
        kept = {name: arrays[name] for name in header["arrays"]}
        edges, names, labels = kept["edges"], kept.get("node_names"), [kept.get(kind) for kind in LABELS]
        n, m, directed = header["nodes"], len(edges), header["directed"]
        if names is not None and header["names"] not in "iu":
            words, kind = [_tuples(name) for name in json.loads(names.tobytes())], header["names"]
            if kind == "O":  # an assignment of all would take tuples apart
                names = np.fromiter(words, object, len(words))
            else:
                names = np.array(words, str if kind in "UT" else None)
        node_words, edge_words = (None if header[kind] is None else dict(header[kind]) for kind in WORDS)
    if not isinstance(n, int) or not isinstance(directed, bool) or edges.shape != (m, 2):
        raise file.error("this graph of Graph.save is damaged: its sizes are none")
    sized = zip((*labels, names), (n, m, n), strict=True)
    if any(array is not None and array.shape != (size,) for array, size in sized):
        raise file.error(f"this graph of Graph.save is damaged: its arrays do not fit {n} nodes and {m} edges")
    edges = checked_ids(file, edges.reshape(-1), n).reshape(m, 2)
    node_labels = _saved_labels(labels[0], node_words, options)
    return Contents(edges, n, directed, names, node_labels, _saved_labels(labels[1], edge_words, options))


def _tuples(name: object) -> Any:
    """Return a name as it was before JSON made a list of each tuple, which networkx allows as names."""
    return tuple(map(_tuples, name)) if isinstance(name, list) else name


def _saved_labels(values: np.ndarray | None, words: dict[int, str] | None, options: Options) -> LabelColumn | None:
    if values is None or options.shared is None:
        return None if values is None else LabelColumn(values, words)
    return options.shared.of([(words or {}).get(value, str(value)) for value in values.tolist()])


def checked_ids(file: TextFile, values: np.ndarray, limit: int | None = None) -> np.ndarray:
    """Return ids as int64, after checking that they are in range."""
    if values.dtype.kind not in "iu" or (limit is not None and values.ndim != 1):
        raise file.error(f"expected integer ids, found {values.dtype} of shape {values.shape}")
    high = 2**63 - 2 if limit is None else limit - 1
    if values.size and not (int(values.min()) >= 0 and int(values.max()) <= high):
        raise file.error(f"expected ids in 0..{high}, found {values.min()} to {values.max()}")
    return values.astype(np.int64)


def _members(file: TextFile, data: bytes) -> dict[str, np.ndarray]:
    """Return the arrays of an npz file, whose unpacked sizes are looked at before anything is unpacked."""
    with file.refuse_damage("the npz archive is damaged"), zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
        if "xl/workbook.xml" in archive.namelist():
            raise file.error('this is an Excel workbook; say so: format="xlsx"')
        if not entries:
            raise file.error("a zip archive without NumPy arrays; expected an npz file, or unpack it")
        file.check_growth(sum(entry.file_size for entry in archive.infolist()), len(data))
        return {entry.filename[:-4]: read_array(file, archive.read(entry)) for entry in entries}


def read_array(file: TextFile, data: bytes) -> np.ndarray:
    """Read an array in NumPy's format, whose size must be the one its header declares; pickled objects are refused."""
    stream = io.BytesIO(data)
    header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    with file.refuse_damage("the header of the array cannot be read"):
        shape, column_major, dtype = header[np.lib.format.read_magic(stream)](stream)
    if dtype.hasobject:
        raise file.error("holds pickled Python objects, which may run any program; save plain numbers")
    rest = len(data) - stream.tell()
    if any(size < 0 for size in shape) or math.prod(shape) * dtype.itemsize != rest:
        raise file.error(f"declares an array of {dtype} and shape {shape}, and holds {rest} bytes"[:300])
    array = np.frombuffer(data, dtype, offset=stream.tell())
    return array.reshape(shape, order="F" if column_major else "C")


def _is_npz(sample: Sample) -> bool:
    return sample.magic.startswith(b"PK\x03\x04") and not sample.has_suffix((".xlsx", ".xlsm"))


FORMATS = {
    "npy": Reader(read_npy, lambda sample: sample.magic.startswith(b"\x93NUMPY"), "bytes"),
    "npz": Reader(read_npz, _is_npz, "bytes"),
}
