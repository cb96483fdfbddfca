"""Motifs and colors as the user gives them, turned into the bit masks of shades that the sieve takes.

A motif of k vertices has k shades, M(q) of them for each color q, and a vertex may take any shade of any of its
colors. A set of k vertices matches when it is connected and its vertices can take all shades, one each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from typing import TypeAlias

import numpy as np

from jaxmotif.arrays._checks import whole_number
from jaxmotif.graph._build import host_array
from jaxmotif.sieve._polynomials import check_size

ColorsLike: TypeAlias = Mapping[Hashable, object] | Iterable[object]

Color = Hashable
# To a type checker, dict[str, int] is not a Mapping[Hashable, int], hence the alternatives for strings and integers.
MotifLike = Mapping[str, int] | Mapping[int, int] | Mapping[Color, int]


@dataclasses.dataclass(frozen=True)
class Motif:
    """A multiset of colors.

    Attributes:
      counts: how many vertices of each color, all positive.
      masks: the shades of each color, as bits.
      size: number of vertices.
    """

    counts: dict[Color, int]
    masks: dict[Color, int]
    size: int


def parse_motif(motif: MotifLike) -> Motif:
    """Check a motif, and give each of its vertices a shade.

    Raises:
      TypeError: for anything but a mapping from colors to whole numbers.
      ValueError: for an empty motif, a negative number, or more vertices than the sieve takes.

    Example:
      >>> parse_motif({"red": 2, "blue": 1}).masks
      {'red': 3, 'blue': 4}
    """
    if not isinstance(motif, Mapping):
        raise TypeError(f"a motif maps colors to numbers, such as {{'red': 2}}; got {type(motif).__name__}")
    counts: dict[Color, int] = {}
    for color, number in motif.items():
        try:
            counts[color] = whole_number(number, "the number")
        except TypeError:
            raise TypeError(f"color {color!r} must occur a whole number of times, got {number!r}") from None
        if counts[color] < 0:
            raise ValueError(f"color {color!r} cannot occur {number} times")
    counts = {color: number for color, number in counts.items() if number}
    size = sum(counts.values())
    if not size:
        raise ValueError("the motif is empty; it needs at least one vertex")
    check_size(size)
    masks, used = {}, 0
    for color, number in counts.items():
        masks[color] = ((1 << number) - 1) << used
        used += number
    return Motif(counts, masks, size)


def vertex_shades(
    colors: ColorsLike, motif: Motif, num_nodes: int, names: Sequence[Hashable] | np.ndarray | None
) -> np.ndarray:
    """Return the shades that each vertex may take.

    Args:
      colors: one entry a vertex (the index of a pandas series is not looked at), or a mapping from vertices (their
        names, where the graph has names) to entries. An entry is a color, a collection of colors any of which the
        vertex may stand for, or ``None`` for none.
      motif: the motif.
      num_nodes: number of vertices.
      names: the names of the vertices, or ``None`` where they are 0..n-1.

    Returns:
      uint32 ``[num_nodes]``.

    Raises:
      TypeError: for colors of another kind than the motif's, such as numbers for strings.
      ValueError: for a wrong number of entries, or an entry for something that is no vertex.

    Example:
      >>> motif = parse_motif({"red": 2, "blue": 1})
      >>> vertex_shades(["red", {"red", "blue"}, None, "green"], motif, 4, None).tolist()
      [3, 7, 0, 0]
    """
    if isinstance(colors, Mapping):
        colors = _from_mapping(colors, num_nodes, names)
    elif isinstance(colors, str | bytes | Set) or not isinstance(colors, Iterable):  # a set has no order
        raise TypeError(f"colors must have one entry a vertex, got {colors!r}")
    array = host_array(colors, "colors") if hasattr(colors, "__array__") else None
    if array is not None and array.ndim != 1:
        raise ValueError(f"an array of colors has one dimension, got shape {array.shape}; use sets for several colors")
    entries = array if array is not None else list(colors)
    if len(entries) != num_nodes:
        raise ValueError(f"{len(entries)} colors for {num_nodes} vertices; give one entry each (None for no color)")
    plain = array is not None and array.dtype.kind in "iubUS"
    shades, seen = _array_shades(np.asarray(entries), motif) if plain else _entry_shades(entries, motif)
    _check_kinds(motif, seen)
    return shades


def _from_mapping(colors: Mapping, num_nodes: int, names: Sequence[Hashable] | np.ndarray | None) -> list:
    """Return one entry a vertex from a mapping of vertices to entries."""
    number = {name: i for i, name in enumerate(range(num_nodes) if names is None else np.asarray(names).tolist())}
    entries: list = [None] * num_nodes
    for vertex, entry in colors.items():
        if vertex not in number:
            raise ValueError(f"a color is given for {vertex!r}, which is no vertex of the graph")
        entries[number[vertex]] = entry
    return entries


def _array_shades(array: np.ndarray, motif: Motif) -> tuple[np.ndarray, set]:
    """Return the shades of each vertex, and the colors that occur, from an array of single colors."""
    values, inverse = np.unique(array, return_inverse=True)
    masks = np.array([motif.masks.get(value, 0) for value in values.tolist()], np.uint32)
    return masks[inverse], set(values.tolist())


def _entry_shades(entries: Sequence[object] | np.ndarray, motif: Motif) -> tuple[np.ndarray, set]:
    """Return the shades of each vertex, and the colors that occur, from colors and collections of colors."""
    shades, seen = np.zeros(len(entries), np.uint32), set()
    for i, entry in enumerate(entries):
        if isinstance(entry, set | frozenset | list | tuple | np.ndarray):
            own = list(entry)
        else:
            own = [] if entry is None else [entry]
        try:
            seen.update(own)
        except TypeError:
            raise TypeError(f"vertex {i}: {entry!r} is neither a color nor a collection of colors") from None
        mask = 0
        for color in own:
            mask |= motif.masks.get(color, 0)
        shades[i] = mask
    return shades, seen


def _check_kinds(motif: Motif, seen: set) -> None:
    """Refuse a motif of strings on vertices with numbers, or the reverse: it matches nothing, which nobody means."""
    kinds = {isinstance(color, str) for color in seen}
    for color in motif.counts:
        if kinds and color not in seen and isinstance(color, str) not in kinds:
            other = next(iter(seen))
            raise TypeError(
                f"color {color!r} of the motif cannot occur among colors such as {other!r}: string or number?"
            )
