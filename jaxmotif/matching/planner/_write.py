"""The last phase of a plan: lists and matrices filled, programs written, sizes of steps and tables chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

import jax
import numpy as np

from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching._options import Options
from jaxmotif.matching._sizes import (
    FEW_LISTED,
    LEAST_ENTRIES,
    LEAST_FREE,
    LEAST_PROGRAM,
    LEAST_READ,
    LEAST_READ_ENTRIES,
    MAKING,
    MOST_PLACES,
    PREFIX_BLOCK,
    pad_first_axis,
)
from jaxmotif.matching.planner._bit_sets import LeafRows, leaf_terms
from jaxmotif.matching.planner._placements import Layout, placements
from jaxmotif.matching.planner._reduce import backend_of
from jaxmotif.matching.planner._tally import Tallied, TallyPlan, lay_out
from jaxmotif.search import _sizes as step
from jaxmotif.search._layout import Operands, Sizes
from jaxmotif.search._parts import MOST_PREFIX, MOST_PREFIXES
from jaxmotif.search._program import Placement, Program, Term, build_program, table_columns, table_widths
from jaxmotif.search._run import ReadySearch, Stage


@dataclasses.dataclass(frozen=True, eq=False)
class Draft:
    """A plan of which only programs are still to be written: what all stages of its search have in common.

    Attributes:
      layout, rows: the places of what programs refer to, and the bit rows of the leaves.
      tallied: what is added up.
      options, device: how to search, and where.
      held: bytes of the operands but the program.
    """

    layout: Layout
    rows: LeafRows
    tallied: Tallied
    options: Options
    device: jax.Device
    held: int = 0

    @cached_property
    def placed(self) -> list[Placement]:
        """How nodes, and numbers of candidates, are placed."""
        return placements(self.layout)

    @cached_property
    def groups(self) -> list[list[Term]]:
        """The terms of the leaves."""
        return leaf_terms(self.layout, self.rows)

    @cached_property
    def tally(self) -> TallyPlan:
        """What the program adds up."""
        return lay_out(self.tallied, self.layout)

    @property
    def sums(self) -> bool:
        """Return whether candidates are added up by row."""
        return len(self.placed) > len(self.layout.order.core)

    @property
    def keeps_lanes(self) -> bool:
        """Return whether steps write what their lanes find, which takes memory for each position."""
        return self.options.listing or self.cells > 0 or self.sums

    @property
    def cells(self) -> int:
        """Cells of the tally: one of few numbers, so that searches share compilations."""
        size = self.tally.size
        # Places of cells are int32.
        return min(power_of_four(size, LEAST_PROGRAM), 2**31 - 1) if size else 0

    @property
    def first_steps(self) -> int:
        """Steps of the first stage: every level takes a step at least, and most take two."""
        return step.step_sizes(target_of(self.device)).first_steps + 2 * len(self.placed)

    @property
    def longest(self) -> int:
        """Entries of the longest list that candidates are taken from."""
        lists, free = self.layout.lists, self.layout.measured.sizes[self.layout.order.free]
        return max(int(lists.longest[: lists.count].max(initial=1)), int(free.max(initial=1)))

    @property
    def row_candidates(self) -> float:
        """Candidates that a row of the tables is likely to have at least."""
        order, lists, measured = self.layout.order, self.layout.lists, self.layout.measured
        # The first node has its whole domain, once; the rest take the shortest list.
        found = measured.likely[order.core[1:]].min(initial=np.inf)
        if order.below:  # symmetry cuts their lists
            most = lists.totals[: lists.count].max(initial=0)
            found = min(found, most / max(measured.nodes, 1) / 2)
        return float(found)


def write(draft: Draft, made: ReadySearch | None = None) -> ReadySearch:
    """Write a search that is ready to run; ``made``: another one of the same lists."""
    layout = draft.layout
    # A search of the same lists shares all operands but the program, which is first, and the leaves, which are last.
    shared = list_arrays(layout) if made is None else made.operands[1:-1]
    arrays = jax.device_put((*shared, _pad_read(layout, draft.rows.words())), draft.device)
    # The bytes of the operands are known only now, and tables may take what they leave.
    draft = dataclasses.replace(draft, held=sum(array.nbytes for array in arrays) + 8 * draft.cells)
    stages = choose_stages(draft)
    ahead = partial(look_ahead_stage, draft, stages[-1].sizes.block)
    return ReadySearch(
        Operands(stages[0].code, *arrays),
        stages,
        ahead=ahead if draft.options.search.lookahead is None else None,
        prefixes=partial(prefix_stage, draft),
    )


def list_arrays(layout: Layout) -> tuple[Any, ...]:
    """Return the offsets, entries, matrices and domains of the operands, where the target lies.

    The entries of the families come first, then the domains of the free nodes.

    Raises:
      ValueError: for more entries, or offsets, than int32 can number.
    """
    lists, free, starts = layout.lists, layout.order.free, layout.lists.starts
    backend, families = backend_of(lists.target), lists.families
    free_starts = starts[-1] + np.concatenate([[0], np.cumsum(layout.measured.sizes[free])])
    entries, offsets = int(free_starts[-1]), len(families.rows) * (lists.nodes + 1)
    if max(entries, offsets) > MOST_PLACES:
        raise ValueError(
            f"candidate lists of {entries} entries and {offsets} offsets are over the limit of {MOST_PLACES}; add "
            "labels or domains, or split the query"
        )
    padded_free = np.zeros(power_of_four(len(free), LEAST_FREE), np.int32)
    padded_free[: len(free)] = free
    # Padded domains are empty, since they begin and end where the entries end; and so are padded families.
    padded_starts = np.full(len(padded_free) + 1, entries, np.int32)
    padded_starts[: len(free) + 1] = free_starts
    first = np.full(len(families.rows), starts[-1], np.int32)
    first[: lists.count] = starts[:-1]
    domains = padded_free, np.int32(len(free)), padded_starts
    capacity = power_of_four(entries, LEAST_ENTRIES)
    flat, filled, bits = backend.fill_lists(families, lists.offsets, first, domains, capacity=capacity)
    matrices = np.zeros(1, np.int32)
    if lists.bitmap:  # one matrix of each kind
        kinds = len(lists.number)
        chosen = np.zeros(power_of_four(kinds, 1), np.int32)
        chosen[:kinds] = np.arange(kinds)
        matrices = backend.bit_matrices(families, chosen, count=len(chosen))
    filled = _pad_read(layout, filled, LEAST_READ_ENTRIES)
    return _pad_read(layout, flat), filled, _pad_read(layout, matrices), _pad_read(layout, bits)


def _pad_read(layout: Layout, array: Any, least: int = LEAST_READ) -> Any:
    """Return an array that a search reads in one of few sizes, to share programs; one of a device has such a size."""
    return pad_first_axis(array, least) if layout.lists.target.on_host else array


def choose_stages(draft: Draft) -> list[Stage]:
    """Return the sizes of steps to try, small ones first."""
    options, target = draft.options, target_of(draft.device)
    sizes = step.step_sizes(target)
    usual, small = sizes.listing if draft.keeps_lanes else sizes.counting, sizes.first
    # If few matches are wanted, large steps would find many more than are asked for.
    if options.limit is not None and options.limit <= FEW_LISTED * small:
        usual = min(usual, small)
    last = whole_stage(draft, options.search.block or usual, None)
    if options.search.block is not None or options.listing or small >= last.sizes.block:
        return [last]
    # Small tables of their own stay in a CPU's caches; elsewhere the last stage's tables serve from the start.
    if sizes.restarts:
        return [whole_stage(draft, small, draft.first_steps, last.program), last]
    window = step.window_rows(small, draft.row_candidates, target)
    return [last._replace(sizes=last.sizes._replace(block=small, window=window), most_steps=draft.first_steps), last]


def whole_stage(draft: Draft, block: int, most_steps: int | None, like: Program | None = None) -> Stage:
    """Return a stage that searches all nodes.

    Args:
      draft: what all stages have in common.
      block: flat positions of a step; fewer are taken if the memory does not allow them.
      most_steps: steps after which the stage ends, or ``None``.
      like: a program of another size to resize, or ``None`` to write one.
    """
    options, target = draft.options, target_of(draft.device)
    sizes = step.step_sizes(target)
    if like is None:
        columns = table_columns(draft.placed, draft.groups, options.listing, draft.tally.tallies)
    else:
        columns = like.columns
    widths = table_widths(columns, options.listing)
    usual = sizes.listing if draft.keeps_lanes else sizes.counting
    making = draft.held * (1 if draft.layout.lists.target.on_host else MAKING)
    block, rooms = step.fit_tables(block, usual, widths, options.memory, draft.device, draft.held, making)
    static = Sizes(
        block,
        step.window_rows(block, draft.row_candidates, target),
        draft.layout.lists.bitmap,
        draft.sums,
        draft.layout.order.leaves.limbs,
        in_order=options.listing,
        cells=draft.cells,
    )
    if like is None:
        program = write_program(draft, draft.placed, draft.groups, rooms, static, options.listing, columns)
    else:
        program = like.resized(rooms.tolist())
    return place_stage(draft, program, static, most_steps)


def prefix_stage(draft: Draft) -> Stage:
    """Return a stage that lists the partial matches of the first nodes, by steps that are the same on all devices."""
    # At least the last node is left to search for.
    first = draft.placed[: min(len(draft.placed) - 1, MOST_PREFIX)]
    # Rows of later nodes are wider, so that fewer of them take about as many entries.
    rooms = [MOST_PREFIXES // (t + 1) for t in range(len(first))]
    if first:  # the first node's candidates all fit
        rooms[0] = max(rooms[0], int(draft.layout.measured.sizes[draft.layout.order.core[0]]) + 2 * PREFIX_BLOCK)
    static = Sizes(PREFIX_BLOCK, PREFIX_BLOCK // 8, draft.layout.lists.bitmap, draft.sums, limbs=0, in_order=True)
    return place_stage(draft, write_program(draft, first, [], rooms, static, True), static, None)


def look_ahead_stage(draft: Draft, block: int) -> Stage | None:
    """Return a last stage that looks ahead, in steps of ``block``; ``None`` if there is nothing to look ahead to."""
    ahead = dataclasses.replace(draft, layout=dataclasses.replace(draft.layout, looks=True))
    return whole_stage(ahead, block, None) if len(ahead.placed) > len(draft.placed) else None


def write_program(
    draft: Draft,
    placed: Sequence[Placement],
    groups: list[list[Term]],
    rooms: Any,
    static: Sizes,
    whole: bool,
    columns: list[list[int]] | None = None,
) -> Program:
    """Return the program of a stage of given sizes."""
    return build_program(
        placed,
        groups,
        draft.tally.tallies if static.cells else (),
        rooms=rooms,
        stride=draft.layout.lists.nodes // 32,
        longest=draft.longest,
        first_steps=draft.first_steps,
        bitmap=static.bitmap,
        whole=whole,
        columns=columns,
        first_work=step.step_sizes(target_of(draft.device)).first_work,
    )


def place_stage(draft: Draft, program: Program, static: Sizes, most_steps: int | None) -> Stage:
    code = jax.device_put(pad_first_axis(program.code, LEAST_PROGRAM), draft.device)
    return Stage(program, code, static, most_steps)
