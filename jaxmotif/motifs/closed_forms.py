"""Counts of the classes of 3 and 4 nodes without visiting every subgraph (host, NumPy; unlabelled graphs).

Stars, paths and tailed triangles are counted where they stand by products of degrees by dyad state, 4-cycles and
chordal cycles by pairs of entries with the same ends; only triangles and 4-cliques are listed. These are occurrences
in which the other dyads may be anything. A class's own count follows from the densest class down: every spanning part
of a denser subgraph has been counted once too often.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from jaxmotif.motifs.classes import Classifier, decode
from jaxmotif.motifs.dyads import Alphabet, Slots

CHUNK = 1 << 22  # pairs looked at together


def has_closed_form(alphabet: Alphabet, size: int) -> bool:
    """Whether :func:`closed_counts` can count such subgraphs."""
    return size in (3, 4) and alphabet.edge_labels is None and alphabet.node_labels is None


def closed_counts(walks: Slots, alphabet: Alphabet, size: int) -> tuple[np.ndarray, list[str]]:
    """Induced counts, int64 ``[graphs, classes]``, and the classes.

    Args:
      walks: any number of graphs. alphabet: without labels. size: 3 or 4.
    """
    graphs = (walks.offsets.size - 1) // max(walks.n, 1)
    table = _table(alphabet.directed, size)
    spanning = np.zeros((graphs, len(table.classes)), np.int64)

    def tally(graph: np.ndarray, dyads: dict[tuple[int, int], np.ndarray], weight: np.ndarray | None = None) -> None:
        """Adds occurrences: states by dyad (older node first), all others absent or ignored."""
        index = table.index[_codes(dyads, size, alphabet.state_bits)]
        cell = graph * spanning.shape[1] + index
        spanning.ravel()[:] += _exact_bincount(cell, weight, spanning.size)

    if size == 3:
        _three(walks, alphabet, tally)
    else:
        _four(walks, alphabet, tally)
    induced = spanning
    for c in table.densest_first:
        induced -= induced[:, c, None] * table.parts[c]
    return induced, table.classes


class _Table(NamedTuple):
    """Classes of one size; ``index`` of every code (-1: not connected); ``parts[c]``: spanning parts of class c by
    their class, c itself not counted; ``densest_first``: classes by falling number of dyads."""

    classes: list[str]
    index: np.ndarray
    parts: np.ndarray
    densest_first: np.ndarray


@cache
def _table(directed: bool, size: int) -> _Table:
    alphabet = Alphabet(directed, None, None)
    bits, dyads = alphabet.state_bits, size * (size - 1) // 2
    codes = np.arange(1 << (bits * dyads), dtype=np.uint64)
    states = (codes[:, None] >> (bits * np.arange(dyads)).astype(np.uint64)) & np.uint64((1 << bits) - 1)
    _, entries = decode(codes, alphabet, size)
    near = (entries + entries.transpose(0, 2, 1) > 0) | np.eye(size, dtype=bool)
    reach = near
    for _ in range(2):
        reach = (reach.astype(np.int64) @ reach) > 0
    connected = reach.all(axis=(1, 2))
    classifier = Classifier(alphabet, size)
    index = np.full(codes.size, -1, np.int64)
    index[connected] = classifier(codes[connected])
    classes = classifier.classes
    example = np.zeros(len(classes), np.int64)
    example[index[connected]] = np.flatnonzero(connected)
    held = states[example] > 0
    parts = np.zeros((len(classes), len(classes)), np.int64)
    mask = (1 << bits) - 1
    for kept in product((0, 1), repeat=dyads):
        keep = np.array(kept, bool)
        valid = (held | ~keep).all(axis=1) & ~(held == keep).all(axis=1)
        part = example & sum(mask << (bits * i) for i in range(dyads) if kept[i])
        valid &= index[part] >= 0
        np.add.at(parts, (np.flatnonzero(valid), index[part[valid]]), 1)
    return _Table(classes, index, parts, np.argsort(-held.sum(axis=1), kind="stable"))


def _codes(dyads: dict[tuple[int, int], np.ndarray], size: int, bits: int) -> np.ndarray:
    """Codes as the search builds them: node after node, its dyad with node a at bit a * bits."""
    code: np.ndarray | int = 0
    for i in range(1, size):
        code = code << (i * bits)
        for a in range(i):
            if (a, i) in dyads:
                code = code | (dyads[a, i] << (a * bits))
    return np.asarray(code)


def _exact_bincount(index: np.ndarray, weight: np.ndarray | None, size: int) -> np.ndarray:
    """Sums of int64 weights by index: float64 holds each half exactly."""
    if weight is None:
        return np.bincount(index, minlength=size)
    low, high = weight & 0xFFFFFF, weight >> 24
    total = np.bincount(index, low, size).astype(np.int64)
    return total + (np.bincount(index, high, size).astype(np.int64) << 24) if high.any() else total


def _mirror(states: np.ndarray, alphabet: Alphabet) -> np.ndarray:
    """The states seen from the other side."""
    return np.array([0, 2, 1, 3])[states] if alphabet.directed else states


def _spans(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lists of these lengths end to end: which list, and the place in it."""
    which = np.repeat(np.arange(lengths.size), lengths)
    return which, np.arange(which.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)


class _Shapes:
    """What several counts need: degrees by state, wedges below their highest end, triangles."""

    def __init__(self, walks: Slots, alphabet: Alphabet):
        self.walks, self.alphabet = walks, alphabet
        self.kinds = 3 if alphabet.directed else 1
        V = walks.offsets.size - 1
        length = np.diff(walks.offsets)
        self.tail = np.repeat(np.arange(V), length)
        self.near = self.tail // max(walks.n, 1) * walks.n + walks.near
        self.degree = np.bincount(self.tail * self.kinds + walks.states - 1, minlength=V * self.kinds).reshape(
            V, self.kinds
        )
        # Wedges v - u - w, v before u and before w: u's neighbours behind each neighbour v before u.
        slot = np.flatnonzero(self.near < self.tail)
        which, step = _spans(walks.offsets[self.tail[slot] + 1] - slot - 1)
        self.first = slot[which]  # the slot (u, v)
        self.second = self.first + 1 + step  # the slot (u, w)
        self.v, self.u, self.w = self.near[self.first], self.tail[self.first], self.near[self.second]
        self.keys = self.tail * walks.n + walks.near

    def state(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """States of dyads, 0 where there is none."""
        if not self.keys.size:
            return np.zeros(u.size, np.int64)
        wanted = u * self.walks.n + v % self.walks.n
        at = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return np.where(self.keys[at] == wanted, self.walks.states[at], 0)

    def triangles(self) -> tuple[np.ndarray, ...]:
        """Nodes v < u < w and the states v-u, v-w, u-w."""
        half = np.flatnonzero(self.w > self.u)
        v, u, w = self.v[half], self.u[half], self.w[half]
        vw = self.state(v, w)
        found = np.flatnonzero(vw)
        half = half[found]
        vu = _mirror(self.walks.states[self.first[half]], self.alphabet)
        return v[found], u[found], w[found], vu, vw[found], self.walks.states[self.second[half]]


def _three(walks: Slots, alphabet: Alphabet, tally) -> None:
    shapes = _Shapes(walks, alphabet)
    _stars(shapes, 2, tally)
    v, _, _, vu, vw, uw = shapes.triangles()
    tally(v // walks.n, {(0, 1): vu, (0, 2): vw, (1, 2): uw})


def _stars(shapes: _Shapes, leaves: int, tally) -> None:
    """Stars by the states of their dyads, from binomials of the degrees by state."""
    kinds, degree = shapes.kinds, shapes.degree
    graph = np.arange(degree.shape[0]) // shapes.walks.n
    for states in product(range(1, kinds + 1), repeat=leaves):
        if list(states) != sorted(states):
            continue
        ways = np.ones(degree.shape[0], np.int64)
        for kind in set(states):
            d, times = degree[:, kind - 1], states.count(kind)
            ways *= d if times == 1 else d * (d - 1) // 2 if times == 2 else d * (d - 1) * (d - 2) // 6
        node = np.flatnonzero(ways)
        dyads = {(0, i + 1): np.full(node.size, state) for i, state in enumerate(states)}
        tally(graph[node], dyads, ways[node])


def _four(walks: Slots, alphabet: Alphabet, tally) -> None:
    shapes = _Shapes(walks, alphabet)
    _stars(shapes, 3, tally)
    triangles = shapes.triangles()
    _paths(shapes, triangles, tally)
    _tails(shapes, triangles, tally)
    _cycles(shapes, tally)
    _chords(shapes, triangles, tally)


def _turned(triangles: tuple[np.ndarray, ...], alphabet: Alphabet):
    """Every triangle as edge (a, b) and third node c, for its three edges: a, b, c and the states ab, ac, bc."""
    v, u, w, vu, vw, uw = triangles
    yield v, u, w, vu, vw, uw
    yield v, w, u, vw, vu, _mirror(uw, alphabet)
    yield u, w, v, uw, _mirror(vu, alphabet), _mirror(vw, alphabet)


def _paths(shapes: _Shapes, triangles, tally) -> None:
    """x - a - b - y over the middle edge, less those with x = y."""
    walks, alphabet = shapes.walks, shapes.alphabet
    slot = np.flatnonzero(shapes.near > shapes.tail)
    a, b, middle = shapes.tail[slot], shapes.near[slot], walks.states[slot]
    back = _mirror(middle, alphabet)
    for s, t in product(range(1, shapes.kinds + 1), repeat=2):
        ways = (shapes.degree[a, s - 1] - (middle == s)) * (shapes.degree[b, t - 1] - (back == t))
        some = np.flatnonzero(ways)
        ends = {(0, 2): np.full(some.size, s), (1, 3): np.full(some.size, t)}
        tally(a[some] // walks.n, {(0, 1): middle[some]} | ends, ways[some])
    for a, _, _, ab, ac, bc in _turned(triangles, alphabet):
        tally(a // walks.n, {(0, 1): ab, (0, 2): ac, (1, 3): bc}, np.full(a.size, -1))


def _tails(shapes: _Shapes, triangles, tally) -> None:
    """A triangle and one more neighbour of one of its corners."""
    for _, _, c, ab, ac, bc in _turned(triangles, shapes.alphabet):
        ca, cb = _mirror(ac, shapes.alphabet), _mirror(bc, shapes.alphabet)
        for t in range(1, shapes.kinds + 1):
            ways = shapes.degree[c, t - 1] - (ca == t) - (cb == t)
            tally(c // shapes.walks.n, {(0, 1): ab, (0, 2): ac, (1, 2): bc, (2, 3): np.full(c.size, t)}, ways)


def _pairs(key: np.ndarray):
    """Pairs of equal keys after the last 4 bits are dropped, gathered by kind.

    Yields:
      One key of the first, one of the second, and how many such pairs there are.
    """
    key = np.sort(key)
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), key[1:] != key[:-1]])[: key.size])
    count = np.diff(np.append(begins, key.size))
    key = key[begins]
    group = key >> 4
    yield key, key, count * (count - 1) // 2
    for lag in range(1, 9):
        at = np.flatnonzero(group[lag:] == group[:-lag])
        if not at.size:
            return
        yield key[at], key[at + lag], count[at] * count[at + lag]


def _kind(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return (first - 1) * 3 + (second - 1)


def _cycles(shapes: _Shapes, tally) -> None:
    """Two wedges with the same ends v and w, v before both others."""
    walks = shapes.walks
    vu = _mirror(walks.states[shapes.first], shapes.alphabet)
    ends = shapes.v * walks.n + shapes.w % max(walks.n, 1)
    for first, second, ways in _pairs((ends << 4) | _kind(vu, walks.states[shapes.second])):
        graph = (first >> 4) // max(walks.n**2, 1)
        x, y = first & 15, second & 15
        tally(graph, {(0, 1): x // 3 + 1, (1, 3): x % 3 + 1, (0, 2): y // 3 + 1, (2, 3): y % 3 + 1}, ways)


def _chords(shapes: _Shapes, triangles, tally) -> None:
    """Two triangles on one edge; and those on the two first nodes whose other two are joined: the 4-cliques."""
    walks, alphabet = shapes.walks, shapes.alphabet
    keys = []
    for a, b, _, ab, ac, bc in _turned(triangles, alphabet):
        keys.append((((a * walks.n + b % walks.n) * 4 + ab) << 4) | _kind(ac, bc))
    for first, second, ways in _pairs(np.concatenate(keys)):
        edge, x, y = first >> 4, first & 15, second & 15
        ends = {(0, 2): x // 3 + 1, (1, 2): x % 3 + 1, (0, 3): y // 3 + 1, (1, 3): y % 3 + 1}
        tally(edge // 4 // max(walks.n**2, 1), {(0, 1): edge % 4} | ends, ways)
    v, u, w, vu, vw, uw = triangles
    order = np.argsort(v * walks.n + u % max(walks.n, 1), kind="stable")
    v, u, w, vu, vw, uw = (x[order] for x in (v, u, w, vu, vw, uw))
    edge = v * walks.n + u % max(walks.n, 1)
    stop = np.searchsorted(edge, edge, side="right")
    later = stop - np.arange(edge.size) - 1
    ends = np.cumsum(later)
    low = 0
    while low < edge.size:
        base = ends[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(ends, base + CHUNK, side="right")))
        which, step = _spans(later[low:high])
        i = which + low
        j = i + 1 + step
        wx = shapes.state(w[i], w[j])
        some = np.flatnonzero(wx)
        i, j = i[some], j[some]
        tally(
            v[i] // walks.n,
            {(0, 1): vu[i], (0, 2): vw[i], (1, 2): uw[i], (0, 3): vw[j], (1, 3): uw[j], (2, 3): wx[some]},
        )
        low = high
