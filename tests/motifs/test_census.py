import dataclasses
import json
from collections import Counter
from itertools import combinations, permutations

import jax
import numpy as np
import pytest

from jaxmotif.graph import Graph, read_graph
from jaxmotif.kernels.census import NO_CODE
from jaxmotif.motifs import subgraph_census
from jaxmotif.motifs.classes import class_names
from jaxmotif.motifs.dyads import Alphabet, graph_slots, to_dyads
from jaxmotif.motifs.enumerate import CPU_SIZES, Sizes, _group, count_codes
from jaxmotif.patterns.canonical import canonical_string
from jaxmotif.patterns.pattern import Pattern


def random_graph(n, density, seed, directed, labels=0, edge_labels=0):
    rng = np.random.default_rng(seed)
    pairs = list(permutations(range(n), 2)) if directed else list(combinations(range(n), 2))
    edges = [pair for pair in pairs if rng.random() < density]
    return Graph.from_edges(
        np.array(edges, np.int64).reshape(-1, 2), n, directed,
        rng.integers(3, 3 + labels, n) if labels else None,
        rng.integers(1, 1 + edge_labels, len(edges)) if edge_labels else None,
    )  # fmt: skip


def brute_force(graph, size):
    whole = Pattern.from_graph(graph)
    counts = Counter()
    for nodes in combinations(range(graph.n), size):
        part = whole.relabel(nodes)
        if len(part.components()) == 1:
            counts[canonical_string(part)] += 1
    return dict(counts)


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (3, {"n": 12, "density": 0.2, "directed": True}),
        (5, {"n": 11, "density": 0.15, "directed": True}),
        (8, {"n": 10, "density": 0.25, "directed": True}),
        (3, {"n": 11, "density": 0.3, "directed": True, "labels": 3, "edge_labels": 2}),
        (4, {"n": 11, "density": 0.4, "directed": False, "labels": 2, "edge_labels": 3}),
        (4, {"n": 11, "density": 0.4, "directed": False, "edge_labels": 20}),
    ],
)
def test_brute_force(size, options):
    graph = random_graph(**options, seed=size)
    found = subgraph_census(graph, size)
    assert found.as_dict() == brute_force(graph, size)
    assert list(found.classes) == sorted(found.classes)


def test_participation_of_every_node():
    graph = random_graph(10, 0.2, 4, True)
    whole = Pattern.from_graph(graph)
    wanted = Counter()
    for nodes in combinations(range(graph.n), 4):
        part = whole.relabel(nodes)
        if len(part.components()) == 1:
            wanted.update((node, canonical_string(part)) for node in nodes)
    census = subgraph_census(graph, 4, per_node=True)
    assert census.as_dict() == subgraph_census(graph, 4).as_dict()
    found = {(v, c): census.per_node[v, i] for v in range(graph.n) for i, c in enumerate(census.classes)}
    assert {at: count for at, count in found.items() if count} == wanted


@pytest.mark.parametrize("matrix_bytes", [0, 1 << 20])
def test_tiny_tables_change_nothing(matrix_bytes):
    """Rows come and go at every level when tables hold almost nothing; hubs fill several."""
    star = [(0, v) for v in range(1, 30)] + [(v, v + 1) for v in range(1, 20)]
    graph = Graph.from_edges(star, directed=True)
    dyads, alphabet = to_dyads(graph, graph_slots(graph), matrix_bytes), Alphabet.of(graph)
    assert (dyads.matrix is None) == (matrix_bytes == 0)
    bits = alphabet.code_bits(5)
    whole = count_codes(dyads, 5, bits, "xla", CPU_SIZES)
    assert whole.counts.sum() > 20_000
    tiny = Sizes(block=64, table=128, codes=256, distinct=0)
    for sizes in (tiny, dataclasses.replace(tiny, distinct=8)) if matrix_bytes else (tiny,):
        found = count_codes(dyads, 5, bits, "xla", sizes)
        np.testing.assert_array_equal(found.codes, whole.codes)
        np.testing.assert_array_equal(found.counts, whole.counts)


@pytest.mark.parametrize("distinct", [4, 64])
@pytest.mark.parametrize("wide", [False, True])
def test_grouping_on_the_device(distinct, wide):
    """As NumPy groups, whether all distinct codes fit or not."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 20, 200).astype(np.uint32)
    codes[rng.random(200) < 0.3] = NO_CODE
    words = np.stack([np.where(codes == NO_CODE, codes, codes % 3), codes]) if wide else codes
    found, counts = _group(jax.numpy.asarray(words), distinct)
    real = codes[codes != NO_CODE].astype(np.uint64)
    wanted, times = np.unique(real + ((real % np.uint64(3)) << np.uint64(32)) if wide else real, return_counts=True)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(counts, times)


@pytest.mark.parametrize(("n", "edges"), [(0, []), (1, []), (2, [(0, 1)])])
def test_graphs_without_any(n, edges):
    assert subgraph_census(Graph.from_edges(np.array(edges, int).reshape(-1, 2), n), 3).total == 0


def test_triads_against_networkx():
    nx = pytest.importorskip("networkx")
    graph = random_graph(25, 0.3, 0, True)
    census = subgraph_census(graph, 3)
    wanted = nx.triadic_census(nx.DiGraph(graph.edge_list().tolist()))
    assert len(census.classes) == 13
    for name, count in zip(census.names, census.counts.tolist(), strict=True):
        assert wanted[name.split()[0]] == count


def test_names_are_of_different_classes():
    assert len(class_names(True)) == 22
    assert len(class_names(False)) == 9


@pytest.mark.parametrize(("name", "sizes"), [("social_prison67", (3, 4, 5)), ("yeast", (4,))])
def test_stored_counts(shared_data, name, sizes):
    stored = json.loads((shared_data / "directed" / "census.json").read_text())["graphs"][name]
    graph = read_graph(shared_data / "directed" / f"{name}.edges", directed=True)
    for size in sizes:
        assert subgraph_census(graph, size).as_dict() == stored[str(size)]["classes"]


@pytest.mark.parametrize("size", [1, 9])
def test_size_out_of_range(size):
    with pytest.raises(ValueError, match="size must be between 2 and 8"):
        subgraph_census(Graph.from_edges([(0, 1)]), size)


def test_too_many_labels():
    graph = Graph.from_edges([(i, i + 1) for i in range(40)], edge_labels=range(40), directed=True)
    with pytest.raises(ValueError, match="use fewer labels"):
        subgraph_census(graph, 5)
