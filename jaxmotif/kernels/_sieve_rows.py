"""Adjacency rows for the sieve: vertices by falling degree, long rows cut, so that every unit of work is alike."""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp

MAX_ROW = 64
"""Longest run of neighbours summed in one unit of work; longer rows are cut."""

TILE = 32
"""Vertices, and pieces, come in multiples of this."""


@partial(
    jax.tree_util.register_dataclass,
    data_fields=("targets", "starts", "stops", "live", "piece_starts", "piece_stops", "piece_offsets", "piece_owners"),
    meta_fields=(),
)
@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Adjacency rows cut into runs of at most ``MAX_ROW`` slots.

    A short row is one run, its vertex's own. A longer one is cut into pieces that are summed apart, so that no unit
    of work is longer than any other whatever the degrees.

    Attributes:
      targets: int32 ``[S]``, neighbours in the new numbering.
      starts, stops: int32 ``[V]``, slots of the vertex's own run, empty for cut rows.
      live: int32: from here on no vertex has neighbours, or is one.
      piece_starts, piece_stops: int32 ``[H]``, slots of the pieces, empty past the last.
      piece_offsets: int32 ``[V + 1]``, the pieces of each vertex.
      piece_owners: int32 ``[H]``, the vertex of each piece.
    """

    targets: jax.Array
    starts: jax.Array
    stops: jax.Array
    live: jax.Array
    piece_starts: jax.Array
    piece_stops: jax.Array
    piece_offsets: jax.Array
    piece_owners: jax.Array

    @property
    def vertices(self) -> int:
        """``V``."""
        return self.starts.shape[0]

    @property
    def pieces(self) -> int:
        """``H``."""
        return self.piece_starts.shape[0]


def num_pieces(degrees, max_row: int = MAX_ROW):
    """Pieces that each vertex's row is cut into; 0 for a row kept whole. NumPy or JAX integers in and out."""
    return (degrees > max_row).astype(degrees.dtype) * ((degrees + (max_row - 1)) // max_row)


def max_pieces(slots: int, max_row: int = MAX_ROW) -> int:
    """Room for the pieces of any rows of so many slots in all."""
    # A row is cut only where d > max_row: its ceil(d / max_row) pieces are fewer than 2 d / max_row.
    return 2 * slots // max_row


def plan_rows(offsets: jax.Array, targets: jax.Array, pieces: int, max_row: int = MAX_ROW) -> tuple[Rows, jax.Array]:
    """Orders and cuts adjacency rows.

    Args:
      offsets: int32 ``[n + 1]``, row starts.
      targets: int32 ``[S]``, neighbours; padding slots may hold anything.
      pieces: static room for pieces, at least the sum of :func:`num_pieces`, such as :func:`max_pieces`.
      max_row: longest run.

    Returns:
      The rows, with ``V`` and ``H`` rounded up to whole tiles, and int32 ``[n]`` with each vertex's new number.
    """
    n = offsets.shape[0] - 1
    more = -n % TILE
    degrees = offsets[1:] - offsets[:-1]
    # Vertices of one tile then have rows of about one length: it waits for its longest.
    order = jnp.argsort(-degrees, stable=True)
    # The inverse permutation.
    rank = jnp.zeros(n, jnp.int32).at[order].set(jnp.arange(n, dtype=jnp.int32))
    starts, stops = jnp.pad(offsets[:-1][order], (0, more)), jnp.pad(offsets[1:][order], (0, more))
    counts = num_pieces(stops - starts, max_row)
    piece_offsets = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(counts, dtype=jnp.int32)])
    piece = jnp.arange(pieces + -pieces % TILE, dtype=jnp.int32)
    used = piece < piece_offsets[-1]
    # From the right: of vertices without pieces, which begin where the next does, the last is found, the owner.
    owners = jnp.searchsorted(piece_offsets, piece, side="right").astype(jnp.int32) - 1
    owners = jnp.where(used, owners, 0)
    first = starts[owners] + (piece - piece_offsets[owners]) * max_row
    # Clipped, since padding slots may hold anything.
    targets = rank.at[targets].get(mode="clip")
    used_slots = jnp.arange(targets.shape[0], dtype=jnp.int32) < offsets[-1]
    # In a directed graph neighbours without neighbours: their rows are read.
    last = jnp.max(jnp.where(used_slots, targets, -1), initial=-1)
    rows = Rows(
        targets=targets,
        # A cut row's own run is empty: its pieces are all of it.
        starts=jnp.where(counts > 0, stops, starts),
        stops=stops,
        live=jnp.maximum(jnp.sum(stops > starts, dtype=jnp.int32), last + 1),
        piece_starts=jnp.where(used, first, 0),
        piece_stops=jnp.where(used, jnp.minimum(first + max_row, stops[owners]), 0),
        piece_offsets=piece_offsets,
        piece_owners=owners,
    )
    return rows, rank
