"""Sums that cannot wrap, and divisions without a remainder, against those of Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._exact import LARGEST_SUM, exact_quotient, with_exact_sums

DIVISORS = [1, 2, 3, 4, 6, 12, 24]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        # Of Python's integers exactly those whose absolute values add up to 63 bits.
        (np.array([2**62, 1 - 2**62], object), np.int64),
        (np.array([2**62, -(2**62)], object), object),
        (np.array([2**63], object), object),
        # Of others those that are sure to, by sums of floats.
        (np.array([2**62, 2**62 - 2**44]), np.int64),
        (np.array([2**62, 2**62 - 2**40]), object),
        (np.array([-(2**62), 2**44 - 2**62]), np.int64),
        (np.array([-(2**62), -(2**62)]), object),
        (np.array([1, -(2**63)]), object),
        (np.array([2**63 + 1, 1], np.uint64), object),
        (np.array([2**32 - 1] * 3, np.uint32), np.int64),
        (np.zeros((0, 3), np.int64), np.int64),
    ],
)
def test_sums_that_may_not_fit_are_of_pythons_integers(values, dtype):
    found, whole = with_exact_sums(values), sum(map(abs, values.ravel().tolist()))
    assert found.dtype == dtype
    assert found.tolist() == values.tolist()
    assert whole < 2**63 or dtype is object
    if values.dtype == np.int64:
        assert (whole < LARGEST_SUM) == (dtype is np.int64)


@pytest.mark.parametrize("divisor", DIVISORS)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_quotients_of_arrays(dtype, divisor):
    """From the least to the largest multiple that the type holds."""
    most = np.iinfo(dtype).max // divisor
    quotients = [-most, -most + 1, -7, -1, 0, 1, 5, most - 1, most]
    multiples = np.array([x * divisor for x in quotients], dtype)
    with jax.enable_x64(True):
        for found in (exact_quotient(multiples, divisor), exact_quotient(jnp.asarray(multiples), divisor)):
            assert found.dtype == dtype
            assert found.tolist() == quotients


@pytest.mark.parametrize("divisor", DIVISORS)
def test_quotients_of_integers_that_no_type_holds(divisor):
    large = 3**60
    assert exact_quotient(large * divisor, divisor) == large
    assert exact_quotient(np.array([large * divisor], object), divisor)[0] == large


@pytest.mark.parametrize(("divisor", "quotient"), [(3, 2**63 - 1), (24, 2**60 - 1), (24, -(2**60))])
def test_what_wrapped_before(divisor, quotient):
    """The largest quotients that are right: times the powers of two in the divisor they fit."""
    wrapped = (quotient * divisor + 2**63) % 2**64 - 2**63
    assert exact_quotient(np.array([wrapped]), divisor).tolist() == [quotient]
    beyond = quotient + (1 if quotient > 0 else -1)
    assert exact_quotient(np.array([(beyond * divisor + 2**63) % 2**64 - 2**63]), divisor).tolist() != [beyond]
