"""From adjacency codes to isomorphism classes, and the names that classes have in the field."""

from __future__ import annotations

import threading
from functools import cache

import numpy as np

from jaxmotif.motifs.dyads import Alphabet
from jaxmotif.patterns.canonical import canonical_string
from jaxmotif.patterns.catalogue import GRAPHLETS
from jaxmotif.patterns.pattern import Pattern

_NAMES: dict[str, list[tuple[int, int]]] = {
    "021D": [(0, 1), (0, 2)],
    "021U": [(0, 2), (1, 2)],
    "021C": [(0, 1), (1, 2)],
    "111D": [(0, 1), (1, 0), (2, 1)],
    "111U": [(0, 1), (1, 0), (1, 2)],
    "030T feed-forward loop": [(0, 1), (1, 2), (0, 2)],
    "030C 3-cycle": [(0, 1), (1, 2), (2, 0)],
    "201": [(0, 1), (1, 0), (1, 2), (2, 1)],
    "120D": [(2, 0), (2, 1), (0, 1), (1, 0)],
    "120U": [(0, 2), (1, 2), (0, 1), (1, 0)],
    "120C": [(0, 2), (2, 1), (0, 1), (1, 0)],
    "210": [(0, 1), (1, 2), (2, 1), (0, 2), (2, 0)],
    "300": [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)],
    "bi-fan": [(0, 2), (0, 3), (1, 2), (1, 3)],
    "bi-parallel": [(0, 1), (0, 2), (1, 3), (2, 3)],
    "4-cycle": [(0, 1), (1, 2), (2, 3), (3, 0)],
    "3-chain": [(0, 1), (1, 2), (2, 3)],
    "single-input module": [(0, 1), (0, 2), (0, 3)],
    "multi-output feed-forward loop": [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)],
    "multi-input feed-forward loop": [(0, 2), (1, 2), (0, 3), (1, 3), (2, 3)],
}


@cache
def class_names(directed: bool) -> dict[str, str]:
    """Common names by class: triads by their census codes, a few 4-node motifs; undirected classes by PGD's names.

    Example:
      >>> class_names(True)["000100110"], class_names(False)["001001110"]
      ('030T feed-forward loop', '2-star')
    """
    if directed:
        found = {canonical_string(Pattern.from_edges(arcs, directed=True)): name for name, arcs in _NAMES.items()}
        return found | {"0010": "arc", "0110": "reciprocated pair"}
    return {
        canonical_string(Pattern.from_edges(g.edges, g.num_nodes)): g.name for g in GRAPHLETS if g.connected
    }  # fmt: skip


class Classifier:
    """Assigns codes of subgraphs of one size to classes; remembers every code it has seen; for any thread.

    Attributes:
      classes: canonical strings, in the order in which they were first met.
    """

    def __init__(self, alphabet: Alphabet, size: int):
        self._alphabet, self._size = alphabet, size
        self._codes = np.zeros(0, np.uint64)
        self._index = np.zeros(0, np.int64)
        self._by_form: dict[bytes, int] = {}
        self._by_name: dict[str, int] = {}
        self._lock = threading.Lock()

    @property
    def known(self) -> tuple[np.ndarray, np.ndarray]:
        """Every code seen, uint64 ascending, and its class, int64."""
        return self._codes, self._index

    @property
    def classes(self) -> list[str]:
        return list(self._by_name)

    def __call__(self, codes: np.ndarray) -> np.ndarray:
        """The class of each code (uint64 ``[U]``), int64 indices into :attr:`classes`."""
        with self._lock:
            new = np.setdiff1d(codes, self._codes)
            if new.size:
                all_codes = np.concatenate([self._codes, new])
                order = np.argsort(all_codes)
                self._codes = all_codes[order]
                self._index = np.concatenate([self._index, self._classify(new)])[order]
            return self._index[np.searchsorted(self._codes, codes)]

    def _classify(self, codes: np.ndarray) -> np.ndarray:
        labels, entries = _normal(*decode(codes, self._alphabet, self._size))
        forms = np.concatenate([labels[:, :, None], entries], axis=2).astype(np.uint16).reshape(codes.size, -1)
        forms, inverse = np.unique(forms, axis=0, return_inverse=True)
        index = np.empty(forms.shape[0], np.int64)
        for i, form in enumerate(forms):
            key = form.tobytes()
            if key not in self._by_form:
                table = form.reshape(self._size, -1).astype(np.int64)
                name = self._name(table[:, 0], table[:, 1:])
                self._by_form[key] = self._by_name.setdefault(name, len(self._by_name))
            index[i] = self._by_form[key]
        return index[inverse.ravel()]

    def _name(self, labels: np.ndarray, entries: np.ndarray) -> str:
        a = self._alphabet
        if a.node_labels is None and a.edge_labels is None:
            return _plain_string((entries > 0).tobytes(), self._size, a.directed)
        nodes = None if a.node_labels is None else np.asarray(a.node_labels)[labels]
        edges = None if a.edge_labels is None else np.where(entries > 0, np.asarray(a.edge_labels)[entries - 1], 0)
        return canonical_string(Pattern(entries > 0, nodes, edges, a.directed))


@cache
def _plain_string(adjacency: bytes, size: int, directed: bool) -> str:
    matrix = np.frombuffer(adjacency, bool).reshape(size, size)
    return canonical_string(Pattern(matrix, None, None, directed))


def decode(codes: np.ndarray, alphabet: Alphabet, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Node codes ``[U, k]`` and adjacency entries ``[U, k, k]``, int64, of codes in the order the search built them."""
    labels = np.zeros((codes.size, size), np.int64)
    entries = np.zeros((codes.size, size, size), np.int64)
    rest = codes.copy()

    def pop(bits: int) -> np.ndarray:
        nonlocal rest
        value = (rest & np.uint64((1 << bits) - 1)).astype(np.int64)
        rest = rest >> np.uint64(bits)
        return value

    for i in range(size - 1, -1, -1):
        for a in range(i):
            state = pop(alphabet.state_bits)
            # The state is seen from the older node: e(a, i), and e(i, a) in the higher digit.
            entries[:, a, i] = state % alphabet.entries if alphabet.directed else state
            entries[:, i, a] = state // alphabet.entries if alphabet.directed else state
        labels[:, i] = pop(alphabet.label_bits)
    return labels, entries


def _normal(labels: np.ndarray, entries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes sorted by a hash of what surrounds them: few forms of one class are left, most often one."""
    size = labels.shape[1]
    pair = _scramble(entries.astype(np.uint64) * np.uint64(0x10001) + entries.transpose(0, 2, 1).astype(np.uint64))
    off = ~np.eye(size, dtype=bool)
    colour = _scramble(labels.astype(np.uint64) + np.uint64(1))
    for _ in range(3):
        colour = _scramble(colour + (_scramble(pair ^ colour[:, None, :]) * off).sum(axis=2, dtype=np.uint64))
    order = np.argsort(colour, axis=1, kind="stable")
    rows = np.arange(labels.shape[0])[:, None]
    return labels[rows, order], entries[rows[:, :, None], order[:, :, None], order[:, None, :]]


def _scramble(x: np.ndarray) -> np.ndarray:
    """A 64-bit mixing function (splitmix64's)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
