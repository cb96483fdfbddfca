"""The pages of the other jobs: a census, graphlets, matches of queries, and a search for a colored subgraph."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.drawing._drawing import MOST_NODES, Drawing, as_text, draw_network, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.graphlets import NodeOrbits
from jaxmotif.matching import MatchCount
from jaxmotif.motifs import Census, CensusEstimate
from jaxmotif.patterns import NODE_ORBITS, Pattern, class_columns, graphlet_columns, named_pattern
from jaxmotif.patterns._orbits import CONNECTED
from jaxmotif.report._charts import bar, distributions
from jaxmotif.report._page import (
    Cell,
    cards,
    count_cell,
    facts,
    figure,
    legend_of_groups,
    number,
    page,
    paragraphs,
    role_list,
    section,
    share_cell,
    table,
    text_cell,
)
from jaxmotif.report._parts import (
    MEANINGS,
    MOST_CLASSES,
    MOST_RANKED,
    class_cells,
    class_heads,
    class_title,
    describe_size,
    label_names,
    node_names,
    omission_note,
    origin_section,
    roles_section,
)
from jaxmotif.report._roles import MOST_OCCURRENCES, SHOWN, count_roles, role_card
from jaxmotif.sieve import ColorMotifs

_MOST_MATCHES = 100  # of a search that are listed
_MOST_DRAWN = 6  # of a search that are drawn
_LARGEST_WORDED = 4  # most nodes of a class whose name or string is short enough for a phone


def census_report(
    name: str, graph: Graph, census: Census | CensusEstimate, run: Mapping[str, object] | None = None
) -> str:
    """Return a page of the classes of a network's connected subgraphs of one size, counted or estimated.

    Args:
      name: The name of the network.
      graph: The network.
      census: Its classes and their counts.
      run: How the result was made: the command line as ``"argv"``, and the options by name.
    """
    order = np.argsort(-census.counts, kind="stable")[:MOST_CLASSES].tolist()
    columns, classes = class_columns(census.classes, census.directed, census.label_words), len(census.classes)
    note = omission_note(classes)
    if isinstance(census, CensusEstimate):
        amounts, level = ["counts", "low", "high", "hits"], f"{100 * census.level:g} %"
        lead = (
            f"about {number(census.total)} connected induced subgraphs of {census.size} nodes ({level} "
            f"{number(census.total_low)} to {number(census.total_high)}), estimated from "
            f"{counted(sum(census.samples), 'draw')}, which met {counted(classes, 'class')}."
        )
        note = f"low and high: intervals of {level}; hits: draws that fell on the class. {note}"
        more = section("The estimate", paragraphs(census.notes)) if census.notes else ""
    else:
        amounts = ["counts"]
        subgraphs = counted(census.total, "connected induced subgraph")
        lead = f"{subgraphs} of {census.size} nodes, in {counted(classes, 'class')}."
        frequent = [(census.classes[i], int(census.counts[i])) for i in order[:MOST_RANKED]]
        more = roles_section(graph, census.directed, frequent, "Top nodes by role", "of the most frequent classes")
    heads = ["", *class_heads(columns), "count", *amounts[1:], "share", " "]
    wide = ("id", " ") if census.size <= _LARGEST_WORDED else ("id", "class", "labels", " ")
    rows = []
    for i in order:
        share = float(census.counts[i] / max(census.total, 1))
        pattern = named_pattern(census.classes[i], census.directed)
        drawing = draw_pattern(pattern, *label_names(graph), title=class_title(columns, i))
        counts = [_amount_cell(getattr(census, name)[i]) for name in amounts]
        shares = share_cell(share), Cell(bar(share, 1.0))
        rows.append([Cell(drawing.svg()), *class_cells(columns, i, graph), *counts, *shares])
    sections = [section("Classes", table(heads, rows, MEANINGS, wide), note=note.strip()), more]
    sections.append(origin_section("census", run))
    lead = as_text(f"{describe_size(graph)} with {lead}")
    return page(f"Subgraphs of {name}", f"Census · {census.size} nodes", name, lead, sections)


def _amount_cell(amount: float) -> Cell:
    """Return a cell with a count, or with an estimate of one."""
    whole = isinstance(amount, int | np.integer)
    return count_cell(int(amount)) if whole else Cell(number(float(amount)), float(amount))


def graphlets_report(name: str, graph: Graph, found: NodeOrbits, run: Mapping[str, object] | None = None) -> str:
    """Return a page of a network's graphlets.

    The page has their counts, the distributions of graphlet degrees, and the nodes with the largest ones.

    Args:
      name: The name of the network.
      graph: The network.
      found: The orbits of its nodes.
      run: How the result was made: the command line as ``"argv"``, and the options by name.
    """
    counts = found.counts
    drawings = {column: _draw_orbit(i).svg() for i, column in enumerate(found.columns)}
    by_orbit = dict(zip(found.columns, np.asarray(found.values).T, strict=True))
    distribution_note = (
        "How many nodes (upwards) touch an orbit how often (to the right), both on logarithmic axes. Orbits are the "
        "places of nodes in connected graphlets, in the numbering of ORCA."
    )
    sections = [
        section(
            "Graphlets", _graphlet_table(counts), note="How many sets of nodes induce each graph, connected or not."
        ),
        section("Graphlet degree distributions", distributions(by_orbit, drawings), note=distribution_note),
        section("Top nodes by role", _orbit_cards(graph, by_orbit, drawings)),
        section("Notes", paragraphs(found.notes)) if found.notes else "",
        origin_section("graphlets", run),
    ]
    lead = f"{describe_size(graph)}, {counts['triangle']:,} triangles and {counts['4-clique']:,} cliques of four."
    return page(f"Graphlets of {name}", "Graphlets", name, as_text(lead), sections)


def _graphlet_table(counts: Mapping[str, int]) -> str:
    patterns = {graphlet: named_pattern(graphlet, directed=False) for graphlet in counts}
    totals: dict[int, int] = {}  # by number of nodes
    for graphlet, count in counts.items():
        size = patterns[graphlet].num_nodes
        totals[size] = totals.get(size, 0) + count
    przulj = graphlet_columns(list(counts))["przulj"]
    rows = []
    for i, (graphlet, count) in enumerate(counts.items()):
        pattern = patterns[graphlet]
        total = totals[pattern.num_nodes]
        rows.append(
            [
                Cell(draw_pattern(pattern, title=graphlet).svg()),
                text_cell(graphlet),
                Cell(przulj[i], przulj[i]),
                count_cell(pattern.num_nodes),
                count_cell(count),
                share_cell(count / total if total else 0.0),
            ]
        )
    heads = ["", "graphlet", "Pržulj", "nodes", "count", "share"]
    return table(heads, rows, {"share": "of all sets of this many nodes"})


def _draw_orbit(number: int) -> Drawing:
    """Draw the graphlet of an orbit with the nodes of the orbit marked."""
    for graphlet in CONNECTED:
        if number in graphlet.node_orbits:
            pattern = Pattern.from_edges(graphlet.edges, graphlet.size)
            marked = [v for v, orbit in enumerate(graphlet.node_orbits) if orbit == number]
            return draw_pattern(pattern, marked=marked, title=f"{graphlet.name}, orbit {number}")
    raise ValueError(f"there is no orbit {number}")


def _orbit_cards(graph: Graph, columns: Mapping[str, np.ndarray], drawings: Mapping[str, str]) -> str:
    names = node_names(graph)
    titles = {orbit.name: f"{orbit.graphlet}: {orbit.role}" for orbit in NODE_ORBITS}
    bodies = []
    for name, values in columns.items():
        largest = [i for i in np.argsort(-values, kind="stable")[:SHOWN].tolist() if values[i]]
        nodes = [(names[i], int(values[i])) for i in largest]
        bodies.append(f"<h3>{as_text(titles.get(name, name))}</h3>{role_list(drawings[name], nodes)}")
    return cards(bodies)


class Matched(NamedTuple):
    """A query and its matches.

    Attributes:
      pattern: The query.
      found: How often it matches.
      names: The names of its nodes, if they have some.
    """

    pattern: Pattern
    found: MatchCount
    names: Sequence[str] = ()


def match_report(
    name: str,
    graph: Graph,
    queries: Mapping[str, Matched],
    induced: bool = False,
    per: str = "map",
    wildcard: int | None = None,
    run: Mapping[str, object] | None = None,
) -> str:
    """Return a page of how often queries match, and of the nodes that take their parts.

    Args:
      name: The name of the network.
      graph: The network.
      queries: The queries and their matches, by the queries' names.
      induced: Whether matches keep non-edges too.
      per: What was counted: ``"map"`` or ``"occurrence"``.
      wildcard: The node label that stands for any label.
      run: How the result was made: the command line as ``"argv"``, and the options by name.
    """
    rows, role_cards = [], []
    for query, (pattern, matches, names) in queries.items():
        drawable = pattern.num_nodes <= MOST_NODES
        drawing = draw_pattern(pattern, *label_names(graph), title=query, names=names).svg() if drawable else ""
        counts = [count_cell(count) for count in (pattern.num_nodes, pattern.num_edges, matches.count)]
        rows.append([Cell(drawing), text_cell(query), *counts, text_cell(matches.status)])
        if drawable and matches.exact and 0 < matches.count <= MOST_OCCURRENCES and len(role_cards) < MOST_RANKED:
            roles = count_roles(graph, pattern, induced, wildcard)
            role_cards.append(role_card(graph, pattern, query, roles, names))
    heads = ["", "query", "nodes", "arcs" if graph.directed else "edges", "matches", "status"]
    unit = "sets of nodes" if per == "occurrence" else "maps"
    preserved = "edges and non-edges" if induced else "edges"
    lead = f"{describe_size(graph)}. Counted are {unit} that keep {preserved} and labels."
    note = (
        f"Of each part in the first {MOST_RANKED} queries with at most {MOST_OCCURRENCES:,} matches, who takes it "
        "most, in how many of them."
    )
    sections = [section("Matches", table(heads, rows))]
    if role_cards:
        sections.append(section("Top nodes by role", cards(role_cards), note=note))
    sections.append(origin_section("match", run))
    return page(f"Matches in {name}", "Subgraph matching", name, as_text(lead), sections)


def search_report(
    name: str,
    graph: Graph,
    motif: Mapping[Hashable, int],
    found: ColorMotifs,
    colors: Sequence[Collection[Hashable] | None],
    run: Mapping[str, object] | None = None,
) -> str:
    """Return a page of where a multiset of colors occurs as a connected subgraph.

    Args:
      name: The name of the network.
      graph: The network.
      motif: How often each color occurs in the subgraph.
      found: The vertices and the matches.
      colors: The colors of each vertex, ``None`` for a vertex without.
      run: How the result was made: the command line as ``"argv"``, and the options by name.
    """
    names = node_names(graph)
    wanted = ", ".join(f"{times} × {color}" for color, times in motif.items())
    if found.found:
        verb = "root" if run and run.get("direction") in ("out", "in") else "lie in"
        vertices = counted(len(found.vertices), "vertex")
        lead = f"{vertices} of {graph.n:,} {verb} a connected subgraph colored {wanted}."
    else:
        lead = f"No connected subgraph is colored {colors}."
    rows = []
    for i, match in enumerate(found.matches[:_MOST_MATCHES], 1):
        rows.append([count_cell(i), text_cell(", ".join(str(names[v]) for v in match))])
    more = f"{_MOST_MATCHES} of {len(found.matches):,} listed." if len(found.matches) > _MOST_MATCHES else ""
    bound = {
        "runs of the sieve": found.repetitions,
        "a vertex is missed with probability at most": f"{found.false_negative_bound:.2g}",
    }
    listed = ", ".join(map(str, names[found.vertices].tolist()))
    sections = [
        section("Matches", _drawn_matches(graph, motif, found, colors), table(["number", "vertices"], rows), note=more)
        if rows
        else "",
        section("Vertices", paragraphs([listed])) if found.found else "",
        section("Certainty", facts(bound), paragraphs(found.notes)),
        origin_section("search", run),
    ]
    return page(f"Search in {name}", "Graph motif problem", name, as_text(lead), sections)


def _drawn_matches(
    graph: Graph, motif: Mapping[Hashable, int], found: ColorMotifs, colors: Sequence[Collection[Hashable] | None]
) -> str:
    """Return drawings of the first matches, each vertex in the color for which it stands there."""
    from scipy.optimize import linear_sum_assignment

    places = [number for number, times in enumerate(motif.values()) for _ in range(times)]
    wanted, edges, names = list(motif), graph.edge_list(), node_names(graph)
    bodies = []
    for match in found.matches[:_MOST_DRAWN]:
        # A vertex of several colors stands for one of them, so that all colors together are the motif.
        unlike = [[wanted[place] not in (colors[v] or ()) for place in places] for v in match]
        groups = [places[i] for i in linear_sum_assignment(np.array(unlike))[1]]
        inside = edges[np.isin(edges, match).all(axis=1)]
        own = np.searchsorted(np.sort(match), inside)
        order = np.argsort(match)
        part = Graph.from_edges(own, len(match), graph.directed, node_names=names[np.sort(match)].astype(str))
        drawing = draw_network(part, [groups[i] for i in order.tolist()], f"match {len(bodies) + 1}")
        bodies.append(figure(drawing.svg(), f"match {len(bodies) + 1}"))
    return f'<p class="small">{legend_of_groups(map(str, wanted))}</p>{cards(bodies)}'
