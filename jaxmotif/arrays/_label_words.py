"""Labels that are words, written again in the names of classes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

LabelWords: TypeAlias = tuple[Mapping[int, str] | None, Mapping[int, str] | None]
"""The words that labels of nodes and of edges stand for, each ``None`` where labels are numbers or there are none."""


def in_words(text: str, nodes: Mapping[int, str] | None = None, edges: Mapping[int, str] | None = None) -> str:
    r"""Return the string of a class with words in the place of labels' numbers.

    The string is of the form of :func:`jaxmotif.patterns.canonical_string`. A backslash stands before what would end a
    word, so that the string can be read again (:func:`split_words`).

    Args:
      text: the string.
      nodes: words of the labels of nodes; ``None`` where these labels are numbers.
      edges: likewise of edges.

    Example:
      >>> in_words("0,1:.,0,.,.", {0: "cell", 1: "gene"}, {0: "+"}), in_words("1,1:0010"), in_words("0010")
      ('cell,gene:.,+,.,.', '1,1:0010', '0010')
      >>> print(in_words("0,1:0010", {0: "a,b", 1: "c"}))
      a\,b,c:0010
    """
    head, colon, cells = text.rpartition(":")
    if nodes is not None and colon:
        head = ",".join(_escaped(nodes[int(label)]) for label in head.split(","))
    if edges is not None and "," in cells:
        cells = ",".join(cell if cell == "." else _escaped(edges[int(cell)]) for cell in cells.split(","))
    return head + colon + cells


def _escaped(word: str) -> str:
    return "\\." if word == "." else re.sub(r"([\\,:])", r"\\\1", word)


def split_words(text: str, mark: str) -> list[str]:
    r"""Split text at a mark, but not where a backslash stands before it; the pieces keep their backslashes.

    Example:
      >>> split_words("a\\,b,c", ","), plain_word("a\\,b")
      (['a\\,b', 'c'], 'a,b')
    """
    pieces = [""]
    for token in re.findall(r"\\.|.", text, re.DOTALL):
        if token == mark:
            pieces.append("")
        else:
            pieces[-1] += token
    return pieces


def plain_word(piece: str) -> str:
    """Return a word without the backslashes that kept it together."""
    return re.sub(r"\\(.)", r"\1", piece, flags=re.DOTALL)
