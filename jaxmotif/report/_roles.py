"""The nodes that take the parts of a pattern most often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.devices._select import select_devices
from jaxmotif.drawing._drawing import as_text, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.matching import participation_counts
from jaxmotif.patterns import Pattern, node_orbits
from jaxmotif.patterns._ruled import RuledPattern, automorphisms_of
from jaxmotif.report._page import role_list

SHOWN = 5
"""Number of nodes that a page names for a role at most."""

MOST_OCCURRENCES = 20_000_000
"""Number of occurrences up to which a page ranks the nodes of a pattern; more take too long for a report."""


class Role(NamedTuple):
    """A part in a pattern, which nodes take that the pattern's automorphisms exchange.

    Attributes:
      members: The nodes of the pattern that have this part.
      nodes: The nodes of the graph that take the part most often: their names, and how often each takes it.
    """

    members: tuple[int, ...]
    nodes: list[tuple[str, int]]


def top_nodes(graph: Graph, pattern: Pattern, induced: bool = True, wildcard: int | None = None) -> list[Role]:
    """Return the roles of a pattern and the nodes that take each most often, where an occurrence counts once.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], node_names=["hub", "a", "b", "c"])
      >>> for role in top_nodes(star, named_pattern("2-star")):
      ...     print(role.members, role.nodes[0])
      (0,) ('hub', 3)
      (1, 2) ('a', 2)
    """
    # The work runs on a device of this process, because of several processes only one writes the report.
    devices = [select_devices(None).main]
    counts = participation_counts(pattern, graph, induced, per="occurrence", wildcard=wildcard, devices=devices)
    if isinstance(pattern, RuledPattern):
        orbits = automorphisms_of(pattern).min(axis=0)
    else:
        orbits = node_orbits(pattern)
    names = np.arange(graph.n) if graph.node_names is None else graph.node_names
    roles = []
    for orbit in np.unique(orbits):
        members = np.flatnonzero(orbits == orbit)
        times = counts[:, members[0]]  # The column of one member counts the whole orbit.
        most = [i for i in np.argsort(-times, kind="stable")[:SHOWN].tolist() if times[i]]
        roles.append(Role(tuple(members.tolist()), [(str(names[i]), int(times[i])) for i in most]))
    return roles


def role_card(
    graph: Graph,
    pattern: Pattern,
    title: str,
    induced: bool = True,
    wildcard: int | None = None,
    names: Sequence[str] = (),
) -> str:
    """Return the HTML of a card with the roles of a pattern, each drawn beside the nodes that take it most often.

    Args:
      graph: The graph whose nodes take the roles.
      pattern: The pattern.
      title: What the pattern is called, as text.
      induced: Whether occurrences keep non-edges too.
      wildcard: The node label that stands for any label.
      names: The names of the pattern's nodes, if they have some.
    """
    parts = [f"<h3>{as_text(title)}</h3>"]
    for role in top_nodes(graph, pattern, induced, wildcard):
        labels = graph.node_label_names, graph.edge_label_names
        drawing = draw_pattern(pattern, *labels, role.members, f"{title}, a role", names)
        parts.append(role_list(drawing.svg(), role.nodes))
    return "".join(parts)
