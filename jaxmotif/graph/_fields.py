"""The parts of a graph: its arrays, its padding, and the report of the edges that building left out."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import jax
import numpy as np
from numpy.typing import ArrayLike

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._present import counted
from jaxmotif.arrays._sizes import bucket_size

Array: TypeAlias = np.ndarray | jax.Array
OptionalArray: TypeAlias = Any  # an Array, or None where a graph of that kind has none
Placement: TypeAlias = jax.Device | jax.sharding.Sharding | None
EdgesLike: TypeAlias = ArrayLike | Iterable[Sequence[int]]
Pad: TypeAlias = Literal["bucket"] | tuple[int, int] | None

INT32_MAX = 2**31 - 1


class Fields(NamedTuple):
    """The arrays of a graph, as :class:`jaxmotif.Graph` describes them, in its order."""

    out_offsets: Array
    out_targets: Array
    in_offsets: OptionalArray = None
    in_targets: OptionalArray = None
    in_slots: OptionalArray = None
    node_labels: OptionalArray = None
    edge_labels: OptionalArray = None
    num_nodes: Array | np.int32 = np.int32(0)
    num_edges: Array | np.int32 = np.int32(0)


LAYOUT = {
    "out_offsets": ("node", "slot"),
    "out_targets": ("slot", "node"),
    "in_offsets": ("node", "slot"),
    "in_targets": ("slot", "node"),
    "in_slots": ("slot", "slot"),
    "node_labels": ("node", ""),
    "edge_labels": ("slot", ""),
}
"""For each array, whether it has an entry for each node or each slot (offsets have one more at the end), and whether
its values are numbers of nodes or of slots (an empty string: neither)."""


@dataclasses.dataclass(frozen=True)
class BuildReport:
    """Counts of the edges and nodes that building a graph left out.

    Attributes:
      rows: edge rows given.
      self_loops: rows ``u u`` left out.
      duplicates: rows left out because the same row came before.
      reverse_duplicates: undirected edges given as ``u v`` and as ``v u``; each is one edge.
      isolated: ids without an edge left out by ``isolated="drop"``.
      nodes, edges: the size of the graph.
      format: the file format it was read from, if it was.
      notes: what reading a file passed over or took for granted.
    """

    rows: int
    self_loops: int
    duplicates: int
    reverse_duplicates: int
    isolated: int
    nodes: int
    edges: int
    format: str = ""
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = (
            (self.self_loops, "self loop"),
            (self.duplicates, "duplicate"),
            (self.reverse_duplicates, "reverse duplicate"),
            (self.isolated, "isolated node"),
        )
        left_out = ", ".join(counted(number, thing) for number, thing in parts if number)
        sizes = f"{counted(self.nodes, 'node')}, {counted(self.edges, 'edge')} from {counted(self.rows, 'row')}"
        return f"{sizes}; left out {left_out}" if left_out else sizes


class Rows(NamedTuple):
    """Arrays of a graph as a build path returns them, and counts of the rows that sorting left out."""

    fields: Fields
    num_edges: int
    duplicates: int
    reverse_duplicates: int
    conflict: bool


def capacities(pad: Pad, num_nodes: int, num_slots: int) -> tuple[int, int]:
    """Return the node capacity and the slot capacity for a padding choice.

    Raises:
      ValueError: sizes beyond int32, or capacities given too small.
    """
    if num_nodes > INT32_MAX:
        raise ValueError(
            f'{num_nodes} nodes are over the limit of {INT32_MAX} (int32 indices); isolated="drop" renumbers sparse ids'
        )
    if num_slots > INT32_MAX:
        raise ValueError(
            f"{num_slots} slots are over the limit of {INT32_MAX} (int32 indices; an undirected edge takes two); split "
            "the graph"
        )
    if pad is None:
        return max(num_nodes, 1), max(num_slots, 1)
    if isinstance(pad, str):
        if pad != "bucket":
            raise ValueError(f'pad must be None, "bucket" or (nodes, slots), got {pad!r}')
        return min(bucket_size(num_nodes), INT32_MAX), min(bucket_size(num_slots), INT32_MAX)
    try:
        N, S = (whole_number(size, "pad") for size in pad)
    except (TypeError, ValueError):
        raise TypeError(f'pad must be None, "bucket" or two integers (nodes, slots), got {pad!r}') from None
    if not (max(num_nodes, 1) <= N <= INT32_MAX and max(num_slots, 1) <= S <= INT32_MAX):
        raise ValueError(
            f"pad={pad!r} does not hold the graph: it needs at least {max(num_nodes, 1)} nodes and {max(num_slots, 1)} "
            f"slots, and each at most {INT32_MAX}"
        )
    return N, S


def pad_fields(fields: Fields, n: int, slots: int, N: int, S: int) -> Fields:
    """Return the arrays of a graph on the host at capacities ``(N, S)``.

    Args:
      fields: the arrays, at any capacities.
      n: the number of nodes.
      slots: the number of slots in use.
      N: the node capacity.
      S: the slot capacity.
    """

    used, capacity = {"node": n, "slot": slots}, {"node": N, "slot": S}

    def resized(name: str, entry: str, value: str) -> OptionalArray:
        if (array := getattr(fields, name)) is None:
            return None
        array, is_offsets = np.asarray(array), name.endswith("offsets")
        count, size = used[entry] + is_offsets, capacity[entry] + is_offsets
        if array.shape[0] == size == count:
            return array.astype(np.int32, copy=False)
        # Padding nodes have empty rows: their offsets are the end of the last real one.
        out = np.full(size, slots if is_offsets else capacity.get(value, -1), np.int32)
        out[:count] = array[:count]
        return out

    return fields._replace(**{name: resized(name, *axes) for name, axes in LAYOUT.items()})
