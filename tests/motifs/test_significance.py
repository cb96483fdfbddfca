"""Statistics of motifs, by their definitions."""

from bisect import bisect_left

import numpy as np
import pytest
from scipy import stats

from jaxmotif.motifs import Until
from jaxmotif.motifs._result import null_interval
from jaxmotif.motifs._significance import Mixing, largest_deviation, mixing_of, significance_of
from jaxmotif.motifs._until import robbins_interval
from jaxmotif.patterns import class_names
from tests.report.made_up import made_up


def test_the_interval_of_the_mean_is_that_of_independent_draws():
    rng = np.random.default_rng(1)
    random, size = rng.poisson([3, 50], (400, 2)), np.array([400.0, 25.0])
    found = significance_of(np.array([4, 40]), random, Mixing(0, np.zeros(2), size, np.zeros(2)))
    half = stats.norm.ppf(0.975) * random.std(axis=0, ddof=1) / np.sqrt(size)
    np.testing.assert_allclose(found.mean_low, random.mean(axis=0) - half, rtol=1e-4)
    np.testing.assert_allclose(found.mean_high, random.mean(axis=0) + half, rtol=1e-4)
    np.testing.assert_allclose(found.fold, (np.array([4, 40]) + 0.5) / (random.mean(axis=0) + 0.5))
    np.testing.assert_allclose(found.fold_low, (np.array([4, 40]) + 0.5) / (found.mean_high + 0.5))
    np.testing.assert_allclose(found.fold_high, (np.array([4, 40]) + 0.5) / (found.mean_low + 0.5))


def test_the_largest_deviation_does_not_depend_on_units():
    """A class that is counted a thousand times as often weighs no more than the others."""
    rng = np.random.default_rng(3)
    graphs = np.vstack([[4, 3, 2, 0, 0], rng.normal(size=(60, 5))])
    found = largest_deviation(graphs[0], graphs[1:])
    assert len(set(found)) > 2
    units = np.array([1000, 1, 1e-3, 1, 50])
    np.testing.assert_array_equal(largest_deviation(graphs[0] * units, graphs[1:] * units), found)


def test_what_chains_are_worth():
    """r (1 - c) / (1 + c) by the correlation of the two lengths, and no more than there are where it is negative."""
    rng = np.random.default_rng(2)
    common, r = rng.normal(size=(1000, 3)), 1000
    before = 100 + 10 * common
    after = 100 + np.array([8, 0, -8]) * common + 6 * rng.normal(size=(1000, 3))
    found = mixing_of(before, after)
    expected = [np.corrcoef(before[:, i], after[:, i])[0, 1] for i in range(3)]
    np.testing.assert_allclose(found.lag_correlation, expected)
    c = expected[0]
    assert found.effective_size[0] == pytest.approx(r * (1 - c) / (1 + c))
    assert found.effective_size[2] == r


def test_all_classes_together_share_an_error():
    """The probability of a wrong decision is that of all classes, so each gets its share: more graphs are needed."""
    until = Until(error=0.01)

    def needed(classes: int) -> int:
        """The fewest random graphs, none of which has a count as large, that decide as many equal classes."""
        counts, numbers = np.ones(classes, int), range(10, 3000, 2)
        first = bisect_left(numbers, True, key=lambda r: bool(until.decided(counts, np.zeros((r, classes), int)).all()))
        return numbers[first]

    for classes in (1, 100):
        r = needed(classes)
        high = [2 * robbins_interval(np.zeros(1), n, 0.01 / (2 * classes))[1][0] for n in (r - 2, r)]
        assert high[1] <= 0.05 < high[0]
    assert needed(100) > needed(1)


def test_the_range_of_random_graphs_is_on_the_scale_of_the_profile():
    """A count on the border of the range of 95 % would have its profile there."""
    found = made_up(sorted(text for text in class_names(True) if len(text) == 9))
    s = found.significance
    length = np.sqrt((s.z[np.isfinite(s.z)] ** 2).sum())
    varies = s.scale > 0
    for border, share in zip(null_interval(found), (0.025, 0.975), strict=True):
        away = np.quantile(found.random_counts, share, axis=0) - s.mean
        np.testing.assert_allclose(border[varies], (away / length)[varies] / s.scale[varies])
        assert np.isnan(border[~varies]).all()


def test_equal_values_have_no_spread():
    """Their mean differs from them in the last bit: 0.1, 0.7, and whole numbers whose sum passes 2^53."""
    values = np.array([0.1, 0.7, 3.0, 2.0**52 + 1])
    found = significance_of(values, np.tile(values, (100, 1)), Mixing(0, np.zeros(4), np.full(4, 100.0), np.zeros(4)))
    assert not found.sd.any()
    assert np.isnan(found.z).all()
    assert (found.mean == values).all()
