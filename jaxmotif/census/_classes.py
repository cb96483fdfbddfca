"""Isomorphism classes of subgraphs that are given by their adjacency codes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import jax
import numpy as np

from jaxmotif.arrays._bits import scramble
from jaxmotif.census._pair_states import Alphabet
from jaxmotif.kernels._subgraphs import Codes
from jaxmotif.patterns._canonical import canonical_string
from jaxmotif.patterns._pattern import Pattern

AT_ONCE = 1 << 14  # codes brought to normal form together on the host, few enough for its cache


class Classifier:
    """A register of the classes of subgraphs of one size, which threads may share.

    Attributes:
      alphabet: what the codes of the subgraphs stand for.
      size: nodes of a subgraph.
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
        """All normal forms seen, uint64 ascending, and the class of each, int64."""
        with self._lock:
            return self._forms, self._index

    @property
    def classes(self) -> list[str]:
        return list(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """Return the class of each code (uint64 ``[U]``), as int64 indices into :attr:`classes`."""
        pieces = np.split(codes, range(AT_ONCE, codes.size, AT_ONCE))
        normal = np.concatenate([normal_codes(np, piece, self.alphabet.codes, self.size) for piece in pieces])
        # Many codes have few forms, and only different forms are looked up.
        forms, inverse = np.unique(normal, return_inverse=True)
        return self.of_forms(forms)[inverse]

    def of_forms(self, forms: np.ndarray) -> np.ndarray:
        """Return the class of each normal form that :func:`normal_codes` made, ascending and distinct."""
        # Threads of several devices share the known forms, and the numbers of classes.
        with self._lock:
            # A form above all known ones is compared with the last one, and differs.
            at = np.minimum(np.searchsorted(self._forms, forms), self._forms.size - 1)
            new = forms if self._forms.size == 0 else forms[self._forms[at] != forms]
            if new.size:
                all_forms = np.concatenate([self._forms, new])
                order = np.argsort(all_forms)
                self._forms = all_forms[order]
                numbers = [self._by_name.setdefault(name, len(self._by_name)) for name in self._names(new)]
                self._index = np.concatenate([self._index, np.array(numbers, np.int64)])[order]
                at = np.searchsorted(self._forms, forms)
            return self._index[at]

    def _names(self, codes: np.ndarray) -> Iterator[str]:
        """Yield the canonical string of each code."""
        a = self.alphabet
        labels, entries = decode(codes, a.codes, self.size)
        # Without labels there are few matrices: their canonical strings are cached over all graphs.
        if a.node_labels is None and a.edge_labels is None:
            for matrix in (entries > 0).reshape(codes.size, -1):
                yield _plain_string(matrix.tobytes(), self.size, a.directed)
            return
        for label, entry in zip(labels, entries, strict=True):
            yield canonical_string(labelled_pattern(a, label, entry))


def labelled_pattern(alphabet: Alphabet, label: np.ndarray, entry: np.ndarray) -> Pattern:
    """Return the pattern with some node codes, int64 ``[k]``, and adjacency entries, int64 ``[k, k]``."""
    nodes = edges = None
    if alphabet.node_labels is not None:
        nodes = np.asarray(alphabet.node_labels)[label]
    if alphabet.edge_labels is not None:
        edges = np.where(entry > 0, np.asarray(alphabet.edge_labels)[entry - 1], 0)
    return Pattern(entry > 0, nodes, edges, alphabet.directed)


@cache
def _plain_string(adjacency: bytes, size: int, directed: bool) -> str:
    """Return the canonical string of a graph without labels, from the bytes of its adjacency."""
    matrix = np.frombuffer(adjacency, bool).reshape(size, size)
    return canonical_string(Pattern(matrix, None, None, directed))


def decode(values: np.ndarray, codes: Codes, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the node codes ``[U, k]`` and adjacency entries ``[U, k, k]``, int64, of codes as the search made them."""
    young, old = np.tril_indices(size, -1)
    node = np.arange(size)

    def bits(place: np.ndarray, width: int) -> np.ndarray:
        """Return ``width`` bits of each code from each place on, int64 ``[places, U]``."""
        return (values >> place.astype(np.uint64)[:, None] & np.uint64((1 << width) - 1)).astype(np.int64)

    labels = bits(codes.place(node, size) + node * codes.state_bits, codes.label_bits)
    states = bits(codes.place(young, size) + old * codes.state_bits, codes.state_bits)
    entries = np.zeros((size, size, values.size), np.int64)
    # A state is seen from the older node: its lower digit is e(old, young), its higher one e(young, old).
    entries[old, young] = states % codes.entries if codes.entries else states
    entries[young, old] = states // codes.entries if codes.entries else states
    return labels.T, entries.transpose(2, 0, 1)


ROUNDS = 3
"""Rounds of hashing in :func:`normal_codes`.

Of 279,888 random digraphs of 5 nodes, in 9,608 classes, one round leaves 13,855 forms, two rounds 9,963, three 9,886,
and more rounds no fewer. Of 6 nodes a fourth round removes 11 of 271,927 forms.
"""


def normal_codes(xp: ModuleType, values: np.ndarray | jax.Array, codes: Codes, size: int) -> Any:
    """Bring codes to normal form: sort the nodes of each subgraph by a hash of what surrounds them.

    A class then has few codes, most often one. This is for speed alone: where the hash fails to tell nodes apart, more
    forms are left, each of which is classified exactly.

    Args:
      xp: NumPy, or ``jax.numpy`` in its 64-bit mode.
      values: the codes, uint64 ``[U]``.
      codes: how subgraphs are written as codes.
      size: nodes of a subgraph.
    """
    return normal_places(xp, values, codes, size)[0]


def normal_places(xp: ModuleType, values: np.ndarray | jax.Array, codes: Codes, size: int) -> tuple[Any, Any]:
    """Return normal codes, and the place in them of each node of a code, int32 ``[size, U]``."""
    width, labels, word = codes.state_bits, codes.label_bits, np.uint64
    pairs = np.arange(size)[:, None], np.arange(size)[None]
    young, old = np.maximum(*pairs), np.minimum(*pairs)

    def mask(bits: int) -> np.uint64:
        return word((1 << bits) - 1)

    # Unpack the codes: near[i, j] is the state of the dyad seen from i, label[i] the label of node i. A code holds each
    # dyad once, with the younger node, as seen from the older one; seen from the other its digits are exchanged.
    off = (young != old)[:, :, None]
    near = (values[None, None] >> (codes.place(young, size) + old * width).astype(word)[:, :, None]) & mask(width)
    if codes.entries:
        # A state fits 32 bits, and a TPU can divide numbers of 32 bits but not of 64.
        turned = codes.turned(near.astype(np.uint32)).astype(word)
        near = xp.where((pairs[0] > pairs[1])[:, :, None], turned, near)
    node = np.arange(size)
    label = (values[None] >> (codes.place(node, size) + node * width).astype(word)[:, None]) & mask(labels)
    # Hash: in each round a node's colour becomes a hash of the states and colours around it.
    pair, colour = scramble(near + word(1)), scramble(label + word(1))
    for _ in range(ROUNDS):
        seen = xp.where(off, scramble(pair ^ colour[None]), word(0))
        colour = scramble(colour + seen.sum(axis=1, dtype=word))
    # Sort the nodes by colour. Nodes of one colour keep their order; any order would give exact counts.
    ties = (colour[None] == colour[:, None]) & (pairs[1] < pairs[0])[:, :, None]
    rank = ((colour[None] < colour[:, None]) | ties).sum(axis=1, dtype=np.int32)

    # Pack the codes again, every node at its rank.
    def put(value: jax.Array, nodes: jax.Array, older: jax.Array) -> Any:
        return (value << (codes.place(nodes, size) + older * width).astype(word)).sum(axis=0, dtype=word)

    a, b = np.triu_indices(size, 1)
    # The node with the higher rank now holds the dyad, seen from the other.
    first, second = xp.minimum(rank[a], rank[b]), xp.maximum(rank[a], rank[b])
    # near[i, j] is seen from i: the view of the node with the lower rank is taken.
    state = xp.where(rank[a] < rank[b], near[a, b], near[b, a])
    return put(state, second, first) + (put(label, rank, rank) if labels else word(0)), rank
