"""Counts of the roles that nodes, or edges, play in connected induced subgraphs, in one pass for all classes."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.census._classes import Classifier, decode, labelled_pattern
from jaxmotif.census._enumerate import Part, count_classes, count_places
from jaxmotif.census._job import Work, count_in_parts
from jaxmotif.census._pair_states import Alphabet, CensusGraphs, census_graphs, content_of, degree_rank
from jaxmotif.census._sizes import Sizes, halve_memory, plan
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._progress import progress as meter
from jaxmotif.devices._record import Arrays, store_for
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph
from jaxmotif.patterns import canonical_order, named_pattern
from jaxmotif.patterns._names import short_name
from jaxmotif.patterns._roles import roles_of


class _Places(NamedTuple):
    """The roles of a class, and where they are played.

    Attributes:
      roles: the names of the roles.
      columns: the number of the role that each node plays, ``[size]``, or that each ordered pair of nodes plays,
        ``[size, size]``, below 0 for none.
    """

    roles: list[str]
    columns: np.ndarray


def role_counts(
    graph: Graph,
    size: int,
    per: Literal["node", "edge"],
    devices: Devices = None,
    memory: int | None = None,
    checkpoint: str | os.PathLike | None = None,
    progress: bool = False,
) -> tuple[tuple[str, ...], np.ndarray]:
    """Count how often each node, or edge, plays each role.

    Args:
      graph: a simple graph.
      size: nodes of a subgraph.
      per: whose roles are counted.
      devices: as for :func:`jaxmotif.subgraph_census`.
      memory: likewise.
      checkpoint: likewise.
      progress: likewise.

    Returns:
      The names of the roles, as :func:`jaxmotif.pattern_features` calls them, by ascending class, for the classes that
      occur; and the counts, int64 ``[n, roles]``, or ``[m, roles]``.
    """
    selection = select_devices(devices)
    device, counter = selection.main, _RoleCounter(graph, size, per)

    def attempt(memory: int | None) -> Arrays:
        sizes, matrix_bytes = plan(device, memory)
        with jax.default_device(device), meter(None, f"subgraphs of {size - 1}", "census", enabled=progress) as bar:
            return counter.count(census_graphs(graph, None, matrix_bytes, device), sizes, advance=bar.advance)

    if size > 2 and (selection.several or checkpoint is not None):
        store = store_for(checkpoint, selection.together, lambda: ("roles", *content_of(graph), size, per))
        work = Work(graph, size, graph.n if per == "node" else graph.m, counter.count)
        sums = count_in_parts("roles", work, selection, memory, store, progress)
    else:
        sums = with_smaller_steps(attempt, memory, partial(halve_memory, device), device)[0]
    names = [key.split() for key in sums["classes"].tolist()]
    roles = {name: _places(name, graph.directed, per).roles for name, _ in names}
    return tuple(roles[name][int(number)] for name, number in names), sums["nodes"]


class _RoleCounter:
    """A counter of the roles that the nodes, or edges, of a graph play.

    All devices of a process share its classifier: a form that one device has met is known to all.
    """

    def __init__(self, graph: Graph, size: int, per: Literal["node", "edge"]):
        self._graph = graph
        self._per: Literal["node", "edge"] = per
        self._classifier = Classifier(Alphabet.of(graph), size)

    def count(
        self,
        graphs: CensusGraphs,
        sizes: Sizes,
        part: Part | None = None,
        advance: Callable[[int], None] = lambda number: None,
    ) -> Arrays:
        """Count the roles of a part, as :func:`jaxmotif.census._job.merge_counts` takes them.

        Roles stand in the place of classes. A role is called by its class and its number there, so that the names
        ascend as classes do.
        """
        classifier, per = self._classifier, self._per
        counts = count_classes(graphs, classifier.size, classifier, sizes, advance, part)[0]
        forms, index = classifier.known
        names = classifier.classes  # other devices may have met more classes meanwhile, which are not in this part
        places: dict[str, _Places] = {}
        first: dict[str, int] = {}  # the column of each class's first role
        roles: list[str] = []
        for name in sorted(names[i] for i in np.flatnonzero(counts).tolist()):
            places[name] = _places(name, self._graph.directed, per)
            first[name] = len(roles)
            roles += [f"{name} {number:02}" for number in range(len(places[name].roles))]
        columns = self._columns(forms, [names[i] for i in index.tolist()], places, first)
        values = count_places(graphs, classifier.size, forms, columns, len(roles), sizes, part)
        rank = degree_rank(self._graph)
        rows = rank if per == "node" else _slots(graphs, rank[self._graph.edge_list()])
        return {"classes": np.array(roles, str), "counts": np.zeros(len(roles), np.int64), "nodes": values[rows]}

    def _columns(
        self, forms: np.ndarray, names: list[str], places: dict[str, _Places], first: dict[str, int]
    ) -> np.ndarray:
        """Return the columns of the places of forms: those of their classes, with the nodes in another order."""
        alphabet, size = self._classifier.alphabet, self._classifier.size
        dimensions = 1 if self._per == "node" else 2
        labels, entries = decode(forms, alphabet.codes, size)
        columns = np.full((forms.size, *(size,) * dimensions), -1 if dimensions > 1 else 0, np.int64)
        for i, (name, label, entry) in enumerate(zip(names, labels, entries, strict=True)):
            # The form of a pair without its edge may be known though no subgraph has it.
            if name not in places:
                continue
            # Node p of the form is node place[p] of the canonical form.
            place = np.argsort(canonical_order(labelled_pattern(alphabet, label, entry)))
            own = places[name].columns
            taken = own[place] if dimensions == 1 else own[np.ix_(place, place)]
            columns[i] = np.where(taken < 0, -1, taken + first[name])
        return columns


def _places(name: str, directed: bool, per: Literal["node", "edge"]) -> _Places:
    """Return the places of a class, given by its canonical string."""
    short = short_name(name, directed)
    # The short name numbers the nodes as the names of the roles do.
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


def _slots(graphs: CensusGraphs, ends: np.ndarray) -> np.ndarray:
    """Find the slot of each edge's dyad; ``ends`` are nodes in the order of the dyads, int64 ``[m, 2]``."""
    offsets, near = np.asarray(graphs.dyads.offsets), np.asarray(graphs.dyads.near)
    n = graphs.num_nodes
    row = np.repeat(np.arange(n), np.diff(offsets[: n + 1]))
    # Rows ascend, and so do the neighbours in a row.
    return np.searchsorted(row * n + near[: row.size], ends[:, 0] * n + ends[:, 1])
