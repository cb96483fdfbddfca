"""What a job does not look at is said."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxmotif.graph._batch import Graphs
    from jaxmotif.graph._container import Graph

_logger = logging.getLogger("jaxmotif")


def ignored_labels(graph: Graph | Graphs) -> tuple[str, ...]:
    """Notes, logged too, on the labels of a graph that a job without use for them was given."""
    fields = graph.fields
    kinds = {"node": fields.node_labels, "edge": fields.edge_labels}
    notes = tuple(f"{kind} labels ignored" for kind, labels in kinds.items() if labels is not None)
    for note in notes:
        _logger.info("%s", note)
    return notes
