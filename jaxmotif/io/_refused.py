"""Formats that are known by sight and not read: each is refused by its name, with what to do instead."""

from __future__ import annotations

import re

from jaxmotif.io._format import Reader, Sample
from jaxmotif.io._xml import root_tag


def known_by(sight: str) -> Reader:
    """Return the entry of a format that is known by a pattern: ``bytes``, or ``text``, and a regular expression."""
    kind, _, pattern = sight.partition(" ")
    begins = re.compile(pattern.encode(), re.I)
    if kind == "bytes":
        return Reader(None, lambda sample: begins.match(sample.magic) is not None, "bytes")
    return Reader(None, lambda sample: begins.match(sample.head) is not None)


def _is_tgf(sample: Sample) -> bool:
    """Tell whether a line ``#`` stands between rows of nodes and rows of edges."""
    return re.search(rb"(^|\n)[^#%\s][^\n]*\n#[ \t\r]*\n", sample.head[:65536]) is not None


def _is_page(sample: Sample) -> bool:
    return re.match(rb"\s*<(!doctype\s+html|html)\b", sample.head, re.I) is not None


def _is_other_xml(sample: Sample) -> bool:
    return not _is_page(sample) and root_tag(sample) not in (None, "graphml", "gexf")


FORMATS = {"tgf": Reader(None, _is_tgf, "rows"), "html": Reader(None, _is_page), "xml": Reader(None, _is_other_xml)}
