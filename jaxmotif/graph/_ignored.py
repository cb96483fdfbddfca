"""Notes on the labels that a job does not use."""

from __future__ import annotations

import logging
from collections.abc import Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmotif.graph._batch import Graphs
    from jaxmotif.graph._container import Graph

_logger = logging.getLogger("jaxmotif")


def ignored_labels(graph: Graph | Graphs, used: Container[str] = ()) -> tuple[str, ...]:
    """Return notes on the labels of a graph that a job does not use, and log them.

    Args:
      graph: one graph or many.
      used: the kinds of labels that the job uses, of ``"node"`` and ``"edge"``.
    """
    fields = graph.fields
    kinds = {"node": fields.node_labels, "edge": fields.edge_labels}
    notes = tuple(f"{kind} labels ignored" for kind, labels in kinds.items() if labels is not None and kind not in used)
    for note in notes:
        _logger.info("%s", note)
    return notes
