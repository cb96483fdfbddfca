"""Checks of arrays: what they refuse, and by which name."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._checks import check_arrays

u, v, matrix = jnp.zeros(3), jnp.zeros(4), jnp.zeros((3, 4), jnp.int32)


@pytest.mark.parametrize(
    ("arrays", "options", "error", "message"),
    [
        ({"u": u, "m": matrix}, {"rank": 1}, ValueError, r"m must have rank 1, got shape \(3, 4\)"),
        ({"u": u}, {"rank": (0, 2)}, ValueError, r"u must have rank 0 or 2, got shape \(3,\)"),
        ({"u": u}, {"dtype": int}, TypeError, "u must be of dtype int, got float"),
        ({"m": matrix}, {"dtype": np.int64}, TypeError, "m must be of dtype int64, got int32"),
        ({"m": matrix}, {"shape": (3, None)}, None, ""),
        ({"m": matrix}, {"shape": (4, None)}, ValueError, r"m must have shape \(4, any\), got \(3, 4\)"),
        ({"u": u, "none": None, "v": v}, {"same_shape": True}, ValueError, r"u, v .* same shape, got \(3,\), \(4,\)"),
        ({"u": u, "v": u}, {"same_shape": True, "rank": 1, "dtype": float}, None, ""),
    ],
)
def test_what_is_refused(arrays, options, error, message):
    def check(arrays):
        check_arrays(arrays, **options)
        return 0

    for form in (check, jax.jit(check)):
        if error is None:
            form(arrays)
        else:
            with pytest.raises(error, match=message):
                form(arrays)


def test_inside_vmap_the_axis_that_is_mapped_does_not_count():
    def length(row):
        check_arrays({"row": row}, rank=1, shape=(4,))
        return row.sum()

    assert jax.vmap(length)(matrix).shape == (3,)
