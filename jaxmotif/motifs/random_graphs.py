"""Random graphs with the degrees of a given graph: independent chains of degree-preserving moves."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal, get_args

import jax
import numpy as np

from jaxmotif.devices.job import Job, places, run_job
from jaxmotif.devices.ledger import Arrays, joined
from jaxmotif.devices.memory import check_budget
from jaxmotif.devices.select import Devices, select_devices
from jaxmotif.devices.spans import Span
from jaxmotif.graph import Graph
from jaxmotif.kernels.choice import Backend, kernel_backend
from jaxmotif.kernels.switching import Accepted, Ends, Fixed, Step, hash_slots, switch_steps

Keep = Literal["bidegree", "degree"]
DEFAULT_ATTEMPTS = 40.0  # pair switches tried per edge; see experiments/results/motifs_null.md
CPU_LABELS = 2**13  # labels that a CPU moves at once


@dataclasses.dataclass(frozen=True, eq=False)
class Wiring:
    """A graph as labels for the moves: fixed tails, current ends, and what rides along.

    Attributes:
      fixed: the unchanging half; ends: the graph itself as a state.
      arc_labels: edge labels of the arcs, ``[A]``, or ``None``; pair_labels: of both ways of the pairs, ``[P, 2]``.
      directed: whether a pair is two arcs (else one undirected edge).
    """

    fixed: Fixed
    ends: Ends
    arc_labels: np.ndarray | None
    pair_labels: np.ndarray | None
    directed: bool

    @property
    def num_labels(self) -> int:
        return self.fixed.tail.shape[0] + self.ends.left.shape[0]


def wiring(graph: Graph, keep: Keep) -> Wiring:
    """Divide a graph's edges into arcs and pairs, in an order that has nothing to do with the input's (host).

    ``bidegree``: one-way arcs, and reciprocated pairs. ``degree``: arcs only. Undirected edges are all pairs.
    """
    edges = graph.edge_list().astype(np.int32)
    labels = None if graph.edge_labels is None else np.asarray(graph.edge_labels)[graph.edge_slots()]
    u, v = edges.T
    pair_labels = None
    if not graph.directed:
        is_arc, is_pair = np.zeros(graph.m, bool), np.ones(graph.m, bool)
        back = np.arange(graph.m)
    elif keep == "degree":
        is_arc, is_pair = np.ones(graph.m, bool), np.zeros(graph.m, bool)
        back = np.arange(graph.m)
    else:
        key, mirror = u.astype(np.int64) * graph.n + v, v.astype(np.int64) * graph.n + u
        back = np.minimum(np.searchsorted(key, mirror), max(graph.m - 1, 0))
        both = key[back] == mirror if graph.m else np.zeros(0, bool)
        is_arc, is_pair = ~both, both & (u < v)
    rng = np.random.default_rng(0)  # any fixed shuffle will do
    arcs, pairs = rng.permutation(np.flatnonzero(is_arc)), rng.permutation(np.flatnonzero(is_pair))
    if labels is not None:
        pair_labels = np.stack([labels[pairs], labels[back[pairs]]], axis=1)
    by_tail = np.argsort(u[arcs], kind="stable").astype(np.int32)
    starts = np.searchsorted(u[arcs][by_tail], np.arange(graph.n + 1)).astype(np.int32)
    fixed = Fixed(u[arcs], by_tail, starts, ordered=graph.directed and keep == "degree")
    ends = Ends(v[arcs], u[pairs], v[pairs])
    return Wiring(fixed, ends, None if labels is None else labels[arcs], pair_labels, graph.directed)


@dataclasses.dataclass(frozen=True, eq=False)
class RandomGraphs(Sequence):
    """Random graphs with the degrees of a given graph; ``graphs[i]`` is the i-th as a :class:`Graph`.

    Attributes:
      source: the given graph.
      keep: ``"bidegree"`` or ``"degree"``.
      step: how the moves were decided.
      steps: steps each chain took.
      attempts: pair switches tried per edge, in each chain.
      numbers: int32 ``[num]``, which graphs of the row of all they are.
      switches, triples: int64 ``[num]``, pair switches and turns of three arcs made.
      ends: the states, int32 arrays with a leading axis ``[num]`` (host).
      wiring: the given graph in the same form.
    """

    source: Graph
    keep: Keep
    step: Step
    steps: int
    attempts: float
    numbers: np.ndarray
    switches: np.ndarray
    triples: np.ndarray
    ends: Ends
    wiring: Wiring

    def __len__(self) -> int:
        return self.ends.head.shape[0]

    def __getitem__(self, index) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(index, slice | np.ndarray):
            return dataclasses.replace(
                self, numbers=self.numbers[index], switches=self.switches[index], triples=self.triples[index],
                ends=Ends(*(x[index] for x in self.ends)),
            )  # fmt: skip
        edges, labels = self.edges(index)
        nodes = None if self.source.node_labels is None else np.asarray(self.source.node_labels)[: self.source.n]
        return Graph.from_edges(
            edges, self.source.n, self.source.directed, nodes, labels, node_names=self.source.node_names
        )

    def edges(self, index: int) -> tuple[np.ndarray, np.ndarray | None]:
        """The edges of one graph, int32 ``[m, 2]``, in the order of the labels, and their edge labels."""
        w = self.wiring
        head, left, right = (np.asarray(x[index]) for x in self.ends)
        parts = [np.stack([w.fixed.tail, head], axis=1), np.stack([left, right], axis=1)]
        labels = None if w.arc_labels is None or w.pair_labels is None else [w.arc_labels, w.pair_labels[:, 0]]
        if w.directed:
            parts.append(np.stack([right, left], axis=1))
            if labels is not None and w.pair_labels is not None:
                labels.append(w.pair_labels[:, 1])
        return np.concatenate(parts), None if labels is None else np.concatenate(labels)

    @property
    def acceptance(self) -> float:
        """The part of the tried pair switches that were made, over all chains."""
        tried = self.attempts * self.wiring.num_labels * len(self)
        return float(self.switches.sum() / tried) if tried else 0.0

    @property
    def null_model(self) -> str:
        """What is kept, which moves made the graphs, and what may be claimed of them."""
        return null_model(self.source, self.keep)


def null_model(graph: Graph, keep: Keep) -> str:
    """What random graphs keep, which moves make them, and what may be claimed of them."""
    if not graph.directed:
        kept, moves = "degree of every node", "edge-pair switches"
    elif keep == "degree":
        kept = "in- and out-degree of every node"
        moves = "arc-pair switches and cyclic turns of three arcs' heads"
    else:
        kept = "in-, out- and reciprocal degree of every node"
        moves = "switches of one-way arcs, switches of reciprocated pairs and cyclic turns of three arcs' heads"
    return f"keeps the {kept}; uniform over the graphs reachable by {moves}"


def random_graphs(
    graph: Graph,
    num: int,
    key: Any,
    keep: Keep = "bidegree",
    *,
    attempts: float = DEFAULT_ATTEMPTS,
    step: Step = "reject",
    first: int = 0,
    start: RandomGraphs | None = None,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> RandomGraphs:
    """Draw random graphs with the degrees of a given graph, each by a chain of its own that starts there.

    With ``keep="bidegree"`` every node keeps its numbers of one-way predecessors, one-way successors and reciprocated
    neighbours; with ``"degree"`` its in- and out-degree, and reciprocation is free. An undirected graph keeps its
    degrees either way. The stationary distribution is uniform over the graphs that the moves (see
    :attr:`RandomGraphs.null_model`) can reach; for ``"bidegree"`` no known set of local moves reaches all graphs of
    every degree sequence, though for sparse ones presumably it does. Node labels stay with their nodes, an arc's
    label with its tail.

    Args:
      graph: any simple graph.
      num: how many graphs.
      key: ``jax.random.key``. Graph i is the same whatever ``num``, the devices and the memory.
      keep: the null model.
      attempts: pair switches to try per edge.
      step: ``"reject"`` (cheap, refuses switches that might clash) or ``"global"`` (decides as if one by one).
      first: the number of the first graph: ``first=500, num=100`` are the graphs 500..599 of a longer run.
      start: graphs of an earlier call with the same key, whose chains go on for ``attempts`` more.
      devices: as everywhere; chains are divided among them.
      memory: bytes to work in, on each device.
      progress: show a meter.

    Returns:
      The graphs, with what was tried and made.

    Raises:
      ValueError: a wrong option, too little memory, or a graph too large for ``step="global"``.

    Example:
      >>> import jax
      >>> ring = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)], directed=True)
      >>> sample = random_graphs(ring, 3, jax.random.key(0))
      >>> sample[0].degrees.tolist(), sample[0].in_degrees.tolist()
      ([1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1])
    """
    if num < 1:
        raise ValueError(f"num must be at least 1, got {num}")
    if keep not in get_args(Keep):
        raise ValueError(f"keep must be 'bidegree' or 'degree', got {keep!r}")
    if step not in get_args(Step):
        raise ValueError(f"step must be 'reject' or 'global', got {step!r}")
    if not attempts >= 0 or math.isinf(attempts):
        raise ValueError(f"attempts must be a number of tries per edge, at least 0, got {attempts}")
    if start is not None and (len(start) != num or start.keep != keep or start.source is not graph):
        raise ValueError("start must hold the same number of graphs of the same source and keep")
    wired = start.wiring if start is not None else wiring(graph, keep)
    labels = wired.num_labels
    if step == "global" and graph.n**2 << labels.bit_length() >= 2**62:
        raise ValueError(f"step='global' packs nodes and time into 62 bits: too many for n={graph.n}, m={graph.m}")
    per_step = (wired.fixed.tail.shape[0] // 2 + wired.ends.left.shape[0] // 2) / max(labels, 1)
    steps = math.ceil(attempts / per_step) if per_step else 0
    done = start.steps if start is not None else 0
    numbers = start.numbers if start is not None else first + np.arange(num, dtype=np.int32)

    selection = select_devices(devices)

    def make(device: jax.Device) -> _Hand:
        chunk = _chunk(wired, num, kernel_backend(device), memory, len(selection.devices))
        return _Hand(wired, start, key, step, numbers, (done, steps), device, chunk)

    parts = -(-num // _chunk(wired, num, kernel_backend(selection.main), memory, len(selection.devices)))
    job = Job("random-graphs", np.arange(num + 1), parts, joined, "graphs", "random graphs")
    found = run_job(job, make, places(selection), selection, show=progress).found
    ends = Ends(*(np.empty((num, x.shape[0]), np.int32) for x in wired.ends))
    switches, triples = (np.empty(num, np.int64) for _ in range(2))
    for name in list(found):
        low, _, field = name.partition("/")
        part = found.pop(name)
        whole = {**ends._asdict(), "switches": switches, "triples": triples}[field]
        whole[int(low) : int(low) + part.shape[0]] = part
    if start is not None:
        switches, triples = switches + start.switches, triples + start.triples
    total = done + steps
    return RandomGraphs(graph, keep, step, total, total * per_step, numbers, switches, triples, ends, wired)


class _Hand:
    """Draws graphs on a device, some chains at a time; what they are is on the host already."""

    def __init__(
        self, wired: Wiring, start: RandomGraphs | None, key: Any, step: Step, numbers: np.ndarray,
        steps: tuple[int, int], device: jax.Device, chunk: int,
    ):  # fmt: skip
        self._wired, self._start, self._key, self._step = wired, start, key, step
        self._numbers, self._steps = numbers, steps
        self._device, self._chunk, self._backend = device, chunk, kernel_backend(device)
        self._found: Arrays = {}

    def step(self, span: Span) -> None:
        for low in range(span.first, span.stop, self._chunk):
            self._draw(low, min(low + self._chunk, span.stop))

    def _draw(self, low: int, stop: int) -> None:
        (done, steps), chunk = self._steps, self._chunk
        # The last chunk is made whole with chains nobody looks at, so that all share a compilation.
        rows = np.minimum(low + np.arange(chunk), self._numbers.size - 1)
        which = self._numbers[rows]
        if self._start is None:
            initial = Ends(*(np.broadcast_to(x, (chunk, x.shape[0])) for x in self._wired.ends))
        else:
            initial = Ends(*(x[rows] for x in self._start.ends))
        numbers = which, np.int32(done), np.int32(steps)
        arrays = jax.device_put((self._wired.fixed, initial, self._key, *numbers), self._device)
        ends, made = jax.device_get(_chains(*arrays, step=self._step, backend=self._backend))
        parts = {**ends._asdict(), "switches": made.switches, "triples": made.triples}
        self._found |= {f"{low}/{name}": part[: stop - low] for name, part in parts.items()}

    def collect(self) -> Arrays:
        found, self._found = self._found, {}
        return found

    def halve(self) -> str | None:
        if self._chunk == 1:
            return None
        self._chunk //= 2
        return f"{self._chunk} graphs at a time"


@partial(jax.jit, static_argnames=("step", "backend"))
def _chains(fixed, ends, key, which, first, count, *, step: Step, backend: Backend) -> tuple[Ends, Accepted]:
    """One call's chains, side by side."""

    def chain(ends: Ends, index: Any) -> tuple[Ends, Accepted]:
        return switch_steps(fixed, ends, jax.random.fold_in(key, index), first, count, step=step, backend=backend)

    return jax.vmap(chain)(ends, which)


def _chunk(wired: Wiring, num: int, backend: Backend, memory: int | None, devices: int) -> int:
    """Chains per call; on a CPU few, whose tables stay in its cache, and few different numbers of them."""
    per_chain = 4 * hash_slots(wired.num_labels) + 256 * wired.num_labels
    check_budget(memory, per_chain, f"a random graph of {wired.num_labels} edges")
    fits = max(1, (memory or 2**33) // per_chain)
    if backend == "xla":
        most = min(max(1, CPU_LABELS // max(wired.num_labels, 1)), 1 << (num - 1).bit_length())
        return min(most, 1 << (fits.bit_length() - 1))
    return min(-(-num // devices), fits)
