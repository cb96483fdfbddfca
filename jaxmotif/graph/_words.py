"""Checks that the labels of several graphs stand for the same words, before the graphs are compared or joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from jaxmotif.graph._container import Graph

_REMEDY = "read all of them with one dict, label_ids={}, so that a word has one number"


def check_words(graphs: Sequence[Graph]) -> None:
    """Check that a label stands for the same word in all graphs, and a word for the same label.

    Labels that a program set are numbers, and are not checked. Labels that come from a file are numbers only if all
    labels in that file are; else the file's labels are words.

    Raises:
      ValueError: two graphs disagree.
    """
    for kind in ("node", "edge"):
        words = joined_words(kind, [getattr(graph, f"{kind}_label_names") for graph in graphs])
        if words and any(_only_numbers(graph, kind) for graph in graphs):
            raise ValueError(f"{kind} labels are words in one graph's file and numbers in another's; {_REMEDY}")


def joined_words(kind: str, given: Iterable[Mapping[int, str] | None]) -> dict[int, str]:
    """Return the words of the labels of several graphs, of nodes or of edges (``kind``), by label.

    Raises:
      ValueError: a label stands for two words, or a word for two labels.

    Example:
      >>> joined_words("node", [{0: "gene"}, None, {0: "gene", 1: "drug"}])
      {0: 'gene', 1: 'drug'}
    """
    words: dict[int, str] = {}
    labels: dict[str, int] = {}
    for label, word in (pair for names in given for pair in (names or {}).items()):
        if words.setdefault(label, word) != word or labels.setdefault(word, label) != label:
            raise ValueError(
                f"{kind} label {label} is {word!r} in one graph and {words[label]!r} in another; {_REMEDY}"
                if words[label] != word
                else f"{kind} label {word!r} is {label} in one graph and {labels[word]} in another; {_REMEDY}"
            )
    return words


def _only_numbers(graph: Graph, kind: str) -> bool:
    from_file = graph.report is not None and graph.report.format not in ("", "npz")
    labelled = getattr(graph, f"{kind}_labels") is not None
    return from_file and labelled and getattr(graph, f"{kind}_label_names") is None
