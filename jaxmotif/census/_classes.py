"""From adjacency codes to isomorphism classes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import jax
import numpy as np

from jaxmotif.census._pair_states import Alphabet, Codes
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._pattern import Pattern

AT_ONCE = 1 << 14  # codes brought to normal form together on the host, so that they stay in its cache


class Classifier:
    """Assigns codes of subgraphs of one size to classes; for any thread.

    Attributes:
      alphabet, size: of the subgraphs.
      classes: canonical strings, in the order in which they were first met.
    """

    def __init__(self, alphabet: Alphabet, size: int):
        self.alphabet, self.size = alphabet, size
        self._forms = np.zeros(0, np.uint64)
        self._index = np.zeros(0, np.int64)
        self._by_name: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def known(self) -> tuple[np.ndarray, np.ndarray]:
        """Every normal form seen, uint64 ascending, and its class, int64."""
        with self._lock:
            return self._forms, self._index

    @property
    def classes(self) -> list[str]:
        return list(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """The class of each code (uint64 ``[U]``), int64 indices into :attr:`classes`."""
        pieces = np.split(codes, range(AT_ONCE, codes.size, AT_ONCE))
        normal = np.concatenate([normal_codes(np, piece, self.alphabet.codes, self.size) for piece in pieces])
        # Few forms for many codes: only different ones are looked up.
        forms, inverse = np.unique(normal, return_inverse=True)
        return self.of_forms(forms)[inverse]

    def of_forms(self, forms: np.ndarray) -> np.ndarray:
        """The same for codes that :func:`normal_codes` made, ascending and distinct."""
        # Threads of several devices share what is known, and the numbers of classes.
        with self._lock:
            # Past the last, whatever stands there is compared, and differs.
            at = np.minimum(np.searchsorted(self._forms, forms), self._forms.size - 1)
            new = forms if self._forms.size == 0 else forms[self._forms[at] != forms]
            if new.size:
                all_forms = np.concatenate([self._forms, new])
                order = np.argsort(all_forms)
                self._forms = all_forms[order]
                self._index = np.concatenate([self._index, np.array(self._classify(new), np.int64)])[order]
                at = np.searchsorted(self._forms, forms)
            return self._index[at]

    def _classify(self, codes: np.ndarray) -> list[int]:
        return [self._by_name.setdefault(name, len(self._by_name)) for name in self._names(codes)]

    def _names(self, codes: np.ndarray) -> Iterator[str]:
        a = self.alphabet
        labels, entries = decode(codes, a.codes, self.size)
        # Without labels a class is its matrix, of which there are few: cached over all graphs.
        if a.node_labels is None and a.edge_labels is None:
            for matrix in (entries > 0).reshape(codes.size, -1):
                yield _plain_string(matrix.tobytes(), self.size, a.directed)
            return
        for label, entry in zip(labels, entries, strict=True):
            nodes = None if a.node_labels is None else np.asarray(a.node_labels)[label]
            edges = None if a.edge_labels is None else np.where(entry > 0, np.asarray(a.edge_labels)[entry - 1], 0)
            yield canonical_string(Pattern(entry > 0, nodes, edges, a.directed))


@cache
def _plain_string(adjacency: bytes, size: int, directed: bool) -> str:
    matrix = np.frombuffer(adjacency, bool).reshape(size, size)
    return canonical_string(Pattern(matrix, None, None, directed))


def decode(values: np.ndarray, codes: Codes, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Node codes ``[U, k]`` and adjacency entries ``[U, k, k]``, int64, of codes in the order the search built them."""
    labels = np.zeros((values.size, size), np.int64)
    entries = np.zeros((values.size, size, size), np.int64)
    rest = values.copy()

    def pop(bits: int) -> np.ndarray:
        nonlocal rest
        value = (rest & np.uint64((1 << bits) - 1)).astype(np.int64)
        rest = rest >> np.uint64(bits)
        return value

    # Backwards: what came last stands lowest.
    for i in range(size - 1, -1, -1):
        for a in range(i):
            state = pop(codes.state_bits)
            # The state is seen from the older node: e(a, i), and e(i, a) in the higher digit.
            entries[:, a, i] = state % codes.entries if codes.directed else state
            entries[:, i, a] = state // codes.entries if codes.directed else state
        labels[:, i] = pop(codes.label_bits)
    return labels, entries


ROUNDS = 3
"""Of hashing in :func:`normal_codes`. One round leaves 13,855 forms of 279,888 digraphs of 5 nodes drawn at random, two
9,963, three 9,886, and more no fewer (9,608 are classes); of 6 nodes a fourth joins 11 of 271,927."""


def normal_codes(xp: ModuleType, values: np.ndarray | jax.Array, codes: Codes, size: int) -> Any:
    """Codes of the same subgraphs (``xp``: NumPy, or jax.numpy in its 64-bit mode; uint64 ``[U]``), nodes sorted by a
    hash of what surrounds them: few codes of one class are left, most often one.

    That is for speed alone: a hash that fails to tell nodes apart leaves more forms, each of which is classified
    exactly.
    """
    return normal_places(xp, values, codes, size)[0]


def normal_places(xp: ModuleType, values: np.ndarray | jax.Array, codes: Codes, size: int) -> tuple[Any, Any]:
    """The same, and where in them each node of a code has come to stand, int32 ``[size, U]``."""
    width, labels, word = codes.state_bits, codes.label_bits, np.uint64
    pairs = np.arange(size)[:, None], np.arange(size)[None]
    young, old = np.maximum(*pairs), np.minimum(*pairs)

    def place(nodes: np.ndarray | jax.Array) -> Any:
        """The lowest bit of those that came with a node: above all that came with the nodes after it."""
        # As many dyads, and labels, as came with the nodes after it.
        later = size * (size - 1) // 2 - nodes * (nodes + 1) // 2
        return later * width + (size - 1 - nodes) * labels

    def mask(bits: int) -> np.uint64:
        return word((1 << bits) - 1)

    # Unpack: near[i, j] is the state of the dyad seen from i, label[i] the node's. A code holds each dyad once, with
    # the younger node, seen from the older; the other view has the digits exchanged.
    off = (young != old)[:, :, None]
    near = (values[None, None] >> (place(young) + old * width).astype(word)[:, :, None]) & mask(width)
    if codes.directed:
        entries = word(codes.entries)
        near = xp.where((pairs[0] > pairs[1])[:, :, None], near // entries + near % entries * entries, near)
    node = np.arange(size)
    label = (values[None] >> (place(node) + node * width).astype(word)[:, None]) & mask(labels)
    # Hash: a node's colour becomes a hash of the states and colours around it, as often as it still tells more apart.
    pair, colour = _scramble(near + word(1)), _scramble(label + word(1))
    for _ in range(ROUNDS):
        seen = xp.where(off, _scramble(pair ^ colour[None]), word(0))
        colour = _scramble(colour + seen.sum(axis=1, dtype=word))
    # Sort the nodes by colour, equal ones in the order they had.
    # Any order will do among nodes of one colour: exactness does not hang on it.
    ties = (colour[None] == colour[:, None]) & (pairs[1] < pairs[0])[:, :, None]
    rank = ((colour[None] < colour[:, None]) | ties).sum(axis=1, dtype=np.int32)

    # Pack again, every node at its rank.
    def put(value: jax.Array, nodes: jax.Array, within: jax.Array) -> Any:
        return (value << (place(nodes) + within * width).astype(word)).sum(axis=0, dtype=word)

    a, b = np.triu_indices(size, 1)
    # Whichever is younger now holds the dyad, seen from the older.
    first, second = xp.minimum(rank[a], rank[b]), xp.maximum(rank[a], rank[b])
    # Before the permutation near[i, j] was seen from i: the older one's view is taken.
    state = xp.where(rank[a] < rank[b], near[a, b], near[b, a])
    return put(state, second, first) + (put(label, rank, rank) if labels else word(0)), rank


def _scramble(x: np.ndarray | jax.Array) -> Any:
    """A 64-bit mixing function (splitmix64's)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
