"""Every program of the four jobs compiles for a TPU v5e, on a machine that has none.

Needs the TPU plugin (``pip install "jaxmotif[tpu]"``): its compiler works without a TPU. Nothing runs on one here; the
jobs run on the CPU, in the form and the sizes that a TPU would be given, and each program they meet is compiled for
both.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif.arrays._compile import Target, compiling_for
from jaxmotif.graph import Graph, stack_graphs

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="needs the TPU plugin: jaxmotif[tpu]"),
    pytest.mark.filterwarnings("ignore"),  # the plugin's own
]


@pytest.fixture(scope="module")
def tpu():
    """The four chips of a v5e host that is not there."""
    os.environ |= {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost", "TPU_WORKER_ID": "0"}
    os.environ["TPU_ACCELERATOR_TYPE"] = "v5litepod-4"
    from jax.experimental import topologies

    return topologies.get_topology_desc(platform="tpu", topology_name="v5e:2x2x1").devices


class Programs:
    """What was compiled: stands for ``jax.jit`` while functions are first called for a TPU."""

    def __init__(self, device, jit):
        self.sharding = jax.sharding.SingleDeviceSharding(device)
        self._jit = jit
        self.compiled: set[str] = set()

    def __call__(self, function=None, **options):
        if function is None:
            return functools.partial(self, **options)
        name = f"{function.__module__}.{function.__qualname__}"
        for_cpu = self._jit(function, **options)
        for_tpu = self._jit(function, **{k: v for k, v in options.items() if not k.startswith("donate")})

        @functools.wraps(function)
        def call(*args, **kwargs):
            leaves = jax.tree.leaves((args, kwargs))
            options = [f"{k}={v}" for k, v in kwargs.items() if not isinstance(v, (jax.Array, np.ndarray, np.generic))]
            program = f"{name}({', '.join(options)})"
            if program not in self.compiled and not any(isinstance(x, jax.core.Tracer) for x in leaves):
                shapes = jax.tree.map(self._shape, (args, kwargs))
                if any(isinstance(x, jax.ShapeDtypeStruct) for x in jax.tree.leaves(shapes)):
                    for_tpu.lower(*shapes[0], **shapes[1]).compile()
                    self.compiled.add(program)
            return for_cpu(*args, **kwargs)

        call.lower = for_cpu.lower
        return call

    def _shape(self, x):
        if isinstance(x, (jax.Array, np.ndarray, np.generic)):
            return jax.ShapeDtypeStruct(np.shape(x), x.dtype, sharding=self.sharding)
        return x


@pytest.fixture
def programs(tpu, monkeypatch):
    recorded = Programs(tpu[0], jax.jit)
    monkeypatch.setattr(jax, "jit", recorded)
    # Nothing is left to NumPy, or to numba.
    monkeypatch.setattr("jaxmotif.matching._host_search.candidate_budget", lambda *_: -1)
    monkeypatch.setitem(sys.modules, "jaxmotif.graphlets.five.cpu", None)  # as where numba is not installed
    # A platform of its own: what other tests compiled for a TPU's form is not met again.
    with compiling_for(Target("tpu")):
        yield recorded


KARATE = jaxmotif.datasets.load("karate")
FLORENTINE = jaxmotif.datasets.load("florentine")
DIRECTED = Graph.from_edges(jaxmotif.datasets.load("celegans").edge_list()[:200], directed=True, isolated="drop")
PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3)])
TRIANGLE = Graph.from_edges([(0, 1), (1, 2), (2, 0)])


def _matching():
    jaxmotif.count_matches(PATH, KARATE)
    jaxmotif.find_matches(TRIANGLE, KARATE, limit=10)
    jaxmotif.participation_counts(TRIANGLE, KARATE)


def _motifs():
    jaxmotif.subgraph_census(FLORENTINE, 5)
    jaxmotif.subgraph_census(DIRECTED, 3, per_node=True)
    jaxmotif.find_motifs(DIRECTED, 3, 8, 0)


def _sieve():
    jaxmotif.find_color_motif(KARATE, np.arange(34) % 3, {0: 2, 1: 1}, 0, limit=1)


def _graphlets():
    for count in (jaxmotif.graphlet_counts, jaxmotif.edge_graphlets, jaxmotif.node_orbits):
        count(KARATE)
    jaxmotif.edge_graphlets(KARATE, size=5)


JOBS = {
    "graphlets": (_graphlets, 8),
    "matching": (_matching, 4),
    "motifs": (_motifs, 8),
    "sieve": (_sieve, 3),
}


@pytest.mark.parametrize("job", JOBS)
def test_every_program_of_a_job_compiles(programs, job):
    run, least = JOBS[job]
    run()
    assert len(programs.compiled) >= least, programs.compiled


def test_pure_functions_compile_under_vmap(tpu):
    from jaxmotif.graphlets import dense_edge_columns, dense_graphlet_counts, dense_node_orbits
    from jaxmotif.motifs import dense_census

    sharding = jax.sharding.SingleDeviceSharding(tpu[0])
    batch = stack_graphs([KARATE, FLORENTINE])
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), batch)
    functions = (
        dense_graphlet_counts, dense_edge_columns, dense_node_orbits, functools.partial(dense_node_orbits, size=5),
        functools.partial(dense_census, size=3),
    )  # fmt: skip
    with compiling_for(Target("tpu")):
        for function in functions:
            compiled = jax.jit(jax.vmap(function)).lower(shapes).compile()
            assert compiled.memory_analysis() is not None


def test_a_program_for_four_chips_compiles(tpu):
    from jaxmotif.graphlets import dense_graphlet_counts

    mesh = jax.sharding.Mesh(np.array(tpu[:4]), ("graphs",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("graphs"))
    batch = stack_graphs([KARATE, FLORENTINE] * 4)
    shapes = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding), batch)
    with compiling_for(Target("tpu")):
        compiled = jax.jit(jax.vmap(dense_graphlet_counts)).lower(shapes).compile()
    assert len(compiled.input_shardings[0]) > 0
