import jax
import numpy as np
import pytest

from jaxmotif.graph import Graph
from jaxmotif.motifs import find_motifs, random_graphs, subgraph_census
from jaxmotif.motifs.significance import benjamini_hochberg, mixing_of, significance_of


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(2)
    loops = [arc for i in range(0, 24, 2) for arc in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
    return Graph.from_edges(np.concatenate([loops, rng.integers(0, 26, (30, 2))]), 26, directed=True)


def test_matches_a_census_of_every_random_graph(graph):
    key = jax.random.key(5)
    found = find_motifs(graph, 3, 6, key, attempts=5)
    sample = random_graphs(graph, 6, key, attempts=5)
    for i, drawn in enumerate(sample):
        counts = subgraph_census(drawn, 3).as_dict()
        row = dict(zip(found.classes, found.random_counts[i].tolist(), strict=True))
        assert {c: n for c, n in row.items() if n} == counts
    assert dict(zip(found.classes, found.counts.tolist(), strict=True)) | subgraph_census(graph, 3).as_dict() == dict(
        zip(found.classes, found.counts.tolist(), strict=True)
    )


def test_feed_forward_loops_are_a_motif_and_devices_change_nothing(graph, monkeypatch):
    found = find_motifs(graph, 3, 40)
    row = found.names.index("030T feed-forward loop")
    assert found.is_motif[row]
    assert found.significance.z[row] > 3
    assert "reciprocated pairs" in found.null_model
    assert found.attempts == 40
    monkeypatch.setattr("jaxmotif.motifs.discovery._together", lambda graph, size: 16)  # what one code can tell apart
    split = find_motifs(graph, 3, 40, devices=4)
    np.testing.assert_array_equal(split.random_counts, found.random_counts)
    np.testing.assert_array_equal(split.mixing.lag_correlation, found.mixing.lag_correlation)
    longer = random_graphs(graph, 40, jax.random.key(0), attempts=80)
    counts = [subgraph_census(longer[i], 3).as_dict().get(found.classes[row], 0) for i in range(0, 40, 2)]
    differences = found.random_counts[::2, row] - counts
    wanted = differences.mean() / (differences.std(ddof=1) / np.sqrt(20))
    np.testing.assert_allclose(found.mixing.double_length_z[row], wanted)


def test_resumes_with_the_same_bits(graph, tmp_path, monkeypatch):
    from jaxmotif.motifs import discovery

    monkeypatch.setattr(discovery, "_batch", lambda *_: 4)
    whole = find_motifs(graph, 3, 12)
    calls = []
    original = discovery.random_graphs

    def failing(*args, **options):
        calls.append(options.get("first"))
        if options.get("first") == 8:
            raise KeyboardInterrupt
        return original(*args, **options)

    monkeypatch.setattr(discovery, "random_graphs", failing)
    with pytest.raises(KeyboardInterrupt):
        find_motifs(graph, 3, 12, checkpoint=tmp_path)
    monkeypatch.setattr(discovery, "random_graphs", original)
    resumed = find_motifs(graph, 3, 12, checkpoint=tmp_path)
    assert 8 in calls
    np.testing.assert_array_equal(resumed.random_counts, whole.random_counts)
    np.testing.assert_array_equal(resumed.significance.z, whole.significance.z)
    with pytest.raises(ValueError, match="other input or options"):
        find_motifs(graph, 3, 12, jax.random.key(9), checkpoint=tmp_path)


def test_matching_finds_the_classes_of_the_graph(graph):
    census = find_motifs(graph, 3, 6, attempts=5)
    matching = find_motifs(graph, 3, 6, attempts=5, engine="matching")
    own = census.counts > 0
    assert not own.all()
    assert (census.engine, matching.engine) == ("census", "matching")
    assert matching.classes == tuple(np.array(census.classes)[own])
    np.testing.assert_array_equal(matching.random_counts, census.random_counts[:, own])
    np.testing.assert_array_equal(matching.significance.z, census.significance.z[own])


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


def test_benjamini_hochberg_against_scipy():
    scipy_stats = pytest.importorskip("scipy.stats")
    p = np.random.default_rng(0).random(50) ** 2
    np.testing.assert_allclose(benjamini_hochberg(p), scipy_stats.false_discovery_control(p))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_random": 1}, "num_random"),
        ({"threshold": 0}, "threshold"),
        ({"size": 1}, "size"),
        ({"keep": "x"}, "keep"),
        ({"engine": "x"}, "engine"),
    ],
)
def test_bad_options(graph, options, message):
    with pytest.raises(ValueError, match=message):
        find_motifs(graph, **{"size": 3, "num_random": 2} | options)
