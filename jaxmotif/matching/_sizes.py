"""Constants of matching: limits, padded sizes, and where to plan, each with its reason.

The sizes of the steps and tables of a search are in :mod:`jaxmotif.search._sizes`.

Padded sizes are powers of four from a least size on, which is generous where padding costs little. Queries and targets
of similar size should share a bucket and differ only in data, since each new size is compiled again.
"""

from __future__ import annotations

import jax
import numpy as np

from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.arrays._sizes import power_of_four

# ---- what a plan may take

MOST_MATRIX_WORDS = 2**26
"""Most words (256 MiB) of the bit matrices of all pair kinds together; beyond, adjacency is looked up in the lists."""

HOST_MATRIX_WORDS, MATRIX_WORDS_A_SLOT = 2**22, 32
"""Most words of bit matrices that NumPy makes: in all, or for each slot of the target if that is more. 25 M words for
20,000 nodes took 0.4 s to make, and 100 M candidates were then tested in 8.6 s instead of 9.1 s (two CPU cores)."""

MAKING = 4
"""Memory that it takes to make lists and matrices on the device, with sums and copies, as a multiple of their size."""

MOST_PLACES = 2**31 - 2
"""Most entries, and most offsets, of all candidate lists together: their places are int32."""

# ---- leaves, counted in closed form

MOST_IN_GROUP = 4
"""Most leaves that compete for nodes where none has all candidates of the others: n have Bell(n) terms, 4 have 15."""

MOST_RANKED = 2**11
"""Number of nodes from which on the union of some domains is too large for a bit row over it, unless it is for twins:
intersecting rows takes a read for each word, whether candidates are few or many."""

MOST_TWIN_WORDS = 2**26
"""Most words of the bit rows of all nodes together, for twins."""

PAIRS_A_WORD = 8
"""Pairs of candidates that a search would have to test, for each word of a bit row, from which on wide bit rows for
twins pay."""

# ---- looking ahead

MOST_AHEAD_NODES = 62
"""Most nodes of a domain that is looked ahead to: larger ones are seldom used up, and testing them would not pay."""

MOST_AHEAD_WORDS = 2**6
"""Most words read to see whether a node has a candidate left; a node that takes more is not looked ahead to."""

MOST_ROW_WORDS = 2**24
"""Most words of all bit rows for looking ahead."""

# ---- searches in shares

SHARES, PARTS = 2, 64
"""Parts of a search for each device; and the least number of parts in all where parts should end now and then, for a
checkpoint or a meter."""

HYBRID_PARTS = 1024
"""Least number of parts of a search on GPUs and the CPU, which takes some hundred times as long for a part as a GPU."""

FEW_STEPS = 48
"""Steps that are first taken on one device: a search that ends within them is not divided."""

CHECKPOINT_STRETCHES = 256
"""Stretches of a listing with a checkpoint: a kill may undo the work on one of them."""

FEW_LISTED = 4
"""Matches for each position of a count's first steps: a listing of at most that many takes steps of this size."""

LEAST_BLOCK = 2**6
"""Flat positions of the smallest step to fall back to where memory runs out."""

PREFIX_BLOCK = 2**16
"""Flat positions of the steps that list prefixes: the same on all devices, so that all stop at one level."""

# ---- planning in NumPy or on the device

# A phase on the device compiles for each size of target, and a phase in NumPy never does. Small targets are therefore
# planned in NumPy, in their exact sizes, and what the search reads is then padded.

HOST_WORK_ON_CPU, HOST_WORK_ON_ACCELERATOR = 2**30, 2**19
"""Slots of the target times pairs of the query, up to which planning in NumPy is as fast as on the device.

On a CPU NumPy plans in less time whatever the size: triangles in 4 million slots in 0.3 s instead of 0.77.
"""

LABELS_LEAVE = 16
"""Factor by which labels lessen the work of planning in NumPy, about: it looks only at nodes with the right labels."""

LEAST_NODES, LEAST_SLOTS, LEAST_FAMILIES = 256, 4096, 64
"""Least capacities of a reduced target on the device, and least number of families of candidate lists there."""

LEAST_FREE, LEAST_SETS, LEAST_ENTRIES = 4, 16, 2**14
"""Least capacities for nodes that no earlier node leads to, for bit rows or numberings, and for entries of lists."""

LEAST_READ, LEAST_READ_ENTRIES = 2**14, 2**16
"""Least sizes of arrays, and of candidate lists, that a search reads if it is planned in NumPy.

They are so large that nearly all small cases share one size.
"""

LEAST_PROGRAM = 2**12
"""Least number of words of a program."""


def host_work(device: jax.Device) -> int:
    """Return the work up to which a search on a device is planned in NumPy."""
    return HOST_WORK_ON_ACCELERATOR if target_of(device).is_accelerator else HOST_WORK_ON_CPU


def pad_first_axis(array: np.ndarray, least: int) -> np.ndarray:
    """Return an array with its first axis grown to a power of four from a least."""
    return pad_rows(array, power_of_four(len(array), least))
