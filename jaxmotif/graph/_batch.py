"""Many graphs in one: stacked for ``jax.vmap``, or side by side as one disjoint union."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from jaxmotif.graph._container import Graph
from jaxmotif.graph._fields import Fields, OptionalArray, Pad, Placement, capacities, pad_fields
from jaxmotif.graph._words import check_words


def stack_graphs(graphs: Sequence[Graph], pad: Pad = "bucket", device: Placement = None) -> Graph:
    """Stack graphs into one batch, whose every array has a leading axis ``[B]``.

    Args:
      graphs: at least one; all directed or none, and labels on all or on none. Their own padding is ignored.
      pad: common capacities, as in :meth:`Graph.from_edges`; ``None`` for the sizes of the largest graph.
      device: where to put the batch; JAX's default device when not given.

    Returns:
      A graph to map over with ``jax.vmap``.

    Raises:
      ValueError: no graphs, graphs that differ in kind, or capacities too small.

    Example:
      >>> import jax
      >>> batch = stack_graphs([Graph.from_edges([(0, 1)]), Graph.from_edges([(0, 1), (1, 2)])])
      >>> batch
      Graph(undirected, 2 x capacity 16 nodes, 16 slots)
      >>> jax.vmap(lambda graph: graph.out_offsets[-1])(batch).tolist()
      [2, 4]
    """
    given = _host_fields(graphs)
    check_words(graphs)
    N, S = capacities(pad, max(graph.n for graph in graphs), max(graph.num_slots for graph in graphs))
    padded = [pad_fields(fields, graph.n, graph.num_slots, N, S) for fields, graph in zip(given, graphs, strict=True)]
    fields = jax.tree.map(lambda *arrays: np.stack(arrays), *padded)
    return jax.device_put(Graph(*fields, directed=graphs[0].directed), device)


def unstack(batch: Graph, device: Placement = None) -> list[Graph]:
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


def disjoint_union(graphs: Sequence[Graph], pad: Pad = "bucket", device: Placement = None) -> tuple[Graph, jax.Array]:
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
      >>> union.edge_list().tolist(), graph_ids[: union.n].tolist()
      ([[0, 1], [2, 3], [3, 4]], [0, 0, 1, 1, 1])
    """
    given = _host_fields(graphs)
    check_words(graphs)
    sizes = np.array([graph.n for graph in graphs])
    slots = np.array([graph.num_slots for graph in graphs])
    n, num_slots = int(sizes.sum()), int(slots.sum())
    N, S = capacities(pad, n, num_slots)
    first_node, first_slot = np.cumsum(sizes) - sizes, np.cumsum(slots) - slots
    unmoved = np.zeros_like(sizes)

    def joined(name: str, counts: np.ndarray, shifts: np.ndarray) -> OptionalArray:
        """The used parts of an array side by side, their values moved by each graph's shift."""
        arrays = [getattr(fields, name) for fields in given]
        if arrays[0] is None:
            return None
        parts = zip(arrays, counts.tolist(), shifts.tolist(), strict=True)
        return np.concatenate([array[:count] + np.int32(shift) for array, count, shift in parts])

    def row_starts(name: str) -> OptionalArray:
        starts = joined(name, sizes, first_slot)
        return None if starts is None else np.append(starts, np.int32(num_slots))

    fields = Fields(
        out_offsets=row_starts("out_offsets"), out_targets=joined("out_targets", slots, first_node),
        in_offsets=row_starts("in_offsets"), in_targets=joined("in_targets", slots, first_node),
        in_slots=joined("in_slots", slots, first_slot), node_labels=joined("node_labels", sizes, unmoved),
        edge_labels=joined("edge_labels", slots, unmoved), num_nodes=np.int32(n),
        num_edges=np.int32(sum(graph.m for graph in graphs)),
    )  # fmt: skip
    graph_ids = np.full(N, len(graphs), np.int32)
    graph_ids[:n] = np.repeat(np.arange(len(graphs), dtype=np.int32), sizes)
    union = Graph(*pad_fields(fields, n, num_slots, N, S), directed=graphs[0].directed)
    return jax.device_put((union, graph_ids), device)


def _host_fields(graphs: Sequence[Graph]) -> list[Fields]:
    """The arrays of each graph on the host, after checking that the graphs go together."""
    if not graphs:
        raise ValueError("at least one graph is needed, got none")
    for i, graph in enumerate(graphs):
        if graph.directed != graphs[0].directed:
            raise ValueError(f"graphs[0] and graphs[{i}] differ: all graphs must be directed, or none")
        for name in ("node_labels", "edge_labels"):
            if (getattr(graph, name) is None) != (getattr(graphs[0], name) is None):
                raise ValueError(f"graphs[0] and graphs[{i}] differ: all graphs must have {name}, or none")
    return jax.device_get([graph.fields for graph in graphs])
