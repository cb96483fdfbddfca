"""The networkx backend, which the entry point ``networkx.backends`` names.

Each public function here takes the place of networkx's function of the same name, with the same arguments and results.
JAX is imported by the first call that needs it.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
from networkx.algorithms.triads import TRIAD_NAMES

if TYPE_CHECKING:
    from jaxmotif.compat.networkx import Side
    from jaxmotif.graph import Graph

Node = Hashable
Nodes = Node | Iterable[Node] | None  # a node, several nodes, or None for all
MOST_NODES = 1024  # most nodes of a pattern, the limit of jaxmotif.matching


class BackendGraph:
    """A networkx graph together with the equal graph of jaxmotif, which is built when it is first needed."""

    __networkx_backend__ = "jaxmotif"

    def __init__(self, graph: nx.Graph):
        self.nx = graph
        self.nodes = list(graph)

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        return node in self.nx

    def is_directed(self) -> bool:
        return self.nx.is_directed()

    def is_multigraph(self) -> bool:
        return self.nx.is_multigraph()

    @cached_property
    def side(self) -> Side:
        """Graph as networkx's matchers take it."""
        from jaxmotif.compat.networkx import Side

        return Side.of(self.nx)

    @cached_property
    def graph(self) -> Graph:
        """Graph of jaxmotif, without labels and self loops."""
        return self.side._replace(labels=None).graph()

    @cached_property
    def index(self) -> dict[Node, int]:
        """Number of each node."""
        return {node: i for i, node in enumerate(self.nodes)}

    @cached_property
    def edges(self) -> np.ndarray:
        """Edges as numbers of nodes, ``[m, 2]``."""
        return self.graph.edge_list()

    @cached_property
    def edge_triangles(self) -> np.ndarray:
        """Triangles at each edge, int64 ``[m]``."""
        from jaxmotif.graphlets._prepared import edge_cycles

        return edge_cycles(self.graph)["t"]

    @cached_property
    def node_triangles(self) -> np.ndarray:
        """Triangles at each node, int64 ``[n]``."""
        return self.at_nodes(self.edge_triangles) // 2

    @cached_property
    def joined(self) -> Graph:
        """Graph without the directions of its arcs."""
        return type(self.graph).from_edges(self.edges, len(self))

    @cached_property
    def directed_triangles(self) -> np.ndarray:
        """Walks from each node around a triangle and back along arcs of either direction, int64 ``[n]``."""
        from jaxmotif.matching import occurrences

        walks, place = np.zeros(len(self), np.int64), np.array([1, len(self)])
        keys = self.edges @ place
        two_way = keys[np.isin(keys, self.edges[:, ::-1] @ place)]
        for nodes in occurrences(self.joined, "triangle"):
            pairs = [nodes[:, [i, j]] @ place for i, j in ((0, 1), (0, 2), (1, 2))]
            ways = 2 << np.isin(pairs, two_way).sum(axis=0)  # two directions, and two arcs at each two-way pair
            np.add.at(walks, nodes, ways[:, None])
        return walks

    def at_nodes(self, by_edge: np.ndarray) -> np.ndarray:
        """Return the sum over the edges at each node, int64 ``[n]``."""
        sums = np.zeros(len(self), np.int64)
        for end in self.edges.T:
            np.add.at(sums, end, by_edge)
        return sums

    def pick(self, nodes: Nodes, values: list) -> Any:
        """Return the value of one node, or the values of several or all nodes by node, as networkx does."""
        if nodes is not None and nodes in self.nx:
            return values[self.index[nodes]]
        chosen = self.nodes if nodes is None else self.nx.nbunch_iter(nodes)
        return {node: values[self.index[node]] for node in chosen}


def convert_from_nx(graph: nx.Graph, *args: Any, **kwargs: Any) -> BackendGraph:
    if hasattr(graph, "_graph"):  # a view, which does not learn of changes of its graph, so nothing may be kept with it
        graph.__networkx_cache__ = None  # pyright: ignore[reportAttributeAccessIssue]
    return BackendGraph(graph)


def convert_to_nx(result: object, *, name: str | None = None) -> Any:
    return result.nx if isinstance(result, BackendGraph) else result


def can_run(name: str, args: Iterable, kwargs: dict) -> bool | str:
    """Return whether a call can be answered exactly; if not, the reason."""
    call = inspect.signature(globals()[name]).bind(*args, **kwargs)
    call.apply_defaults()
    graphs = [_nx(call.arguments[key]) for key in ("G", "G1", "G2") if key in call.arguments]
    if call.arguments.get("weight") is not None:
        return "weights are not taken"
    if any(len(graph) == 0 for graph in graphs):
        return "a graph without nodes"
    if "G2" in call.arguments:
        return _can_compare(name, call.arguments, *graphs)
    [graph] = graphs
    if graph.is_multigraph():
        return "multigraphs are not taken"
    if name == "triadic_census":
        loops = any(node in neighbours for node, neighbours in graph.adj.items())
        return "triads of graphs with self loops" if loops else graph.is_directed()
    takes_arcs = name in ("clustering", "average_clustering")
    return "directed graphs are not taken" if graph.is_directed() and not takes_arcs else True


def _can_compare(name: str, arguments: dict, G1: nx.Graph, G2: nx.Graph) -> bool | str:
    """Return whether a call with two graphs can be answered exactly; if not, the reason."""
    if G1.is_directed() != G2.is_directed() or G1.is_multigraph() != G2.is_multigraph():
        return "graphs of two kinds"
    if "could_be" in name:
        loops = any(node in graph.adj[node] for graph in (G1, G2) for node in graph)
        if G1.is_directed() or G1.is_multigraph() or loops:
            return "directed graphs, multigraphs and self loops are not taken"
        return "maximal cliques are not counted" if "c" in arguments.get("properties", "") else True
    if arguments.get("node_match") is not None or arguments.get("edge_match") is not None:
        return "functions that match nodes or edges are not taken; jaxmotif.compat.networkx.GraphMatcher takes them"
    return f"more than {MOST_NODES} nodes" if len(G1) > MOST_NODES else True


def should_run(name: str, args: Iterable, kwargs: dict) -> bool | str:
    """Return whether networkx should hand over a call by itself; for a small graph, return the reason against it."""
    arguments = inspect.signature(globals()[name]).bind(*args, **kwargs).arguments
    edges = max(_nx(arguments[key]).number_of_edges() for key in ("G", "G1", "G2") if key in arguments)
    smallest = nx.config.backends["jaxmotif"]["smallest"]
    # networkx counts the triangles of a graph of average size in about the time that it takes to convert it.
    times = 10 if name in ("triangles", "all_triangles") else 1
    least = f"{times} times " * (times > 1) + f"nx.config.backends.jaxmotif.smallest = {smallest}"
    return True if edges >= times * smallest else f"{edges} edges, fewer than {least}"


def _nx(graph: BackendGraph | nx.Graph) -> nx.Graph:
    return graph.nx if isinstance(graph, BackendGraph) else graph


def triadic_census(G: BackendGraph, nodelist: Collection[Node] | None = None) -> dict[str, int]:
    nodes = set(G.nx.nbunch_iter(nodelist))
    if nodelist is not None and len(nodelist) != len(nodes):
        raise ValueError("nodelist includes duplicate nodes or nodes not in G")
    census = _census(G)
    if len(nodes) < len(G):  # triads with a node of the list are all but those among the other nodes
        rest = _census(BackendGraph(G.nx.subgraph(set(G.nodes) - nodes)))
        census = {name: count - rest[name] for name, count in census.items()}
    return census


def _census(G: BackendGraph) -> dict[str, int]:
    """Count all triads of a graph."""
    from jaxmotif.motifs import subgraph_census
    from jaxmotif.patterns import class_names

    n, names = len(G), class_names(True)
    census: dict[str, int] = dict.fromkeys(TRIAD_NAMES, 0)
    if n < 3:
        return census
    for kind, count in subgraph_census(G.graph, 3).as_dict().items():
        census[names[kind].split()[0]] = count
    # Each joined pair of nodes lies in n - 2 triads. A triad that is not connected has only one joined pair, so these
    # triads are what is left when the connected ones are subtracted.
    keys = np.sort(G.edges, axis=1) @ np.array([n, 1])
    arcs = np.bincount(np.unique(keys, return_inverse=True)[1])
    pairs = {1: int((arcs == 1).sum()), 2: int((arcs == 2).sum())}
    census["012"] = pairs[1] * (n - 2) - sum(single * census[name] for name, single, _ in _JOINED)
    census["102"] = pairs[2] * (n - 2) - sum(double * census[name] for name, _, double in _JOINED)
    census["003"] = n * (n - 1) * (n - 2) // 6 - sum(census.values())
    return census


# The name of each connected triad begins with its numbers of two-way and of one-way pairs.
_JOINED = tuple((name, int(name[1]), int(name[0])) for name in TRIAD_NAMES[3:])


def triangles(G: BackendGraph, nodes: Nodes = None) -> Any:
    return G.pick(nodes, G.node_triangles.tolist())


def all_triangles(G: BackendGraph, nbunch: Nodes = None) -> Iterator[tuple[Node, Node, Node]]:
    from jaxmotif.matching import occurrences

    wanted = None if nbunch is None else set(G.nx.nbunch_iter(nbunch))
    for block in occurrences(G.graph, "triangle"):
        for u, v, w in block.tolist():
            triangle = G.nodes[u], G.nodes[v], G.nodes[w]
            if wanted is None or not wanted.isdisjoint(triangle):
                yield triangle


def clustering(G: BackendGraph, nodes: Nodes = None, weight: None = None) -> Any:
    if G.is_directed():  # Fagiolo's
        degrees = np.bincount(G.edges.ravel(), minlength=len(G))
        pairs = 2 * (degrees * (degrees - 1) - 2 * (degrees - G.joined.degrees))
        ends = G.directed_triangles
    else:
        ends, pairs = 2 * G.node_triangles, G.graph.degrees * (G.graph.degrees - 1)
    return G.pick(nodes, [0 if t == 0 else t / p for t, p in zip(ends.tolist(), pairs.tolist(), strict=True)])


def average_clustering(G: BackendGraph, nodes: Nodes = None, weight: None = None, count_zeros: bool = True) -> float:
    values = list(clustering(G, nodes).values())
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


def transitivity(G: BackendGraph) -> float:
    closed, pairs = 2 * int(G.node_triangles.sum()), int((G.graph.degrees * (G.graph.degrees - 1)).sum())
    return 0 if closed == 0 else closed / pairs


def square_clustering(G: BackendGraph, nodes: Nodes = None) -> Any:
    """Return the square clustering of Lind, González, Herrmann 2005, summed in the same way as in networkx."""
    from jaxmotif.graphlets._prepared import edge_cycles

    cycles = edge_cycles(G.graph, squares=True)
    squares, degrees = G.at_nodes(cycles["cyc"]) // 2, G.graph.degrees
    neighbour_degrees = np.zeros(len(G), np.int64)
    for u, v in (G.edges.T, G.edges.T[::-1]):
        np.add.at(neighbour_degrees, u, degrees[v])
    corners = G.at_nodes(cycles["t"])
    possible = neighbour_degrees * (degrees - 1) - degrees * (degrees - 1) - corners - squares
    pairs = zip(squares.tolist(), possible.tolist(), strict=True)
    return G.pick(nodes, [s / p if p > 0 else 0 for s, p in pairs])


def generalized_degree(G: BackendGraph, nodes: Nodes = None) -> Any:
    counters = [Counter() for _ in G.nodes]
    for (u, v), count in zip(G.edges.tolist(), G.edge_triangles.tolist(), strict=True):
        counters[u][count] += 1
        counters[v][count] += 1
    return G.pick(nodes, counters)


def vf2pp_all_isomorphisms(
    G1: BackendGraph, G2: BackendGraph, node_label: str | None = None, default_label: Hashable = None
) -> Iterator[dict[Node, Node]]:
    from jaxmotif.compat.networkx import mappings, same_degrees

    if not same_degrees(G1.nx, G2.nx):
        return
    allowed = G1.side.loops[:, None] == G2.side.loops[None]
    if node_label is not None:
        ids: dict[Hashable, int] = {}
        first, second = (
            np.array([ids.setdefault(graph.nx.nodes[v].get(node_label, default_label), len(ids)) for v in graph])
            for graph in (G1, G2)
        )
        if not np.array_equal(np.sort(first), np.sort(second)):
            return
        allowed &= first[:, None] == second[None]
    yield from mappings(G1.side, G2.side, True, None if allowed.all() else allowed)


def vf2pp_isomorphism(
    G1: BackendGraph, G2: BackendGraph, node_label: str | None = None, default_label: Hashable = None
) -> dict[Node, Node] | None:
    return next(vf2pp_all_isomorphisms(G1, G2, node_label, default_label), None)


def vf2pp_is_isomorphic(
    G1: BackendGraph, G2: BackendGraph, node_label: str | None = None, default_label: Hashable = None
) -> bool:
    return vf2pp_isomorphism(G1, G2, node_label, default_label) is not None


def is_isomorphic(G1: BackendGraph, G2: BackendGraph, node_match: None = None, edge_match: None = None) -> bool:
    return vf2pp_isomorphism(G1, G2) is not None


def could_be_isomorphic(G1: BackendGraph, G2: BackendGraph, *, properties: str = "dtc") -> bool:
    if len(G1) != len(G2):
        return False
    columns = []
    for graph in (G1, G2):
        values = [graph.graph.degrees] if "d" in properties else []
        if "t" in properties:
            values.append(graph.node_triangles)
        columns.append(sorted(zip(*(column.tolist() for column in values), strict=True)))
    return columns[0] == columns[1]


def fast_could_be_isomorphic(G1: BackendGraph, G2: BackendGraph) -> bool:
    return could_be_isomorphic(G1, G2, properties="dt")
