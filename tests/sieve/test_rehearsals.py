"""What is compiled ahead of a run of the sieve is what it calls."""

import jax
import numpy as np

from jaxmotif.graph import synthetic
from jaxmotif.sieve import _runner, find_color_motif
from tests.rehearsals import rehearsals  # noqa: F401  (a fixture)


def test_a_run(rehearsals):  # noqa: F811
    told, called = rehearsals(_runner)
    colors = np.arange(40) % 6
    found = find_color_motif(
        synthetic.random_regular(40, 6, seed=1),
        colors,
        dict.fromkeys(range(6), 1),
        0,
        limit=0,
        devices=jax.devices("cpu")[:1],
    )
    late = {"plan_rows", "_by_vertex"}  # which come before the run, and need what the job has found
    assert told == {program for program in called if program[0].rpartition(".")[2] not in late}
    assert len(told) == 2
    assert found.found
