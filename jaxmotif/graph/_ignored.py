"""What a job does not look at is said."""

from __future__ import annotations

import logging
from collections.abc import Container
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmotif.graph._batch import Graphs
    from jaxmotif.graph._container import Graph

_logger = logging.getLogger("jaxmotif")


def ignored_labels(graph: Graph | Graphs, used: Container[str] = ()) -> tuple[str, ...]:
    """Notes, logged too, on the labels of a graph, of kinds (``"node"``, ``"edge"``) that a job does not use."""
    fields = graph.fields
    kinds = {"node": fields.node_labels, "edge": fields.edge_labels}
    notes = tuple(f"{kind} labels ignored" for kind, labels in kinds.items() if labels is not None and kind not in used)
    for note in notes:
        _logger.info("%s", note)
    return notes
