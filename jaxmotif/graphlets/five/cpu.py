"""Five-node orbits on a CPU: loops over the rows of a graph, compiled by numba (``pip install "jaxmotif[cpu]"``).

Each loop computes sums straight from their definitions in :class:`jaxmotif.graphlets.five.equations.Sums`. Nodes are
numbered by degree, and an *arc* ``u -> v`` is a slot of the compressed rows. Every loop takes a stretch of nodes, so
that a run can be cut into units: for the progress meter, for Ctrl-C, for checkpoints and for several threads.

Numba keeps compiled loops in files that it loads and runs. Whoever can write such a file can run code as this user, so
the files lie in a folder of the user's own (``jaxmotif/loops`` in ``XDG_CACHE_HOME`` or ``~/.cache``, mode 0700), which
is checked before anything is loaded from it. Where no such folder can be had, the loops are compiled in each process.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numba
import numpy as np
from numba import config as numba_config
from numba import types
from numba.extending import intrinsic

from jaxmotif.arrays._compile import put64
from jaxmotif.arrays._exact import join_sums, split_sum
from jaxmotif.arrays._host import zeros_for_jax
from jaxmotif.arrays._private_folder import make_private, user_cache_folder, why_not_private
from jaxmotif.devices._job import Job, JobOptions, Task, run_job
from jaxmotif.devices._ranges import Span
from jaxmotif.devices._record import Arrays, added
from jaxmotif.graph._container import Graph
from jaxmotif.graphlets._tuning import Detail, FiveTuning
from jaxmotif.graphlets.five import results
from jaxmotif.graphlets.five.equations import ALL_PASSES, Arcs, Nodes, Pass, Rims, Sums, all_homs, divided, total_homs
from jaxmotif.patterns._orbits import Root, times24

_logger = logging.getLogger("jaxmotif")


# ---- compiling


def folder_for_loops() -> Path | None:
    """Return a folder that only this user can write to, made if it is missing; ``None`` where there is none."""
    try:
        folder = user_cache_folder() / "loops"
        make_private(folder)
        reason = why_not_private(folder)
        if reason is None and os.access(folder, os.W_OK):
            return folder
        reason = reason or f"{folder} cannot be written to"
    except OSError as failure:
        reason = str(failure)
    _logger.warning("loops for five-node graphlets are compiled in each process, which takes seconds: %s", reason)
    return None


_FOLDER = folder_for_loops()


def _loop(signature: Any) -> Callable[[Callable[..., None]], Any]:
    """Compile a function for one signature, or load it from the folder of compiled loops."""

    def compile_or_load(function: Callable[..., None]) -> Any:
        config: Any = numba_config
        before = config.CACHE_DIR
        config.CACHE_DIR = str(_FOLDER or before)  # where numba looks first, read when a function is declared
        try:
            return numba.njit(signature, nogil=True, cache=_FOLDER is not None)(function)
        finally:
            config.CACHE_DIR = before

    return compile_or_load


def _declare_count_bits(typing_context: Any, word: Any) -> Any:
    """Tell numba of a function that returns how many bits of a word of 64 bits are set."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


_count_bits: Any = intrinsic(_declare_count_bits)


# ---- the graph


class RankedRows(NamedTuple):
    """A graph in compressed rows whose nodes are numbered by degree, with its triangles.

    Attributes:
      offsets: int64 ``[N + 1]``, the first arc of each node. heads: uint32 ``[S]``, ascending within each row.
      back: uint32 ``[S]``, the reversed arc of each arc.
      core, up: int64 ``[N]``, the first arc of each node that leads to a node of degree 2 or more, and the first that
        leads to a node of higher number. Arcs to leaves (nodes of degree 1) come first in every row; what leaves add to
        the sums is known in closed form.
      degree, walks2: int64 ``[N]``, degrees and walks of length 2.
      t, below, between: int64 ``[S]``, how many common neighbours the two ends of each arc have: in all, with numbers
        below both ends, and with numbers between the two ends.
      starts, around: int64 ``[S + 1]``, uint32 ``[sum of t]``. Of the arc ``a = u -> v``, ``around[starts[a] :
        starts[a + 1]]`` are the arcs ``u -> w`` to the common neighbours ``w``, in ascending order. For the reversed
        arc the same nodes ``w`` come in the same order.
    """

    offsets: np.ndarray
    heads: np.ndarray
    back: np.ndarray
    core: np.ndarray
    up: np.ndarray
    degree: np.ndarray
    walks2: np.ndarray
    t: np.ndarray
    below: np.ndarray
    between: np.ndarray
    starts: np.ndarray
    around: np.ndarray


# Loops only read the arrays of a graph, so that threads may share them.
_INTS, _ARCS, _TABLE = types.int64[::1], types.uint32[::1], types.int64[:, ::1]
_ROWS = types.NamedTuple((_INTS, _ARCS, _ARCS, *[_INTS] * 8, _ARCS), RankedRows)


@_loop(types.void(_INTS, _ARCS, _ARCS, _ARCS, _INTS, _ARCS, _ARCS, _ARCS))
def order_arcs(offsets, targets, order, rank, starts, heads, back, arc_of_slot):
    """Write the rows of a graph whose nodes are numbered by ``rank``: heads, reversed arcs, and the arc of each slot.

    Nodes are visited in their new order, and each is appended to the rows of its neighbours, which sorts the rows.
    """
    end = starts[:-1].copy()
    for v in range(len(order)):
        for slot in range(offsets[order[v]], offsets[order[v] + 1]):
            w = rank[targets[slot]]
            heads[end[w]] = v
            arc_of_slot[slot] = end[w]
            end[w] += 1
    end[:] = starts[:-1]
    for v in range(len(order)):
        for a in range(starts[v], starts[v + 1]):
            back[a] = end[heads[a]]
            end[heads[a]] += 1
    for slot in range(len(arc_of_slot)):
        arc_of_slot[slot] = back[arc_of_slot[slot]]


@numba.njit(inline="always")
def _append(place, around, arc, other):
    around[place[arc]] = other
    place[arc] += 1


@_loop(types.void(_INTS, _ARCS, _ARCS, _INTS, _TABLE, _INTS, _ARCS))
def find_triangles(offsets, heads, back, up, counts, place, around):
    """Find the triangles ``u < v < w``: count them, or list them if ``around`` has room for any.

    The rows of ``counts`` become :attr:`RankedRows.t`, ``below`` and ``between``, at upward arcs only. ``around``
    becomes :attr:`RankedRows.around`, where ``place`` says at which place the list of each arc begins; it is moved to
    the end of the list. Triangles come in ascending order of their nodes, so that every list is filled in ascending
    order, too.
    """
    arc_to = np.full(len(up), -1, np.int64)
    for u in range(len(up)):
        if offsets[u + 1] - up[u] < 2:
            continue
        for uw in range(up[u], offsets[u + 1]):
            arc_to[heads[uw]] = uw
        for uv in range(up[u], offsets[u + 1]):
            v = heads[uv]
            for vw in range(up[v], offsets[v + 1]):
                uw = arc_to[heads[vw]]
                if uw < 0:
                    continue
                if len(around):
                    _append(place, around, uv, uw)
                    _append(place, around, uw, uv)
                    _append(place, around, back[uv], vw)
                    _append(place, around, vw, back[uv])
                    _append(place, around, back[uw], back[vw])
                    _append(place, around, back[vw], back[uw])
                else:
                    counts[0, uv] += 1
                    counts[0, uw] += 1
                    counts[0, vw] += 1
                    counts[1, vw] += 1
                    counts[2, uw] += 1
        for uw in range(up[u], offsets[u + 1]):
            arc_to[heads[uw]] = -1


# ---- sums at arcs


OF_HUBS = ("l2", "degrees", "walks", "cube", "s", "k2", "kt", "c", "l3", "spread", "ls", "tip")
OF_HUBS_AT_EDGES = ("squares", "dart", "middle", "tail", "rim")
"""Names of the sums to which the neighbourhood of each node adds; the second ones are for edge orbits alone."""


@_loop(types.void(types.int64, types.int64, types.boolean, _ROWS, _TABLE))
def add_hub_sums(first, stop, edges, graph, out):
    """Add what the neighbourhoods of nodes ``first .. stop - 1`` give to ``out``.

    The rows of ``out`` are named by ``OF_HUBS``, and further ones by ``OF_HUBS_AT_EDGES``.

    The neighbourhood graph L of a hub has the arcs of the hub as nodes, and ``common`` is a row of the product L L. It
    is found in one of two ways: by paths of two steps, which are t^2 at each arc that is in t triangles; or, where L
    has many edges, by intersecting rows of bits, which takes degree^3 / 64 words for each hub.
    """
    offsets, heads, back, core = graph.offsets, graph.heads, graph.back, graph.core
    starts, around, t, degree, walks2 = graph.starts, graph.around, graph.t, graph.degree, graph.walks2
    widest = 0
    for u in range(first, stop):
        widest = max(widest, offsets[u + 1] - core[u])
    common, is_beside, k = np.zeros(widest, np.int64), np.zeros(widest, np.bool_), np.empty(0, np.int64)
    for u in range(first, stop):
        base, end = core[u], offsets[u + 1]
        d, begin = end - base, starts[base]
        if starts[end] == begin:
            continue
        if len(k) < starts[end] - begin:
            k = np.empty(starts[end] - begin, np.int64)  # 4-cliques at each entry of the lists of this hub
        paths = 0
        for a in range(base, end):
            paths += t[a] * t[a]
            other = starts[back[a]] - starts[a]
            for i in range(starts[a], starts[a + 1]):
                b = around[i]
                w = heads[b]
                out[0, a] += t[b]
                out[1, a] += degree[w]
                out[2, a] += walks2[w]
                out[3, a] += t[b] * t[b]
                if edges:
                    out[12, a] += degree[w] * degree[w]
                    out[13, a] += t[b] * degree[w]
                    out[14, a] += t[b] * t[around[i + other]]
        words = (d + 63) >> 6
        dense = d * (d * words // 2 + d) < 2 * paths
        bits = np.zeros((d if dense else 0, words), np.uint64)
        if dense:
            for a in range(base, end):
                for i in range(starts[a], starts[a + 1]):
                    y = around[i] - base
                    bits[a - base, y >> 6] |= np.uint64(1) << np.uint64(y & 63)
        for a in range(base, end):
            if t[a] == 0:
                continue
            if dense:
                for y in range(d):
                    total = 0
                    for word in range(words):
                        total += _count_bits(bits[a - base, word] & bits[y, word])
                    common[y] = total
            else:
                for i in range(starts[a], starts[a + 1]):
                    for j in range(starts[around[i]], starts[around[i] + 1]):
                        common[around[j] - base] += 1
            s = k2 = kt = tail = 0
            for i in range(starts[a], starts[a + 1]):
                b = around[i]
                c = common[b - base]
                k[i - begin] = c
                s += c
                k2 += c * c
                kt += c * t[b]
                if edges:
                    tail += c * degree[heads[b]]
            out[4, a], out[5, a], out[6, a] = s, k2, kt
            if edges:
                out[15, a] = tail
                # Walks of length 3 between the ends of each edge of L. Each edge is met once, and has two arcs.
                other = starts[back[a]] - starts[a]
                for i in range(starts[a], starts[a + 1]):
                    b = around[i]
                    if b > a:
                        break
                    walks = 0
                    for j in range(starts[b], starts[b + 1]):
                        walks += common[around[j] - base]
                    vw = around[i + other]
                    out[16, vw] += walks
                    out[16, back[vw]] += walks
            closed = 0
            if dense or out[0, a] > d:
                for y in range(d):
                    closed += common[y] * common[y]
                    common[y] = 0
            else:
                for i in range(starts[a], starts[a + 1]):
                    for j in range(starts[around[i]], starts[around[i] + 1]):
                        y = around[j] - base
                        closed += common[y] * common[y]
                        common[y] = 0
            out[7, a] = closed
        for a in range(base, end):
            tip = 0
            for i in range(starts[a], starts[a + 1]):
                b = around[i]
                out[8, a] += out[0, b]
                out[9, a] += out[1, b]
                out[10, a] += out[4, b]
                is_beside[b - base] = k[i - begin] > 0
            if out[4, a]:
                for i in range(starts[a], starts[a + 1]):
                    b = around[i]
                    if k[i - begin]:
                        for j in range(starts[b + 1] - 1, starts[b] - 1, -1):
                            if around[j] < b:  # each edge of L once
                                break
                            if is_beside[around[j] - base]:
                                tip += k[j - begin]
            for i in range(starts[a], starts[a + 1]):
                is_beside[around[i] - base] = False
            out[11, a] = 2 * tip


OF_ROWS = ("w3", "wing", "far", "side", "arm", "chord")
OF_ROWS_AT_EDGES = ("eave", "floor", "side_pairs")
"""Names of the sums that need the common neighbours of all pairs of nodes; the second are for edge orbits alone."""


@_loop(types.void(types.int64, types.int64, types.boolean, _ROWS, _TABLE))
def add_row_sums(first, stop, edges, graph, out):
    """Add what the rows of nodes ``first .. stop - 1`` in tables over pairs of nodes give to ``out``.

    The rows of ``out`` are named by ``OF_ROWS``, and further ones by ``OF_ROWS_AT_EDGES``.

    One row of the tables, that of a node ``x``, is made, read, and cleared at a time. It has four numbers for each node
    ``y``: the common neighbours of ``x`` and ``y``; the ordered adjacent pairs of common neighbours; the walks of
    length 2 from ``y`` to ``x``, each counted as often as its first edge has triangles; and the common neighbours
    again, but only if ``x`` and ``y`` are adjacent. The last two are for edge orbits.
    """
    offsets, heads, back, core = graph.offsets, graph.heads, graph.back, graph.core
    starts, around, t, degree = graph.starts, graph.around, graph.t, graph.degree
    table = np.zeros((len(degree), 4), np.int64)
    for x in range(first, stop):
        if degree[x] < 2:
            continue
        for xu in range(offsets[x], offsets[x + 1]):
            u = heads[xu]
            for b in range(core[u], offsets[u + 1]):
                table[heads[b], 0] += 1
                if edges:
                    table[heads[b], 2] += t[b]
        if edges:
            for xu in range(offsets[x], offsets[x + 1]):
                table[heads[xu], 3] = table[heads[xu], 0]
        # Triangles x, u, w with u < w: the arcs from u to w and back.
        for xu in range(offsets[x], offsets[x + 1]):
            ux = back[xu]
            other = starts[xu] - starts[ux]
            for i in range(starts[ux + 1] - 1, starts[ux] - 1, -1):
                uw = around[i]
                if heads[uw] < heads[xu]:
                    break
                codegrees = adjacent = 0
                for j in range(starts[uw], starts[uw + 1]):
                    y = heads[around[j]]
                    table[y, 1] += 2
                    codegrees += table[y, 0]
                    if edges:
                        adjacent += table[y, 3]
                out[5, uw] += codegrees
                out[5, back[uw]] += codegrees
                if edges:
                    out[6, ux] += codegrees
                    out[6, back[around[i + other]]] += codegrees
                    out[8, uw] += adjacent
                    out[8, back[uw]] += adjacent
        for xu in range(offsets[x], offsets[x + 1]):
            u, ux = heads[xu], back[xu]
            w3 = wing = far = core[u] - offsets[u]  # a leaf of u and x have u in common
            side = arm = floor = 0
            for b in range(core[u], offsets[u + 1]):
                y = heads[b]
                c = table[y, 0]
                w3 += c
                wing += c * c
                far += c * degree[y]
                side += c * t[b]
                arm += table[y, 1]
                if edges:
                    floor += table[y, 2]
            out[0, ux], out[1, ux], out[2, ux], out[3, ux], out[4, ux] = w3, wing, far, side, arm
            if edges:
                out[7, ux] = floor
        for xu in range(offsets[x], offsets[x + 1]):
            table[heads[xu], 3] = 0
            for b in range(core[heads[xu]], offsets[heads[xu] + 1]):
                table[heads[b], 0] = table[heads[b], 1] = table[heads[b], 2] = 0


@_loop(types.void(types.int64, types.int64, _ROWS, _TABLE))
def add_five_cycles(first, stop, graph, out):
    """Add, at one of the two arcs of each edge, the 5-cycles whose node ``i`` is one of ``first .. stop - 1``.

    Each cycle is found once: as a path i - j - k - l with k < j < i, k < l, and a common neighbour x of i and l below
    the higher of them (:mod:`jaxmotif.graphlets.five.cycles`). Paths with the same i and k are treated together: the
    nodes l that k leads to are visited once for all j between i and k. Choices of x or l that are on the path already
    are subtracted again.
    """
    offsets, heads, core, up = graph.offsets, graph.heads, graph.core, graph.up
    starts, around, t, below, between = graph.starts, graph.around, graph.t, graph.below, graph.between
    cycles = out[0]
    nodes = len(up)
    closers, ends = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)  # choices of x, and paths, by node l
    paths, closed = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)  # choices of j, and of l and x, by node k
    is_near, is_lower = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)  # neighbours of i, and those below i
    middles = np.empty(nodes, np.int64)
    for i in range(first, stop):
        # Here i has the part of k. On paths whose j is adjacent to l too, x = j is counted below, and subtracted here.
        for kl in range(up[i], offsets[i + 1]):
            for at in range(starts[kl], starts[kl + 1]):
                j = heads[around[at]]
                if j > i:
                    cycles[kl] -= offsets[j + 1] - up[j] - (heads[kl] > j)
        if up[i] == core[i]:
            continue
        for ix in range(core[i], offsets[i + 1]):
            x = heads[ix]
            is_near[x], is_lower[x] = 1, x < i
            for xl in range(core[x] if x < i else up[x], offsets[x + 1]):
                closers[heads[xl]] += 1
        closers[i] = 0
        count = 0
        for ij in range(core[i], up[i]):
            for jk in range(core[heads[ij]], up[heads[ij]]):
                k = heads[jk]
                if paths[k] == 0:
                    middles[count] = k
                    count += 1
                paths[k] += 1
        for m in range(count):
            k = middles[m]
            total = is_near[k]
            for kl in range(up[k], offsets[k + 1]):
                l = heads[kl]
                some = closers[l] - is_near[k]
                total += some
                if closers[l]:
                    cycles[kl] += (paths[k] - is_lower[l]) * some
                    ends[l] += paths[k] - is_lower[l]
            closed[k] = total
        for ij in range(core[i], up[i]):
            j = heads[ij]
            for jk in range(core[j], up[j]):
                k = heads[jk]
                some = closed[k] - closers[j] + 2 * is_near[k] - (t[jk] - below[jk])
                cycles[ij] += some
                cycles[jk] += some
        for ix in range(core[i], offsets[i + 1]):
            x = heads[ix]
            for xl in range(core[x] if x < i else up[x], offsets[x + 1]):
                l = heads[xl]
                if l == i:
                    continue
                some = ends[l]
                if x < i:
                    some -= below[xl]
                    if x < l:
                        some -= between[ix] - is_lower[l]
                cycles[ix] += some
                cycles[xl] += some
        for ix in range(core[i], offsets[i + 1]):
            x = heads[ix]
            is_near[x] = is_lower[x] = 0
            for xl in range(core[x] if x < i else up[x], offsets[x + 1]):
                closers[heads[xl]] = ends[heads[xl]] = 0
        for m in range(count):
            paths[middles[m]] = 0


@_loop(types.void(types.int64, types.int64, _ROWS, _TABLE))
def add_five_cliques(first, stop, graph, out):
    """Add, at both arcs of each edge, the 5-cliques whose lowest node is one of ``first .. stop - 1``.

    The four other nodes are among the higher neighbours of the lowest, whose adjacency is kept as rows of bits. For
    each triangle i < j < l of higher neighbours, the bits that its three rows have in common are the fourth nodes. This
    finds each clique twice at each edge between the four nodes. Each of the four has three of these edges, so the arc
    to it from the lowest node has a third of the sum over its edges.
    """
    offsets, back, up, starts, around = graph.offsets, graph.back, graph.up, graph.starts, graph.around
    for u in range(first, stop):
        base, d = up[u], offsets[u + 1] - up[u]
        if d < 4:
            continue
        words = (d + 63) >> 6
        bits, edges = np.zeros((d, words), np.uint64), 0
        for i in range(d):
            for at in range(starts[base + i], starts[base + i + 1]):
                j = around[at] - base
                if j >= 0:
                    bits[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
                    edges += 1
        if edges < 12:
            continue
        pairs, spokes, both = np.zeros((d, d), np.int64), np.zeros(d, np.int64), np.empty(words, np.uint64)
        for i in range(d):
            for at in range(starts[base + i], starts[base + i + 1]):
                j = around[at] - base
                if j <= i:
                    continue
                some = 0
                for word in range(words):
                    both[word] = bits[i, word] & bits[j, word]
                    some += _count_bits(both[word])
                if some < 2:
                    continue
                of_pair = 0
                for word in range(j >> 6, words):
                    left = both[word]
                    if word == j >> 6:  # only l > j
                        left &= ~((np.uint64(2) << np.uint64(j & 63)) - np.uint64(1))
                    while left:
                        l = 64 * word + _count_bits(~left & (left - np.uint64(1)))
                        left &= left - np.uint64(1)
                        count = 0
                        for z in range(words):
                            count += _count_bits(both[z] & bits[l, z])
                        of_pair += count
                        pairs[i, l] += count
                        pairs[j, l] += count
                pairs[i, j] += of_pair
        for i in range(d):
            uv = base + i
            other = starts[back[uv]] - starts[uv]
            for at in range(starts[uv], starts[uv + 1]):
                j = around[at] - base
                if j > i:
                    vw, cliques = around[at + other], pairs[i, j] // 2
                    out[0, vw] += cliques
                    out[0, back[vw]] += cliques
                    spokes[i] += cliques
                    spokes[j] += cliques
            out[0, uv] += spokes[i] // 3
            out[0, back[uv]] += spokes[i] // 3


@_loop(types.void(_INTS, _ARCS, _INTS, _INTS))
def sum_over_triangles(starts, around, values, out):
    """Add, at each arc ``u -> v``, the sum over common neighbours ``w`` of the values at ``u -> w``."""
    for a in range(len(values)):
        for i in range(starts[a], starts[a + 1]):
            out[a] += values[around[i]]


# ---- equations


@_loop([types.void(*3 * (kind[:, ::1],)) for kind in (types.int64, types.float64)])
def multiply_sparse(weights, columns, out):
    """Write the product of ``weights [R, H]``, of which most are 0, and ``columns [H, C]`` to ``out [C, R]``."""
    together = 64
    total = np.empty(together, columns.dtype)
    for first in range(0, columns.shape[1], together):
        count = min(together, columns.shape[1] - first)
        for r in range(len(weights)):
            total[:] = 0
            for h in range(len(columns)):
                weight = weights[r, h]
                if weight != 0:
                    for c in range(count):
                        total[c] += weight * columns[h, first + c]
            for c in range(count):
                out[first + c, r] = total[c]


# ---- the engine


_ARC_BYTES = {"graph": 400, "node": 400, "edge": 560}
"""Bytes for an arc: rows, sums (20 or 34 of 8 bytes), and arrays over arcs while equations are solved."""

_SOLVED_TOGETHER = 2**12
"""Number of nodes or edges whose equations are solved at a time, so few that their values stay in the cache."""

Cast = Callable[[np.ndarray], np.ndarray]
"""A cast of int64 numbers: none, or to float64 (:class:`jaxmotif.graphlets.five.results.Limbs`)."""

HomsOfSome = Callable[[slice], list[np.ndarray]]
"""A function that returns the homomorphisms to some nodes or edges."""


class CpuLoops:
    """The engine that runs compiled loops over the rows of a graph, in threads where a CPU is several devices.

    It is the faster engine on every CPU: nothing is padded, memory is read in order, and a row of the tables over pairs
    stays in the cache. It takes about 10 ns for each unit of the sum of degree^2 over all nodes, and about 5 ns for
    each unit of the sum of t^2 over all edges, where t is the number of triangles on the edge. In neighbourhoods with
    many edges, words of 64 pairs take the place of most of the latter. It needs memory for the arcs, and for six
    entries for each triangle.
    """

    def __init__(self, graph: Graph, options: JobOptions, detail: Detail, tuning: FiveTuning) -> None:
        """Assign numbers to the nodes by degree, and count the triangles on every arc.

        Args:
          graph: undirected, with edges.
          options: the devices that share the work, the main one of which takes the result, and what is kept and shown.
          detail: whether counts in the graph, node orbits or edge orbits are wanted.
          tuning: sizes and limits of the run.
        """
        self._options, self._detail, self._tuning = options, detail, tuning
        offsets = np.asarray(graph.out_offsets).astype(np.int64)
        targets = np.asarray(graph.out_targets)[: offsets[-1]].astype(np.uint32)
        degrees, nodes, arcs = np.diff(offsets), len(offsets) - 1, len(targets)
        order = np.argsort(degrees, kind="stable").astype(np.uint32)
        self._places = np.empty(nodes, np.int64)
        self._places[order] = np.arange(nodes)
        ranked_degrees = degrees[order]
        starts = np.concatenate([[0], np.cumsum(ranked_degrees)])
        heads, back, arc_of_slot = np.empty((3, arcs), np.uint32)
        order_arcs(offsets, targets, order, self._places.astype(np.uint32), starts, heads, back, arc_of_slot)
        tails = np.repeat(np.arange(nodes), ranked_degrees)
        up = starts[:-1] + np.bincount(tails, heads < tails, nodes).astype(np.int64)
        counts = np.zeros((3, arcs), np.int64)
        find_triangles(starts, heads, back, up, counts, np.empty(0, np.int64), np.empty(0, np.uint32))
        t, below, between = (x + x[back] for x in counts)
        # Each edge from its lower end, as the edge list has it.
        owners = np.repeat(np.arange(nodes), degrees)
        self._edges = arc_of_slot[owners < targets].astype(np.int64)
        self._tails, self._arcs = tails, _arcs_of(starts, heads, tails, back)
        self._graph = RankedRows(
            offsets=starts,
            heads=heads,
            back=back,
            core=starts[:-1] + np.bincount(tails, ranked_degrees[heads] == 1, nodes).astype(np.int64),
            up=up,
            degree=ranked_degrees,
            walks2=self._arcs.around(ranked_degrees),
            t=t,
            below=below,
            between=between,
            starts=np.concatenate([[0], np.cumsum(t)]),
            around=np.empty(0, np.uint32),
        )
        self._sums: dict[str, np.ndarray] = {}
        self.largest = float(results.largest_count(np, self._arcs, ranked_degrees.astype(np.float64)))
        self.wide, self.most_neighbours = self.largest >= tuning.one_limb, int(degrees.max())

    @property
    def bytes(self) -> int:
        """Memory that the engine takes beside the graph and the result."""
        graph = self._graph
        widest = int((graph.offsets[1:] - graph.up).max())
        rows = 100 * len(graph.degree) + 8 * widest**2
        return _ARC_BYTES[self._detail] * len(graph.heads) + 4 * int(graph.starts[-1]) + rows

    def add_up(self, passes: frozenset[Pass] = ALL_PASSES) -> tuple[str, ...]:
        """Add up the sums at all arcs, and return notes; arguments as for :class:`.matrices.HubMatrices`."""
        selection = self._options.selection
        rows = self._graph._replace(around=np.empty(self._graph.starts[-1], np.uint32))
        no_counts, place = np.empty((0, 0), np.int64), rows.starts[:-1].copy()
        find_triangles(rows.offsets, rows.heads, rows.back, rows.up, no_counts, place, rows.around)
        steps = np.concatenate([[0], np.cumsum(10 * rows.degree[rows.heads] + 5 * rows.t**2)])
        work = steps[rows.offsets] + np.arange(len(rows.offsets))
        units = int(work[-1] // self._tuning.unit_steps) + 1
        if self._options.exports or selection.several:
            units = max(units, self._tuning.units, 4 * len(selection.devices))
        job = Job("graphlets-5-loops", work, units, added, "steps", "five nodes", divisible=True)
        edges = self._detail == "edge"
        done = run_job(job, lambda device: LoopTask(rows, edges, passes), self._options)
        self._sums = done.found | {"t": rows.t}
        # Sums over triangles of values that are sums themselves, and are only known now.
        late = {"roof": self._sums["w3"]}
        if edges:
            late |= {"triples": self._arcs.head(self._arcs.out(rows.t)), "end": self._arcs.back(self._sums["l2"])}
        for name, values in late.items():
            self._sums[name] = np.zeros(len(rows.heads), np.int64)
            sum_over_triangles(rows.starts, rows.around, values, self._sums[name])
        return done.notes

    def _with_leaves(self) -> Sums:
        graph, arcs = self._graph, self._arcs
        return results.with_leaves(np, arcs, graph.degree, graph.walks2, arcs.out(graph.t), self._sums)

    def node_orbits(self) -> jax.Array | np.ndarray:
        """Solve for the orbits at all nodes, ``[N, 73]``."""
        sums, arcs, places = self._with_leaves(), self._arcs, self._places

        def homs_in(cast: Cast) -> HomsOfSome:
            at = Sums(*map(cast, sums))
            homs = all_homs(arcs, Nodes.of(arcs, cast(self._graph.degree), at), at)
            return lambda some: [x[places[some]] for x in homs]

        return self._solve("node", homs_in, len(places))

    def edge_orbits(self) -> jax.Array | np.ndarray:
        """Solve for the orbits at all edges, ``[m, 68]``, in the order of the edge list."""
        arcs, graph, edges = self._arcs, self._graph, self._edges
        sums = self._with_leaves()
        at = Nodes.of(arcs, self._graph.degree, sums)
        rims = results.rims_of(np, arcs, self._graph.degree, at.tau, self._sums)

        def homs_in(cast: Cast) -> HomsOfSome:
            nodes = Nodes(*map(cast, at))

            def homs_of(some: slice) -> list[np.ndarray]:
                here = edges[some]
                both = np.concatenate([here, graph.back[here]])
                ends = results.arcs_of_edges(np, (self._tails[both], graph.heads[both].astype(np.int64)))
                of_sums, of_rims = ([cast(x[both]) for x in values] for values in (sums, rims))
                return all_homs(ends, nodes, Sums(*of_sums), Rims(*of_rims))

            return homs_of

        return self._solve("edge", homs_in, len(edges))

    def total_homs(self) -> np.ndarray:
        """Return the homomorphisms of the connected graphs of two to five nodes, Python integers."""
        homs = total_homs(self._arcs, self._graph.degree, self._with_leaves(), self._arcs.out)
        return np.array([join_sums(split_sum(x)) for x in homs], object)

    def _solve(self, root: Root, homs_in: Callable[[Cast], HomsOfSome], count: int) -> jax.Array | np.ndarray:
        """Solve the equations at all nodes or edges, some of them at a time."""

        def solve(cast: Cast) -> np.ndarray:
            weights, homs_of = cast(times24(root)), homs_in(cast)
            orbits = zeros_for_jax((count, len(weights)), weights.dtype)
            for first in range(0, count, _SOLVED_TOGETHER):
                some = slice(first, first + _SOLVED_TOGETHER)
                product = np.empty_like(orbits[some])
                multiply_sparse(weights, np.stack(homs_of(some)), product)
                orbits[some] = divided(product)
            return orbits

        if self.wide:
            return results.Limbs.of(solve, wide=True).as_integers()
        return put64(solve(lambda x: x), self._options.selection.main)


class LoopTask(Task):
    """The sums of one thread, which has no smaller step; an item of its job is a node."""

    adds_in_parts = True

    def __init__(self, rows: RankedRows, edges: bool, passes: frozenset[Pass]) -> None:
        """Begin with sums of nothing.

        Args:
          rows: the graph.
          edges: whether sums for edge orbits are wanted.
          passes: the passes whose sums are wanted; those of others stay 0.
        """
        self._rows, self._at_edges, self._passes = rows, edges, passes
        self._clear()

    def _clear(self) -> None:
        self._sums = [np.zeros((len(names), len(self._rows.heads)), np.int64) for names in _names(self._at_edges)]

    def step(self, span: Span) -> None:
        """Add the contributions of a stretch of nodes to all sums."""
        hubs, rows, cycles, cliques = self._sums
        add_hub_sums(*span, self._at_edges, self._rows, hubs)
        if "tables" in self._passes:
            add_row_sums(*span, self._at_edges, self._rows, rows)
        if "walks" in self._passes:
            add_five_cycles(*span, self._rows, cycles)
        if "cliques" in self._passes:
            add_five_cliques(*span, self._rows, cliques)

    def collect(self) -> Arrays:
        """Return the sums by name, and begin anew."""
        sums = dict(zip(chain(*_names(self._at_edges)), chain(*self._sums), strict=True))
        self._clear()
        return sums


def _names(edges: bool) -> tuple[tuple[str, ...], ...]:
    """Return the names of the sums of the four loops; ``edges``: with those for edge orbits."""
    hubs, rows = (OF_HUBS + OF_HUBS_AT_EDGES, OF_ROWS + OF_ROWS_AT_EDGES) if edges else (OF_HUBS, OF_ROWS)
    return hubs, rows, ("cycles",), ("q",)


def _arcs_of(starts: np.ndarray, heads: np.ndarray, tails: np.ndarray, back: np.ndarray) -> Arcs:
    """Return the operations between arrays over the nodes and arrays over the arcs of a graph."""
    heads, back = heads.astype(np.int64), back.astype(np.int64)
    (some,) = np.nonzero(np.diff(starts))  # the nodes that arcs leave
    first = starts[some]

    def out(values: np.ndarray) -> np.ndarray:
        sums = np.zeros(len(starts) - 1, values.dtype)
        sums[some] = np.add.reduceat(values, first)
        return sums

    return Arcs(
        tail=lambda x: x.take(tails),
        head=lambda x: x.take(heads),
        out=out,
        back=lambda x: x.take(back),
        both=lambda x: x + x.take(back),
    )
