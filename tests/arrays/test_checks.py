"""Checks of arrays: what they refuse, and by which name."""

import jax
import jax.numpy as jnp
import pytest

from jaxmotif.arrays._checks import check_vectors


@pytest.mark.parametrize(
    ("array", "error", "message"),
    [
        (jnp.zeros((3, 4), jnp.int32), ValueError, r"u must have rank 1, got shape \(3, 4\)"),
        (jnp.zeros(3), TypeError, "u must be of dtype int32, got float"),
        (jnp.zeros(3, jnp.int32), None, ""),
    ],
)
def test_what_is_refused(array, error, message):
    def check(array):
        check_vectors({"u": array})
        return 0

    for form in (check, jax.jit(check)):
        if error is None:
            form(array)
        else:
            with pytest.raises(error, match=message):
                form(array)


def test_inside_vmap_the_axis_that_is_mapped_does_not_count():
    def length(row):
        check_vectors({"row": row})
        return row.sum()

    assert jax.vmap(length)(jnp.zeros((3, 4), jnp.int32)).shape == (3,)
