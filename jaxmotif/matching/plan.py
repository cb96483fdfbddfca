"""From a query and a target to a search: domains, order, leaves, candidate lists, program."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal, NamedTuple

import jax
import numpy as np

from jaxmotif.devices.memory import check_budget, device_memory
from jaxmotif.kernels.choice import Backend, kernel_backend, power_of_four
from jaxmotif.kernels.lanes import Operands, Sizes
from jaxmotif.matching import candidates, leaves
from jaxmotif.matching.bitrows import BitRows, Layout, leaf_terms, look_ahead
from jaxmotif.matching.conditions import (
    PairKind,
    pair_kinds,
    query_conditions,
)
from jaxmotif.matching.domains import filter_domains
from jaxmotif.matching.target import Target
from jaxmotif.patterns import Pattern, greatest_constraint_first, infrequent_edge_first, symmetry_constraints
from jaxmotif.search import Pair, Step, Term, build_program, table_columns
from jaxmotif.search.program import Program

Order = Literal["ri", "quicksi"] | Sequence[int]

MOST_MATRIX_WORDS = 2**26
MOST_TABLE_ENTRIES = 2**31 - 2

_STEP_BYTES: dict[Backend, int] = {"xla": 40, "pallas-triton": 16}
"""Work space of a step, for each of its positions (of the first, XLA says 33)."""

_MAKING = 4
"""How many times the memory of lists and matrices it takes to make them, at most."""

MOST_PREFIX, MOST_PREFIXES = 8, 2**20
"""Nodes in a prefix of a search that is divided by prefixes, and about how many entries those of a length take."""


@dataclasses.dataclass(frozen=True)
class Options:
    """How to search; every choice gives the same matches.

    Attributes:
      induced: non-edges of the query must be non-edges of the target.
      wildcard: the label of query nodes and edges that any label matches.
      filters: of :data:`jaxmotif.matching.domains.FILTERS`.
      order: the matching order, or how to choose it.
      leaves: count independent leaves in closed form.
      symmetry: search one of the maps that automorphisms exchange (and multiply).
      listing: keep the matches, in lexicographic order of the matching order, instead of counting them.
      block: flat positions a step; chosen from the device and memory when ``None``.
      memory: bytes for the tables and what they are made from; chosen from the device when ``None``.
      lookahead: drop partial matches some later node of which has no candidate left; ``None``: when the first stage of
        the search found few matches for what it tested.
    """

    induced: bool = False
    wildcard: int | None = None
    filters: tuple[str, ...] = ("label", "degree", "frequency", "consistency")
    order: Order = "ri"
    leaves: bool = True
    symmetry: bool = True
    listing: bool = False
    block: int | None = None
    memory: int | None = None
    lookahead: bool | None = None


class Stage(NamedTuple):
    """A search by steps of one size: its program, the same on the device, its static sizes, and after how many steps to
    go over to the next stage (``None``: never), which goes on if it has the same program and else starts again."""

    program: Program
    code: jax.Array
    sizes: Sizes
    most_steps: int | None


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """A search ready to run.

    Attributes:
      operands: what it reads, on the device; ``None`` if some domain is empty, so that there is no match.
      stages: sizes of steps to try, small ones first, so that small searches are not slowed by large ones.
      order: the query nodes searched, in order; leaves are not in it.
      leaves: the query nodes counted in closed form.
      multiplier: automorphisms that the search leaves out.
      ids: int32 ``[N]``, the graph's nodes of the reduced target's.
      prefixes: makes a stage that lists the matches of the first nodes, into the last of its tables.
      ahead: makes a last stage that looks ahead, and the operands it needs, of those at hand (``None``: there is
        nothing to look ahead to); ``None`` if it must not be used.
    """

    operands: Operands | None
    stages: list[Stage]
    order: list[int]
    leaves: list[int]
    multiplier: int
    domain_sizes: np.ndarray
    ids: Any
    prefixes: Callable[[], Stage] | None = None
    ahead: Callable[[Operands], tuple[Operands, Stage] | None] | None = None

    @property
    def ready(self) -> Operands:
        """The operands, where there is something to search."""
        if self.operands is None:
            raise ValueError("some domain is empty: there is nothing to search")
        return self.operands


def make_plan(
    query: Pattern, target: Target, allowed: np.ndarray | None, options: Options
) -> Generator[tuple[str, Any], Any, Plan]:
    """Plan a search, a job for :func:`jaxmotif.matching.lockstep.lockstep`. Call inside ``wide_ints()``.

    Args:
      allowed: bool ``[k, n]``, domains to begin with, or ``None``.
    """
    k = query.num_nodes
    device = next(iter(target.offsets.devices()))
    kinds, which = pair_kinds(query, options.induced, options.wildcard)
    conditions = query_conditions(query, kinds, which, options.wildcard)
    begin = None if allowed is None else _domain_words(allowed, conditions.near.shape[-1], np.asarray(target.ids))
    bits, sizes, left = filter_domains(target, conditions, begin, filters=options.filters)
    sizes, left = yield "filter", (sizes, left)
    sizes = sizes[:k].astype(np.int64)
    if sizes.min() == 0:
        return Plan(None, [], list(range(k)), [], 1, sizes, None)

    nodes, slots = power_of_four(left[0], 256), power_of_four(left[1], 4096)
    reduced = candidates.reduce_target(target, bits, nodes=nodes, slots=slots)
    edge_kinds = len(kinds)
    strangers: list[int] = []
    if options.induced:  # not adjacent: no edge; directed: no arc either way
        for direction in range(1 + query.directed):
            if PairKind(direction) not in kinds:
                kinds = [*kinds, PairKind(direction)]
            strangers.append(kinds.index(PairKind(direction)))
    most_words = min(MOST_MATRIX_WORDS, (options.memory or 2**63) // (8 * _MAKING))
    bitmap = len(kinds) * nodes * (nodes // 32) <= most_words
    pairs = {(int(which[u, x]), x) for u, x in zip(*np.nonzero(which >= 0), strict=True)}
    if strangers and not bitmap:
        pairs |= {(c, x) for c in strangers for x in range(k)}
    families = {pair: j for j, pair in enumerate(sorted((c, int(x)) for c, x in pairs))}
    J = power_of_four(len(families), 64)
    lists = np.zeros((J, 2), np.int32)
    lists[: len(families)] = np.array(sorted(families), np.int32).reshape(-1, 2)
    table = np.zeros((power_of_four(len(kinds), 4), 6), np.int32)
    table[: len(kinds)] = np.array(kinds, np.int32).reshape(-1, 6)
    num_lists = np.int32(len(families))
    measured = candidates.measure_lists(reduced, table, lists, num_lists)
    totals, longest, typical, meet = yield "reduce", measured[1:]
    meet = meet[:k, :k]

    closest, likely = np.full(k, np.iinfo(np.int64).max), np.full(k, np.inf)
    for (c, x), j in families.items():
        if c < edge_kinds:
            closest[x], likely[x] = min(closest[x], int(longest[j])), min(likely[x], float(typical[j]))
    closest = np.minimum(closest, sizes)
    often = np.zeros((k, k))
    for u, x in zip(*np.nonzero(which >= 0), strict=True):
        often[u, x] = totals[families[int(which[u, x]), int(x)]]
    wanted = options.order if isinstance(options.order, str) else [int(v) for v in options.order]
    order = _order(query, wanted, sizes, np.minimum(often, often.T))
    leaf_plan = leaves.LeafPlan([], np.arange(k))
    if options.leaves and not options.induced and not options.listing and k > 1:
        colors = query if allowed is None else _colored(query, allowed)
        leaf_plan = leaves.choose_leaves(colors, sizes, meet, closest, likely, int(left[0]), order)
    core = [v for v in order if v not in set(leaf_plan.nodes)]
    if leaf_plan.nodes and isinstance(wanted, str):
        core = _core_order(query, wanted, sizes, often, core)
    below: list[tuple[int, int]] = []
    multiplier = 1
    if options.symmetry:
        colors = None if allowed is None else np.unique(allowed, axis=0, return_inverse=True)[1].reshape(-1)
        below, multiplier = symmetry_constraints(query, [*core, *leaf_plan.nodes], leaf_plan.nodes, colors)

    starts = np.concatenate([[0], np.cumsum(totals.astype(np.int64))])
    position = {v: i for i, v in enumerate(core)}
    free = [v for i, v in enumerate(core) if not query.neighbors[v, core[:i]].any()]
    free_starts = starts[-1] + np.concatenate([[0], np.cumsum(sizes[free])])
    if free_starts[-1] >= 2**31 - 1 or J * (nodes + 1) >= 2**31 - 1:
        raise ValueError(
            f"candidate lists of {free_starts[-1]} entries and {J * (nodes + 1)} offsets are over the limit of "
            f"{2**31 - 2}; add labels or domains, or split the query"
        )
    matrix_words = nodes * (nodes // 32) if bitmap else 0
    family = np.zeros((len(kinds), k), np.int64)
    family[tuple(lists[: len(families)].T)] = np.arange(len(families))

    def pair_rows(positions: Any, c: Any, x: Any) -> np.ndarray:
        return np.stack([positions, family[c, x] * (nodes + 1), c * matrix_words], axis=-1)

    def pair(u: int, x: int) -> Pair:
        return Pair(*pair_rows(position[u], which[u, x], x).tolist())

    everything = {position[x]: Pair(-1, J * (nodes + 1) + 2 * i, 0) for i, x in enumerate(free)}
    lower = {(position[a], position[b]) for a, b in below if b in position}
    steps = _steps(np.array(core), which, meet, everything, lower, np.array(strangers, np.int64), pair_rows)
    rows = BitRows(nodes, 32 * reduced.bits.shape[0])
    layout = Layout(core, which, meet, pair, nodes, strangers)
    groups: list[list[Term]] = []
    if leaf_plan.nodes:
        groups = yield from leaf_terms(leaf_plan, layout, rows, reduced.bits)
    F = power_of_four(len(free), 4)
    padded_free = np.zeros(F, np.int32)
    padded_free[: len(free)] = free
    padded_starts = np.full(F + 1, free_starts[-1], np.int32)
    padded_starts[: len(free) + 1] = free_starts
    padded_lists = np.full(J, starts[-1], np.int32)
    padded_lists[: len(families)] = starts[: len(families)]
    offsets, entries, domains = candidates.fill_lists(
        reduced, table, lists, num_lists, measured.offsets, padded_lists, padded_free, np.int32(len(free)),
        padded_starts, capacity=power_of_four(int(free_starts[-1]), 2**14),
    )  # fmt: skip
    matrices = np.zeros(1, np.int32)
    if bitmap:
        chosen = np.zeros(power_of_four(len(kinds), 1), np.int32)
        chosen[: len(kinds)] = np.arange(len(kinds))
        matrices = candidates.bit_matrices(reduced, table, chosen, count=len(chosen))
    most = max(int(longest[: len(families)].max(initial=1)), int(sizes[free].max(initial=1)))
    row_candidates = likely[core[1:]].min(initial=np.inf)
    if below:  # their lists are cut where symmetry says
        row_candidates = min(row_candidates, totals[: len(families)].max(initial=0) / max(int(left[0]), 1) / 2)

    def arrays(rows: BitRows) -> tuple[Any, Any]:
        if not rows.words and not leaf_plan.nodes:
            return np.zeros(1, np.int32), np.zeros(1, np.int32)
        return rows.arrays(reduced, table)

    def stage(block: int, most_steps: int | None, steps: list[Step], ahead: bool) -> Stage:
        columns = table_columns(steps, groups, options.listing)
        block, rooms = _fit(block, columns, options, device, held)
        static = Sizes(block, _window(block, row_candidates, device), bitmap, ahead, leaves=bool(groups))
        return Stage(*written(steps, groups, rooms, options.listing), static, most_steps)

    def written(steps: list[Step], groups: list[list[Term]], rooms: Any, whole: bool) -> tuple[Program, Any]:
        program = build_program(
            steps, groups, rooms=rooms, stride=nodes // 32, longest=most, first_steps=first_steps or 0, whole=whole
        )
        code = np.zeros(power_of_four(len(program.code), 2**12), np.int32)
        code[: len(program.code)] = program.code
        return program, jax.device_put(code, device)

    def prefixes() -> Stage:
        first, block = steps[: min(len(steps) - 1, MOST_PREFIX)], 2**16
        rooms = [MOST_PREFIXES // (t + 1) for t in range(len(first))]
        if first:  # the first node's candidates all fit
            rooms[0] = max(rooms[0], int(sizes[core[0]]) + 2 * block)
        static = Sizes(block, block // 8, bitmap, leaves=False)  # whatever the device, so that all stop at one level
        return Stage(*written(first, [], rooms, True), static, None)

    if options.lookahead:
        steps = look_ahead(steps, layout, rows, sizes)
    leaf_rows = arrays(rows)
    held = sum(x.nbytes for x in (offsets, entries, matrices, domains, *leaf_rows))
    block, first = _blocks(options, device)
    first_steps = first and first[1] + 2 * len(steps)  # every level takes a step at least
    stages = [stage(block, None, steps, bool(options.lookahead))]
    if first and first[0] < stages[0].sizes.block:
        small = first[0]
        if _small_tables(device):
            stages.insert(0, stage(small, first_steps, steps, bool(options.lookahead)))
        else:
            few = stages[0].sizes._replace(block=small, window=_window(small, row_candidates, device))
            stages.insert(0, stages[0]._replace(sizes=few, most_steps=first_steps))

    def ahead(operands: Operands) -> tuple[Operands, Stage] | None:
        more = rows.copy()
        looking = look_ahead(steps, layout, more, sizes)
        if not any(step.ahead for step in looking):
            return None
        last = stage(stages[-1].sizes.block, None, looking, True)
        (place,) = operands.offsets.devices()
        leaf_rows, ranks, code = jax.device_put((*arrays(more), last.code), place)
        return operands._replace(leaf_rows=leaf_rows, leaf_ranks=ranks), last._replace(code=code)

    fixed = jax.device_put((matrices, domains, *leaf_rows), device)
    operands = Operands(stages[0].code, offsets, entries, *fixed)
    return Plan(
        operands, stages, core, leaf_plan.nodes, multiplier, sizes, reduced.target.ids, prefixes,
        ahead if options.lookahead is None else None,
    )  # fmt: skip


def _steps(
    core: np.ndarray,
    which: np.ndarray,
    meet: np.ndarray,
    everything: dict[int, Pair],
    lower: set[tuple[int, int]],
    strangers: np.ndarray,
    pairs: Callable[..., np.ndarray],
) -> list[Step]:
    """What the nodes of an order are tested for.

    Args:
      everything: at positions without an earlier neighbour, the pair whose list is the whole domain.
      lower: (earlier, later) positions whose nodes must have ascending ids.
      pairs: rows of earlier positions, pair kinds and query nodes.
    """
    asked = which[np.ix_(core, core)]
    ascending = np.zeros(asked.shape, bool)
    ascending[tuple(np.array(sorted(lower), np.int64).reshape(-1, 2).T)] = True
    before = np.triu(np.ones(asked.shape, bool), 1)  # [earlier, later]
    differ = before & meet[np.ix_(core, core)] & (asked < 0) & ~ascending

    def by_step(mask: np.ndarray, of: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> list[np.ndarray]:
        later, earlier = np.nonzero(mask.T)
        values = of(earlier, later)
        each = len(values) // max(len(later), 1)
        return np.split(values, each * np.searchsorted(later, np.arange(1, len(core))))

    def unlike(earlier: np.ndarray, later: np.ndarray) -> np.ndarray:
        earlier, later = (np.repeat(places, len(strangers)) for places in (earlier, later))
        return pairs(earlier, np.resize(strangers, len(later)), core[later])

    anchors = by_step(before & (asked >= 0), lambda earlier, later: pairs(earlier, asked[earlier, later], core[later]))
    rest = [by_step(mask, lambda earlier, _: earlier) for mask in (differ, ascending)]
    foreign = by_step(before & (asked < 0), unlike)
    return [
        Step([everything[i]] if i in everything else joined, *others)
        for i, (joined, *others) in enumerate(zip(anchors, *rest, foreign, strict=True))
    ]


def _order(query: Pattern, order: Order, sizes: np.ndarray, often: np.ndarray) -> list[int]:
    if order == "ri":
        return greatest_constraint_first(query, sizes)
    if order == "quicksi":
        return infrequent_edge_first(query, often, sizes)
    if isinstance(order, str) or sorted(order) != list(range(query.num_nodes)):
        raise ValueError(
            f"order must be 'ri', 'quicksi' or a permutation of the {query.num_nodes} query nodes, got {order!r}"
        )
    return list(order)


def _core_order(query: Pattern, order: Order, sizes: np.ndarray, often: np.ndarray, core: list[int]) -> list[int]:
    """Order the nodes that are searched by themselves."""
    ids = sorted(core)
    part = query.relabel(ids)
    return [ids[i] for i in _order(part, order, sizes[ids], often[np.ix_(ids, ids)])]


def _colored(query: Pattern, allowed: np.ndarray) -> Pattern:
    """The query with nodes of different given domains told apart."""
    colors = np.unique(allowed, axis=0, return_inverse=True)[1].reshape(-1)
    if query.node_labels is not None:
        colors = np.unique(np.stack([colors, query.node_labels]), axis=1, return_inverse=True)[1].reshape(-1)
    return dataclasses.replace(query, node_labels=colors)


def _domain_words(allowed: np.ndarray, words: int, ids: np.ndarray) -> np.ndarray:
    """Bool ``[k, n]`` as uint32 ``[W, N]``, of the nodes in the order of ``ids``, padding last."""
    k, n = allowed.shape
    bits = np.zeros((len(ids), 32 * words), bool)
    bits[:n, :k] = allowed[:, ids[:n]].T
    packed = np.packbits(bits, axis=-1, bitorder="little").view(np.uint32)
    return np.ascontiguousarray(packed.T)


def _blocks(options: Options, device: jax.Device) -> tuple[int, tuple[int, int] | None]:
    """Flat positions a step; and how many to begin with, for how many steps."""
    if options.block is not None:
        return options.block, None
    if device.platform == "cpu":
        return 2**14, None if options.listing else (2**10, 256)
    return (2**22, None) if options.listing else (2**25, (2**20, 48))


def _fit(
    block: int, columns: Sequence[Sequence[int]], options: Options, device: jax.Device, held: int
) -> tuple[int, np.ndarray]:
    """Flat positions a step, at most a given number, and rows that each table but the first has room for.

    Tables are of equal entries, so that the narrow ones, where most of the work is, have room for full steps.

    Args:
      held: bytes of the other arrays.
    """
    widths = np.array([*map(len, columns[1:]), *([len(columns)] if options.listing else [])], np.int64)
    memory, work = table_memory(options.memory, device), _STEP_BYTES[kernel_backend(device)]
    if options.memory is None:  # for the tables alone
        held = work = 0
    usual, _ = _blocks(dataclasses.replace(options, block=None), device)
    least, asked = min(block, 2**6), min(block, usual)
    smallest = 4 * table_entries(int((least + least // 2) * widths.sum())) + held + work * least
    what = f"tables of {widths.sum()} columns and what they are made from"
    check_budget(memory, max(smallest, _MAKING * held), what)
    while True:
        words = _most_entries((memory - held - work * block) // 4)
        most = words * asked // usual  # where smaller steps are asked for, smaller tables
        steps = _steps_of_tables(block, widths, least, most)
        rooms = steps + steps // 2
        if (rooms * widths).sum() <= words or block == least:
            return int(steps.max()) if len(steps) else block, rooms
        block = max(block // 2, least)


def _steps_of_tables(block: int, widths: np.ndarray, least: int, most: int) -> np.ndarray:
    """Flat positions that a step may take for each table, so that all together have at most so many entries."""
    entries = (block + block // 2) * int(widths.max(initial=1))
    while True:
        steps = 2 ** np.log2(np.maximum(entries // np.maximum(3 * widths, 3), 1)).astype(np.int64) * 2
        steps = np.clip(steps, least, block)
        if ((steps + steps // 2) * widths).sum() <= most or steps.max(initial=0) <= least:
            return steps
        entries //= 2


def table_entries(entries: int) -> int:
    """The size of the tables' array: one of few, so that searches share compilations."""
    return min(power_of_four(entries, 2**16), MOST_TABLE_ENTRIES)


def _most_entries(room: int) -> int:
    """The largest such size that fits in so many entries; 0 if none does."""
    size = MOST_TABLE_ENTRIES if room >= MOST_TABLE_ENTRIES else 4 ** ((max(room, 1).bit_length() - 1) // 2)
    return size if size >= 2**16 else 0


def _small_tables(device: jax.Device) -> bool:
    """Whether small steps had better have small tables, which stay in the cache."""
    return device.platform == "cpu"


def _window(block: int, candidates: float, device: jax.Device) -> int:
    """Rows looked at for a step, given how many candidates a row is likely to have at least."""
    few = 2 if device.platform == "cpu" else 32 if candidates >= 24 else 8
    return max(block // few, min(block, 1024))


def table_memory(memory: int | None, device: jax.Device) -> int:
    """Bytes that tables may take: as given, or by the device."""
    if memory is not None:
        return memory
    limit = device_memory(device)
    return limit // 4 if limit else 2**29
