"""Formats that are known by sight and not read: each is refused by its name, with what to do instead."""

from __future__ import annotations

import re
from collections.abc import Callable

from jaxmotif.io._format import Reader, Sample
from jaxmotif.io._xml import root_tag

_BYTES = {
    "matlab": rb"MATLAB 5\.0",
    "hdf5": rb"\x89HDF",
    "gt": rb"\xe2\x9b\xbe gt",
    "excel": rb"\xd0\xcf\x11\xe0",
    "pdf": rb"%PDF-",
    "pickle": rb"\x80[\x02-\x05]",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bzip2": rb"BZh[1-9]",
    "xz": rb"\xfd7zXZ",
    "sqlite": rb"SQLite format 3",
}
"""First bytes of files that are no text, as patterns."""

_TEXTS = {
    "ucinet": rb"\s*dl\b[ \t,]*(n|nr|nc|nm|format|data)\b",
    "graph6": rb">>(graph6|sparse6|digraph6)<<",
    "leda": rb"LEDA\.GRAPH",
    "gdf": rb"\s*nodedef\s*>",
    "dimacs": rb"(c [^\n]*\n|c\n)*p (edge|col|sp|max|min) ",
    "stp": rb"33D32945",
}
"""Beginnings of texts, as patterns."""


def _begins(pattern: bytes, part: str) -> Callable[[Sample], bool]:
    """Return a function that tells whether a part of a file's beginning matches a pattern."""
    sight = re.compile(pattern, re.I)
    return lambda sample: sight.match(getattr(sample, part)) is not None


def _is_tgf(sample: Sample) -> bool:
    """Tell whether a line ``#`` stands between rows of nodes and rows of edges."""
    return re.search(rb"(^|\n)[^#%\s][^\n]*\n#[ \t\r]*\n", sample.head[:65536]) is not None


_is_page = _begins(rb"\s*<(!doctype\s+html|html)\b", "head")


FORMATS = {
    "tgf": Reader(None, _is_tgf, "rows"),
    **{name: Reader(None, _begins(pattern, "magic"), "bytes") for name, pattern in _BYTES.items()},
    **{name: Reader(None, _begins(pattern, "head")) for name, pattern in _TEXTS.items()},
    "html": Reader(None, _is_page),
    "xml": Reader(None, lambda sample: not _is_page(sample) and root_tag(sample) not in (None, "graphml", "gexf")),
}
