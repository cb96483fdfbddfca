"""The nodes that take the parts of a pattern most often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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


_MOST_SHOWN, _MOST_LISTED = 20, 5000  # nodes of an excerpt at most, and occurrences looked at to choose them


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


def count_roles(graph: Graph, pattern: Pattern, induced: bool = True, wildcard: int | None = None) -> list[Role]:
    """Return the roles of a pattern and how often each node takes them, where an occurrence counts once.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], node_names=["hub", "a", "b", "c"])
      >>> for role in count_roles(star, named_pattern("2-star")):
      ...     print(role.name, role.members, role.counts, top_nodes(star, role.counts))
      degree 2 (0,) [3 0 0 0] [('hub', 3)]
      degree 1 (1, 2) [0 2 2 2] [('a', 2), ('b', 2), ('c', 2)]
    """
    # The work runs on a device of this process: if there are several processes, only one of them writes the report.
    devices = [select_devices(None).main]
    counts = participation_counts(pattern, graph, induced, per="occurrence", wildcard=wildcard, devices=devices)
    # The column of one member counts the whole orbit.
    return [Role(name, members, counts[:, members[0]]) for name, members in _parts(pattern)]


def top_nodes(graph: Graph, counts: np.ndarray) -> list[tuple[Any, int]]:
    """Return the names of the nodes with the largest of some counts ``[n]``, and these counts."""
    names = graph._names
    return [(names[i], int(counts[i])) for i in np.argsort(-counts, kind="stable")[:SHOWN].tolist() if counts[i]]


def _parts(pattern: Pattern) -> list[tuple[str, tuple[int, ...]]]:
    """Return the parts of a pattern: their names, and the nodes of the pattern that have each."""
    if isinstance(pattern, RuledPattern):
        orbits, words = automorphisms_of(pattern).min(axis=0), [""] * pattern.num_nodes
    else:
        orbits, words = node_orbits(pattern), role_words(pattern)
    members = [np.flatnonzero(orbits == orbit) for orbit in np.unique(orbits)]
    return [(words[own[0]], tuple(own.tolist())) for own in members]


def locate(graph: Graph, pattern: Pattern) -> tuple[Drawing, list[str], int]:
    """Draw an excerpt of a graph in which a pattern occurs, with the nodes that lie in the most occurrences.

    Returns:
      A drawing of the nodes, with their names and coloured by the part that each takes most often, and of the edges of
      occurrences; the parts, in the order of the colours; and the number of occurrences that are drawn.

    Example:
      >>> from jaxmotif import datasets
      >>> from jaxmotif.patterns import named_pattern
      >>> drawing, parts, occurrences = locate(datasets.load("florentine"), named_pattern("triangle"))
      >>> len(drawing.nodes), len(parts), occurrences
      (7, 1, 3)
    """
    devices = [select_devices(None).main]
    blocks = iter_matches(pattern, graph, True, _MOST_LISTED, per="occurrence", devices=devices)
    listed = np.concatenate([np.zeros((0, pattern.num_nodes), np.int64), *blocks])
    times = np.bincount(listed.reshape(-1), minlength=graph.n)
    nodes, chosen = set[int](), []
    for row in listed[np.argsort(-times[listed].sum(axis=1), kind="stable")].tolist():
        if len(nodes.union(row)) <= _MOST_SHOWN:
            nodes |= set(row)
            chosen.append(row)
    order, places = np.unique(np.array(chosen, np.int64), return_inverse=True)
    places, parts = places.reshape(-1, pattern.num_nodes), _parts(pattern)
    takes = np.stack([np.bincount(places[:, members].ravel(), minlength=order.size) for _, members in parts], axis=1)
    edges = places[:, np.argwhere(pattern.adjacency)].reshape(-1, 2)
    names = graph._names[order].astype(str)
    excerpt = Graph.from_edges(np.unique(edges, axis=0), order.size, graph.directed, node_names=names)
    drawing = draw_network(excerpt, takes.argmax(axis=1).tolist(), "where the class occurs")
    return drawing, [name for name, _ in parts], len(chosen)


def role_card(graph: Graph, pattern: Pattern, title: str, roles: Sequence[Role], names: Sequence[str] = ()) -> str:
    """Return the HTML of a card with the roles of a pattern, each drawn beside the nodes that take it most often.

    Args:
      graph: The graph whose nodes take the roles.
      pattern: The pattern.
      title: What the pattern is called, as text.
      roles: Its roles.
      names: The names of the pattern's nodes, if they have some.
    """
    parts = [f"<h3>{as_text(title)}</h3>"]
    for role in roles:
        called = f"{title}, {role.name or 'a role'}"
        drawing = draw_pattern(pattern, *graph._label_words, role.members, called, names)
        parts.append(role_list(drawing.svg(), top_nodes(graph, role.counts), role.name))
    return "".join(parts)
