"""A small file of each format, made by the library that owns the format where there is one, else by hand."""

import io
import json
from typing import NamedTuple

import numpy as np

GENES = ("TP53", "MDM2", "MYC", "E2F1")
ARCS = (("TP53", "MDM2"), ("MDM2", "TP53"), ("MYC", "TP53"), ("MYC", "MDM2"), ("E2F1", "MYC"), ("E2F1", "TP53"))
SIGNS = ("+", "-", "+", "-", "+", "+")
NUMBERS = tuple((GENES.index(u), GENES.index(v)) for u, v in ARCS)
EDGES = ((0, 1), (0, 2), (1, 2), (2, 3))


class Sample(NamedTuple):
    """A file, the format it is, and the graph it holds: arcs or edges by name."""

    content: bytes
    format: str
    edges: tuple
    directed: bool | None = None
    suffix: str = ".txt"


def rows(*values, mark=" "):
    return "".join(mark.join(map(str, row)) + "\n" for row in values).encode()


def of_networkx(writer, suffix, format, edges=ARCS, directed=True):
    """What networkx writes for the genes and their signs."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(GENES)
    for arc, sign in zip(ARCS, SIGNS, strict=True):
        graph.add_edge(*arc, sign=sign, weight=1.0)
    stream = io.BytesIO()
    writer(graph, stream)
    return Sample(stream.getvalue(), format, edges, directed, suffix)


def _json(data):
    return lambda graph, stream: stream.write(json.dumps(data(graph)).encode())


def text_samples():
    """Formats that need no library to write."""
    signed = [(*arc, sign) for arc, sign in zip(ARCS, SIGNS, strict=True)]
    relations = [(u, s, v) for (u, v), s in zip(ARCS, ["act"] * 5 + ["inh"], strict=True)]
    one_based = [(u + 1, v + 1) for u, v in NUMBERS]
    neighbours = [[w for e in EDGES for w in e if u in e and w != u] for u in range(4)]
    degrees = [len(row) for row in neighbours]
    gml = "".join(f'  node [ id {i} label "{name}" ]\n' for i, name in enumerate(GENES))
    gml += "".join(f'  edge [ source {u} target {v} sign "{s}" ]\n' for (u, v), s in zip(NUMBERS, SIGNS, strict=True))
    pajek = rows(*[(i + 1, f'"{name}"', "0.0") for i, name in enumerate(GENES)])
    mtx = b"%%%%MatrixMarket matrix coordinate %s general\n%% note\n4 4 6\n"
    return {
        "edges": Sample(rows(*NUMBERS), "edges", NUMBERS),
        "weights": Sample(rows(*[(*e, 0.5) for e in NUMBERS]), "edges", NUMBERS),
        "names": Sample(b"# note\n" + rows(*ARCS), "edges", ARCS),
        "csv": Sample(b"source,target,sign\n" + rows(*signed, mark=","), "csv", ARCS),
        "tsv": Sample(rows(*[(*arc, 0.25) for arc in ARCS], mark="\t"), "tsv", ARCS),
        "konect": Sample(b"% asym positive\n% 6 4 4\n" + rows(*[(*e, 1) for e in one_based]), "konect",
            tuple(one_based), True),
        "mtx": Sample(mtx % b"pattern" + rows(*one_based), "mtx", tuple(one_based), True, ".mtx"),
        "mtx-real": Sample(mtx % b"real" + rows(*[(*e, 1.5) for e in one_based]), "mtx",
            tuple(one_based), True, ".mtx"),
        "metis": Sample(
            rows((4, 4), *[[w + 1 for w in row] for row in neighbours]), "metis",
            tuple((u + 1, v + 1) for u, v in EDGES), False),
        "orca": Sample(rows((4, 4), *EDGES), "orca", EDGES),
        "labelled": Sample(rows((4, 4, 0), "C", "N", "C", "O", *[(*e, "-") for e in EDGES]), "labelled", EDGES, False),
        "gff": Sample(rows(["#g"], [4], "C", "N", "C", "O", [4], *EDGES), "gff", EDGES, False, ".gff"),
        "lad": Sample(rows([4], *[(d, *row) for d, row in zip(degrees, neighbours, strict=True)]), "lad", EDGES, False),
        "numbered": Sample(
            b"id\tA\tB\tscore\n" + rows(*[(7 * i, *arc, 0.5) for i, arc in enumerate(ARCS)], mark="\t"), "tsv", ARCS),
        "cytoscape-table": Sample(
            b"SUID,source,target,interaction\n" + rows(*[(90 + i, *arc, "pp") for i, arc in enumerate(ARCS)], mark=","),
            "csv", ARCS),
        "sif-pp": Sample(rows(*[(u, "pp", v) for u, v in ARCS]), "sif", ARCS, False),
        "cyjs-pp": Sample(json.dumps({"elements": {
            "nodes": [{"data": {"id": name}} for name in GENES],
            "edges": [{"data": {"source": u, "target": v, "interaction": "pp"}} for u, v in ARCS]}}).encode(),
            "cyjs", ARCS, False, ".cyjs"),
        "sif": Sample(rows(*relations, mark="\t"), "sif", ARCS),
        "adjlist": Sample(
            b"#x.py\n# GMT Sun Nov 22 05:13:42 2026\n#\nTP53 MDM2\nMDM2 TP53\nMYC TP53 MDM2\nE2F1 MYC TP53\n",
            "adjlist", ARCS),
        "fanmod": Sample(rows(*[(u, v, u % 2, v % 2, 1 + u) for u, v in NUMBERS]), "fanmod", NUMBERS, True),
        "gspan": Sample(b"t # 0\nv 0 K\nv 1 K\nv 2 L\nv 3 M\n" + rows(*[("e", *e, "x") for e in EDGES]),
            "gspan", EDGES, False, ".lg"),
        "daf": Sample(
            rows(("t", 4, 4), *[("v", i, i % 2, d) for i, d in enumerate(degrees)], *[("e", *e) for e in EDGES]),
            "gspan", EDGES, False, ".graph"),
        "gml": Sample(f"graph [\n  directed 1\n{gml}]\n".encode(), "gml", ARCS, True, ".gml"),
        "pajek": Sample(b"*Vertices 4\n" + pajek + b"*Arcs\n" + rows(*[(*e, 1.0) for e in one_based]),
            "pajek", ARCS, True, ".net"),
        "pajek-lists": Sample(
            b"*vertices 4\n*arcslist\n1 2\n2 1\n3 1 2\n4 3 1\n", "pajek", tuple(one_based), True, ".net"),
        "dot": Sample(
            b'digraph g {\n  // note\n  node [shape=box];\n  TP53 -> MDM2 -> TP53 [sign="+"];\n  MYC -> {TP53 MDM2}\n'
            b'  subgraph cluster_a { E2F1 -> "MYC"; E2F1:n -> TP53 }\n}\n', "dot", ARCS, True, ".dot"),
        "dotmotif": Sample(b"# a loop\n" + rows(*[(u, "->", v) for u, v in ARCS]), "dotmotif", ARCS, True, ".motif"),
        "d3": Sample(json.dumps({
            "nodes": [{"name": name, "group": 1} for name in GENES],
            "links": [{"source": u, "target": v, "value": 1} for u, v in NUMBERS]}).encode(),
            "node-link", ARCS, None, ".json"),
        "cytoscape.js": Sample(json.dumps({"elements": [
            *[{"group": "nodes", "data": {"id": name}} for name in GENES],
            *[{"data": {"id": f"e{i}", "source": u, "target": v}} for i, (u, v) in enumerate(ARCS)]]}).encode(),
            "cyjs", ARCS, None, ".json"),
        "npy": Sample(_npy(np.array(NUMBERS)), "npy", NUMBERS, None, ".npy"),
    }  # fmt: skip


def _npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def library_samples():
    """Formats that networkx, scipy or pyarrow write."""
    import networkx as nx
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as parquet
    import scipy.sparse as sparse

    found = {
        "graphml": of_networkx(nx.write_graphml_xml, ".graphml", "graphml"),
        "gexf": of_networkx(nx.write_gexf, ".gexf", "gexf"),
        "gml-networkx": of_networkx(nx.write_gml, ".gml", "gml"),
        "pajek-networkx": of_networkx(nx.write_pajek, ".net", "pajek"),
        "adjlist-networkx": of_networkx(nx.write_adjlist, ".adjlist", "adjlist", directed=None),
        "node-link": of_networkx(_json(lambda graph: nx.node_link_data(graph, edges="edges")), ".json", "node-link"),
        "cyjs": of_networkx(_json(nx.cytoscape_data), ".cyjs", "cyjs"),
    }
    matrix = sparse.coo_array((np.ones(len(NUMBERS)), np.array(NUMBERS).T), shape=(4, 4))
    for kind in ("csr", "csc", "coo"):
        stream = io.BytesIO()
        sparse.save_npz(stream, matrix.asformat(kind))
        found[f"npz-{kind}"] = Sample(stream.getvalue(), "npz", NUMBERS, True, ".npz")
    table = pa.table({"weight": [1.0] * 6, "source": [u for u, _ in ARCS], "target": [v for _, v in ARCS]})
    for name, write in (("parquet", parquet.write_table), ("arrow", feather.write_feather)):
        stream = io.BytesIO()
        write(table, stream)
        found[name] = Sample(stream.getvalue(), "parquet", ARCS, None, f".{name}")
    return found
