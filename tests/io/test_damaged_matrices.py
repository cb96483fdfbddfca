"""Matrices in npz files of which one array does not fit the others: refused, and what just fits is read."""

import re

import numpy as np
import pytest
import scipy.sparse

from jaxmotif import read_graph

NEAR = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])

COO = {"row": [0, 1, 1, 2], "col": [1, 0, 2, 1], "shape": [3, 3], "format": "coo"}
CSR = {"indices": [1, 0, 2, 1], "indptr": [0, 1, 3, 4], "shape": [3, 3], "format": "csr"}


def write(path, arrays):
    # SciPy writes the name of the format as bytes.
    np.savez(path, **{name: np.array(x.encode() if isinstance(x, str) else x) for name, x in arrays.items()})
    return path


@pytest.mark.parametrize("arrays", [COO, CSR, CSR | {"format": "csc"}])
def test_what_fits_is_read(arrays, tmp_path):
    graph = read_graph(write(tmp_path / "g.npz", arrays))
    assert (graph.n, graph.directed, graph.edge_list().tolist()) == (3, False, [[0, 1], [1, 2]])
    kind = getattr(scipy.sparse, f"{arrays['format']}_array")
    scipy.sparse.save_npz(tmp_path / "theirs.npz", kind(NEAR))
    theirs = read_graph(tmp_path / "theirs.npz")
    assert (theirs.n, theirs.directed, theirs.edge_list().tolist()) == (3, False, [[0, 1], [1, 2]])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("values", [[2, 3, 1, 1], [2, 2, 1, 1], [2, 0, 1, 1], [0, 0, 0, 0], [0.5, 0.5, 2, 2.5]])
def test_a_sparse_matrix_is_what_it_is_as_a_dense_one(values, kind, tmp_path):
    """Values that differ make it directed, zeros that are stored are no edges, and values are weights."""
    entries = scipy.sparse.coo_array((values, (COO["row"], COO["col"])), (3, 3))
    scipy.sparse.save_npz(tmp_path / "sparse.npz", entries.asformat(kind))
    np.save(tmp_path / "dense.npy", entries.toarray())
    sparse, dense = (read_graph(tmp_path / name, weight="weight") for name in ("sparse.npz", "dense.npy"))
    assert (sparse.n, sparse.directed) == (dense.n, dense.directed)
    assert sparse.edge_list().tolist() == dense.edge_list().tolist()
    assert sparse.attributes.edges["weight"].tolist() == dense.attributes.edges["weight"].tolist()


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (COO | {"data": [1, 2]}, "expected 4 values, one an entry, found an array of shape (2,)"),
        (COO | {"data": [1, 2, np.nan, 1]}, "expected a matrix of finite numbers, found float64"),
        (COO | {"format": "bsr"}, "expected a sparse matrix of format"),
        (COO | {"format": ["coo"]}, "expected a sparse matrix of format"),
        ({name: x for name, x in COO.items() if name != "col"}, "found arrays format, row, shape"),
        ({name: x for name, x in CSR.items() if name != "indptr"}, "found arrays format, indices, shape"),
        (COO | {"shape": [3, 4]}, "expected a square matrix, found shape [3, 4]"),
        (COO | {"shape": [3, 3, 3]}, "expected a square matrix"),
        (COO | {"shape": [3.0, 3.0]}, "expected a square matrix"),
        (COO | {"shape": [2**31, 2**31]}, f"at most {2**31 - 1} rows, found {2**31}"),
        (COO | {"shape": [-1, -1]}, "rows, found -1"),
        (COO | {"shape": [2, 2]}, "expected ids in 0..1, found 0 to 2"),
        (COO | {"row": [0, 1, -1, 2]}, "expected ids in 0..2, found -1 to 2"),
        (COO | {"row": [0.0, 1.0, 1.0, 2.0]}, "expected integer ids, found float64 of shape (4,)"),
        (COO | {"row": [[0, 1], [1, 2]]}, "expected integer ids"),
        (COO | {"row": [0, 1, 1]}, "found 3 and 4"),
        (CSR | {"indptr": [0, 3, 1, 4]}, "expected 4 ascending row pointers"),
        (CSR | {"indptr": [0, 1, 4]}, "expected 4 ascending row pointers"),
        (CSR | {"indptr": [0.0, 1.0, 3.0, 4.0]}, "expected 4 ascending row pointers"),
        (CSR | {"indptr": [0, 1, 3, 3]}, "row pointers from 0 to 3 do not fit 4 entries"),
        (CSR | {"indptr": [1, 1, 3, 4]}, "row pointers from 1 to 4 do not fit 4 entries"),
    ],
)
def test_what_does_not_fit_is_refused(arrays, message, tmp_path):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_graph(write(tmp_path / "g.npz", arrays))


@pytest.mark.parametrize("rows", [[[0, 1], [1, 0]], [[0, 2], [1, 0]]])
def test_an_array_of_two_by_two_may_be_anything(rows, tmp_path):
    np.save(tmp_path / "g.npy", np.array(rows))
    with pytest.raises(ValueError, match="a 2 x 2 array may hold edges as rows, as columns or as a matrix"):
        read_graph(tmp_path / "g.npy")


def test_files_of_no_arrays_are_told_apart(tmp_path):
    import zipfile

    for name, message in (("xl/workbook.xml", "this is an Excel workbook"), ("words.txt", "without NumPy arrays")):
        with zipfile.ZipFile(tmp_path / "g.npz", "w") as archive:
            archive.writestr(name, "nothing")
        with pytest.raises(ValueError, match=message):
            read_graph(tmp_path / "g.npz")
