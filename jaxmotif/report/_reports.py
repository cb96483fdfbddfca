"""The reports: a page for each job, made of its result and the graph."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from importlib.metadata import version
from typing import NamedTuple

import numpy as np

import jaxmotif
from jaxmotif.arrays._label_words import in_words
from jaxmotif.arrays._present import Column, counted
from jaxmotif.drawing._drawing import MOST_NODES, Drawing, as_text, draw_pattern
from jaxmotif.graph import Graph
from jaxmotif.graphlets import NodeOrbits
from jaxmotif.matching import MatchCount
from jaxmotif.motifs import Census, Motifs
from jaxmotif.motifs._tables import null_interval
from jaxmotif.patterns import NODE_ORBITS, Pattern, class_columns, graphlet_columns, named_pattern
from jaxmotif.patterns._orbits import CONNECTED
from jaxmotif.report._charts import Profile, bar, distributions, legend, profile_chart
from jaxmotif.report._page import Cell, Head, facts, number, page, paragraphs, section, table, whole
from jaxmotif.report._roles import MOST_OCCURRENCES, role_card
from jaxmotif.report._words import citations, mixing_in_words
from jaxmotif.sieve import ColorMotifs

MOST_CLASSES = 500
"""That a page shows, the most unusual ones; it says how many it leaves to the table of the command."""

_RANKED = 4  # patterns whose nodes are ranked
_LISTED = 100  # matches of a search that are shown


class Finding(NamedTuple):
    """The motifs of one network; ``place`` of each class among them."""

    name: str
    graph: Graph
    found: Motifs
    place: Mapping[str, int]

    def of(self, values: np.ndarray, name: str) -> float:
        """The value of a class, NaN where the network does not have it."""
        return float(values[self.place[name]]) if name in self.place else float("nan")


def motifs_report(networks: Sequence[tuple[str, Graph, Motifs]], run: Mapping[str, object] | None = None) -> str:
    """A page of the motifs of one network, or of several beside each other.

    Args:
      networks: the name, the graph and the motifs of each; of one size, all directed or none.
      run: how it was made, by name: the command, its options.

    Returns:
      HTML that needs nothing else.

    Raises:
      ValueError: networks that cannot be compared.

    Example:
      >>> from jaxmotif import datasets, find_motifs
      >>> graph = datasets.load("florentine")
      >>> page = motifs_report([("florentine", graph, find_motifs(graph, 3, 20))])
      >>> page.count('class="drawing"') >= 2
      True
    """
    findings = [Finding(*given, {name: i for i, name in enumerate(given[2].classes)}) for given in networks]
    first = findings[0].found
    if any((n.found.size, n.found.directed) != (first.size, first.directed) for n in findings):
        raise ValueError("a report compares networks of one size of motif, all directed or all undirected")
    classes = sorted({name for n in findings for name in n.found.classes})

    def strongest(name: str) -> float:
        return max(np.nan_to_num(abs(n.of(n.found.significance.z, name)), nan=-1.0) for n in findings)

    ranked = sorted(classes, key=strongest, reverse=True)
    shown = set(ranked[:MOST_CLASSES])
    classes = [c for c in classes if c in shown]
    drawings = _drawings(classes, findings)
    names = [n.name for n in findings]
    sections = [_profile_section(findings, classes, drawings), _class_section(findings, classes, ranked, drawings)]
    sections += [_roles_section(n, len(findings) > 1) for n in findings]
    sections.append(_null_section(findings))
    sections.append(_how_section("motifs", run))
    kind = ", directed" * first.directed
    lead = "<br>".join(_motifs_lead(n, named=len(findings) > 1) for n in findings)
    return page(
        f"Motifs of {', '.join(names)}", f"Network motifs · {first.size} nodes{kind}", ", ".join(names), lead, sections
    )


def census_report(name: str, graph: Graph, census: Census, run: Mapping[str, object] | None = None) -> str:
    """A page of the classes of a network's subgraphs; arguments as of :func:`motifs_report`."""
    order = np.argsort(-census.counts, kind="stable")[:MOST_CLASSES].tolist()
    columns = class_columns(census.classes, census.directed)
    heads = [Head("", sorts=False), *_class_heads(columns), Head("count"), Head("share"), Head("", sorts=False)]
    rows = []
    for i in order:
        share = census.counts[i] / max(census.total, 1)
        drawing = draw_pattern(
            named_pattern(census.classes[i], census.directed), *_words(graph), title=_title(columns, i)
        )
        rows.append([
            Cell(drawing.svg()), *_class_cells(columns, i, graph), whole(int(census.counts[i])),
            Cell(f"{100 * share:.3g} %", float(share)), Cell(bar(float(share), 1.0)),
        ])  # fmt: skip
    lead = (
        f"{_sizes(graph)} with {counted(census.total, 'connected induced subgraph')} of {census.size} nodes, in "
        f"{counted(len(census.classes), 'class')}."
    )
    frequent = [(census.classes[i], int(census.counts[i])) for i in order[:_RANKED]]
    sections = [
        section("Classes", table(heads, rows), note=_left_out(len(census.classes))),
        _roles(graph, census.directed, frequent, "Top nodes by role", "of the most frequent classes"),
        _how_section("census", run),
    ]
    return page(f"Subgraphs of {name}", f"Census · {census.size} nodes", name, as_text(lead), sections)


def graphlets_report(name: str, graph: Graph, found: NodeOrbits, run: Mapping[str, object] | None = None) -> str:
    """A page of a network's graphlets: counts, the distributions of graphlet degrees, and who has the largest."""
    columns = graphlet_columns(list(found.counts))
    sizes = [named_pattern(graphlet, directed=False).num_nodes for graphlet in found.counts]
    totals = {
        size: sum(c for c, s in zip(found.counts.values(), sizes, strict=True) if s == size) for size in set(sizes)
    }
    heads = [
        Head("", sorts=False), Head("graphlet", text=True), Head("Pržulj", text=True), Head("nodes"),
        Head("count"), Head("share", meaning="of all sets of so many nodes"),
    ]  # fmt: skip
    rows = []
    for i, (graphlet, count) in enumerate(found.counts.items()):
        drawing = draw_pattern(named_pattern(graphlet, directed=False), title=graphlet)
        share = count / totals[sizes[i]] if totals[sizes[i]] else 0.0
        rows.append([
            Cell(drawing.svg()), Cell(as_text(graphlet), graphlet), Cell(columns["przulj"][i], columns["przulj"][i]),
            whole(sizes[i]), whole(count), Cell(f"{100 * share:.3g} %", share),
        ])  # fmt: skip
    lead = f"{_sizes(graph)}, {found.counts['triangle']:,} triangles and {found.counts['4-clique']:,} cliques of four."
    drawings = {column: _orbit(i).svg() for i, column in enumerate(found.columns)}
    by_orbit = dict(zip(found.columns, np.asarray(found.values).T, strict=True))
    sections = [
        section("Graphlets", table(heads, rows), note="How many sets of nodes induce each graph, connected or not."),
        section(
            "Graphlet degree distributions", distributions(by_orbit, drawings),
            note="How many nodes (upwards) touch an orbit how often (to the right), both on logarithmic axes. Orbits "
            "are the places of nodes in connected graphlets, in the numbering of ORCA.",
        ),
        section("Top nodes by role", _orbit_cards(graph, by_orbit, drawings)),
        section("Notes", paragraphs(found.notes)) if found.notes else "",
        _how_section("graphlets", run),
    ]  # fmt: skip
    return page(f"Graphlets of {name}", "Graphlets", name, as_text(lead), sections)


class Matched(NamedTuple):
    """A query, how often it matches, and the names of its nodes, if they have some."""

    pattern: Pattern
    found: MatchCount
    names: Sequence[str] = ()


def match_report(
    name: str, graph: Graph, queries: Mapping[str, Matched], induced: bool = False, per: str = "map",
    wildcard: int | None = None, run: Mapping[str, object] | None = None,
) -> str:  # fmt: skip
    """A page of how often queries match, by their names, and of who takes which part in them."""
    rows, cards = [], []
    for query, (pattern, found, names) in queries.items():
        small = pattern.num_nodes <= MOST_NODES
        drawing = draw_pattern(pattern, *_words(graph), title=query, names=names).svg() if small else ""
        rows.append([
            Cell(drawing), Cell(as_text(query), query), whole(pattern.num_nodes), whole(pattern.num_edges),
            whole(found.count), Cell(as_text(found.status), found.status),
        ])  # fmt: skip
        if small and found.exact and 0 < found.count <= MOST_OCCURRENCES and len(cards) < _RANKED:
            cards.append(role_card(graph, pattern, query, induced, wildcard, names))
    heads = [
        Head("", sorts=False), Head("query", text=True), Head("nodes"), Head("arcs" if graph.directed else "edges"),
        Head("matches"), Head("status", text=True),
    ]  # fmt: skip
    what = "sets of nodes" if per == "occurrence" else "maps"
    lead = f"{_sizes(graph)}. Counted are {what} that keep edges{' and non-edges' * induced} and labels."
    note = (
        f"Of each part in the first {_RANKED} queries with at most {MOST_OCCURRENCES:,} matches, who takes it most, in "
        "how many of them."
    )
    sections = [section("Matches", table(heads, rows))]
    if cards:
        sections.append(section("Top nodes by role", f'<div class="cards">{"".join(cards)}</div>', note=note))
    sections.append(_how_section("match", run))
    return page(f"Matches in {name}", "Subgraph matching", name, as_text(lead), sections)


def search_report(
    name: str, graph: Graph, motif: Mapping[Hashable, int], found: ColorMotifs, run: Mapping[str, object] | None = None
) -> str:
    """A page of where a multiset of colors occurs as a connected subgraph."""
    names = np.arange(graph.n) if graph.node_names is None else graph.node_names
    wanted = ", ".join(f"{times} × {color}" for color, times in motif.items())
    part = "root" if run and run.get("direction") in ("out", "in") else "lie in"
    lead = (
        f"{counted(len(found.vertices), 'vertex')} of {graph.n:,} {part} a connected subgraph colored {wanted}."
        if found.found else f"No connected subgraph is colored {wanted}."
    )  # fmt: skip
    heads = [Head("number"), Head("vertices", text=True)]
    matches = [", ".join(str(names[v]) for v in match) for match in found.matches[:_LISTED]]
    rows = [[whole(i), Cell(as_text(match), match)] for i, match in enumerate(matches, 1)]
    more = f"{_LISTED} of {len(found.matches):,} listed." if len(found.matches) > _LISTED else ""
    bound = {
        "runs of the sieve": found.repetitions,
        "a vertex is missed with probability at most": f"{found.false_negative_bound:.2g}",
    }
    sections = [
        section("Matches", table(heads, rows), note=more) if rows else "",
        section("Vertices", paragraphs([", ".join(map(str, names[found.vertices].tolist()))])) if found.found else "",
        section("Certainty", facts(bound), paragraphs(found.notes)), _how_section("search", run),
    ]  # fmt: skip
    return page(f"Search in {name}", "Graph motif problem", name, as_text(lead), sections)


# ---- parts of several pages

_CLASS_HEADS = (Head("id", meaning="the number of the class in mfinder and FANMOD"), Head("class", text=True))
_LABELLED_HEADS = (Head("class", text=True), Head("labels", text=True))


def _words(graph: Graph) -> tuple[Mapping[int, str] | None, Mapping[int, str] | None]:
    return graph.node_label_names, graph.edge_label_names


def _title(columns: Mapping[str, Column], i: int) -> str:
    """What a class is called: its name, or its number, or its string."""
    return columns["name"][i] or (f"id {columns['id'][i]}" if columns["id"][i] is not None else columns["class"][i])


def _class_heads(columns: Mapping[str, Column]) -> tuple[Head, ...]:
    return _LABELLED_HEADS if None in columns["id"] else _CLASS_HEADS


def _class_cells(columns: Mapping[str, Column], i: int, graph: Graph) -> list[Cell]:
    """Number and name of a class, or of labelled ones name and string; the string where there is no name."""
    shown = in_words(columns["class"][i], *_words(graph))
    string = f'<span class="soft small">{as_text(shown if len(shown) <= 40 else shown[:39] + "…")}</span>'
    known = " · ".join(filter(None, (columns["name"][i], columns["przulj"][i])))
    if None in columns["id"]:
        return [Cell(as_text(known), known), Cell(string, shown)]
    identity = columns["id"][i]
    return [Cell(str(identity), identity), Cell(as_text(known) if known else string, known or shown)]


def _sizes(graph: Graph) -> str:
    return f"{counted(graph.n, 'node')} and {counted(graph.m, 'arc' if graph.directed else 'edge')}"


def _left_out(classes: int) -> str:
    if classes <= MOST_CLASSES:
        return ""
    return f"{MOST_CLASSES} of {classes:,} classes are shown; --output FILE.csv has all."


def _drawings(classes: Sequence[str], networks: Sequence[Finding]) -> dict[str, Drawing]:
    first = networks[0]
    columns = class_columns(classes, first.found.directed)
    return {
        name: draw_pattern(named_pattern(name, first.found.directed), *_words(first.graph), title=_title(columns, i))
        for i, name in enumerate(classes)
    }


def _motifs_lead(network: Finding, named: bool) -> str:
    found = network.found
    motifs, anti = int(found.is_motif.sum()), int(found.is_anti_motif.sum())
    who = f"{network.name}: " * named
    return as_text(
        f"{who}{_sizes(network.graph)}. Of {counted(len(found.classes), 'class')} of connected subgraphs, {motifs} "
        f"occur{'s' * (motifs == 1)} more often and {anti} less often than in {len(found.random_counts):,} random "
        "graphs with the same degrees."
    )


def _profile_section(networks: Sequence[Finding], classes: Sequence[str], drawings: Mapping[str, Drawing]) -> str:
    columns = class_columns(classes, networks[0].found.directed)
    labels = [str(identity) if identity is not None else "" for identity in columns["id"]]
    profiles = []
    for network in networks:
        found, s = network.found, network.found.significance
        unusual = found.is_motif | found.is_anti_motif
        rows = [[network.of(v, c) for c in classes] for v in (s.profile, *null_interval(found), unusual)]
        values, low, high, stands_out = np.array(rows)
        profiles.append(Profile(network.name, values, low, high, stands_out == 1))
    note = "Each class's z-score over the length of the vector of all of them. "
    if len(networks) == 1:
        note += "The grey bars are where 95 % of the random graphs lie; filled points are motifs and anti-motifs."
    figure = f"<figure>{profile_chart(labels, [drawings[c] for c in classes], profiles)}</figure>"
    return section(
        "Significance profile", legend([n.name for n in networks]) if len(networks) > 1 else "", figure, note=note
    )


def _class_section(
    networks: Sequence[Finding], classes: Sequence[str], ranked: Sequence[str], drawings: Mapping[str, Drawing]
) -> str:
    columns = class_columns(classes, networks[0].found.directed)
    place = {name: i for i, name in enumerate(classes)}
    single = len(networks) == 1
    heads = [Head("", sorts=False), *_class_heads(columns)]
    for n in networks:
        heads += _ONE if single else [Head(f"{n.name}: count"), Head("z")]
    reach = max((abs(v) for n in networks for v in n.found.significance.z.tolist() if np.isfinite(v)), default=0.0)
    rows = []
    for name in ranked[:MOST_CLASSES]:
        cells = [Cell(drawings[name].svg()), *_class_cells(columns, place[name], networks[0].graph)]
        for network in networks:
            cells += _class_row(network, name, reach, single)
        rows.append(cells)
    theta = f"{networks[0].found.threshold:g}"
    note = f"Motifs occur at least {theta} standard deviations more often than in the random graphs, "
    if single:
        note += "anti-motifs as much less. The effect is the count over the mean; q is the false discovery rate."
    else:
        note += "which makes their z bold."
    return section("Classes", table(heads, rows), note=f"{note} {_left_out(len(ranked))}".strip())


_ONE = (
    Head("count"), Head("mean", meaning="of the counts in the random graphs"), Head("sd"),
    Head("effect", meaning="count / mean"), Head("z", meaning="(count - mean) / sd, of estimates with their errors"),
    Head("", sorts=False),
    Head("q", meaning="false discovery rate"), Head("verdict", text=True),
)  # fmt: skip


def _class_row(network: Finding, name: str, reach: float, single: bool) -> list[Cell]:
    """The cells of one class of one network."""
    if name not in network.place:
        return [Cell("–")] * (len(_ONE) if single else 2)
    i, found, s = network.place[name], network.found, network.found.significance
    z, mean, count = float(s.z[i]), float(s.mean[i]), float(found.counts[i])
    shown = whole(int(count)) if found.estimate is None else Cell(number(count), count)
    word = "motif" if found.is_motif[i] else "anti-motif" if found.is_anti_motif[i] else ""
    kind = {"motif": "mark", "anti-motif": "soft"}.get(word, "")
    verdict = Cell(f'<span class="{kind}">{word}</span>', word)
    score = Cell(number(z, 1), z)
    if not single:
        return [shown, Cell(f'<span class="{kind}">{score.html}</span>', z)]
    effect = count / mean if mean else float("inf") if count else float("nan")
    times = number(effect, 0 if effect >= 100 else 2) + "×" * bool(np.isfinite(effect))
    return [
        shown, Cell(number(mean), mean), Cell(number(float(s.sd[i])), float(s.sd[i])),
        Cell(times, effect), score, Cell(bar(z, reach)),
        Cell(f"{s.q[i]:.2g}", float(s.q[i])), verdict,
    ]  # fmt: skip


def _roles_section(network: Finding, named: bool) -> str:
    found = network.found
    if found.estimate is not None:  # roles are of occurrences, which there are too many of
        return ""
    order = np.argsort(-np.nan_to_num(found.significance.z, nan=-np.inf), kind="stable")
    best = [(found.classes[i], int(found.counts[i])) for i in order.tolist() if found.is_motif[i] and found.counts[i]]
    heading = f"Top nodes by role: {network.name}" if named else "Top nodes by role"
    return _roles(network.graph, found.directed, best[:_RANKED], heading, "of the most unusual motifs")


def _roles(graph: Graph, directed: bool, classes: Sequence[tuple[str, int]], heading: str, which: str) -> str:
    """Cards of the roles in some classes; those that occur too often are named instead."""
    columns = class_columns([name for name, _ in classes], directed)
    cards, too_many = [], []
    for i, (name, count) in enumerate(classes):
        if count > MOST_OCCURRENCES:
            too_many.append(_title(columns, i))
        else:
            cards.append(role_card(graph, named_pattern(name, directed), _title(columns, i)))
    if not classes:
        return ""
    note = f"Who takes the marked place most often, in how many subgraphs: {which}."
    if too_many:
        note += f" Left out, with more than {MOST_OCCURRENCES:,} subgraphs each: {', '.join(too_many)}."
    return section(heading, f'<div class="cards">{"".join(cards)}</div>', note=note)


def _null_section(networks: Sequence[Finding]) -> str:
    parts = []
    for network in networks:
        if len(networks) > 1:
            parts.append(f"<h3>{as_text(network.name)}</h3>")
        model = network.found.null_model
        parts.append(paragraphs([f"The null model {model}.", *mixing_in_words(network.found)]))
    return section("The random graphs", *parts)


def _how_section(job: str, run: Mapping[str, object] | None) -> str:
    given = {name: value for name, value in (run or {}).items() if value is not None and value is not False}
    told = {"jaxmotif": jaxmotif.__version__, "jax": version("jax"), **given}
    command = told.pop("argv", None)
    shown = f"<pre>{as_text(command)}</pre>" if command else ""
    return section("How to make it again, and what to cite", shown, facts(told), paragraphs(citations(job)))


def _orbit(number: int) -> Drawing:
    """The drawing of an orbit: its graphlet with its nodes marked."""
    for graphlet in CONNECTED:
        if number in graphlet.node_orbits:
            pattern = Pattern.from_edges(graphlet.edges, graphlet.size)
            marked = [v for v, orbit in enumerate(graphlet.node_orbits) if orbit == number]
            return draw_pattern(pattern, marked=marked, title=f"{graphlet.name}, orbit {number}")
    raise ValueError(f"there is no orbit {number}")


def _orbit_cards(graph: Graph, columns: Mapping[str, np.ndarray], drawings: Mapping[str, str]) -> str:
    names = np.arange(graph.n) if graph.node_names is None else graph.node_names
    roles = {o.name: f"{o.graphlet}: {o.role}" for o in NODE_ORBITS}
    cards = []
    for name, values in columns.items():
        best = [i for i in np.argsort(-values, kind="stable")[:5].tolist() if values[i]]
        rows = "".join(f"<li><span>{as_text(names[i])}</span><span>{int(values[i]):,}</span></li>" for i in best)
        title = roles.get(name, name)
        cards.append(
            f'<div class="card"><h3>{as_text(title)}</h3><div class="role">{drawings[name]}<ol>{rows}</ol></div></div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'
