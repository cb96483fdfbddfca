"""Files and queries that nobody wrote: each is read, or refused in words; and reading it again gives the same.

By default a few cases of each target. `JAXMOTIF_FUZZ=120 pytest -n 0 tests/fuzz` goes on for as many seconds in all,
with other cases each time. A case that fails is kept in `corpus/`, whose files every run tries first.
"""

import hashlib
import io
import os
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.io

from jaxmotif.graph import GraphFileError, read_graph
from jaxmotif.io._registry import READABLE
from jaxmotif.language import parse
from jaxmotif.language._query import QueryError
from tests.io.format_samples import Sample, library_samples, text_samples

hypothesis = pytest.importorskip("hypothesis")
st = hypothesis.strategies

SECONDS = float(os.environ.get("JAXMOTIF_FUZZ", "0"))
CORPUS = Path(__file__).parent / "corpus"
SETTINGS = hypothesis.settings(
    max_examples=200 if SECONDS else 25,
    derandomize=not SECONDS,
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)

ALIKE = {  # formats that are read when they are named
    "gfd": Sample(b"#g\n3\na\nb\nc\n2\n0 1\n1 2\n", "gfd", (), True, ".gfd"),
    "matrix": Sample(b",a,b,c\na,0,1,0\nb,1,0,2\nc,0,2,0\n", "matrix", (), False, ".csv"),
    "lad-labelled": Sample(b"3\n7 2 1 1 2 1\n8 1 2 5\n9 0\n", "lad-labelled", (), False, ""),
}


def _written(write) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


MATRIX = np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0]])
PACKED = {  # a file of a library that holds a matrix
    "xlsx": Sample(_written(lambda file: pd.DataFrame(MATRIX).to_excel(file)), "xlsx", (), False, ".xlsx"),
    "mat": Sample(_written(lambda file: scipy.io.savemat(file, {"A": MATRIX})), "mat", (), False, ".mat"),
}
SAMPLES = text_samples() | ALIKE
READERS = [*sorted(SAMPLES), "of libraries"]
QUERIES = [
    "A -> B [weight > 20]; B !> A; A.kind = KC",
    'A -> B; B -> C; C -> A; A.size >= 3; B.name in ["x", "y"]; A.id != B.id',
    "feedback(X, Y) { X -> Y; Y -> X }\nfeedback(A, B)\nA -> C as ac\nac.weight <= -1.5e3\n",
    "A -> B [sign = '+']; A.kind !contains \"K\"; A === B # said",
]
PIECES = [
    *(b"", b" ", b"\n", b"\r\n", b"\t", b",", b";", b'"', b"'", b"#", b"%", b"<", b">", b"/", b"{", b"}", b"[", b"]"),
    *(b"0", b"1", b"-1", b"007", b"2147483648", b"9223372036854775808", b"1e400", b"nan", b"1.5", b"\x00", b"\xff"),
    *(b"\xef\xbb\xbf", "é".encode(), "\u2028".encode(), b"source", b"target", b"nodes", b"edges", b"weight", b"null"),
    *(b"->", b"!>", b" or ", b" not ", b" in ", b"<=", b"!=", b".", b"="),
]


@st.composite
def changed(draw, contents: list[bytes]) -> bytes:
    """Draw one of some contents with a few stretches left out, repeated, exchanged, or written over."""
    content = draw(st.sampled_from(contents))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.sampled_from([0, 0, 1, 1, 2, 5, 20, 100])))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=4), st.just(content[start:stop] * 2)))
        content = content[:start] + piece + content[stop:]
    return content


def explore(check, contents: list[bytes], kept: str) -> None:
    """Check kept cases, then changed ones; keep one that fails, as small as it can be made."""
    folder, failed = CORPUS / kept, []
    for path in sorted(folder.glob("*")):
        check(path.read_bytes())

    def noted(content: bytes) -> None:
        try:
            check(content)
        except Exception:
            failed.append(content)
            raise

    end, number = time.monotonic() + SECONDS / (len(READERS) + 1), 0
    while not number or time.monotonic() < end:
        run = SETTINGS(hypothesis.given(changed(contents))(noted))
        try:
            (run if not SECONDS else hypothesis.seed(time.time_ns())(run))()
        except BaseException:
            if failed and SECONDS:
                folder.mkdir(parents=True, exist_ok=True)
                (folder / hashlib.sha256(failed[-1]).hexdigest()[:16]).write_bytes(failed[-1])
            raise
        number += 1


def content_of(graph) -> tuple:
    names = None if graph.node_names is None else list(graph.node_names)
    return graph.n, graph.directed, graph.edge_list().tolist(), names


@pytest.mark.parametrize("name", READERS)
def test_readers(name, tmp_path):
    """A file is a simple graph, the same each time, or an error that names it; read as its format or as any."""
    samples = library_samples() | PACKED if name == READERS[-1] else {name: SAMPLES[name]}
    formats = {sample.content: sample.format for sample in samples.values()}
    path = tmp_path / "x"

    def check(content: bytes) -> None:
        path.write_bytes(content)
        for format in ("auto", *sorted(set(formats.values()))):
            try:
                graph = read_graph(path, format=format)
            except GraphFileError as error:
                assert str(path) in str(error)  # noqa: PT017 (a file may be read or refused)
                continue
            edges = graph.edge_list()
            assert ((edges >= 0) & (edges < graph.n)).all()
            assert (edges[:, 0] != edges[:, 1]).all()
            named = edges if graph.directed else np.sort(edges, axis=1)
            assert len(np.unique(named, axis=0)) == len(edges)
            assert content_of(read_graph(path, format=format)) == content_of(graph)

    explore(check, list(formats), name)


def test_queries():
    """A text is a query, the same each time, or an error that says where it is wrong."""
    for query in QUERIES:
        parse(query)

    def check(content: bytes) -> None:
        text = content.decode(errors="replace")
        try:
            found = parse(text)
        except QueryError as error:
            assert re.match(r"query, line \d+, column \d+|query", str(error))  # noqa: PT017
            return
        assert str(found) == str(parse(text))

    explore(check, [query.encode() for query in QUERIES], "queries")


def test_every_format_has_a_target():
    known = {sample.format for sample in (SAMPLES | library_samples() | PACKED).values()}
    assert not set(READABLE) - known
