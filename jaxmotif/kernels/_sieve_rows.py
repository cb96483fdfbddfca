"""Adjacency rows for the sieve, with vertices in order of falling degree and long rows cut into pieces.

In this way no unit of work is longer than any other, whatever the degrees.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from jaxmotif.arrays._rows import inverse_order, offsets_from

MAX_ROW = 64
"""Number of neighbours that one unit of work sums at most; longer rows are cut."""

TILE = 32
"""Number of vertices, or of pieces, in a tile; their numbers are rounded up to multiples of this."""


class Rows(NamedTuple):
    """Adjacency rows in runs of at most ``MAX_ROW`` slots.

    A short row is one run, its vertex's own run. A longer row is cut into pieces, which are summed on their own.

    Attributes:
      targets: The neighbours by their new numbers, int32 ``[S]``.
      starts: The first slot of each vertex's own run, int32 ``[V]``.
      stops: The slot after the last one of each vertex's own run, int32 ``[V]``; a vertex whose row is cut has an empty
        run.
      live: The number from which on no vertex has neighbours or is a neighbour, int32.
      piece_starts: The first slot of each piece, int32 ``[H]``.
      piece_stops: The slot after the last one of each piece, int32 ``[H]``; pieces past the last one are empty.
      piece_offsets: The number of the first piece of each vertex, then the number of pieces; int32 ``[V + 1]``.
      piece_owners: The vertex of each piece, int32 ``[H]``.
    """

    targets: Array
    starts: Array
    stops: Array
    live: Array
    piece_starts: Array
    piece_stops: Array
    piece_offsets: Array
    piece_owners: Array

    @property
    def vertices(self) -> int:
        """The number of vertices, ``V``."""
        return self.starts.shape[0]

    @property
    def pieces(self) -> int:
        """The room for pieces, ``H``."""
        return self.piece_starts.shape[0]


def num_pieces(degrees, max_row: int = MAX_ROW):
    """Return the number of pieces of each row, which is 0 for a row that is not cut; integers of NumPy or JAX."""
    return (degrees > max_row).astype(degrees.dtype) * ((degrees + (max_row - 1)) // max_row)


def max_pieces(slots: int, max_row: int = MAX_ROW) -> int:
    """Return an upper bound on the number of pieces of rows that have a number of slots together."""
    # A row of d slots is cut only if d > max_row, and then has ceil(d / max_row) < 2 d / max_row pieces.
    return 2 * slots // max_row


def plan_rows(offsets: Array, targets: Array, pieces: int, max_row: int = MAX_ROW) -> tuple[Rows, Array]:
    """Order the vertices by degree, and cut long adjacency rows.

    Args:
      offsets: The first slot of each row, then the number of slots; int32 ``[n + 1]``.
      targets: The neighbours, int32 ``[S]``; slots of padding may hold anything.
      pieces: The room for pieces, static: at least the sum of :func:`num_pieces`, such as :func:`max_pieces`.
      max_row: The number of slots of a run at most.

    Returns:
      The rows, with ``V`` and ``H`` rounded up to whole tiles, and the new number of each vertex, int32 ``[n]``.
    """
    n = offsets.shape[0] - 1
    more = -n % TILE
    degrees = offsets[1:] - offsets[:-1]
    # A tile waits for its longest row. In this order the vertices of a tile have rows of about the same length.
    order = jnp.argsort(-degrees, stable=True)
    rank = inverse_order(order)
    starts, stops = jnp.pad(offsets[:-1][order], (0, more)), jnp.pad(offsets[1:][order], (0, more))
    counts = num_pieces(stops - starts, max_row)
    piece_offsets = offsets_from(counts)
    piece = jnp.arange(pieces + -pieces % TILE, dtype=jnp.int32)
    used = piece < piece_offsets[-1]
    # A vertex without pieces has the offset of the next one, hence the search from the right, which finds the owner.
    owners = jnp.searchsorted(piece_offsets, piece, side="right").astype(jnp.int32) - 1
    owners = jnp.where(used, owners, 0)
    first = starts[owners] + (piece - piece_offsets[owners]) * max_row
    # Indices are clipped, since slots of padding may hold anything.
    targets = rank.at[targets].get(mode="clip")
    used_slots = jnp.arange(targets.shape[0], dtype=jnp.int32) < offsets[-1]
    # In a directed graph a neighbour may have no neighbours itself, but its row is read.
    last = jnp.max(jnp.where(used_slots, targets, -1), initial=-1)
    rows = Rows(
        targets=targets,
        # A row that is cut consists of its pieces, and the vertex's own run is empty.
        starts=jnp.where(counts > 0, stops, starts),
        stops=stops,
        live=jnp.maximum(jnp.sum(stops > starts, dtype=jnp.int32), last + 1),
        piece_starts=jnp.where(used, first, 0),
        piece_stops=jnp.where(used, jnp.minimum(first + max_row, stops[owners]), 0),
        piece_offsets=piece_offsets,
        piece_owners=owners,
    )
    return rows, rank
