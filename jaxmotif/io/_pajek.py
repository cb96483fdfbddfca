"""Pajek's networks (.net)."""

from __future__ import annotations

import re

import numpy as np

from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._format import INT32_MAX, Contents, Options, Reader, Sample, one_based, uncommented
from jaxmotif.io._text import TextFile

_WORD = re.compile(r"\S+", re.ASCII)
_QUOTED = re.compile(r'\s*(?:"([^"]*)"|([^\s"]+))(?=\s|$)', re.ASCII)
_SECTIONS = {"*arcs": True, "*edges": False, "*arcslist": True, "*edgeslist": False}


class _Pajek:
    """The lines of a file, as they are read."""

    def __init__(self, file: TextFile, options: Options):
        self.file = file
        self.number = 0
        self.n = -1
        self.section = ""
        self.labels: dict[int, str] = {}
        self.edges: list[tuple[int, int, bool]] = []
        self.notes: dict[str, None] = {}
        self.options = options

    def error(self, problem: str, line: str) -> GraphFileError:
        return self.file.error(problem, self.number, line)

    def line(self, line: str) -> None:
        words = self._words(line)
        if words[0].startswith("*"):
            self._begin(line, words)
        elif self.section == "*vertices":
            number = self._vertex(line, words[0])
            if number in self.labels:
                raise self.error(f"vertex {number} is there twice", line)
            self.labels[number] = words[1] if len(words) > 1 else str(number)
        elif self.section.endswith("list"):
            source, *targets = (self._vertex(line, word) for word in words)
            self.edges += [(source, target, _SECTIONS[self.section]) for target in targets]
        elif self.section in _SECTIONS:
            if len(words) < 2:
                raise self.error("expected two vertices", line)
            source, target = (self._vertex(line, word) for word in words[:2])
            self.edges.append((source, target, _SECTIONS[self.section]))
            if len(words) > 2:
                self.notes["passed over: values and properties of the lines (column 3 and on)"] = None
        else:
            raise self.error("expected a section such as *Vertices n", line)

    def _words(self, line: str) -> list[str]:
        """Words between blanks; one in quotes may hold blanks."""
        if '"' not in line:
            return _WORD.findall(line)
        words, place, line = [], 0, line.rstrip()
        while place < len(line):
            match = _QUOTED.match(line, place)
            if match is None:
                raise self.error("expected words between blanks, in quotes if they hold blanks", line)
            words.append(match[1] if match[2] is None else match[2])
            place = match.end()
        return words

    def _begin(self, line: str, words: list[str]) -> None:
        section = words[0].lower()
        if section == "*network" and self.n < 0:
            return
        if section == "*vertices" and self.n < 0:
            if len(words) not in (2, 3) or not all(word.isdecimal() and len(word) < 11 for word in words[1:]):
                raise self.error("expected *Vertices and their number", line)
            self.n = int(words[1])
            if self.n > INT32_MAX:
                raise self.error(f"expected at most {INT32_MAX} vertices", line)
        elif section in _SECTIONS and self.n >= 0:
            if any(word.startswith(":") for word in words[1:]):
                self.notes["several relations in one network are read as one"] = None
        elif section == "*matrix":
            raise self.error("holds a matrix (*Matrix); write it as *Arcs or *Edges", line)
        else:
            raise self.error("expected one network: *Vertices, then *Arcs, *Edges, *Arcslist or *Edgeslist", line)
        self.section = section

    def _vertex(self, line: str, word: str) -> int:
        if not (word.isascii() and word.isdecimal()) or len(word) > 10 or not 1 <= int(word) <= self.n:
            raise self.error(f"expected vertices in 1..{self.n}, found {word[:30]!r} in", line)
        return int(word)

    def contents(self) -> Contents:
        if self.n < 0:
            raise self.file.error("expected *Vertices and their number")
        if self.options.edge_label is not None or self.options.node_label is not None:
            raise self.file.error("labels in Pajek files are not read; node_labels= takes a file")
        pairs = np.array([edge[:2] for edge in self.edges], np.int64).reshape(-1, 2) - 1
        kinds = np.array([edge[2] for edge in self.edges], bool)
        directed = bool(kinds.any()) if len(kinds) else None
        distinct = len(set(self.labels.values())) == len(self.labels) > 0
        names = self._names if distinct else one_based
        if self.labels and not distinct:
            self.notes["several vertices have one name, so that all are called by their numbers"] = None
        return Contents(pairs, self.n, directed, names, notes=tuple(self.notes)).with_undirected(~kinds)

    def _names(self, ids: np.ndarray) -> np.ndarray:
        """Return the names of vertices; a vertex that is not listed is called by its number."""
        return np.array([self.labels.get(number, str(number)) for number in (ids + 1).tolist()], object)


def read_pajek(file: TextFile, options: Options) -> Contents:
    """``*Vertices n``, lines ``number "name"``, then ``*Arcs`` and ``*Edges`` of ``u v``, or lists of neighbours."""
    pajek = _Pajek(file, options)
    for pajek.number, line in file.lines((b"%",)):
        pajek.line(line.decode())
    return pajek.contents()


def _is_pajek(sample: Sample) -> bool:
    head = uncommented(sample.head[:65536], (b"%",))
    return re.match(rb"\s*\*(vertices|network)\b", head, re.I) is not None


FORMATS = {"pajek": Reader(read_pajek, _is_pajek)}
