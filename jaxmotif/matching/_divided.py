"""Counting on given devices: on one device in a single run, on several in shares of the prefixes."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping

import jax
import numpy as np

from jaxmotif.devices._job import Job, JobOptions, Task, Unfinished, run_job
from jaxmotif.devices._memory import with_smaller_steps
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, added
from jaxmotif.matching._checks import Domains
from jaxmotif.matching._sizes import FEW_STEPS, HYBRID_PARTS, LEAST_BLOCK, PARTS, SHARES
from jaxmotif.matching.planner._plan import Matching, Plan
from jaxmotif.patterns._ruled import RuledPattern
from jaxmotif.search._deadline import Deadline, TimeIsUp
from jaxmotif.search._parts import InParts, Prefixes, list_prefixes
from jaxmotif.search._run import FEW, NOTHING, ReadySearch, Run, SearchProgress, finish


def search_identity(matching: Matching, plan: Plan, domains: Domains | None) -> tuple:
    """Return everything that says what is searched for and how, from which the fingerprint of a checkpoint is made."""
    pattern, target, options = matching.pattern, matching.target, matching.options
    search = [
        str(options.search.order),
        *options.chosen_filters(pattern.node_labels, target.node_labels),
        options.induced,
        options.wildcard,
        *plan.order,
        *plan.leaves,
    ]
    free = {str(u): np.asarray(nodes) for u, nodes in domains.items()} if isinstance(domains, Mapping) else domains
    rules = ()
    if isinstance(pattern, RuledPattern):
        rules = pattern.forbidden, pattern.condition, pattern.edges, pattern.allowed
    return (
        "matching by prefixes, in limbs",
        pattern.adjacency,
        pattern.directed,
        pattern.node_labels,
        pattern.edge_labels,
        target.edge_list(),
        target.n,
        target.node_labels,
        target.edge_labels,
        search,
        plan.multiplier,
        free,
        *rules,
    )


def count_on_device(
    matching: Matching,
    plan: Plan,
    device: jax.Device,
    max_steps: int | None = None,
    report: Callable[[int], None] = lambda _: None,
) -> tuple[SearchProgress, tuple[str, ...]]:
    """Search on one device, and return the progress at the end, and notes.

    Args:
      matching: the query, the target and the options.
      plan: the search, or its result.
      device: where to search.
      max_steps: stop after that many steps.
      report: called after each slice with the number of candidates tested in it.
    """

    def attempt(plan: Plan) -> SearchProgress:
        if plan.ready is None:
            return plan.found.standing
        found, tested = NOTHING, 0
        for found in finish(Run(plan.ready, max_steps=max_steps), matching.options.deadline):
            report(found.positions - tested)
            tested = found.positions
        return found

    return with_smaller_steps(attempt, plan, lambda plan: _halve(plan, matching.plan, device), device)


def _halve(plan: Plan, replan: Callable[[jax.Device, int | None], Plan], device: jax.Device) -> tuple[Plan, str] | None:
    """Plan the same search with steps of half the size, and return it with what was changed."""
    block = max(stage.sizes.block for stage in plan.search.stages) // 2
    return None if block < LEAST_BLOCK else (replan(device, block), f"steps of {block}")


def count_in_shares(matching: Matching, plan: Plan, options: JobOptions) -> tuple[SearchProgress, tuple[str, ...]]:
    """Search on several devices, or with checkpoints, by shares of the prefixes; a free device takes the next share.

    Returns:
      The progress at the end, summed over all shares, and notes.
    """
    # A search that ends within few steps costs more to divide than to do.
    deadline, selection = matching.options.deadline, options.selection
    found, notes = count_on_device(matching, plan, selection.main, FEW_STEPS)
    if deadline.passed and found.status != "done":
        return found._replace(status=deadline.status), notes
    if found.status == "done" and (deadline.passed or not options.exports):
        return found, notes
    looks = FEW * found.count < found.positions
    ready = _settle_stages(plan.search, looks)
    # In a hybrid search GPUs begin at the hard end and the CPU at the easy end. Otherwise prefixes are mixed, so that
    # all stretches are about equally hard.
    try:
        prefixes = list_prefixes(ready, "mixed" if selection.helper is None else "hardest first", deadline)
    except TimeIsUp:
        return found._replace(status=deadline.status), notes
    if len(prefixes.work) == 0:
        return NOTHING, notes
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(prefixes.work)])
    if options.exports:  # finished stretches are ranges of this list of prefixes, and mean nothing for another list
        options = options.identified(lambda: (options.fingerprint, prefixes.listed()))

    @functools.cache
    def plan_on(device: jax.Device) -> Plan:
        # A device of the same kind searches by the same plan; another has other sizes of steps.
        same = device.platform == selection.main.platform
        return dataclasses.replace(plan, ready=copy_to(device, ready)) if same else replan(device, None)

    def replan(device: jax.Device, block: int | None) -> Plan:
        again = matching.plan(device, block)
        # All shares look ahead or none does, as the first steps decided: counts add up either way.
        return dataclasses.replace(again, ready=_settle_stages(again.search, looks))

    parts = SHARES * len(selection.devices)
    parts = max(parts, PARTS) if options.exports or options.progress else parts
    parts = parts if selection.helper is None else max(parts, HYBRID_PARTS)
    # A device that has fewer rows than this asks for more, so that its steps are full. Where other devices could take a
    # part the number is small; otherwise the first device would ask for everything.
    alone = len(selection.devices) == 1 and selection.helper is None
    keep = int(starts[-1]) // (1 if alone else 8 * parts)

    def make(device: jax.Device) -> _Share:
        return _Share(plan_on(device), prefixes, keep, replan, device, deadline)

    def mean_work(span: Span) -> float:
        return float(starts[span.stop] - starts[span.first]) / (span.stop - span.first)

    difficulty = None if selection.helper is None else mean_work
    shrinking = not options.exports
    job = Job("matching", starts, parts, added, "candidates", "search", difficulty, shrinking, divisible=True)
    done = run_job(job, make, options)
    found = _progress_of(done.found, "done" if done.finished else deadline.status)
    return found, done.notes


def copy_to(device: jax.Device, ready: ReadySearch) -> ReadySearch:
    """Return the same search of one stage on another device of its kind."""
    (stage,) = ready.stages
    operands, code = jax.device_put((ready.operands, stage.code), device)
    return dataclasses.replace(ready, operands=operands, stages=[stage._replace(code=code)])


def _settle_stages(ready: ReadySearch, looks: bool) -> ReadySearch:
    """Keep only the final stage, with look-ahead when it is enabled and ``looks`` asks for it."""
    stage, operands = ready.stages[-1], ready.operands
    if looks and ready.ahead is not None:
        operands, stage = ready.ahead(operands) or (operands, stage)
    return dataclasses.replace(ready, operands=operands, stages=[stage], ahead=None)


@dataclasses.dataclass
class _Share(Task):
    """A worker that searches shares on a device; all shares between two collections are fed to the same run."""

    _plan: Plan
    _prefixes: Prefixes
    _keep: int
    _replan: Callable[[jax.Device, int | None], Plan]
    _device: jax.Device
    _deadline: Deadline
    _run: tuple[Run, InParts] | None = None
    _found: SearchProgress = NOTHING

    def step(self, span: Span) -> None:
        if self._run is None:
            driver = InParts(self._plan.search, self._prefixes, self._keep)
            self._run, self._found = (Run(self._plan.search, driver), driver), NOTHING
        run, driver = self._run
        for first in range(span.first, span.stop, driver.most):
            if self._deadline.passed:
                self._run = None
                raise Unfinished(_arrays(self._found))
            driver.feed(first, min(first + driver.most, span.stop))
            self._search(run)

    def collect(self) -> Arrays:
        if self._run is None:
            raise RuntimeError("a step failed, and took with it what those before it gave")
        run, driver = self._run
        # The run stopped when its tables became too empty for full steps. Now it searches what is left in them.
        if self._found.status != "done":
            driver.finish()
            self._search(run)
        self._run = None
        return _arrays(self._found)

    def _search(self, run: Run) -> None:
        try:
            *_, self._found = finish(run, self._deadline)
        except BaseException:
            # The failed dispatch has overwritten the state, so that the run cannot go on.
            self._run = None
            raise
        if self._found.status not in ("done", "wants more"):
            self._run = None
            raise Unfinished(_arrays(self._found))

    def halve(self) -> str | None:
        smaller = _halve(self._plan, self._replan, self._device)
        if smaller is None:
            return None
        self._plan, change = smaller
        return change


_LIMBS = 20
"""Limbs of a count: 16 at most for the ways to map leaves, and some more for the number of partial matches."""


def _arrays(standing: SearchProgress) -> Arrays:
    """Return progress as arrays that can be added up without overflow: the count is split into limbs of 32 bits."""
    limbs = [standing.count >> 32 * i & 0xFFFFFFFF for i in range(_LIMBS)]
    numbers = {"limbs": limbs, "positions": standing.positions, "steps": standing.steps}
    # Limbs are below 2^32, so that int64 sums over all shares do not wrap.
    arrays = {name: np.asarray(number, np.int64) for name, number in numbers.items()}
    return arrays if standing.tally is None else arrays | {"tally": standing.tally}


def _progress_of(found: Arrays, status: str) -> SearchProgress:
    count = sum(int(limb) << 32 * i for i, limb in enumerate(found["limbs"]))
    return SearchProgress(count, int(found["positions"]), int(found["steps"]), status, found.get("tally"))
