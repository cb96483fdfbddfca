"""Tables of counts in host memory: one type, whole, and with sums that do not wrap."""

import pickle

import jax
import numpy as np
import pytest

from jaxmotif.arrays import _fetch
from jaxmotif.arrays._exact import with_exact_sums
from jaxmotif.arrays._fetch import Fetch, fetch_arrays, fetch_int64
from jaxmotif.graph import Graph
from jaxmotif.graphlets import EdgeGraphlets

TABLE = np.random.default_rng(0).integers(0, 2**40, (5000, 3))


def fetch_counts(counts, rows):
    return Fetch.begin(counts, rows).values()


@pytest.fixture
def wide():
    with jax.enable_x64(True):
        return jax.device_put(TABLE)


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.gpu)], ids=["as an accelerator", "on one"])
def accelerator(request, monkeypatch):
    """Programs that write to memory of the host run on a CPU, too."""
    if not request.param:
        monkeypatch.setattr(_fetch, "is_on_accelerator", lambda counts: True)


@pytest.mark.parametrize("rows", [0, 1, 7, 1025, 4999, 5000])
def test_rows_are_fetched_from_an_accelerator(rows, wide, accelerator):
    for fetch in (fetch_counts, fetch_int64):
        found = fetch(wide, rows)
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, TABLE[:rows])


def test_padding_decides_nothing(accelerator):
    """A count that is no one's is no reason for Python integers; one of the table is."""
    with jax.enable_x64(True):
        counts = jax.device_put(np.array([[2**62, 0], [3, 4], [2**62, 0], [9, 2**62]]))
    assert fetch_counts(counts[1:], 1).dtype == np.int64
    assert fetch_counts(counts, 3).dtype == object
    assert fetch_counts(counts, 3).sum() == 2**63 + 7


def test_sums_of_a_table_from_an_accelerator_end_with_63_bits(accelerator):
    for counts, kind in (([[2**62], [2**62]], object), ([[2**61], [2**61], [2**61]], np.int64)):
        with jax.enable_x64(True):
            found = fetch_counts(jax.device_put(np.array(counts)), len(counts))
        assert found.dtype == kind
        assert int(found.sum()) == sum(map(sum, counts))


def out_of_memory(*arguments, **options):
    raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: out of host memory")


def test_a_plain_copy_where_the_host_has_no_such_memory(wide, accelerator, monkeypatch):
    monkeypatch.setattr(_fetch, "_write_to_host", out_of_memory)
    np.testing.assert_array_equal(fetch_counts(wide, 4999), TABLE[:4999])


def test_other_errors_of_a_fetch_are_told(wide, accelerator, monkeypatch):
    def fail(*arguments, **options):
        raise jax.errors.JaxRuntimeError("INTERNAL: broken")

    monkeypatch.setattr(_fetch, "_write_to_host", fail)
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL: broken"):
        fetch_counts(wide, 4999)


def test_the_host_may_work_while_a_table_is_fetched(wide, accelerator):
    result = EdgeGraphlets(("a", "b", "c"), wide, 4999, Graph.from_edges([]), {})
    result.begin_fetch()
    again = pickle.loads(pickle.dumps(result))
    for table in (result, again):
        np.testing.assert_array_equal(table.values, TABLE[:4999])
        table.begin_fetch()  # again: there is nothing to fetch
        assert "_fetch" not in table.__dict__


@pytest.mark.parametrize("full", [False, True])
def test_arrays_are_fetched_together(wide, accelerator, full, monkeypatch):
    if full:
        monkeypatch.setattr(_fetch, "_all_to_host", out_of_memory)
    found = fetch_arrays((wide, {"first": wide[:1]}))
    assert isinstance(found[0], np.ndarray)
    np.testing.assert_array_equal(found[0], TABLE)
    np.testing.assert_array_equal(found[1]["first"], TABLE[:1])


def test_counts_on_a_cpu_are_not_copied(wide):
    assert np.shares_memory(fetch_counts(wide, 900), np.asarray(wide))


@pytest.mark.parametrize(("values", "kind"), [
    ([2**62, 2**61], np.int64),
    ([2**62, 2**62], object),  # each fits, their sum does not
    ([[2**62], [2**62 - 1], [1]], object),
    ([2**63], object),
    ([-(2**62), -(2**62)], object),
    ([], np.int64),
    (7, np.int64),
])  # fmt: skip
def test_python_integers_where_a_sum_passes_63_bits(values, kind):
    given = np.array(values, object)
    forms = [given]
    if all(-(2**63) <= x < 2**63 for x in given.ravel()):
        forms.append(given.astype(np.int64))
    if all(0 <= x < 2**64 for x in given.ravel()):
        forms.append(given.astype(np.uint64))
    for form in forms:
        found = with_exact_sums(form)
        assert found.dtype == kind
        assert found.tolist() == given.tolist()
        assert int(found.sum()) == sum(map(int, given.ravel()))


def test_other_arrays():
    assert with_exact_sums(np.array([1, 2], np.uint32)).dtype == np.int64
