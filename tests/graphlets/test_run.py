"""One device, several, the queue, GPUs and the CPU together: the same bits; and no compilation for a known size."""

import functools
import itertools

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif.arrays import _compile
from jaxmotif.arrays._compile import Target
from jaxmotif.arrays._exact import join_sums
from jaxmotif.devices import _job as job
from jaxmotif.devices._job import JobOptions
from jaxmotif.devices._select import Hybrid, Selection
from jaxmotif.graph.synthetic import erdos_renyi
from jaxmotif.graphlets import _run as run
from jaxmotif.graphlets._equations import TERMS
from jaxmotif.graphlets._run import hybrid_tunings, pass_work
from jaxmotif.graphlets._tuning import choose_tuning
from jaxmotif.patterns import EDGE_COLUMN_NAMES, GRAPHLET_NAMES
from tests.compilations import compilations, programs
from tests.more import more
from tests.oracles import brute_force
from tests.samples import CAPACITY, GRAPHS, build

CASES = {name: GRAPHS[name] for name in ("one edge", "path", "star", "clique", "disconnected", "hub and blocks")}
CASES |= {name: GRAPHS[name] for name in ("density 0.3 of 20", "density 0.7 of 20")}
FRONT_DOORS = {"graph": jaxmotif.graphlet_counts, "edge": jaxmotif.edge_graphlets, "node": jaxmotif.node_orbits}


def _bits(result):
    values = None if isinstance(result, jaxmotif.graphlets.GraphletCounts) else result.values.tolist()
    return result.counts, values


@functools.cache
def _on_one_device(detail, name):
    return _bits(FRONT_DOORS[detail](build(*CASES[name])))


def _assert_same_everywhere(detail, **options):
    for name, graph in CASES.items():
        assert _bits(FRONT_DOORS[detail](build(*graph), **options)) == _on_one_device(detail, name), name


@pytest.mark.parametrize(
    ("devices", "detail"), [(2, "node"), *more((4, "node")), pytest.param(2, "graph", marks=pytest.mark.slow)]
)
def test_several_devices(monkeypatch, devices, detail):
    """Short runs are whole, on the first of them; long ones are shared."""
    if jax.device_count() < devices:
        pytest.skip(f"needs {devices} devices")
    _assert_same_everywhere(detail, devices=devices)
    monkeypatch.setattr(run, "_LONG", {"cpu": -1, "accelerator": -1})
    _assert_same_everywhere(detail, devices=devices)


def test_mesh_of_one_is_that_device():
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:1])
    _assert_same_everywhere("edge", devices=mesh)


@pytest.mark.parametrize("detail", ["edge", *more("graph")])
def test_long_runs_are_cut_into_units(monkeypatch, capsys, detail):
    monkeypatch.setattr(run, "_LONG", {"cpu": -1, "accelerator": -1})
    with compilations() as found:
        _assert_same_everywhere(detail, progress=True)
    assert sum("_advance" in name for name in found) <= 2  # one for each pass
    assert capsys.readouterr().out == ""


@pytest.fixture
def mixed(monkeypatch):
    """Sizes for two devices that run the Pallas kernels (interpreted here), and others for a third that helps.

    Accumulators, heavy nodes and bit matrices differ between them, as they do between GPUs and a CPU.
    """
    if jax.device_count("cpu") < 3:
        pytest.skip("needs three devices")
    devices = jax.devices("cpu")[:3]
    forms = {device: Target("cpu", "interpreted") for device in devices[:2]}
    monkeypatch.setattr(_compile, "target_of", lambda device=None: forms.get(device, Target("cpu")))
    tuning = choose_tuning(CAPACITY[0], CAPACITY[1] // 2, devices[0])
    accelerated = tuning._replace(light_block=2048, most_light=512, fill=64, slots=4096)
    helper = tuning._replace(
        block=64, heavy_block=64, light_block=64, most_light=32, fill=2, counters=2 * CAPACITY[0], slots=128, words=50
    )
    return Selection(tuple(devices[:2]), devices[2]), accelerated, helper


def _in_units(mixed, graph, hybrid):
    selection = mixed[0]._replace(hybrid=hybrid)
    tunings = hybrid_tunings(selection, *mixed[1:])
    order, plan = run.prepare(graph, next(iter(tunings.values())), selection.devices[0])
    outcome, done = run.run_units(order, plan, "edge", tunings, JobOptions(selection))
    work = [int(starts[-1]) for starts in pass_work(order, plan)]
    counts = {name: join_sums(pair) for name, pair in zip(TERMS, np.asarray(outcome.sums), strict=True)}
    values = np.asarray(outcome.values)[: graph.m]
    counts = jaxmotif.graphlets._equations.global_counts(np, graph.n, graph.m, counts)
    return dict(zip(GRAPHLET_NAMES, counts.tolist(), strict=True)), values.tolist(), done, sum(work)


def test_a_shared_run_has_the_sizes_of_its_devices(mixed, monkeypatch):
    """Devices that are alike have the same sizes; those that are not share the limits that the plan depends on."""
    (selection, of_gpus, of_helper), graph, planned = mixed, build(*GRAPHS["disconnected"]), []
    monkeypatch.setattr(run, "prepare", lambda graph, tuning, device: planned.append(tuning) or (None, None))
    monkeypatch.setattr(run, "run_units", lambda order, plan, detail, tunings, options: (tunings, []))
    options = JobOptions(selection._replace(hybrid=Hybrid(workers=2)))
    alike = run.run(graph, "edge", options)
    assert set(alike) == {selection.helper, *selection.devices}
    assert {*alike.values(), *planned} == {choose_tuning(CAPACITY[0], CAPACITY[1] // 2, detail="edge")}
    sizes = dict.fromkeys(selection.devices, of_gpus) | {selection.helper: of_helper}
    monkeypatch.setattr(run, "choose_tuning", lambda nodes, edges, device, *_: sizes[device])
    unlike = run.run(graph, "edge", options)
    assert {device: tuning.block for device, tuning in unlike.items()} == {x: y.block for x, y in sizes.items()}
    assert {(x.most_light, x.fill) for x in (planned[1], *unlike.values())} == {(32, 2)}


def test_any_workers_can_do_any_units(mixed, monkeypatch):
    """Units dealt in turn, so that all have their share."""

    def deal(units, workers):
        done = [0] * len(workers)
        for number, unit in enumerate(units):
            workers[number % len(workers)].step(unit.span)
            done[number % len(workers)] += unit.work
        for worker in workers:
            worker.last()
        return done

    monkeypatch.setattr(job, "run_queue", deal)
    for name, graph in CASES.items():
        counts, values, done, work = _in_units(mixed, build(*graph), Hybrid(workers=2))
        assert (counts, values) == _on_one_device("edge", name), name
        assert sum(done) == work
    assert min(done) > 0


@pytest.mark.parametrize("order", ["degree", *more("-degree", "volume", "-volume")])
def test_gpus_and_the_cpu_together(mixed, order):
    """Every order of the queue and every share of the work; who does what is left to chance."""
    for (name, graph), alpha in zip(CASES.items(), itertools.cycle([0.0, 0.3, 1.0])):
        counts, values, done, work = _in_units(mixed, build(*graph), Hybrid(order, alpha, chunk=0.1, workers=2))
        assert (counts, values) == _on_one_device("edge", name), name
        assert sum(done) == work
        assert len(done) == (2 if alpha == 0 else 4)
        assert sum(done[2:]) <= alpha * work


@pytest.mark.gpu
@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("order", ["degree", "-degree", "volume", "-volume"])
def test_hybrid_on_gpus(order, alpha):
    _assert_same_everywhere("node", devices=Hybrid(order, alpha))


@pytest.mark.parametrize(
    ("units", "detail"),
    [*((False, detail) for detail in FRONT_DOORS), (True, "edge"), *more((True, "graph"), (True, "node"))],
)
def test_a_second_graph_of_a_bucket_compiles_nothing(monkeypatch, detail, units):
    if units:
        monkeypatch.setattr(run, "_LONG", {"cpu": -1, "accelerator": -1})
    FRONT_DOORS[detail](build(*GRAPHS["clique"]))
    others = [graph for name, graph in GRAPHS.items() if name != "clique"]
    assert len({(n, len(edges)) for n, edges in others}) == len(others)
    with compilations() as found:
        for graph in others:
            FRONT_DOORS[detail](build(*graph))
    assert not found


@pytest.mark.parametrize("number", [12, pytest.param(100, marks=pytest.mark.slow)])
def test_graphs_of_many_sizes_share_few_programs(number):
    """Of every density, 20 to 200 nodes."""
    rng = np.random.default_rng(0)
    with programs() as found:
        for n in np.linspace(20, 200, number).astype(int).tolist():
            graph = erdos_renyi(n, m=int(rng.uniform(1, n / 3) * n / 2), seed=n)
            assert jaxmotif.graphlet_counts(graph).counts["edge"] == graph.m
    assert 1 <= len(found) <= 12


def test_with_jit_turned_off():
    """As JAX_DISABLE_JIT=1 does, which is how people look into a failure: the same counts."""
    n, edges = GRAPHS["disconnected"]
    expected, _, _ = brute_force(n, edges)
    with jax.disable_jit():
        assert jaxmotif.graphlet_counts(build(n, edges)).counts == expected


@pytest.mark.parametrize("long", [2**33, 0])
def test_an_accelerator_runs_a_short_run_as_one_program(long, monkeypatch):
    """Where a bound on its work is small nobody waits for the plan; the columns are the same."""
    n, edges = GRAPHS["hub and blocks"]
    graph, (_, columns, _) = build(n, edges), brute_force(n, edges)
    wanted = np.stack([columns[name] for name in EDGE_COLUMN_NAMES], axis=-1)
    planned = []

    def prepare(*arguments, original=run.prepare):
        planned.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(run, "target_of", lambda device: Target("tpu"))
    monkeypatch.setattr(run, "prepare", prepare)
    monkeypatch.setitem(run._LONG, "accelerator", long)
    np.testing.assert_array_equal(jaxmotif.edge_graphlets(graph).to_numpy(), wanted)
    assert len(planned) == (0 if long else 1)
