"""The census of the graphs of a data set: small graphs are counted together, very large ones one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import jax
import numpy as np

from jaxmotif.arrays._present import PerGraph
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.census._classes import Classifier
from jaxmotif.census._enumerate import count_classes, count_participation
from jaxmotif.census._pair_states import CPU_SAMPLE, Alphabet, check_size, mixed_graphs
from jaxmotif.census._sizes import plan
from jaxmotif.census._tables import Census
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graphs

MOST_NODES = 1024
"""The most nodes of a graph that is counted together with others."""


def count_many(
    graphs: Graphs,
    size: int,
    *,
    per_node: bool = False,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
    alone: Callable[..., Census],
) -> PerGraph[Census]:
    """Count the subgraphs of many graphs, as :func:`jaxmotif.subgraph_census` does.

    Args:
      graphs: the graphs.
      size: as for :func:`jaxmotif.subgraph_census`.
      per_node: likewise.
      devices: likewise.
      memory: likewise.
      progress: likewise.
      alone: takes the census of a single graph, where that is too large for others beside it.
    """
    check_size(graphs, size)
    device = select_devices(devices).main
    together = np.flatnonzero((graphs.n <= MOST_NODES) & (graphs.slots <= CPU_SAMPLE.slots // 2))
    classifier = Classifier(Alphabet.of(graphs), size)
    singles: dict[int, Census] = {}
    rows: list[tuple[np.ndarray, np.ndarray, list[np.ndarray | None]]] = []
    with meter(len(graphs), "graphs", "census", enabled=progress) as bar:
        for part, n, count in _parts(graphs, together, size):
            sizes, matrix_bytes = plan(device, memory)
            mixed, place = mixed_graphs(graphs, part, n, count, classifier.alphabet, matrix_bytes, device)
            with jax.default_device(device):
                counts = count_classes(mixed, size, classifier, sizes)[: part.size]
                nodes: list[np.ndarray | None] = [None] * part.size
                if per_node:
                    by_node = count_participation(mixed, size, classifier, sizes)[place]
                    nodes = list(np.split(by_node, np.cumsum(graphs.n[part])[:-1]))
            rows.append((part, counts, nodes))
            bar.advance(part.size)
        for i in sorted(set(range(len(graphs))) - set(together.tolist())):
            singles[i] = alone(graphs[i], size, per_node=per_node, devices=devices, memory=memory)
            bar.advance()
    return _result(graphs, size, classifier.classes, rows, singles)


def _parts(graphs: Graphs, which: np.ndarray, size: int) -> Iterator[tuple[np.ndarray, int, int]]:
    """Yield graphs of about one size, the nodes that each has room for, and how many graphs there is room for."""
    n = graphs.n[which]
    # Graphs with the same room are counted together, so that few programs are compiled.
    room = np.array([power_of_four(int(x), 16) for x in range(int(n.max(initial=0)) + 1)], np.int64)[n]
    most = 63 - Alphabet.of(graphs).code_bits(size)  # bits that are left for the number of a graph
    for nodes in np.unique(room).tolist():
        some = which[room == nodes]
        # The tables limit how many graphs are counted together, and so do the bits for their numbers.
        count = max(1, min(CPU_SAMPLE.nodes // nodes, CPU_SAMPLE.cells // nodes**2, 2 ** min(most, 20)))
        slots = np.cumsum(graphs.slots[some])
        first = 0
        while first < some.size:
            before = slots[first - 1] if first else 0
            # Their slots must have room, too. The first graph's slots always have: `count_many` saw to that.
            stop = min(first + count, int(np.searchsorted(slots, before + CPU_SAMPLE.slots, side="right")))
            yield some[first:stop], nodes, count
            first = stop


def _result(
    graphs: Graphs,
    size: int,
    classes: list[str],
    rows: list[tuple[np.ndarray, np.ndarray, list[np.ndarray | None]]],
    singles: dict[int, Census],
) -> PerGraph[Census]:
    """Join the counts of the parts, and the results of graphs counted alone, under the names of all classes."""
    names = sorted({*classes, *(name for one in singles.values() for name in one.classes)})
    column = {name: i for i, name in enumerate(names)}
    known = np.array([column[name] for name in classes], np.int64)
    values = np.zeros((len(graphs), len(names)), np.int64)
    of_nodes: dict[int, np.ndarray | None] = {}
    for part, counts, nodes in rows:
        # Parts that were counted earlier know fewer classes.
        values[part[:, None], known[: counts.shape[1]]] = counts
        of_nodes |= dict(zip(part.tolist(), nodes, strict=True))
    for i, one in singles.items():
        values[i, [column[name] for name in one.classes]] = one.counts
    used = np.flatnonzero(values.any(axis=0))

    def single(i: int) -> Census:
        if i in singles:
            return singles[i]
        present, nodes = np.flatnonzero(values[i]), of_nodes[i]
        # Counts have their columns in the order of names; those of nodes are in the order of the classifier.
        back = np.zeros(len(names), np.int64)
        back[known] = np.arange(known.size)
        if nodes is not None:
            nodes = nodes[:, back[present]]
        words = graphs[i].node_label_names, graphs[i].edge_label_names
        classes = tuple(names[k] for k in present)
        return Census(size, graphs.directed, classes, values[i, present], nodes, words)

    columns = tuple(names[k] for k in used)
    return PerGraph(columns, values[:, used], np.arange(len(graphs) + 1), (), single)
