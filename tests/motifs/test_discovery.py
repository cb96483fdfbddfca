import dataclasses
import functools
import types

import jax
import numpy as np
import pytest

from jaxmotif import datasets
from jaxmotif.arrays._compile import Target
from jaxmotif.graph import Graph
from jaxmotif.motifs import Rule, Until, _graph_samples, find_motifs, random_graphs, subgraph_census
from jaxmotif.motifs._discovery import TOO_SHORT, _batch, _disagreement, _Task, _workers
from jaxmotif.motifs._significance import Mixing, benjamini_hochberg, mixing_of, significance_of
from jaxmotif.motifs._until import robbins_interval
from tests.compilations import compilations
from tests.motifs.resumed import in_small_batches, interrupted


@pytest.fixture(scope="module")
def graph():
    """Of 34 nodes, so that no chain walks: that takes ten times as long."""
    rng = np.random.default_rng(2)
    loops = [arc for i in range(0, 32, 2) for arc in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
    return Graph.from_edges(np.concatenate([loops, rng.integers(0, 34, (36, 2))]), 34, directed=True)


def test_matches_a_census_of_every_random_graph(graph, monkeypatch):
    """Of a batch of 11 graphs: pieces of 4, 4 and 3 in rooms for 5."""
    monkeypatch.setattr("jaxmotif.motifs._discovery.CPU_WORKERS", 1)
    monkeypatch.setattr("jaxmotif.census._pair_states.in_one_room", lambda graph: 5)
    found = find_motifs(graph, 3, 6, 5, attempts=5)
    sample = random_graphs(graph, 6, jax.random.key(5), attempts=5)
    assert found.accepted == sample.accepted
    for i, drawn in enumerate(sample):
        counts = subgraph_census(drawn, 3).as_dict()
        row = dict(zip(found.classes, found.random_counts[i].tolist(), strict=True))
        assert {c: n for c, n in row.items() if n} == counts
    row = dict(zip(found.classes, found.counts.tolist(), strict=True))
    assert {c: n for c, n in row.items() if n} == subgraph_census(graph, 3).as_dict()


def test_devices_change_nothing(graph, monkeypatch):
    found = find_motifs(graph, 3, 40, attempts=4)
    monkeypatch.setattr("jaxmotif.motifs._discovery._together", lambda graph, size: 16)  # what one code can tell apart
    split = find_motifs(graph, 3, 40, attempts=4, devices=2)
    np.testing.assert_array_equal(split.random_counts, found.random_counts)
    np.testing.assert_array_equal(split.mixing.lag_correlation, found.mixing.lag_correlation)


def test_rows_that_an_accelerator_sorts_itself(monkeypatch):
    """More edges than the least room for them holds."""
    graph = datasets.load("celegans")
    monkeypatch.setattr("jaxmotif.motifs._discovery.CPU_WORKERS", 1)
    monkeypatch.setattr("jaxmotif.census._pair_states.in_one_room", lambda graph: 40)
    found = find_motifs(graph, 3, 40, attempts=1)
    monkeypatch.setattr(_graph_samples, "target_of", lambda device: Target("cuda"))
    monkeypatch.setattr(_graph_samples, "LEAST_EDGES", 1)
    monkeypatch.setattr(_graph_samples, "ACCELERATOR_SAMPLE", _graph_samples.CPU_SAMPLE)
    np.testing.assert_array_equal(find_motifs(graph, 3, 40, attempts=1).random_counts, found.random_counts)


def feed_forward_loops(graph):
    near = np.zeros((graph.n, graph.n), np.int64)
    near[tuple(graph.edge_list().T)] = 1
    near *= 1 - near.T  # of arcs without one back
    return (near * (near @ near)).sum()


def test_feed_forward_loops_are_frequent(graph):
    found = find_motifs(graph, 3, 200)
    row = found.names.index("030T feed-forward loop")
    assert found.significance.p_high[row] <= 0.02
    assert "not unusual" in found.verdicts.why[row]  # among five closed classes
    rule = Rule(alpha=0.2, min_fold=1.2)
    assert dataclasses.replace(found, rule=rule).summary.startswith("1 motif (q <= 0.2, at least 1.2-fold")
    assert found.significance.z[row] > 2
    assert "reciprocated pairs" in found.null_model
    # The slower kind makes the moves asked for, about.
    assert 15 < min(found.accepted_by_kind.values()) < 25
    assert found.notes == ()
    found = find_motifs(graph, 3, 40, attempts=4, rule=rule)
    assert found.rule == rule
    row = found.names.index("030T feed-forward loop")
    longer = random_graphs(graph, 40, 0, attempts=4 * found.attempts - 0.01)
    counts = np.array([feed_forward_loops(longer[i]) for i in range(0, 40, 2)])
    before = found.random_counts[:, row]
    variance = max(before.var(ddof=1), counts.var(ddof=1)) * (1 / 40 + 1 / 20)
    wanted = (before.mean() - counts.mean()) / np.sqrt(variance - 2 * np.cov(before[::2], counts)[0, 1] / 40)
    np.testing.assert_allclose(found.mixing.longer_z[row], wanted)


def test_resumes_with_the_same_bits(graph, tmp_path, monkeypatch):
    in_small_batches(monkeypatch)
    whole = find_motifs(graph, 3, 12, attempts=5)
    call = functools.partial(find_motifs, graph, 3, 12, attempts=5, checkpoint=tmp_path)
    resumed, before, after = interrupted(call, monkeypatch)
    assert sorted(before + after) == list(range(13))  # nothing is counted twice
    np.testing.assert_array_equal(resumed.random_counts, whole.random_counts)
    np.testing.assert_array_equal(resumed.significance.z, whole.significance.z)
    with pytest.raises(ValueError, match="other input or options"):
        find_motifs(graph, 3, 12, 9, attempts=5, checkpoint=tmp_path)


def test_more_random_graphs_go_on_from_a_checkpoint_of_fewer(graph, tmp_path, monkeypatch):
    """From 205, of which 21 go on to the longer length, to 403, of which the first 300 have 30 that do."""
    monkeypatch.setattr("jaxmotif.motifs._discovery.MIXING_GRAPHS", 30)
    call = functools.partial(find_motifs, graph, 3, attempts=2)
    call(205, checkpoint=tmp_path)
    held = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    grown, whole = call(403, checkpoint=tmp_path), call(403)
    np.testing.assert_array_equal(grown.random_counts, whole.random_counts)
    np.testing.assert_array_equal(grown.significance.z, whole.significance.z)
    np.testing.assert_array_equal(grown.mixing.longer_z, whole.mixing.longer_z)
    np.testing.assert_array_equal(grown.mixing.lag_correlation, whole.mixing.lag_correlation)
    assert grown.accepted == whole.accepted
    assert held.keys() == {path.name: path.stat().st_size for path in tmp_path.iterdir()}.keys()
    with pytest.raises(ValueError, match="of more than is asked for; ask for as much again, or delete it"):
        call(300, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="other input or options"):
        call(100, checkpoint=tmp_path)  # one in five of these go on


def test_batches_are_bounded_by_time(graph, monkeypatch):
    """Many subgraphs are begun with a small batch, which grows while batches are quick, and shrinks when they are slow;
    no bit depends on it."""
    from jaxmotif.motifs import _discovery as discovery

    whole = find_motifs(graph, 3, 24, attempts=4)
    sizes, clock = [], [0.0]
    original = discovery._Task._counted

    def counted(self, items):
        sizes.append(len(items))
        clock[0] += len(items) * (0.05 if len(sizes) < 4 else 5.0)
        return original(self, items)

    monkeypatch.setattr(discovery, "CPU_WORKERS", 1)
    # A second each, as is first thought.
    monkeypatch.setattr("jaxmotif.census._pair_states.likely_subgraphs", lambda graph, size: 5e6)
    monkeypatch.setattr(discovery._Task, "_counted", counted)
    monkeypatch.setattr(discovery.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(discovery, "_batch", lambda *_: 40)
    found = find_motifs(graph, 3, 24, attempts=4)
    np.testing.assert_array_equal(found.random_counts, whole.random_counts)
    assert sizes[:4] == [2, 2, 8, 8]
    assert set(sizes[4:]) == {1}
    assert sum(sizes) == 25


def test_one_thread_makes_one_batch(graph, monkeypatch):
    """The given graph is counted with all random ones: none is left for a batch of its own."""
    sizes, counted = [], _Task._counted
    monkeypatch.setattr("jaxmotif.motifs._discovery.CPU_WORKERS", 1)
    monkeypatch.setattr(_Task, "_counted", lambda self, items: sizes.append(len(items)) or counted(self, items))
    find_motifs(graph, 3, 24, attempts=4)
    assert sizes == [25]


def test_a_second_thread_where_it_pays():
    """Threads that share an accelerator: work of a tenth of a second, or memory for one alone, has one."""
    gpu, much, little = types.SimpleNamespace(platform="gpu"), 2**40, 2**20
    assert [_workers(gpu, much, seconds) for seconds in (0.9 * TOO_SHORT, TOO_SHORT)] == [1, 2]
    assert _workers(gpu, little, 10.0) == 1


def test_random_graphs_that_cannot_move_are_told():
    star = Graph.from_edges([(0, i) for i in range(1, 40)], 40, directed=True)
    found = find_motifs(star, 3, 4, attempts=5)
    assert found.accepted == 0
    assert "no chain could move" in found.notes[0]


@pytest.mark.parametrize("graphs", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_few_programs_for_graphs_of_all_sizes(graphs):
    """Neither another size nor another number of random graphs compiles, but for a few steps in size."""
    rng = np.random.default_rng(0)
    with compilations() as found:
        for number, n in enumerate(np.linspace(20, 400, graphs).astype(int)):
            arcs = rng.integers(0, n, (3 * n, 2))
            find_motifs(Graph.from_edges(arcs, int(n), directed=True), 3, 10 + number % 7, number, attempts=5)
    assert len(found) <= 12, found


def test_statistics():
    counts = np.array([10, 0, 3])
    random = np.array([[1, 5, 3], [3, 5, 3], [5, 8, 3]])
    mixing = mixing_of(random, random + np.array([[0, 0, 0], [1, 0, 0], [2, 1, 0]]))
    s = significance_of(counts, random, mixing)
    np.testing.assert_allclose(s.mean, [3, 6, 3])
    np.testing.assert_allclose(s.sd, [2, np.sqrt(3), 0])
    np.testing.assert_allclose(s.z, [3.5, -6 / np.sqrt(3), np.nan])
    np.testing.assert_allclose(s.p_high, [0.25, 1, 1])
    np.testing.assert_allclose(s.p_low, [1, 0.25, 1])
    np.testing.assert_allclose(np.nansum(s.profile**2), 1)
    np.testing.assert_allclose(mixing.lag_correlation, [1, 1, 0])
    assert mixing.effective_size[2] == 3


def test_chains_that_are_too_short_are_told(caplog):
    """In four steps the worm's hubs have hardly let go of their neighbours; in sixteen they have, in part."""
    graph = datasets.load("celegans")
    short = find_motifs(graph, 3, 40, attempts=2)
    assert short.mixing.disagrees.any()
    assert "the chains are too short: 4 times as long" in short.notes[-1]
    assert "too short" in caplog.text


def test_a_note_has_the_words_of_labels():
    """As tables have them, of the class whose counts are the farthest apart."""
    far = np.array([5.0, -9.0])
    mixing = Mixing(10, np.zeros(2), np.ones(2), far)
    classes = ".,.,.,1,.,.,1,1,.", ".,.,.,1,.,.,0,0,."
    graph = types.SimpleNamespace(directed=True, _label_words=(None, {0: "up", 1: "down"}))
    (note,) = _disagreement(mixing, classes, graph)
    assert "in 2 classes (9.0 standard errors in X -[up]-> Y, X -[up]-> Z, Y -[down]-> Z)" in note


def test_longer_chains_of_the_same_distribution_agree():
    rng = np.random.default_rng(0)
    far = [
        mixing_of(rng.poisson(mean, (1000, 13)), rng.poisson(mean, (100, 13)), 10).disagrees.any()
        for mean in [0.01, 1, 100] * 100
    ]
    assert sum(far) <= 3
    assert mixing_of(rng.poisson(9, (1000, 13)), rng.poisson(11, (100, 13)), 10).disagrees.all()


def test_benjamini_hochberg_against_scipy():
    scipy_stats = pytest.importorskip("scipy.stats")
    p = np.random.default_rng(0).random(50) ** 2
    np.testing.assert_allclose(benjamini_hochberg(p), scipy_stats.false_discovery_control(p))


def test_as_many_random_graphs_as_decide(graph, tmp_path, monkeypatch):
    """In stages of 6 and 12, of which the second is left open; each is what as many give, also after a kill."""
    monkeypatch.setattr("jaxmotif.motifs._until.FIRST", 6)
    in_small_batches(monkeypatch)
    until = Until(most=12)
    found = find_motifs(graph, 3, until, attempts=5)
    fixed = find_motifs(graph, 3, 12, attempts=5)
    np.testing.assert_array_equal(found.random_counts, fixed.random_counts)
    np.testing.assert_array_equal(found.significance.q, fixed.significance.q)
    assert fixed.decided is None
    assert not found.decided.all()
    assert "are not decided by 12 random graphs" in found.notes[-1]
    assert found.mixing.graphs == 3
    call = functools.partial(find_motifs, graph, 3, until, attempts=5, checkpoint=tmp_path)
    resumed, before, after = interrupted(call, monkeypatch)
    assert sorted(before + after) == list(range(13))
    np.testing.assert_array_equal(resumed.random_counts, found.random_counts)
    np.testing.assert_array_equal(resumed.mixing.longer_z, found.mixing.longer_z)
    monkeypatch.setattr(Until, "decided", lambda self, counts, random, alpha: np.ones(counts.size, bool))
    assert len(find_motifs(graph, 3, until, attempts=5).random_counts) == 6


def test_intervals_hold_at_all_numbers_of_draws_together():
    rng, error = np.random.default_rng(0), 0.2
    draws = np.cumsum(rng.random((400, 200)) < 0.15, axis=1)
    missed = np.zeros(400, bool)
    for r in range(1, 201):
        low, high = robbins_interval(draws[:, r - 1], r, error)
        missed |= (low > 0.15) | (high < 0.15)
    assert 0 < missed.mean() < error
    low, high = robbins_interval(np.array([0, 7, 40]), 40, error)
    for p, hits in ((high[0], 0), (low[1], 7), (high[1], 7), (low[2], 40)):
        scipy_stats = pytest.importorskip("scipy.stats")
        np.testing.assert_allclose(41 * scipy_stats.binom.pmf(hits, 40, p), error, rtol=1e-6)
    assert (low[0], high[2]) == (0, 1)


def test_decisions_are_those_of_many_more_draws():
    """Benjamini and Hochberg on the true p-values, of counts whose law is known."""
    scipy_stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    counts = np.array([20, 3, 0, 2, 1, 9])
    truth = 2 * np.minimum(scipy_stats.poisson.sf(counts - 1, 2.0), scipy_stats.poisson.cdf(counts, 2.0))
    wanted = scipy_stats.false_discovery_control(np.minimum(truth, 1)) <= 0.05
    until, random, decided = Until(), np.zeros((0, 6), np.int64), np.zeros(6, bool)
    for stop in until.stages():
        random = np.concatenate([random, rng.poisson(2.0, (stop - len(random), 6))])
        decided = until.decided(counts, random)
        if decided.all():
            break
    assert decided.all()
    assert 100 < len(random) < 10_000
    high, low = (random >= counts).mean(axis=0), (random <= counts).mean(axis=0)
    assert (benjamini_hochberg(np.minimum(1, 2 * np.minimum(high, low))) <= 0.05).tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"error": 1.0}, ValueError),
        ({"most": 1}, ValueError),
        ({"error": "x"}, TypeError),
        ({"most": float("inf")}, TypeError),
        ({"most": 150.5}, TypeError),
    ],
)
def test_bad_limits(options, error):
    with pytest.raises(error, match=f"^{next(iter(options))} must"):
        Until(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_random": 1}, "num_random"),
        ({"num_random": "many"}, "num_random"),
        ({"num_random": "auto", "rule": Rule(correction="max")}, "max"),
        ({"size": 1}, "size"),
        ({"keep": "x"}, "keep must be"),
    ],
)
def test_bad_options(graph, options, message):
    with pytest.raises(ValueError, match=message):
        find_motifs(graph, **{"size": 3, "num_random": 2} | options)


def test_a_batch_is_as_large_as_its_graphs_let_it():
    small, middle, large = (Graph.from_edges([(0, 1), (1, 2)], n, directed=True) for n in (500, 6_000, 20_000))
    one, four = ([_batch(graph, 3, 1000, 10, None, workers, Target("gpu")) for graph in (small, middle, large)]
                 for workers in (1, 4))  # fmt: skip
    # The matrices of 16 of the large graph, the fewest that share a program, do not fit: states are searched for.
    assert one == [1001, 51, 1001]  # with the given graph
    assert four == [251, 51, 251]
