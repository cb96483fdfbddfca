"""Motifs by estimates: against exact ones, their statistics by simulation, and the same bits whatever the way."""

import dataclasses
import re

import jax
import numpy as np
import pytest
from scipy import stats

from jaxmotif import datasets, find_motifs, random_graphs
from jaxmotif.census._classes import Classifier
from jaxmotif.census._pair_states import Alphabet
from jaxmotif.graph import Graph
from jaxmotif.motifs import _discovery, _proposals
from jaxmotif.motifs._estimate_graphs import HitCounter
from jaxmotif.motifs._graph_samples import LaneSample, Sample
from jaxmotif.motifs._random_graphs import Chains, plan_chains
from jaxmotif.motifs._significance import Mixing, significance_of
from jaxmotif.report import motifs_report
from jaxmotif.report._motifs_report import mixing_in_words
from tests.more import more
from tests.motifs.resumed import in_small_batches, interrupted


@pytest.fixture(scope="module")
def graph():
    """Of 34 nodes, so that no chain walks: that takes ten times as long."""
    rng = np.random.default_rng(2)
    loops = [arc for i in range(0, 32, 2) for arc in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
    return Graph.from_edges(np.concatenate([loops, rng.integers(0, 34, (36, 2))]), 34, directed=True)


@pytest.fixture(scope="module")
def few(graph):
    """Of few draws."""
    return find_motifs(graph, 3, 12, attempts=5, estimate=900)


@pytest.fixture(scope="module")
def exact(graph):
    return find_motifs(graph, 3, 12, attempts=5)


def same(a, b):
    assert a.classes == b.classes
    for name in ("counts", "random_counts", "error", "random_error"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name, values in vars(a.significance).items():
        np.testing.assert_array_equal(values, getattr(b.significance, name))
    np.testing.assert_array_equal(a.mixing.lag_correlation, b.mixing.lag_correlation)


def test_estimates_of_the_same_random_graphs_agree_with_exact_counts():
    """In units of their errors: of every class in every graph, of means and of standard deviations."""
    worm, options = datasets.load("celegans"), {"size": 3, "num_random": 40, "key": 1, "attempts": 5}
    exact, found = find_motifs(worm, **options), find_motifs(worm, **options, estimate=24_000)
    assert (found.estimate, found.counts.dtype, found.random_counts.dtype) == (24_000, np.float64, np.float64)
    assert (exact.error, exact.random_error) == (0, 0)
    assert set(found.classes) <= set(exact.classes)
    at = [exact.classes.index(name) for name in found.classes]
    far = (found.random_counts - exact.random_counts[:, at]) / np.maximum(found.random_error, 1e-9)
    # Stratified draws are less scattered than their errors say, never more.
    assert 0.6 < (far**2).mean() < 1.05
    assert abs(far.mean()) < 4 / np.sqrt(far.size)
    assert np.abs((found.counts - exact.counts[at]) / found.error).max() < 4
    a, b = found.significance, exact.significance
    assert np.abs((a.mean - b.mean[at]) / found.random_error).max() < 4.5 / np.sqrt(40)
    # What estimates vary by is what counts do, and their errors.
    expected = b.sd[at] ** 2 + found.random_error**2
    assert (np.abs(found.random_counts.var(axis=0, ddof=1) / expected - 1) < 0.6).all()
    np.testing.assert_allclose(found.random_counts.var(axis=0, ddof=1).sum(), expected.sum(), rtol=0.2)
    assert (a.scale >= a.sd).all()
    # Nearer to 0 than exact ones, but for the noise that scale reckons with.
    z, wanted = a.z, b.z[at]
    assert (np.abs(z) < np.abs(wanted) + 3).all()
    assert (np.sign(z) == np.sign(wanted))[np.abs(wanted) > 10].all()
    assert stats.spearmanr(z, wanted).statistic > 0.9  # of 13 classes: two neighbours that change places cost 0.005
    assert any("exact counts, without an estimate" in note for note in found.notes)


def test_z_approaches_that_of_exact_counts(graph, exact, few):
    rows = [i for i, name in enumerate(exact.classes) if name in few.classes and exact.significance.sd[i] > 1]
    assert len(rows) >= 5

    def distance(found):
        z = dict(zip(found.classes, found.significance.z.tolist(), strict=True))
        return np.sqrt(np.mean([(z[exact.classes[i]] - exact.significance.z[i]) ** 2 for i in rows]))

    many = find_motifs(graph, 3, 12, attempts=5, estimate=40_000)
    assert distance(many) < 0.25
    assert distance(many) < distance(few) / 4
    # A pure function of the counts: exact ones, without errors, give exact statistics.
    again = significance_of(exact.counts, exact.random_counts, exact.mixing, np.zeros((2, 1)))
    np.testing.assert_allclose(again.z, exact.significance.z)


def test_a_class_that_is_never_drawn_counts_nothing(graph, exact):
    with np.errstate(all="raise"):
        few = find_motifs(graph, 3, 12, attempts=5, estimate=20)
    at = [exact.classes.index(name) for name in few.classes]
    missed = (few.random_counts == 0) & (exact.random_counts[:, at] > 0)
    assert missed.any()
    assert (few.random_counts[exact.random_counts[:, at] == 0] == 0).all()
    none = few.counts == 0
    assert none.any()
    assert (few.error[none] == 0).all()
    s = few.significance
    alike = few.random_counts.std(axis=0) == 0
    assert (np.isnan(s.z) == alike).all()
    assert (s.p_low[none] == (1 + (few.random_counts[:, none] == 0).sum(axis=0)) / 13).all()
    assert not few.is_motif[alike].any()


def test_statistics_of_estimates_by_simulation():
    """Many classes of one kind: true counts, and the hits of draws from each graph, given and random alike."""
    rng = np.random.default_rng(5)
    r, classes, weight = 60, 20_000, 7.0
    mixing = Mixing(6, np.zeros(classes), np.full(classes, float(r)), np.zeros(classes))

    def of(true, hits_only=False):
        hits = rng.poisson(true / weight)
        return hits * weight, hits * weight**2

    true = rng.normal(300, 40, (r, classes))
    random, noise = of(true)
    f, noise_f = of(rng.normal(300, 40, classes))
    s = significance_of(f, random, mixing, np.stack([noise_f, noise.mean(axis=0)]))
    assert np.sqrt((s.sd**2).mean()) == pytest.approx(40, rel=0.02)
    assert s.mean.mean() == pytest.approx(300, rel=0.01)
    assert 0.95 < s.z.std() < 1.02  # of graphs that are no others than the random ones
    assert abs(s.z.mean()) < 0.05
    ranks = np.rint(s.p_high * (1 + r)) - rng.random(classes) * ((random == f).sum(axis=0) + 1)
    assert stats.kstest(ranks / (1 + r), "uniform").pvalue > 1e-3
    assert (np.abs(s.z) >= 2).mean() < 0.06
    # One that stands out: its own noise is larger, and in z.
    f, noise_f = of(np.full(classes, 500.0))
    out = significance_of(f, random, mixing, np.stack([noise_f, noise.mean(axis=0)]))
    assert np.median(out.z) == pytest.approx(200 / np.sqrt(40**2 + 500 * weight), rel=0.03)
    # One that is drawn no more: no noise of its own tells anything, and the random graphs' is taken.
    zero = np.zeros(classes)
    gone = significance_of(zero, random, mixing, np.stack([zero, noise.mean(axis=0)]))
    assert np.median(gone.z) == pytest.approx(-300 / np.sqrt(40**2 + 300 * weight), rel=0.03)


@pytest.mark.slow
def test_p_is_uniform_for_a_random_graph(graph):
    """Graphs of the null model given for the graph."""
    rng, p, z = np.random.default_rng(0), [], []
    for number, one in enumerate(random_graphs(graph, 150, 77)):
        found = find_motifs(one, 3, 19, number, attempts=20, estimate=900)
        row = found.names.index("030T feed-forward loop")
        tied = (found.random_counts[:, row] == found.counts[row]).sum()
        p.append(found.significance.p_high[row] - rng.random() * (tied + 1) / 20)
        z.append(found.significance.z[row])
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert 0.75 < np.std(z) < 1.2


def test_same_bits_on_any_devices_and_after_a_kill(graph, few, tmp_path, monkeypatch):
    options = {"size": 3, "num_random": 12, "attempts": 5, "estimate": 900}
    same(few, find_motifs(graph, **options, devices=2))
    in_small_batches(monkeypatch)
    resumed, before, after = interrupted(lambda: find_motifs(graph, **options, checkpoint=tmp_path), monkeypatch)
    same(few, resumed)
    assert after
    assert sorted(before + after) == list(range(13))  # nothing is drawn twice
    for other in ({"estimate": 901}, {"estimate": None}):
        with pytest.raises(ValueError, match="other input or options"):
            find_motifs(graph, **(options | other), checkpoint=tmp_path)


@pytest.mark.parametrize("estimate", [900, *more(None)])
def test_memory_that_runs_out_changes_no_bit(graph, exact, few, estimate, monkeypatch):
    wanted = few if estimate else exact
    whole, failures = _discovery._Task._counted, []

    def counted(self, items):
        if len(items) > 3:
            failures.append(len(items))
            whole(self, items[:1])  # what is left of it is to be forgotten
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")
        return whole(self, items)

    monkeypatch.setattr(_discovery._Task, "_counted", counted)
    found = find_motifs(graph, 3, 12, attempts=5, estimate=estimate, devices=1)
    assert failures
    assert any("random graphs at a time" in note for note in found.notes)
    same(wanted, found)


@pytest.mark.parametrize("estimate", [None, 900])
def test_where_the_least_is_too_much_that_is_an_error(estimate, graph, monkeypatch, caplog):
    """Fewer random graphs are tried before, and then, of estimates, fewer maps at once."""
    make = _discovery._Task._hit_counter

    def hit_counter(self):
        counter = make(self)
        if counter is not None:
            counter._task.sampler.lanes = 1 << 16
        return counter

    def counted(self, items):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of memory")

    monkeypatch.setattr(_discovery._Task, "_hit_counter", hit_counter)
    monkeypatch.setattr(_discovery._Task, "_counted", counted)
    with pytest.raises(MemoryError, match="too little memory even for the smallest steps"):
        find_motifs(graph, 3, 12, attempts=5, estimate=estimate, devices=1)
    tried = re.findall(r"went on with (\d+) (random graphs|maps) at a time", caplog.text)
    graphs, maps = ([int(number) for number, kind in tried if kind == what] for what in ("random graphs", "maps"))
    assert min(graphs) == 1
    assert sorted(set(maps)) == ([] if estimate is None else [1 << 14, 1 << 15])


def test_that_exact_counts_would_be_quicker_is_told_where_they_would(few, graph, monkeypatch):
    note = re.compile(r"about (\S+) subgraphs in the graph: exact counts, without an estimate, take less time")
    (told,) = filter(None, map(note.search, few.notes))
    assert float(told[1]) == pytest.approx(few.counts.sum(), rel=0.01)
    # As many subgraphs as that are the most for which a draw is too dear.
    monkeypatch.setattr(_discovery, "EXACT_PER_DRAW", few.counts.sum() / 900)
    found = find_motifs(graph, 3, 12, attempts=5, estimate=900)
    assert not any(map(note.search, found.notes))
    same(few, found)


def test_hits_are_the_same_in_lanes_and_of_fewer_draws_at_once(graph, monkeypatch):
    """As chains leave graphs on an accelerator, and as they are fetched; by a matrix and by an index of pairs."""
    plan, device = plan_chains(graph, 3, "bidegree", 15.0, 5.0), jax.devices()[0]
    lot = Chains(plan, device, None, 3).run(np.arange(3, dtype=np.int32), None, 0, plan.steps)
    fetched = Sample(graph, plan.wiring, lot.fetch(plan.wiring).ends)
    begins = plan.wiring.labels * np.arange(3, dtype=np.int32)
    lanes = LaneSample(graph, plan.wiring, (lot.ends,), begins)
    classifier = Classifier(Alphabet.of(graph), 3)

    def counted(sample, numbers=(4, 6, 9), lanes=None):
        counter = HitCounter(graph, 3, 900, 5, device, None)
        counter._task.sampler.lanes = lanes or counter._task.sampler.lanes
        return counter.count(sample, numbers, classifier)

    hits, maps = counted(fetched)
    assert hits.sum(axis=1).min() > 200
    assert len({tuple(row) for row in hits.tolist()}) == 3
    monkeypatch.setattr(_proposals, "MATRIX_BYTES", (0, 0))
    for first, (own, of_trees) in ((0, counted(lanes)), (1, counted(fetched[1:], (6, 9), 256))):
        np.testing.assert_array_equal(own, hits[first:])
        np.testing.assert_array_equal(of_trees, maps[first:])
    # Another number, other draws of the same maps.
    again, of_trees = counted(fetched[:1], (5,))
    assert (again[0] != hits[0]).any()
    np.testing.assert_array_equal(of_trees, maps[:1])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"estimate": 0}, ValueError, "estimate must be between 1 and 9007199254740991, got 0"),
        ({"estimate": 2.5}, TypeError, "estimate must be an integer, got 2.5"),
        ({"size": 2}, ValueError, "between 3 and 8 in directed"),
        ({"size": 9}, ValueError, "between 3 and 8 in directed"),
        ({"memory": 1000}, ValueError, "allow at least"),
    ],
)
def test_bad_input(graph, options, error, text):
    with pytest.raises(error, match=text):
        find_motifs(graph, **({"size": 3, "num_random": 4, "attempts": 1, "estimate": 100} | options))


def test_graphs_without_subgraphs_of_the_size():
    empty = find_motifs(Graph.from_edges([], 5, directed=True), 3, 4, estimate=100)
    apart = find_motifs(Graph.from_edges([(0, 1), (2, 3)], 5, directed=True), 3, 4, attempts=2, estimate=100)
    for found in (empty, apart):
        assert (found.classes, found.counts.size, found.random_counts.shape) == ((), 0, (4, 0))


def test_shown(graph, few):
    table = few.table()
    assert list(table).index("error") == list(table).index("count") + 1
    assert "random_error" in table
    assert "900 draws from each graph" in repr(few)
    exact = dataclasses.replace(few, estimate=None)
    assert not {"error", "random_error"} & set(exact.table())
    assert "estimates, from 900 random subgraphs" in " ".join(mixing_in_words(few))
    page = motifs_report([("made", graph, few)])
    assert f"{few.counts[few.names.index('021D')]:.1f}" in page
    assert "Top nodes by role" not in page
