"""How often each node, or edge, plays each role in the connected induced subgraphs: one pass for all classes."""

from __future__ import annotations

from typing import Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.census._classes import Classifier, decode
from jaxmotif.census._enumerate import count_classes, count_places
from jaxmotif.census._pair_states import CensusGraphs, census_graphs, degree_rank
from jaxmotif.census._sizes import plan
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.patterns import Pattern, canonical_order, named_pattern
from jaxmotif.patterns._names import short_name
from jaxmotif.patterns._roles import roles_of


class _Places(NamedTuple):
    """The roles of a class, and the one that each of its nodes plays, ``[size]``, or each of its ordered pairs,
    ``[size, size]``, below 0 for none."""

    roles: list[str]
    columns: np.ndarray


def role_counts(
    graph: Graph, size: int, per: Literal["node", "edge"], devices: Devices = None, memory: int | None = None
) -> tuple[tuple[str, ...], np.ndarray]:
    """How often each node, or edge, plays each role.

    Args:
      devices: the first does it.

    Returns:
      The roles in the classes that occur, these ascending, as :func:`jaxmotif.pattern_features` calls them; and int64
      ``[n, roles]``, or ``[m, roles]``.
    """
    device = select_devices(devices).main
    sizes, matrix_bytes = plan(device, memory)
    with jax.default_device(device):
        graphs = census_graphs(graph, None, matrix_bytes, device)
        classifier = Classifier(graphs.alphabet, size)
        counts = count_classes(graphs, size, classifier, sizes)[0]
        names = classifier.classes
        met = [i for i in np.argsort(names).tolist() if counts[i]]
        places = {names[i]: _places(names[i], graph.directed, per) for i in met}
        begins = np.cumsum([0, *(len(places[names[i]].roles) for i in met)])
        first = {names[i]: int(begin) for i, begin in zip(met, begins[:-1], strict=True)}
        forms, index = classifier.known
        columns = _columns(classifier, forms, index, places, first, 1 if per == "node" else 2)
        found = count_places(graphs, size, forms, columns, int(begins[-1]), sizes)
    number = degree_rank(graph)
    rows = number if per == "node" else _slots(graphs, number[graph.edge_list()])
    return tuple(role for held in places.values() for role in held.roles), found[rows]


def _places(name: str, directed: bool, per: Literal["node", "edge"]) -> _Places:
    """The places of a class, by its canonical string."""
    short = short_name(name, directed)
    # Its nodes as the name numbers them.
    pattern = named_pattern(short, directed)
    roles, size = roles_of(pattern, short, per), pattern.num_nodes
    columns = np.full((size,) * (1 if per == "node" else 2), -1, np.int64)
    for number, role in enumerate(roles):
        for place in role.places:
            columns[place] = number
            if not directed:
                columns[place[::-1]] = number
    order = canonical_order(pattern)
    return _Places([role.name for role in roles], columns[order] if per == "node" else columns[np.ix_(order, order)])


def _columns(
    classifier: Classifier,
    forms: np.ndarray,
    index: np.ndarray,
    places: dict[str, _Places],
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
