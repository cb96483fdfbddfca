"""How often each node, or edge, takes each place of the connected induced subgraphs: one pass for all classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.motifs._census_sizes import plan
from jaxmotif.motifs._classes import Classifier, decode
from jaxmotif.motifs._enumerate import count_classes, count_places
from jaxmotif.motifs._pair_states import CensusGraphs, census_graphs, degree_rank
from jaxmotif.patterns import Pattern, canonical_order


class Places(NamedTuple):
    """The columns of a class: of its nodes, ``[size]``, or of its ordered pairs, ``[size, size]``, from 0, below 0 for
    none; and how many."""

    columns: np.ndarray
    number: int


def orbit_counts(
    graph: Graph,
    size: int,
    per: Literal["node", "edge"],
    places_of: Callable[[str], Places],
    devices: Devices = None,
    memory: int | None = None,
) -> tuple[list[str], np.ndarray]:
    """Counts by the places of classes (of three nodes or more).

    Args:
      places_of: of a class, by its canonical string; ordered pairs for counts at edges.
      devices: the first does it.

    Returns:
      The classes that occur, ascending, and int64 ``[n, columns]`` or ``[m, columns]``, in their order.
    """
    device = select_devices(devices).main
    sizes, matrix_bytes = plan(device, memory)
    with jax.default_device(device):
        graphs = census_graphs(graph, None, matrix_bytes, device)
        classifier = Classifier(graphs.alphabet, size)
        counts = count_classes(graphs, size, classifier, sizes)[0]
        names = classifier.classes
        met = [i for i in np.argsort(names).tolist() if counts[i]]
        places = {names[i]: places_of(names[i]) for i in met}
        begins = np.cumsum([0, *(places[names[i]].number for i in met)])
        first = {names[i]: int(begin) for i, begin in zip(met, begins[:-1], strict=True)}
        forms, index = classifier.known
        columns = _columns(classifier, forms, index, places, first, 1 if per == "node" else 2)
        found = count_places(graphs, size, forms, columns, int(begins[-1]), sizes)
    number = degree_rank(graph)
    if per == "node":
        return list(first), found[number]
    return list(first), found[_slots(graphs, number[graph.edge_list()])]


def _columns(
    classifier: Classifier,
    forms: np.ndarray,
    index: np.ndarray,
    places: dict[str, Places],
    first: dict[str, int],
    dimensions: int,
) -> np.ndarray:
    """The columns of the places of forms, which are the classes' with their nodes in another order."""
    alphabet, size, names = classifier.alphabet, classifier.size, classifier.classes
    labels, entries = decode(forms, alphabet.codes, size)
    columns = np.full((forms.size, *(size,) * dimensions), -1 if dimensions > 1 else 0, np.int64)
    for i, (label, entry) in enumerate(zip(labels, entries, strict=True)):
        name = names[index[i]]
        if name not in places:  # met as what a pair without its edge would be, and not there
            continue
        nodes = None if alphabet.node_labels is None else np.asarray(alphabet.node_labels)[label]
        edges = None
        if alphabet.edge_labels is not None:
            edges = np.where(entry > 0, np.asarray(alphabet.edge_labels)[entry - 1], 0)
        order = canonical_order(Pattern(entry > 0, nodes, edges, alphabet.directed))
        # Node p of the form is the canonical form's node place[p].
        place = np.argsort(order)
        own = places[name].columns
        taken = own[place] if dimensions == 1 else own[np.ix_(place, place)]
        columns[i] = np.where(taken < 0, -1, taken + first[name])
    return columns


def _slots(graphs: CensusGraphs, ends: np.ndarray) -> np.ndarray:
    """The slots of the dyads of edges between nodes in the order of the dyads."""
    offsets, near = np.asarray(graphs.dyads.offsets), np.asarray(graphs.dyads.near)
    n = graphs.num_nodes
    row = np.repeat(np.arange(n), np.diff(offsets[: n + 1]))
    # Rows ascend, and neighbours within them.
    return np.searchsorted(row * n + near[: row.size], ends[:, 0] * n + ends[:, 1])
