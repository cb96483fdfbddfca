"""Random graphs with the degrees of a given graph: independent chains of degree-preserving moves."""

from __future__ import annotations

import dataclasses
import math
import time
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._checks import check_number, whole_number
from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._fetch import fetch_arrays
from jaxmotif.arrays._keys import as_key
from jaxmotif.arrays._present import logged
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.arrays._sizes import bucket_size, chain_lanes, power_of_four
from jaxmotif.census._pair_states import content_of
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import Job, JobOptions, Task, run_job
from jaxmotif.devices._memory import working_memory
from jaxmotif.devices._progress import METER
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, joined
from jaxmotif.devices._select import Devices, select_devices
from jaxmotif.graph import Graph, GraphLike, as_graph
from jaxmotif.graph._coerce import load_graph
from jaxmotif.kernels._chains import begin_chains, run_chains
from jaxmotif.kernels._switching import FOCUS_EVERY, SLOTS_PER_LABEL, TRIPLES_EVERY, Accepted, Ends, Fixed, whole_rounds
from jaxmotif.motifs._null_models import NullModel, States, Wiring, null_model_of

if TYPE_CHECKING:
    from chex import PRNGKey

DEFAULT_SWITCHES = 15.0
"""Moves that a chain makes for each edge: see experiments/results/motifs_mixing.md."""
MOST_ATTEMPTS = {False: 1000.0, True: 4000.0}
"""Most pair switches that are tried for each edge; the limit matters where few of them are accepted.

The second number holds where a null model keeps labels, blocks or distances beside degrees, for which most switches
are refused.
"""
MOST_STEPS = 2**29 - 4
"""Most steps of a chain: whole rounds, and four times as many, which motif discovery takes, are still an int32."""
LEAST_WALK_STEPS = 64
"""Number of steps of a chain that walks, enough to mix pieces of an ensemble that only walks connect."""
PILOT_STEPS = (8, 16, 32, 64, 128)
ENOUGH_SEEN = 24
"""Moves of each kind, at least, from which a pilot may end early."""
FEW_MOVES = 2 / 3
"""A note names the kinds of edges that made less than this part of the moves asked for."""
OF_PAIRS = "reciprocated pairs", "edges"
"""Names of pairs in a directed graph, and in an undirected one."""
LEFT_BEHIND = 0.05
"""Part of the edges whose kinds may make fewer moves than asked for, where blocks or distances are kept."""
LAGGING = 0.5
"""A kind that moves at less than this part of the fastest kind's pace may get steps of its own."""
_paces: weakref.WeakKeyDictionary[Graph, dict[tuple[NullModel, float], Pace]] = weakref.WeakKeyDictionary()
"""Results of pilots of a graph, by null model and moves asked for."""

CPU_LANES = 2**13  # labels that a CPU moves at once, so that their tables stay in its cache
CPU_CHAINS = 512  # chains that walk, for which a CPU's program has room
CPU_LABELS = 64, 512
"""Lengths of chains, in labels, that decide for how many chains a CPU's programs have room, where chains do not walk.

There is one program for graphs with fewer labels than the second number, and one for all others. Each has room for as
many chains of the first, or of the second, length as its lanes hold, and takes time for each of these chains.
"""

LEAST = {False: (16, CPU_LANES), True: (1024, 2**15)}
"""Least chains, and labels of one chain, to make room for: on a CPU and on an accelerator."""
LANE_BYTES = 4 * (2 * SLOTS_PER_LABEL) + 256  # tables of a step and of a round of triples, and about 256 for the rest
MOST_BYTES = 2**35  # most bytes for the chains that run at a time, by default: a GPU is no faster with more of them
MOST_LANES = 2**26  # because their slots are numbered by int32


class Pace(NamedTuple):
    """Length of a graph's chains, as a pilot measured it.

    Attributes:
      steps: the steps after which every kind of edge has made the moves asked for.
      slow: bool ``[labels]``, which edges are of kinds that move slowly. If there are any, one in ``FOCUS_EVERY`` steps
        is *focused*, which means that it proposes moves of these edges alone.
      still: how many edges are of kinds that made no move in the pilot, though the degrees would allow some.
    """

    steps: int
    slow: np.ndarray
    still: int


class ChainPlan(NamedTuple):
    """Plan by which random graphs are drawn: everything but their numbers.

    Attributes:
      graph: the given graph.
      model: the null model.
      wiring: the graph in the form that moves work on.
      key: the key of all chains.
      switches: the moves asked for: how many each kind of edges is to make for each of its edges.
      steps: the steps that each chain takes.
      attempts: the pair switches that a chain tries with these steps for each edge.
      bounded: whether more steps than allowed would be needed for the moves asked for.
      pace: the pilot's result, which also says what focused steps propose.
    """

    graph: Graph
    model: NullModel
    wiring: Wiring
    key: PRNGKey
    switches: float
    steps: int
    attempts: float
    bounded: bool
    pace: Pace

    @property
    def bytes_of_graph(self) -> int:
        """Bytes that a single random graph takes while it is drawn."""
        return LANE_BYTES * bucket_size(max(self.wiring.labels, 1))


def plan_chains(
    graph: Graph, key: int | PRNGKey | None, keep: str | NullModel, switches: float, attempts: float | None
) -> ChainPlan:
    """Check the options, and decide how long chains are.

    Without a number of attempts, a pilot decides: chains of another seed, run on the CPU for a few steps, say how fast
    each kind of edge moves. The length depends on the graph and the null model alone, never on the chains themselves,
    which would bias them.
    """
    model = null_model_of(keep, graph.directed)
    check_number(switches, "switches", 0, "a number of moves for each edge")
    if attempts is not None:
        check_number(attempts, "attempts", 0, "a number of tries per edge")
    wiring = Wiring.of(graph, model)
    labels, per_step = wiring.labels, wiring.pairs_a_step
    plain = Pace(0, np.zeros(labels, bool), 0)
    plan = ChainPlan(graph, model, wiring, as_key(key), switches, 0, 0.0, False, plain)
    if not per_step:
        return plan
    if attempts is not None:
        if attempts / per_step > MOST_STEPS:
            raise ValueError(
                f"attempts must be at most {MOST_STEPS * per_step:.3g} per edge of this graph, which take "
                f"{MOST_STEPS:,} steps, got {attempts:g}"
            )
        steps = whole_rounds(math.ceil(attempts / per_step))
        return plan._replace(steps=steps, attempts=steps * per_step)
    known, asked = _paces.setdefault(graph, {}), (model, switches)
    if asked not in known:
        known[asked] = _find_pace(plan)
    pace = known[asked]
    # A focused step tries the slow labels alone.
    per_step *= 1 - (1 - pace.slow.mean()) / FOCUS_EVERY if pace.slow.any() else 1.0
    beside_degrees = wiring.kinds is not None or wiring.groups is not None
    most = min(math.ceil(MOST_ATTEMPTS[beside_degrees] / per_step), MOST_STEPS)
    steps = whole_rounds(min(pace.steps, most))
    return plan._replace(steps=steps, attempts=steps * per_step, bounded=pace.steps > most, pace=pace)


def _find_pace(plan: ChainPlan) -> Pace:
    """Run the pilot: find how many steps let every kind of edge make its moves, and whether some should be focused.

    A kind is a set of edges that no move mixes with others: the one-way arcs, the reciprocated pairs, a group of
    labels, or where blocks or distances are kept, the dyads between two blocks or of one class of length. A kind that
    the degrees leave no switch needs no moves.
    """
    wiring, switches = plan.wiring, plan.switches
    # The pilot has a seed of its own ("pilo"), since the chains' own moves must not decide how long they are.
    plan = plan._replace(key=as_key(0x70696C6F))
    of_edges = wiring.dyad_kinds(wiring.ends)
    sizes = np.bincount(of_edges)
    pilot = _Pilot(plan)
    rates, moves = np.zeros(sizes.size), 0.0
    for steps in PILOT_STEPS:
        rates, seen = pilot.rates(steps)
        moves += float(rates @ sizes / wiring.labels) * steps
        # The first steps are not typical, since they begin at the graph itself.
        if steps > PILOT_STEPS[0] and moves >= 1 and seen.min() >= ENOUGH_SEEN:
            break
    if wiring.kinds is None:
        # Edges that have no other place to go ask for no moves.
        asks, still = rates > 0, (rates == 0)[of_edges]
        still = still & wiring.movable() if still.any() else still
    else:
        # Some of many kinds of dyads hold an edge or two, which hardly find others to exchange with.
        asks = _all_but_slowest(rates, sizes, np.bincount(of_edges, np.arange(wiring.labels) >= wiring.arcs) > 0)
        still = (rates == 0)[of_edges]
        still &= still.mean() > LEFT_BEHIND
    pace = Pace(0, np.zeros(wiring.labels, bool), int(still.sum()))
    slow = asks & (rates < LAGGING * rates.max(initial=0.0))
    if slow.any() and wiring.kinds is None:
        focused_pace = pace._replace(slow=slow[of_edges])
        pilot.change_pace(focused_pace)
        focused, _ = pilot.rates(PILOT_STEPS[-1])
        if focused[asks].min() > rates[asks].min():
            pace, rates = focused_pace, focused
    if still.any() and wiring.kinds is None:
        needed = 2**30
    elif asks.any():
        needed = math.ceil(min(switches / rates[asks].min(), 2.0**30))
    else:  # one round is enough to show that nothing moves
        needed = TRIPLES_EVERY
    return pace._replace(steps=whole_rounds(max(needed, LEAST_WALK_STEPS * wiring.walks)))


def _all_but_slowest(rates: np.ndarray, sizes: np.ndarray, of_pairs: np.ndarray) -> np.ndarray:
    """Return which kinds are to make all their moves, bool ``[kinds]``.

    These are all kinds of arcs except the slowest ones, which together hold at most ``LEFT_BEHIND`` of the arcs, and
    likewise for pairs. A kind that does not move at all is never among them.
    """
    asks = rates > 0
    for alike in (of_pairs, ~of_pairs):
        order = np.flatnonzero(alike)[np.argsort(rates[alike], kind="stable")]
        size_so_far = np.cumsum(sizes[order])
        asks[order[size_so_far <= LEFT_BEHIND * sizes[alike].sum()]] = False
    return asks


class _Pilot:
    """Chains of another seed on the CPU, which begin at the graph, and whose moves are counted by kind.

    Args:
      plan: a plan with the pilot's own key.
    """

    def __init__(self, plan: ChainPlan):
        try:
            self._device = jax.local_devices(backend="cpu")[0]
        except RuntimeError:  # JAX_PLATFORMS may leave the CPU out
            self._device = jax.local_devices()[0]
        self._plan, self._wiring = plan, plan.wiring
        self.change_pace(plan.pace)
        self._numbers = np.arange(self._chains.most, dtype=np.int32)
        self._ends, self._done = None, 0

    def change_pace(self, pace: Pace) -> None:
        """Let the chains go on at another pace."""
        number = max(1, min(16, CPU_LANES // self._wiring.labels))
        self._chains = Chains(self._plan._replace(pace=pace), self._device, None, number)

    def rates(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """Run some steps, whole rounds, and measure how fast each kind moves.

        Returns:
          The moves per edge and step of each kind, float64 ``[kinds]``, and how often edges of each kind were seen to
          move.
        """
        if self._wiring.kinds is None:
            moved = self._run(steps)
            kinds = np.broadcast_to(self._wiring.label_kinds, moved.shape)
            seen = np.bincount(kinds.reshape(-1), moved.reshape(-1))
            # A move is made by two edges.
            return seen / (2 * steps * np.bincount(kinds.reshape(-1))), seen
        # Moves exchange the kinds of dyads, so kinds are read before each round, and the edges that move in it are
        # counted.
        seen = total = np.zeros(1)
        for _ in range(steps // TRIPLES_EVERY):
            before = self._wiring.ends if self._ends is None else self._ends
            kinds = np.broadcast_to(self._wiring.dyad_kinds(before), (self._numbers.size, self._wiring.labels))
            moved = self._run(TRIPLES_EVERY) > 0
            seen = seen + np.bincount(kinds.reshape(-1), moved.reshape(-1))
            total = total + np.bincount(kinds.reshape(-1))
        # An edge that moves in a step with probability p moves in a round with 1 - (1 - p)^steps.
        return (1 - (1 - seen / total) ** (1 / TRIPLES_EVERY)) / 2, seen

    def _run(self, steps: int) -> np.ndarray:
        """Go on for some steps; return how often each label moved, int32 ``[chains, labels]``."""
        lot = self._chains.run(self._numbers, self._ends, self._done, steps)
        self._ends, self._done = lot.fetch(self._wiring).ends, self._done + steps
        labels = self._wiring.labels
        return np.asarray(lot.made.moved)[: lot.number * labels].reshape(lot.number, labels)


_MOVES = "switches", "triples", "walked", "of_pairs"
"""Fields of :class:`Drawn` and :class:`RandomGraphs` that count the moves of every chain."""


class Drawn(NamedTuple):
    """Chains after some steps, on the host: states, int32 ``[num, labels]``, and moves made, int64 ``[num]``."""

    tail: np.ndarray
    head: np.ndarray
    switches: np.ndarray
    triples: np.ndarray
    walked: np.ndarray
    of_pairs: np.ndarray

    @property
    def ends(self) -> States:
        return States(self.tail, self.head)

    @property
    def counts(self) -> tuple[np.ndarray, ...]:
        """The numbers of moves of each kind, and of pairs among them."""
        return self[2:]

    @property
    def moves(self) -> np.ndarray:
        return self.switches + self.triples + self.walked


class Chains:
    """Chains on one device, as many at a time as its memory allows.

    Attributes:
      asked: how many chains the caller wants to run at a time.
      most: how many chains can run at a time.
    """

    def __init__(self, plan: ChainPlan, device: jax.Device, memory: int | None, num: int):
        self._plan, self._device, self.asked = plan, device, num
        self._key = jax.device_put(plan.key, device)
        self._fixed: dict[int, Fixed] = {}  # by the room for labels
        self._given: dict[int, Ends] = {}  # by the number of lanes
        labels = max(plan.wiring.labels, 1)
        self._accelerated = target_of(device).is_accelerator
        least = plan.bytes_of_graph
        bytes_ = working_memory(memory, device, least, f"a random graph of {labels} edges")
        room = (bytes_ if memory is not None else max(least, min(bytes_, MOST_BYTES))) // LANE_BYTES
        self._room = min(room, MOST_LANES)
        wanted = num * labels if self._accelerated else CPU_LANES
        # There are as many chains as their labels have lanes for.
        self.most = max(1, min(num, wanted // labels, self._room // bucket_size(labels)))
        # A CPU takes few lanes at a time, and the same number where a chain needs no more: one program for all small
        # graphs.
        self._cpu_sizes: tuple[int, int, int] | None = None
        if not self._accelerated:
            chains = CPU_CHAINS if plan.wiring.walks else CPU_LANES // CPU_LABELS[labels >= CPU_LABELS[1]]
            if target_of().is_accelerator:  # Beside it a CPU runs few chains at a time, such as those of a pilot.
                chains = min(chains, power_of_four(num, LEAST[False][0]))
            self.most = min(self.most, chains)
            if labels <= CPU_LANES <= room:
                self._cpu_sizes = CPU_LANES, chains, CPU_LANES

    def _sizes(self, number: int) -> tuple[int, int, int]:
        """Return the lanes, chains and labels of one chain to make room for, where ``number`` chains are run."""
        if self._cpu_sizes is not None:
            return self._cpu_sizes
        labels = max(self._plan.wiring.labels, 1)
        # Room that is only there for the sake of few programs must fit, too.
        most = max(self._room, bucket_size(number * labels))
        lanes = min(chain_lanes(number * labels, self._accelerated), most)
        least_chains, least_labels = LEAST[self._accelerated]
        return lanes, power_of_four(number, least_chains), chain_lanes(max(labels, least_labels), False)

    def halve(self) -> str | None:
        """Run fewer chains at a time; return a note that says so, or ``None`` where it is one already."""
        if self.most == 1:
            return None
        # From here on sizes follow the number, instead of one program for all.
        self.most, self._cpu_sizes = self.most // 2, None
        return f"{self.most} random graphs at a time"

    def draw(self, numbers: np.ndarray, start: States | None, done: int, steps: int) -> Drawn:
        """Run the chains of these numbers for ``steps`` steps, and fetch the graphs they then stand at.

        Args:
          numbers: int32 ``[b]``, the numbers of the chains.
          start: the states at which they stand; ``None``: at the given graph.
          done: the steps that they have made before.
          steps: the steps to make.
        """
        if not numbers.size:
            ends, moves = np.zeros((0, self._plan.wiring.labels), np.int32), np.zeros(0, np.int64)
            return Drawn(ends, ends, *[moves] * len(_MOVES))
        parts: list[Drawn] = []
        meter = METER.get()
        for low in range(0, numbers.size, self.most):
            at, started = slice(low, low + self.most), time.monotonic()
            lot = self.run(numbers[at], None if start is None else start.rows(at), done, steps)
            parts.append(lot.fetch(self._plan.wiring))
            if meter is not None and len(parts) == 2:  # The first run may have compiled its program.
                meter.expect((time.monotonic() - started) / lot.number)
        return parts[0] if len(parts) == 1 else Drawn(*map(np.concatenate, zip(*parts, strict=True)))

    def run(
        self,
        numbers: np.ndarray,
        start: States | Lot | None,
        done: int,
        steps: int,
        rows: np.ndarray | None = None,
        room: int = 0,
    ) -> Lot:
        """Run at most :attr:`most` chains as :meth:`draw` does, and leave them on the device.

        Args:
          numbers: int32 ``[b]``, the numbers of the chains.
          start: the states at which they stand; ``None``: at the given graph.
          done: the steps that they have made before.
          steps: the steps to make.
          rows: which state of ``start`` each chain stands at (default: each at its own).
          room: if this is larger than ``b``, run the program for so many chains, which may be compiled already.
        """
        plan = self._plan
        lanes, chains, capacity = self._sizes(max(numbers.size, room))
        if start is None:
            rows = np.zeros(numbers.size, np.int32)
        elif rows is None:
            rows = np.arange(numbers.size, dtype=np.int32)
        if isinstance(start, Lot):
            ends = start.ends
        else:
            ends = self.given() if start is None else self._put(start, lanes)
        # NumPy's arrays go to the device with the call of a program, in a tenth of the time of a call of their own.
        origin, which = pad_rows(rows.astype(np.int32), chains), pad_rows(numbers, chains)
        used, *span = np.int32(numbers.size), np.int32(done), np.int32(steps)
        if capacity not in self._fixed:
            self._fixed[capacity] = plan.wiring.fixed(capacity, self._device, plan.pace.slow)
        fixed = self._fixed[capacity]
        if ends.tail.size != lanes:  # a short program rearranges the states, so that one long program serves all calls
            ends = begin_chains(fixed, ends, origin, used, lanes=lanes)
            origin = np.arange(chains, dtype=np.int32)
        ends, made = run_chains(
            fixed, ends, origin, self._key, which, used, *span, lanes=lanes, walks=plan.wiring.walks
        )
        return Lot(ends, made, numbers.size)

    def given(self, room: int = 0) -> Ends:
        """Put the given graph on the device as a state, in as many lanes as ``room`` chains have (default: one)."""
        lanes = self._sizes(max(room, 1))[0]
        if lanes not in self._given:
            self._given[lanes] = self._put(self._plan.wiring.ends, lanes)
        return self._given[lanes]

    def _put(self, states: States, room: int) -> Ends:
        return Ends(*jax.device_put([pad_rows(x.reshape(-1), room) for x in states], self._device))


class Lot(NamedTuple):
    """Chains on their device: their states in lanes, one after another; moves made; and how many chains these are."""

    ends: Ends
    made: Accepted
    number: int

    @property
    def counts(self) -> list[np.ndarray]:
        """The numbers of moves that each chain made, int64 ``[num]`` each, as the fields of :class:`Drawn`."""
        return [np.asarray(x)[: self.number].astype(np.int64) for x in self.made[:4]]

    def fetch(self, wiring: Wiring) -> Drawn:
        """Fetch the chains to the host."""
        ends = fetch_arrays(self.ends)
        used = (x[: self.number * wiring.labels].reshape(self.number, wiring.labels) for x in ends)
        return Drawn(*used, *self.counts)


@dataclasses.dataclass(frozen=True, eq=False)
class RandomGraphs(Sequence):
    """Random graphs with the degrees of a given graph; ``graphs[i]`` is the i-th as a :class:`Graph`.

    Attributes:
      source: the given graph.
      model: the null model.
      steps: how many steps each chain took.
      attempts: how many pair switches each chain tried per edge.
      numbers: int32 ``[num]``, the numbers of the graphs among all graphs of the key.
      switches: int64 ``[num]``, pair switches made.
      triples: int64 ``[num]``, turns of three arcs made.
      walked: int64 ``[num]``, moves of walks made.
      of_pairs: int64 ``[num]``, how many of all these moves were moves of pairs.
      ends: the graphs as states of ``wiring``, int32 arrays ``[num, labels]`` on the host.
      wiring: the given graph, in the form that moves work on.
      pace: which steps were focused on slow edges.
      notes: warnings in words, such as that chains could not move, or moved little.
    """

    source: Graph
    model: NullModel
    steps: int
    attempts: float
    numbers: np.ndarray
    switches: np.ndarray
    triples: np.ndarray
    walked: np.ndarray
    of_pairs: np.ndarray
    ends: States
    wiring: Wiring
    pace: Pace
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return self.numbers.size

    def __repr__(self) -> str:
        return f"RandomGraphs({len(self)} of {self.source}, keep={self.keep!r}, {self.accepted:.1f} moves per edge)"

    def __getitem__(self, index) -> Graph | RandomGraphs:  # pyright: ignore[reportIncompatibleMethodOverride]
        if isinstance(index, slice | np.ndarray):
            some = {name: getattr(self, name)[index] for name in ("numbers", *_MOVES)}
            return dataclasses.replace(self, ends=self.ends.rows(index), **some)
        source, edges = self.source, np.stack(self.wiring.edges(self.ends.rows(index)), axis=-1)
        labels = None if source.node_labels is None else np.asarray(source.node_labels)[: source.n]
        names, edge_labels = source.node_names, self.wiring.edge_labels
        graph = Graph.from_edges(edges, source.n, source.directed, labels, edge_labels, node_names=names)
        return graph._with_host_fields(graph.report, names, *source._label_words)

    @property
    def keep(self) -> str:
        """The null model's name."""
        return self.model.name

    @property
    def moves(self) -> np.ndarray:
        """All moves that each chain made, int64 ``[num]``."""
        return self.switches + self.triples + self.walked

    @property
    def accepted(self) -> float:
        """Moves made for each edge, over all chains."""
        return float(self.moves.mean() / max(self.wiring.labels, 1))

    @property
    def accepted_by_kind(self) -> dict[str, float]:
        """Moves made for each edge of a kind, over all chains, by the kind's name."""
        return moves_by_kind(self.wiring, self.moves, self.of_pairs)

    @property
    def acceptance(self) -> float:
        """The part of the tried pair switches that were made, over all chains."""
        tried = self.attempts * self.wiring.labels * len(self)
        return float(self.switches.sum() / tried) if tried else 0.0

    @property
    def null_model(self) -> str:
        """Words that say what is kept, which moves made the graphs, and what may be claimed of them."""
        return self.model.claim(self.wiring.walks)


def moves_by_kind(wiring: Wiring, moves: np.ndarray, of_pairs: np.ndarray) -> dict[str, float]:
    """Return the moves made for each arc, and for each pair, by the name of the kind.

    A kind of fewer than two edges is left out, since it cannot move.

    Args:
      wiring: the graph in the form that moves work on.
      moves: int64 ``[num]``, all moves of each chain.
      of_pairs: int64 ``[num]``, the moves of pairs among them.
    """
    arcs, pairs = wiring.arcs, wiring.labels - wiring.arcs
    two = wiring.both_ways and not wiring.ordered
    names = "one-way arcs" if two else "arcs", OF_PAIRS[0 if two else 1]
    mean_moves = (moves - of_pairs).mean(), of_pairs.mean()
    return {
        name: float(number / size)
        for name, number, size in zip(names, mean_moves, (arcs, pairs), strict=True)
        if size > 1
    }


def chain_notes(plan: ChainPlan, moves: np.ndarray, of_pairs: np.ndarray) -> tuple[str, ...]:
    """Return notes on how well chains moved, and log them.

    Args:
      plan: the plan of the chains.
      moves: int64 ``[num]``, all moves that each chain made.
      of_pairs: int64 ``[num]``, the moves of pairs among them.
    """
    if not plan.steps and plan.wiring.pairs_a_step:  # no moves were asked for
        return ()
    note, labels, wiring = "", max(plan.wiring.labels, 1), plan.wiring
    accepted = moves.mean() / labels
    kinds = moves_by_kind(wiring, moves, of_pairs)
    few = {name: made for name, made in kinds.items() if made < FEW_MOVES * plan.switches}
    if not moves.any():
        note = "no chain could move: every random graph is the given one, which says nothing of how unusual it is"
    elif plan.pace.still:
        note = (
            f"{plan.pace.still} edges hardly move: all that they might become is taken by others. The chains made "
            f"{accepted:.2g} moves per edge in {plan.attempts:.0f} tries, and may not have left what is near the "
            "graph; try more attempts"
        )
    elif plan.bounded and (few or wiring.kinds is not None or wiring.groups is not None):
        why = "in so dense a graph" if plan.wiring.kinds is None else "for what is kept beside degrees"
        said = " and ".join(f"{name} made {made:.2g} moves each" for name, made in (few or kinds).items())
        note = (
            f"{said} in the {plan.attempts:.0f} switches per edge that are tried at most, fewer than asked for: most "
            f"are refused {why}; try more attempts"
        )
    elif not moves.all():
        note = f"{np.count_nonzero(moves == 0)} of {moves.size} chains made no move at all: try more attempts"
    elif few and (few := _not_for_want_of_places(plan, few)):
        said = " and ".join(f"{name} made {made:.2g} moves each" for name, made in few.items())
        note = f"{said}, fewer than the {plan.switches:g} that let chains forget the graph: try more attempts"
    return logged(note) if note else ()


def _not_for_want_of_places(plan: ChainPlan, few: dict[str, float]) -> dict[str, float]:
    """Leave out the kinds that made few moves only because the degrees allow many of their edges no move at all."""
    wiring, movable = plan.wiring, plan.wiring.movable()
    parts = {name: movable[wiring.arcs :] if name in OF_PAIRS else movable[: wiring.arcs] for name in few}
    return {name: made for name, made in few.items() if made < FEW_MOVES * plan.switches * float(parts[name].mean())}


@on_cluster(load_graph)
def random_graphs(
    graph: GraphLike,
    num: int,
    key: int | PRNGKey | None = None,
    keep: str | NullModel = "bidegree",
    *,
    switches: float = DEFAULT_SWITCHES,
    attempts: float | None = None,
    first: int = 0,
    start: RandomGraphs | None = None,
    devices: Devices = None,
    memory: int | None = None,
    progress: bool = False,
) -> RandomGraphs:
    """Draw random graphs with the degrees of a given graph, each by a chain of its own that starts there.

    With ``keep="bidegree"`` every node keeps its numbers of one-way predecessors, one-way successors and reciprocated
    neighbours. With ``"degree"`` it keeps its in- and out-degree, and reciprocation is free. An undirected graph keeps
    its degrees either way. :func:`jaxmotif.motifs.keep_labels` (``"labels"``), :func:`~jaxmotif.motifs.keep_blocks` and
    :func:`~jaxmotif.motifs.keep_distances` keep more than degrees. Node labels stay with their nodes, and the label of
    an arc with its tail. But the label of an undirected edge, and where reciprocation is kept the two labels of a
    reciprocated pair, travel with the edge or the pair; ``"labels"`` keeps them at each node.

    The stationary distribution of the chains is uniform, and longer chains come nearer to it. For ``"degree"``, and for
    undirected graphs, it is uniform over all simple graphs with these degrees. For ``"bidegree"`` it is uniform over
    the graphs that the moves reach from the given graph. If that has at most 32 nodes and 256 edges, its chains also
    walk through graphs where arcs and pairs collide; then the moves reached all graphs in every one of the 8,609
    ensembles of 4 to 6 nodes that were enumerated. In larger sparse graphs they presumably reach all, too.
    :attr:`RandomGraphs.null_model` says what holds for a graph.

    Args:
      graph: any simple graph, or what :func:`jaxmotif.graph.as_graph` takes for one.
      num: how many random graphs to draw.
      key: a seed, or ``jax.random.key(seed)``; seed 0 when not given. Graph i is the same whatever ``num``, the devices
        and the memory.
      keep: the null model, or its name in ``NULL_MODELS``.
      switches: about how many moves a chain makes for each edge. To make them it tries at most 1,000 pair switches per
        edge, or 4,000 where labels, blocks or distances are kept.
      attempts: how many pair switches a chain tries per edge, instead of ``switches``.
      first: the number of the first graph: ``first=500, num=100`` are the graphs 500..599 of a longer run.
      start: graphs of an earlier call, whose chains go on: for ``attempts`` more tries per edge, or without
        ``attempts`` for as many steps again. They keep their numbers, so that ``first`` is not given.
        ``key`` gives the random bits of the further steps: that of the earlier call, to go on as one longer call does.
      devices: where to run, see :data:`jaxmotif.devices.Devices`; chains are divided among them.
      memory: bytes to work in beyond the graph, on each device (default: half of what is free).
      progress: show a meter on standard error.

    Returns:
      The graphs, and how many moves their chains tried and made; ``notes`` says if chains could not move, or moved
      little.

    Raises:
      ValueError: a wrong option, or too little memory.

    Example:
      >>> ring = Graph.from_edges([(i, (i + 1) % 8) for i in range(8)], directed=True)
      >>> sample = random_graphs(ring, 3, 0)
      >>> sample[0].degrees.tolist(), sample[0].in_degrees.tolist()
      ([1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1, 1, 1])
    """
    graph = as_graph(graph)
    num, first = whole_number(num, "num", least=1), whole_number(first, "first")
    if not 0 <= first <= 2**31 - num:
        raise ValueError(f"first must be from 0 to 2^31 - num, got {first}")
    if start is not None and first:
        raise ValueError(f"the graphs of start keep their numbers; leave out first, got {first}")
    # Chains that go on for as long again need no pilot to say how long.
    plan = plan_chains(graph, key, keep, switches, 0.0 if start is not None and attempts is None else attempts)
    numbers, states, done = first + np.arange(num, dtype=np.int32), None, 0
    if start is not None:
        # Sources and models are compared by content, since those of graphs from a file or a cluster are other objects.
        before, now = (
            fingerprint(*content_of(source), *model.identity)
            for source, model in ((start.source, start.model), (graph, plan.model))
        )
        if before != now or len(start) != num:
            raise ValueError("start must hold the same number of graphs of the same source and keep")
        if attempts is None:
            plan = plan._replace(steps=start.steps, attempts=start.attempts, pace=start.pace)
        numbers, states, done = start.numbers, start.ends, start.steps
        if done + plan.steps > MOST_STEPS:
            raise ValueError(
                f"start has chains of {done:,} steps, and {plan.steps:,} more pass {MOST_STEPS:,}; give fewer attempts"
            )
    selection = select_devices(devices)
    share = -(-num // len(selection.devices))

    def make(device: jax.Device) -> _Task:
        return _Task(Chains(plan, device, memory, share), states, numbers, done, plan.steps)

    parts = -(-num // Chains(plan, selection.main, memory, share).most)
    job = Job("random-graphs", np.arange(num + 1), parts, joined, "graphs", "random graphs")

    def identity() -> tuple:
        begun = () if states is None else (*states, done)
        options = plan.key, plan.model.identity, plan.steps, plan.pace.slow, numbers
        return "random graphs", graph.edge_list(), graph.n, graph.directed, *options, *begun

    result = run_job(job, make, JobOptions(selection, progress=progress).identified(identity))
    firsts = sorted({int(name.split("/")[0]) for name in result.found})  # of the stretches that tasks drew
    drawn = Drawn(*(np.concatenate([result.found[f"{low}/{name}"] for low in firsts]) for name in Drawn._fields))
    steps, attempted = done + plan.steps, plan.attempts
    if start is not None:
        drawn = drawn._replace(**{name: getattr(drawn, name) + getattr(start, name) for name in _MOVES})
        attempted += start.attempts
    notes = chain_notes(plan, drawn.moves, drawn.of_pairs) + result.notes
    of_chains = numbers, *drawn[2:], drawn.ends
    return RandomGraphs(graph, plan.model, steps, attempted, *of_chains, plan.wiring, plan.pace, notes)


class _Task(Task):
    """Task of one worker: draw graphs on a device, some chains at a time, and fetch them to the host."""

    def __init__(self, chains: Chains, start: States | None, numbers: np.ndarray, done: int, steps: int):
        self._chains, self._start, self._numbers, self._done, self._steps = chains, start, numbers, done, steps
        self._found: Arrays = {}

    def step(self, span: Span) -> None:
        rows = slice(*span)
        start = None if self._start is None else self._start.rows(rows)
        drawn = self._chains.draw(self._numbers[rows], start, self._done, self._steps)
        self._found |= {f"{span.first}/{name}": array for name, array in drawn._asdict().items()}

    def collect(self) -> Arrays:
        found, self._found = self._found, {}
        return found

    def halve(self) -> str | None:
        return self._chains.halve()
