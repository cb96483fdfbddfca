"""Sizes of buffers: few different ones, so that few programs are compiled. The only place that rounds sizes.

| rule | for |
|---|---|
| :func:`bucket_size` | arrays as large as a graph: at most half more, of large graphs an eighth |
| :func:`power_of_four` | small tables of a search, whose padding costs little: fewest sizes |
| :func:`power_of_two` | what must be a power of two, such as hash tables and batches |
| :func:`floor_power_of_two` | what has to fit: blocks and batches within a budget |
"""

from __future__ import annotations


def bucket_size(x: int) -> int:
    """The smallest of a coarse series of sizes that is at least ``x``.

    The series: 16, 24, 32, 48, 64, ... (powers of two and 1.5 times them) up to 4096, then eight steps from each power
    of two to the next, so that a large graph is padded by less than an eighth.

    Example:
      >>> [bucket_size(x) for x in (0, 16, 17, 25, 33, 1000, 5000, 1_000_000)]
      [16, 16, 24, 32, 48, 1024, 5120, 1048576]
    """
    if x <= 16:
        return 16
    below = 1 << ((x - 1).bit_length() - 1)  # the power of two below x
    step = below // 2 if x <= 4096 else below // 8
    return -(-x // step) * step


def power_of_four(x: int, least: int) -> int:
    """The smallest of least, 4 least, 16 least, .. that is at least x."""
    while least < x:
        least *= 4
    return least


def power_of_two(x: int, least: int = 1) -> int:
    """The smallest power of two that is at least ``x`` and ``least``.

    Example:
      >>> [power_of_two(x) for x in (0, 1, 2, 3, 4, 5)], power_of_two(5, 16)
      ([1, 1, 2, 4, 4, 8], 16)
    """
    return 1 << (max(x, least, 1) - 1).bit_length()


def floor_power_of_two(x: int) -> int:
    """The largest power of two that is at most ``x``, at least 1.

    Example:
      >>> [floor_power_of_two(x) for x in (0, 1, 2, 3, 4, 5)]
      [1, 1, 2, 2, 4, 4]
    """
    return 1 << (max(x, 1).bit_length() - 1)
