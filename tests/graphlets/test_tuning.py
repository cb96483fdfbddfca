"""Static sizes: what must hold between them, and that they keep to the memory allowed."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import pytest

from jaxmotif import Graph
from jaxmotif.graph._order import degree_order
from jaxmotif.graphlets import _run as run
from jaxmotif.graphlets import _sparse as sparse
from jaxmotif.graphlets._tuning import choose_tuning, fixed_bytes, smallest_step_bytes
from jaxmotif.kernels._cliques import most_row_words, words_bound

SIZES = [(2, 1), (40, 256), (24_576, 2**20), (2**20, 2**23), (3 * 10**6, 12), (2**31 - 1, 2**30)]


class Accelerator:
    """As much of a GPU as choosing sizes looks at."""

    platform, device_kind = "gpu", "a GPU"

    def __init__(self, memory):
        self.memory = memory

    def memory_stats(self):
        return {"bytes_limit": self.memory}


CPU = jax.devices("cpu")[0]
DEVICES = [CPU, Accelerator(80 * 2**30), Accelerator(16 * 2**30)]


def _least(nodes, edges, device):
    with pytest.raises(ValueError, match="allow at least") as error:
        choose_tuning(nodes, edges, device, 0)
    return int(str(error.value).split()[-1])


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_sizes_fit_together(nodes, edges, device):
    """With the least memory, with more, and with plenty."""
    least = _least(nodes, edges, device)
    for memory in (least, least + 100 * 2**20, 2**45):
        tuning = choose_tuning(nodes, edges, device, memory)
        blocks = (tuning.block, tuning.heavy_block, tuning.light_block, tuning.slots)
        assert all(size == 2 ** (size.bit_length() - 1) >= 1024 for size in blocks)  # programs have up to 1024 lanes
        assert tuning.light_block > tuning.most_light > 0
        assert tuning.slots >= 2 * tuning.light_block
        assert tuning.fill >= 1
        assert nodes <= tuning.counters < 2**31
        # Either all bit matrices at once, or blocks of them that the largest does not overfill.
        assert tuning.words == words_bound(edges) or most_row_words(edges) < tuning.words
        assert tuning.words < 2**31


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_error_names_the_least(nodes, edges):
    least = _least(nodes, edges, CPU)
    assert least == fixed_bytes(nodes, edges) + smallest_step_bytes(nodes, edges)
    assert choose_tuning(nodes, edges, CPU, least)
    with pytest.raises(
        ValueError, match=rf"memory={least - 1} bytes is too little for {nodes} nodes and {edges} edges"
    ):
        choose_tuning(nodes, edges, CPU, least - 1)


@pytest.mark.parametrize(("nodes", "edges"), SIZES)
def test_a_cpu_takes_any_graph_by_default(nodes, edges):
    assert choose_tuning(nodes, edges, CPU)


def test_an_accelerator_gives_half_of_what_is_free():
    device = Accelerator(16 * 2**30)
    assert choose_tuning(24_576, 2**20, device) == choose_tuning(24_576, 2**20, device, 8 * 2**30)
    assert choose_tuning(2**20, 2**26, device)  # more than half, if it must be


@pytest.mark.parametrize(
    "detail", ["edge", *(pytest.param(detail, marks=pytest.mark.slow) for detail in ("graph", "node"))]
)
def test_the_least_memory_is_enough(detail):
    """What XLA says the compiled run takes, order and plan included, beyond the graph."""
    nodes, edges = 24_576, 2**20
    memory = fixed_bytes(nodes, edges, detail) + smallest_step_bytes(nodes, edges)
    tuning = choose_tuning(nodes, edges, CPU, memory, detail)

    def ints(*shape):
        return jax.ShapeDtypeStruct(shape, jnp.int32)

    def prepare(graph):
        order = degree_order(graph)
        return order, sparse.make_plan(jnp, order, tuning)

    nothing = dict.fromkeys(("in_offsets", "in_targets", "in_slots", "node_labels", "edge_labels"))
    arrays = {"out_offsets": ints(nodes + 1), "out_targets": ints(2 * edges), "num_nodes": ints(), "num_edges": ints()}
    graph = Graph(**nothing, **arrays, directed=False)
    with jax.enable_x64(True), jax.default_device(CPU):
        order, plan = jax.eval_shape(prepare, graph)
        per_edge = detail != "graph"
        stats = jax.eval_shape(partial(sparse.statistics, tuning=tuning, per_edge=per_edge), order, plan)
        programs = [
            run._statistics.lower64(order, plan, tuning=tuning, per_edge=per_edge),
            run._outcome.lower64(order, stats, detail=detail),
        ]
        used = [program.compile().memory_analysis() for program in programs]
    # The plan is still there while the second program runs.
    sizes = [x.argument_size_in_bytes + x.temp_size_in_bytes + x.output_size_in_bytes for x in used]
    kept = sum(math.prod(x.shape) * x.dtype.itemsize for x in jax.tree.leaves(plan))
    total = max(sizes[0], sizes[1] + kept)
    assert memory / 4 < total < memory
