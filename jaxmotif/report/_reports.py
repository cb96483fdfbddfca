"""The pages of the other jobs: a census, graphlets, matches of queries, and a search for a colored subgraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from jaxmotif.arrays._present import counted
from jaxmotif.drawing._drawing import MOST_NODES, Drawing, as_text, draw_network, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.graphlets import NodeOrbits
from jaxmotif.matching import MatchCount
from jaxmotif.motifs import Census, CensusEstimate
from jaxmotif.patterns import NODE_ORBITS, Pattern, class_columns, graphlet_columns, named_pattern
from jaxmotif.patterns._catalogue import CONNECTED
from jaxmotif.report import _page as html
from jaxmotif.report import _parts as shared
from jaxmotif.report._charts import bar, distributions
from jaxmotif.report._roles import MOST_OCCURRENCES, count_roles, role_card, top_nodes
from jaxmotif.sieve import ColorMotifs
from jaxmotif.sieve._colors import ColorsLike, Motif, MotifLike, parse_motif, vertex_shades

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
    order = np.argsort(-census.counts, kind="stable")[: shared.MOST_CLASSES].tolist()
    columns = class_columns(census.classes, census.directed, census.label_words)
    note = shared.omission_note(len(census.classes))
    said = {"size": shared.describe_size(graph), "census": census, "classes": counted(len(census.classes), "class")}
    if isinstance(census, CensusEstimate):
        amounts, level = ["counts", "low", "high", "hits"], f"{100 * census.level:g} %"
        total, low, high = map(html.number, (census.total, census.total_low, census.total_high))
        draws = counted(sum(census.samples), "draw")
        lead = html.say("estimated census", **said, total=total, level=level, low=low, high=high, draws=draws)
        note = html.say("intervals", level=level, omitted=note)
        more = html.section("The estimate", html.paragraphs(census.notes)) if census.notes else ""
    else:
        amounts = ["counts"]
        lead = html.say("census", **said, subgraphs=counted(census.total, "connected induced subgraph"))
        frequent = [(census.classes[i], int(census.counts[i])) for i in order[: shared.MOST_RANKED]]
        more = shared.roles_section(
            graph, census.directed, frequent, "Top nodes by role", "of the most frequent classes"
        )
    heads = ["", *shared.class_heads(columns), "count", *amounts[1:], "share", " "]
    wide = ("id", " ") if census.size <= _LARGEST_WORDED else ("id", "class", "labels", " ")
    rows = []
    for i in order:
        share = float(census.counts[i] / max(census.total, 1))
        pattern = named_pattern(census.classes[i], census.directed)
        drawing = draw_pattern(pattern, *graph._label_words, title=shared.class_title(columns, i))
        counts = [html.count_cell(getattr(census, name)[i]) for name in amounts]
        shares = html.share_cell(share), html.Cell(bar(share, 1.0))
        rows.append([html.Cell(drawing.svg()), *shared.class_cells(columns, i), *counts, *shares])
    sections = [html.section("Classes", html.table(heads, rows, shared.MEANINGS, wide), note=note), more]
    sections.append(shared.origin_section("census", run))
    return html.page(f"Subgraphs of {name}", f"Census · {census.size} nodes", name, as_text(lead), sections)


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
    degrees = distributions(by_orbit, drawings)
    sections = [
        html.section("Graphlets", _graphlet_table(counts), note=html.say("graphlet counts")),
        html.section("Graphlet degree distributions", degrees, note=html.say("distributions")),
        html.section("Top nodes by role", _orbit_cards(graph, by_orbit, drawings)),
        html.section("Notes", html.paragraphs(found.notes)) if found.notes else "",
        shared.origin_section("graphlets", run),
    ]
    size = shared.describe_size(graph)
    lead = html.say("graphlets", size=size, triangles=counts["triangle"], cliques=counts["4-clique"])
    return html.page(f"Graphlets of {name}", "Graphlets", name, as_text(lead), sections)


def _graphlet_table(counts: Mapping[str, int]) -> str:
    patterns = {graphlet: named_pattern(graphlet, directed=False) for graphlet in counts}
    totals = Counter()  # by number of nodes
    for graphlet, count in counts.items():
        totals[patterns[graphlet].num_nodes] += count
    rows = []
    for (graphlet, pattern), przulj in zip(patterns.items(), graphlet_columns(list(counts))["przulj"], strict=True):
        words = [html.Cell(draw_pattern(pattern, title=graphlet).svg()), html.text_cell(graphlet)]
        numbers = [html.count_cell(number) for number in (pattern.num_nodes, counts[graphlet])]
        share = counts[graphlet] / (totals[pattern.num_nodes] or 1)
        rows.append([*words, html.Cell(przulj, przulj), *numbers, html.share_cell(share)])
    heads = ["", "graphlet", "Pržulj", "nodes", "count", "share"]
    return html.table(heads, rows, {"share": "of all sets of this many nodes"})


def _draw_orbit(number: int) -> Drawing:
    """Draw the graphlet of an orbit with the nodes of the orbit marked."""
    graphlet = next(graphlet for graphlet in CONNECTED if number in graphlet.node_orbits)
    pattern = Pattern.from_edges(graphlet.edges, graphlet.num_nodes)
    marked = [v for v, orbit in enumerate(graphlet.node_orbits) if orbit == number]
    return draw_pattern(pattern, marked=marked, title=f"{graphlet.name}, orbit {number}")


def _orbit_cards(graph: Graph, columns: Mapping[str, np.ndarray], drawings: Mapping[str, str]) -> str:
    titles = {orbit.name: f"{orbit.graphlet}: {orbit.role}" for orbit in NODE_ORBITS}
    bodies = []
    for name, values in columns.items():
        nodes = html.role_list(drawings[name], top_nodes(graph, values))
        bodies.append(f"<h3>{as_text(titles.get(name, name))}</h3>{nodes}")
    return html.cards(bodies)


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
        drawing = draw_pattern(pattern, *graph._label_words, title=query, names=names).svg() if drawable else ""
        counts = [html.count_cell(count) for count in (pattern.num_nodes, pattern.num_edges, matches.count)]
        rows.append([html.Cell(drawing), html.text_cell(query), *counts, html.text_cell(matches.status)])
        ranked = drawable and matches.exact and 0 < matches.count <= MOST_OCCURRENCES
        if ranked and len(role_cards) < shared.MOST_RANKED:
            roles = count_roles(graph, pattern, induced, wildcard)
            role_cards.append(role_card(graph, pattern, query, roles, names))
    heads = ["", "query", "nodes", "arcs" if graph.directed else "edges", "matches", "status"]
    unit = "sets of nodes" if per == "occurrence" else "maps"
    preserved = "edges and non-edges" if induced else "edges"
    lead = html.say("matches", size=shared.describe_size(graph), unit=unit, preserved=preserved)
    note = html.say("roles in matches", queries=shared.MOST_RANKED, most=MOST_OCCURRENCES)
    sections = [html.section("Matches", html.table(heads, rows))]
    if role_cards:
        sections.append(html.section("Top nodes by role", html.cards(role_cards), note=note))
    sections.append(shared.origin_section("match", run))
    return html.page(f"Matches in {name}", "Subgraph matching", name, as_text(lead), sections)


def search_report(
    name: str,
    graph: Graph,
    motif: MotifLike,
    found: ColorMotifs,
    colors: ColorsLike,
    run: Mapping[str, object] | None = None,
) -> str:
    """Return a page of where a multiset of colors occurs as a connected subgraph.

    Args:
      name: The name of the network.
      graph: The network.
      motif: How often each color occurs in the subgraph.
      found: The vertices and the matches.
      colors: The colors of the vertices, as for :func:`jaxmotif.find_color_motif`.
      run: How the result was made: the command line as ``"argv"``, and the options by name.
    """
    names, parsed = graph._names, parse_motif(motif)
    wanted = ", ".join(f"{times} × {color}" for color, times in parsed.counts.items())
    if found.found:
        verb = "root" if run and run.get("direction") in ("out", "in") else "lie in"
        vertices = counted(len(found.vertices), "vertex")
        lead = html.say("colored subgraph", vertices=vertices, nodes=graph.n, verb=verb, colors=wanted)
    else:
        lead = html.say("no colored subgraph", colors=wanted)
    rows = []
    for i, match in enumerate(found.matches[:_MOST_MATCHES], 1):
        rows.append([html.count_cell(i), html.text_cell(", ".join(str(names[v]) for v in match))])
    number, missed = len(found.matches), f"{found.false_negative_bound:.2g}"
    more = html.say("omitted matches", shown=_MOST_MATCHES, matches=number) if number > _MOST_MATCHES else ""
    bound = {"runs of the sieve": found.repetitions, "a vertex is missed with probability at most": missed}
    sections = []
    if rows:
        drawn = _drawn_matches(graph, parsed, found, vertex_shades(colors, parsed, graph.n, graph.node_names))
        sections.append(html.section("Matches", drawn, html.table(["number", "vertices"], rows), note=more))
    if found.found:
        listed = ", ".join(map(str, names[found.vertices].tolist()))
        sections.append(html.section("Vertices", html.paragraphs([listed])))
    sections.append(html.section("Certainty", html.facts(bound), html.paragraphs(found.notes)))
    sections.append(shared.origin_section("search", run))
    return html.page(f"Search in {name}", "Graph motif problem", name, as_text(lead), sections)


def _drawn_matches(graph: Graph, motif: Motif, found: ColorMotifs, shades: np.ndarray) -> str:
    """Return drawings of the first matches, each vertex in the color for which it stands there."""
    from scipy.optimize import linear_sum_assignment

    places = np.repeat(np.arange(len(motif.counts)), list(motif.counts.values()))
    wanted = np.repeat(list(motif.masks.values()), list(motif.counts.values()))  # one for each vertex of a match
    edges, bodies = graph.edge_list(), []
    for number, match in enumerate(found.matches[:_MOST_DRAWN], 1):
        nodes = np.array(match)  # ascending
        # A vertex of several colors stands for one of them, so that all colors together are the motif.
        groups = places[linear_sum_assignment(shades[nodes, None] & wanted == 0)[1]].tolist()
        own = np.searchsorted(nodes, edges[np.isin(edges, nodes).all(axis=1)])
        part = Graph.from_edges(own, len(match), graph.directed, node_names=graph._names[nodes].astype(str))
        drawing = draw_network(part, groups, f"match {number}")
        bodies.append(html.figure(drawing.svg(), f"match {number}"))
    return f'<p class="small">{html.legend_of_groups(map(str, motif.counts))}</p>{html.cards(bodies)}'
