"""Many graphs in one: stacked for ``jax.vmap``, or side by side as one disjoint union."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxmotif.graph.build import Pad, capacities, pad_fields
from jaxmotif.graph.container import DATA_FIELDS, Graph


def stack_graphs(graphs: Sequence[Graph], pad: Pad = None, device: Any = None) -> Graph:
    """Stack graphs into one batch, whose every array has a leading axis ``[B]``.

    Args:
      graphs: at least one; all directed or none, and labels on all or on none. Their own padding is ignored.
      pad: common capacities, as in :meth:`Graph.from_edges`; ``None`` for those of the largest graph.
      device: where to put the batch; JAX's default device when not given.

    Returns:
      A graph to map over with ``jax.vmap``.

    Raises:
      ValueError: no graphs, graphs that differ in kind, or capacities too small.

    Example:
      >>> import jax
      >>> batch = stack_graphs([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])])
      >>> batch
      Graph(undirected, 2 x capacity 3 nodes, 4 slots)
      >>> jax.vmap(lambda graph: graph.out_offsets[-1])(batch).tolist()
      [2, 4]
    """
    columns = _columns(graphs)
    N, S = capacities(pad, max(graph.n for graph in graphs), max(graph.num_slots for graph in graphs))
    padded = [
        pad_fields({name: column[i] for name, column in columns.items()}, graph.n, graph.num_slots, N, S)
        for i, graph in enumerate(graphs)
    ]
    fields = {name: None if padded[0][name] is None else np.stack([row[name] for row in padded]) for name in columns}
    return jax.device_put(Graph(**fields, directed=graphs[0].directed), device)


def unstack(batch: Graph, device: Any = None) -> list[Graph]:
    """The graphs of a batch made by :func:`stack_graphs`, at the batch's capacities.

    Example:
      >>> unstack(stack_graphs([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])]))
      [Graph(undirected, 2 nodes, 1 edge), Graph(undirected, 3 nodes, 2 edges)]
    """
    if np.ndim(batch.num_nodes) != 1:
        raise ValueError(f"unstack takes a batch of graphs with one leading axis, got {batch!r}")
    arrays, tree = jax.tree.flatten(jax.device_get(batch))
    graphs = [tree.unflatten([array[i] for array in arrays]) for i in range(batch.num_nodes.shape[0])]
    return jax.device_put(graphs, device)


def disjoint_union(graphs: Sequence[Graph], pad: Pad = None, device: Any = None) -> tuple[Graph, jax.Array]:
    """Put graphs side by side as one graph.

    Args:
      graphs: at least one; all directed or none, and labels on all or on none. Their own padding is ignored.
      pad: capacities of the union, as in :meth:`Graph.from_edges`.
      device: where to put the arrays; JAX's default device when not given.

    Returns:
      The union, whose nodes and edges are those of the first graph, then of the second, and so on; and int32
      ``[N]``, the place in ``graphs`` that each node came from (padding nodes: ``len(graphs)``).

    Raises:
      ValueError: no graphs, graphs that differ in kind, sizes over the int32 limits, or capacities too small.

    Example:
      >>> union, graph_ids = disjoint_union([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])])
      >>> union.edge_list().tolist(), graph_ids.tolist()
      ([[0, 1], [2, 3], [3, 4]], [0, 0, 1, 1, 1])
    """
    columns = _columns(graphs)
    sizes = np.array([graph.n for graph in graphs])
    slots = np.array([graph.num_slots for graph in graphs])
    n, num_slots = int(sizes.sum()), int(slots.sum())
    N, S = capacities(pad, n, num_slots)
    first_node, first_slot = np.cumsum(sizes) - sizes, np.cumsum(slots) - slots

    def joined(name: str, counts: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        parts = zip(columns[name], counts.tolist(), shifts.tolist(), strict=True)
        return np.concatenate([array[:count] + np.int32(shift) for array, count, shift in parts])

    fields: dict[str, Any] = dict.fromkeys(DATA_FIELDS)
    fields |= {"num_nodes": np.int32(n), "num_edges": np.int32(sum(graph.m for graph in graphs))}
    none = np.zeros_like(sizes)
    for name, counts, shifts in (
        ("node_labels", sizes, none), ("edge_labels", slots, none), ("in_slots", slots, first_slot),
    ):  # fmt: skip
        if columns[name][0] is not None:
            fields[name] = joined(name, counts, shifts)
    for side in ("out", "in", "bi"):
        offsets = columns[f"{side}_offsets"]
        if offsets[0] is not None:
            used = np.array([starts[size] for starts, size in zip(offsets, sizes, strict=True)])
            starts = joined(f"{side}_offsets", sizes, np.cumsum(used) - used)
            fields[f"{side}_offsets"] = np.append(starts, np.int32(used.sum()))
            fields[f"{side}_targets"] = joined(f"{side}_targets", used, first_node)
    graph_ids = np.full(N, len(graphs), np.int32)
    graph_ids[:n] = np.repeat(np.arange(len(graphs), dtype=np.int32), sizes)
    union = Graph(**pad_fields(fields, n, num_slots, N, S), directed=graphs[0].directed)
    return jax.device_put((union, graph_ids), device)


def _columns(graphs: Sequence[Graph]) -> dict[str, list[Any]]:
    """Every field of all graphs as host arrays, after checking that the graphs go together."""
    if not graphs:
        raise ValueError("at least one graph is needed, got none")
    for i, graph in enumerate(graphs):
        if graph.directed != graphs[0].directed:
            raise ValueError(f"graphs[0] and graphs[{i}] differ: all graphs must be directed, or none")
        for name in ("node_labels", "edge_labels"):
            if (getattr(graph, name) is None) != (getattr(graphs[0], name) is None):
                raise ValueError(f"graphs[0] and graphs[{i}] differ: all graphs must have {name}, or none")
    return {name: jax.device_get([getattr(graph, name) for graph in graphs]) for name in DATA_FIELDS}
