"""Closed forms as a kernel, in each form, against Python's integers."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.graphlets._copies import _write, add_ways
from jaxmotif.graphlets._fringes import SIZES, closed_form
from jaxmotif.patterns import Pattern

pytestmark = pytest.mark.usefixtures("wide")

BOOK, TAILS = [(0, 1), *((u, v) for u in (0, 1) for v in range(2, 6))], [(0, 1), (0, 2), (1, 2), (0, 3), (1, 4), (2, 5)]


@pytest.mark.parametrize(("edges", "limbs"), [(BOOK, 2), ([*TAILS, (0, 6), (1, 6), (2, 6), (0, 7)], 8)])
def test_ways(form, edges, limbs):
    rng = np.random.default_rng(1)
    words = closed_form(tuple(map(tuple, Pattern.from_edges(edges).adjacency.tolist())))
    # What three nodes have in common is at most what two of them have, and so on.
    common = rng.integers(0, 9, (4, 300))
    sizes = [common[0] * 0] * SIZES
    for r in range(SIZES):
        sizes[r] = common[0] + sum(common[i] * 10 ** (3 - (r + 1).bit_count()) for i in (1, 2, 3))
    valid = rng.random(300) < 0.7

    @form.jit
    def total(program, valid, sizes):
        return add_ways(program, jnp.ones(limbs, jnp.uint64), valid, sizes, limbs=limbs)

    found = np.asarray(total(_write(words), valid, [jnp.asarray(x, jnp.int32) for x in sizes])).tolist()
    wanted = sum(1 << 32 * i for i in range(limbs))
    for lane in np.flatnonzero(valid).tolist():
        for factors, coefficient in words.terms.items():
            for factor in factors:
                size = sum(times * int(x[lane]) for times, x in zip(factor.size, sizes, strict=True)) - factor.less
                coefficient *= math.prod(max(size - i, 0) for i in range(factor.taken))
            wanted += coefficient
    assert sum(limb << 32 * i for i, limb in enumerate(found)) == wanted
    assert limbs == 2 or wanted > 2**64
