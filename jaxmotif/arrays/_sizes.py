"""Rounding of array sizes to few different ones, so that few programs are compiled. No other module rounds sizes.

| rule | for |
|---|---|
| :func:`graph_class` | a graph for a run: a few pairs of capacities for all graphs |
| :func:`chain_lanes` | random graphs that are drawn together |
| :func:`bucket_size` | arrays as large as a graph: padded by at most a half, for large graphs by an eighth |
| :func:`power_of_four` | small tables of a search, whose padding costs little, so that few sizes are best |
| :func:`power_of_two` | what must be a power of two, such as hash tables and batches |
| :func:`floor_power_of_two` | what has to fit: blocks and batches within a budget |
"""

from __future__ import annotations


def bucket_size(x: int) -> int:
    """Return the smallest of a coarse series of sizes that is at least ``x``.

    The series: 16, 24, 32, 48, 64, ... (powers of two and 1.5 times them) up to 4096, then eight steps from each power
    of two to the next, so that a large graph is padded by less than an eighth.

    Example:
      >>> [bucket_size(x) for x in (0, 16, 17, 25, 33, 1000, 5000, 1_000_000)]
      [16, 16, 24, 32, 48, 1024, 5120, 1048576]
    """
    return _stepped(x, 2 if x <= 4096 else 8)


def _stepped(x: int, steps: int) -> int:
    """Return ``x`` rounded up in a number of steps from each power of two to the next, at least 16."""
    if x <= 16:
        return 16
    step = max((1 << ((x - 1).bit_length() - 1)) // steps, 1)
    return -(-x // step) * step


def graph_class(nodes: int, slots: int, accelerated: bool) -> tuple[int, int]:
    """Return the capacities with which a graph is run, so that graphs of one class share all programs.

    On an accelerator padding costs a small graph a millisecond or two, while compiling takes seconds. So all graphs of
    up to 2^17 nodes and 2^20 slots are in one class, and there are two more classes of up to 2^18 nodes and 2^22 slots.
    Larger graphs run for so long that they are padded as :func:`bucket_size` says. On a CPU padding takes time like
    real entries. There the classes of small graphs grow fourfold, with 16 slots per node; the slots of larger graphs
    are padded to a power of two, and their nodes to at least an eighth of that.

    Args:
      nodes, slots: how many the graph has.
      accelerated: whether it is run on an accelerator.

    Example:
      >>> graph_class(34, 156, True), graph_class(10**5, 10**6, True)
      ((131072, 1048576), (131072, 1048576))
      >>> graph_class(34, 156, False), graph_class(5000, 20_000, False), graph_class(10**5, 10**6, False)
      ((64, 1024), (8192, 32768), (131072, 1048576))
    """
    if accelerated:
        for most_nodes, most_slots in ((2**17, 2**20), (2**18, 2**21), (2**18, 2**22)):
            if nodes <= most_nodes and slots <= most_slots:
                return most_nodes, most_slots
        return bucket_size(nodes), bucket_size(slots)
    if nodes <= 1024 and slots <= 2**14:
        size = max(power_of_four(nodes, 64), power_of_four(slots, 1024) // 16)
        return size, 16 * size
    slots = power_of_two(slots, 2**15)
    return power_of_two(nodes, slots // 8), slots


def chain_lanes(labels: int, accelerated: bool) -> int:
    """Return the number of lanes, including padding, for random graphs that have ``labels`` labels in all.

    A lane without a label takes as long as any other. An accelerator gets at least 2^16 lanes, since fewer do not fill
    it, and then 2^18, since compiling another size takes seconds. From there (on a CPU from the smallest size on)
    there are two sizes from each power of two to the next up to 2^22 lanes, or 2^20 on a CPU, and beyond that eight.

    Example:
      >>> [chain_lanes(x, True) for x in (1_000, 70_000, 300_000, 5_000_000)], chain_lanes(10_000, False)
      ([65536, 262144, 393216, 5242880], 12288)
    """
    if accelerated and labels <= 2**18:
        return power_of_four(labels, 2**16)
    return _stepped(labels, 2 if labels <= (2**22 if accelerated else 2**20) else 8)


def census_room(need: tuple[int, int, int], least: tuple[int, int, int], accelerated: bool) -> tuple[int, int, int]:
    """Return padded lengths for the arrays of a census over nodes, neighbours and pairs of nodes.

    Lengths grow fourfold, and those of large arrays, whose padding takes time, twofold. On an accelerator a matrix over
    pairs is either of the least size or has at least 2^31 cells, which are cleared in a millisecond. On a CPU the
    length for nodes decides the other two for small graphs.

    Args:
      need: the lengths that are needed.
      least: the least lengths.
      accelerated: whether the census runs on an accelerator.

    Example:
      >>> census_room((688, 2_158, 473_344), (2**9, 2**15, 2**18), False)
      (2048, 65536, 4194304)
    """

    def grown(x: int, least: int) -> int:
        return (power_of_four if x <= (2**18 if accelerated else 2**17) else power_of_two)(x, least)

    nodes = grown(need[0], least[0])
    if accelerated:
        cells = least[2] if need[2] <= least[2] else power_of_two(need[2], 2**31)
        return nodes, grown(need[1], least[1]), cells
    if nodes > 2**13:
        return nodes, grown(need[1], least[1]), power_of_two(need[2], least[2])
    side = nodes // least[0]  # 1, 4 or 16
    return nodes, grown(need[1], least[1] << side.bit_length() // 2), least[2] * side**2


def table_columns(nodes: int, accelerated: bool) -> int:
    """Return the number of columns of a table with a bit for each pair of nodes; it is a multiple of 32.

    On an accelerator there are two sizes for up to 2^15 nodes, which are all tables that easily fit its memory.

    Example:
      >>> table_columns(450, True), table_columns(9_000, True), table_columns(450, False)
      (8192, 32768, 512)
    """
    if accelerated and nodes <= 2**15:
        return 2**13 if nodes <= 2**13 else 2**15
    return bucket_size(max(nodes, 32) + 31) // 32 * 32


def power_of_four(x: int, least: int) -> int:
    """Return the smallest of ``least``, ``4 * least``, ``16 * least``, .. that is at least ``x``."""
    while least < x:
        least *= 4
    return least


def power_of_two(x: int, least: int = 1) -> int:
    """Return the smallest power of two that is at least ``x`` and ``least``.

    Example:
      >>> [power_of_two(x) for x in (0, 1, 2, 3, 4, 5)], power_of_two(5, 16)
      ([1, 1, 2, 4, 4, 8], 16)
    """
    return 1 << (max(x, least, 1) - 1).bit_length()


def floor_power_of_two(x: int) -> int:
    """Return the largest power of two that is at most ``x``, at least 1.

    Example:
      >>> [floor_power_of_two(x) for x in (0, 1, 2, 3, 4, 5)]
      [1, 1, 2, 2, 4, 4]
    """
    return 1 << (max(x, 1).bit_length() - 1)
