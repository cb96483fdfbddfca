"""PyTorch Geometric: transforms that add counts to ``Data``, or to a ``Batch``, which is counted in one run.

``AddGraphletOrbits().of_all(dataset)`` counts in a whole data set at once, which takes a small part of the time that a
call for each graph takes. A transform that is given as ``pre_transform`` runs once, in the main process, and the
worker processes of a ``DataLoader`` then only collate. If it is given as ``transform`` it runs in the workers, which
must not be forked: use ``multiprocessing_context="spawn"``.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

try:
    from torch_geometric.transforms import BaseTransform  # pyright: ignore[reportMissingImports]
except ImportError:
    BaseTransform = object  # whatever has the fields of Data can be transformed without PyTorch Geometric

from jaxmotif.arrays._checks import check_switch
from jaxmotif.features import pattern_features
from jaxmotif.features._patterns import Normalize, PatternLike
from jaxmotif.graph import Graphs
from jaxmotif.graphlets import node_orbits


class _AddCounts(BaseTransform):  # pyright: ignore[reportGeneralTypeIssues]  (one of two)
    """Base of the transforms, which count in many graphs in one run."""

    attr_name: str | None

    def __call__(self, data: Any) -> Any:
        """Return a copy of ``Data`` or a ``Batch`` with the counts.

        The counts belong to the batch as a whole: graphs that ``Batch.to_data_list`` takes out of it do not have them.
        """
        return self.of_all([data])[0]

    forward = __call__  # which PyTorch Geometric asks for

    def of_all(self, dataset: Iterable[Any]) -> list[Any]:
        """Return copies of all ``Data`` of a data set with the counts, which takes a single run.

        Args:
          dataset: a data set, or a list, of ``Data`` or ``Batch``.

        Raises:
          TypeError: ``HeteroData``, which has several kinds of nodes.
        """
        given = list(dataset)
        if not given:
            return []
        for data in given:
            if hasattr(data, "edge_types"):
                raise TypeError(
                    f"{type(data).__name__} has several kinds of nodes: take data.to_homogeneous(), or one edge type"
                )
        return [_added(data, rows, self.attr_name) for data, rows in zip(given, self._rows(given), strict=True)]

    def _rows(self, given: list[Any]) -> list[np.ndarray]:
        """Return the counts of each ``Data``, ``[rows, columns]``."""
        raise NotImplementedError


@dataclasses.dataclass
class AddGraphletOrbits(_AddCounts):
    """Transform that adds ORCA's orbits of each node, float32 ``[n, 15]`` (``size=5``: 73).

    Args:
      size: 4 or 5, the number of nodes of the largest graphlets.
      attr_name: the attribute to write; ``None`` adds columns to those of ``x``, which are float32 then, or wider.
      log: whether to write ``log(1 + x)`` of the counts.
    """

    size: Literal[4, 5] = 4
    attr_name: str | None = "orbits"
    log: bool = True

    def _rows(self, given: list[Any]) -> list[np.ndarray]:
        check_switch(self.log, "log")
        counts = node_orbits(_graphs(given, False, None, None), size=self.size).values.astype(np.float64)
        return _split(np.log1p(counts) if self.log else counts, [data.num_nodes for data in given])


@dataclasses.dataclass
class AddPatternCounts(_AddCounts):
    """Transform that adds :func:`jaxmotif.pattern_features`, float32.

    They are per node ``[n, F]``; per edge ``[E, F]``, a row for each column of ``edge_index``; or per graph ``[graphs,
    F]``.

    Args:
      patterns: names or small graphs, with labels or not.
      per, induced, log, normalize: as for :func:`jaxmotif.pattern_features`.
      attr_name: the attribute to write; ``None`` adds columns to those of ``x`` (``per="node"`` alone).
      directed: whether columns of ``edge_index`` are arcs. If not, edges may be given in one direction or in both.
      node_label, edge_label: names of attributes with integers, ``[n]`` and ``[E]``, that are taken as labels.
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

    def _rows(self, given: list[Any]) -> list[np.ndarray]:
        graphs = _graphs(given, self.directed, self.node_label, self.edge_label)
        found = pattern_features(
            graphs, self.patterns, per=self.per, induced=self.induced, log=self.log, normalize=self.normalize
        )
        if self.per == "node":
            return _split(found.values, [data.num_nodes for data in given])
        if found.edges is None:
            return _split(found.values, [len(_starts(data)) - 1 for data in given])
        row = graphs.union(pad=None)._edge_rows(_edge_index(given).T)
        rows = np.zeros((row.size, found.values.shape[1]), found.values.dtype)  # a self loop has zeros
        rows[row >= 0] = found.values[row[row >= 0]]
        return _split(rows, [data.edge_index.shape[1] for data in given])


def _starts(data: Any) -> np.ndarray:
    """Return the first node of each graph of ``Data`` or a ``Batch``, and one past the last."""
    return np.asarray(data.ptr.cpu() if "ptr" in data else [0, data.num_nodes])


def _edge_index(given: list[Any]) -> np.ndarray:
    """Return the edges of all ``Data`` side by side, ``[2, E]``."""
    if any(data.edge_index is None for data in given):
        raise ValueError("a graph has no edge_index; one without edges has torch.zeros((2, 0), dtype=torch.long)")
    first = np.cumsum([0, *(data.num_nodes for data in given)])
    return np.concatenate(
        [np.asarray(data.edge_index.cpu()) + n for data, n in zip(given, first, strict=False)], axis=1
    )


def _graphs(given: list[Any], directed: bool, node_label: str | None, edge_label: str | None) -> Graphs:
    """Return the graphs of all ``Data`` side by side."""
    for name in (node_label, edge_label):
        if name is not None and any(name not in data for data in given):
            raise ValueError(f"a graph has no attribute {name!r} to be labels")
    ptr = np.cumsum([0, *np.concatenate([np.diff(_starts(data)) for data in given])])
    labels = (
        None if name is None else np.concatenate([np.asarray(data[name].reshape(-1).cpu()) for data in given])
        for name in (node_label, edge_label)
    )
    return Graphs.from_edge_index(_edge_index(given), ptr, directed, *labels)


def _split(rows: np.ndarray, numbers: list[int]) -> list[np.ndarray]:
    return np.split(rows, np.cumsum(numbers)[:-1])


def _added(data: Any, values: np.ndarray, name: str | None) -> Any:
    import torch  # pyright: ignore[reportMissingImports]  (the data is of it)

    data = copy.copy(data)
    found = torch.from_numpy(values.astype(np.float32)).to(data.edge_index.device)
    if name is not None:
        data[name] = found
        return data
    old = data.x
    if old is not None:
        # Neither integers nor halves have room for what was counted.
        kind = torch.promote_types(old.dtype, found.dtype)
        found = torch.cat([(old.view(-1, 1) if old.dim() == 1 else old).to(kind), found.to(kind)], -1)
    data.x = found
    return data
