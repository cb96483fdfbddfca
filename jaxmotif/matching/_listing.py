"""Finding the matches of a query graph in a target graph: all of them, a block at a time, or whether there is any."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict, Unpack, overload

import jax
import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.arrays._present import Column, Presented, counted
from jaxmotif.certificates import CertificateFile, certify_matches
from jaxmotif.devices._checkpoint import fingerprint
from jaxmotif.devices._cluster import on_cluster
from jaxmotif.devices._job import Job, JobOptions, Task, Unfinished, run_job, workers_on
from jaxmotif.devices._progress import progress
from jaxmotif.devices._ranges import Span, cut
from jaxmotif.devices._record import Arrays, added
from jaxmotif.devices._select import Devices, on_worker, select_devices
from jaxmotif.graph import Graph
from jaxmotif.graph._coerce import GraphLike
from jaxmotif.graph._saved import check_writable
from jaxmotif.language import Query
from jaxmotif.matching import _checks as checks
from jaxmotif.matching._checks import Domains, Per
from jaxmotif.matching._divided import copy_to, search_identity
from jaxmotif.matching._options import DEFAULT_SEARCH, Options, Search
from jaxmotif.matching._result import MatchCount, match_count
from jaxmotif.matching._seconds import PhaseClock
from jaxmotif.matching._sink import Pieces, check_sink, open_writer, parts_of, prepare_parts
from jaxmotif.matching._sizes import CHECKPOINT_STRETCHES, LEAST_READ, SHARES, pad_first_axis
from jaxmotif.matching.planner._plan import Matching, Plan
from jaxmotif.patterns import Pattern
from jaxmotif.patterns._ruled import has_passes, that_pass
from jaxmotif.search._deadline import Deadline, TimeIsUp
from jaxmotif.search._listing import Images, Listed, list_matches, until_limit
from jaxmotif.search._parts import Prefixes, list_prefixes
from jaxmotif.search._run import Driver, ReadySearch, Run, SearchProgress, finish


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MatchRows(Presented):
    """The base of results that are matches, each a row of ``nodes``.

    Attributes:
      nodes, exact, status, seconds: as in :class:`Matches`.
    """

    nodes: np.ndarray
    exact: bool
    status: str
    seconds: dict[str, float]

    def __len__(self) -> int:
        return self.nodes.shape[0]

    def _array(self) -> np.ndarray:
        return self.nodes


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Matches(MatchRows):
    """The matches of a query; ``np.asarray`` of them is ``nodes``.

    Attributes:
      nodes: int32 ``[M, k]``: a row is a match, and has the target node of every query node. Rows are in lexicographic
        order of their columns taken by ``order``.
      exact: whether these are all.
      status: ``"done"``, or the limit that stopped the search, in words.
      order: query nodes in the order searched.
      seconds: the seconds that each phase took.
    """

    order: list[int]

    def _line(self) -> str:
        return f"{counted(len(self), 'match')} of {counted(self.nodes.shape[1], 'node')}, {self.status}"

    def table(self) -> dict[str, Column]:
        return {str(node): self.nodes[:, node] for node in range(self.nodes.shape[1])}


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class MatchFile(Presented):
    """A file of matches.

    Attributes:
      path: the path of the file; ``None`` if the search was stopped before the file was complete. The file has a column
        for each query node (npz: an array ``nodes`` with these columns) and rows as in :class:`Matches`.
      count: the number of matches listed.
      exact, status, order, seconds: as in :class:`Matches`.
    """

    path: Path | None
    count: int
    exact: bool
    status: str
    order: list[int]
    seconds: dict[str, float]

    def __len__(self) -> int:
        return self.count

    def _line(self) -> str:
        where = "no file" if self.path is None else str(self.path)
        return f"{counted(self.count, 'match')} in {where}, {self.status}"

    def table(self) -> dict[str, Column]:
        return {"path": [str(self.path)], "matches": [self.count], "exact": [self.exact], "status": [self.status]}


class _BlockList:
    """Blocks of matches that are joined at the end, with a forecast of the time that this will take.

    Args:
      size: the nodes of a match.
    """

    _SAMPLE_BYTES = 2**22  # copied once to see how fast this host copies

    def __init__(self, size: int):
        self._blocks, self._bytes = [np.zeros((size, 0), np.int32)], 0
        self._seconds_per_byte: float | None = None

    def append(self, nodes: np.ndarray) -> None:
        """Add a block, int32 ``[size, matches]``."""
        self._blocks.append(nodes)
        self._bytes += nodes.nbytes
        if self._seconds_per_byte is None and nodes.nbytes >= self._SAMPLE_BYTES:
            started = time.perf_counter()
            nodes.copy()
            self._seconds_per_byte = (time.perf_counter() - started) / nodes.nbytes

    @property
    def joining_seconds(self) -> float:
        """About how long joining the blocks so far takes.

        That is twice as long as copying the sample took, since it fills memory that is new to the process.
        """
        return 2 * self._bytes * (self._seconds_per_byte or 0.0)

    def join(self) -> np.ndarray:
        """Return all matches, int32 ``[size, matches]``."""
        return np.concatenate(self._blocks, axis=1)


class _HowToList(TypedDict, total=False):
    per: Per
    wildcard: int | None
    domains: Domains | None
    time_limit: float | None
    memory: int | None
    devices: Devices
    search: Search
    checkpoint: str | os.PathLike | None
    certify: CertificateFile


def _load_with_sink(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call with query and target read from files of this machine, and prepare the sink."""
    arguments = checks.load_target_and_query(arguments)
    if (sink := arguments.get("sink")) is None:
        return arguments
    prepare_parts(sink, keep=arguments.get("checkpoint") is not None)
    return arguments | {"sink": os.path.abspath(sink)}


@overload
def find_matches(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool = False,
    limit: int | None = None,
    *,
    sink: None = None,
    **options: Unpack[_HowToList],
) -> Matches: ...
@overload
def find_matches(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool = False,
    limit: int | None = None,
    *,
    sink: str | os.PathLike,
    **options: Unpack[_HowToList],
) -> MatchFile: ...
@on_cluster(_load_with_sink)
def find_matches(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool = False,
    limit: int | None = None,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    domains: Domains | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    devices: Devices = None,
    search: Search = DEFAULT_SEARCH,
    sink: str | os.PathLike | None = None,
    checkpoint: str | os.PathLike | None = None,
    certify: CertificateFile = None,
) -> Matches | MatchFile:
    """List the matches of a query in a target.

    Args:
      limit: the most matches to list: the first ones in lexicographic order of the matching order.
      per: list every ``"map"``; or one for each ``"occurrence"``, of all maps that differ by an automorphism of the
        query.
      query, target, induced, wildcard, domains, time_limit, memory, devices: as for
        :func:`jaxmotif.matching.count_matches`.
      search: as for :func:`jaxmotif.matching.count_matches`. ``leaves`` and ``symmetry`` have no effect on a listing,
        and ``order`` is also the order by which the matches are sorted.
      sink: a file (``.parquet``, ``.csv`` or ``.npz``) to write the matches to, instead of returning them. Host memory
        then does not grow with their number. The file appears once it is complete.
      checkpoint: with a sink, a folder in which finished stretches of the search are kept until the file is complete.
        The same call made again, however the earlier one ended, goes on from there and writes the same bytes. The
        folder takes as much room as all matches, uncompressed.
      certify: a file to write a certificate of all returned maps to, which :func:`jaxmotif.verify.check` checks.

    Returns:
      The matches, which do not depend on ``block``, ``memory`` and ``devices``; with a sink, a :class:`MatchFile`.

    Raises:
      ValueError, TypeError: as :func:`jaxmotif.matching.count_matches`.
      ImportError: for Parquet without pyarrow (the extra ``io`` has it). OSError: for a file that cannot be written.

    Example:
      >>> path, square = Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> find_matches(path, square, limit=2).nodes.tolist()
      [[1, 0, 3], [3, 0, 1]]
    """
    if checkpoint is not None and sink is None:
        raise ValueError("a checkpoint keeps what is written to a sink: give sink= too")
    if certify is not None:
        check_writable(certify)
        if sink is not None or per != "map":
            extra = 'per="occurrence"' if sink is None else "sink"
            raise ValueError(f"a certificate is of maps that are returned; leave {extra} out")
        target = checks.load_target(target, query)
        query = checks.check_query(query, target, wildcard, per)
        checks.check_certifiable(query, domains, time_limit, limit)
    path = None if sink is None else check_sink(sink)
    small, deadline = checkpoint is None, Deadline(time_limit)
    how = {"wildcard": wildcard, "memory": memory, "search": search, "small": small, "deadline": deadline}
    listing = Listing(query, target, per, domains, devices, Options(induced=induced, limit=limit, **how))
    if path is not None:
        whole, count, status = listing.write(path, checkpoint, domains)
        seconds = listing.seconds()
        return MatchFile(path if whole else None, count, status == "done", status, listing.plan.order, seconds)
    blocks, status = _BlockList(listing.size), "done"
    for block in listing.blocks():
        blocks.append(block.nodes)
        status = block.status
        # Joining the blocks counts towards the time limit, too: for long listings it takes seconds.
        if status == "running" and deadline.left < blocks.joining_seconds:
            status = deadline.status
            break
    seconds, nodes = listing.seconds(), blocks.join().T
    if certify is not None:
        matching = listing.matching
        certify_matches(certify, matching.target, matching.pattern, wildcard, induced, len(nodes), maps=nodes)
    return Matches(nodes, status == "done", status, seconds, listing.plan.order)


def list_kept(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool,
    limit: int | None,
    folder: str | os.PathLike,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    devices: Devices = None,
    show: bool = False,
) -> tuple[Matches | None, Pieces, str]:
    """List matches as :func:`find_matches` does, with finished stretches in a folder that stays as it is.

    Args:
      query, target, induced, limit, per, wildcard, time_limit, memory, devices: as for :func:`find_matches`.
      folder: the folder for finished stretches, which no other process may use until the stretches are released.
      show: show a meter.

    Returns:
      The matches, ``None`` if the time was up before all were listed; the stretches, as a context manager for the work
      that the caller does with the matches; and the status.
    """
    deadline = Deadline(time_limit)
    options = Options(induced=induced, limit=limit, wildcard=wildcard, memory=memory, small=False, deadline=deadline)
    listing = Listing(query, target, per, None, devices, options)
    pieces = Pieces(folder, listing.size)
    try:
        _, status = listing.search_kept(pieces, None, show)
        if not _whole(status):
            return None, pieces, status
        blocks = _BlockList(listing.size)
        for nodes in pieces.blocks():
            blocks.append(nodes)
        return Matches(blocks.join().T, status == "done", status, listing.seconds(), listing.plan.order), pieces, status
    except BaseException:
        pieces.release()
        raise


def iter_matches(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool = False,
    limit: int | None = None,
    *,
    per: Per = "map",
    wildcard: int | None = None,
    domains: Domains | None = None,
    memory: int | None = None,
    devices: Devices = None,
    search: Search = DEFAULT_SEARCH,
) -> Iterator[np.ndarray]:
    """List the matches of a query in a target a block at a time, in host memory that does not grow with their number.

    Args:
      query, target, induced, limit, per, wildcard, domains, memory, devices, search: as for :func:`find_matches`.

    Yields:
      Blocks of matches, int32 ``[M, k]`` with M at least 1; all together they are the rows of
      ``find_matches(...).nodes``. The search goes on while the caller works on a block, and ends when the caller takes
      no more blocks.

    Raises:
      ValueError, TypeError: as :func:`jaxmotif.matching.count_matches`, before the first block.

    Example:
      >>> path, square = Graph.from_edges([(0, 1), (1, 2)]), Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> sum(len(block) for block in iter_matches(path, square))
      8
    """
    options = Options(induced=induced, limit=limit, wildcard=wildcard, memory=memory, search=search)
    listing = Listing(query, target, per, domains, devices, options)
    return (block.nodes.T for block in listing.blocks() if block.nodes.size)


@on_cluster(checks.load_target_and_query)
def has_match(
    query: GraphLike | Pattern | Query,
    target: GraphLike,
    induced: bool = False,
    *,
    wildcard: int | None = None,
    domains: Domains | None = None,
    time_limit: float | None = None,
    memory: int | None = None,
    devices: Devices = None,
    search: Search = DEFAULT_SEARCH,
) -> bool:
    """Return whether a query matches anywhere in a target: a count that ends with the first match.

    Args:
      query, target, induced, wildcard, domains, time_limit, memory: as for :func:`jaxmotif.matching.count_matches`.
      devices: as for :func:`jaxmotif.matching.count_matches`, but only one of them is used.
      search: as for :func:`jaxmotif.matching.count_matches`, but it is always a search, whatever ``engine`` says.

    Returns:
      True or False.

    Raises:
      TimeoutError: if ``time_limit`` passed before a match was found or ruled out.
      ValueError, TypeError: as :func:`jaxmotif.matching.count_matches`.

    Example:
      >>> square = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
      >>> has_match(Graph.from_edges([(0, 1), (1, 2), (2, 0)]), square)
      False
    """
    deadline = Deadline(time_limit)
    target = checks.load_target(target, query)
    pattern = checks.check_query(query, target, wildcard, "map")
    options = Options(induced=induced, wildcard=wildcard, memory=memory, search=search, deadline=deadline)
    if has_passes(pattern):
        found = count_listed(pattern, target, "map", domains, devices, dataclasses.replace(options, limit=1))
    else:
        allowed = checks.check_domains(domains, pattern, target)
        plan = Matching(pattern, target, options, allowed).plan(select_devices(devices).main)
        found = plan.found.standing
        if plan.ready is not None:
            *_, found = finish(Run(plan.ready, Driver(once=True), search.max_steps), deadline)
    if not found.count and found.status != "done":
        raise TimeoutError(f"no match found so far, {found.status}; allow more time")
    return found.count > 0


def count_listed(
    pattern: Pattern, target: Graph, per: Per, domains: Domains | None, devices: Devices, options: Options
) -> MatchCount:
    """Count matches by listing them, up to the limit of the options, where the search cannot test all conditions."""
    listing = Listing(pattern, target, "map", domains, devices, options)
    count, status = 0, "done"
    for block in listing.blocks():
        count, status = count + block.nodes.shape[1], block.status
    seconds = listing.seconds()
    note = "comparisons between elements that no edge joins were tested on each match, listed"
    return match_count(pattern, per, listing.plan, SearchProgress(count, 0, 0, status), seconds, (note,))


class Listing:
    """A planned listing of matches.

    Args:
      query, target, per, domains, devices: as for :func:`find_matches`.
      options: how to search, and up to which limit. The options that make a search a listing are set here.
    """

    def __init__(
        self,
        query: GraphLike | Pattern | Query,
        target: GraphLike,
        per: Per,
        domains: Domains | None,
        devices: Devices,
        options: Options,
    ):
        self._clock = PhaseClock()
        target = checks.load_target(target, query)
        pattern = checks.check_query(query, target, options.wildcard, per)
        checks.check_whole_occurrences(per, domains)
        search, limit, self.size = options.search, options.limit, pattern.num_nodes
        if limit is not None:
            whole_number(limit, "limit", least=0)
        if search.max_steps is not None:
            raise ValueError(f"max_steps={search.max_steps} is for counts; give a limit or a time_limit")
        # All maps are kept, or one of those that automorphisms exchange. Conditions that the search cannot test (the
        # `passes` of the pattern) are tested afterwards.
        self.limit, self.one_each, self._passes = limit, per == "occurrence", has_passes(pattern)
        # Automorphisms of the shape may exchange a map that passes and one that does not. With `passes` all maps are
        # therefore listed, and one of each occurrence is picked afterwards.
        search = dataclasses.replace(search, symmetry=self.one_each and not self._passes)
        # Nobody knows beforehand how many maps pass, so that the limit is applied afterwards.
        limit = None if self._passes else limit
        options = dataclasses.replace(options, listing=True, search=search, limit=limit)
        self.selection = select_devices(devices)
        self.matching = Matching(pattern, target, options, checks.check_domains(domains, pattern, target))
        self.plan = self.matching.plan(self.selection.main, clock=self._clock)

    def seconds(self) -> dict[str, float]:
        """End the phase of the search, and return the seconds of all phases."""
        self._clock.end("search")
        return self._clock.seconds()

    def blocks(self) -> Iterator[Listed]:
        """Return blocks of matches up to the limit, by all devices of this process."""
        found = self._found()
        return until_limit(self._filter_blocks(found) if self._passes else found, self.limit)

    def write(self, path: Path, folder: str | os.PathLike | None, domains: Domains | None) -> tuple[bool, int, str]:
        """Write the file, and return whether it is complete, how many matches were listed, and the status."""
        if on_worker.get() is not None:
            return self._write_parts(path, domains)
        if folder is not None:
            return self._write_pieces(path, folder, domains)
        count, status = 0, "done"
        with open_writer(path, self.size, whole=lambda: _whole(status)) as write:
            for block in self.blocks():
                write(block.nodes)
                count, status = count + block.nodes.shape[1], block.status
        return _whole(status), count, status

    def _write_pieces(self, path: Path, folder: str | os.PathLike, domains: Domains | None) -> tuple[bool, int, str]:
        pieces = Pieces(folder, self.size)
        try:
            count, status = self.search_kept(pieces, domains)
            if not _whole(status):
                return False, count, status
            with open_writer(path, self.size) as write:
                for nodes in pieces.blocks():
                    write(nodes)
            pieces.remove()
            return True, count, status
        finally:
            pieces.release()

    def search_kept(self, pieces: Pieces, domains: Domains | None, show: bool = False) -> tuple[int, str]:
        """Search the stretches that are not kept yet, keep them, and return the number of all matches and a status."""
        if self._passes:
            raise ValueError("the query compares elements that no edge joins: it is listed without checkpoint")
        # Everything that decides which rows there are.
        listing = "a listing", self.size, self.limit, self.one_each, *search_identity(self.matching, self.plan, domains)
        count, status = 0, self.plan.found.standing.status
        if self.plan.ready is None:
            if _whole(status):  # nothing can match
                pieces.begin(fingerprint(*listing))
            return count, status
        try:
            prefixes, stretches = self._cut_stretches(CHECKPOINT_STRETCHES)
        except TimeIsUp as stop:
            return 0, str(stop)
        done, count = pieces.begin(fingerprint(*listing, prefixes.listed()))  # which decide in what stretches they are
        left = None if self.limit is None else self.limit - count
        with progress(len(stretches), "stretches", "listing", show, before=done) as meter:
            for block in until_limit(self._list_on_devices(left, prefixes, stretches[done:]), left):
                count, status = count + block.nodes.shape[1], block.status
                # Stretches are numbered as in the whole listing, not as in what was left of it.
                pieces.add(block._replace(stretch=block.stretch + done))
                meter.advance(int(block.ends))
        # The search was given what was left of the limit, but the status is to name the user's limit.
        if status.startswith("stopped at limit"):
            status = f"stopped at limit={self.limit}"
        return count, status

    def _write_parts(self, path: Path, domains: Domains | None) -> tuple[bool, int, str]:
        """Have the workers of a cluster write a folder of Parquet files, whose names have the order of the matches."""
        if self._passes or self.limit is not None:
            raise ValueError(
                "a cluster lists all matches of a query to a sink; leave out sink= for a limit, or for a query that "
                "compares elements that no edge joins"
            )
        parts = parts_of(path)
        parts.mkdir(exist_ok=True)
        if (ready := self.plan.ready) is None:
            block = self._planned_block()
            count, status = block.nodes.shape[1], block.status
            with open_writer(parts / "part-0.parquet", self.size) as write:
                write(block.nodes)
        else:
            count, status = self._write_as_job(ready, parts, domains)
        # Another worker may have moved the parts already, and died before it reported that.
        if _whole(status) and not path.exists():
            parts.replace(path)
        return _whole(status), count, status

    def _write_as_job(self, ready: ReadySearch, parts: Path, domains: Domains | None) -> tuple[int, str]:
        """Have the workers of a cluster write parts, and return the number of matches and the status."""
        try:
            prefixes, _ = self._cut_stretches(1)
        except TimeIsUp as stop:
            return 0, str(stop)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(prefixes.work)])

        def make(device: jax.Device) -> _PartTask:
            search, images = copy_to(device, ready), _images(self.plan)

            def write_part(span: Span) -> int:
                count = 0
                with open_writer(parts / f"part-{span.first:015d}.parquet", self.size) as write:
                    for block in list_matches([search], images, None, self.matching.options.deadline, prefixes, [span]):
                        if not _whole(block.status):
                            raise Unfinished({"rows": np.zeros((), np.int64)})
                        write(block.nodes)
                        count += block.nodes.shape[1]
                return count

            return _PartTask(write_part)

        workers = workers_on(self.selection)
        job = Job("matches", starts, SHARES * len(workers), added, "candidates", "listing")
        identity = search_identity(self.matching, self.plan, domains)
        options = JobOptions(self.selection)
        options = options.identified(lambda: ("a listing in parts", self.one_each, *identity, prefixes.listed()))
        done = run_job(job, make, options, workers)
        return int(done.found.get("rows", 0)), "done" if done.finished else self.matching.options.deadline.status

    def _filter_blocks(self, found: Iterator[Listed]) -> Iterator[Listed]:
        """Yield each block with only those of its matches that pass."""
        for block in found:
            yield block._replace(nodes=that_pass(self.matching.pattern, block.nodes.T, self.one_each).T)

    def _found(self) -> Iterator[Listed]:
        """Return blocks of the matches that the search finds."""
        if self.plan.ready is None:
            return iter([self._planned_block()])
        images = _images(self.plan)
        devices = self.selection.local or (self.selection.main,)
        if len(devices) == 1:
            return list_matches([self.plan.ready], images, self.matching.options.limit, self.matching.options.deadline)
        try:
            prefixes, stretches = self._cut_stretches(SHARES * len(devices))
        except TimeIsUp as stop:
            return iter([Listed(np.zeros((self.size, 0), np.int32), 0, False, str(stop))])
        return self._list_on_devices(self.matching.options.limit, prefixes, stretches)

    def _planned_block(self) -> Listed:
        """Return all matches of a search that was finished while it was planned."""
        found, status = self.plan.found.nodes, self.plan.found.standing.status
        nodes = np.zeros((self.size, 0), np.int32) if found is None else np.asarray(self.plan.ids)[found]
        return Listed(nodes, 0, status == "done", status)

    def _cut_stretches(self, parts: int) -> tuple[Prefixes, list[Span]]:
        """Return the prefixes in order, and about a given number of stretches of equal work."""
        # Prefixes keep the order in which the search gives them, so that matches come in order.
        prefixes = list_prefixes(self.plan.search, "given", self.matching.options.deadline)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(prefixes.work)])
        whole = [Span(0, len(prefixes.work))] if len(prefixes.work) else []
        return prefixes, [unit.span for unit in cut(starts, whole, parts)]

    def _list_on_devices(self, limit: int | None, prefixes: Prefixes, stretches: list[Span]) -> Iterator[Listed]:
        """Return blocks of stretches, by all devices of this process."""
        devices = self.selection.local or (self.selection.main,)
        searches = [copy_to(device, self.plan.search) for device in devices]
        images = _images(self.plan)
        return list_matches(searches, images, limit, self.matching.options.deadline, prefixes, stretches)


@dataclasses.dataclass
class _PartTask(Task):
    """A task that writes parts of a listing, and counts their rows."""

    _write_part: Callable[[Span], int]
    _rows: int = 0

    def step(self, span: Span) -> None:
        self._rows += self._write_part(span)

    def collect(self) -> Arrays:
        rows, self._rows = self._rows, 0
        return {"rows": np.array(rows, np.int64)}


def _whole(status: str) -> bool:
    """Return whether all that was asked for is listed."""
    return not status.startswith("stopped at time_limit")


def _images(plan: Plan) -> Images:
    ids = plan.ids
    if isinstance(ids, np.ndarray):
        ids = pad_first_axis(ids, LEAST_READ)
    # The position of each query node is the inverse of the order.
    return Images(np.argsort(plan.order), ids)
