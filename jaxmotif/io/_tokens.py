"""Tokens of small languages of words and brackets."""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxmotif.graph._saved import GraphFileError
from jaxmotif.io._text import TextFile


class Token(NamedTuple):
    kind: str
    text: str
    start: int


class Tokens:
    """The tokens of a file, one ahead: words (``word``), quoted text (``text``) and marks (themselves)."""

    def __init__(self, file: TextFile, pattern: re.Pattern[str]):
        self.file = file
        self.source = file.text()
        self._counted = 0, 1  # a place and its line
        self._found = self._scan(pattern)
        self.next = next(self._found)

    def _scan(self, pattern: re.Pattern[str]):
        place = 0
        while place < len(self.source):
            match = pattern.match(self.source, place)
            if match is None:
                text = self.source[place : place + 30].split("\n")[0]
                raise self.file.error("expected a word, a quoted text or a bracket", self.line(place), text)
            kind = match.lastgroup or "skip"
            if kind != "skip":
                yield Token(match[kind] if kind == "mark" else kind, match[kind].replace('\\"', '"'), place)
            place = match.end()
        while True:
            yield Token("end", "the end of the file", place)

    def line(self, place: int) -> int:
        """Return the line of a place; it is quick where places are asked for in order."""
        if place < self._counted[0]:
            self._counted = 0, 1
        start, line = self._counted
        self._counted = place, line + self.source.count("\n", start, place)
        return self._counted[1]

    def take(self, *kinds: str) -> Token:
        token = self.next
        if kinds and token.kind not in kinds:
            raise self.error(f"expected {' or '.join(kinds)}, found {token.text[:30]!r}")
        self.next = next(self._found)
        return token

    def taken(self, *kinds: str) -> bool:
        """Say whether the next token is one of these kinds, and then take it."""
        matches = self.next.kind in kinds
        if matches:
            self.take()
        return matches

    def error(self, problem: str, token: Token | None = None) -> GraphFileError:
        return self.file.error(problem, self.line((token or self.next).start))
