"""PyTorch Geometric: transforms that add counts to ``Data`` (or to a ``Batch``, all of it in one run).

For ``pre_transform``, which runs once, in the main process; the worker processes of a ``DataLoader`` then only collate.
As a ``transform`` inside workers they need workers that were not forked: ``multiprocessing_context="spawn"``.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from jaxmotif.features import pattern_features
from jaxmotif.features._patterns import Normalize, PatternLike
from jaxmotif.graph import Graphs
from jaxmotif.graphlets import node_orbits


@dataclasses.dataclass
class AddGraphletOrbits:
    """Transform that adds ORCA's orbits of each node, float32 ``[n, 15]`` (``size=5``: 73).

    Args:
      size: 4 or 5, nodes of the largest graphlets.
      attr_name: the attribute to write; ``None``: columns beside those of ``x``.
      log: ``log(1 + x)`` of the counts.
    """

    size: Literal[4, 5] = 4
    attr_name: str | None = "orbits"
    log: bool = True

    def __call__(self, data: Any) -> Any:
        """Return a copy of ``Data`` or a ``Batch`` with the counts."""
        counts = node_orbits(_graphs(data, False, None, None), size=self.size).values.astype(np.float64)
        return _added(data, np.log1p(counts) if self.log else counts, self.attr_name)


@dataclasses.dataclass
class AddPatternCounts:
    """Transform that adds :func:`jaxmotif.pattern_features`, float32.

    They are per node ``[n, F]``; per edge ``[E, F]``, a row for each column of ``edge_index``; or per graph ``[graphs,
    F]``.

    Args:
      patterns: names or small graphs, with labels or not.
      per, induced, log, normalize: as there.
      attr_name: the attribute to write; ``None``: columns beside those of ``x`` (``per="node"`` alone).
      directed: whether columns of ``edge_index`` are arcs; else edges are given both ways, or one.
      node_label, edge_label: attributes that hold integers, ``[n]`` and ``[E]``, to be labels.
    """

    patterns: Sequence[PatternLike]
    per: Literal["graph", "node", "edge"] = "node"
    induced: bool = True
    log: bool = True
    normalize: Normalize = None
    attr_name: str | None = "patterns"
    directed: bool = False
    node_label: str | None = None
    edge_label: str | None = None

    def __post_init__(self) -> None:
        if self.attr_name is None and self.per != "node":
            raise ValueError(
                f'attr_name=None adds to x, which has a row a node; with per="{self.per}" name an attribute'
            )

    def __call__(self, data: Any) -> Any:
        """Return a copy of ``Data`` or a ``Batch`` with the counts."""
        graphs = _graphs(data, self.directed, self.node_label, self.edge_label)
        found = pattern_features(
            graphs, self.patterns, per=self.per, induced=self.induced, log=self.log, normalize=self.normalize
        )
        values = found.values
        if found.edges is not None:
            values = _at_columns(data, values, found.edges + graphs.node_starts[found.graph][:, None], self.directed)
        return _added(data, values, self.attr_name)


def _graphs(data: Any, directed: bool, node_label: str | None, edge_label: str | None) -> Graphs:
    ptr = data.ptr if "ptr" in data else [0, data.num_nodes]
    labels = (None if name is None else data[name].reshape(-1).cpu() for name in (node_label, edge_label))
    return Graphs.from_edge_index(data.edge_index.cpu(), np.asarray(ptr), directed, *labels)


def _at_columns(data: Any, values: np.ndarray, edges: np.ndarray, directed: bool) -> np.ndarray:
    """Return one row for each column of ``edge_index``: that of its edge, or zeros for a self loop."""
    ends = data.edge_index.cpu().numpy()
    ends = ends if directed else np.sort(ends, axis=0)
    place = np.array([max(data.num_nodes, 1), 1])
    row = np.minimum(np.searchsorted(edges @ place, ends.T @ place), max(len(edges) - 1, 0))
    found = np.zeros((ends.shape[1], values.shape[1]), values.dtype)
    real = ends[0] != ends[1]
    found[real] = values[row[real]]
    return found


def _added(data: Any, values: np.ndarray, name: str | None) -> Any:
    import torch  # pyright: ignore[reportMissingImports]  (the data is of it)

    data = copy.copy(data)
    found = torch.from_numpy(values.astype(np.float32)).to(data.edge_index.device)
    if name is not None:
        data[name] = found
        return data
    old = data.x
    data.x = found if old is None else torch.cat([old.view(-1, 1) if old.dim() == 1 else old, found.to(old.dtype)], -1)
    return data
