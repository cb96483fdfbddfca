"""Stored answers of other programs for the bundled networks: what a clone without further data is held to.

`python -m tests.test_stored` makes `stored.json` anew, by igraph, orbit-count, networkx and a look at every set.
"""

import hashlib
import json
from collections import Counter
from functools import cache
from itertools import combinations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import jaxmotif
from jaxmotif.patterns import GRAPHLETS, as_pattern
from tests.more import more

STORED = Path(__file__).with_name("stored.json")
QUERIES = {False: ("triangle", "4-cycle", "house", "4-star"), True: ("ffl", "3-cycle", "bifan", "021D")}
COLORS = {"red": 2, "green": 1, "blue": 1}


def undirected(name: str) -> jaxmotif.Graph:
    graph = jaxmotif.datasets.load(name)
    return jaxmotif.Graph.from_edges(graph.edge_list(), graph.n) if graph.directed else graph


def colors_of(graph: jaxmotif.Graph) -> list[str]:
    return [("red", "green", "blue", "grey")[i % 4] for i in range(graph.n)]


def digest(table: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(table, np.int64).tobytes()).hexdigest()[:16]


def answers(name: str) -> dict:
    """What other programs say of a network."""
    import igraph
    import orbit_count

    graph = jaxmotif.datasets.load(name)
    plain = undirected(name)
    whole = nx.Graph(plain.edge_list().tolist())
    whole.add_nodes_from(range(plain.n))
    edges = [tuple(edge) for edge in plain.edge_list().tolist()]
    by_class = {k: igraph.Graph(n=plain.n, edges=edges).motifs_randesu(k) for k in (3, 4)}
    found = {
        "graphlets": {
            g.name: int(by_class[g.num_nodes][igraph.Graph(n=g.num_nodes, edges=g.edges).isoclass()])
            for g in GRAPHLETS
            if g.connected and g.num_nodes > 2
        },
        **{
            f"{per} of {size}": digest(count(whole, size, **{f"{per}_list": items}))
            for size in (4, 5)
            for per, count, items in (
                ("node", orbit_count.node_orbit_counts, list(range(plain.n))),
                ("edge", orbit_count.edge_orbit_counts, edges),
            )
        },
    }
    network = igraph.Graph(n=graph.n, edges=graph.edge_list().tolist(), directed=graph.directed)
    found["maps"] = {}
    for query in QUERIES[graph.directed]:
        pattern = as_pattern(query, graph)
        arcs = np.argwhere(pattern.adjacency if graph.directed else np.triu(pattern.adjacency)).tolist()
        small = igraph.Graph(n=pattern.num_nodes, edges=arcs, directed=graph.directed)
        found["maps"][query] = network.count_subisomorphisms_vf2(small)
    if graph.directed:
        triads = nx.triadic_census(nx.DiGraph([*map(tuple, graph.edge_list().tolist())]))
        found["triads"] = {x: n for x, n in sorted(triads.items()) if x not in ("003", "012", "102") and n}
    near = nx.to_numpy_array(whole, nodelist=range(plain.n), dtype=bool)
    shades, wanted = colors_of(plain), Counter(COLORS)
    if plain.n < 60:
        sets = [x for x in combinations(range(plain.n), 4) if Counter(shades[i] for i in x) == wanted]
        matches = [x for x in sets if nx.is_connected(nx.from_numpy_array(near[np.ix_(x, x)]))]
        found["color motifs"] = [len(matches), sorted({i for x in matches for i in x})]
    return found


@cache
def stored() -> dict:
    return json.loads(STORED.read_text())


NAMES = sorted(json.loads(STORED.read_text())) if STORED.exists() else []


@pytest.mark.parametrize("name", NAMES)
def test_answers_of_other_programs(name):
    graph, plain, known = jaxmotif.datasets.load(name), undirected(name), stored()[name]
    counts = jaxmotif.graphlet_counts(plain).counts
    assert {g: counts[g] for g in known["graphlets"]} == known["graphlets"]
    for size in (4, 5):
        assert digest(jaxmotif.node_orbits(plain, size=size).to_numpy()) == known[f"node of {size}"]
        columns = {4: 12, 5: 68}[size]
        assert digest(jaxmotif.edge_graphlets(plain, size=size).to_numpy()[:, :columns]) == known[f"edge of {size}"]
    assert {query: jaxmotif.count_matches(query, graph).count for query in known["maps"]} == known["maps"]
    if "triads" in known:
        found = jaxmotif.subgraph_census(graph, 3)
        census = {text.split()[0]: n for text, n in zip(found.names, found.counts.tolist(), strict=True)}
        assert census == known["triads"]


@pytest.mark.parametrize("name", ["florentine", *more("karate")])
def test_color_motifs_of_other_programs(name):
    plain = undirected(name)
    found = jaxmotif.find_color_motif(plain, colors_of(plain), COLORS, key=0, limit=None)
    assert [len(found.matches), found.vertices.tolist()] == stored()[name]["color motifs"]


@pytest.mark.more
def test_other_programs_say_what_is_stored():
    assert {name: answers(name) for name in NAMES} == stored()


if __name__ == "__main__":
    said = {name: answers(name) for name in jaxmotif.datasets.names()}
    STORED.write_text(json.dumps(said, indent=1) + "\n")
