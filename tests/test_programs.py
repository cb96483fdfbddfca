"""How many programs an accelerator compiles for networks of many sizes, told by rehearsals, which compile nothing."""

from concurrent.futures import Executor, Future

import jax
import pytest

from jaxmotif.arrays._ahead import Rehearsal
from jaxmotif.arrays._compile import Target
from jaxmotif.census import _job as census
from jaxmotif.census import _sizes
from jaxmotif.devices import _memory
from jaxmotif.graph import synthetic
from jaxmotif.graphlets import _count as graphlets
from jaxmotif.graphlets import _tuning as tuning
from jaxmotif.graphlets import node_orbits
from jaxmotif.graphlets.five import matrices
from jaxmotif.motifs import _discovery, find_motifs, subgraph_census

CPU = jax.devices("cpu")[:1]


class Idle(Executor):
    """A pool that does nothing."""

    def submit(self, fn, /, *args, **kwargs):
        return Future()


class Told(Exception):
    """Takes the place of the work itself."""


@pytest.fixture
def programs(monkeypatch):
    """The programs that calls would compile on an accelerator of 120 GiB, by name and kinds of arguments."""
    told = set()
    take = Rehearsal.take

    def noted(self, run, args, kwargs):
        told.add((run.__qualname__, *(getattr(x, "shape", x) for x in jax.tree.leaves((args, kwargs)))))
        return take(self, run, args, kwargs)

    def rehearsed(work, device, what, rehearsal_of=None):
        Rehearsal(Idle()).run(rehearsal_of or work, device)
        raise Told

    monkeypatch.setattr(Target, "is_accelerator", property(lambda self: True))
    monkeypatch.setattr(Rehearsal, "take", noted)
    for module in (census, _discovery, graphlets):
        monkeypatch.setattr(module, "rehearsed", rehearsed)
    for module in (_memory, _sizes, matrices):
        monkeypatch.setattr(module, "default_memory", lambda device: 60 << 30)
    monkeypatch.setattr(tuning, "ACCELERATOR", tuning.ACCELERATOR._replace(loops=False))
    return told


def test_directed_networks(programs):
    """Networks of 40 to 1,000 nodes and 180 to 5,000 arcs have two programs of chains."""
    for n, m in ((40, 180), (250, 400), (130, 1_800), (420, 520), (690, 1_080), (280, 2_300), (1_000, 5_000)):
        graph = synthetic.erdos_renyi(n, m=m, directed=True)
        for size in (3, 4):
            with pytest.raises(Told):
                subgraph_census(graph, size, devices=CPU)
        with pytest.raises(Told):
            find_motifs(graph, 3, 100, attempts=1, devices=CPU)
    names = [name.rpartition(".")[2] for name, *_ in programs]
    assert names.count("run_chains") == 2
    assert names.count("_rows_from_graph") == 1
    assert len(names) <= 21, sorted(names)


def test_five_nodes(programs):
    """Networks of 40 to 7,000 nodes share all programs; hubs of one width more have one program more of each kind."""
    counts = []
    for n, degree in ((40, 12), (7_000, 12), (1_000, 30)):
        with pytest.raises(Told):
            node_orbits(synthetic.random_regular(n, degree), size=5, devices=CPU)
        counts.append(len(programs))
    assert counts[1] == counts[0] <= 20
    assert 0 <= counts[2] - counts[1] <= 3
