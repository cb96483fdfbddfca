"""Nodes that have the same neighbours, on a CPU: one node of many members stands for all of them.

Twins are not adjacent and have the same orbits, and what is summed over nodes is summed over classes of twins, each
counted as often as it has members. So a graph whose nodes have many twins, as links from pages of one template or
customers of the same two networks, is a smaller one with weights: what is not a hub any more takes no D x D cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._sizes import bucket_size

_LESS, _FEWER = 0.75, 2**18
"""Cells of all neighbourhoods, in terms of what they were, that are worth their weights; and how many fewer."""


class Classes(NamedTuple):
    """The graph of classes, rows of slots as those of :class:`jaxmotif.graph.Graph`, padded; int32.

    Attributes:
      offsets, targets: ``[N + 1]``, ``[S]``, S > N.
      members, degrees, leaves: ``[N]``: of each class how many nodes it has, of each of these its neighbours in the
        whole graph, and how many of them have no other.
      of: of each node of the whole graph its class.
    """

    offsets: np.ndarray
    targets: np.ndarray
    members: np.ndarray
    degrees: np.ndarray
    leaves: np.ndarray
    of: np.ndarray


def classes_of(offsets: np.ndarray, targets: np.ndarray) -> Classes | None:
    """The classes of a graph; ``None`` where they save little."""
    degrees, slots = np.diff(offsets).astype(np.int64), int(offsets[-1])
    nodes, targets = len(degrees), targets[:slots]
    first = _first_twins(offsets.astype(np.int64), targets, degrees)
    kept = first == np.arange(nodes)
    tails = np.repeat(np.arange(nodes), degrees)
    stay = kept[tails] & kept[targets]
    before, after = _cells(tails, targets, degrees), _cells(tails[stay], targets[stay], degrees)
    if after > _LESS * before or before - after < _FEWER:
        return None
    number = np.cumsum(kept) - 1
    size = bucket_size(int(kept.sum()))
    ends = np.cumsum(np.bincount(number[tails[stay]], minlength=size))
    near = number[targets[stay]]
    return Classes(
        np.concatenate([[0], ends]).astype(np.int32),
        # So many that what is held for arcs is told from what is held for nodes.
        np.pad(near, (0, bucket_size(max(len(near), size + 1)) - len(near))).astype(np.int32),
        np.bincount(number[first], minlength=size).astype(np.int32),
        _padded(degrees[kept], size),
        _padded(np.bincount(tails, degrees[targets] == 1, nodes)[kept], size),
        number[first],
    )


def _first_twins(offsets: np.ndarray, targets: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Of each node the first of its twins."""
    rows = np.flatnonzero(degrees)
    # Sums of random numbers are the same for the same neighbours, and almost never for others.
    random = np.random.default_rng(0).integers(0, 2**64, len(degrees), np.uint64)
    signs = np.zeros(len(degrees), np.uint64)
    if rows.size:
        signs[rows] = np.add.reduceat(random[targets], offsets[rows])
    _, first, which = np.unique(signs, return_index=True, return_inverse=True)
    first = first[which]
    (moved,) = np.nonzero(first != np.arange(len(first)))
    # Row by row: those that differ after all, or have another length, stay alone.
    lengths = degrees[moved]
    same = degrees[first[moved]] == lengths
    moved, lengths = moved[same], lengths[same]
    lane = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    own, other = (targets[np.repeat(offsets[x], lengths) + lane] for x in (moved, first[moved]))
    wrong = np.bincount(np.repeat(np.arange(len(moved)), lengths), own != other, len(moved)) > 0
    found = np.arange(len(degrees))
    found[moved[~wrong]] = first[moved[~wrong]]
    return found


def _cells(tails: np.ndarray, heads: np.ndarray, degrees: np.ndarray) -> int:
    """Of the matrices of all neighbourhoods."""
    inside = (degrees[tails] > 1) & (degrees[heads] > 1)
    return int((np.bincount(tails[inside]).astype(np.int64) ** 2).sum())


def _padded(x: np.ndarray, size: int) -> np.ndarray:
    return np.pad(x, (0, size - len(x))).astype(np.int32)
