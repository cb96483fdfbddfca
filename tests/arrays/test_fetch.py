"""Tables of counts in host memory: one type, whole, and with sums that do not wrap."""

import jax
import numpy as np
import pytest

from jaxmotif.arrays._exact import run_in_threads, with_exact_sums
from jaxmotif.arrays._fetch import fetch_counts, fetch_int64, widen_from_device, widen_on_host

TABLE = np.random.default_rng(0).integers(0, 2**32, (5000, 3), dtype=np.uint32)


@pytest.mark.parametrize("rows", [0, 1, 7, 1025, 4999, 5000])
@pytest.mark.parametrize("chunk_bytes", [1, 100, 2000, 2**20])
def test_narrow_counts_are_widened_piece_by_piece(rows, chunk_bytes):
    for found in (
        widen_on_host(TABLE[:rows], chunk_bytes),
        widen_from_device(jax.device_put(TABLE), rows, chunk_bytes),
        fetch_int64(TABLE, rows, chunk_bytes),
        fetch_int64(jax.device_put(TABLE), rows, chunk_bytes),
    ):
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, TABLE[:rows])


def test_wide_counts_on_a_cpu_are_not_copied():
    with jax.enable_x64(True):
        wide = jax.device_put(TABLE.astype(np.int64))
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
    assert with_exact_sums(np.array([0.5])).dtype == np.float64


def test_an_error_in_a_thread_is_raised():
    with pytest.raises(ZeroDivisionError):
        run_in_threads(lambda first: 1 // (first - 3), range(8))
