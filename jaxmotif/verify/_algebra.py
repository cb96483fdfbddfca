"""Numbers of maps of a query that send its first node to each node of a graph, modulo 2^61 - 1, without a search.

The number of injective maps is a signed sum of numbers of homomorphisms, each of the query with some of its nodes
merged into blocks. Homomorphisms are counted by dynamic programming: partial maps that agree on all blocks that still
matter are one row of a table.
"""

from collections import Counter
from itertools import combinations, pairwise, permutations

import numpy as np

from ._certificate import ANY, Beyond, need, need_time
from ._graph import SimpleGraph
from ._modular import P, add_groups, multiply

# Limits of the terms of the sum, of the rows of a table, and how many rows are made at a time.
MOST_TERMS, MOST_ROWS, CHUNK = 2**15, 2**23, 2**20

# A key larger than that of any pair of nodes. It stands last among sorted keys, so that a binary search for any pair
# ends at an entry.
NO_PAIR = 2**63 - 1


def count_at_root(shape: dict, order: list, graph: SimpleGraph, induced: bool, deadline: float, weights: list):
    """Return how many injective maps send the first query node to each node of the graph, modulo P, uint64 ``[n]``.

    Args:
      shape: the query as a certificate describes it.
      order: the query nodes in the order in which they are mapped, on which time and memory depend.
      graph: the graph in which the query is looked for.
      induced: whether the images of nodes that are not joined in the query must not be joined in the graph.
      deadline: when to stop, by ``time.process_time``.
      weights: residues ``[n]`` for each of the first query nodes, perhaps none. A map counts as the product of the
        weights of the images of these nodes.

    Raises:
      Refused: the shape has labels that the graph does not have, or ``order`` is no order of its nodes.
      Beyond: the count would pass the limits of memory or time.
    """
    _, matrix = graph.shape(shape, ANY)
    need(sorted(order) == [*range(len(matrix))][:16], "the order is none of the nodes of a query of at most 16")
    vectors = [((graph.label_numbers == row[u]) | (row[u] == ANY)).astype(np.uint64) for u, row in enumerate(matrix)]
    vectors[: len(weights)] = [vector * weight for vector, weight in zip(vectors, weights, strict=False)]
    # For each pair of joined query nodes, the keys of the pairs of graph nodes that they may be mapped to. Pairs of
    # query nodes with the same arcs share one array.
    joined, keys = {}, np.append(graph.sources * graph.nodes + graph.targets, NO_PAIR)
    back, there = np.divmod(np.append(graph.state, 0), graph.states)
    asked = {(matrix[u][v], matrix[v][u]) for u, v in permutations(range(len(matrix)), 2)}
    fitting = {(a, b): keys[_fits(there, a, induced) & _fits(back, b, induced) | (keys == NO_PAIR)] for a, b in asked}
    for u, v in permutations(range(len(matrix)), 2):
        if matrix[u][v] or matrix[v][u]:
            joined[u, v] = fitting[matrix[u][v], matrix[v][u]]
    total = np.zeros(graph.nodes, np.uint64)
    for (blocks, also), factor in _terms(len(matrix), joined, induced).items():
        links = joined | {pair: keys for u, v in also for pair in ((u, v), (v, u))}
        maps = _count_homomorphisms(graph.nodes, links, blocks, [blocks[u] for u in order], vectors, deadline)
        total = (total + multiply(maps, np.uint64(factor % P))) % np.uint64(P)
    return total


def _fits(numbers: np.ndarray, wanted: int, induced: bool) -> np.ndarray:
    """Return which numbers of arcs fit the wanted one; where no arc is wanted, any fits unless ``induced``."""
    return numbers > 0 if wanted == ANY else (numbers == wanted) | (wanted == 0 and not induced)


def _terms(size: int, joined: dict, induced: bool) -> dict:
    """Return the terms of the signed sum: a factor for each query made by merging and joining nodes.

    Two nodes that are not joined in the query must have different images and, if induced, images that are not joined.
    A sum over maps with any two images is too large by the sum in which the nodes are merged and, if induced, by the
    sum in which they are joined. Each term is identified by the block of each node and the pairs that were joined.
    """
    terms = Counter({(tuple(range(size)), frozenset()): 1})
    for u, v in (pair for pair in combinations(range(size), 2) if pair not in joined):
        for (blocks, also), factor in list(terms.items()):
            # If the two nodes are merged already, this subtracts the term from itself.
            both = blocks[u], blocks[v]
            terms[tuple(min(both) if block in both else block for block in blocks), also] -= factor
            if induced:
                terms[blocks, also | {(u, v)}] -= factor
        # No node is joined to itself.
        kept = [(blocks, also) for blocks, also in terms if all(blocks[x] != blocks[y] for x, y in [*joined, *also])]
        terms = Counter({term: terms[term] for term in kept if terms[term]})
        need(len(terms) <= MOST_TERMS, "the query has too many pairs of nodes that are not joined", Beyond)
    return terms


def _count_homomorphisms(n: int, joined: dict, blocks: tuple, order: list, vectors: list, deadline: float):
    """Return how many homomorphisms of the merged query send the first block to each of the n nodes of the graph.

    Args:
      n: the number of nodes.
      joined: for each pair of joined query nodes, the keys of the pairs of graph nodes that they may be mapped to.
      blocks: the block of each query node.
      order: the blocks in the order in which they are mapped; a block that occurs again is ignored.
      vectors: for each query node, the value of each graph node as its image.
      deadline: when to stop.
    """
    arcs, values_of = {}, {}
    for (u, v), keys in joined.items():
        pair = blocks[u], blocks[v]
        arcs[pair] = np.intersect1d(arcs[pair], keys, assume_unique=True) if pair in arcs else keys
    for block, vector in zip(blocks, vectors, strict=True):
        values_of[block] = multiply(values_of.get(block, np.uint64(1)), vector)
    order, names, rows, values = [*dict.fromkeys(order)], [], np.zeros((1, 0), np.int64), np.ones(1, np.uint64)
    for done, x in enumerate(order, 1):
        near = [(arcs[y, x], rows[:, i]) for i, y in enumerate(names) if (y, x) in arcs]
        later = [y for y in order[:done] if y == blocks[0] or any((y, z) in arcs for z in order[done:])]
        columns, names = [[*names, x].index(y) for y in later], later
        rows, values = _place(n, near, rows, values, values_of[x], columns, deadline)
    result = np.zeros(n, np.uint64)
    result[rows[:, 0]] = values
    return result


def _place(n: int, near: list, rows: np.ndarray, values: np.ndarray, vector, columns: list, deadline: float) -> tuple:
    """Map one more block in every way, and add up the rows that agree in the blocks that matter later.

    Args:
      n: the number of nodes of the graph.
      near: for each mapped block to which the new block is joined: the keys of the pairs of nodes that the two may be
        mapped to, and the images of the mapped block in ``rows``.
      rows: the images of the mapped blocks that still matter; no two rows are equal.
      values: the sum of the values of the maps that each row stands for.
      vector: the value of each graph node as the image of the new block.
      columns: the columns of the new table, as numbers of columns of ``rows``, behind which the new block stands.
      deadline: when to stop.
    """
    need(n ** len(columns) < NO_PAIR, "the query needs a table of too many columns", Beyond)
    # A block that is joined to no mapped block may be mapped to any node, as if every node were joined to node 0.
    (keys, first), *others = near or [(np.arange(n), np.zeros(len(rows), np.int64))]
    starts, stops = np.searchsorted(keys, [first * n, first * n + n])
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(stops - starts)])
    parts = [(np.zeros((0, len(columns)), np.int64), values[:0])]
    cuts = np.searchsorted(ends, np.arange(0, int(ends[-1]), CHUNK))
    for low, high in pairwise(np.unique([0, *cuts, len(rows)]).tolist()):
        row = np.repeat(np.arange(low, high), np.diff(ends[low : high + 1]))
        image = keys[np.arange(int(ends[low]), int(ends[high])) + (starts - ends[:-1])[row]] % n
        for pairs, images in others:
            key = images[row] * n + image
            there = pairs[np.searchsorted(pairs, key)] == key
            row, image = row[there], image[there]
        table = np.concatenate([rows[row], image[:, None]], axis=1)[:, columns]
        parts.append(_add_equal(n, table, multiply(values[row], vector[image])))
        need_time(deadline)
        need(sum(len(part) for _, part in parts) <= MOST_ROWS, "the query needs a table of too many rows", Beyond)
    return _add_equal(n, *(np.concatenate(part) for part in zip(*parts, strict=True)))


def _add_equal(n: int, rows: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Add up the values of equal rows, and leave out those of value 0."""
    keys = rows @ (n ** np.arange(rows.shape[1]))
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    values = add_groups(values[order], starts)
    return rows[order[starts]][values > 0], values[values > 0]
