"""What users do with result arrays: every idiom of the documentation, and laws of sums, where 32 bits would wrap."""

import ast
import itertools
import json
import operator
import re
from math import comb
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmotif
from jaxmotif import Graph
from jaxmotif.arrays import Int64
from jaxmotif.features import _patterns
from jaxmotif.graphlets import EdgeGraphlets, NodeOrbits
from jaxmotif.patterns import NODE_ORBIT_NAMES
from jaxmotif.patterns._orbits import NODE_NAMES_5
from tests.more import more

ROOT = Path(__file__).parents[1]
TAKEN = {"values", "to_numpy", "on_device"}
HUB = 5000
PAD = (2**14, 2**16)
MOST_NODES, MOST_EDGES, RING = 3 * 2**12, 2**14, 2**12


def star(leaves, center=0, first=1):
    return np.stack([np.full(leaves, center), np.arange(first, first + leaves)], axis=1)


def graph_of_hubs():
    """Two hubs of 5,000 neighbours, 1,000 of them shared, and a clique."""
    clique = list(itertools.combinations(range(9001, 9009), 2))
    edges = np.concatenate([star(HUB, 0, 1), star(HUB, 9000, 4001), clique, [(0, 9000), (0, 9001), (1, 2), (1, 3)]])
    return Graph.from_edges(edges, pad=PAD)


def examples():
    """The lines of Python that the documentation shows: pages, README, docstrings, notebooks, examples."""
    for path in [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", *ROOT.glob("jaxmotif/**/*.py")]:
        for line in path.read_text("utf-8").splitlines():
            if (found := re.match(r"\s*>>> (.*)", line)) is not None:
                yield found[1]
    for path in ROOT.glob("docs/notebooks/*.ipynb"):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield from "".join(cell["source"]).splitlines()
    for path in ROOT.glob("examples/*.py"):
        yield from map(str.strip, path.read_text("utf-8").splitlines())


def chain(node):
    """From an expression inwards, what each attribute, index and call is taken of."""
    while True:
        yield node
        if isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        else:
            return


def idioms():
    """What is done with arrays of results, as code about ``result``."""
    found = set()
    for line in examples():
        try:
            tree = ast.parse(line)
        except SyntaxError:  # the first line of several
            continue
        for node in ast.walk(tree):
            links = list(chain(node))
            taken = [x for x in links if isinstance(x, ast.Attribute) and x.attr in TAKEN]
            called = [x.func for x in links if isinstance(x, ast.Call)]
            if any(x.attr == "values" and x in called for x in taken):  # of a dictionary
                continue
            if taken and not isinstance(node, ast.Attribute):
                code, base = ast.unparse(node), ast.unparse(taken[-1].value)
                found.add(code.replace(base, "result"))
    return sorted(found)


class Exact:
    """A result whose arrays hold Python integers: what NumPy does with these cannot wrap."""

    def __init__(self, result):
        values = result.to_numpy() if isinstance(result, Int64) else result.values
        self.values = values if values.dtype.kind == "f" else np.array(values.tolist(), object).reshape(values.shape)
        for name in ("columns", "graph"):
            if hasattr(result, name):
                setattr(self, name, getattr(result, name))
        self.to_numpy = self.on_device = lambda: self.values


@pytest.fixture(scope="module")
def results():
    graph = graph_of_hubs()
    return {
        "node_orbits": jaxmotif.node_orbits(graph),
        "not induced": jaxmotif.node_orbits(graph, induced=False),
        "edge_graphlets": jaxmotif.edge_graphlets(graph),
        "pattern_features": jaxmotif.pattern_features([graph, [(0, 1), (1, 2)]], ["triangle", "3-star"], per="node"),
        "densities": jaxmotif.pattern_features(graph, ["triangle"], per="node", normalize="density"),
        "node_orbits of many": jaxmotif.node_orbits([graph, [(0, 1), (1, 2)]]),
        "Int64": jaxmotif.node_orbits(graph).on_device(),
    }


def plain(found):
    return found.tolist() if isinstance(found, np.ndarray | jax.Array | Int64 | np.generic) else found


@pytest.mark.parametrize("idiom", [code for code in idioms() if "dtype" not in code])
def test_an_idiom_of_the_documentation(idiom, results):
    """On every result for which it has a meaning."""
    done = 0
    for result in results.values():
        try:
            wanted = eval(idiom, {"result": Exact(result)})
        except (AttributeError, IndexError, ValueError, TypeError):  # no such column, or no such axis
            continue
        if hasattr(result, next(name for name in TAKEN if name in idiom)):
            assert plain(eval(idiom, {"result": result})) == plain(wanted)
            done += 1
    assert done


def test_the_documentation_has_idioms():
    found = idioms()
    assert len(found) >= 20
    for code in ("result.values[0, 7]", "result.values[:, 3].sum()", "result.on_device()"):
        assert code in found, found


def test_types_do_not_depend_on_the_graph(results):
    few = jaxmotif.node_orbits([(0, 1), (1, 2)])
    for result in (few, *(x for name, x in results.items() if name != "densities")):
        values = np.asarray(result)
        assert (type(values), values.dtype) == (np.ndarray, np.int64)
        if not isinstance(result, Int64):
            assert type(result.values) is np.ndarray
            assert result.values.dtype == np.int64
        if hasattr(result, "on_device"):
            assert type(result.on_device()) is Int64
            assert result.to_numpy() is result.values
            assert result.dtype == result.on_device().dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        few.values[0, 0] = 1


def test_the_sums_that_wrapped():
    stars = Graph.from_edges(np.concatenate([star(1500, 1501 * i, 1501 * i + 1) for i in range(8)]), pad=PAD)
    orbits = jaxmotif.node_orbits(stars)
    assert orbits.values[:, 7].sum() == orbits.on_device()[:, 7].sum() == 8 * comb(1500, 3) == 4_491_004_000
    assert (orbits.values[:, 3] - orbits.values[:, 0]).min() == -1500
    assert (orbits.on_device()[:, 3] - orbits.on_device()[:, 0]).min() == -1500


def test_jax_numpy_refuses_results_that_it_would_truncate(results):
    for name in results.keys() - {"edge_graphlets", "densities"}:
        with pytest.raises(TypeError, match=r"do not fit int32, .*astype\('float32'\)"):
            jnp.asarray(results[name])
    assert jnp.asarray(results["edge_graphlets"]).tolist() == results["edge_graphlets"].values.tolist()
    assert jnp.asarray(results["densities"]).dtype == jnp.float32
    assert jnp.asarray(jaxmotif.pattern_features([(0, 1), (1, 2)], ["edge"])).tolist() == [[2]]
    assert jnp.asarray(jaxmotif.node_orbits([(0, 1)])).tolist() == [[1] + [0] * 14] * 2
    assert jnp.asarray(jaxmotif.count_matches("edge", [(0, 1)])).tolist() == 2
    with pytest.raises(TypeError, match="JAX would compute in 32 bits"):  # though all counts fit
        jnp.log1p(jaxmotif.node_orbits([(0, 1)]).on_device())
    with pytest.raises(TypeError, match=f"MatchCount as a JAX array: Int64: values from {5000 * 4999 * 4998}"):
        jnp.asarray(jaxmotif.count_matches("3-star", Graph.from_edges(star(HUB))))
    with pytest.raises(TypeError, match="Census is a table"):
        jnp.asarray(jaxmotif.subgraph_census([(0, 1), (1, 2)], 3))


def test_participation_is_exact():
    found = jaxmotif.participation_counts("3-star", Graph.from_edges(star(HUB), 2**14, pad=PAD))
    assert found.dtype == np.int64
    assert found.max() == HUB * (HUB - 1) * (HUB - 2)
    assert found.sum() == 4 * HUB * (HUB - 1) * (HUB - 2)


class TestBeyond63Bits:
    """A table as an engine hands it over where counts, or their sum, pass 63 bits."""

    @pytest.mark.parametrize(
        ("largest", "kind"), [(2**61, np.int64), (2**62, object), (2**63, object), (2**80, object)]
    )
    def test_values(self, largest, kind):
        counts = np.zeros((3, 15), object if largest >= 2**63 else np.int64)
        counts[:, 7] = largest, largest - 1, 1
        for raw in (counts, *([] if largest >= 2**63 else [on_device(counts)])):
            found = NodeOrbits(NODE_ORBIT_NAMES, raw, 3, {})
            assert found.values.dtype == found.dtype == np.asarray(found).dtype == kind
            assert int(found.values.sum()) == 2 * largest
            assert int(found.values[2, 7] - found.values[0, 7]) == 1 - largest
            assert found.values[:, 7].tolist() == [largest, largest - 1, 1]
            assert list(found.to_pandas()["orbit-7"]) == [largest, largest - 1, 1]
            with pytest.raises(TypeError, match="JAX"):
                jnp.asarray(found)
            if largest >= 2**63:
                with pytest.raises(OverflowError, match="more than 63 bits; use Python integers, or floats"):
                    found.on_device()
                continue
            assert found.on_device().to_numpy().dtype == np.int64
            assert found.on_device()[:, 7].tolist() == [largest, largest - 1, 1]
            if kind is object:
                with pytest.raises(OverflowError):
                    found.on_device().sum()

    def test_many_graphs_of_which_one_is_beyond(self):
        found = EdgeGraphlets(("a",), np.array([[2**70], [1]], object), 2, Graph.from_edges([(0, 1), (1, 2)]), {})
        many = jaxmotif.arrays._present.PerGraph(("a",), found.values, np.array([0, 1, 2]), (), lambda i: found)
        assert many.values.tolist() == [[2**70], [1]]
        assert many.values.sum() == 2**70 + 1

    def test_features_of_orbits_that_are_beyond(self, monkeypatch):
        """Weighed sums, at nodes and of a whole graph."""
        raw = np.zeros((3, 15), object)
        raw[:, 7] = 2**62, 2**62, 5
        found = NodeOrbits(NODE_ORBIT_NAMES, raw.astype(np.int64), 3, {})
        monkeypatch.setattr(_patterns, "node_orbits", lambda *args, **options: found)
        at_nodes = jaxmotif.pattern_features([(0, 1), (1, 2)], ["3-star"], per="node").values
        assert at_nodes[:, 0].tolist() == [2**62, 2**62, 5]
        assert jaxmotif.pattern_features([(0, 1), (1, 2)], ["3-star"]).values.tolist() == [[2**63 + 5]]
        logs = jaxmotif.pattern_features([(0, 1), (1, 2)], ["3-star"], log=True).values
        np.testing.assert_allclose(logs, [[np.log(2.0**63)]])
        raw[:, 7] = 2**53 - 1, 2**53 + 1, 0  # no float is the second, and the nearest one is 2^53
        found = NodeOrbits(NODE_ORBIT_NAMES, raw.astype(np.int64), 3, {})
        at_nodes = jaxmotif.pattern_features([(0, 1), (1, 2)], ["3-star"], per="node").values
        assert at_nodes[:, 0].tolist() == [2**53 - 1, 2**53 + 1, 0]

    @pytest.mark.parametrize("leaves", [70_000, *more(90_000, 130_000)])
    def test_five_nodes_of_a_star(self, leaves):
        found = jaxmotif.node_orbits(Graph.from_edges(star(leaves)), size=5)
        orbit = NODE_NAMES_5.index("orbit-22"), NODE_NAMES_5.index("orbit-23")
        assert found.values.dtype == (np.int64 if leaves == 70_000 else object)
        assert int(found.values[0, orbit[1]]) == comb(leaves, 4)
        assert int(found.values[:, orbit[0]].sum()) == 4 * comb(leaves, 4)
        assert int(found.values.sum()) == sum(map(sum, found.values.tolist()))
        feature = jaxmotif.pattern_features(Graph.from_edges(star(leaves)), ["4-star"], per="node")
        assert int(feature.values.sum()) == 5 * comb(leaves, 4)


def on_device(counts):
    with jax.enable_x64(True):
        return jax.device_put(counts)


def random_graph(seed):
    """Stars, bicliques and cliques, some glued at their hubs."""
    rng = np.random.default_rng(seed)
    edges, used, hubs = [], 0, [0]
    for _ in range(int(rng.integers(1, 5))):
        kind, room = rng.integers(3) if used else 0, max(15, MOST_NODES - used - 20)
        glue = int(rng.choice(hubs)) if used and rng.random() < 0.6 else used
        first = used + (glue == used)
        if kind == 0:
            size = int(rng.integers(1 if used else 3500, min(6000, room)))  # C(3500, 3) > 2^32
            edges.append(star(size, glue, first))
        elif kind == 1:
            sides, size = int(rng.integers(1, 5)), int(rng.integers(1, min(3000, room)))
            ends = [glue, *range(first, first + sides)]
            edges.extend(star(size, end, first + sides) for end in ends)
            size += sides
        else:
            size = int(rng.integers(2, min(14, room)))
            edges.append(np.array(list(itertools.combinations([glue, *range(first, first + size)], 2))))
        hubs.append(glue)
        used = first + size
    edges = np.concatenate(edges)[rng.permutation(sum(map(len, edges)))][:MOST_EDGES]
    # A ring whose nodes are adjacent up to four steps apart fills up to the size of the graph of hubs: programs are
    # compiled once.
    ring = MOST_NODES + np.arange(RING)
    chords = np.concatenate([np.stack([ring, np.roll(ring, -step)], axis=1) for step in (1, 2, 3, 4)])
    return Graph.from_edges(np.concatenate([edges, chords[: MOST_EDGES - len(edges)]]), MOST_NODES + RING)


def check_sums(result, rng):
    """Sums of an array, on the host and the device, and differences of some rows, against Python integers."""
    values, whole = result.values, result.values.astype(object)
    assert values.dtype == np.int64
    arrays = [values] if not hasattr(result, "on_device") else [values, result.on_device()]
    some = np.union1d(values.sum(axis=1).argsort()[-30:], rng.integers(0, len(values), 30))
    order, (a, b) = rng.permutation(len(some)), rng.choice(values.shape[1], 2)
    for array in arrays:
        assert int(array.sum()) == whole.sum()
        assert plain(array.sum(0)) == whole.sum(axis=0).tolist()
        array, exact = array[some], whole[some]
        assert plain(array[:, a] - array[:, b]) == (exact[:, a] - exact[:, b]).tolist()
        assert plain(array[order] - array) == (exact[order] - exact).tolist()
        assert plain((array[order] - array).sum(1)) == (exact[order] - exact).sum(axis=1).tolist()
        assert plain(array[order] + array) == (exact[order] + exact).tolist()
        assert plain(array > array[order]) == (exact > exact[order]).tolist()
        assert int(array.max()) == exact.max(initial=0)
        np.testing.assert_array_equal(array.astype("float32"), exact.astype(np.int64).astype(np.float32))


@pytest.mark.parametrize("first", [0, *more(*range(3, 300, 3))])
def test_sums_of_random_graphs(first):
    largest = 0
    for seed in range(first, first + 3):
        graph, rng = random_graph(seed), np.random.default_rng(seed)
        nodes, edges = jaxmotif.node_orbits(graph), jaxmotif.edge_graphlets(graph)
        features = jaxmotif.pattern_features(graph, ["3-star", "triangle", "4-cycle"], per="node", induced=False)
        for result in (nodes, edges, features):
            check_sums(result, rng)
        # The tables tell of the graph what its own counts tell, Python integers that never were in an array.
        counts, orbits = nodes.counts, nodes.values
        for orbit, times, name in ((2, 1, "2-star"), (3, 3, "triangle"), (7, 1, "3-star"), (8, 4, "4-cycle"),
                                   (14, 4, "4-clique"), (11, 1, "tailed-triangle")):  # fmt: skip
            assert int(orbits[:, orbit].sum()) == int(nodes.on_device()[:, orbit].sum()) == times * counts[name]
        degrees = [int(d) for d in graph.degrees]
        assert (orbits[:, 2] + orbits[:, 3]).tolist() == [comb(d, 2) for d in degrees]
        assert (features.values[:, features.columns.index("3-star:0")]).tolist() == [comb(d, 3) for d in degrees]
        column = {name: edges.values[:, i] for i, name in enumerate(edges.columns)}
        ends = [degrees[u] + degrees[v] - 2 for u, v in edges.edges.tolist()]
        assert (column["2-star"] + 2 * column["triangle"]).tolist() == ends
        largest = max(largest, int(orbits.max()))
    assert largest > 2**32


def test_operators_of_tables_are_those_of_their_values(results):
    device, values = results["node_orbits"].on_device(), results["node_orbits"].values
    for compare in (operator.eq, operator.lt, operator.ge):
        assert compare(device, HUB).tolist() == compare(values, HUB).tolist()
    assert (values - device).tolist() == np.zeros_like(values).tolist()
    assert int(device[0, 7]) == int(values[0, 7]) > 2**32
