"""Slow, plain readers of the same formats, those of other libraries where there are any."""

import csv
import io
import json
import re
import warnings

import numpy as np


def reference(format, content):
    """Whether the file says directed (``None``: not compared) and its edges by name, as text, without loops.

    Raises:
      Exception: the reference cannot read the file.
    """
    directed, edges = _READERS[format](content)
    return directed, {(str(u), str(v)) for u, v in edges if u != v}


def table(content, mark=None):
    lines = [line for line in content.decode().split("\n") if line.strip() and line.lstrip()[0] not in "#%"]
    split = [next(csv.reader([line], delimiter=mark)) if mark else _words(line) for line in lines]
    cells = [[cell.strip(" \t\r\v\f") for cell in row] for row in split]
    rest = cells[1:8]
    numbered = _is_numbered(rest) and not cells[0][0].isdigit()
    ends_named = len(cells) > 1 and not any(map(_number, cells[0][:2])) and all(map(_number, cells[1][:2]))
    others_named = len(cells) > 1 and not any(map(_number, cells[0])) and any(map(_number, cells[1][2:]))
    titles = [re.sub(r"[\s_.-]", "", cell.lower()) for cell in cells[0]]
    usual = {"source", "target"} <= set(titles)
    if (ends_named or others_named or numbered) and not usual:
        cells = cells[1:]  # column names
    ends = (1, 2) if _is_numbered(cells[:8]) else (0, 1)
    if usual:
        ends = titles.index("source"), titles.index("target")
        cells = cells[1:]
    return None, [tuple(row[end] for end in ends) for row in cells]


def _is_numbered(rows):
    """Whether the first column holds another number in each row, before two columns of words."""
    words = all(len(row) > 2 and not any(map(_value, row[1:3])) for row in rows)
    numbers = [row[0] for row in rows]
    return bool(rows) and words and all(map(str.isdigit, numbers)) and len(set(numbers)) == len(numbers)


def _words(line):
    """Split as bytes are, not at the separators that Unicode adds; blanks in quotes part no words."""
    pairs = re.findall(rb'"([^"]*)"(?!\S)|(\S+)', line.encode())
    return [(quoted or plain).decode() for quoted, plain in pairs]


def _number(word):
    return word.replace(".", "0", 1).isdigit()


def _value(word):
    return _number(word) or word.lower() in ("", "na", "nan", "null", "none", "inf", "-inf", "-", ".", "?")


def _counted(content, skip):
    """Rows of two ids after some lines of other things."""
    return [line.split()[:2] for line in content.decode().split("\n")[skip:] if line.strip()]


def _konect(content):
    rows = [line.split()[:2] for line in content.decode().split("\n") if line.strip() and line[0] not in "%#"]
    return b"asym" in content.split(b"\n")[0], [tuple(map(int, row)) for row in rows]


def _mtx(content):
    import scipy.io

    matrix = scipy.io.mmread(io.BytesIO(content)).tocoo()
    return None, [(int(u) + 1, int(v) + 1) for u, v in zip(matrix.row, matrix.col, strict=True)]


def _metis(content):
    lines = [line for line in content.decode().split("\n") if not line.startswith("%")]
    n = int(lines[0].split()[0])
    return False, [(u, int(v)) for u, line in enumerate(lines[1 : n + 1], 1) for v in line.split()]


def _labelled(content):
    lines = content.decode().split("\n")
    n, _, directed = map(int, lines[0].split())
    return bool(directed), [tuple(map(int, row)) for row in _counted(content, n + 1)]


def _ri(content):
    lines = content.decode().split("\n")
    return False, [tuple(map(int, row)) for row in _counted(content, int(lines[1]) + 3)]


def _lad(content):
    lines = [line for line in content.decode().split("\n")[1:] if line.strip()]
    return None, [(u, int(v)) for u, line in enumerate(lines) for v in line.split()[1:]]


def _sif(content):
    lines = [line for line in content.decode().split("\n") if line.strip() and line[0] not in "#%"]
    mark = "\t" if "\t" in content.decode() else None
    rows = [[cell.strip(" \t\r\v\f") for cell in (line.split(mark) if mark else _words(line))] for line in lines]
    return None, [(row[0], target) for row in rows for target in row[2:]]


def _adjlist(content):
    """Not networkx's: it ends a row at any #, also within a name, and here only one behind a blank does."""
    rows = [line.split(b" #")[0].split() for line in content.split(b"\n") if not line.lstrip().startswith((b"#", b"%"))]
    rows = [[word.decode() for word in row] for row in rows]
    return [(row[0], target) for row in rows if row for target in row[1:]]


def _lettered(content):
    rows = [line.split() for line in content.decode().split("\n")]
    return False, [(int(row[1]), int(row[2])) for row in rows if row and row[0] == "e"]


def _dotmotif(content):
    rows = [line.split("#")[0].split("->") for line in content.decode().split("\n")]
    return True, [(row[0].strip(), row[1].strip()) for row in rows if len(row) == 2]


def _networkx(read, shown=None):
    def reader(content):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            graph = read(content)
        if "" in graph:
            raise ValueError("networkx takes an empty label for a name")
        names = {node: str(node) for node in graph}
        own = [data.get(shown) for _, data in graph.nodes(data=True)] if shown else [None]
        if all(own) and len(set(own)) == len(own):
            names = dict(zip(graph, own, strict=True))
        return graph.is_directed(), [(names[u], names[v]) for u, v in graph.edges()]

    return reader


def _read(name, **options):
    import networkx as nx

    return lambda content: getattr(nx, name)(io.BytesIO(content), **options)


def _node_link(content):
    import networkx as nx

    data = json.loads(content)
    if not any("id" in node for node in data["nodes"]):
        for place, node in enumerate(data["nodes"]):
            node["id"] = place
    edges = data.get("edges", data.get("links"))
    return nx.node_link_graph({"multigraph": False, "directed": False} | data | {"edges": edges}, edges="edges")


def _cyjs(content):
    import networkx as nx

    data = json.loads(content)
    elements = data["elements"]
    if isinstance(elements, list):
        nodes = [element for element in elements if "source" not in element["data"]]
        edges = [element for element in elements if "source" in element["data"]]
        elements = {"nodes": nodes, "edges": edges}
    graph = nx.DiGraph() if data.get("directed") else nx.Graph()
    for node in elements["nodes"]:
        graph.add_node(str(node["data"]["id"]), **node["data"])
    graph.add_edges_from((str(edge["data"]["source"]), str(edge["data"]["target"])) for edge in elements["edges"])
    return graph


def _gml(content):
    import networkx as nx

    return nx.parse_gml(content.decode())


def _pajek(content):
    """Networkx's, but for lists of neighbours, which it takes for arcs with a weight."""
    import networkx as nx

    if b"list" not in content.lower():
        graph = nx.parse_pajek(content.decode())
        if len(graph) != int(content.split(None, 2)[1]):
            raise ValueError("networkx makes one of nodes with one name")
        return _networkx(lambda text: graph)(content)
    lines = content.decode().lower().split("*arcslist\n", 1)[1].split("\n")
    return True, [(row.split()[0], target) for row in lines if "*" not in row for target in row.split()[1:]]


def _npy(content):
    return None, np.load(io.BytesIO(content)).tolist()


def _npz(content):
    import scipy.sparse

    matrix = scipy.sparse.load_npz(io.BytesIO(content)).tocoo()
    return None, list(zip(matrix.row.tolist(), matrix.col.tolist(), strict=True))


def _parquet(content):
    import pandas as pd

    frame = (pd.read_parquet if content[:4] == b"PAR1" else pd.read_feather)(io.BytesIO(content))
    return None, list(zip(frame["source"], frame["target"], strict=True))


_READERS = {
    "edges": table, "csv": lambda content: table(content, ","), "tsv": lambda content: table(content, "\t"),
    "konect": _konect, "mtx": _mtx, "metis": _metis, "lad": _lad, "labelled": _labelled, "gff": _ri, "sif": _sif,
    "orca": lambda content: (None, [tuple(map(int, row)) for row in _counted(content, 1)]),
    "fanmod": lambda content: (True, table(content)[1]), "gspan": _lettered, "dotmotif": _dotmotif,
    "graphml": _networkx(lambda content: _read("read_graphml")(content)),
    "gexf": _networkx(lambda content: _read("read_gexf")(content), "label"), "gml": _networkx(_gml),
    "pajek": _pajek, "adjlist": lambda content: (None, _adjlist(content)),
    "node-link": _networkx(_node_link, "name"), "cyjs": _networkx(_cyjs, "name"),
    "npy": _npy, "npz": _npz, "parquet": _parquet,
}  # fmt: skip
