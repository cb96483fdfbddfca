"""Files of other programs: each read as what it is, or refused by name; nothing misread in silence."""

import gzip
import io
import json
import logging
import os
import subprocess
import sys

import numpy as np
import pytest

from jaxmotif.graph import Graph, GraphFileError, disjoint_union, format_table, read_graph
from jaxmotif.io import _text as textscan
from jaxmotif.io._registry import FORMATS, READABLE
from jaxmotif.matching import count_matches
from tests.io.format_oracle import reference
from tests.io.format_samples import ARCS, GENES, SIGNS, library_samples, text_samples

TEXT = text_samples()
LIBRARY = ("graphml", "gexf", "gml-networkx", "pajek-networkx", "adjlist-networkx", "node-link", "cyjs", "npz-csr",
           "npz-csc", "npz-coo", "parquet", "arrow")  # fmt: skip


@pytest.fixture(scope="module")
def samples():
    for library in ("networkx", "scipy", "pyarrow"):
        pytest.importorskip(library)
    return TEXT | library_samples()


def named_edges(graph, as_text=False):
    names = np.arange(graph.n) if graph.node_names is None else np.asarray(graph.node_names)
    edges = {tuple(names[edge].tolist()) for edge in graph.edge_list()}
    return {(str(u), str(v)) for u, v in edges} if as_text else edges


def either_way(edges):
    return {frozenset(edge) for edge in edges}


def read_format(caplog, path, **options):
    """The graph, and the format it was read as."""
    caplog.clear()
    with caplog.at_level(logging.INFO, "jaxmotif"):
        graph = read_graph(path, **options)
    return graph, caplog.records[-1].getMessage().rsplit(" ", 1)[1]


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("name", [*TEXT, *LIBRARY])
def test_each_format(name, zipped, samples, write, caplog):
    sample = samples[name]
    endings = ("",) if name == "gff" else ("", sample.suffix)
    for ending in endings:  # recognised by content, whatever the name
        path = write(gzip.compress(sample.content) if zipped else sample.content, f"x{ending}")
        graph, found = read_format(caplog, path)
        assert (found, graph.directed) == (sample.format, bool(sample.directed))
        assert graph.n == 4
        same = (lambda edges: set(edges)) if sample.directed else either_way
        assert same(named_edges(graph)) == same(sample.edges)
    if sample.directed is None:
        assert any("directed=True" in note for note in graph.report.notes)
        assert named_edges(read_graph(path, directed=True)) == set(sample.edges)


CORNERS = {
    "names that are there twice are no names": (
        '*Vertices 3\n1 "a"\n2 "a"\n3 "b"\n*Edges\n1 2\n2 3\n', {("1", "2"), ("2", "3")}),
    "a declared degree of 0": ("t 2 1\nv 0 7 0\nv 1 7 1\ne 0 1\n", "declares degree 0 for node 0, which has 1 edges"),
    "mutual edges among arcs": (
        '<gexf><graph defaultedgetype="directed"><nodes><node id="a"/><node id="b"/><node id="c"/></nodes><edges>'
        '<edge source="a" target="b" type="mutual"/><edge source="b" target="c"/></edges></graph></gexf>',
        {("a", "b"), ("b", "a"), ("b", "c")}),
    "one node without an id": ('{"nodes": [{"id": "x"}, {}], "edges": [{"source": "x", "target": "1"}]}', "'id'"),
    "nodes without ids": ('{"nodes": [{}, {}, {}], "links": [{"source": 0, "target": 2}]}', {("0", "2")}),
    "relations in Pajek": (
        '*Network genes\n*Vertices 3\n*Arcs :1 "activates"\n1 2\n*Arcs :2 "inhibits"\n2 1\n2 3\n',
        {("1", "2"), ("2", "1"), ("2", "3")}),
    "comments in an adjacency list": ("# x\n# GMT x\n#\na b # a note\nb c#1\n", {("a", "b"), ("b", "c#1")}),
    "a multiline adjacency list": (
        "# x\n# GMT x\n#\na 1\nb {'w': 1}\nb 0\n", "line 5: .*multiline adjacency list; .* nx.write_adjlist"),
    "commas in an adjacency list": ("# x\n# GMT x\n#\n0,1\n1,2\n2,3\n3\n", {("0", "1"), ("1", "2"), ("2", "3")}),
    "tabs in an adjacency list": ("# x\n# GMT x\n#\nNew York\tSan Jose\nSan Jose\n", {("New York", "San Jose")}),
    "commas among blanks in an adjacency list": ("# x\n# GMT x\n#\n2,3-BPG Hb\nHb\n", {("2,3-BPG", "Hb")}),
    "an empty neighbour": ("# x\n# GMT x\n#\na,b\nb,,c\n", "line 5: expected a node and its neighbours, found ''"),
    "relations in quotes between tabs": ('"A"\t"acts on"\t"B"\n"B"\t"acts on"\t"C"\n', {("A", "B"), ("B", "C")}),
    "a number before a word in DOT": ("graph {\n 1abc -- 2xyz }", "line 2: expected a word, .*: '1abc -- 2xyz }'"),
    "numbers in DOT": ("graph { 1--.5; -2 -- 3.25 }", {("1", ".5"), ("-2", "3.25")}),
    "entities in GML": (
        'graph [ node [ id 1 label "R&notD" ] node [ id 2 label "&#228;&amp;b" ] edge [ source 1 target 2 ] ]',
        {("R&notD", "ä&b")}),
    "names in quotes beside a matrix": (
        '"a b" "b" "c"\n"a b" 0 1 0\n"b" 0 0 1\n"c" 0 0 0\n', {("a b", "b"), ("b", "c")}),
    "relations in quotes": ('"A" "acts on" "B"\n"B" "acts on" "C"\n', {("A", "B"), ("B", "C")}),
}  # fmt: skip


@pytest.mark.parametrize("name", CORNERS)
def test_corners_of_formats(name, write):
    content, expected = CORNERS[name]
    if isinstance(expected, str):
        with pytest.raises(GraphFileError, match=expected):
            read_graph(write(content, "x"))
    else:
        graph = read_graph(write(content, "x"))
        assert named_edges(graph, as_text=True) == expected


@pytest.mark.filterwarnings("ignore:The default value for `spmatrix`")  # of scipy, in its own reader
@pytest.mark.parametrize("name", [*TEXT, *LIBRARY])
def test_against_other_readers(name, samples):
    """The references that mutated files are compared with know these files."""
    sample = samples[name]
    if name == "dot":
        pytest.skip("no other reader of DOT is here")
    directed, edges = reference(sample.format, sample.content)
    assert directed in (None, bool(sample.directed))
    assert either_way(edges) == either_way((str(u), str(v)) for u, v in sample.edges)


def test_every_readable_format_has_a_sample(samples):
    elsewhere = {"gfd", "lad-labelled", "mat", "matrix", "xlsx"}  # the last three in test_matrices.py
    assert {sample.format for sample in samples.values()} | elsewhere == set(READABLE)


SHARED = {
    "daf.graph": {(0, 1), (1, 2), (0, 2), (2, 3)}, "ffl.motif": {("A", "B"), ("B", "C"), ("A", "C")},
    "g.dot": set(ARCS[:3]), "g.npy": {(0, 1), (1, 2)}, "q.lg": {(0, 1)},
    "g.npz": {(GENES.index(u), GENES.index(v)) for u, v in ARCS},
    "g_alon.txt": {(1 + GENES.index(u), 1 + GENES.index(v)) for u, v in ARCS},
    "g_fanmod.txt": {(1 + GENES.index(u), 1 + GENES.index(v)) for u, v in ARCS},
}  # fmt: skip


def test_the_files_that_people_have(shared_data):
    paths = sorted(path for path in (shared_data / "formats").iterdir() if path.name != "README.md")
    assert len(paths) > 20
    for path in paths:
        if path.name == "u.dl":
            with pytest.raises(GraphFileError, match="UCINET.*GraphML"):
                read_graph(path)
            continue
        graph = read_graph(path)
        edges = SHARED.get(path.name, set(ARCS))
        assert either_way(named_edges(graph)) == either_way(edges), path
        if path.name in ("daf.graph", "q.lg"):
            assert not graph.directed
        else:
            assert named_edges(read_graph(path, directed=True)) == edges, path


def npy_bytes(values):
    stream = io.BytesIO()
    np.save(stream, np.array(values))
    return stream.getvalue()


# Files of no format, or of two, or that are no plain graph: content, what the message must name.
REFUSED = {
    "relation or end": ("A x B\nC y D\n", "relations or ends of edges.*sif.*columns="),
    "neighbours or attributes": ("A B C\nB C A\nC A B\n", "neighbours of their first words.*adjlist"),
    "two LADs": ("3\n2 1 2\n2 1 0\n2 1 0\n", "more than one format.*lad.*lad-labelled"),
    "tgf": ("1 A\n2 B\n#\n1 2\n", "Trivial Graph Format"),
    "xgmml": ('<?xml version="1.0"?>\n<graph label="x"></graph>\n', "XGMML"),
    "web page": ("<!DOCTYPE html>\n<html><body>404</body></html>\n", "a web page .HTML.*open it in a browser"),
    "adjacency data": ('{"directed": false, "adjacency": [[]]}', "other JSON"),
    "ucinet": ("dl n = 3 format = edgelist1\ndata:\n1 2\n", "UCINET"),
    "graph6": (">>graph6<<A_\n", "graph6"),
    "dimacs": ("c a note\np edge 3 2\ne 1 2\n", "DIMACS"),
    "gdf": ("nodedef>name VARCHAR\n", "GDF"),
    "pickle": (b"\x80\x04\x95\x00\x00", "pickle"),
    "hdf5": (b"\x89HDF\r\n\x1a\n", "HDF5"),
    "bzip2": (b"BZh91AY&SY", "bzip2.*unpack"),
    "negative motif": ("A -> B\nA !> C\n", "DotMotif"),
    "motif attributes": ("A -> B [type = 1]\n", "DotMotif"),
    "two gSpan graphs": ("t # 0\nv 0 K\nt # 1\nv 0 K\n", "more than one graph"),
    "two GMLs": ('graph [ node [ id 1 ] ] graph [ ]', "more than one graph"),
    "two DOTs": ("graph { a -- b } graph { c -- d }", "more than one graph"),
    "hyperedge": ('<graphml><graph edgedefault="directed"><hyperedge/></graph></graphml>', "hyperedges"),
    "nested": ('<graphml><graph edgedefault="directed"><node id="a"><graph edgedefault="directed"/></node></graph>'
               "</graphml>", "a graph inside a node"),
    "hierarchy": ('<gexf><graph><nodes><node id="a"><nodes/></node></nodes></graph></gexf>', "hierarchy"),
    "banner with a mistake": ("%%MatrixMarkt matrix coordinate real general\n3 3 1\n1 2 5\n", "expected a banner"),
    "workbook": (lambda: zipped({"[Content_Types].xml": b"", "xl/workbook.xml": b""}), "Excel.*xlsx"),
    "matlab": (b"MATLAB 5.0 MAT-file, Platform: GLNX86\n" + bytes(100), "mat file cannot be read"),
    "new matlab": (b"MATLAB 7.3 MAT-file, Platform: GLNX86\n" + bytes(100), "version 7.3.*'-v7'"),
    "old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office.*CSV"),
    "pdf": (b"%PDF-1.4\n%\xe2\xe3\n", "PDF"),
    "npy of weights": (npy_bytes([[0, 1.5], [1, 2]]), "float64 of shape .2, 2.; or a square"),
    "matrix": ("*Vertices 2\n*Matrix\n0 1\n1 0\n", r"matrix \(\*Matrix\)"),
    "undeclared end": ('<graphml><graph edgedefault="directed"><node id="a"/><edge source="a" target="b"/></graph>'
                       "</graphml>", "node 'b', which the file does not declare"),
    "undeclared in JSON": ('{"nodes": [{"id": 1}], "links": [{"source": 1, "target": 2}]}', "does not declare"),
    "undeclared in GML": ("graph [ node [ id 1 ] edge [ source 1 target 2 ] ]", "does not declare"),
    "declared degree": ("t 2 1\nv 0 5 1\nv 1 5 2\ne 0 1\n", "degree 2 for node 1, which has 1"),
    "declared size": ("t 2 2\nv 0 5 1\nv 1 5 1\ne 0 1\n", "declares 2 nodes and 2 edges"),
    "a key twice": ('{"nodes": [], "links": [], "nodes": []}', "key twice"),
    "arrow in a graph": ("graph { a -> b }", "expected --"),
    "a node twice": ('<graphml><graph edgedefault="directed"><node id="a"/><node id="a"/></graph></graphml>',
                     "node 'a' is there twice"),
    "an id twice": ("graph [ node [ id 1 id 2 ] ]", "line 1.*: id is there twice"),
    "direction in GML": ("graph [ directed 2 ]", "expected directed 0 or directed 1"),
    "direction in GraphML": ('<graphml><graph edgedefault="both"/></graphml>',
                             "expected edgedefault to be directed or undirected, found 'both'"),
    "direction in JSON": ('{"directed": "yes", "nodes": [], "links": []}', "to be true or false, found 'yes'"),
    "two GEXFs": ("<gexf><graph/><graph/></gexf>", "more than one graph"),
    "no GEXF": ("<gexf><meta/></gexf>", "no <graph>"),
    "edges and links": ('{"nodes": [], "edges": [], "links": []}', '"nodes", and "edges" or "links"; found .nodes'),
    "one element": ('{"elements": "a"}', 'expected "elements", lists of nodes and edges'),
    "elements without data": ('{"elements": [{"group": "nodes"}]}', 'elements with "data", found .*group'),
    "a number of nodes": ('{"nodes": 3, "links": []}', "lists of nodes and edges, which are objects, found '3'"),
    "two colors": ("1 2 0 1\n1 3 0 1\n2 3 1 1\n2 4 1 0\n4 1 0 0\n" + "4 5 0 0\n" * 70 + "5 1 1 0\n",
                   "node 5 has two colors.*format=.edges"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name, write):
    content, message = REFUSED[name]
    content = content() if callable(content) else content
    with pytest.raises(GraphFileError, match=message):
        read_graph(write(content))


def test_what_decides_where_two_formats_fit(write):
    text = "A x B\nC y D\n"
    assert named_edges(read_graph(write(text), columns=(0, 1))) == {("A", "x"), ("C", "y")}
    assert named_edges(read_graph(write(text), format="sif")) == {("A", "B"), ("C", "D")}
    assert named_edges(read_graph(write(text, "g.sif"))) == {("A", "B"), ("C", "D")}
    lone = "".join(f"N{i}\n" for i in range(9))
    assert named_edges(read_graph(write(f"{lone}TP 53\tpp\tMDM2\n", "g.sif"))) == {("MDM2", "TP 53")}
    assert named_edges(read_graph(write("A B C\nB C A\nC A B\n"), format="adjlist", directed=True)) == {
        (u, v) for u in "ABC" for v in "ABC" if u != v
    }
    numbers = read_graph(write("10 2 3\n3 2 1\n", "g.adjlist"), directed=True)
    assert named_edges(numbers) == {(10, 2), (10, 3), (3, 2), (3, 1)}
    assert numbers.node_names.tolist() == [1, 2, 3, 10]


def test_what_is_passed_over_is_named(write):
    def notes(content):
        return " ".join(read_graph(write(content), directed=True).report.notes)

    assert "column 'weight'" in notes("source,target,weight\nA,B,0.5\n")
    assert "column 2 ('0.5' in the first row)" in notes("A B 0.5\n")
    assert "relations act, inh" in notes("A act B\nB inh C\n")
    assert "edge attributes w" in notes("graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 w 3 ] ]")
    assert "node attributes kind" in notes('{"nodes": [{"id": 1, "kind": "x"}], "links": []}')
    assert "weights of edges" in notes("2 1 1\n2 5\n1 5\n")
    assert "called by their numbers" in notes('*Vertices 2\n1 "a"\n2 "a"\n*Edges\n1 2\n')
    assert "lists edgf" in notes("graph [ node [ id 1 ] node [ id 2 ] edgf [ source 1 target 2 ] ]")
    assert "the first row declares" in notes("5 2\n0 1\n3 4\n")
    assert "relations in one network are read as one" in notes("*Vertices 2\n*Arcs :1\n1 2\n*Arcs :2\n2 1\n")
    node = '<node id="a"><spells><spell start="1"/></spells></node>'
    assert "times (spells)" in notes(f"<gexf><graph><nodes>{node}</nodes></graph></gexf>")
    assert "times (spells)" in notes('<gexf><graph><nodes start="1"><node id="a"/></nodes></graph></gexf>')
    assert notes("0 1\n1 2\n") == ""


def labels_of(graph):
    nodes = (
        None
        if graph.node_labels is None
        else [graph.node_label_names[x] for x in graph.node_labels[: graph.n].tolist()]
    )
    if graph.edge_labels is None:
        return nodes, None
    names = np.arange(graph.n) if graph.node_names is None else np.asarray(graph.node_names)
    codes = graph.edge_labels[graph.edge_slots()].tolist()
    arcs = [tuple(names[edge].tolist()) for edge in graph.edge_list()]
    return nodes, {arc: graph.edge_label_names[code] for arc, code in zip(arcs, codes, strict=True)}


@pytest.mark.parametrize(
    ("name", "edge_label"),
    [("csv", "sign"), ("gml", "sign"), ("graphml", "sign"), ("gexf", "sign"), ("node-link", "sign"), ("cyjs", "sign")],
)
def test_edge_labels_keep_their_words(name, edge_label, samples, write):
    graph = read_graph(write(samples[name].content), directed=True, edge_label=edge_label)
    assert labels_of(graph)[1] == dict(zip(ARCS, SIGNS, strict=True))
    assert graph.edge_label_names == {0: "+", 1: "-"}
    moved = graph.to_device(None).with_padding((20, 20))
    assert (moved.edge_label_names, moved.report.notes) == (graph.edge_label_names, graph.report.notes)
    with pytest.raises(ValueError, match="nothing"):
        read_graph(write(samples[name].content), edge_label="nothing")


def test_labels_by_column_and_relation(write):
    graph = read_graph(write("A act B\nB inh C\n"), edge_label="relation", directed=True)
    assert labels_of(graph)[1] == {("A", "B"): "act", ("B", "C"): "inh"}
    graph = read_graph(write("kind,a,b\nx,A,B\ny,B,C\n"), columns=("a", "b"), edge_label="kind")
    assert labels_of(graph)[1] == {("A", "B"): "x", ("B", "C"): "y"}
    graph = read_graph(write("1 2 3000000000\n2 3 1\n"), edge_label=2)  # beyond int32: a word
    assert labels_of(graph)[1] == {(1, 2): "3000000000", (2, 3): "1"}
    graph = read_graph(write("1 2 7\n2 3 1\n"), edge_label=2)
    assert (graph.edge_labels[graph.edge_slots()].tolist(), graph.edge_label_names) == ([7, 1], None)
    graph = read_graph(write("1 2 7\n2 3 1\n"), format="fanmod")  # two ends and the color of the edge
    assert (graph.edge_labels[graph.edge_slots()].tolist(), graph.node_labels) == ([7, 1], None)
    with pytest.raises(ValueError, match="joined twice.*directed=True"):
        read_graph(write("A act B\nB inh A\n"), edge_label=1, directed=False)
    with pytest.raises(GraphFileError, match="SIF has one edge label, the relation, not 'weight'"):
        read_graph(write("A act B\nB inh C\n"), edge_label="weight")
    with pytest.raises(GraphFileError, match="labels in Pajek files are not read"):
        read_graph(write("*Vertices 2\n*Edges\n1 2\n"), edge_label="sign")


def test_node_labels_from_a_file_or_an_attribute(write):
    network = write("A B\nB C\n")
    labels = write("node,label\nB,y\nA,x\nC,x\nD,z\n", "labels.csv")
    graph = read_graph(network, node_labels=labels)
    assert labels_of(graph)[0] == ["x", "y", "x"]
    assert any("2 rows for nodes that are not in the graph" in note for note in graph.report.notes)
    wrong = (
        ("A x\nB y\n", "1 node without a label here, first 'C'", None),
        ("A x\nA y\nB y\nC z\n", "another label, 'x'", 2),
        ("A x y\n", "a node and its", 1),
    )
    for text, message, line in wrong:
        with pytest.raises(GraphFileError, match=message) as caught:
            read_graph(network, node_labels=write(text, "labels.txt"))
        assert caught.value.line == line
    quoted = read_graph(network, node_labels=write('"A" "x y"\n"B" "z"\n"C" "z"\n', "labels.txt"))
    assert labels_of(quoted)[0] == ["x y", "z", "z"]
    with pytest.raises(ValueError, match="node_label is for attributes"):
        read_graph(network, node_label="kind")
    gml = write('graph [ node [ id 1 kind "x" ] node [ id 2 kind "y" ] edge [ source 1 target 2 ] ]')
    assert labels_of(read_graph(gml, node_label="kind"))[0] == ["x", "y"]
    fanmod = "".join(f"{u} {v} {u % 2} {v % 2} {u + v}\n" for u, v in [(1, 2), (2, 3), (3, 4), (4, 1)])
    graph = read_graph(write(fanmod))
    assert graph.node_labels[:4].tolist() == [1, 0, 1, 0]
    assert graph.edge_labels[:4].tolist() == [3, 5, 7, 5]


@pytest.mark.parametrize(
    ("content", "names", "labels"),
    [
        ('{"nodes": [{"id": 7, "label": 6}, {"id": 8, "label": 6}], "links": []}', [7, 8], [6, 6]),
        ('{"nodes": [{"id": 7, "name": "A", "label": "C"}, {"id": 8, "name": "B", "label": "C"}], "links": []}',
         ["A", "B"], ["C", "C"]),
        ('graph [ node [ id 7 label "C" ] node [ id 8 label "C" ] ]', [7, 8], ["C", "C"]),
        ('<gexf><graph><nodes><node id="7" label="C"/><node id="8" label="C"/></nodes></graph></gexf>',
         [7, 8], ["C", "C"]),
        ('graph [ node [ id 7 label "A" ] node [ id 8 label "B" ] ]', ["A", "B"], None),
        ('<gexf><graph><nodes><node id="7" label="A"/><node id="8" label="B"/></nodes></graph></gexf>',
         ["A", "B"], None),
    ],
)  # fmt: skip
def test_labels_that_do_not_name_the_nodes_are_attributes(content, names, labels, write):
    graph = read_graph(write(content), attributes=True)
    assert graph.node_names.tolist() == names
    kept = graph.attributes.nodes.get("label")
    assert (kept if kept is None else kept.tolist()) == labels
    told = any("node attributes label" in note for note in read_graph(write(content)).report.notes)
    assert told == (labels is not None)
    assert read_graph(write(content), node_label="label").node_labels is not None


def test_words_agree_between_files_through_one_dict(write):
    known = {}
    target = read_graph(write("t # 0\nv 0 C\nv 1 N\ne 0 1 x\n"), label_ids=known)
    query = read_graph(write("t # 0\nv 0 N\nv 1 C\ne 0 1 y\n"), label_ids=known)
    assert known == {"C": 0, "N": 1, "x": 2, "y": 3}
    assert (target.node_labels[:2].tolist(), query.node_labels[:2].tolist()) == ([0, 1], [1, 0])
    assert labels_of(query)[0] == ["N", "C"]


DEFAULTS = {
    "graphml": """<graphml><key id="k" for="node" attr.name="kind"><default>plain</default></key>
        <key id="s" for="edge" attr.name="sign"><default>+</default></key>
        <key id="w" attr.name="weight"><default>1</default></key>
        <graph edgedefault="directed"><node id="a"/><node id="b"><data key="k">rare</data></node>
        <edge source="a" target="b"/>
        <edge source="b" target="a"><data key="s">-</data><data key="w">3</data></edge></graph></graphml>""",
    "gexf": """<gexf><graph defaultedgetype="directed">
        <attributes class="node"><attribute id="0" title="kind"><default>plain</default></attribute></attributes>
        <attributes class="edge"><attribute id="0" title="sign"><default>+</default></attribute>
        <attribute id="1" title="weight"><default>1</default></attribute></attributes>
        <nodes><node id="a"/><node id="b"><attvalues><attvalue for="0" value="rare"/></attvalues></node></nodes>
        <edges><edge source="a" target="b"/><edge source="b" target="a"><attvalues>
        <attvalue for="0" value="-"/><attvalue for="1" value="3"/></attvalues></edge></edges></graph></gexf>""",
    "dot": """digraph { node [kind=plain]; edge [sign="+", weight=1]; a;
        subgraph { node [kind=rare]; edge [sign="-"]; b -> a [weight=3] } a -> b; }""",
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_default_values_of_attributes(name, write):
    graph = read_graph(write(DEFAULTS[name]), attributes=True)
    assert graph.report.format == name
    assert graph.edge_list().tolist() == [[0, 1], [1, 0]]
    assert graph.attributes.nodes["kind"].tolist() == ["plain", "rare"]
    assert graph.attributes.edges["sign"].tolist() == ["+", "-"]
    assert graph.attributes.edges["weight"].tolist() == [1, 3]


def test_attributes_stay_with_their_nodes_and_edges_where_nodes_are_dropped(write):
    """Of nodes in the order b, e, a, d, c the first is in a self loop alone, and the second in no edge."""
    links = [("b", "b", 1), ("c", "d", 2), ("a", "a", 4), ("c", "a", 8)]
    document = {
        "nodes": [{"id": name, "kind": f"kind of {name}"} for name in "beadc"],
        "links": [{"source": u, "target": v, "weight": w} for u, v, w in links],
    }
    graph = read_graph(write(json.dumps(document)), isolated="drop", attributes=True)
    assert graph.node_names.tolist() == ["a", "d", "c"]
    assert graph.attributes.nodes["kind"].tolist() == ["kind of a", "kind of d", "kind of c"]
    assert graph.edge_list().tolist() == [[0, 2], [1, 2]]
    assert (graph.attributes.edges["weight"].tolist(), graph.attributes.rows) == ([8, 2], None)


def test_lists_of_values_in_gml_are_passed_over(write):
    """Of networkx, which repeats the key, and nested ones."""
    nodes = 'node [ id 0 tags "x" tags "y" w 2 graphics [ x 1 ] ] node [ id 1 tags "u" w 3 ]'
    graph = read_graph(write(f"graph [ {nodes} edge [ source 0 target 1 ] ]"), attributes=True)
    assert {name: values.tolist() for name, values in graph.attributes.nodes.items()} == {"w": [2, 3]}
    assert graph.report.notes == ("passed over: lists tags, graphics",)


def test_quotes_in_attributes_of_dot(write):
    graph = read_graph(write(r'digraph { "x\"y" -> b ["k\"1"="p\"q"] }'), attributes=True)
    assert named_edges(graph) == {('x"y', "b")}
    assert graph.attributes.edges['k"1'].tolist() == ['p"q']


def test_settings_and_lists_of_attributes_in_dot_are_no_nodes(write):
    text = 'graph "a title" { rankdir = LR; node = x; subgraph { a -- b [w=1, kind="x"; dotted] } b -- c [w=2] }'
    graph = read_graph(write(text), attributes=True)
    assert graph.node_names.tolist() == ["a", "b", "c"]
    assert graph.edge_list().tolist() == [[0, 1], [1, 2]]
    edges = {name: values.tolist() for name, values in graph.attributes.edges.items()}
    assert edges == {"w": [1, 2], "kind": ["x", None], "dotted": [True, None]}


def test_mixed_edges_and_directions(write):
    graph = read_graph(write("*Vertices 3\n*Arcs\n1 2\n*Edges\n2 3\n"))
    assert named_edges(graph) == {(1, 2), (2, 3), (3, 2)}
    assert any("mixed" in note for note in graph.report.notes)
    assert not read_graph(write("*Vertices 3\n*Edges\n2 3\n")).directed
    xml = '<graphml><graph edgedefault="{}"><node id="a"/><node id="b"/><edge source="b" target="a"/></graph></graphml>'
    assert read_graph(write(xml.format("directed"))).directed
    assert not read_graph(write(xml.format("undirected"))).directed
    assert not read_graph(write("graph { a -- b }")).directed


def test_the_table_of_formats_is_the_registry():
    table = format_table()
    for name, entry in FORMATS.items():
        assert (f"| `{name}` |" in table) == (entry.read is not None)
        assert entry.read is not None or entry.remedy


def bomb(text, count):
    return gzip.compress(text * count)


def npy_header(shape, kind="<i8"):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header


def zipped(members):
    import io
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


LAUGHS = '<?xml version="1.0"?>\n<!DOCTYPE {0} [<!ENTITY a "ha"><!ENTITY b "' + "&a;" * 99 + '">]>\n<{0}>&b;</{0}>\n'
BILLION = 10**9
# Files made to take the reader's time or memory, or to run a program: content, what the message must name.
HOSTILE = {
    "entities in GraphML": (LAUGHS.format("graphml"), "document type declaration"),
    "entities in GEXF": (LAUGHS.format("gexf"), "document type declaration"),
    "late document type": ("<graphml><!DOCTYPE a []></graphml>", "XML"),
    "external entity": ('<!DOCTYPE graphml SYSTEM "/etc/passwd"><graphml/>', "document type"),
    "orca of a billion": (f"{BILLION} 1\n0 1\n", "over the limit.*isolated"),
    "orca of nothing": (f"{BILLION} 0\n", None),
    "mtx of a billion": (
        f"%%MatrixMarket matrix coordinate pattern general\n{BILLION} {BILLION} 1\n1 2\n", "over the limit"),
    "bipartite billions": (f"% bip\n% 1 {BILLION} {BILLION}\n1 1\n", "over the limit"),
    "labelled of a billion": (f"{BILLION} 1 0\nx\n", "expected 1000000000 lines"),
    "metis of a billion": (f"{BILLION} 1\n2\n1\n", "expected 2 columns"),
    "lad of a billion": (f"{BILLION}\n1 1\n1 0\n", "declares 1000000000 nodes"),
    "pajek of a billion": (f"*Vertices {BILLION}\n*Edges\n1 2\n", "over the limit"),
    "gspan of a billion": (f"t {BILLION} 1\nv 0 1 1\n", "declares 1000000000"),
    "words of 5,000 digits": ("5 " + "9" * 5000 + "\n", "non-negative integer id"),
    "header of 5,000 digits": ("9" * 5000 + " 1\n0 1\n", "non-negative integer id"),
    "sizes of 5,000 digits": ("%%MatrixMarket matrix coordinate pattern general\n" + "9" * 5000 + " 1 1\n", "at most"),
    "konect of 5,000 digits": ("% sym\n% 1 " + "9" * 5000 + "\n1 2\n", "at most"),
    "JSON of 5,000 digits": ('{"nodes": [{"id": ' + "9" * 5000 + '}], "links": []}', None),
    "GML of 5,000 digits": ("graph [ node [ id " + "9" * 5000 + " ] ]", None),
    "half a character in JSON": (
        '{"nodes": [{"id": "\\ud800"}, {"id": "\\u001b["}], "links": [{"source": "\\ud800", "target": "\\u001b["}]}',
        None),
    "escapes in a column's name": ("source\ttarget\t\x1b[2J\nA\tB\t1\n", None),
    "escapes in a bad row": ("A\tB\n\x1b[2J\n", "expected 2 columns, found 1"),
    "external document type": ('<!DOCTYPE gexf SYSTEM "file:///etc/passwd">\n<gexf/>', "document type declaration"),
    "deep JSON": ('{"nodes": ' + "[" * 100_000 + "]" * 100_000 + ', "links": []}', "deeply"),
    "deep GML": ("graph [ " + "a [ " * 20_000 + "] " * 20_000 + "]", None),
    "deep DOT": ("graph { " + "{ " * 100_000 + "} " * 100_000 + "}", "deep"),
    "deep XML": ("<graphml>" + "<desc>" * 100_000 + "</desc>" * 100_000 + "</graphml>", "no <graph>"),
    "DOT that multiplies": (
        "graph { " + " -- ".join(["{" + " ".join(f"n{i}" for i in range(700)) + "}"] * 9) + " }", "multiply"),
    "comments in XML": ("<!--a-->" * 8000 + "<", "XML"),
    "gzip bomb of rows": (lambda: bomb(b"0 1\n", 2_000_000), "unpacks to.*unpack it by hand"),
    "gzip bomb of one line": (lambda: bomb(b"0" * 1000, 8_000), "unpacks to"),
    "gzip bomb of comments": (lambda: bomb(b"# a comment\n", 600_000), "unpacks to"),
    "gzip bomb of XML": (lambda: bomb(b"<graphml>" + b" " * 1000, 8_000), "unpacks to"),
    "gzip bomb of npy": (lambda: gzip.compress(npy_header((1 << 19, 2)) + bytes(1 << 23)), "unpacks to"),
    "zip bomb": (lambda: zipped({"format.npy": npy_header((1 << 23,), "|i1") + bytes(1 << 23)}), "unpacks to"),
    "pickle in npy": (lambda: npy_header((1,), "|O") + b"cos\nsystem\n(S'true'\ntR.", "pickled Python objects"),
    "pickle in npz": (lambda: zipped({"format.npy": npy_header((), "|O") + b"cos\nsystem\n(S'true'\ntR."}), "pickled"),
    "npy that declares more": (npy_header((1 << 40, 2)), "declares an array.*holds 0 bytes"),
    "npy header that is code": (npy_header("__import__('os').abort()"), "header of the array"),
    "npz of pointers": (lambda: zipped({
        "format.npy": npy_header((), "|S3") + b"csr", "shape.npy": npy_header((2,)) + np.array([3, 3]).tobytes(),
        "indptr.npy": npy_header((4,)) + np.array([0, 9, 1, 1]).tobytes(),
        "indices.npy": npy_header((1,)) + np.array([7]).tobytes()}), "ids in 0..2|pointers"),
    "npz of a billion": (lambda: zipped({
        "format.npy": npy_header((), "|S3") + b"coo", "shape.npy": npy_header((2,)) + np.array([BILLION] * 2).tobytes(),
        "row.npy": npy_header((1,)) + bytes(8), "col.npy": npy_header((1,)) + bytes(8)}), "over the limit"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name, write, monkeypatch):
    """A clear error (or a graph) within 5 s of CPU, and in little memory."""
    monkeypatch.setattr(textscan, "FREE_BYTES", 4 << 20)
    import time
    import tracemalloc

    content, message = HOSTILE[name]
    path = write(content() if callable(content) else content)
    started = time.process_time()
    tracemalloc.start()
    try:
        if message is None:
            assert read_graph(path).n < 10
        else:
            with pytest.raises(GraphFileError, match=message) as caught:
                read_graph(path)
            assert len(str(caught.value)) < len(str(path)) + 400
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert time.process_time() - started < 5
    assert peak < 100 << 20


def test_isolated_nodes_of_a_large_header_may_be_dropped(write):
    graph = read_graph(write(f"% bip\n% 1 {BILLION} {BILLION}\n1 7\n"), isolated="drop")
    assert graph.node_names.tolist() == ["L1", "R7"]
    assert graph.report.isolated == 2 * BILLION - 2
    path = write(f"%%MatrixMarket matrix coordinate pattern symmetric\n{BILLION} {BILLION} 2\n{BILLION} 3\n5 5\n")
    graph = read_graph(path, isolated="drop")
    assert (graph.node_names.tolist(), graph.report.isolated) == ([3, BILLION], BILLION - 2)


def test_tables_of_other_columns(write, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    def table(**columns):
        parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
        return tmp_path / "t.parquet"

    with pytest.raises(GraphFileError, match="which columns are the ends.*'a', 'b', 'c'"):
        read_graph(table(a=[1], b=[2], c=[3]))
    assert named_edges(read_graph(table(a=[1], b=[2], c=[3]), columns=("b", "c"))) == {(2, 3)}
    assert named_edges(read_graph(table(u=[1, 5], v=[2, 1]), directed=True)) == {(1, 2), (5, 1)}
    labelled = read_graph(table(source=[1], target=[2], kind=["x"]), edge_label="kind")
    assert labels_of(labelled)[1] == {(1, 2): "x"}
    for columns, message in (
        ({"source": [1, None], "target": [2, 3]}, "missing value"),
        ({"source": [1.5], "target": [2.5]}, "text or whole numbers"),
        ({"source": [[1]], "target": [[2]]}, "text or whole numbers"),
        ({"source": [-1], "target": [2]}, "ids in 0"),
    ):
        with pytest.raises(GraphFileError, match=message):
            read_graph(table(**columns))
    with pytest.raises(GraphFileError, match="no column 'z'"):
        read_graph(table(a=[1], b=[2]), columns=("a", "z"))
    parquet.write_table(pa.Table.from_arrays([[1], [2]], ["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(GraphFileError, match="columns with a name each"):
        read_graph(tmp_path / "t.parquet")
    with pytest.raises(GraphFileError, match="cannot be read"):
        read_graph(write(b"PAR1" + os.urandom(100) + b"PAR1"))


def mutated(content, rng):
    """A file with one thing in it changed: a byte, a line, a word, a number, or its end."""
    kind = rng.integers(8)
    data = bytearray(content)
    place = int(rng.integers(len(data)))
    lines = content.split(b"\n")
    line = int(rng.integers(len(lines)))
    if kind == 0:
        data[place] = int(rng.integers(256))
    elif kind == 1:
        data[place] = int(rng.choice(list(b'0123456789 \t\n,;"<>[]{}-#%ABmxt')))
    elif kind == 2:
        del data[place : place + int(rng.integers(1, 4))]
    elif kind == 3:
        data[place:place] = bytes(rng.choice(list(b'0123456789 \n",[]{}<>-'), int(rng.integers(1, 4))).tolist())
    elif kind == 4:
        return content[:place]
    elif kind == 5:
        return b"\n".join([*lines[:line], *lines[line + 1 :]])
    elif kind == 6:
        return b"\n".join([*lines[:line], lines[line], *lines[line:]])
    else:
        words = content.split(b" ")
        one, other = rng.integers(len(words), size=2)
        words[one], words[other] = words[other], words[one]
        return b" ".join(words)
    return bytes(data)


def check_mutant(sample, content, path):
    """Reads a mutated file: an error that names it, or the graph that the reference reads; returns what happened."""
    path.write_bytes(content)
    error = None
    try:
        graph = read_graph(path)
    except GraphFileError as caught:
        error = str(caught)
    if error is not None:
        assert str(path) in error
        return "refused"
    found = graph.report.format
    if graph.m == 0:
        return "accepted"  # what is left of a file that is cut short, such as the 0 of a LAD file
    assert found in (sample.format, "edges", "csv", "tsv", "orca", "sif"), (found, content)
    if found == "dot":
        return "accepted"
    try:
        directed, edges = reference(found, content)
    except Exception:
        return "accepted"  # the reference is stricter, or cannot read what this format may say
    assert directed in (None, graph.directed), content
    same = (lambda pairs: set(pairs)) if graph.directed and directed else either_way
    assert same(named_edges(graph, as_text=True)) == same(edges), (found, content)
    return "compared"


def run_mutants(samples, number, seed, folder):
    rng = np.random.default_rng(seed)
    names = sorted(samples)
    tally = {"refused": 0, "accepted": 0, "compared": 0}
    for turn in range(number):
        sample = samples[names[turn % len(names)]]
        tally[check_mutant(sample, mutated(sample.content, rng), folder / f"g{sample.suffix}")] += 1
    return tally


def test_a_number_among_words_makes_no_header(write):
    assert read_graph(write("A act B\nB act 53\nC act A\n")).report.format == "sif"
    assert read_graph(write("x y w\nA B 0.5\nB C NA\n")).m == 2


@pytest.mark.parametrize("header", [
    "Gene A,Gene B", "protein_1,protein_2", "regulator,target", "pre_pt_root_id,post_pt_root_id",
    "Entrez Gene Interactor A,Entrez Gene Interactor B",
])  # fmt: skip
def test_usual_names_of_columns(header, write):
    assert named_edges(read_graph(write(f"{header}\nYA,YB\nYB,YC\n"))) == {("YA", "YB"), ("YB", "YC")}


def test_a_first_row_that_may_be_a_header_is_told(write):
    def notes(content, **options):
        return " ".join(read_graph(write(content), **options).report.notes)

    assert "columns=('TF', 'site')" in notes("TF,site\nlacI,lacZ\nlacI,lacY\n")
    assert "site" not in notes("TF,site\nlacI,lacZ\nlacI,lacY\n", columns=("TF", "site"))
    assert "first row" not in notes("a,b\nb,c\nc,d\n")
    toys = "node1 node2\nnode2 node3\nnode3 node1\n"
    assert read_graph(write(toys)).m == 3  # what the next rows have, too, is no name of a column
    assert named_edges(read_graph(write("source,target\nsource,b\nb,c\n"))) == {("b", "source"), ("b", "c")}
    twice = "SUID,source,target\nSUID,source,target\n7,a,b\n"  # as of two tables in one file
    assert named_edges(read_graph(write(twice))) == {("source", "target"), ("a", "b")}
    late = "node1,node2\n" + "".join(f"x{i},x{i + 1}\n" for i in range(9)) + "node2,x1\n"
    assert "'node2' is taken for the name of a column" in notes(late)
    assert "the first row, 3 2, is taken for an edge" in notes("3 2\n1 2\n2 3\n")


def test_a_comment_may_name_the_columns(write):
    title = "#Interaction ID\tEntrez Gene Interactor A\tEntrez Gene Interactor B\tSystem\tSymbol A\tSymbol B\n"
    rows = "7\t10\t20\tAffinity Capture-MS\tX\tY\n8\t20\t30\tTwo-hybrid\tY\tZ\n"
    assert named_edges(read_graph(write(title + rows))) == {(10, 20), (20, 30)}
    assert named_edges(read_graph(write(f"{title}\n{rows}# the end\n"))) == {(10, 20), (20, 30)}
    symbols = read_graph(write(title + rows), columns=("Symbol A", "Symbol B"), edge_label="System")
    assert labels_of(symbols)[1] == {("X", "Y"): "Affinity Capture-MS", ("Y", "Z"): "Two-hybrid"}


def test_ids_keep_their_zeros(write):
    assert named_edges(read_graph(write("007 08\n08 7\n"))) == {("007", "08"), ("08", "7")}
    assert read_graph(write("source,target\n12,3\n0012,3\n")).m == 2
    assert read_graph(write("0 1\n1 20\n")).node_names.tolist() == [0, 1, 20]
    for mark in " ,":  # far below the rows that the choice is made from
        late = "".join(f"{i}{mark}{i + 1}\n" for i in range(40)) + f"007{mark}50\n"
        for quoted in (late, late.replace("39", '"39"')):
            with pytest.raises(GraphFileError, match=r"line 41: .*text_ids=True.*found '007'"):
                read_graph(write(quoted.replace('"', "") if mark == " " else quoted))
        assert ("007", "50") in named_edges(read_graph(write(late), text_ids=True))
    with pytest.raises(GraphFileError, match="line 2: .*found '007'"):
        read_graph(write("1 2 0 1\n2 007 1 1\n"), format="fanmod")
    listed = read_graph(write("7 8 9\n007 8 9\n8 9\n"), format="adjlist")
    assert listed.node_names.tolist() == ["007", "7", "8", "9"]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ("2,3-BPG\tHb\t1\n1,3-BPG\tPGK1\t2\n", {("2,3-BPG", "Hb"), ("1,3-BPG", "PGK1")}),
        ("a,\tb\nb,\tc\n", {("a", "b"), ("b", "c")}),  # tabs that only align
        ("a\t,b\nb\t,c\n", {("a", "b"), ("b", "c")}),
        ('"a,b";c\n"c";d\n', {("a,b", "c"), ("c", "d")}),  # what is quoted parts nothing
        ('"a\tb",c\n"c;d",a\n', {("a\tb", "c"), ("a", "c;d")}),
    ],
)
def test_marks_within_names_part_no_columns(write, rows, wanted):
    assert named_edges(read_graph(write(rows))) == wanted


def test_labels_keep_their_zeros(write):
    graph = read_graph(write("1 2 01\n2 3 1\n3 4 01\n"), edge_label=2)
    assert labels_of(graph)[1] == {(1, 2): "01", (2, 3): "1", (3, 4): "01"}


def test_mutated_files(samples, tmp_path):
    tally = run_mutants(samples, 200, 7, tmp_path)
    assert tally["refused"] > 60
    assert tally["compared"] > 40


@pytest.mark.slow
def test_5000_mutated_files(samples, tmp_path):
    tally = run_mutants(samples, 5000, 11, tmp_path)
    assert tally["compared"] > 1000, tally


def test_saved_graphs_are_read_as_files(write, tmp_path):
    graph = read_graph(write("A act B\nB inh C\n"), edge_label=1, directed=True)
    graph.save(tmp_path / "saved.npz")
    again = read_graph(tmp_path / "saved.npz")
    assert again.directed
    assert (named_edges(again), labels_of(again)) == (named_edges(graph), labels_of(graph))
    known = {"inh": 4}
    assert labels_of(read_graph(tmp_path / "saved.npz", label_ids=known))[1] == {("A", "B"): "act", ("B", "C"): "inh"}
    assert known == {"inh": 4, "act": 5}
    damaged = (tmp_path / "saved.npz").read_bytes().replace(b'"nodes": 3', b'"nodes": 2')
    with pytest.raises(GraphFileError, match="damaged"):
        read_graph(write(damaged))
    arrays = dict(np.load(tmp_path / "saved.npz"))
    header = json.loads(arrays["jaxmotif"].tobytes())
    for change, message in (
        ({"nodes": 4}, "its arrays do not fit 4 nodes and 2 edges"),
        ({"nodes": "3"}, "its sizes are none"),
        ({"directed": 1}, "its sizes are none"),
    ):
        changed = np.frombuffer(json.dumps(header | change).encode(), np.uint8)
        np.savez(tmp_path / "changed.npz", **(arrays | {"jaxmotif": changed}))
        with pytest.raises(GraphFileError, match=message):
            read_graph(tmp_path / "changed.npz")


def test_words_that_differ_are_not_compared(write):
    def one(node_labels):
        rows = "".join(f"v {i} {label}\n" for i, label in enumerate(node_labels))
        return read_graph(write(f"t # 0\n{rows}e 0 1\n"))

    target = one("CN")
    assert count_matches(one("NC"), target).count == 1
    for other, message in ((one("NO"), "node label 0 is"), (one("12"), "words in one graph's")):
        with pytest.raises(ValueError, match=f"{message}.*label_ids"):
            count_matches(other, target)
        with pytest.raises(ValueError, match=message):
            disjoint_union([target, other])
    built = Graph.from_edges([(0, 1)], node_labels=[1, 0])  # the numbers of a program are taken as they are
    assert count_matches(built, target).count == 1


def test_readers_need_no_other_library(tmp_path):
    """Formats that networkx, scipy or pandas know, too, are read without them: it takes long to import these."""
    for name, sample in TEXT.items():
        (tmp_path / f"{name}{sample.suffix}").write_bytes(sample.content)
    code = f"""
import pathlib, sys
import jaxmotif
for path in sorted(pathlib.Path({str(tmp_path)!r}).iterdir()):
    jaxmotif.read_graph(path)
assert not {{"networkx", "scipy", "pandas", "pyarrow"}} & set(sys.modules), sys.modules.keys()
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"JAX_PLATFORMS": "cpu"}
    )
    assert done.returncode == 0, done.stderr


def test_graphs_know_no_formats():
    """The container takes a path through a reader that the package registers."""
    code = """
import sys
import jaxmotif.graph._coerce, jaxmotif.graph._container, jaxmotif.graph._batch
assert not [name for name in sys.modules if name.startswith("jaxmotif.io")]
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    import jaxmotif.graph
    import jaxmotif.io

    assert jaxmotif.graph.read_graph is jaxmotif.io.read_graph is jaxmotif.read_graph
