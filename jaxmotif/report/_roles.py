"""Which nodes take the parts of a pattern most often."""

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

SHOWN = 5
"""Nodes a role."""

MOST_OCCURRENCES = 20_000_000
"""Of a pattern whose nodes are ranked: more take too long for a report."""


class Role(NamedTuple):
    """A part in a pattern, of nodes that its automorphisms exchange.

    Attributes:
      members: these nodes.
      nodes: the graph's nodes that take the part most often, by name, and how often each does.
    """

    members: tuple[int, ...]
    nodes: list[tuple[str, int]]


def top_nodes(graph: Graph, pattern: Pattern, induced: bool = True, wildcard: int | None = None) -> list[Role]:
    """The roles of a pattern, and who takes them most often, each occurrence counted once.

    Example:
      >>> from jaxmotif.patterns import named_pattern
      >>> star = Graph.from_edges([(0, 1), (0, 2), (0, 3)], node_names=["hub", "a", "b", "c"])
      >>> for role in top_nodes(star, named_pattern("2-star")):
      ...     print(role.members, role.nodes[0])
      (0,) ('hub', 3)
      (1, 2) ('a', 2)
    """
    # On a device of this process: of several, only one writes the report.
    options = {"wildcard": wildcard, "devices": [select_devices(None).main]}
    counts = participation_counts(pattern, graph, induced, per="occurrence", **options)
    ruled = isinstance(pattern, RuledPattern)
    orbits = automorphisms_of(pattern).min(axis=0) if ruled else node_orbits(pattern)
    names = np.arange(graph.n) if graph.node_names is None else graph.node_names
    roles = []
    for orbit in np.unique(orbits):
        members = np.flatnonzero(orbits == orbit)
        times = counts[:, members[0]]  # which counts the whole orbit
        best = [i for i in np.argsort(-times, kind="stable")[:SHOWN].tolist() if times[i]]
        roles.append(Role(tuple(members.tolist()), [(str(names[i]), int(times[i])) for i in best]))
    return roles


def role_card(
    graph: Graph, pattern: Pattern, title: str, induced: bool = True, wildcard: int | None = None,
    names: Sequence[str] = (),
) -> str:  # fmt: skip
    """The roles of a pattern, each drawn with its nodes marked beside the names of those who take it."""
    parts = [f'<div class="card"><h3>{as_text(title)}</h3>']
    for role in top_nodes(graph, pattern, induced, wildcard):
        words = graph.node_label_names, graph.edge_label_names
        drawing = draw_pattern(pattern, *words, role.members, f"{title}, a role", names)
        rows = "".join(f"<li><span>{as_text(name)}</span><span>{times:,}</span></li>" for name, times in role.nodes)
        parts.append(f'<div class="role">{drawing.svg()}<ol>{rows}</ol></div>')
    return "".join(parts) + "</div>"
