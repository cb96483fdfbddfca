"""Adjacency matrices and sheets, as pandas, SciPy and spreadsheets write them, against the arrays they were made of."""

import collections
import csv
import io
import itertools
import subprocess

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from jaxmotif.graph import GraphFileError, read_graph
from jaxmotif.io._text import BLOCK
from tests.more import more

KINDS = ["plain", "symmetric weights", "weights", "symmetric"]
NAMES = ["b1", "a 2", "TP53", "ä", "x.y", "7up"]


def matrix(kind: str, n: int = 6, seed: int = 0) -> np.ndarray:
    """Draw a matrix: 0 and 1 or weights, symmetric or not."""
    rng = np.random.default_rng(seed)
    values = np.triu(rng.random((n, n)) < 0.5, 1) * (rng.integers(1, 90, (n, n)) / 4 if "weights" in kind else 1)
    values[0, 1] = 1
    values = values + values.T if "symmetric" in kind else values
    return values if "weights" in kind else values.astype(int)


def arcs(graph) -> set:
    names = range(graph.n) if graph.node_names is None else graph.node_names.tolist()
    pairs = {(names[u], names[v]) for u, v in graph.edge_list().tolist()}
    return pairs if graph.directed else pairs | {(v, u) for u, v in pairs}


def arcs_of(values: np.ndarray, names) -> set:
    return {(names[u], names[v]) for u, v in np.argwhere(values)}


def text(values, separator=" ", **options) -> str:
    return pd.DataFrame(values, **options).to_csv(sep=separator)


WRITTEN = {
    "csv, names above and beside": lambda x, path: pd.DataFrame(x, NAMES, NAMES).to_csv(path),
    "csv, names above": lambda x, path: pd.DataFrame(x, columns=NAMES).to_csv(path, index=False),
    "csv, no names": lambda x, path: pd.DataFrame(x).to_csv(path, index=False, header=False),
    "csv, semicolons": lambda x, path: pd.DataFrame(x, NAMES, NAMES).to_csv(path, sep=";"),
    "csv, a word in the corner": lambda x, path: pd.DataFrame(x, NAMES, NAMES).to_csv(path, index_label="node"),
    "csv, ids from 1": lambda x, path: pd.DataFrame(x, range(1, 7), range(1, 7)).to_csv(path),
    "csv, empty for 0": lambda x, path: pd.DataFrame(x, NAMES, NAMES).replace(0, np.nan).to_csv(path),
    "tsv, names above and beside": lambda x, path: pd.DataFrame(x, NAMES, NAMES).to_csv(path, sep="\t"),
    "tsv, as R writes it": lambda x, path: path.write_text(
        "\t".join(NAMES) + "\n" + pd.DataFrame(x, NAMES).to_csv(sep="\t", header=False)
    ),
    "txt, NumPy": lambda x, path: np.savetxt(path, x, fmt="%g"),
    "txt, comments above": lambda x, path: np.savetxt(path, x, fmt="%g", header="adjacency"),
    "npy": lambda x, path: np.save(path, x),
    "mat": lambda x, path: scipy.io.savemat(path, {"A": x, "names": NAMES}),
    "xlsx, names above and beside": lambda x, path: pd.DataFrame(x, NAMES, NAMES).to_excel(path),
    "xlsx, no names": lambda x, path: pd.DataFrame(x).to_excel(path, index=False, header=False),
}


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *itertools.product([written for written in WRITTEN if written != "mat"], KINDS),
        *itertools.product(["mat"], KINDS[:2]),  # each takes a process
        *more(*itertools.product(["mat"], KINDS[2:])),
    ],
)
def test_matrices_are_read_as_they_were(written, kind, tmp_path):
    values = matrix(kind)
    path = tmp_path / f"network.{written.split(',')[0]}"
    WRITTEN[written](values, path)
    names = list(range(1, 7)) if "from 1" in written else NAMES if "names" in written or "R" in written else range(6)
    if any(word in written for word in ("no names", "txt", "npy", "mat")):
        names = range(6)
    elif "from 1" not in written:
        names = NAMES
    else:
        names = [str(i) for i in range(1, 7)]
    graph = read_graph(path)
    assert graph.directed != ("symmetric" in kind)
    assert arcs(graph) == arcs_of(values, names)
    assert graph.n == 6
    weighted = read_graph(path, weight="weight")
    ends = weighted.edge_list()
    order = [list(names).index(name) for name in weighted.node_names] if weighted.node_names is not None else range(6)
    u, v = np.asarray(order)[ends].T
    np.testing.assert_array_equal(weighted.attributes.edges["weight"], values[u, v])


def test_a_matrix_that_takes_too_long_is_given_up(tmp_path, monkeypatch):
    def never(command, timeout, **_):
        raise subprocess.TimeoutExpired(command, timeout)

    scipy.io.savemat(tmp_path / "network.mat", {"A": matrix("plain")})
    monkeypatch.setattr(subprocess, "run", never)
    with pytest.raises(GraphFileError, match="network.mat: this mat file took longer than 600 s to read"):
        read_graph(tmp_path / "network.mat")


def test_a_sheet_of_edges_is_a_table(tmp_path):
    path = tmp_path / "edges.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "weight": [2.0, 3.5]}).to_excel(
            book, sheet_name="edges", index=False
        )
        pd.DataFrame({"x": [1]}).to_excel(book, sheet_name="more", index=False)
    graph = read_graph(path, weight="weight", directed=True)
    assert arcs(graph) == {("a", "b"), ("b", "c")}
    assert graph.attributes.edges["weight"].tolist() == [2.0, 3.5]
    assert graph.report.format == "xlsx"
    assert any("and not more" in note for note in graph.report.notes)


def test_names_like_comments_in_a_workbook(tmp_path):
    path = tmp_path / "edges.xlsx"
    pd.DataFrame({"source": ["#1", "A", "%B"], "target": ["A", "%B", "C"]}).to_excel(path, index=False)
    assert arcs(read_graph(path, directed=True)) == {("#1", "A"), ("A", "%B"), ("%B", "C")}


def test_ids_that_a_workbook_has_rounded_are_refused(tmp_path):
    path = tmp_path / "edges.xlsx"
    pd.DataFrame({"pre": [7 * 10.0**14], "post": [3.0], "size": [7.2e17]}).to_excel(path, index=False)
    graph = read_graph(path, weight="size")
    assert graph.node_names.tolist() == [3, 7 * 10**14]
    assert graph.attributes.edges["size"].tolist() == [7.2e17]
    pd.DataFrame({"pre": [720575940618000001.0], "post": [720575940618000002.0]}).to_excel(path, index=False)
    with pytest.raises(
        GraphFileError, match=r"line 2: expected a non-negative integer id .*found '7.20575940618e\+17'"
    ):
        read_graph(path)


def test_truth_values_of_a_workbook(tmp_path):
    path = tmp_path / "truth.xlsx"
    near = pd.DataFrame([[False, True, False], [True, False, True], [False, True, False]])
    near.to_excel(path, header=False, index=False)
    assert read_graph(path).edge_list().tolist() == [[0, 1], [1, 2]]
    pd.DataFrame({"source": ["a"], "target": ["b"], "known": [True]}).to_excel(path, index=False)
    assert list(read_graph(path, edge_label="known").edge_label_names.values()) == ["TRUE"]


@pytest.mark.parametrize(
    ("content", "n", "m"),
    [
        ("0 2 3 4\n5 0 6 7\n1 2 0 3\n4 5 6 0\n", 4, 12),  # zeros on the diagonal of four rows
        ("0 2 3\n2 0 4\n3 4 0\n", 3, 3),  # and of three, but symmetric
        ("0 1 1\n0 0 1\n1 0 0\n", 3, 4),  # or of zeros and ones alone
    ],
)
def test_small_matrices_without_names_are_known(content, n, m, tmp_path):
    path = tmp_path / "table.txt"
    path.write_text(content)
    graph = read_graph(path)
    assert (graph.n, graph.m) == (n, m)


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
@pytest.mark.parametrize("names", [[0, 1, 2, 3, 4], [10, 20, 30, 40, 50], ["000123", "1e5", "7", "8", "9"]])
def test_numbers_above_a_matrix_are_its_names(names, ending, tmp_path):
    values = np.array([[0, 1, 0, 0, 1], [0, 0, 1, 0, 0], [1, 0, 0, 1, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 1]])
    table, path = pd.DataFrame(values, columns=names), tmp_path / f"table.{ending}"
    if ending == "xlsx":
        table.to_excel(path, index=False)
    else:
        table.to_csv(path, index=False, sep="," if ending == "csv" else "\t")
    graph = read_graph(path, self_loops="drop")
    assert (graph.n, graph.m, graph.directed) == (5, 6, True)
    assert [str(name) for name in graph._names.tolist()] == [str(name) for name in names]


def test_numbers_above_a_large_matrix_are_its_names(tmp_path):
    values, path = np.triu(np.random.default_rng(0).integers(0, 2, (150, 150)), 1), tmp_path / "table.csv"
    pd.DataFrame(values, columns=range(7, 157)).to_csv(path, index=False)
    graph = read_graph(path, format="matrix")
    assert (graph.n, graph.m) == (150, values.sum())
    assert graph.node_names.tolist() == [str(i) for i in range(7, 157)]


def test_three_edges_of_two_columns_are_no_matrix(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("0,1\n1,0\n0,2\n")
    assert read_graph(path).edge_list().tolist() == [[0, 1], [0, 2]]


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx"])
@pytest.mark.parametrize("n", [4, 63, 64, 150])
def test_numbers_of_rows_before_a_matrix_are_no_names(n, ending, tmp_path):
    values, path = np.triu(np.random.default_rng(n).integers(0, 2, (n, n)), 1), tmp_path / f"table.{ending}"
    names = [f"g{i}" for i in range(n)]
    table = pd.DataFrame(values, columns=names)
    for index in (True, False):
        if ending == "xlsx":
            table.to_excel(path, index=index)
        else:
            table.to_csv(path, index=index, sep="," if ending == "csv" else "\t")
        assert arcs(read_graph(path)) == arcs_of(values, names)


@pytest.mark.parametrize("content", [
    '"","V1","V2","V3"\n"1",0,1,0\n"2",1,0,1\n"3",0,1,0\n',  # R's write.csv
    '"V1" "V2" "V3"\n"1" 0 1 0\n"2" 1 0 1\n"3" 0 1 0\n',  # and write.table
    "id;V1;V2;V3\n0;0;0,5;0\n1;0,5;0;1,5\n2;0;1,5;0\n",
])  # fmt: skip
def test_numbers_of_rows_in_files_of_other_programs(content, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert arcs(read_graph(path, directed=True)) == {("V1", "V2"), ("V2", "V1"), ("V2", "V3"), ("V3", "V2")}
    if ";" in content:
        assert read_graph(path, weight="weight").attributes.edges["weight"].tolist() == [0.5, 1.5]


@pytest.mark.parametrize(("content", "edges"), [
    (",source,target\n0,0,1\n1,1,0\n", {(0, 1)}),
    ('"","x","y","w"\n1,11,12,3\n2,12,13,4\n3,13,11,1\n', {(11, 12), (12, 13), (11, 13)}),
    (",0,1\n0,5,6\n1,6,7\n2,7,8\n", {(5, 6), (6, 7), (7, 8)}),
    ("X A B 1 2\nA B C 1 2\nB C D 1 2\n", {("A", "X"), ("A", "B"), ("B", "C")}),  # the second column repeats the first
])  # fmt: skip
def test_tables_with_numbers_of_rows_stay_tables(content, edges, tmp_path):
    path = tmp_path / "table.txt"
    path.write_text(content)
    assert arcs(read_graph(path)) == edges | {(v, u) for u, v in edges}


def test_decimal_commas_in_a_matrix(tmp_path):
    path = tmp_path / "table.csv"
    for mark in ";\t":
        path.write_text(f"0{mark}0,5{mark}0\n0,5{mark}0{mark}1\n0{mark}1{mark}0\n")
        graph = read_graph(path, weight="weight")
        assert (graph.edge_list().tolist(), graph.attributes.edges["weight"].tolist()) == ([[0, 1], [1, 2]], [0.5, 1])
    path.write_text('a,b\n0,"1,234"\n"1,234",0\n')  # a thousand or little more than one
    with pytest.raises(GraphFileError, match="line 2: expected numbers alone in a row of the matrix"):
        read_graph(path)


@pytest.mark.parametrize(("content", "message"), [
    ("gene,A,B,C\nA,0,1,0\nB,1,0,x\nC,0,1,0\n", "line 3: expected numbers alone in a row of the matrix"),
    ("gene,A,B,C\nA,0,1,0\nC,0,1,0\nB,1,0,1\n", "line 3: expected rows with the names that stand above"),
    (",A,B,C\nA,0,1,0\nB,1,0,1\nc,0,1,0\n", "line 4: expected rows with the names that stand above, in their order"),
    ("A\tB\tC\nA\t0\t1\t0\nB\t1\t0\n", "line 3: expected 3 numbers, found 2"),
    ("gene,A,B,C\nA,0,1,0\nB,1,0,1\n", "expected a square matrix, found 2 rows of 3 numbers"),
    ("A\t0\t1\t0\t1\nB\t1\t0\t1\t0\nC\t0\t1\t0\t0\nD\t1\t0\t0\t0\n", r"names above, too, or say columns=\(0, 1\)"),
    ("0,0,1,0\n1,1,0,1\n2,0,1,0\n", r"names above, too, or say columns=\(0, 1\)"),
])  # fmt: skip
def test_a_matrix_that_is_not_quite_tidy_is_no_table(content, message, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(GraphFileError, match=message):
        read_graph(path)


@pytest.mark.parametrize("title", ["from,to", "source,target"])
def test_titles_of_ends_above_two_edges_are_no_names_of_a_matrix(title, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(f"{title}\n1,0\n0,1\n")
    graph = read_graph(path, directed=True)
    assert (graph.node_names, graph.edge_list().tolist()) == (None, [[0, 1], [1, 0]])
    path.write_text("TF,site\n1,0\n0,1\n")
    assert read_graph(path).report.format == "matrix"


def test_three_rows_of_three_may_be_edges_with_weights(tmp_path):
    """Zeros on the diagonal alone do not make a matrix of so few numbers."""
    path = tmp_path / "table.txt"
    path.write_text("0 2 3\n5 0 6\n1 2 0\n")
    graph = read_graph(path)
    assert graph.edge_list().tolist() == [[0, 2], [0, 3], [1, 2]]  # of nodes 0, 1, 2 and 5


@pytest.mark.parametrize(
    ("content", "n", "m"),
    [
        ("1 2 5\n2 3 4\n3 1 2\n", 3, 3),  # three edges and a column of weights
        ("0 1 0.5\n1 2 0.25\n", 3, 2),
        ("source,target,a\n1,2,0\n2,3,1\n", 3, 2),
        ("a b c\nb c d\nc d e\n", 4, 3),  # names, three in a row
    ],
)
def test_tables_of_edges_stay_tables(content, n, m, tmp_path):
    path = tmp_path / "table.txt"
    path.write_text(content)
    graph = read_graph(path)
    assert (graph.n, graph.m) == (n, m)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (",a,b,c\na,0,1,0\nb,1,0,1\nx,0,1,0\n", "line 4: expected rows with the names that stand above"),
        (",a,b,c\na,0,1,0\nb,1,0,1\nc,0,one,0\n", "line 4: expected numbers alone"),
        (",a,b,c\na,0,1,0\nb,1,0,1\n", "expected a square matrix, found 2 rows of 3 numbers"),
        (",a,b,a\na,0,1,0\nb,1,0,1\na,0,1,0\n", "the name 'a' stands over two columns"),
        ("0 1 inf\n1 0 1\n1 1 0\n", "finite"),
        ("0 1 1\n1 0\n1 1 0\n", "line 2: expected 3 numbers, found 2"),
    ],
)
def test_a_matrix_with_a_mistake_is_refused(content, message, tmp_path):
    path = tmp_path / "matrix.csv"
    path.write_text(content)
    with pytest.raises(GraphFileError, match=message):
        read_graph(path, format="matrix")


@pytest.mark.parametrize("compressed", [False, True])
def test_matlabs_files(compressed, tmp_path):
    path, x = tmp_path / "network.mat", matrix("weights")
    scipy.io.savemat(path, {"W": scipy.sparse.csc_array(x), "year": 2024.0}, do_compression=compressed)
    graph = read_graph(path)
    assert graph.directed
    assert arcs(graph) == arcs_of(x, range(6))
    assert "passed over: other variables year" in " ".join(graph.report.notes)


def test_files_of_matlab_without_one_matrix_of_numbers(tmp_path):
    path, x = tmp_path / "network.mat", matrix("weights")
    scipy.io.savemat(path, {"A": x, "B": x.T})
    with pytest.raises(GraphFileError, match="expected one square matrix, found A, B; save the matrix alone"):
        read_graph(path)
    scipy.io.savemat(path, {"A": x * 1j}, do_compression=True)
    with pytest.raises(GraphFileError, match="finite numbers, found complex128"):
        read_graph(path)


@pytest.mark.parametrize("mutants", [4, pytest.param(60, marks=pytest.mark.slow)])
def test_damaged_files_of_matlab_are_refused(mutants, tmp_path):
    """Compressed files have checksums, so that a mutant is refused or still the same matrix."""
    rng, path, x, outcomes = np.random.default_rng(mutants), tmp_path / "network.mat", matrix("plain"), set()
    scipy.io.savemat(path, {"A": x}, do_compression=True)
    content = path.read_bytes()
    for _ in range(mutants):
        damaged = bytearray(content)
        damaged[rng.integers(24, len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(damaged[: rng.integers(124, len(content) + 1)] if rng.random() < 0.2 else damaged)
        try:
            assert arcs(read_graph(path, directed=True)) == arcs_of(x, range(6))
            outcomes.add("read")
        except GraphFileError:
            outcomes.add("refused")
    assert "refused" in outcomes


def test_large_matrices(tmp_path):
    values = matrix("plain", 200)
    np.savetxt(tmp_path / "large.txt", values, fmt="%d")
    assert arcs(read_graph(tmp_path / "large.txt")) == arcs_of(values, range(200))
    named = [f"n{i}" for i in range(200)]
    pd.DataFrame(values, named, named).to_csv(tmp_path / "large.csv")
    assert arcs(read_graph(tmp_path / "large.csv")) == arcs_of(values, named)


@pytest.mark.parametrize(
    ("encoding", "named"),
    [("utf-8", None), ("utf-8-sig", None), ("utf-16", None), ("cp1252", None), ("shift-jis", "shift-jis")],
)
def test_encodings(encoding, named, tmp_path):
    words = "gène,über\nüber,x\n" if encoding != "shift-jis" else "遺伝子,蛋白\n蛋白,x\n"
    path = tmp_path / "words.csv"
    path.write_bytes(words.encode(encoding))
    graph = read_graph(path, encoding=named)
    assert arcs(graph) >= {tuple(words.split("\n")[0].split(","))}
    assert any("cp1252" in note for note in graph.report.notes) == (encoding == "cp1252")


@pytest.mark.parametrize("between", [0, BLOCK])
def test_damaged_utf8_is_not_taken_for_another_encoding(between, tmp_path):
    """Also where the text that is UTF-8 stands in an earlier block."""
    path = tmp_path / "damaged.csv"
    path.write_bytes("gène,über\n".encode() + b"a,b\n" * between + b"\xff,x\n")
    with pytest.raises(GraphFileError, match=rf"line {between + 2}: expected UTF-8 text; encoding= names another"):
        read_graph(path)
    with pytest.raises(GraphFileError, match="cannot be read as utf-9"):
        read_graph(path, encoding="utf-9")


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path):
    import zipfile

    book = io.BytesIO()
    pd.DataFrame({"source": ["a"], "target": ["b"]}).to_excel(book, index=False)
    path = tmp_path / "bomb.xlsx"
    path.write_bytes(book.getvalue())
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/image.bin", bytes(100 << 20))
    with pytest.raises(GraphFileError, match="unpacks to"):
        read_graph(path)


def by_csv(content: str) -> set | None:
    """Read a matrix with names above and beside, strictly; ``None`` if it is none."""
    rows = [[field.strip() for field in row] for row in csv.reader(content.splitlines()) if "".join(row).strip()]
    try:
        names = rows[0][1 - len(rows[1]) :] if len(rows[0]) <= len(rows[1]) else []  # R leaves the corner out
        values = [[float(x if x not in ("", "-", ".") else 0) for x in row[1:]] for row in rows[1:]]
    except (ValueError, IndexError):
        return None
    square = len(values) == len(names) and all(len(row) == len(names) for row in values)
    named = [row[0] for row in rows[1:]] == names and len(set(names)) == len(names)
    return arcs_of(np.array(values), names) if square and named and np.isfinite(values).all() else None


@pytest.mark.parametrize("mutants", [300, *more(3000)])
def test_a_mutated_matrix_is_read_right_or_refused(mutants, tmp_path):
    rng = np.random.default_rng(mutants)
    content = pd.DataFrame(matrix("weights", 4), list("abcd"), list("abcd")).to_csv()
    path, outcomes = tmp_path / "mutant.csv", collections.Counter()
    for _ in range(mutants):
        text = list(content)
        for _ in range(rng.integers(1, 4)):
            at = rng.integers(len(text))
            text[at : at + rng.integers(0, 2)] = rng.choice([*",;\n 01.5ae-", ""])
        path.write_text("".join(text))
        try:
            graph = read_graph(path, directed=True)
        except GraphFileError:
            outcomes["refused"] += 1
            continue
        outcomes[graph.report.format] += 1
        if graph.report.format == "matrix":
            loops = {(u, u) for u in graph.node_names.tolist()}
            assert arcs(graph) == (by_csv("".join(text)) or set()) - loops, "".join(text)
    assert outcomes["refused"] > 50
    assert outcomes["matrix"] > 50
