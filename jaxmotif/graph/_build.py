"""Building a graph from an edge array: checks, what is left out, padding, and the NumPy path."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from numpy.typing import ArrayLike

from jaxmotif.arrays._checks import check_labels, check_sequence, whole_number
from jaxmotif.arrays._rows import offsets_from, offsets_of, renumber
from jaxmotif.graph._build_device import Ids, device_rows, enter
from jaxmotif.graph._fields import (
    BuildReport,
    EdgesLike,
    Fields,
    Pad,
    Placement,
    Rows,
    capacities,
    pad_fields,
)

DEVICE_BUILD_ROWS = 1 << 20
"""Number of edge rows from which on an accelerator sorts its own graphs."""

_CHOICES = {
    "self_loops": ("drop", "error"),
    "duplicates": ("drop", "error"),
    "reverse": ("merge", "error"),
    "isolated": ("keep", "drop"),
}
"""For each kind of row or node that may be left out, the choices of a caller; the first one is the default."""


def build(
    edges: EdgesLike,
    num_nodes: int | None,
    directed: bool,
    node_labels: ArrayLike | None,
    edge_labels: ArrayLike | None,
    choices: Mapping[str, str] | None = None,
    node_names: Sequence[Hashable] | np.ndarray | None = None,
    pad: Pad = "bucket",
    device: Placement = None,
    on_device: bool | None = None,
) -> tuple[Fields, BuildReport, np.ndarray | None]:
    """Build the arrays, the report and the node names of a graph, as :meth:`Graph.from_edges` describes them.

    Args:
      choices: what is done about ``self_loops``, ``duplicates``, ``reverse`` edges and ``isolated`` nodes.
      on_device: sort on the device (``True``) or in NumPy (``False``); ``None``: an accelerator sorts large graphs.
    """
    choices = {name: known[0] for name, known in _CHOICES.items()} | dict(choices or {})
    for name, known in _CHOICES.items():
        if choices[name] not in known:
            raise ValueError(f"{name} must be {' or '.join(map(repr, known))}, got {choices[name]!r}")
    drops_isolated = choices["isolated"] == "drop"
    if directed and choices["reverse"] == "error":
        raise ValueError('reverse="error" is for undirected graphs: in a directed graph u v and v u are two arcs')
    all_edges = edges = edge_array(edges)
    if on_device is None:  # a small graph asks for no device, which would start one
        on_device = edges.shape[0] >= DEVICE_BUILD_ROWS and _first_device(device).platform != "cpu"
    # Ids that may have no edge are renumbered on the host, before the edges go to a device.
    there, ids = enter(edges, _first_device(device)) if on_device and not drops_isolated else (None, _ids(edges))
    _check_ids(edges, ids)
    given_labels = edge_labels = None if edge_labels is None else as_labels(edge_labels, "edge_labels", edges.shape[0])
    node_labels = None if node_labels is None else as_labels(node_labels, "node_labels", None)
    node_names = None if node_names is None else _names(node_names)
    n, declared = _node_count(edges, ids.high, num_nodes, node_labels, node_names)
    if ids.loops and choices["self_loops"] == "error":
        row = int(np.argmax(edges[:, 0] == edges[:, 1]))
        raise ValueError(f'edges[{row}] = {_row(edges, row)} is a self loop; self_loops="drop" leaves them out')

    if there is None and ids.loops:  # a device leaves self loops out as it sorts
        real = edges[:, 0] != edges[:, 1]
        edges, edge_labels = edges[real], None if edge_labels is None else edge_labels[real]
    num_isolated = 0
    if drops_isolated:
        edges, kept_ids = renumber(edges, n)
        only_loops = 0
        if ids.loops:
            only_loops = np.setdiff1d(all_edges[all_edges[:, 0] == all_edges[:, 1], 0], kept_ids).shape[0]
        there = enter(edges, _first_device(device))[0] if on_device else None
        num_isolated = n - kept_ids.shape[0] if declared else only_loops
        n = kept_ids.shape[0]
        node_names = kept_ids if node_names is None else node_names[kept_ids]
        node_labels = None if node_labels is None else node_labels[kept_ids]

    def sizes(num_edges: int) -> tuple[int, int]:
        return capacities(pad, n, num_edges if directed else 2 * num_edges)

    capacities(None, n, 0)
    if there is not None:
        built = device_rows(there, edge_labels, directed, sizes)
    else:
        built = host_rows(edges, edge_labels, n, directed, sizes)
    _check_built(built, all_edges, given_labels, directed, choices)
    fields = built.fields._replace(num_nodes=np.int32(n), num_edges=np.int32(built.num_edges))
    if node_labels is not None:
        padding = np.full(sizes(built.num_edges)[0] - n, -1, np.int32)
        fields = fields._replace(node_labels=np.concatenate([node_labels, padding]))
    report = BuildReport(
        rows=all_edges.shape[0],
        self_loops=ids.loops,
        duplicates=built.duplicates,
        reverse_duplicates=built.reverse_duplicates,
        isolated=num_isolated,
        nodes=n,
        edges=built.num_edges,
    )
    return fields, report, node_names


class LabelConflict(ValueError):
    """Two rows that are one edge and have two labels.

    Attributes:
      rows: the numbers of the two rows.
      labels: their labels.
    """

    def __init__(self, message: str, rows: tuple[int, int], labels: tuple[int, int]):
        super().__init__(message)
        self.rows, self.labels = rows, labels


def _check_built(
    built: Rows, given: np.ndarray, labels: np.ndarray | None, directed: bool, choices: Mapping[str, str]
) -> None:
    """Raise an error for repeated, reversed or contradictory rows that the caller does not allow.

    Sorting only counts such rows; their places are searched for here, after one was met.
    """
    if choices["duplicates"] == "error" and built.duplicates:
        earlier, row = next(_rows_again(given))
        raise ValueError(
            f'edges[{row}] = {_row(given, row)} repeats edges[{earlier}]; duplicates="drop" leaves repeated rows out'
        )
    if choices["reverse"] == "error" and built.reverse_duplicates:
        earlier, row = next(_rows_again(given, backwards=True))
        raise ValueError(
            f'edges[{row}] = {_row(given, row)} is edges[{earlier}] backwards; reverse="merge" makes them one edge'
        )
    if labels is not None and built.conflict:
        pairs = _rows_again(given if directed else np.sort(given, axis=1))
        earlier, row = next(pair for pair in pairs if labels[pair[0]] != labels[pair[1]])
        message = (
            f"edge_labels disagree on one edge: {labels[earlier]} for edges[{earlier}] = {_row(given, earlier)}, "
            f"{labels[row]} for edges[{row}] = {_row(given, row)}; give each edge one label"
        )
        raise LabelConflict(message, (earlier, row), (int(labels[earlier]), int(labels[row])))


def host_rows(
    edges: np.ndarray, labels: np.ndarray | None, n: int, directed: bool, sizes: Callable[[int], tuple[int, int]]
) -> Rows:
    """Sort edges without self loops into rows with NumPy.

    Each row has a 64-bit key ``(min(u, v), max(u, v), u > v)``. Sorting by it puts all rows of a pair side by side, so
    that repeats, reverses and reciprocated arcs are found by comparing each row with the one before it. Sorting by a
    second key ``(target, slot)`` transposes the rows.
    """
    u, v = edges[:, 0], edges[:, 1]
    keys = np.minimum(u, v, dtype=np.int64, casting="unsafe").view(np.uint64)
    keys <<= 32
    high = np.maximum(u, v, dtype=np.int64, casting="unsafe").view(np.uint64)
    high <<= 1
    high |= u > v
    keys |= high
    keys, labels = _sorted(keys, labels)
    change = keys[1:] ^ keys[:-1]
    repeat, reverse = np.zeros((2, *keys.shape), bool)
    repeat[1:] = change == 0
    reverse[1:] = change == 1
    clash = repeat if directed else repeat | reverse
    counts = {
        "duplicates": int(np.count_nonzero(repeat)),
        "reverse_duplicates": 0 if directed else int(np.count_nonzero(reverse)),
        "conflict": labels is not None and bool(np.any(clash[1:] & (labels[1:] != labels[:-1]))),
    }
    keys, labels = keys[~clash], None if labels is None else labels[~clash]
    m = keys.shape[0]
    fields = (_directed_fields if directed else _undirected_fields)(keys, labels, n)
    return Rows(pad_fields(fields, n, m if directed else 2 * m, *sizes(m)), m, **counts)


def _undirected_fields(keys: np.ndarray, labels: np.ndarray | None, n: int) -> Fields:
    low, high = _low_high(keys)
    order = _transposition(high)
    # Row v holds the lower neighbours of v (arcs into v, in column order), then the higher ones (arcs out of v, in
    # the order of the keys).
    counts = np.stack([np.bincount(high, minlength=n), np.bincount(low, minlength=n)], axis=1)
    upper = np.repeat(np.tile([False, True], n), counts.ravel())
    targets = np.empty(upper.shape, np.int32)
    targets[upper] = high
    targets[~upper] = low[order]
    slot_labels = None
    if labels is not None:
        slot_labels = np.empty(upper.shape, np.int32)
        slot_labels[upper] = labels
        slot_labels[~upper] = labels[order]
    return Fields(offsets_from(counts.sum(axis=1)), targets, edge_labels=slot_labels)


def _directed_fields(keys: np.ndarray, labels: np.ndarray | None, n: int) -> Fields:
    low, high = _low_high(keys)
    backward = (keys & np.uint64(1)).astype(bool)
    source, target = np.where(backward, high, low), np.where(backward, low, high)
    keys, labels = _sorted(source.astype(np.uint64) << 32 | target.astype(np.uint64), labels)
    source, target = (keys >> 32).astype(np.int32), keys.astype(np.int32)  # the high word, the low word
    order = _transposition(target)
    return Fields(
        out_offsets=offsets_of(source, n),
        out_targets=target,
        in_offsets=offsets_of(target, n),
        in_targets=source[order],
        in_slots=order,
        edge_labels=labels,
    )


def _sorted(keys: np.ndarray, labels: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    if labels is None:
        keys.sort()
        return keys, None
    order = np.argsort(keys)
    return keys[order], labels[order]


def _low_high(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the node numbers in keys: the high word, and the low word without its last bit, int32 each."""
    return (keys >> 32).astype(np.int32), (keys.astype(np.uint32) >> 1).astype(np.int32)


def _transposition(targets: np.ndarray) -> np.ndarray:
    """Return the stable order of int32 targets: the slots in column order, int32, for slots in row order."""
    keys = targets.astype(np.uint64) << 32
    keys |= np.arange(targets.shape[0], dtype=np.uint64)
    keys.sort()
    return keys.astype(np.int32)  # the low word


def refuse_traced(value: object) -> None:
    """Raise an error if a size or the edges of a graph are traced, since a front door has to know them."""
    if isinstance(value, Tracer):
        raise TypeError(
            "this function works on the host, and its graph is traced (inside jax.jit, vmap, grad or scan): its sizes "
            "are not known. Inside, Graph.from_edge_index takes traced edges, and the pure functions take the graph: "
            "jaxmotif.graphlets.dense_graphlet_counts, dense_node_orbits, dense_edge_columns or their sparse_ forms, "
            "jaxmotif.matching.dense_match_count, dense_participation, jaxmotif.motifs.dense_census, "
            "jaxmotif.features.dense_pattern_features, jaxmotif.sieve.sieve_values; or take the call out of it"
        )


def host_array(values: Any, name: str = "an array") -> np.ndarray:
    """Return an array of any library, or a sequence, as a NumPy array, without a copy where it lies on the host."""
    refuse_traced(values)
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise ValueError(f"masked values in {name}; fill them, or leave their rows out")
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__") or isinstance(values, jax.Array):
        try:
            return np.asarray(values)
        except ValueError:
            raise ValueError(f"rows of several lengths in {name}; give each as many entries") from None
    if values.__dlpack_device__()[0] == 1:  # kDLCPU
        return np.from_dlpack(values)
    with jax.enable_x64(True):  # through JAX, which knows devices
        return np.asarray(jax.dlpack.from_dlpack(values))


def edge_array(edges: Any, name: str = "edges") -> np.ndarray:
    """Return edges as an ``[E, 2]`` array of integers; messages call them by a name."""
    refuse_traced(edges)
    if not hasattr(edges, "__dlpack__") and not hasattr(edges, "__array__"):
        if not isinstance(edges, Iterable) or hasattr(edges, "tocoo"):
            raise TypeError(
                f"{name} must be integers [E, 2] or pairs, got {type(edges).__name__}; as_graph takes other graphs"
            )
        edges = list(edges)
        for row, edge in enumerate(edges):
            if not hasattr(edge, "__len__") or len(edge) != 2:
                raise ValueError(f"{name} must be pairs of node ids, got {name}[{row}] = {edge!r}")
    given, edges = edges, host_array(edges, name)
    if edges.size == 0 and edges.shape in ((0,), (0, 2)):
        return np.zeros((0, 2), np.int32)
    if edges.ndim != 2 or edges.shape[1] != 2:
        remedy = "; transpose it" if edges.ndim == 2 and edges.shape[0] == 2 else ""
        raise ValueError(f"{name} must have shape (E, 2), one edge a row, got {edges.shape}{remedy}")
    if edges.dtype.kind not in "iu":
        if isinstance(given, list) and all(isinstance(x, int) for edge in given for x in edge):
            whole = np.array(given, object)  # NumPy made floats of ids beyond 63 bits
            _check_ids(whole, _ids(whole))
        raise TypeError(
            f"{name} must be integers, got {edges.dtype} ({name}[0] = {edges[0].tolist()}); number the nodes 0..n-1, "
            "and pass original names as node_names"
        )
    return edges


def _ids(edges: np.ndarray) -> Ids:
    """Return the range of the ids and the number of self loops, as :func:`jaxmotif.graph._build_device.enter` does."""
    if not edges.size:
        return Ids(0, -1, 0)
    return Ids(int(edges.min()), int(edges.max()), int(np.count_nonzero(edges[:, 0] == edges[:, 1])))


def _check_ids(edges: np.ndarray, ids: Ids) -> None:
    if ids.low >= 0 and ids.high < 2**63 - 1:
        return
    for bad in (edges.min(), edges.max()):
        if not 0 <= int(bad) < 2**63 - 1:
            row = int(np.argmax((edges == bad).any(axis=1)))
            raise ValueError(f"node ids must be between 0 and {2**63 - 2}, got edges[{row}] = {_row(edges, row)}")


def as_labels(values: Any, name: str, size: int | None, traced: bool = False) -> np.ndarray:
    """Return labels as a checked int32 array.

    Args:
      values: the labels.
      name: the name of the argument, for messages.
      size: how many labels there must be; ``None`` for any number.
      traced: leave arrays of JAX where they are, and look at none of their values.
    """
    if isinstance(values, Iterable):
        check_sequence(values, name)
    nested = isinstance(values, list | tuple) and any(isinstance(label, list | tuple | set) for label in values)
    if nested and name.endswith("node_labels"):
        raise TypeError(
            f"{name} must be one integer a node; several are an attribute, "
            "with_attributes(nodes={'labels': ...}), for which a query asks in words, A.labels contains 'x'"
        )
    traced = traced and isinstance(values, jax.Array)
    values = values if traced else host_array(values, name)
    if values.ndim != 1 or (size is not None and values.shape[0] != size):
        raise ValueError(f"{name} must have shape ({'n' if size is None else size},), got {values.shape}")
    if values.size == 0:
        return np.zeros(0, np.int32)
    if values.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be integers, got {values.dtype} ({name}[0] = {values[0]!r}); number the labels, the same way "
            "in every graph that is to be compared"
        )
    if not traced:
        check_labels(values, name)
    elif not np.can_cast(values.dtype, np.int32):
        raise TypeError(
            f"{name} are labels of 32 bits, got {values.dtype} on a device, where no value is looked at; if int32 "
            f"holds them all, give {name}.astype(jax.numpy.int32)"
        )
    return values.astype(np.int32)


def _names(names: Sequence[Hashable] | np.ndarray) -> np.ndarray:
    check_sequence(names, "node_names")
    shape = getattr(names, "shape", (len(names),))
    if len(shape) != 1:
        raise ValueError(f"node_names must have one dimension, got shape {shape}")
    return names if isinstance(names, np.ndarray) else np.fromiter(names, object, len(names))


def _node_count(
    edges: np.ndarray,
    highest: int,
    num_nodes: int | None,
    node_labels: np.ndarray | None,
    node_names: np.ndarray | None,
) -> tuple[int, bool]:
    """Return the number of ids, and whether the caller gave it, by itself or as a number of labels or names."""
    sizes = {"node_labels": node_labels, "node_names": node_names}
    sizes_given = {name: array.shape[0] for name, array in sizes.items() if array is not None}
    if num_nodes is not None:
        sizes_given = {"num_nodes": whole_number(num_nodes, "num_nodes")} | sizes_given
    if not sizes_given:
        return highest + 1, False
    n = next(iter(sizes_given.values()))
    if len(set(sizes_given.values())) > 1:
        raise ValueError(
            f"the numbers of nodes differ: {', '.join(f'{name} {size}' for name, size in sizes_given.items())}"
        )
    if n < 0:
        raise ValueError(f"num_nodes must not be negative, got {n}")
    if highest >= n:
        row = int(np.argmax((edges >= n).any(axis=1)))
        raise ValueError(f"edges[{row}] = {_row(edges, row)} has an id that is not below the number of nodes, {n}")
    return n, True


def _first_device(device: Placement) -> jax.Device:
    return min(jax.device_put(np.int32(0), device).devices(), key=lambda one: one.id)


def _rows_again(edges: np.ndarray, backwards: bool = False) -> Iterator[tuple[int, int]]:
    """Yield pairs (earlier, later) of numbers of rows that state the same edge.

    With ``backwards`` the later row states it the other way round.
    """
    seen: dict[tuple[int, int], int] = {}
    for row, (u, v) in enumerate(edges.tolist()):
        if u != v:
            earlier = seen.get((v, u) if backwards else (u, v))
            if earlier is not None:
                yield earlier, row
            seen.setdefault((u, v), row)


def _row(edges: np.ndarray, row: int) -> str:
    return f"({edges[row, 0]}, {edges[row, 1]})"
