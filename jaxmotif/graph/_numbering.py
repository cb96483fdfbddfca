"""Numbering words: those of a block at once, each different one in Python only where it is new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jaxmotif.graph._textscan import Words

_MULTIPLIERS = np.random.default_rng(0).integers(2**64, size=9, dtype=np.uint64) | np.uint64(1)
"""Random odd numbers: the last one mixes, each of the others is for eight bytes of a word."""


class Numbering:
    """Numbers words in the order in which they first occur, continuing ``known`` (text to number) in place.

    Words are looked up by a hash table in arrays with open addressing: ``_slots`` holds columns of ``_lanes``, the
    words as numbers, and a word is equal to the one that it is found at in every byte. Column 0 is no word: vacant.
    """

    def __init__(self, known: dict[str, int] | None = None):
        self.known = {} if known is None else known
        self._next = max(self.known.values(), default=-1) + 1
        self._held = 1
        self._slots = np.zeros(1 << 12, np.int32)
        self._lanes = np.zeros((1, len(self._slots) // 2), np.uint64)
        self._numbers = np.zeros(len(self._slots) // 2, np.int64)

    def codes(self, words: Sequence[bytes]) -> np.ndarray:
        """The numbers of words, int64, one word at a time."""
        known, following, found = self.known, self._next, []
        for word in words:
            code = known.setdefault(word.decode(errors="surrogatepass"), following)
            following += code == following
            found.append(code)
        self._next = following
        return np.array(found, np.int64)

    def codes_of(self, words: Words, which: slice) -> np.ndarray:
        """The numbers of the chosen words of a block, int64."""
        lanes, whole = words.lanes(which)
        if len(lanes) > len(self._lanes):
            self._lanes = np.pad(self._lanes, ((0, len(lanes) - len(self._lanes)), (0, 0)))
        lanes = np.pad(lanes, ((0, len(self._lanes) - len(lanes)), (0, 0)))
        columns = self._find(lanes)
        columns[~whole] = 0
        codes = self._numbers[columns]
        new = np.flatnonzero(columns == 0)
        if len(new):
            starts, ends = words.starts[which][new].tolist(), words.ends[which][new].tolist()
            codes[new] = self.codes([words.block[start:end] for start, end in zip(starts, ends, strict=True)])
            new = new[whole[new]]
            numbers, first = np.unique(codes[new], return_index=True)
            self._add(lanes[:, new[first]], numbers)
        return codes

    def _find(self, lanes: np.ndarray) -> np.ndarray:
        """The columns of ``_lanes`` that equal those of ``lanes``; 0: there is none."""
        at = self._hash(lanes)
        columns = self._slots[at]
        left = np.flatnonzero(self._differ(columns, lanes))
        while left.size:
            at[left] = (at[left] + 1) % len(self._slots)
            columns[left] = self._slots[at[left]]
            left = left[self._differ(columns[left], lanes[:, left])]
        return columns

    def _differ(self, columns: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """Whether columns are those of other words."""
        other = np.zeros(columns.shape, bool)
        for here, lane in zip(self._lanes, lanes, strict=True):
            other |= here[columns] != lane
        return other & (columns > 0)

    def _add(self, lanes: np.ndarray, numbers: np.ndarray) -> None:
        """Puts words into the table, all different and none of them there."""
        new = np.arange(self._held, self._held + len(numbers))
        self._held += len(numbers)
        size = len(self._slots)
        while self._held > size // 2:
            size *= 2
        if size > len(self._slots):
            more = (0, size // 2 - len(self._numbers))
            self._lanes, self._numbers = np.pad(self._lanes, ((0, 0), more)), np.pad(self._numbers, more)
            self._slots = np.zeros(size, np.int32)
        self._lanes[:, new], self._numbers[new] = lanes, numbers
        if not self._slots.any():  # it has just grown
            new = np.arange(1, self._held)
        at = self._hash(self._lanes[:, new])
        while new.size:
            vacant = self._slots[at] == 0
            self._slots[at[vacant]] = new[vacant]
            left = self._slots[at] != new  # one of those that want a slot has it
            new, at = new[left], (at[left] + 1) % len(self._slots)

    def _hash(self, lanes: np.ndarray) -> np.ndarray:
        """The slots where looking for words begins; zeros behind a word change nothing."""
        total = np.zeros(lanes.shape[1], np.uint64)
        for lane, multiplier in zip(lanes, _MULTIPLIERS[:-1], strict=False):
            total += lane * multiplier
        total ^= total >> np.uint64(32)
        total *= _MULTIPLIERS[-1]
        return (total >> np.uint64(65 - len(self._slots).bit_length())).astype(np.int64)
