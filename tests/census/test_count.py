import dataclasses
import json
from collections import Counter
from itertools import combinations, permutations

import jax
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target, compiling_for, jit64, put64
from jaxmotif.census import _code_counts, _device, _engine
from jaxmotif.census._classes import Classifier
from jaxmotif.census._code_counts import distinct_from, sort_codes
from jaxmotif.census._engine import wide_codes
from jaxmotif.census._enumerate import count_classes, engine_type
from jaxmotif.census._job import start_places
from jaxmotif.census._pair_states import CPU_LEAST, Alphabet, CensusGraphs, census_graphs, graph_edges
from jaxmotif.census._sizes import Sizes
from jaxmotif.graph import Graph, read_graph
from jaxmotif.kernels._subgraphs import NO_CODE
from jaxmotif.kernels._switching import Ends
from jaxmotif.motifs import subgraph_census
from jaxmotif.motifs._graph_samples import LaneSample, sample_graphs
from jaxmotif.motifs._random_graphs import random_graphs
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._pattern import Pattern
from tests.more import more

CPU = jax.devices("cpu")[0]


def ready(graph, matrix_bytes=1 << 20, count=1) -> CensusGraphs:
    return census_graphs(graph, graph_edges(graph), matrix_bytes, CPU, count)


def random_graph(n, density, seed, directed, labels=0, edge_labels=0):
    rng = np.random.default_rng(seed)
    pairs = list(permutations(range(n), 2)) if directed else list(combinations(range(n), 2))
    edges = [pair for pair in pairs if rng.random() < density]
    return Graph.from_edges(
        np.array(edges, np.int64).reshape(-1, 2),
        n,
        directed,
        rng.integers(3, 3 + labels, n) if labels else None,
        rng.integers(1, 1 + edge_labels, len(edges)) if edge_labels else None,
    )


def connected_sets(graph, size):
    """All sets of nodes that induce a connected subgraph, each with its class."""
    whole = Pattern.from_graph(graph)
    classes = {}  # by the arrays of a subgraph, of which many are equal; None: it is not connected
    for nodes in combinations(range(graph.n), size):
        part = whole.relabel(nodes)
        arrays = part.adjacency, part.node_labels, part.edge_labels
        key = tuple(x.tobytes() for x in arrays if x is not None)
        if key not in classes:
            classes[key] = canonical_string(part) if len(part.components()) == 1 else None
        if classes[key] is not None:
            yield nodes, classes[key]


def brute_force(graph, size):
    return dict(Counter(name for _, name in connected_sets(graph, size)))


def by_node(graph, size):
    """How many subgraphs of each class hold each node."""
    return Counter((node, name) for nodes, name in connected_sets(graph, size) for node in nodes)


@pytest.mark.parametrize(
    ("size", "options"),
    [
        (2, {"n": 9, "density": 0.3, "directed": True, "labels": 2, "edge_labels": 2}),
        (8, {"n": 10, "density": 0.25, "directed": True}),
        (6, {"n": 9, "density": 0.25, "directed": True, "labels": 2}),  # 36 bits a code: just more than a word has
        (3, {"n": 11, "density": 0.3, "directed": True, "labels": 3, "edge_labels": 2}),
        *more(
            (6, {"n": 9, "density": 0.25, "directed": True}),  # 30 bits
            (4, {"n": 11, "density": 0.4, "directed": False, "edge_labels": 20}),
            (3, {"n": 12, "density": 0.2, "directed": True}),
            (5, {"n": 11, "density": 0.15, "directed": True}),
            (4, {"n": 11, "density": 0.4, "directed": False, "labels": 2, "edge_labels": 3}),
        ),
    ],
)
def test_brute_force(size, options):
    graph = random_graph(**options, seed=size)
    found = subgraph_census(graph, size)
    assert found.as_dict() == brute_force(graph, size)
    assert list(found.classes) == sorted(found.classes)


def test_participation_of_every_node():
    graph = random_graph(10, 0.2, 4, True)
    census = subgraph_census(graph, 4, per_node=True)
    assert census.per_node is not None
    assert census.as_dict() == subgraph_census(graph, 4).as_dict()
    found = {(v, c): census.per_node[v, i] for v in range(graph.n) for i, c in enumerate(census.classes)}
    assert {at: count for at, count in found.items() if count} == by_node(graph, 4)


@pytest.mark.parametrize("matrix_bytes", [0, 1 << 20])
def test_tiny_tables_change_nothing(matrix_bytes, monkeypatch):
    """Rows come and go at every level when tables hold almost nothing; hubs fill several, and outgrow a block."""
    star = [(0, v) for v in range(1, 15)] + [(v, v + 1) for v in range(1, 13)]
    graph = Graph.from_edges(star, directed=True)
    graphs = ready(graph, matrix_bytes)
    assert (graphs.dyads.matrix is None) == (matrix_bytes == 0)
    wanted = subgraph_census(graph, 5)
    assert wanted.total > 1_000  # of 128 in a table
    monkeypatch.setattr(_engine, "MERGE_AT", 20)  # The host merges equal codes again and again.
    tiny = Sizes(block=64, table=128, candidates=8, codes=256, distinct=0, least=16)
    # With a matrix, codes are counted on the device too: too many kinds, and fewer than there is room for.
    for sizes in (tiny, *(dataclasses.replace(tiny, distinct=kinds) for kinds in (8, 256) if matrix_bytes)):
        classifier = Classifier(Alphabet.of(graph), 5)
        counts = count_classes(graphs, 5, classifier, sizes)
        assert dict(zip(classifier.classes, counts[0].tolist(), strict=True)) == wanted.as_dict()


@pytest.mark.more
@pytest.mark.parametrize(
    ("matrix_bytes", "edge_labels", "keep"),
    [
        (0, 3, "bidegree"),
        *more(
            (1 << 20, 0, "degree"),
            (0, 3, "degree"),
            (1 << 20, 0, "bidegree"),
            (1 << 20, 3, "bidegree"),
            (1 << 20, 3, "degree"),
        ),
    ],
)
def test_rows_sorted_on_the_device(matrix_bytes, edge_labels, keep, monkeypatch):
    graph = random_graph(30, 0.1, 2, True, labels=2, edge_labels=edge_labels)
    sample = random_graphs(graph, 3, jax.random.key(1), keep)
    wanted = sample_graphs(sample, 4, matrix_bytes, CPU, CPU_LEAST).dyads
    for room in ("census._pair_states", "motifs._graph_samples"):
        monkeypatch.setattr(f"jaxmotif.{room}.target_of", lambda device: Target("tpu"))
    with compiling_for(Target("tpu")):
        found = sample_graphs(sample, 4, matrix_bytes, CPU, CPU_LEAST).dyads
        _same_rows(sample_graphs(_in_lanes(sample), 4, matrix_bytes, CPU, CPU_LEAST).dyads, wanted)
    _same_rows(found, wanted)


def test_random_graphs_without_edges_have_empty_rows_on_a_device():
    sample = random_graphs(Graph.from_edges([], 4, directed=True), 3, 0)
    with compiling_for(Target("tpu")):
        graphs = sample_graphs(_in_lanes(sample), 4, 1 << 20, CPU, CPU_LEAST)
    assert not np.asarray(graphs.dyads.offsets).any()


@pytest.mark.parametrize(("directed", "edge_labels"), [(False, 0), (True, 3), *more((False, 3))])
def test_rows_of_the_graph_itself_sorted_on_the_device(directed, edge_labels, monkeypatch):
    graph = random_graph(30, 0.1, 2, directed, labels=2, edge_labels=edge_labels)
    wanted = census_graphs(graph, graph_edges(graph), 1 << 20, CPU, least=CPU_LEAST).dyads
    monkeypatch.setattr("jaxmotif.census._pair_states.target_of", lambda device: Target("tpu"))
    with compiling_for(Target("tpu")):
        for edges in (None, graph_edges(graph)):  # where the graph lies, or sent
            _same_rows(census_graphs(graph, edges, 1 << 20, CPU, least=CPU_LEAST).dyads, wanted)
        monkeypatch.setattr("jaxmotif.census._pair_states.SHARED_SLOTS", 0)  # a large graph has programs of its own
        _same_rows(census_graphs(graph, None, 1 << 20, CPU, least=CPU_LEAST).dyads, wanted)


def _in_lanes(sample):
    """Random graphs as chains leave them on a device: the first in one part, the others in another, with padding."""
    parts = (sample.ends.rows(slice(0, 1)), sample.ends.rows(slice(1, None)))
    labels = sample.wiring.labels
    lanes = tuple(Ends(*(jax.numpy.pad(x.reshape(-1), (0, 7)) for x in part)) for part in parts)
    begins = np.array([0, *(labels + 7 + labels * np.arange(len(sample) - 1))])
    return LaneSample(sample.source, sample.wiring, lanes, begins)


def _same_rows(found, wanted):
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    used = int(wanted.offsets[-1])
    np.testing.assert_array_equal(found.offsets, wanted.offsets)
    for name in ("near", "states"):
        np.testing.assert_array_equal(getattr(found, name)[:used], getattr(wanted, name)[:used])
        assert getattr(found, name).shape == getattr(wanted, name).shape
    assert (found.matrix is None) == (wanted.matrix is None)
    if wanted.matrix is not None:
        np.testing.assert_array_equal(found.matrix, wanted.matrix)


def new_engine(graphs, size, classifier, distinct):
    sizes = Sizes(block=64, table=128, candidates=16, codes=256, distinct=distinct, least=16)
    return engine_type(sizes)(graphs, size, classifier, sizes)


@pytest.mark.parametrize(("labels", "distinct"), [(0, 0), (3, 4), *more((3, 64), (3, 0), (0, 4), (0, 64))])
def test_counts_of_several_graphs(labels, distinct):
    """On the host, on a device, and where the device finds too many different codes."""
    graphs = 3
    one = random_graph(7, 0.5, 1, True, labels=labels)
    several = ready(one, 0, graphs)
    rng = np.random.default_rng(0)
    every = np.array([c for c in range(1 << 6) if (c & 3 != 0) + (c >> 2 & 3 != 0) + (c >> 4 != 0) > 1])
    plain = every[rng.integers(0, every.size, 300)]
    if labels:  # one label for all three nodes
        plain = (plain & 15) | (plain >> 4) << 6
    graph, weights = rng.integers(0, graphs, 300), rng.integers(0, 2**40, 300)
    classifier = Classifier(Alphabet.of(one), 3)
    engine = new_engine(several, 3, classifier, distinct)
    assert not wide_codes(several, 3)
    codes = (plain << 2 | graph).astype(np.uint32)
    codes[::7] = NO_CODE
    engine.add(put64(codes, CPU), put64(weights, CPU))
    engine.add(put64(codes, CPU))
    counts = engine.counts()
    wanted = np.zeros_like(counts)
    for i in range(300):
        if codes[i] != NO_CODE:
            joined = plain[i] & 3 and plain[i] & 12  # the last two nodes are both new, and have an edge
            wanted[graph[i], classifier(plain[i : i + 1].astype(np.uint64))[0]] += weights[i] + 1
            if joined:
                wanted[graph[i], classifier((plain[i : i + 1] & ~12).astype(np.uint64))[0]] -= weights[i] + 1
    np.testing.assert_array_equal(counts, wanted)


@pytest.mark.parametrize("weighted", [False, True])
def test_codes_of_two_words_are_counted(weighted):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 5, (2, 40)).astype(np.uint32)
    codes[:, ::9], codes[0, 1::9] = NO_CODE, NO_CODE  # no code, and one whose high word alone is all ones
    weights = rng.integers(0, 3, 40)
    wanted = Counter()
    for high, low, times in zip(*codes.tolist(), weights.tolist() if weighted else [1] * 40, strict=True):
        wanted[high << 32 | low] += times * ((high, low) != (NO_CODE, NO_CODE))
    count = jit64(lambda *given: distinct_from(sort_codes(*given), np.int32(0), room=40))
    found = count(put64(codes, CPU), put64(weights, CPU) if weighted else None)
    number = int(found.number)
    assert found.codes[:number].tolist() == sorted(code for code, times in wanted.items() if times)
    assert found.times.tolist() == [times for _, times in sorted(wanted.items()) if times] + [0] * (40 - number)


@pytest.mark.parametrize(("distinct", "at_first"), [(64, 64), (4096, 4096), (64, 16), (4096, 16)])
def test_more_codes_than_a_window_holds(distinct, at_first, monkeypatch):
    """Forms that are known, some that are new, and more codes than expected."""
    monkeypatch.setattr(_device, "LEAST_DISTINCT", at_first)
    graphs, size = 3, 5
    one = random_graph(7, 0.5, 1, True)
    several = ready(one, 0, graphs)
    rng = np.random.default_rng(0)
    every = rng.integers(0, 1 << 20, 700) << 2 | rng.integers(0, graphs, 700)
    none = np.full(512, NO_CODE)
    some = [every[:40], every[20:80], every, every, every[600:], every[:40]]
    parts = [none, *(rng.choice(codes, 512) for codes in some), none]
    weights = rng.integers(0, 2**40, 512)

    def count(distinct):
        classifier = Classifier(Alphabet.of(one), size)
        engine = new_engine(several, size, classifier, distinct)
        for number, part in enumerate(parts):
            engine.add(put64(part.astype(np.uint32), CPU), put64(weights, CPU) if number % 2 else None)
        return {
            (c, g): n
            for g, row in enumerate(engine.counts())
            for c, n in zip(classifier.classes, row, strict=False)
            if n
        }

    wanted, taken, grouped = count(0), [], _code_counts._grouped

    def recorded(ordered, first, graph_bits, **static):
        taken.append(int(first))
        return grouped(ordered, first, graph_bits, **static)

    monkeypatch.setattr(_code_counts, "_grouped", recorded)
    assert count(distinct) == wanted
    assert len(wanted) > 900
    assert (len(taken) > len(parts)) == (at_first < 4096)  # what one window did not hold


def test_words_of_labels(tmp_path):
    file = tmp_path / "signs.tsv"
    file.write_text("a\tb\t+\nb\tc\t-\nc\ta\t+\n")
    census = subgraph_census(read_graph(file, directed=True, columns=(0, 1, 2)), 3)
    (found,) = census.words
    assert sorted(found.split(",")) == [*"++-", *"......"]
    assert census.classes[0].count("0") == 2
    assert census.ids == [None]


@pytest.mark.parametrize(("n", "edges"), [(0, []), (1, []), (2, [(0, 1)])])
def test_graphs_without_any(n, edges):
    assert subgraph_census(Graph.from_edges(np.array(edges, int).reshape(-1, 2), n), 3).total == 0


@pytest.mark.parametrize("edges", [[(0, 1), (2, 3)], [(0, 1), (0, 2), (1, 2)]], ids=["edges", "triangle"])
def test_components_that_are_too_small(edges):
    """Searches end where there is no candidate, or none that is new."""
    assert subgraph_census(Graph.from_edges(edges, 6), 6).total == 0


def test_triads_against_networkx():
    nx = pytest.importorskip("networkx")
    graph = random_graph(25, 0.3, 0, True)
    census = subgraph_census(graph, 3)
    wanted = nx.triadic_census(nx.DiGraph(graph.edge_list().tolist()))
    assert len(census.classes) == 13
    for name, count in zip(census.names, census.counts.tolist(), strict=True):
        assert wanted[name.split()[0]] == count
    assert census.ids == [int(text, 2) for text in census.classes]  # as mfinder and FANMOD number them


@pytest.mark.parametrize(("name", "sizes"), [("social_prison67", (3, 4, 5)), *more(("yeast", (4,)))])
def test_stored_counts(shared_data, name, sizes):
    stored = json.loads((shared_data / "directed" / "census.json").read_text())["graphs"][name]
    graph = read_graph(shared_data / "directed" / f"{name}.edges", directed=True)
    for size in sizes:
        assert subgraph_census(graph, size).as_dict() == stored[str(size)]["classes"]


@pytest.mark.slow
def test_every_stored_count(shared_data):
    """All networks and sizes up to 400 million subgraphs."""
    for name, sizes in json.loads((shared_data / "directed" / "census.json").read_text())["graphs"].items():
        graph = read_graph(shared_data / "directed" / f"{name}.edges", directed=True)
        for size, wanted in sizes.items():
            if wanted["total"] < 4e8:
                assert subgraph_census(graph, int(size)).as_dict() == wanted["classes"], (name, size)


@pytest.mark.parametrize("size", [1, 9])
def test_size_out_of_range(size):
    with pytest.raises(ValueError, match="size must be between 2 and 8"):
        subgraph_census(Graph.from_edges([(0, 1)]), size)


@pytest.mark.parametrize("graphs", [[(0, 1)], [[(0, 1)], [(0, 1)]]])
def test_per_node_is_true_or_false(graphs):
    with pytest.raises(TypeError, match="per_node must be True or False, got 'no'"):
        subgraph_census(graphs, 3, per_node="no")


def test_too_many_labels():
    graph = Graph.from_edges([(i, i + 1) for i in range(40)], edge_labels=range(40), directed=True)
    with pytest.raises(ValueError, match="use fewer labels"):
        subgraph_census(graph, 5)


@pytest.mark.parametrize("size", [3, *more(2)])
def test_nodes_and_edges_are_not_divided_like_the_rest(tmp_path, size):
    graph = random_graph(12, 0.3, 5, True)
    alone = subgraph_census(graph, size, per_node=True)
    kept = subgraph_census(graph, size, per_node=True, checkpoint=tmp_path)
    assert kept.as_dict() == alone.as_dict() == brute_force(graph, size)
    np.testing.assert_array_equal(np.asarray(kept.per_node), np.asarray(alone.per_node))


def test_a_checkpoint_is_of_one_graph(tmp_path):
    with pytest.raises(ValueError, match="they take no checkpoint"):
        subgraph_census([[(0, 1), (1, 2)], [(0, 1)]], 3, checkpoint=tmp_path)
    subgraph_census(random_graph(12, 0.3, 5, True), 3, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="other input or options"):
        subgraph_census(random_graph(12, 0.3, 6, True), 3, checkpoint=tmp_path)


def test_no_subgraphs_in_a_job(tmp_path):
    found = subgraph_census(Graph.from_edges(np.array([[0, 1]]), 4), 3, per_node=True, checkpoint=tmp_path)
    assert (found.classes, found.total, np.asarray(found.per_node).shape) == ((), 0, (4, 0))


@pytest.mark.parametrize("size", [3, 8])
def test_every_place_has_its_share_of_the_work(size):
    """Also where the work is more than 64 bits hold, so that no place is left out when a search is divided."""
    star = Graph.from_edges([(0, v) for v in range(1, 3000)])
    work, _ = start_places(star, size)
    assert work[0] == 0
    assert np.diff(work).min() > 0
    assert 0.9 * 2**40 < work[-1] <= 2**40 + len(work)
