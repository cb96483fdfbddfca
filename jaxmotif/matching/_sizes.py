"""The figures matching goes by: limits, padded sizes, and where to plan, each with its reason.

How large the steps and tables of a search are is said in :mod:`jaxmotif.search._sizes`.

Padded sizes are powers of four from a least, generous ones where they cost little: what differs between queries and
targets is to be data in a bucket, since each new size compiles again.
"""

from __future__ import annotations

import jax
import numpy as np

from jaxmotif.arrays._compile import target_of
from jaxmotif.arrays._rows import pad_rows
from jaxmotif.arrays._sizes import power_of_four

# ---- what a plan may take

MOST_MATRIX_WORDS = 2**26
"""Words (256 MiB) of the bit matrices of all pair kinds together; beyond, adjacency is searched for in the lists."""

HOST_MATRIX_WORDS, MATRIX_WORDS_A_SLOT = 2**22, 32
"""Words of bit matrices that NumPy makes, or for each slot of the target, if that is more: 25 M for 20,000 nodes took
0.4 s to make, and 100 M candidates were then tested in 8.6 s instead of 9.1 s (two CPU cores)."""

MAKING = 4
"""The memory that it takes to make lists and matrices, as a multiple of theirs: sums and copies on the device."""

MOST_PLACES = 2**31 - 2
"""Entries and offsets of all candidate lists together: their places are int32."""

# ---- leaves, counted in closed form

MOST_IN_GROUP = 4
"""Leaves that compete for nodes and none of which holds all candidates of the others; n have Bell(n) terms: 15 of 4."""

MOST_RANKED = 2**11
"""Fewer nodes are in the union of the domains that a bit row is over, unless it is of twins: to meet rows takes a read
for each word, whether candidates are few or many."""

MOST_TWIN_WORDS = 2**26
"""Words of the bit rows of all nodes, for twins."""

PAIRS_A_WORD = 8
"""Pairs of candidates, which a search would test, for each word of the wider bit rows that twins are worth."""

# ---- looking ahead

MOST_AHEAD_NODES = 62
"""Nodes in a domain that is looked ahead to: larger ones are seldom used up, and cost more to test than that saves."""

MOST_AHEAD_WORDS = 2**6
"""Words read to see whether one node has a candidate left; those that need more are not looked at."""

MOST_ROW_WORDS = 2**24
"""Words of all bit rows for looking ahead."""

# ---- searches in shares

SHARES, PARTS = 2, 64
"""Parts of the search for each device; in all at least, where they are to end now and then: for checkpoints, or a
meter."""

HYBRID_PARTS = 1024
"""Parts of a search for GPUs and the CPU, which takes some hundred times as long for one as a GPU."""

FEW_STEPS = 48
"""The most steps of a search that is not divided."""

CHECKPOINT_STRETCHES = 256
"""Stretches of a listing that is kept: what a kill may undo is one of them."""

FEW_LISTED = 4
"""Matches for each position of a count's first steps, up to which a listing is best served by such steps."""

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
"""Planning in NumPy looks only at nodes that labels leave: at so small a part of the target, about."""

LEAST_NODES, LEAST_SLOTS, LEAST_FAMILIES = 256, 4096, 64
"""Least capacities of a reduced target on the device, and least number of families of candidate lists there."""

LEAST_FREE, LEAST_SETS, LEAST_ENTRIES = 4, 16, 2**14
"""Least numbers of nodes that no earlier node leads to, of bit rows and of numberings, and of entries of lists."""

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
