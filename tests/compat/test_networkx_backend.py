"""The networkx backend: networkx's own tests through it, its gates, and a graph too large for the small path."""

import subprocess
import sys
from importlib.metadata import entry_points

import numpy as np
import pytest

nx = pytest.importorskip("networkx")

from jaxmotif.compat import _networkx_backend as backend  # noqa: E402
from jaxmotif.compat._networkx_info import get_info  # noqa: E402

FUNCTIONS = get_info()["functions"]

THEIRS = """
import collections, os, sys
os.environ.update(NETWORKX_TEST_BACKEND="jaxmotif", NETWORKX_FALLBACK_TO_NX="1")
from pathlib import Path
import networkx, pytest
from jaxmotif.compat import _networkx_backend as backend
from jaxmotif.compat._networkx_info import get_info
calls, inside = collections.Counter(), []
def counted(name, function):
    def call(*args, **kwargs):
        calls[name] += not inside  # those that networkx makes, not those of functions here among themselves
        inside.append(name)
        try:
            return function(*args, **kwargs)
        finally:
            inside.pop()
    call.__signature__ = backend.inspect.signature(function)
    return call
for name in get_info()["functions"]:
    setattr(backend, name, counted(name, getattr(backend, name)))
root = Path(networkx.__file__).parent / "algorithms"
files = [*root.glob("tests/test_triads.py"), *root.glob("tests/test_cluster.py"),
         *root.glob("isomorphism/tests/test_vf2pp*.py"), *root.glob("isomorphism/tests/test_isomorphism*.py")]
# The largest of three random graphs takes more than half of the time.
options = ["-q", "-k", "not random_graph[10]", "-c", os.devnull, "--rootdir", str(root), "-p", "no:cacheprovider"]
options += ["-p", "no:xdist", "-W", "ignore"]
status = pytest.main([*options, *map(str, files)])
print(len(files), int(status), *(f"{name}={count}" for name, count in calls.items()))
"""


installed = pytest.mark.skipif(
    "jaxmotif" not in entry_points(group="networkx.backends").names,
    reason="the entry points are those of the installed package: pip install -e .",
)


@installed
def test_networkx_passes_its_own_tests():
    done = subprocess.run([sys.executable, "-c", THEIRS], capture_output=True, text=True, timeout=600)
    files, status, *calls = done.stdout.splitlines()[-1].split()
    assert (files, status) == ("5", "0"), done.stdout[-5000:] + done.stderr[-1000:]
    counts = {name: int(count) for name, count in (call.split("=") for call in calls)}
    assert set(counts) == set(FUNCTIONS)
    assert sum(counts.values()) >= 150


def test_importing_networkx_imports_no_jax():
    code = "import sys, networkx; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert all(callable(getattr(backend, name)) for name in FUNCTIONS)


@pytest.fixture(scope="module")
def directed():
    graph = nx.gnp_random_graph(60, 0.08, seed=3, directed=True)
    graph.add_edges_from([(v, u) for u, v in list(graph.edges)[::3]])
    return nx.relabel_nodes(graph, {v: f"v{v}" for v in graph})


def same(name, graph, *args, **kwargs):
    given, expected = backend.convert_from_nx(graph), getattr(nx, name)(graph, *args, **kwargs)
    result = getattr(backend, name)(given, *args, **kwargs)
    if isinstance(expected, dict):
        assert list(result) == list(expected)
        assert all(result[key] == pytest.approx(expected[key], rel=1e-14) for key in expected), name
    else:
        assert result == pytest.approx(expected, rel=1e-14), name


def test_triads_of_a_larger_graph(directed):
    same("triadic_census", directed)
    same("triadic_census", directed, list(directed)[:25])
    same("triadic_census", nx.DiGraph([(0, 1)]))
    with pytest.raises(ValueError, match="duplicate nodes or nodes not in G"):
        backend.triadic_census(backend.convert_from_nx(directed), ["v3", "v3"])


def test_clustering_of_a_larger_graph_with_loops(directed):
    graph = directed.to_undirected()
    graph.add_edges_from([("v0", "v0"), ("v7", "v7")])
    graph.add_node("alone")
    for name in ("triangles", "clustering", "square_clustering", "average_clustering", "transitivity"):
        same(name, graph)
        same(name, nx.empty_graph(3))
    assert backend.generalized_degree(backend.convert_from_nx(graph)) == nx.generalized_degree(graph)
    same("triangles", graph, ["v3", "v9", "nobody"])
    same("clustering", graph, "v3")
    found = list(backend.all_triangles(backend.convert_from_nx(graph), ["v3", "v4"]))
    assert sorted(map(sorted, found)) == sorted(map(sorted, nx.all_triangles(graph, ["v3", "v4"])))
    assert found


def test_directed_clustering_of_a_larger_graph_with_loops(directed):
    graph = directed.copy()
    graph.add_edges_from([("v0", "v0"), ("v7", "v7")])
    graph.add_node("alone")
    same("clustering", graph)
    same("clustering", graph, ["v3", "v9"])
    same("average_clustering", graph, count_zeros=False)
    assert max(nx.clustering(graph).values()) > 0
    same("clustering", nx.DiGraph([(0, 1), (1, 2), (2, 0), (0, 2)]))
    same("clustering", nx.DiGraph([(0, 1)]))


def test_gates():
    simple, arcs, empty = nx.path_graph(3), nx.DiGraph([(0, 1)]), nx.Graph()
    loop = nx.DiGraph([(0, 0), (0, 1)])
    for name, args, kwargs, allowed in (
        ("triangles", (simple,), {}, True),
        ("triangles", (nx.MultiGraph(simple),), {}, False),
        ("triangles", (empty,), {}, False),
        ("clustering", (arcs,), {}, True),
        ("average_clustering", (nx.MultiDiGraph(arcs),), {}, False),
        ("square_clustering", (arcs,), {}, False),
        ("transitivity", (arcs,), {}, False),
        ("clustering", (simple,), {"weight": "w"}, False),
        ("triadic_census", (arcs,), {}, True),
        ("triadic_census", (loop,), {}, False),
        ("triadic_census", (simple,), {}, False),
        ("is_isomorphic", (simple, simple), {}, True),
        ("is_isomorphic", (simple, arcs), {}, False),
        ("is_isomorphic", (simple, simple), {"node_match": lambda a, b: True}, False),
        ("vf2pp_isomorphism", (nx.path_graph(2000), nx.path_graph(2000)), {}, False),
        ("could_be_isomorphic", (simple, simple), {}, False),
        ("could_be_isomorphic", (simple, simple), {"properties": "dt"}, True),
        ("could_be_isomorphic", (simple, nx.Graph([(0, 0), (0, 1)])), {"properties": "dt"}, False),
    ):
        assert (backend.can_run(name, args, kwargs) is True) == allowed, (name, args, kwargs)


@installed
def test_small_graphs_stay_with_networkx(monkeypatch):
    few, many = nx.path_graph(5), nx.complete_graph(6)
    monkeypatch.setattr(nx.config.backends.jaxmotif, "smallest", 10)
    assert "fewer" in str(backend.should_run("triangles", (few,), {}))
    assert "fewer" in str(backend.should_run("transitivity", (few,), {}))
    assert backend.should_run("transitivity", (many,), {}) is True
    assert "fewer than 10 times" in str(backend.should_run("triangles", (many,), {}))
    assert backend.should_run("triangles", (nx.complete_graph(15),), {}) is True
    assert backend.should_run("is_isomorphic", (few, many), {}) is True


def test_isomorphism_of_multigraphs_with_labels_and_loops():
    rng = np.random.default_rng(1)
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((v, {"kind": v % 2}) for v in range(8))
    graph.add_edges_from(rng.integers(0, 8, (20, 2)).tolist())
    names = dict(enumerate("hgfedcba"))
    other = nx.relabel_nodes(graph, names)
    first, second = backend.convert_from_nx(graph), backend.convert_from_nx(other)
    theirs = list(nx.vf2pp_all_isomorphisms(graph, other, "kind"))
    assert list(backend.vf2pp_all_isomorphisms(first, second, "kind")) == theirs
    assert names in theirs
    more_kinds = other.copy()
    more_kinds.nodes["a"]["kind"] = 2
    assert not backend.vf2pp_is_isomorphic(first, backend.convert_from_nx(more_kinds), "kind")
    u, v, _ = next(edge for edge in other.edges if edge[0] != edge[1])
    other.add_edge(u, v)
    assert not backend.is_isomorphic(first, backend.convert_from_nx(other))


def test_graphs_that_could_be_isomorphic():
    """Equal degrees, but two triangles or none; another number of nodes; and new names alone."""
    ring = nx.cycle_graph(6)
    others = nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)), nx.path_graph(5), nx.cycle_graph("fdbace")
    for other, answers in zip(others, ((True, False), (False, False), (True, True)), strict=True):
        given = [backend.convert_from_nx(graph) for graph in (ring, other)]
        assert backend.could_be_isomorphic(*given, properties="d") == nx.faster_could_be_isomorphic(ring, other)
        found = backend.could_be_isomorphic(*given, properties="d"), backend.fast_could_be_isomorphic(*given)
        assert found == answers
        assert found[1] == nx.fast_could_be_isomorphic(ring, other)


def test_views_of_graphs_that_change():
    """A view does not learn that networkx has taken a node out of its graph."""
    graph = nx.complete_graph(5)
    for view in (graph.subgraph([0, 1, 2, 3]), graph.to_directed(as_view=True).to_undirected(as_view=True)):
        before = nx.triangles(view, backend="jaxmotif")
        graph.remove_node(min(graph))
        assert nx.triangles(view, backend="jaxmotif") == nx.triangles(view) != before
