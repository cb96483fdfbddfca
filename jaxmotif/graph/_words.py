"""Labels that are words must mean the same in graphs that are compared or joined."""

from __future__ import annotations

from collections.abc import Sequence

from jaxmotif.graph._container import Graph

_REMEDY = "read all of them with one dict, label_ids={}, so that a word has one number"


def check_words(graphs: Sequence[Graph]) -> None:
    """Check that a label stands for one word in all graphs, and a word for one label.

    Labels that a program gave are numbers and are taken as they are; those of a file are numbers only if all are.

    Raises:
      ValueError: two graphs disagree.
    """
    for kind in ("node", "edge"):
        words: dict[int, str] = {}
        labels: dict[str, int] = {}
        for graph in graphs:
            for label, word in (getattr(graph, f"{kind}_label_names") or {}).items():
                if words.setdefault(label, word) != word or labels.setdefault(word, label) != label:
                    raise ValueError(
                        f"{kind} label {label} is {word!r} in one graph and {words[label]!r} in another; {_REMEDY}"
                        if words[label] != word
                        else f"{kind} label {word!r} is {label} in one graph and {labels[word]} in another; {_REMEDY}"
                    )
        if words and any(_only_numbers(graph, kind) for graph in graphs):
            raise ValueError(f"{kind} labels are words in one graph's file and numbers in another's; {_REMEDY}")


def _only_numbers(graph: Graph, kind: str) -> bool:
    from_file = graph.report is not None and graph.report.format != ""
    labelled = getattr(graph, f"{kind}_labels") is not None
    return from_file and labelled and getattr(graph, f"{kind}_label_names") is None
