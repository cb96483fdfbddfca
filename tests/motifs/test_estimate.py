"""Estimated censuses against exact ones, trees against brute force, and the sampler's uniformity."""

import dataclasses
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise
from math import factorial
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from scipy import stats

from jaxmotif import datasets, estimate_census, sample_subgraphs, subgraph_census
from jaxmotif.arrays._compile import Target, compiling_for, put64
from jaxmotif.census import _code_counts
from jaxmotif.census._classes import normal_codes
from jaxmotif.census._pair_states import Alphabet
from jaxmotif.devices import _memory, _progress, _record
from jaxmotif.devices._ranges import Span, cut
from jaxmotif.graph import Graph
from jaxmotif.kernels._pair_index import PairIndex, bits_for
from jaxmotif.kernels._subgraphs import Codes, Dyads
from jaxmotif.kernels._tree_maps import Maps, Order
from jaxmotif.motifs import _estimate, _proposals
from jaxmotif.motifs._estimate import binomial_interval, by_class, expected_hits, gamma_interval, trees
from jaxmotif.motifs._proposals import LIMITS, Draws, DrawTask, thirds
from jaxmotif.patterns import Pattern, canonical_string, named_pattern
from tests.more import more


@pytest.fixture(scope="module")
def karate():
    return datasets.load("karate")


@pytest.fixture(scope="module")
def alone(karate):
    """Estimates by one device that is never interrupted."""
    return estimate_census(karate, 4, 300_000, key=5, devices=1)


def labelled_digraph():
    rng = np.random.default_rng(3)
    arcs = rng.integers(0, 25, (90, 2))
    return Graph.from_edges(arcs[arcs[:, 0] != arcs[:, 1]], 25, True, rng.integers(0, 2, 25))


def brute_force_trees(near, limit):
    """Rooted spanning trees: sets of k - 1 edges that connect, by root and children a node."""
    k = len(near)
    edges = [(u, v) for u, v in combinations(range(k), 2) if near[u, v]]
    count = 0
    for chosen in combinations(edges, k - 1):
        for root in range(k):
            parent, order = {root: root}, [root]
            for u in order:
                for a, b in chosen:
                    v = b if a == u else a if b == u else None
                    if v is not None and v not in parent:
                        parent[v] = u
                        order.append(v)
            children = Counter(parent[v] for v in order[1:])
            count += len(order) == k and (limit == 0 or max(children.values()) <= limit)
    return count


@pytest.mark.parametrize("size", [3, 5])
def test_trees_are_those_of_brute_force(size):
    rng = np.random.default_rng(size)
    upper = np.triu(rng.random((12, size, size)) < 0.7, 1)
    near = upper | upper.transpose(0, 2, 1)
    for limit in LIMITS:
        assert trees(near, limit).tolist() == [brute_force_trees(one, limit) for one in near]


@pytest.mark.parametrize(("make", "size"), [(labelled_digraph, 3), *more((lambda: datasets.load("karate"), 4))])
def test_a_graph_without_a_matrix_gives_the_same_bits(make, size, monkeypatch):
    draws = Draws(make(), size, (20_000,) * 3, 5)
    with_matrix = DrawTask(draws, jax.devices()[0], None)
    monkeypatch.setattr(_proposals, "MATRIX_BYTES", (0, 0))
    without = DrawTask(draws, jax.devices()[0], None)
    assert (with_matrix.sampler.index is None, without.sampler.graphs.dyads.matrix) == (True, None)
    found = []
    for task in (with_matrix, without):
        task.step(Span(0, int(draws.starts[-1])))
        found.append(task.collect())
    for name, values in found[0].items():
        np.testing.assert_array_equal(values, found[1][name])


def test_trees_of_complete_graphs():
    assert trees(~np.eye(8, dtype=bool)[None], 0).tolist() == [8**7]
    assert trees(~np.eye(8, dtype=bool)[None], 1).tolist() == [40320]
    # Of the largest size, with two children a node at most: T = x (1 + T + T^2 / 2) generates them.
    shares = [Fraction(0), Fraction(1)]
    for n in range(1, 10):
        shares.append(shares[n] + sum(shares[i] * shares[n - i] for i in range(1, n)) / 2)
    assert trees(~np.eye(10, dtype=bool)[None], 2).tolist() == [shares[10] * factorial(10)]


def of_twelve_nodes():
    edges = np.argwhere(np.triu(np.random.default_rng(4).random((12, 12)) < 0.6, 1))
    return Graph.from_edges(edges, 12, node_labels=np.arange(12) % 2)


def exact_counts(graph, size):
    """By enumeration; of sizes that no census counts, of all sets of nodes."""
    if size <= 8:
        return subgraph_census(graph, size).as_dict()
    near, labels = adjacency(graph) > 0, np.asarray(graph.node_labels)
    shapes = (Pattern(near[np.ix_(s, s)], labels[list(s)], None, False) for s in combinations(range(graph.n), size))
    return Counter(canonical_string(shape) for shape in shapes if len(shape.components()) == 1)


@pytest.mark.parametrize(
    ("make", "size", "samples"),
    [
        (lambda: datasets.load("karate"), 4, 100_000),
        (labelled_digraph, 3, 100_000),
        *more((lambda: datasets.load("karate"), 6, 100_000), (of_twelve_nodes, 10, 200_000)),
    ],
)
def test_hits_are_those_expected_of_the_exact_counts(make, size, samples):
    graph = make()
    exact = exact_counts(graph, size)
    found = estimate_census(graph, size, samples, key=7)
    assert set(found.classes) <= set(exact)
    shapes = [named_pattern(text, graph.directed).adjacency for text in exact]
    rate = expected_hits(np.array([a | a.T for a in shapes]), found.samples, found.maps)
    expected = rate * np.array(list(exact.values()))
    hits = dict(zip(found.classes, found.hits.tolist(), strict=True))
    seen = np.array([hits.get(name, 0) for name in exact])
    often = expected >= 5
    # The rare classes together, and the maps that are no subgraphs, are cells too.
    o = np.append(seen[often], [seen[~often].sum(), samples - seen.sum()])
    e = np.append(expected[often], [expected[~often].sum(), samples - expected.sum()])
    assert stats.chi2.sf(((o - e) ** 2 / np.maximum(e, 1e-9))[e > 0].sum(), (e > 0).sum() - 1) > 1e-3
    assert sum(found.accepted) == found.hits.sum()
    truth = np.array([exact[name] for name in found.classes])
    assert np.mean((found.low <= truth) & (truth <= found.high)) > 0.8
    assert abs(found.total - sum(exact.values())) < 4 * (found.total_high - found.total_low) / 3.9
    missed = set(exact) - set(hits)
    assert all(exact[name] <= found.upper_bound(name) for name in missed)


def test_maps_of_paths_are_walks(karate):
    near = named_pattern("".join(map(str, adjacency(karate).ravel())), False).adjacency.astype(np.int64)
    walks = np.linalg.matrix_power(near, 3).sum()
    found = estimate_census(karate, 4, 100)
    assert found.maps[2] == pytest.approx(walks, rel=1e-6)
    # A root with three leaves, in any order; one with a child and that with two; a chain; and a root of two subtrees.
    degree = near.sum(axis=1)
    forked = (near @ (degree**2)).sum() / 2
    unlike = (degree * (near @ degree)).sum()
    assert found.maps[0] == pytest.approx((degree**3).sum() / 6 + forked + walks + unlike, rel=1e-6)
    assert found.maps[1] == pytest.approx(forked + walks + unlike, rel=1e-6)


def adjacency(graph):
    near = np.zeros((graph.n, graph.n), np.int64)
    u, v = graph.edge_list().T
    near[u, v] = near[v, u] = 1
    return near


def same(a, b):
    assert (a.classes, a.hits.tolist(), a.counts.tolist()) == (b.classes, b.hits.tolist(), b.counts.tolist())
    assert (a.low.tolist(), a.high.tolist(), a.total_high) == (b.low.tolist(), b.high.tolist(), b.total_high)


def test_same_bits_on_any_devices_and_after_a_kill(karate, alone, tmp_path, monkeypatch):
    same(alone, estimate_census(karate, 4, 300_000, key=5, devices=2))
    monkeypatch.setattr(_record, "SAVE_SECONDS", 0.0)
    whole, calls = DrawTask.step, []

    def killed(self, span):
        calls.append(span)
        if len(calls) == 4:
            raise KeyboardInterrupt
        whole(self, span)

    monkeypatch.setattr(DrawTask, "step", killed)
    with pytest.raises(KeyboardInterrupt):
        estimate_census(karate, 4, 300_000, key=5, devices=1, checkpoint=tmp_path)
    assert list(tmp_path.glob("*.checkpoint"))
    same(alone, estimate_census(karate, 4, 300_000, key=5, devices=1, checkpoint=tmp_path))
    assert len(calls) == 21 + 1  # as many blocks of draws: those of three steps are not done again
    with pytest.raises(ValueError, match="checkpoint"):
        estimate_census(karate, 4, 300_000, key=6, devices=1, checkpoint=tmp_path)


def test_a_step_that_runs_out_of_memory_counts_once(karate, alone, monkeypatch):
    monkeypatch.setattr(_proposals, "LANES", (1 << 15, 1 << 15))
    whole, calls = _proposals.Sampler.maps, []

    def maps(self, number, first, stop):
        for drawn in whole(self, number, first, stop):
            calls.append(self.lanes)
            if len(calls) == 7:  # of the second unit, when some of it has been counted
                raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")
            yield drawn

    monkeypatch.setattr(_proposals.Sampler, "maps", maps)
    monkeypatch.setattr(_estimate, "UNITS", 3)
    found = estimate_census(karate, 4, 300_000, key=5, devices=1)
    same(alone, found)
    assert set(calls) == {1 << 15, 1 << 14}
    assert "16384 maps at a time" in found.notes[0]


def test_a_collection_that_runs_out_of_memory_counts_once(karate, alone, monkeypatch):
    """It gives up what it had, so that it is not tried again but all is drawn again."""
    monkeypatch.setattr(_proposals, "LANES", (1 << 15, 1 << 15))
    whole, calls = DrawTask.collect, []

    def run_out():
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")

    def collect(self):
        calls.append(self)
        if len(calls) == 1:
            self._ahead = run_out  # as where the last maps did not fit
        return whole(self)

    monkeypatch.setattr(DrawTask, "collect", collect)
    found = estimate_census(karate, 4, 300_000, key=5, devices=1)
    same(alone, found)
    assert len(calls) == 2
    assert "16384 maps at a time" in found.notes[0]


@pytest.mark.parametrize("for_good", [True, *more(False)])
def test_the_end_of_a_stretch_that_runs_out_of_memory_in_the_next_counts_once(for_good, karate, alone, monkeypatch):
    monkeypatch.setattr(_proposals, "LANES", (1 << 15, 1 << 15))
    monkeypatch.setattr(_estimate, "UNITS", 3)
    whole, seen, lost = _proposals._sorted_codes, [], []

    def sorted_codes(drawn):
        seen.append(drawn)
        if len(seen) == 4:  # the last of the first unit, in the second
            lost.append(drawn)
        if any(drawn is x for x in lost) and (for_good or len(seen) == 4):
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")
        return whole(drawn)

    monkeypatch.setattr(_proposals, "_sorted_codes", sorted_codes)
    found = estimate_census(karate, 4, 300_000, key=5, devices=1)
    same(alone, found)
    assert len(lost) == 1
    assert "16384 maps at a time" in found.notes[0]


def test_codes_grouped_on_a_device_are_those_of_the_host(karate):
    draws = Draws(karate, 4, (20_000,) * 3, 11)
    counted = []
    for on_host in (True, False):
        task = DrawTask(draws, jax.devices()[0], None)
        task._on_host = on_host
        task.step(Span(1, 5))
        found = task.collect()
        counted.append(by_class(Alphabet.of(draws.graph), 4, found["codes"], found["times"]))
    assert counted[0][0] == counted[1][0]
    assert counted[0][2].tolist() == counted[1][2].tolist()
    assert counted[0][2].sum() > 10_000


def test_tables_that_take_all_memory_leave_draws_as_they_are(karate, monkeypatch):
    monkeypatch.setattr(Target, "is_accelerator", property(lambda self: True))
    monkeypatch.setattr(_memory, "default_memory", lambda device: 1 << 20)
    draws, device = Draws(karate, 4, (1, 0, 0), 5), jax.devices()[0]
    assert _proposals.Sampler(draws, device, None).lanes == _proposals.LANES[True]
    assert _proposals.Sampler(draws, device, 45 << 20).lanes == _proposals.BLOCK


def test_more_different_codes_than_a_device_looks_at_together(monkeypatch):
    monkeypatch.setattr(_code_counts, "NORMAL_AT_ONCE", 96)
    form, drawn = Alphabet(False, None, None).codes, np.random.default_rng(0).integers(0, 1 << 10, 1500, np.uint64)
    drawn[::7] = _proposals.NO_CODE
    codes, times = _code_counts.grouped_codes(put64(drawn, jax.devices()[0]), form, 5)()
    normal = normal_codes(np, drawn[drawn != _proposals.NO_CODE], form, 5)
    assert len(set(drawn.tolist())) > 1500 // 8
    for ours, theirs in zip((codes, times), np.unique(normal, return_counts=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_draw_depends_neither_on_how_many_are_drawn_at_once_nor_on_the_form(karate):
    draws = Draws(karate, 3, (30_000, 0, 0), 3)
    sampler = _proposals.Sampler(draws, jax.devices()[0], None)

    def codes():
        return np.concatenate([np.asarray(codes) for codes, _ in sampler.maps(0, 0, 30_000)])[:30_000]

    wide = codes()
    sampler.lanes = 1 << 13
    assert (wide == codes()).all()
    with compiling_for(Target("tpu")):
        assert (wide == codes()).all()


def test_intervals():
    low, high = binomial_interval(np.array([0, 7, 50]), 50, 0.9)
    for at, hits in enumerate((0, 7, 50)):
        exact = stats.binomtest(hits, 50).proportion_ci(0.9, "exact")
        assert (low[at] / 50, high[at] / 50) == pytest.approx((exact.low, exact.high))
    # Equal weights: Garwood's interval of a Poisson mean.
    ends = gamma_interval(20.0, 40.0, 2.0, 0.95)
    assert ends == pytest.approx((stats.chi2.ppf(0.025, 20), stats.chi2.ppf(0.975, 22)))


@pytest.mark.parametrize("level", [1 - 1e-14, 1 - 2.0**-53])
def test_intervals_of_levels_near_one(level):
    """The complement of such a tail would be rounded to 1, of which all is below."""
    low, high = binomial_interval(np.array([0, 7]), 50, level)
    tail = (1 - level) / 2
    assert high / 50 == pytest.approx([stats.beta.isf(tail, 1, 50), stats.beta.isf(tail, 8, 43)], rel=1e-9)
    assert low[1] / 50 == pytest.approx(stats.beta.ppf(tail, 7, 44), rel=1e-9)
    ends = gamma_interval(20.0, 40.0, 2.0, level)
    assert ends == pytest.approx((stats.chi2.ppf(tail, 20), stats.chi2.isf(tail, 22)), rel=1e-9)


def test_an_error_at_a_level_near_one(karate):
    found = estimate_census(karate, 3, error=0.3, level=1 - 2.0**-53, key=0)
    assert np.isfinite(found.high).all()
    assert (found.low <= found.counts).all()
    assert (found.counts <= found.high).all()


def test_the_meter_shows_an_interval(karate, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(_progress, "PLAIN_SECONDS", 0.0)
    monkeypatch.setattr(_progress, "FIRST_SECONDS", 60.0)  # no line before there is an interval
    monkeypatch.setattr(_record, "SAVE_SECONDS", 0.0)  # what is handed in is part of it
    monkeypatch.setattr(_estimate, "PAUSE", 0)
    found = estimate_census(karate, 4, 100_000, key=5, devices=1, progress=True, checkpoint=tmp_path)
    lines = capsys.readouterr().err.splitlines()
    widths = [float(re.search(r", largest class \+- (\S+) %$", line)[1]) for line in lines]
    most = found.counts.argmax()
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) > 2
    assert widths[-1] == pytest.approx(50 * (found.high - found.low)[most] / found.counts[most], rel=0.05)


def test_the_meter_has_nothing_to_show_before_a_subgraph_is_met(karate):
    found = estimate_census(karate, 4, 1000, key=5)
    none = np.zeros(0, np.int64)
    parts = [{"codes": none, "times": none, "drawn": 0, "accepted": 0, "maps": 0.0}] * 2
    text = _estimate._SoFar(lambda arrays: dataclasses.replace(found, classes=(), counts=none))
    assert text({}) == text(parts[0]) == ""
    text.tasks.append(SimpleNamespace(parts=parts))
    assert text({}) == ""


@pytest.mark.parametrize("devices", [1, 2, 3, 8])
@pytest.mark.parametrize("samples", [10**6, 10**8, 10**9, 2**30])
def test_nothing_is_drawn_for_nothing(karate, devices, samples):
    at_once, draws = 1 << 22, Draws(karate, 4, thirds(samples), 1)
    work = draws.work(at_once)
    units = cut(work, [Span(0, work.size - 1)], _estimate.UNITS * devices)
    assert [unit.span.first for unit in units[1:]] == [unit.span.stop for unit in units[:-1]]
    assert sum(unit.work for unit in units) == work[-1] >= samples
    steps = 0
    for unit in units:
        for low, high in pairwise(draws.starts.tolist()):
            items = min(high, unit.span.stop) - max(low, unit.span.first)
            steps += -(-max(items, 0) * _proposals.BLOCK // at_once)
    assert steps == sum(-(-share // at_once) for share in draws.shares)
    assert len(units) <= _estimate.UNITS * devices
    assert max(unit.work for unit in units) <= work[-1] / len(units) + at_once


def test_wanted_error(karate):
    found = estimate_census(karate, 3, error=0.02, key=2)
    assert (((found.high - found.low) / 2 / found.counts) < 0.021).all()
    assert sum(found.samples) < 100_000
    same(found, estimate_census(karate, 3, error=0.02, key=2, devices=2))


def test_an_error_out_of_reach(karate, monkeypatch):
    monkeypatch.setattr(_estimate, "MOST_SAMPLES", 3000)
    found = estimate_census(karate, 4, error=0.02, key=2)
    assert 3000 <= sum(found.samples) <= 3002
    assert re.match(r"[3-6] classes of 6 may have wider intervals than error=0.02", found.notes[0])


def test_a_pilot_that_meets_no_class_often_enough_plans_as_many_draws_of_each_kind(karate, monkeypatch):
    monkeypatch.setattr(_estimate, "MOST_SAMPLES", 3000)
    monkeypatch.setattr(_estimate, "SEEN", 10**6)
    found = estimate_census(karate, 4, error=0.02, key=2)
    assert found.samples == (1000, 1000, 1000)
    assert found.notes[0] == "the pilot met no class 1000000 times: 3,000 draws were made"


def test_subgraphs_are_uniform(karate):
    num = 20_000
    drawn = sample_subgraphs(karate, 3, num, key=4)
    assert drawn.dtype == np.int32
    near = adjacency(karate)
    sets = [s for s in combinations(range(34), 3) if near[np.ix_(s, s)].sum() >= 4]
    times = Counter(map(tuple, drawn.tolist()))
    assert set(times) == set(sets)
    assert stats.chisquare([times[s] for s in sets]).pvalue > 1e-3
    assert (sample_subgraphs(karate, 3, 100, key=4) == drawn[:100]).all()


def test_no_component_of_the_size():
    apart = Graph.from_edges([(0, 1), (2, 3), (3, 4)], 9)
    found = estimate_census(apart, 4, 100)
    assert (found.total, found.total_high, found.classes, found.upper_bound("4-path")) == (0.0, 0.0, (), 0.0)
    assert "exact" in found.notes[0]
    with pytest.raises(ValueError, match="no component of this graph has 4 nodes"):
        sample_subgraphs(apart, 4, 1)
    assert estimate_census(Graph.from_edges([], 0), 3, 10).total == 0
    assert estimate_census(Graph.from_edges([], 3), 3, 10).total == 0


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"size": 2}, ValueError, "between 3 and 10 in undirected"),
        ({"size": 11}, ValueError, "between 3 and 10"),
        ({"size": 4.0}, TypeError, "size must be an integer, got 4.0"),
        ({"samples": 0}, ValueError, "samples must be between 1 and 9007199254740991, got 0"),
        ({"samples": 1.5}, TypeError, "an integer, got 1.5"),
        ({"samples": 9, "error": 0.1}, ValueError, "not both"),
        ({"error": 1.0}, ValueError, "error must be between 0 and 1"),
        ({"error": "0.1"}, TypeError, "error must be a number between 0 and 1, got '0.1'"),
        ({"level": 0.0}, ValueError, "level must be between 0 and 1"),
        ({"level": None}, TypeError, "level must be a number between 0 and 1, got None"),
        ({"key": 2**64}, ValueError, "seed"),
        ({"memory": 1000}, ValueError, "allow at least"),
    ],
)
def test_bad_input(karate, options, error, text):
    with pytest.raises(error, match=text):
        estimate_census(karate, **({"size": 4} | options))


def test_a_bound_of_a_class_with_labels_is_of_classes_with_labels(karate):
    labelled = Graph.from_edges(karate.edge_list(), karate.n, node_labels=np.arange(karate.n) % 2)
    for graph, name in ((labelled, "triangle"), (karate, "0,0,0:011101110")):
        with pytest.raises(ValueError, match="differ in their labels"):
            estimate_census(graph, 3, samples=3000).upper_bound(name)


def test_maps_that_fold(monkeypatch):
    monkeypatch.setattr(_estimate, "EXACT_PER_DRAW", 0)  # else that is what is said of so small a graph
    cliques = [(5 * i + u, 5 * i + v) for i in range(100) for u, v in combinations(range(5), 2)]
    (note,) = estimate_census(Graph.from_edges(cliques + [(i, i + 1) for i in range(500, 505)]), 6, 3000).notes
    assert re.fullmatch(r"[0-2] of 3,000 draws were subgraphs: an exact census may be better", note)


def test_tables_of_more_numbers_than_int32_has():
    """As of R-MAT 24: 2^29 slots, five sums of each."""
    slots, rows, size = 1 << 29, 1 << 24, 7
    like = {name: jax.ShapeDtypeStruct((), name) for name in ("int32", "uint64", "float64")}

    def array(shape, kind):
        return jax.ShapeDtypeStruct(shape, kind)

    offsets, near = array((rows + 1,), "int32"), array((slots,), "int32")
    dyads = Dyads(offsets, near, near, None, None, array((3,), "int32"), Codes(0, 1, 0), 21)
    index = PairIndex(
        array(((1 << 28) + 1,), "int32"), array((slots // 2,), "uint32"), None, *bits_for(rows, slots), 16
    )
    prefix, nodes = array((size - 2, slots), "float64"), array((rows, 4, size), "float64")
    maps = Maps(prefix, nodes, array((rows,), "float64"), like["float64"], like["int32"])
    order, places = Order(*[like["uint64"]] * 3, like["float64"]), array((28, 3), "int32")
    text = _proposals._drawn.lower64(dyads, index, maps, order, places, size=size, lanes=1 << 10).as_text()
    reads = re.findall(r"stablehlo.gather.*: \(tensor<(\d+)x\w+>, tensor<\d+x1x(i\d+)>\)", text)
    assert (str((size - 2) * slots), "i64") in reads
    assert all(kind == "i64" or int(length) < 2**31 for length, kind in reads)


def test_too_many_labels_and_directed_sizes():
    with pytest.raises(ValueError, match="between 3 and 8 in directed"):
        estimate_census(labelled_digraph(), 9)
    many = Graph.from_edges([(i, i + 1) for i in range(20)], 21, node_labels=range(21))
    with pytest.raises(ValueError, match="95 bits"):
        estimate_census(many, 10)


def test_shown(karate):
    found = estimate_census(karate, 4, 1000)
    assert {"class", "name", "count", "low", "high", "hits", "frequency"} <= set(found.table())
    assert "1,000 samples" in repr(found)
    with pytest.raises(ValueError, match="not a connected graph of 4 nodes"):
        found.upper_bound("triangle")


def test_for_ten_draws_planned_one_more_is_of_any_tree():
    """Classes that a pilot hardly meets, such as stars beside many paths, could not be drawn else."""
    ladder = [(i, i + 1) for i in range(399)] + [(i, i + 2) for i in range(398)]
    star = [(400, 401 + i) for i in range(4)]
    found = estimate_census(Graph.from_edges(ladder + star), 5, error=0.07, key=1)
    assert 10 * found.samples[0] >= sum(found.samples[1:]) > 0
    assert sum(found.samples) < 100_000
    assert found.upper_bound("4-star") < 1e6


def test_an_integer_is_the_seed_of_a_key(karate):
    same(estimate_census(karate, 3, 10_000, key=3), estimate_census(karate, 3, 10_000, key=jax.random.key(3)))
    assert (sample_subgraphs(karate, 3, 10, jax.random.key(4)) == sample_subgraphs(karate, 3, 10, 4)).all()
