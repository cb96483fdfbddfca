"""Drawing subgraphs by random maps of trees: the proposals of an estimate, on the devices of a job."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from jaxmotif.arrays._ahead import end_rehearsal, fetched
from jaxmotif.arrays._bits import scramble
from jaxmotif.arrays._compile import jit64, put64, target_of
from jaxmotif.arrays._keys import key_number
from jaxmotif.arrays._sizes import census_room, floor_power_of_two
from jaxmotif.census._code_counts import grouped_codes, merged_codes
from jaxmotif.census._pair_states import Alphabet, CensusGraphs, census_graphs, least_room
from jaxmotif.census._sizes import MATRIX_BYTES
from jaxmotif.devices._job import Task
from jaxmotif.devices._memory import working_memory
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays
from jaxmotif.graph import Graph
from jaxmotif.kernels import _tree_maps as kernel
from jaxmotif.kernels._pair_index import PairIndex, bits_for, index_on, likely_fullest
from jaxmotif.kernels._subgraphs import Dyads
from jaxmotif.kernels._tree_maps import Maps, Order
from jaxmotif.motifs._graph_samples import LaneSample, Sample, sample_graphs

LIMITS = (0, 2, 1)
"""The proposals: trees whose nodes have any number of children, at most two, and one (paths)."""

BLOCK = 1 << 14
"""Number of maps that are an item of a job. A CPU draws so many at once, and their tables stay in its cache."""

LANES = BLOCK, 1 << 22  # maps drawn at once by a CPU and by an accelerator
LANE_BYTES = 1 << 10
NO_CODE = np.uint64(0xFFFFFFFFFFFFFFFF)
MERGE_AT = 1 << 16  # (code, times) entries on the host from which on they are merged


_begun = jit64(kernel.begun, static_argnames="size")
_extended = jit64(kernel.extended, donate_argnums=2)
_finished = jit64(kernel.finished)


@partial(jit64, static_argnames=("size", "lanes"))
def _drawn(
    dyads: Dyads, index: PairIndex | None, tables: Maps, order: Order, places: jax.Array, *, size: int, lanes: int
) -> tuple[jax.Array, jax.Array]:
    """Draw maps; return their codes (all ones for maps that are no subgraph) and their nodes."""
    nodes, lane = kernel.draw_maps(dyads, tables, order, size=size, lanes=lanes)
    codes = jnp.where(lane < order.stop, kernel.codes_of(dyads, index, nodes, places), NO_CODE)
    return codes, nodes


def thirds(samples: int) -> tuple[int, ...]:
    """Divide a number of draws into a third for each proposal."""
    third = samples // len(LIMITS)
    return samples - 2 * third, third, third


@dataclasses.dataclass(frozen=True)
class Draws:
    """Description of draws of subgraphs: everything about them except the device that makes them.

    Attributes:
      graph: the graph that is drawn from.
      size: the number of nodes of a subgraph.
      shares: how many maps each proposal draws. Their roots are stratified: each map draws its root from an equal
        part of its own. Where the number is 0, maps may be drawn without end, and each root is drawn from all.
      seed: the seed of all draws.
      purpose: a number that keeps these draws apart from other draws of the same seed.
    """

    graph: Graph
    size: int
    shares: Sequence[int]
    seed: int
    purpose: int = 0

    @property
    def starts(self) -> np.ndarray:
        """The first item of each proposal, int64; then their number."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum([-(-share // BLOCK) for share in self.shares])])

    def work(self, at_once: int) -> np.ndarray:
        """Return how many maps there are before each item, then the number of all, int64.

        Maps that are drawn at once all count for the last of their items. Units are cut by these numbers, so that they
        consist of whole steps and no map is drawn in vain.
        """
        item, starts, step = np.arange(self.starts[-1] + 1), self.starts, at_once // BLOCK
        first = starts[np.searchsorted(starts, item, side="right") - 1]
        return (item - (item - first) % step) * BLOCK

    def stream(self, number: int) -> int:
        """Return the stream of a proposal, which is the number where its counter of random numbers starts."""
        # Every proposal, part and size has numbers of its own, so that estimates of several sizes are independent.
        which = self.size << 16 | self.purpose << 8 | number
        return scrambled(self.seed ^ scrambled(which))


def scrambled(x: int) -> int:
    """Return a 64-bit number mixed by splitmix64's function."""
    return int(scramble(np.array([x % 2**64], np.uint64))[0])


def seed_words(seed: object) -> int:
    """Return a seed, or key, as 64 bits."""
    number = key_number(seed)  # pyright: ignore[reportArgumentType]
    further = scrambled(number >> 64) if number >> 64 else 0
    return scrambled(number + further + 0x9E3779B97F4A7C15)


def code_places(alphabet: Alphabet, size: int) -> np.ndarray:
    """Return where the states and labels of a subgraph stand in its code, as :func:`kernel.codes_of` takes them."""
    young, old = np.tril_indices(size, -1)
    nodes = np.arange(size)
    # A node stands for its label as if it were its own older node.
    young, old = np.concatenate([young, nodes]), np.concatenate([old, nodes])
    place = alphabet.codes.place(young, size) + old * alphabet.codes.state_bits
    return np.stack([old, young, place], axis=1).astype(np.int32)


class Sampler:
    """Sampler that makes draws on one device, and holds the tables of one proposal at a time.

    Attributes:
      draws: the draws, and the graph that is drawn from at first.
      lanes: maps drawn at once.

    Args:
      draws: what is drawn.
      device: where it is drawn.
      memory: bytes to work in; ``None``: the default.
    """

    def __init__(self, draws: Draws, device: jax.Device, memory: int | None):
        self.draws, self.device = draws, device
        self._fast = target_of(device).is_accelerator
        size = draws.size
        need = draws.graph.n, 2 * draws.graph.m, 0
        rows, slots, _ = census_room(need, least_room(device), self._fast)
        # These bytes include the rows, the index of pairs, and the memory in which sums over rows are made.
        tables = 8 * ((size - 2) * slots + (8 * size + 2) * rows) + 32 * slots
        least = tables + LANE_BYTES * BLOCK
        allowed = working_memory(memory, device, least, f"tables of maps of {size} nodes and their draws")
        # The tables of a large graph may take all of the default, and the usual number of draws needs room beside them.
        if memory is None:
            allowed = max(allowed, tables + LANE_BYTES * LANES[self._fast])
        self.lanes = min(LANES[self._fast], max(BLOCK, floor_power_of_two((allowed - tables) // LANE_BYTES)))
        self._matrix_bytes = min((allowed - least) // 4, MATRIX_BYTES[self._fast])
        self._places = put64(code_places(Alphabet.of(draws.graph), size), device)
        self.take(None, draws.seed)

    def take(self, sample: Sample | LaneSample | None, seed: int) -> None:
        """Draw from another graph from here on, without compiling programs anew.

        Args:
          sample: a sample of one graph, with the degrees of the graph before; ``None`` for the graph of ``draws``.
          seed: the seed of the draws from this graph.
        """
        self.draws = dataclasses.replace(self.draws, seed=seed)
        self._sample, self._held = sample, None
        for made_of_edges in ("graphs", "index"):
            self.__dict__.pop(made_of_edges, None)

    # The graph is put on the device when it is first drawn from, so that several devices prepare it side by side, each
    # in the thread that works there.
    @cached_property
    def graphs(self) -> CensusGraphs:
        """The graph on the device."""
        if self._sample is None:
            return census_graphs(self.draws.graph, None, self._matrix_bytes, self.device)
        return sample_graphs(self._sample, 1, self._matrix_bytes, self.device, least_room(self.device))

    @cached_property
    def index(self) -> PairIndex | None:
        """Index of the graph's pairs, where the matrix of their states is too large."""
        dyads = self.graphs.dyads
        if dyads.matrix is not None:
            return None
        bits = bits_for(dyads.offsets.shape[0] - 1, dyads.near.shape[0])
        # Without directions and labels every edge has state 1.
        states = None if dyads.codes.state_bits == 1 else dyads.states
        starts, tags, states, fullest = index_on(self.device, dyads.offsets, dyads.near, states, *bits)
        # How full a bucket gets is predicted, so that the programs that draw can be compiled already. The number is
        # rounded up to a multiple of eight, so that many graphs share a program.
        likely = likely_fullest(self.draws.graph.m, bits[1]) + 1
        (fullest,) = fetched(fullest, (likely,))
        return PairIndex(starts, tags, states, *bits, most=-(-max(fullest, likely) // 8) * 8)

    def tables(self, limit: int) -> Maps:
        """Return the tables of a proposal."""
        if self._held is None or self._held[0] != limit:
            self._held = None  # the old tables go first, since there is room for one proposal's only
            dyads, size = self.graphs.dyads, self.draws.size
            tables, f, begins = _begun(dyads, limit=put64(np.int32(limit), self.device), size=size)
            for n in range(2, size):
                tables, f = _extended(dyads, begins, tables, f, put64(np.int32(n), self.device))
            nodes, roots, total = _finished(tables.sums, tables.ways, f)
            self._held = limit, Maps(tables.prefix, nodes, roots, total, tables.limit)
        return self._held[1]

    def total(self, limit: int) -> float:
        """Return how many maps a proposal draws from."""
        end_rehearsal()
        return float(np.asarray(self.tables(limit).total))

    def maps(self, number: int, first: int, stop: int) -> Iterator[tuple[jax.Array, jax.Array]]:
        """Yield the codes and nodes of the maps ``first .. stop`` of a proposal, ``lanes`` of them at a time."""
        draws, tables = self.draws, self.tables(LIMITS[number])
        stream, shared = np.uint64(draws.stream(number)), np.float64(draws.shares[number])
        for low in range(first, stop, self.lanes):
            arrays: Any = put64((stream, np.uint64(low), np.uint64(stop), shared), self.device)
            yield _drawn(
                self.graphs.dyads, self.index, tables, Order(*arrays), self._places, size=draws.size, lanes=self.lanes
            )

    def smaller(self, lanes: int) -> tuple[int, str] | None:
        """Return fewer lanes and a note that says so; ``None`` where they are as few as can be."""
        return None if lanes <= BLOCK else (lanes // 2, f"{lanes // 2} maps at a time")


class DrawTask(Task):
    """Task of one worker: draw maps on a device, and count their codes.

    The device draws the next maps while the host counts the codes of the last ones, also from one stretch of items to
    the next. The counts of the last stretch are held apart until it is whole. A stretch that runs out of memory is done
    again, and nothing of its first attempt may count.
    """

    def __init__(self, draws: Draws, device: jax.Device, memory: int | None):
        self.sampler = Sampler(draws, device, memory)
        self._on_host = not target_of(device).is_accelerator
        self._clear()

    def _clear(self) -> None:
        self._parts: list[Arrays] = []  # codes of all stretches, without those still being drawn
        self._ahead: Callable[[], Arrays] | None = None  # waits for those that are still being drawn

    def take(self, sample: Sample | LaneSample, seed: int) -> None:
        """Begin anew with another graph, as the sampler does."""
        self._clear()
        self.sampler.take(sample, seed)

    def step(self, span: Span) -> None:
        parts: list[Arrays] = []
        ahead: Callable[[], Arrays] | None = None
        for begun in self._begun(span):
            if ahead is None:
                self._settle()
            else:
                parts = _bounded([*parts, ahead()])
            ahead = begun
        self._parts, self._ahead = [*self._parts, *parts], ahead

    def _settle(self) -> None:
        """Wait for the end of the last stretch."""
        if self._ahead is not None:
            self._parts, self._ahead = _bounded([*self._parts, self._ahead()]), None

    def _waited(
        self, number: int, drawn: int, maps: float, counted: Callable[[], tuple[np.ndarray, np.ndarray]]
    ) -> Arrays:
        """Wait for maps that are being drawn, and count their codes.

        Args:
          number: the number of the proposal.
          drawn: how many maps are drawn.
          maps: from how many maps the proposal draws.
          counted: waits, and returns the codes and how often each occurs.
        """
        codes, times = counted()
        here = np.arange(len(LIMITS)) == number
        return {
            "codes": codes,
            "times": times,
            "drawn": here * drawn,
            "accepted": here * times.sum(),
            "maps": np.where(here, maps, 0.0),
        }

    def _begun(self, span: Span) -> Iterator[Callable[[], Arrays]]:
        """Begin to draw the maps of a stretch, some at a time, and yield functions that wait for their codes."""
        draws, starts = self.sampler.draws, self.sampler.draws.starts.tolist()
        for number, share in enumerate(draws.shares):
            low, high = max(span.first, starts[number]), min(span.stop, starts[number + 1])
            first, stop = (low - starts[number]) * BLOCK, min((high - starts[number]) * BLOCK, share)
            for codes, _ in self.sampler.maps(number, first, stop) if low < high else ():
                first, drawn = first + codes.shape[0], min(codes.shape[0], stop - first)
                if self._on_host:
                    counted = partial(_sorted_codes, codes)
                else:
                    counted = grouped_codes(codes, self.sampler.graphs.dyads.codes, draws.size)
                yield partial(self._waited, number, drawn, self.sampler.total(LIMITS[number]), counted)

    @property
    def parts(self) -> tuple[Arrays, ...]:
        """Codes drawn since the last collection, for any thread."""
        return tuple(self._parts)

    def collect(self) -> Arrays:
        try:
            self._settle()
            return added_codes(*self._parts)
        finally:  # a stretch that fails here is done again as a whole
            self._clear()

    def halve(self) -> str | None:
        less = self.sampler.smaller(self.sampler.lanes)
        if less is None:
            return None
        self.sampler.lanes, change = less
        return change


def _bounded(parts: list[Arrays]) -> list[Arrays]:
    """Merge parts when as many codes have come as the first part holds; return the parts.

    So the number of entries is bounded by that of the different codes, not of all draws.
    """
    first, *others = (part["codes"].size for part in parts)
    return [added_codes(*parts)] if sum(others) > max(MERGE_AT, first) else parts


def _sorted_codes(drawn: jax.Array) -> tuple[np.ndarray, np.ndarray]:
    words = np.sort(np.asarray(drawn))
    return merged_codes(words[words != NO_CODE], None)


def added_codes(*parts: Arrays) -> Arrays:
    """Merge counts of codes, of maps drawn and accepted, and numbers of maps, whatever the order of the parts."""
    codes, times = (np.concatenate([part[name] for part in parts]) for name in ("codes", "times"))
    order = np.argsort(codes, kind="stable")
    codes, times = merged_codes(codes[order], times[order])
    drawn, accepted = (np.sum([part[name] for part in parts], axis=0) for name in ("drawn", "accepted"))
    # This number is the same wherever tables of a proposal were made, and 0 elsewhere.
    maps = np.max([part["maps"] for part in parts], axis=0)
    return {"codes": codes, "times": times, "drawn": drawn, "accepted": accepted, "maps": maps}
