"""The nodes that take the parts of a pattern most often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.devices._select import select_devices
from jaxmotif.drawing._drawing import Drawing, as_text, draw_network, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.matching import participation_counts
from jaxmotif.matching._listing import iter_matches
from jaxmotif.patterns import Pattern, node_orbits
from jaxmotif.patterns._readings import role_words
from jaxmotif.patterns._ruled import RuledPattern, automorphisms_of
from jaxmotif.report._page import role_list

SHOWN = 5
"""Number of nodes that a page names for a role at most."""

MOST_OCCURRENCES = 20_000_000
"""Number of occurrences up to which a page ranks the nodes of a pattern; more take too long for a report."""


_MOST_SHOWN, _MOST_LISTED = 20, 5000  # nodes of an excerpt, and occurrences that are looked at for it


class Role(NamedTuple):
    """A part in a pattern, which nodes take that the pattern's automorphisms exchange.

    Attributes:
      name: The part in words.
      members: The nodes of the pattern that have this part.
      counts: How often each node of the graph takes the part, int64 ``[n]``.
    """

    name: str
    members: tuple[int, ...]
    counts: np.ndarray

    def top(self, most: int = SHOWN) -> list[int]:
        """Return the nodes that take the part most often."""
        return [i for i in np.argsort(-self.counts, kind="stable")[:most].tolist() if self.counts[i]]


class Located(NamedTuple):
    """An excerpt of the network in which a pattern occurs.

    Attributes:
      drawing: The nodes with their names, coloured by the part that each takes most often there, and the edges of
        occurrences.
      roles: The parts, in the order of the colours.
      occurrences: The number of occurrences that are shown.
    """

    drawing: Drawing
    roles: list[str]
    occurrences: int


def count_roles(graph: Graph, pattern: Pattern, induced: bool = True, wildcard: int | None = None) -> list[Role]:
    """Return the roles of a pattern and how often each node takes them, where an occurrence counts once.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], node_names=["hub", "a", "b", "c"])
      >>> for role in count_roles(star, named_pattern("2-star")):
      ...     print(role.name, role.members, role.counts, role.top())
      degree 2 (0,) [3 0 0 0] [0]
      degree 1 (1, 2) [0 2 2 2] [1, 2, 3]
    """
    # The work runs on a device of this process, because of several processes only one writes the report.
    devices = [select_devices(None).main]
    counts = participation_counts(pattern, graph, induced, per="occurrence", wildcard=wildcard, devices=devices)
    roles = []
    for name, members in _parts(pattern):
        roles.append(Role(name, members, counts[:, members[0]]))  # The column of one member counts the whole orbit.
    return roles


def _parts(pattern: Pattern) -> list[tuple[str, tuple[int, ...]]]:
    """Return the parts of a pattern: their names, and the nodes of the pattern that have each."""
    if isinstance(pattern, RuledPattern):
        orbits, words = automorphisms_of(pattern).min(axis=0), [""] * pattern.num_nodes
    else:
        orbits, words = node_orbits(pattern), role_words(pattern)
    members = [np.flatnonzero(orbits == orbit) for orbit in np.unique(orbits)]
    return [(words[own[0]], tuple(own.tolist())) for own in members]


def locate(graph: Graph, pattern: Pattern) -> Located:
    """Draw some of the nodes and edges that a pattern occurs on, those that take part in most occurrences first.

    Example:
      >>> from jaxmotif import datasets
      >>> from jaxmotif.patterns import named_pattern
      >>> found = locate(datasets.load("florentine"), named_pattern("triangle"))
      >>> len(found.drawing.nodes), found.occurrences
      (7, 3)
    """
    blocks = list(
        iter_matches(pattern, graph, True, _MOST_LISTED, per="occurrence", devices=[select_devices(None).main])
    )
    listed = np.concatenate(blocks) if blocks else np.zeros((0, pattern.num_nodes), np.int64)
    times = np.bincount(listed.reshape(-1), minlength=graph.n)
    nodes, chosen = set[int](), []
    for row in listed[np.argsort(-times[listed].sum(axis=1), kind="stable")].tolist():
        if len(nodes.union(row)) <= _MOST_SHOWN:
            nodes |= set(row)
            chosen.append(row)
    order = sorted(nodes)
    place = {node: i for i, node in enumerate(order)}
    parts = _parts(pattern)
    takes, edges = np.zeros((len(order), len(parts)), np.int64), set()
    for row in chosen:
        for number, (_, members) in enumerate(parts):
            for member in members:
                takes[place[row[member]], number] += 1
        edges |= {(place[row[a]], place[row[b]]) for a, b in np.argwhere(pattern.adjacency).tolist()}
    names = graph._names[order].astype(str)
    excerpt = Graph.from_edges(sorted(edges), len(order), graph.directed, node_names=names)
    drawing = draw_network(excerpt, takes.argmax(axis=1).tolist(), "where the class occurs")
    return Located(drawing, [name for name, _ in parts], len(chosen))


def role_card(graph: Graph, pattern: Pattern, title: str, roles: Sequence[Role], names: Sequence[str] = ()) -> str:
    """Return the HTML of a card with the roles of a pattern, each drawn beside the nodes that take it most often.

    Args:
      graph: The graph whose nodes take the roles.
      pattern: The pattern.
      title: What the pattern is called, as text.
      roles: Its roles.
      names: The names of the pattern's nodes, if they have some.
    """
    parts, node_names = [f"<h3>{as_text(title)}</h3>"], graph._names
    for role in roles:
        called = f"{title}, {role.name or 'a role'}"
        drawing = draw_pattern(pattern, *graph._label_words, role.members, called, names)
        nodes = [(node_names[i], int(role.counts[i])) for i in role.top()]
        parts.append(role_list(drawing.svg(), nodes, role.name))
    return "".join(parts)
