"""The last phase of a plan: lists and matrices filled, programs written, sizes of steps and tables chosen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching import _sizes as limits
from jaxmotif.matching._options import Options
from jaxmotif.matching.planner._bit_sets import BitRows, look_ahead
from jaxmotif.matching.planner._placements import Layout, placements
from jaxmotif.matching.planner._reduce import backend_of
from jaxmotif.matching.planner._tally import NO_TALLY, TallyPlan
from jaxmotif.search import _sizes as step
from jaxmotif.search._layout import Operands, Sizes, TermWords
from jaxmotif.search._parts import MOST_PREFIX, MOST_PREFIXES
from jaxmotif.search._program import Placement, Program, build_program, table_widths
from jaxmotif.search._run import ReadySearch, Stage


class Draft(NamedTuple):
    """A plan that lacks only its programs: all that the stages of its search have in common.

    Attributes:
      layout, groups, rows: the places of what programs refer to, the terms of the leaves, and their bit rows.
      tally: the sums that the search makes for a tally.
      options, device: how to search, and where.
      placed: how nodes are placed.
      held: bytes of all operands other than the program.
    """

    layout: Layout
    groups: list[list[TermWords]]
    rows: BitRows
    tally: TallyPlan
    options: Options
    device: jax.Device
    placed: Sequence[Placement] = ()
    held: int = 0

    @property
    def keeps_lanes(self) -> bool:
        """Return whether steps write what their lanes find, which takes memory for each position."""
        return self.options.listing or self.cells > 0

    @property
    def cells(self) -> int:
        """Cells of the tally: one of few numbers, so that searches share compilations."""
        size = self.tally.size
        # Places of cells are int32.
        return min(power_of_four(size, limits.LEAST_PROGRAM), 2**31 - 1) if size else 0

    @property
    def first_steps(self) -> int:
        """Steps of the first stage: every level takes a step at least, and most take two."""
        return step.step_sizes(target_of(self.device)).first_steps + 2 * len(self.layout.order.core)

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
    """Write a search that is ready to run.

    Args:
      draft: the plan.
      made: another search of the same lists, whose arrays this one shares; ``None`` if there is none yet.
    """
    layout = draft.layout
    draft = draft._replace(placed=placements(layout))
    # With None, the search begins to look ahead by itself once it tests many candidates and finds few matches.
    lookahead = draft.options.search.lookahead
    looks = bool(lookahead)
    if looks:
        draft = draft._replace(placed=look_ahead(draft.placed, layout, draft.rows))
    leaf_arrays = _pad_read(layout, draft.rows.arrays())
    # A search of the same lists shares all operands but the program, which is first, and the leaves, which are last.
    shared = list_arrays(layout) if made is None else made.operands[1:5]
    arrays = jax.device_put((*shared, *leaf_arrays), draft.device)
    # The bytes of the operands are known only now, and tables may take what they leave.
    draft = draft._replace(held=sum(array.nbytes for array in arrays) + 8 * draft.cells)
    stages = choose_stages(draft, looks)
    return ReadySearch(
        Operands(stages[0].code, *arrays),
        stages,
        ahead=partial(look_ahead_stage, draft, stages[-1].sizes.block) if lookahead is None else None,
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
    if max(entries, offsets) > limits.MOST_PLACES:
        raise ValueError(
            f"candidate lists of {entries} entries and {offsets} offsets are over the limit of {limits.MOST_PLACES}; "
            "add labels or domains, or split the query"
        )
    padded_free = limits.pad_first_axis(np.array(free, np.int32), limits.LEAST_FREE)
    # Padded domains are empty, since they begin and end where the entries end; and so are padded families.
    padded_starts = pad_rows(free_starts.astype(np.int32), len(padded_free) + 1, entries)
    first = pad_rows(starts[:-1].astype(np.int32), len(families.rows), int(starts[-1]))
    domains = padded_free, np.int32(len(free)), padded_starts
    capacity = power_of_four(entries, limits.LEAST_ENTRIES)
    flat, filled, bits = backend.fill_lists(families, lists.offsets, first, domains, capacity=capacity)
    matrices = np.zeros(1, np.int32)
    if lists.bitmap:  # one matrix of each kind
        chosen = limits.pad_first_axis(np.arange(len(lists.number), dtype=np.int32), 1)
        matrices = backend.bit_matrices(families, chosen, count=len(chosen))
    least = limits.LEAST_READ, limits.LEAST_READ_ENTRIES, limits.LEAST_READ, limits.LEAST_READ
    return _pad_read(layout, (flat, filled, matrices, bits), least)


def _pad_read(
    layout: Layout, arrays: tuple[Any, ...], least: tuple[int, ...] = (limits.LEAST_READ, limits.LEAST_READ)
) -> tuple[Any, ...]:
    """Pad arrays that a search reads to a few sizes, so that searches share programs; a device has padded its own."""
    if not layout.lists.target.on_host:
        return arrays
    return tuple(limits.pad_first_axis(array, room) for array, room in zip(arrays, least, strict=True))


def choose_stages(draft: Draft, looks: bool) -> list[Stage]:
    """Return the sizes of steps to try, small ones first."""
    options, target = draft.options, target_of(draft.device)
    sizes = step.step_sizes(target)
    usual, small = sizes.listing if draft.keeps_lanes else sizes.counting, sizes.first
    # If few matches are wanted, large steps would find many more than are asked for.
    if options.limit is not None and options.limit <= limits.FEW_LISTED * small:
        usual = min(usual, small)
    program = write_program(draft)
    last = whole_stage(draft, program, options.search.block or usual, None, looks)
    if options.search.block is not None or options.listing or small >= last.sizes.block:
        return [last]
    # Small tables of their own stay in a CPU's caches; elsewhere the last stage's tables serve from the start.
    if sizes.restarts:
        return [whole_stage(draft, program, small, draft.first_steps, looks), last]
    window = step.window_rows(small, draft.row_candidates, target)
    return [last._replace(sizes=last.sizes._replace(block=small, window=window), most_steps=draft.first_steps), last]


def whole_stage(draft: Draft, program: Program, block: int, most_steps: int | None, looks: bool) -> Stage:
    """Return a stage that searches all nodes.

    Args:
      draft: what all stages have in common.
      program: the search, whose tables get their room here.
      block: flat positions of a step; fewer are taken if the memory does not allow them.
      most_steps: steps after which the stage ends, or ``None``.
      looks: whether it looks ahead.
    """
    options, target = draft.options, target_of(draft.device)
    sizes = step.step_sizes(target)
    widths = table_widths(program.columns, options.listing)
    usual = sizes.listing if draft.keeps_lanes else sizes.counting
    making = draft.held * (1 if draft.layout.lists.target.on_host else limits.MAKING)
    block, rooms = step.fit_tables(block, usual, widths, options.memory, draft.device, draft.held, making)
    static = Sizes(
        block,
        step.window_rows(block, draft.row_candidates, target),
        draft.layout.lists.bitmap,
        looks,
        draft.layout.order.leaves.limbs,
        in_order=options.listing,
        cells=draft.cells,
    )
    return place_stage(draft, program.sized(rooms), static, most_steps)


def prefix_stage(draft: Draft) -> Stage:
    """Return a stage that lists the partial matches of the first nodes, by steps that are the same on all devices."""
    # At least the last node is left to search for.
    first = draft.placed[: min(len(draft.placed) - 1, MOST_PREFIX)]
    # Rows of later nodes are wider, so that fewer of them take about as many entries.
    rooms = [MOST_PREFIXES // (t + 1) for t in range(len(first))]
    if first:  # the first node's candidates all fit
        rooms[0] = max(rooms[0], int(draft.layout.measured.sizes[draft.layout.order.core[0]]) + 2 * limits.PREFIX_BLOCK)
    static = Sizes(limits.PREFIX_BLOCK, limits.PREFIX_BLOCK // 8, draft.layout.lists.bitmap, limbs=0, in_order=True)
    draft = draft._replace(placed=first, groups=[], tally=NO_TALLY)
    return place_stage(draft, write_program(draft, whole=True).sized(rooms), static, None)


def look_ahead_stage(draft: Draft, block: int, operands: Operands) -> tuple[Operands, Stage] | None:
    """Return a last stage that looks ahead, and the operands it needs; ``None`` if there is nothing to look ahead to.

    Args:
      draft: what all stages have in common.
      block: flat positions of a step.
      operands: the operands at hand, which may lie on another device.
    """
    # The rows made so far stay: what is looked ahead to is added.
    rows = draft.rows.copy()
    placed = look_ahead(draft.placed, draft.layout, rows)
    # Every test would cost more than it saves.
    if not any(placement.ahead for placement in placed):
        return None
    last = whole_stage(draft, write_program(draft._replace(placed=placed)), block, None, True)
    (place,) = operands.offsets.devices()
    arrays = _pad_read(draft.layout, rows.arrays())
    leaf_rows, ranks, code = jax.device_put((*arrays, last.code), place)
    return operands._replace(leaf_rows=leaf_rows, leaf_ranks=ranks), last._replace(code=code)


def write_program(draft: Draft, whole: bool = False) -> Program:
    """Return the program of a stage; a listing keeps the matches it finds, and so does any stage if ``whole``."""
    return build_program(
        draft.placed,
        draft.groups,
        draft.tally.tallies,
        stride=draft.layout.lists.nodes // 32,
        longest=draft.longest,
        first_steps=draft.first_steps,
        bitmap=draft.layout.lists.bitmap,
        whole=whole or draft.options.listing,
        first_work=step.step_sizes(target_of(draft.device)).first_work,
    )


def place_stage(draft: Draft, program: Program, static: Sizes, most_steps: int | None) -> Stage:
    code = jax.device_put(limits.pad_first_axis(program.code, limits.LEAST_PROGRAM), draft.device)
    return Stage(program, code, static, most_steps)
