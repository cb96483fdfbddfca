"""Formats that are known by sight and not read: each is refused by its name, with what to do instead."""

from __future__ import annotations

import re
from typing import Literal

from jaxmotif.io._format import Format, Sample
from jaxmotif.io._xml import root_tag

_TABLE = "write it as a table of edges or as GraphML"
_BYTES: dict[str, tuple[str, bytes, tuple[str, ...], str]] = {
    "matlab": ("MATLAB's mat", rb"MATLAB 5\.0", (".mat",), "scipy.io.loadmat and Graph.from_scipy take it"),
    "hdf5": ("HDF5 (h5ad, MATLAB 7.3)", rb"\x89HDF", (".h5", ".h5ad"), "h5py and Graph.from_edges take it"),
    "gt": ("graph-tool's gt", rb"\xe2\x9b\xbe gt", (".gt",), "save it as GraphML"),
    "excel": ("an old Office file", rb"\xd0\xcf\x11\xe0", (".xls",), "save the sheet as CSV (UTF-8)"),
    "pdf": ("PDF", rb"%PDF-", (".pdf",), _TABLE),
    "pickle": ("a pickle, which may run any program", rb"\x80[\x02-\x05]", (".pkl", ".pickle"), "Graph.from_networkx"),
    "zstd": ("zstd-compressed", rb"\x28\xb5\x2f\xfd", (".zst",), "unpack it first"),
    "bzip2": ("bzip2-compressed", rb"BZh[1-9]", (".bz2",), "unpack it first"),
    "xz": ("xz-compressed", rb"\xfd7zXZ", (".xz",), "unpack it first"),
    "sqlite": ("an SQLite database", rb"SQLite format 3", (".db",), _TABLE),
}  # fmt: skip
_TEXTS: dict[str, tuple[str, bytes, tuple[str, ...], str]] = {
    "ucinet": ("UCINET's DL", rb"\s*dl\b[ \t,]*(n|nr|nc|nm|format|data)\b", (".dl",), _TABLE),
    "graph6": ("graph6, sparse6 or digraph6", rb">>(graph6|sparse6|digraph6)<<", (".g6", ".s6", ".d6"), _TABLE),
    "leda": ("LEDA", rb"LEDA\.GRAPH", (".lgr", ".gw"), _TABLE),
    "gdf": ("GUESS's GDF", rb"\s*nodedef\s*>", (".gdf",), "export it from Gephi as GEXF or GraphML"),
    "dimacs": ("DIMACS", rb"(c [^\n]*\n|c\n)*p (edge|col|sp|max|min) ", (".dimacs", ".col"), "keep the edges alone"),
    "stp": ("SteinLib", rb"33D32945", (".stp",), "keep the rows of edges alone"),
}  # fmt: skip


def _seen(
    name: str, title: str, pattern: bytes, suffixes: tuple[str, ...], remedy: str, looks: Literal["bytes", "text"]
) -> Format:
    sight = re.compile(pattern, re.I)

    def sniff(sample: Sample) -> bool:
        return sight.match(sample.magic if looks == "bytes" else sample.head) is not None

    return Format(name, title, "", None, sniff, suffixes, remedy, looks)


def _is_tgf(sample: Sample) -> bool:
    """Tell whether a line ``#`` stands between rows of nodes and rows of edges."""
    return re.search(rb"(^|\n)[^#%\s][^\n]*\n#[ \t\r]*\n", sample.head[:65536]) is not None


def _is_page(sample: Sample) -> bool:
    return re.match(rb"\s*<(!doctype\s+html|html)\b", sample.head, re.I) is not None


FORMATS = (
    Format(
        "tgf",
        "nodes, a line ``#``, edges (Trivial Graph Format)",
        "",
        None,
        _is_tgf,
        (".tgf",),
        'keep the rows after the line "#" alone: they are an edge list',
        looks="rows",
    ),
    *(_seen(name, *facts, "bytes") for name, facts in _BYTES.items()),
    *(_seen(name, *facts, "text") for name, facts in _TEXTS.items()),
    Format(
        "html",
        "a web page (HTML)",
        "",
        None,
        _is_page,
        (".html", ".htm"),
        "open it in a browser: it may say why there was nothing to download, or where",
    ),
    Format(
        "xml",
        "other XML, such as XGMML",
        "",
        None,
        lambda sample: not _is_page(sample) and root_tag(sample) not in (None, "graphml", "gexf"),
        (".xml", ".xgmml"),
        "export it as GraphML, SIF or a table of edges",
    ),
)
