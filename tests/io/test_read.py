"""Reading graph files: every format, what could be taken for what, and the line of every mistake."""

import gzip
import json
import logging
import os
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from jaxmotif.graph import GraphFileError, read_graph
from jaxmotif.io import _text as textscan
from jaxmotif.io._registry import READABLE
from jaxmotif.io._table import Column, Numbering, read_table
from tests.more import more

# Nodes 0..6; node 5 is isolated, and 4 is the end of a path.
EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (0, 6)]
N = 7
NODE_LABELS = [4, 0, 4, 2, 9, 0, 4]
EDGE_LABELS = [3, 1, 1, 0, 2, 7]


def lines(*rows):
    return "".join(" ".join(map(str, row)) + "\n" for row in rows)


def neighbours(base=0):
    return [[v + base for v in range(N) if (u, v) in EDGES or (v, u) in EDGES] for u in range(N)]


def ri_text(labelled_edges=False, title="#proteins"):
    edges = [(*e, label) for e, label in zip(EDGES, EDGE_LABELS, strict=True)] if labelled_edges else EDGES
    return lines((title,), (N,), *[(x,) for x in NODE_LABELS], (len(EDGES),), *edges)


def labelled_text(directed, labelled_edges=False):
    edges = [(*e, label) for e, label in zip(EDGES, EDGE_LABELS, strict=True)] if labelled_edges else EDGES
    return lines((N, len(EDGES), directed), *[(x,) for x in NODE_LABELS], *edges)


ONE_BASED = [(u + 1, v + 1) for u, v in EDGES]
MTX = "%%MatrixMarket matrix coordinate pattern {}\n% a comment\n" + lines((N, N, len(EDGES)))
# name, text, format, whether directed; all hold EDGES
SAMPLES = {
    "snap": ("# a comment\n" + lines(*EDGES), "edges", None),
    "spaces": ("".join(f"  {u}   {v} \n" for u, v in EDGES) + "\n", "edges", None),
    "weights": (lines(*[(u, v, 0.5 * u - 1, "x") for u, v in EDGES]), "edges", None),
    "networkx": (lines(*[(u, v, "{'weight':1,'w':2}") for u, v in EDGES]), "edges", None),
    "csv": ("".join(f"{u},{v}\n" for u, v in EDGES), "csv", None),
    "csv-header": ("id,source,target\n" + "".join(f"{9},{u}, {v}\n" for u, v in EDGES), "csv", None),
    "csv-words": ("first,second\n" + "".join(f"{u},{v}\n" for u, v in EDGES), "csv", None),
    "csv-quotes": ('"from","to","w"\n' + "".join(f'"{u}","{v}",""\n' for u, v in EDGES), "csv", None),
    "csv-empty-cells": ("".join(f"{u};{v};{'0,5' * (u == 0)}\n" for u, v in EDGES), "csv", None),
    "tsv": ("Source\tTarget\n" + "".join(f"{u}\t{v}\n" for u, v in EDGES), "tsv", None),
    "tabs": ("".join(f"{u}\t{v}\n" for u, v in EDGES), "edges", None),
    "konect": ("% sym unweighted\n" + lines(*ONE_BASED), "konect", False),
    "konect-sizes": ("% asym positive\n% 6 7 7\n" + lines(*[(*e, 2.5, 1167609600) for e in ONE_BASED]), "konect", True),
    "mtx": (MTX.format("symmetric") + lines(*[(v, u) for u, v in ONE_BASED]), "mtx", False),
    "mtx-general": (MTX.format("general") + lines(*ONE_BASED), "mtx", True),
    "mtx-real": (
        MTX.format("general").replace("pattern", "real") + lines(*[(*e, "-1.5e3") for e in ONE_BASED]), "mtx", True),
    "metis": ("% a comment\n" + lines((N, len(EDGES)), *neighbours(1)), "metis", False),
    "metis-weights": (
        lines((N, len(EDGES), 111, 2), *[[8, 1, 1, *[x for v in row for x in (v, 3)]] for row in neighbours(1)]),
        "metis", False),
    "orca": (lines((N, len(EDGES)), *EDGES), "orca", None),
    "labelled": (labelled_text(0), "labelled", False),
    "labelled-directed": (labelled_text(1, labelled_edges=True), "labelled", True),
    "ri": (ri_text(), "gff", False),
    "lad": (lines((N,), *[(len(row), *row) for row in neighbours()]), "lad", False),
    "lad-directed": (lines((N,), (3, 1, 2, 6), (1, 2), (1, 3), (1, 4), (0,), (0,), (0,)), "lad", True),
    "lad-labelled": (
        lines((N,), *[(label, len(row), *row) for label, row in zip(NODE_LABELS, neighbours(), strict=True)]),
        "lad-labelled", False),
}  # fmt: skip


def edge_set(graph):
    edges = graph.edge_list()
    names = np.arange(graph.n) if graph.node_names is None else np.asarray(graph.node_names)
    return {tuple(names[edge].tolist()) for edge in edges}


def edge_labels(graph):
    labels = graph.edge_labels[graph.edge_slots()].tolist()
    return dict(zip(map(tuple, graph.edge_list().tolist()), labels, strict=True))


def read_format(caplog, path, **options):
    """The graph, and the format it was read as."""
    caplog.clear()
    with caplog.at_level(logging.INFO, "jaxmotif"):
        graph = read_graph(path, **options)
    return graph, caplog.records[-1].getMessage().rsplit(" ", 1)[1]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("wrap", ["plain", "gzip", "crlf", "cr", "bom", "no-final-newline"])
def test_formats(name, wrap, write, caplog):
    text, format, directed = SAMPLES[name]
    content = text.replace("\n", {"crlf": "\r\n", "cr": "\r"}.get(wrap, "\n")).encode()
    content = b"\xef\xbb\xbf" + content if wrap == "bom" else content
    content = content.rstrip(b"\n") if wrap == "no-final-newline" and name[:5] != "metis" else content
    path = write(gzip.compress(content) if wrap == "gzip" else content)
    for option in ("auto", format):
        graph, found = read_format(caplog, path, format=option)
        assert found == format
        assert graph.directed is bool(directed)
        assert graph.m == len(EDGES)
        base = 1 if format in ("konect", "mtx", "metis") else 0
        assert edge_set(graph) == {(u + base, v + base) for u, v in EDGES}
        list_of_ids = format in ("edges", "csv", "tsv") or name == "konect"
        assert graph.n == (N - 1 if list_of_ids else N)
        if format in ("labelled", "gff", "lad-labelled"):
            assert graph.node_labels[:N].tolist() == NODE_LABELS
        else:
            assert graph.node_labels is None
        if name == "labelled-directed":
            assert edge_labels(graph) == dict(zip(EDGES, EDGE_LABELS, strict=True))


@pytest.mark.parametrize("name", SAMPLES)
def test_direction(name, write):
    text, format, directed = SAMPLES[name]
    path = write(text)
    base = 1 if format in ("konect", "mtx", "metis") else 0
    arcs = {(u + base, v + base) for u, v in EDGES}
    assert edge_set(read_graph(path, directed=False)) == arcs
    reverse = {(v, u) for u, v in arcs} if directed is False else set()
    graph = read_graph(path, directed=True)
    assert graph.directed
    assert edge_set(graph) == arcs | reverse


@pytest.mark.parametrize("ending", [".gfd", ".gfd.gz", ".ged"])
def test_ri_direction_is_in_the_name(ending, write, caplog):
    content = ri_text(labelled_edges=True).encode()
    path = write(gzip.compress(content) if ending.endswith("gz") else content, f"x{ending}")
    graph, found = read_format(caplog, path)
    assert (found, graph.directed) == ("gfd", True)
    assert edge_labels(graph) == dict(zip(EDGES, EDGE_LABELS, strict=True))


def test_both_arcs_keep_the_edge_label(write):
    graph = read_graph(write(labelled_text(0, labelled_edges=True)), directed=True)
    want = dict(zip(EDGES, EDGE_LABELS, strict=True))
    assert edge_labels(graph) == want | {(v, u): label for (u, v), label in want.items()}


# Files that two formats could claim: text, what it is, nodes, edges.
CONFUSIONS = [
    ("5 2\n0 1\n3 4\n", "orca", 5, 2),
    ("5 2\n0 1\n3 5\n", "edges", 5, 3),  # an id is not below n
    ("5 3\n0 1\n3 4\n", "edges", 5, 3),  # m is not the number of rows
    ("5 2 1\n0 1 1\n3 4 1\n", "edges", 6, 3),  # ORCA has two columns
    ("1 0\n", "edges", 2, 1),
    ("3 3\n2 3\n1 3\n1 2\n", "metis", 3, 3),  # a triangle by neighbours
    ("3 3\n0 1\n0 2\n1 2\n", "orca", 3, 3),  # a triangle by edges
    ("3 3\n3 1\n1 2\n3 2\n", "edges", 3, 3),  # neither: 3 is not below 3, and not symmetric
    ("2 1\n2\n1\n", "metis", 2, 1),
    ("2 1 0\n2\n1\n", "metis", 2, 1),
    ("3 0\n\n\n\n", "metis", 3, 0),
    ("2 1 0\n5\n5\n0 1\n", "labelled", 2, 1),
    ("3 0 1\n5\n5\n7\n", "labelled", 3, 0),
    ("2 3 1\n0 1 1\n", "edges", 4, 2),  # a third column of weights
    ("2\n1 1\n1 0\n", "lad", 2, 1),
    ("2\n7 1 1\n7 1 0\n", "lad-labelled", 2, 1),
    ("0\n", "lad", 0, 0),
    ("# a\n5 6\n", "edges", 2, 1),
    ("#a\n1\n5\n0\n", "gff", 1, 0),
    ("#a\n0\n0\n", "gff", 0, 0),
    ("% a\n1 2\n", "edges", 2, 1),
    ("% bip unweighted\n1 1\n1 2\n", "konect", 3, 2),
    ("% sym unweighted\n% 0 3 3", "konect", 3, 0),
    ("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", "mtx", 3, 0),
    ("Anna Karenina\tVronsky\n", "tsv", 2, 1),
    ("Anna Vronsky\n", "edges", 2, 1),
    ("1 2 a,b\n", "edges", 2, 1),
    ("a;b,c\n", "csv", 2, 1),
]  # fmt: skip


@pytest.mark.parametrize(("text", "format", "n", "m"), CONFUSIONS)
def test_recognition(text, format, n, m, write, caplog):
    graph, found = read_format(caplog, write(text))
    assert (found, graph.n, graph.m) == (format, n, m)


def test_named_format_wins(write):
    orca = write(lines((N, len(EDGES)), *EDGES))
    graph = read_graph(orca, format="edges")
    assert (graph.n, graph.m) == (N, len(EDGES) + 1)
    assert (N, len(EDGES)) in edge_set(graph) or (len(EDGES), N) in edge_set(graph)
    # each line is both `outdegree v1 ...` and `label outdegree v1 ...`
    both = write("3\n2 1 2\n2 1 0\n2 1 0\n")
    assert read_graph(both, format="lad", directed=True).m == 5  # without the self loop
    graph = read_graph(both, format="lad-labelled", directed=True)
    assert (graph.m, graph.node_labels[:3].tolist()) == (3, [2, 2, 2])


@pytest.mark.parametrize("text", ["", "\n\n", "# only comments\n% here\n", "% sym unweighted\n"])
@pytest.mark.parametrize("format", ["auto", "edges", "csv", "tsv", "sif", "adjlist", "fanmod"])
def test_files_without_a_row_are_refused(text, format, write):
    with pytest.raises(GraphFileError, match="holds no edges: the file is empty, but for blank lines and comments"):
        read_graph(write(text), format=format)


@pytest.mark.parametrize(("format", "mark"), [("auto", ";"), ("edges", " "), ("csv", ","), ("tsv", "\t")])
def test_a_row_of_names_alone_is_a_table_of_no_edges(format, mark, write):
    graph = read_graph(write(f"source{mark}target\n"), format=format)
    assert (graph.n, graph.m) == (0, 0)


GENE_PAIRS = {("MDM2", "MDM4"), ("MDM2", "TP53")}
# Tables whose first column is no node: text, the edges.
NUMBERED_ROWS = {
    "a column called id": ("id\tA\tB\tscore\n7\tTP53\tMDM2\t0.9\n3\tMDM2\tMDM4\t0.8\n", GENE_PAIRS),
    "without a score": ("id,A,B\n1,TP53,MDM2\n2,MDM2,MDM4\n", GENE_PAIRS),
    "numbers from 1": ("1\tTP53\tMDM2\t0.9\n2\tMDM2\tMDM4\t0.8\n", GENE_PAIRS),
    "numbers from 0": ("0 A B\n1 C D\n", {("A", "B"), ("C", "D")}),
    "pandas": (",a,b\n0,5,6\n1,6,7\n", {(5, 6), (6, 7)}),
    "Cytoscape with ends": ("SUID,source,target\n123,A,B\n125,B,C\n", {("A", "B"), ("B", "C")}),
}


@pytest.mark.parametrize("name", NUMBERED_ROWS)
def test_numbers_of_rows_are_no_nodes(name, write):
    text, edges = NUMBERED_ROWS[name]
    graph = read_graph(write(text))
    assert {tuple(sorted(edge)) for edge in edge_set(graph)} == edges
    if "source" not in text:
        assert any("the first column numbers the rows" in note for note in graph.report.notes)


def test_named_columns_are_the_ends_whatever_they_hold(write):
    text = "17\tapples\tred\n17\tpears\tgreen\n18\tapples\tred\n"
    assert edge_set(read_graph(write(text), columns=(0, 1))) == {("17", "apples"), ("17", "pears"), ("18", "apples")}


CYTOSCAPE_TABLE = (
    '"SUID","interaction","name","selected","shared interaction","shared name"\n'
    '"123","pp","A (pp) B","false","pp","A (pp) B"\n"124","pp","A (pp) C","false","pp","A (pp) C"\n'
)


@pytest.mark.parametrize(("text", "message"), [
    ("17\tTP53\tMDM2\t0.9\n25\tMDM2\tMDM4\t0.8\n", r"numbers of the rows, or nodes\? columns=\(1, 2\)"),
    ("time\ta\tb\n17\tTP53\tMDM2\n25\tMDM2\tMDM4\n", r"numbers of the rows, or nodes\?"),
    (CYTOSCAPE_TABLE, "a table of Cytoscape, .* export the network"),
    ("SUID,name\na,a (pp) b\n", "a table of Cytoscape"),  # words alone, of which any might be ends of edges
])  # fmt: skip
def test_tables_whose_ends_nothing_tells_are_refused(text, message, write):
    with pytest.raises(GraphFileError, match=message):
        read_graph(write(text))


def test_relations_without_direction(write):
    """A relation that has no direction by convention makes edges, in SIF and in JSON alike; others are told of."""
    rows = [("A", "pp", "B"), ("B", "act", "C")]
    for kinds, directed in ((("pp", "pp"), False), (("pp", "act"), None), (("act", "act"), None)):
        own = [(u, kind, v) for (u, _, v), kind in zip(rows, kinds, strict=True)]
        document = {"elements": {
            "nodes": [{"data": {"id": name}} for name in "ABC"],
            "edges": [{"data": {"source": u, "target": v, "interaction": kind}} for u, kind, v in own],
        }}  # fmt: skip
        for content in ("".join("\t".join(row) + "\n" for row in own), json.dumps(document)):
            graph = read_graph(write(content))
            assert not graph.directed
            assert any("directed=True" in note for note in graph.report.notes) == (directed is None)
            both = {(v, u) for u, kind, v in own if kind == "pp"}
            assert edge_set(read_graph(write(content), directed=True)) == {(u, v) for u, _, v in own} | both


def test_two_signs_on_a_pair_of_nodes_name_the_remedy(write):
    path = write("TP53\tact\tMDM2\nMDM2\tinh\tTP53\n")
    message = "MDM2.*TP53.* are joined twice, with the labels 'act' and 'inh'; .*directed=True keeps both"
    with pytest.raises(GraphFileError, match=message.replace("MDM2.*TP53", "TP53 and MDM2")):
        read_graph(path, edge_label="relation")
    assert read_graph(path, edge_label="relation", directed=True).m == 2
    with pytest.raises(GraphFileError, match="the labels 'act' and 'inh'; keep one of them"):
        read_graph(write("A act B\nA inh B\nB inh C\n"), edge_label="relation", directed=True)


# What is wrong: text, format, line of the mistake, words of the message.
MISTAKES = {
    "ragged": ("0 1\n1 2\n1 2 3\n", "auto", 3, "expected 2 columns, found 3: '1 2 3'"),
    "ragged after a comment": ("# x\n0 1\n# y\n\n1\n", "auto", 5, "expected 2 columns, found 1: '1'"),
    "one column": ("0\n0 1\n", "auto", 1, "at least two columns, found 1 column: '0'"),
    "negative": ("0 1\n-1 2\n", "auto", 2, "expected a non-negative integer id .*, found '-1' in: '-1 2'"),
    "negative first": ("-1 2\n", "auto", 1, "non-negative integer id .*found '-1'"),
    "float": ("0 1\n1.0 2\n", "auto", 2, "non-negative integer id .*found '1.0'"),
    "float first": ("0.0e+00 1\n", "auto", 1, "non-negative integer id .*found '0.0e\\+00'"),
    "word": ("0 1\n1 x\n", "auto", 2, "non-negative integer id .*text_ids=True.*found 'x' in: '1 x'"),
    "too long": ("0 1\n1 1234567890123456789\n", "auto", 2, "found '1234567890123456789'"),
    "csv ragged": ("0,1\n1,2,3\n", "auto", 2, "expected 2 columns, found 3"),
    "csv word": ("0,1\n1,\n", "auto", 2, "found '' in: '1,'"),
    "csv empty name": ("a,b\nc,\n", "auto", 2, "expected an id, found '' in"),
    "csv quote": ('a,b\n"c,d\n', "auto", 2, "comma-separated"),
    "tsv": ("0\t1\n1 2\n", "tsv", 2, "expected 2 columns, found 1"),
    "not konect": ("1 2\n", "konect", 1, "KONECT header"),
    "konect base": ("% sym\n1 2\n0 1\n", "auto", 3, "from 1 on, found 0 in: '0 1'"),
    "konect range": ("% sym\n% 2 3 3\n1 2\n2 4\n", "auto", 4, "in 1..3, found 4"),
    "konect rows": ("% sym\n% 3 3 3\n1 2\n2 3\n", "auto", 4, "declares 3 edges, but the file ends after 2"),
    "konect bipartite": ("% bip\n% 2 2 3\n1 3\n3 1\n", "auto", 4, "in 1..2, found 3"),
    "mtx banner": ("%%MatrixMarket matrix coordinate\n", "auto", 1, "banner"),
    "mtx dense": ("%%MatrixMarket matrix array real general\n1 1\n0\n", "auto", 1, "dense"),
    "mtx field": ("%%MatrixMarket matrix coordinate bool general\n", "auto", 1, "a field pattern, integer"),
    "mtx sizes": ("%%MatrixMarket matrix coordinate real general\n% x\n3 3\n", "auto", 3, "rows columns entries"),
    "mtx square": ("%%MatrixMarket matrix coordinate real general\n3 2 0\n", "auto", 2, "3 rows and 2 columns"),
    "mtx ends": ("%%MatrixMarket matrix coordinate real general\n", "auto", 1, "columns entries, but the file ends"),
    "mtx range": ("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n0 1\n", "auto", 3, "in 1..3, found 0"),
    "mtx more": ("%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n1 3\n", "auto", 4, "one more: '1 3'"),
    "mtx fewer": ("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n", "auto", 3, "2 edges, .* after 1"),
    "mtx columns": ("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2\n", "auto", 3, "3 columns, found 2"),
    "metis more": ("2 1\n2\n1\n2\n", "metis", 4, "line 1 declares 2 nodes, and this line is one more"),
    "metis fewer": ("3 1\n2\n1\n", "metis", 3, "declares 3 nodes, but only 2 lines follow"),
    "metis edges": ("2 2\n2\n1\n", "metis", 1, "declares 2 edges, the lines hold 1"),
    "metis range": ("% x\n2 1\n3\n1\n", "metis", 3, "neighbours in 1..2, found 3"),
    "metis zero": ("2 1\n2\n0\n", "metis", 3, "neighbours in 1..2, found 0"),
    "metis one-sided": ("3 1\n2\n3\n\n", "metis", None, "edge 1 2 as often on the line of 1"),
    "metis weights": ("2 1 1\n2 5\n1\n", "metis", 3, "a weight after each neighbour"),
    "metis word": ("2 1\nx\n1\n", "metis", 2, "integers, the neighbours of a node, found 'x'"),
    "orca header": ("5\n0 1\n", "orca", 1, "expected n m"),
    "orca range": ("3 2\n0 1\n1 3\n", "orca", 3, "in 0..2, found 3"),
    "orca fewer": ("3 2\n0 1\n", "orca", 2, "declares 2 edges, but the file ends after 1"),
    "orca more": ("3 1\n0 1\n1 2\n", "orca", 3, "declares 1 edges, and this line is one more"),
    "orca huge": ("3000000000 1\n0 1\n", "orca", 1, "at most 2147483647"),
    "labelled direction": ("1 0 2\n5\n", "labelled", 1, "directed to be 0 or 1, found 2"),
    "labelled label": ("2 1 0\n5\nC 3\n0 1\n", "auto", 3, "a node label alone on its line, found 2"),
    "labelled labels": ("3 0 0\n5\n", "labelled", 2, "expected 3 lines with a node label, but the file ends 2 short"),
    "labelled range": ("2 1 0\n5\n5\n0 2\n", "auto", 4, "in 0..1, found 2"),
    "labelled ragged": ("2 2 0\n5\n5\n0 1 4\n1 0\n", "auto", 5, "3 columns, found 2"),
    "ri title": ("5\n", "gff", 1, "#name"),
    "ri count": ("#x\n1\n5\nm\n", "gff", 4, "the number of edges"),
    "ri second graph": ("#x\n1\n5\n0\n#y\n1\n5\n0\n", "auto", 5, "declares 0 edges, and this line is one more: '#y'"),
    "lad degree": ("2\n1 1\n2 0\n", "lad", 3, "outdegree v1 v2 ... with as many neighbours"),
    "lad range": ("2\n1 2\n1 0\n", "lad", 2, "neighbours in 0..1, found 2"),
    "lad fewer": ("3\n1 1\n1 0\n", "lad", 3, "declares 3 nodes, but only 2 lines follow"),
    "lad more": ("1\n0\n0\n", "lad", 3, "line 1 declares 1 nodes, and this line is one more"),
    "lad short": ("1\n4\n", "lad-labelled", 2, "label outdegree v1"),
    "pajek twice": ("*Vertices 2\n1 a\n1 b\n", "auto", 3, "vertex 1 is there twice: '1 b'"),
    "pajek networks": ("*Network a\n*Vertices 0\n*Network b\n", "auto", 3, "expected one network"),
    "pajek huge": ("*Vertices 3000000000\n", "auto", 1, "at most 2147483647 vertices"),
    "json list": ("[1, 2]\n", "node-link", None, "expected a JSON object with nodes and edges"),
    "binary": (b"\x7fELF\x01\x00\x02\n\0", "auto", 1, "this is a binary file"),
    "late binary": (b"0 1\n1 2\n\0\0\n", "auto", 3, "this is a binary file"),
    "utf-8 and not": (b"\xc3\xa9 b\nM\xfcller c\n", "auto", 2, "expected UTF-8 text; .*: 'M.ller c'"),
    "shortened": ("0 1\n" + "7" * 100 + " 2\n", "auto", 2, r"found '7{27}\.\.\.' in: '7{57}\.\.\.'$"),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
@pytest.mark.parametrize("zipped", [False, True])
def test_mistakes(name, zipped, write):
    content, format, line, message = MISTAKES[name]
    content = content.encode() if isinstance(content, str) else content
    path = write(gzip.compress(content) if zipped else content)
    with pytest.raises(GraphFileError, match=message) as caught:
        read_graph(path, format=format)
    assert caught.value.line == line
    assert caught.value.path == str(path)
    assert str(caught.value).startswith(f"{path}, line {line}: " if line else f"{path}: ")


MAY_BE_EMPTY = ("edges", "csv", "tsv", "sif", "adjlist", "fanmod", "dotmotif")


@pytest.mark.parametrize("format", [name for name in READABLE if name not in MAY_BE_EMPTY])
def test_an_empty_file_is_no_declared_graph(format, write):
    with pytest.raises(
        GraphFileError, match="expected|no well-formed XML|no JSON|cannot be read|damaged|holds no edges"
    ):
        read_graph(write(""), format=format)


def test_damaged_gzip(write):
    content = gzip.compress(lines(*np.random.default_rng(0).integers(0, 9**9, (2000, 2))).encode())
    damaged = bytearray(content)
    damaged[len(damaged) // 2] ^= 0xFF
    reason = "Compressed file ended|Error -3|CRC check failed|Not a gzipped file"  # as Python's gzip and zlib say
    for bad in (content[: len(content) // 2], content[:-4], bytes(damaged), content + b"rubbish"):
        with pytest.raises(GraphFileError, match=f"gzip data is damaged or cut short: ({reason})"):
            read_graph(write(bad))


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_graph(tmp_path / "nowhere.txt")
    with pytest.raises(IsADirectoryError):
        read_graph(tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "hdf5"}, "format must be auto, konect, edges.*got 'hdf5'"),
        ({"isolated": "no"}, "isolated must be"),
        ({"columns": (0,)}, "two or three column"),
        ({"columns": "ab"}, "two or three column"),
        ({"columns": (0, -1)}, "counted from 0"),
        ({"columns": (0, 2)}, "a column 2, found 2 columns: '0 1'"),
        ({"columns": ("a", "b")}, "a column 'a', found 2 columns: '0 1'"),
        ({"format": "orca", "columns": (0, 1)}, "for tables of edges"),
        ({"format": "orca", "text_ids": True}, "for tables of edges"),
        ({"edge_label": -1}, "edge_label must be a column counted from 0, or a name, got -1"),
        ({"edge_label": True}, "edge_label must be a column counted from 0, or a name, got True"),
        ({"columns": (0, 1, 2), "edge_label": 3}, "name two columns of labels"),
        ({"format": "fanmod", "weight": "w"}, "weight is for attributes of edges, .* read as fanmod"),
        ({"self_loops": "error"}, "self loop"),
        ({"pad": (1, 1)}, "does not hold the graph"),
    ],
)  # fmt: skip
def test_bad_options(options, message, write):
    with pytest.raises(ValueError, match=message):
        read_graph(write("0 1\n1 1\n"), **options)


@pytest.mark.parametrize(
    "options", [{"attributes": True}, {"edge_label": "x"}, {"weight": "x"}, {"columns": ("A", "x")}]
)
def test_two_columns_of_one_name(options, write):
    path = write("A,B,x,x\na,b,1,2\nb,c,3,4\n")
    with pytest.raises(GraphFileError, match="several columns are called 'x'; give them different names"):
        read_graph(path, **options)
    assert edge_set(read_graph(path)) == {("a", "b"), ("b", "c")}
    assert list(edge_labels(read_graph(path, edge_label=3)).values()) == [2, 4]


def test_nodes_that_are_called_like_missing_values_are_told(write):
    graph = read_graph(write("source,target\nA,NA\nB,-\nA,B\n"))
    assert graph.node_names.tolist() == ["-", "A", "B", "NA"]
    assert "there are nodes called '-', 'NA', which often means a missing value" in graph.report.notes


def test_label_ids_must_be_a_dict(write):
    with pytest.raises(TypeError, match="label_ids"):
        read_graph(write("0 1\n"), label_ids=["a"])


def test_report_and_strictness(write):
    path = write("0 1\n1 0\n0 1\n2 2\n")
    report = read_graph(path).report
    assert (report.rows, report.self_loops, report.duplicates, report.reverse_duplicates) == (4, 1, 1, 1)
    with pytest.raises(GraphFileError, match="row i of the file"):
        read_graph(path, duplicates="error")
    with pytest.raises(GraphFileError, match="backwards"):
        read_graph(write("0 1\n1 0\n"), reverse="error")
    assert read_graph(path, pad="bucket").node_capacity == 16


def test_integer_ids_are_names(write):
    path = write("10 3\n3 700000000000\n5 5\n")
    graph = read_graph(path)
    assert graph.node_names.tolist() == [3, 5, 10, 700000000000]  # 5 occurs, though only in a self loop
    assert graph.edge_list().tolist() == [[0, 2], [0, 3]]
    graph = read_graph(path, isolated="drop")
    assert graph.node_names.tolist() == [3, 10, 700000000000]
    assert graph.report.isolated == 1
    with pytest.raises(GraphFileError, match="over the limit.*isolated=.drop"):
        read_graph(path, isolated="keep")
    assert read_graph(write("2 5\n"), isolated="keep").n == 6
    graph = read_graph(write("7 3\n0 1\n1 2\n"), format="edges")
    assert graph.node_names.tolist() == [0, 1, 2, 3, 7]
    graph = read_graph(write("4 2\n0 1\n2 1\n"), isolated="drop")
    assert (graph.n, graph.report.isolated) == (3, 1)


@pytest.mark.parametrize(
    ("text", "options", "edges"),
    [
        ("b a\na c\n", {}, {("a", "b"), ("a", "c")}),
        ("A,B C,0.5\nB C,Ä,0.25\n", {}, {("A", "B C"), ("B C", "Ä")}),
        ('"A, B",C\n', {}, {("A, B", "C")}),
        ("A B\tC\nC\tD\n", {}, {("A B", "C"), ("C", "D")}),
        ("x y\n1 2\n3 y\n", {"text_ids": True}, {("1", "2"), ("3", "y"), ("x", "y")}),
        ("-1 2\n", {"text_ids": True}, {("-1", "2")}),
        ("01 1\n", {"text_ids": True}, {("01", "1")}),
        ("A 1\n2 3\n", {}, {("1", "A"), ("2", "3")}),
        ("gene1,gene2,score\nX,Y,0.9\n", {}, {("X", "Y")}),
        ("k,gene_a,gene_b\n1,X,Y\n2,Y,Z\n", {"columns": ("gene_a", "gene_b")}, {("X", "Y"), ("Y", "Z")}),
        ("9 X Y\n8 Y Z\n", {"columns": (1, 2)}, {("X", "Y"), ("Y", "Z")}),
        ("a b NA\nd e 0.5\n", {}, {("a", "b"), ("d", "e")}),
        ("a b c\nd e f\n", {"columns": (0, 1)}, {("a", "b"), ("d", "e")}),
        ("a b {'w': 3, 'kind': 'x'}\nb c {'w': 4, 'kind': 'y'}\n", {}, {("a", "b"), ("b", "c")}),
        ('"source" "target"\n"TP 53" "A"\n"A"\t "B"\n', {}, {("A", "TP 53"), ("A", "B")}),
        ('"TP 53" "MDM 2"\n"MDM 2" 5"UTR\n', {}, {("MDM 2", "TP 53"), ('5"UTR', "MDM 2")}),
        ("A B 0,5\nB C 0,7\n", {}, {("A", "B"), ("B", "C")}),
        ("A;B;0,5\nB;C;0,7\n", {}, {("A", "B"), ("B", "C")}),
        ("0,5;A;B\n0,7;B;C\n", {"columns": (1, 2)}, {("A", "B"), ("B", "C")}),
        ("11,12,2020-01-01 10:00\n12,13,2020-01-02 11:00\n", {"text_ids": True}, {("11", "12"), ("12", "13")}),
        ("Caspase 3,5 HT\nA,5 HT\n", {}, {("5 HT", "Caspase 3"), ("5 HT", "A")}),
        ('a\xa0,b\n"a\xa0",c\n', {}, {("a\xa0", "b"), ("a\xa0", "c")}),
        ("% asym\nB A\nA B\n", {}, {("A", "B"), ("B", "A")}),
        ("% bip\na x\nb x\n", {}, {("a", "x"), ("b", "x")}),
        ("% bip\n1 1\n2 1\n", {}, {("L1", "R1"), ("L2", "R1")}),
        ("% bip\n% 2 2 3\n1 1\n2 1\n", {}, {("L1", "R1"), ("L2", "R1")}),
    ],
)  # fmt: skip
def test_text_ids(text, options, edges, write):
    graph = read_graph(write(text), **options)
    assert {tuple(sorted(edge)) if not graph.directed else edge for edge in edge_set(graph)} == edges
    assert list(graph.node_names) == sorted(graph.node_names)
    if "% 2 2 3" in text:
        assert graph.node_names.tolist() == ["L1", "L2", "R1", "R2", "R3"]


def test_label_columns(write):
    path = write("source,target,kind\n0,1,4\n2,1,0\n")
    graph = read_graph(path, columns=(0, 1, 2))
    assert edge_labels(graph) == {(0, 1): 4, (1, 2): 0}
    graph = read_graph(write("0,1,act\n2,1,inh\n"), columns=(1, 0, 2), label_ids={"inh": 5}, directed=True)
    assert edge_labels(graph) == {(1, 0): 6, (1, 2): 5}
    assert graph.edge_label_names == {6: "act", 5: "inh"}
    graph = read_graph(write("0,1,-1\n2,1,1\n"), edge_label=2)
    assert (edge_labels(graph), graph.edge_label_names) == ({(0, 1): -1, (1, 2): 1}, None)
    graph = read_graph(write("0,1,2147483647\n2,1,1\n"), edge_label=2)
    assert (edge_labels(graph), graph.edge_label_names) == ({(0, 1): 2**31 - 1, (1, 2): 1}, None)
    graph = read_graph(write("0,1,-2147483648\n2,1,-01\n"), edge_label=2)
    assert graph.edge_label_names == {0: "-01", 1: "-2147483648"}
    graph = read_graph(write("0,1,4\n2,1,inh\n"), edge_label=2)
    assert edge_labels(graph) == {(0, 1): 0, (1, 2): 1}
    assert graph.edge_label_names == {0: "4", 1: "inh"}
    graph = read_graph(write("1\t2\tbinds to\n2\t3\tbinds at\n"), edge_label=2)
    assert graph.edge_label_names == {0: "binds at", 1: "binds to"}
    assert read_graph(write("1\t2 3\n2\t3 1\n"), edge_label=2).edge_label_names is None  # 2 3 is no end


@pytest.mark.parametrize(("header", "rows"), [
    ("asym weighted\n", "1 2 5\n2 3 6\n"), ("asym weighted\n% 2 3 3\n", "1 2 5\n2 3 6\n"),
    ("bip weighted\n% 2 2 3\n", "1 2 5\n2 3 6\n"),
])  # fmt: skip
def test_columns_of_konect(header, rows, write):
    path = write(f"% {header}{rows}")
    swapped = read_graph(path, columns=(1, 0, 2), directed=True)
    bipartite = header.startswith("bip")
    ends = [("L2", "R1"), ("L3", "R2")] if bipartite else [(2, 1), (3, 2)]
    assert edge_set(swapped) == set(ends) | ({(v, u) for u, v in ends} if bipartite else set())
    assert set(edge_labels(swapped).values()) == {5, 6}
    assert read_graph(path, weight=2).attributes.edges["2"].tolist() == [5, 6]
    assert "1" in read_graph(path, text_ids=True).node_names.tolist()
    with pytest.raises(GraphFileError, match="expected a column 3, found 3 columns"):
        read_graph(path, columns=(0, 3))


@pytest.mark.parametrize("of_labels", ["shift-jis", "utf-8"])
def test_labels_are_in_the_encoding_of_the_graph_or_in_utf8(tmp_path, of_labels):
    for name, text, encoding in (("g", "あ b\nb c\n", "shift-jis"), ("labels", "あ 赤\nb x\nc x\n", of_labels)):
        (tmp_path / name).write_text(text, encoding=encoding)
    graph = read_graph(tmp_path / "g", node_labels=tmp_path / "labels", encoding="shift-jis")
    assert (graph.node_names.tolist(), graph.node_labels[:3].tolist()) == (["b", "c", "あ"], [0, 0, 1])
    assert graph.node_label_names == {0: "x", 1: "赤"}
    (tmp_path / "labels").write_bytes(b"c \xff\n")
    with pytest.raises(GraphFileError, match="labels: the text cannot be read as utf-8"):
        read_graph(tmp_path / "g", node_labels=tmp_path / "labels", encoding="shift-jis")


def test_text_labels_agree_between_files(write):
    label_ids = {}
    target = read_graph(write("#t\n3\nC\nN\nO\n2\n0 1\n1 2\n"), label_ids=label_ids)
    query = read_graph(write("#q\n2\nO\nC\n1\n0 1\n"), label_ids=label_ids)
    assert label_ids == {"C": 0, "N": 1, "O": 2}
    assert target.node_labels[:3].tolist() == [0, 1, 2]
    assert query.node_labels[:2].tolist() == [2, 0]
    lad = read_graph(write("2\nN 1 1\nS 1 0\n"), format="lad-labelled", label_ids=label_ids)
    assert lad.node_labels[:2].tolist() == [1, 3]
    assert read_graph(write("#t\n1\n7\n0\n"), label_ids=label_ids).node_labels[:1].tolist() == [4]


@pytest.mark.parametrize("kind", ["integers", "text", "csv", "metis"])
@pytest.mark.parametrize("zipped", [False, True])
def test_blocks(kind, zipped, write, monkeypatch):
    """Block borders fall everywhere, among blank lines and comments, and change nothing."""
    monkeypatch.setattr(textscan, "BLOCK", 64)
    rng = np.random.default_rng(3)
    edges = np.unique(rng.integers(0, 10 ** rng.integers(1, 7, (300, 1)), (300, 2)), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    if kind == "metis":
        names = np.unique(edges)
        edges = np.searchsorted(names, edges) + 1
        n = len(names) + 3
        rows = [" ".join(str(a + b - u) for a, b in edges if u in (a, b)) for u in range(1, n + 1)]
        text = f"{n} {len(edges)}\n" + "".join(row + "\n" + "% note\n" * int(rng.random() < 0.1) for row in rows)
    else:
        mark = {"integers": " ", "text": "\t", "csv": ","}[kind]
        extra = ["", "\n", "# 5 6\n"]
        pick = rng.choice(3, len(edges), p=[0.8, 0.1, 0.1])
        prefix = "v " if kind == "text" else ""
        text = "".join(f"{extra[i]}{prefix}{u}{mark}{prefix}{v}\n" for i, (u, v) in zip(pick, edges, strict=True))
    path = write(gzip.compress(text.encode()) if zipped else text)
    graph = read_graph(path)
    found = {tuple(sorted(edge)) for edge in edge_set(graph)}
    assert found == {tuple(sorted((f"v {u}", f"v {v}") if kind == "text" else (u, v))) for u, v in edges.tolist()}
    assert graph.n == (n if kind == "metis" else len(np.unique(edges)))
    if kind in ("integers", "csv"):
        with pytest.raises(GraphFileError) as caught:
            read_graph(write(text + "7 x,\n8 9\n"))
        assert caught.value.line == text.count("\n") + 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_pipe(tmp_path):
    """A pipe can be read only once, also where recognising a format would like to look ahead."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=("9 8\n" + lines(*EDGES),))
    writer.start()
    graph = read_graph(path)
    writer.join()
    assert graph.m == len(EDGES) + 1


def test_long_comment_at_the_start(write, monkeypatch):
    monkeypatch.setattr(textscan, "BLOCK", 64)
    graph = read_graph(write("# comment\n" * 50 + "a,b\nc,d\n"))
    assert graph.node_names.tolist() == ["a", "b", "c", "d"]


def test_metis_against_networkx(write):
    networkx = pytest.importorskip("networkx")
    graph = networkx.random_regular_graph(2, 20, seed=1)  # n = m, two neighbours on every line: a table
    text = lines((20, 20), *[[v + 1 for v in graph[u]] for u in range(20)])
    found = read_graph(write(text))
    assert {tuple(sorted((u - 1, v - 1))) for u, v in edge_set(found)} == {tuple(sorted(edge)) for edge in graph.edges}


def test_matrix_market_against_scipy(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    from scipy.io import mmwrite

    matrix = sparse.random(30, 30, 0.1, random_state=5, format="coo")
    mmwrite(tmp_path / "a.mtx", matrix, symmetry="general")
    arcs = {(int(u), int(v)) for u, v in zip(*matrix.coords, strict=True) if u != v}
    graph = read_graph(tmp_path / "a.mtx")
    assert graph.directed
    assert set(map(tuple, graph.edge_list().tolist())) == arcs
    mmwrite(tmp_path / "b.mtx", matrix + matrix.T, field="pattern", symmetry="symmetric")
    graph = read_graph(tmp_path / "b.mtx")
    assert not graph.directed
    assert set(map(tuple, graph.edge_list().tolist())) == {(min(arc), max(arc)) for arc in arcs}


def _files(folder: Path, pattern: str, large: bool) -> list[Path]:
    """The files of real networks, of which those above 256 KiB take far longer than all others."""
    paths = [path for path in sorted(folder.rglob(pattern)) if (path.stat().st_size > 256 << 10) == large]
    assert paths
    return paths


@pytest.mark.parametrize("large", [False, *more(True)])
def test_real_undirected(shared_data, large):
    want = json.loads((shared_data / "undirected" / "graphlets.json").read_text())["graphs"]
    for path in _files(shared_data / "undirected", "*.edges.gz", large):
        graph = read_graph(path)
        sizes = want[path.name.removesuffix(".edges.gz")]
        assert (graph.n, graph.m, graph.node_names) == (sizes["n"], sizes["m"], None), path.name


def test_real_directed(shared_data):
    for path in sorted((shared_data / "directed").glob("*.edges")):
        graph = read_graph(path, directed=True)
        rows = np.loadtxt(path, dtype=np.int64)
        assert (graph.n, graph.m) == (rows.max() + 1, len(rows)), path.name


def _header(path: Path) -> list[int]:
    open_ = gzip.open if path.suffix == ".gz" else open
    with open_(path, "rt") as file:
        return [int(word) for word in file.readline().split()]


@pytest.mark.parametrize("large", [False, *more(True)])
def test_real_labelled(shared_data, large):
    for path in _files(shared_data / "labelled", "*.txt*", large):
        n, m, directed = _header(path)
        graph = read_graph(path)
        assert (graph.n, graph.m, graph.directed) == (n, m, bool(directed)), path
        assert graph.node_labels is not None
        assert (graph.edge_labels is not None) == ("edgelabelled" in str(path)), path


@pytest.mark.parametrize("mark", [",", "\t", " "])
def test_words_of_many_blocks_are_numbered(mark, write, monkeypatch):
    rng = np.random.default_rng(0)
    names = ["é" + "x" * (i % 90) + str(i) for i in range(5000)]  # up to 96 bytes: also more than are hashed
    pairs = {(min(u, v), max(u, v)) for u, v in rng.integers(0, len(names), (6000, 2)).tolist() if u != v}
    labels = ["b", "a", "a longer label".replace(" ", "_")]
    rows = [[names[u], names[v], labels[(u + v) % 3]] for u, v in sorted(pairs, key=lambda pair: hash(pair))]
    if mark == ",":
        rows[7][0] = f'"{rows[7][0]}"'  # its block is read field by field
    path = write("\n".join(mark.join(row) for row in rows) + "\n")
    monkeypatch.setattr(textscan, "BLOCK", 1 << 14)
    rows[7][0] = rows[7][0].strip('"')
    known = {"z": 5}
    graph = read_graph(path, columns=(0, 1, 2), label_ids=known)
    assert graph.node_names.tolist() == sorted({name for row in rows for name in row[:2]})
    assert known == {"z": 5} | {label: 6 + i for i, label in enumerate(dict.fromkeys(row[2] for row in rows))}
    found = np.asarray(graph.edge_labels)[graph.edge_slots()].tolist()
    edges = {
        (*sorted((graph.node_names[u], graph.node_names[v])), k)
        for (u, v), k in zip(graph.edge_list().tolist(), found, strict=True)
    }
    assert edges == {(*sorted(row[:2]), known[row[2]]) for row in rows}


@pytest.mark.parametrize("digits", [1, 7, 8, 9, 15, 16, 17, 18])
def test_integers_of_every_length(digits, write):
    values = [10 ** (digits - 1), 10**digits - 1, 0, int("123456789" * 2) % 10**digits]
    columns = [Column(0, "x"), Column(1, "y", zeros=False)]
    with textscan.TextFile(write("".join(f"{value} {value}\n" for value in values))) as file:
        assert read_table(file, 2, columns).tolist() == [[value, value] for value in values]
    for bad in b"/:a-+.":
        for place in range(digits):
            text = bytearray(b"7" * digits)
            text[place] = bad
            with (
                textscan.TextFile(write(b"5 5\n" + bytes(text) + b" 5\n")) as file,
                pytest.raises(GraphFileError, match="line 2: expected x, found"),
            ):
                read_table(file, 2, columns)


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_numbers_beside_columns_with_gaps(empty, write):
    """Fields that are missing do not move the numbers after them."""
    rows = [[str(10 * i + j) for j in range(3)] for i in range(5)]
    rows[2][empty] = ""
    path = write("\n".join(map(",".join, rows)) + "\n")
    chosen = [j for j in range(3) if j != empty]
    with textscan.TextFile(path) as file:
        table = read_table(file, 3, [Column(j, "x") for j in chosen], delimiter=b",")
    assert table.tolist() == [[10 * i + j for j in chosen] for i in range(5)]
    with textscan.TextFile(path) as file, pytest.raises(GraphFileError, match="line 3: expected x, found ''"):
        read_table(file, 3, [Column(empty, "x")], delimiter=b",")


@pytest.mark.parametrize("mark", [b" ", b"\t", b",", b";"])
def test_plain_blocks_and_lines_read_the_same(mark, write):
    """Tables that NumPy parses at once, and the same with a blank, a quote or a comment that makes it line by line."""
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 10 ** rng.integers(1, 18, (400, 4))).tolist()
    lines = [mark.join(b"%d" % value for value in row) for row in rows]
    delimiter = b"" if mark in b" \t" else mark
    words = Numbering()
    columns = [Column(3, "x"), Column(0, "y", zeros=False), Column(2, "z", numbering=words)]
    changes = (
        lambda line: line,
        lambda line: b" " + line + b"\r",
        lambda line: b"# note\n\n" + line,
        lambda line: b'"%b"' % line.replace(mark, b'"%b"' % mark),
    )
    for change in changes:
        text = b"\n".join([*lines[:200], change(lines[200]), *lines[201:]]) + b"\n"
        with textscan.TextFile(write(text)) as file:
            table = read_table(file, 4, columns, delimiter=delimiter)
        assert table[:, :2].tolist() == [[row[3], row[0]] for row in rows]
        named = list(words.known)
        assert [named[code] for code in table[:, 2].tolist()] == [str(row[2]) for row in rows]


@pytest.mark.parametrize("control", ["\x01", "\x1b", "\x1f", "\x7f"])
def test_control_characters_part_no_fields(control, write):
    for mark in " ,\t":
        path = write(f"a{mark}b\nc{control}d{mark}e\n")
        assert edge_set(read_graph(path, directed=True)) == {("a", "b"), (f"c{control}d", "e")}
        with pytest.raises(GraphFileError, match="line 2: expected 2 columns, found 1"):
            read_graph(write(f"a{mark}b\nc{control}d\n"))


@pytest.mark.parametrize(("row", "message"), [
    ("1,2", "expected 3 columns, found 2"), ("1,02,x", "expected y, found '02'"), ("1,,x", "expected y, found ''"),
    ("1,2,", "expected z, found ''"), ("1,7,x", "expected y in 0..6, found 7"), ("x,2,x", "expected x, found 'x'"),
    ("1 1,2,x", "expected x, found '1 1'"), ("1.0,2,x", "expected x, found '1.0'"), ('"1,2,x', "comma-separated"),
])  # fmt: skip
def test_the_line_of_a_mistake_far_below(row, message, write, monkeypatch):
    monkeypatch.setattr(textscan, "BLOCK", 1 << 14)
    text = "".join(f"{i},{i % 7},w{i}\n" for i in range(3000))  # more than a block
    columns = [Column(0, "x"), Column(1, "y", high=6, zeros=False), Column(2, "z", numbering=Numbering())]
    for before in ("", "# a comment\n\n"):
        content = before + text + row + "\n" + text
        with textscan.TextFile(write(content)) as file, pytest.raises(GraphFileError, match=message) as caught:
            read_table(file, 3, columns, delimiter=b",")
        assert caught.value.line == 3001 + before.count("\n")


def test_an_empty_cell_is_a_missing_value(write):
    graph = read_graph(write("source,target,weight,kind\nA,B,,x\nB,C,2,\n"), attributes=True)
    weights, kinds = graph.attributes.edges["weight"], graph.attributes.edges["kind"]
    assert np.isnan(weights[0])
    assert (weights[1], kinds.tolist()) == (2, ["x", None])


def test_weights_of_repeated_rows_are_summed(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("pre,post,region,n\nx,y,LH,2\nx,y,MB,3\ny,z,LH,1\nz,z,LH,9\nz,x,MB,4\ny,x,MB,1\n")
    graph = read_graph(path, True, weight="n")
    assert graph.edge_list().tolist() == [[0, 1], [1, 0], [1, 2], [2, 0]]
    assert graph.attributes.edges["n"].tolist() == [5, 1, 1, 4]
    assert "the weights of repeated rows are summed: 5 rows, 4 edges" in graph.report.notes
    assert (graph.report.duplicates, graph.report.self_loops) == (0, 1)
    strong = read_graph(path, True, weight="n", min_weight=4)
    assert strong.edge_list().tolist() == [[0, 1], [2, 0]]
    assert strong.attributes.edges["n"].tolist() == [5, 4]
    assert "left out for a weight below 4: 2 edges of 4" in strong.report.notes
    assert strong.report.rows == graph.report.rows == 6  # those of the file
    assert strong.node_names.tolist() == ["x", "y", "z"]
    both = read_graph(path, False, weight="n", min_weight=2, isolated="drop")
    assert both.edge_list().tolist() == [[0, 1], [0, 2]]
    assert both.attributes.edges["n"].tolist() == [6, 4]
    labelled = read_graph(path, True, columns=("pre", "post"), weight="n", min_weight=4, attributes=True)
    assert labelled.attributes.edges["n"].tolist() == [5, 5, 4]  # one for each row
    assert labelled.attributes.edges["region"].tolist() == ["LH", "MB", "MB"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weight": "m"}, "no column 'm' of weights; there are 'region', 'n', 'k'"),
        ({"weight": "region"}, "edge 1 is 'LH'; weights must be positive"),
        ({"weight": "n"}, "edge 2 is '-1'"),
        ({"weight": "k"}, r"edge 2 is missing; .* \(leave the edge out, or fill in its weight"),
        ({"weight": 9}, "no column '9' of weights; there are 'region', 'n', 'k'"),
        ({"weight": 0}, "no column 'pre' of weights"),
        ({"min_weight": 2}, "name their column"),
        ({"weight": "n", "min_weight": np.nan}, "min_weight must be a number, got nan"),
    ],
)
def test_weights_that_are_none(tmp_path, options, message):
    path = tmp_path / "net.csv"
    path.write_text("pre,post,region,n,k\nx,y,LH,2,1\ny,z,LH,-1,\n")
    with pytest.raises(ValueError, match=message):
        read_graph(path, True, **options)


@pytest.mark.parametrize(
    ("weights", "sums"),
    [
        ([10**18 - 1] * 10 + [1], [10**19 - 10, 1]),
        ([2**62, 2**62 - 1, 1], [2**63 - 1, 1]),
        (np.array([1, 2**63 + 1], np.uint64), [1, 2**63 + 1]),
        ([1, 1e16], [1, 1e16]),
        (["0.5", "10000000000000000"], [0.5, 1e16]),
        (["007", "10"], [7, 10]),
        ([Decimal(2**70 + 1), Decimal(1)], [2**70 + 1, 1]),
        ([Decimal("0.5"), Decimal("0.25"), Decimal(3)], [0.75, 3]),
    ],
)
def test_weights_of_every_size_and_type(tmp_path, weights, sums):
    """All but the last are those of the edge ``a b``. The weight is column 2, under its own name."""
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({"source": ["a"] * len(weights), "target": [*"b" * (len(weights) - 1), "c"], "w": weights})
    parquet.write_table(table, tmp_path / "net.parquet")
    rows = zip(*table.drop("w").to_pydict().values(), weights, strict=True)
    (tmp_path / "net.csv").write_text("source,target,w\n" + "".join(f"{u},{v},{w}\n" for u, v, w in rows))
    for path in tmp_path.iterdir():
        assert read_graph(path, weight="w").attributes.edges["w"].tolist() == sums
        heavy = read_graph(path, weight=2, min_weight=2)
        assert heavy.attributes.edges["w"].tolist() == [value for value in sums if value >= 2]


def test_large_and_wrong_numbers_in_json(tmp_path):
    path = tmp_path / "net.json"
    edges = [{"source": 1, "target": 2, "w": value} for value in (1, "2", 10**18, None, True)]
    document = {"nodes": [{"id": 1, "root": 10**19}, {"id": 2, "root": 7}], "links": edges[:3]}
    path.write_text(json.dumps(document))
    graph = read_graph(path, weight="w", attributes=True)
    assert graph.attributes.edges["w"].tolist() == [10**18 + 3] * 3
    assert graph.attributes.nodes["root"].tolist() == [10**19, 7]
    for wrong, message in ((edges[3], "edge 3 is missing"), (edges[4], "edge 3 is True")):
        path.write_text(json.dumps(document | {"links": [*edges[:2], wrong]}))
        with pytest.raises(ValueError, match=message):
            read_graph(path, weight="w")


def test_a_direction_in_words(tmp_path):
    (tmp_path / "net.csv").write_text("a,b\n")
    with pytest.raises(TypeError, match="directed must be True or False, got 'no'"):
        read_graph(tmp_path / "net.csv", "no")


def test_weights_with_a_comma_or_of_no_column(tmp_path):
    path = tmp_path / "net.csv"
    path.write_text("source;target;weight\na;b;1,5\nb;c;2,25\n")
    with pytest.raises(ValueError, match=r"edge 1 is '1,5'; .* \(write decimals with a point"):
        read_graph(path, weight="weight")
    path.write_text("a b\nb c\n")
    with pytest.raises(ValueError, match="no column 'w' of weights; there are no columns but the ends"):
        read_graph(path, weight="w")
