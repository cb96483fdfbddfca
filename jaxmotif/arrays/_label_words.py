"""Labels that are words, written again in the names of classes."""

from __future__ import annotations

from collections.abc import Mapping


def in_words(text: str, nodes: Mapping[int, str] | None = None, edges: Mapping[int, str] | None = None) -> str:
    """Return the string of a class with words in the place of labels' numbers.

    The string is of the form of :func:`jaxmotif.patterns.canonical_string`.

    Args:
      text: the string.
      nodes: words of the labels of nodes; ``None`` where these labels are numbers.
      edges: likewise of edges.

    Example:
      >>> in_words("0,1:.,0,.,.", {0: "cell", 1: "gene"}, {0: "+"}), in_words("1,1:0010"), in_words("0010")
      ('cell,gene:.,+,.,.', '1,1:0010', '0010')
    """
    head, colon, cells = text.rpartition(":")
    if nodes is not None and colon:
        head = ",".join(nodes[int(label)] for label in head.split(","))
    if edges is not None and "," in cells:
        cells = ",".join(cell if cell == "." else edges[int(cell)] for cell in cells.split(","))
    return head + colon + cells
