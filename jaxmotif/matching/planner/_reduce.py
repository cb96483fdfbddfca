"""The phases of a plan that look at the target: filter the domains, and measure the candidate lists they leave."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jaxmotif.arrays._bits import pack_bits
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching import _sizes as limits
from jaxmotif.matching._options import Options
from jaxmotif.matching._target import Target
from jaxmotif.matching.planner import _device, _host
from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._families import Families, FilteredDomains


def backend_of(target: Target):
    """Return the module that plans where the index of a target lies.

    Both give the same bits. ``_host``, in NumPy, compiles nothing and works in exact sizes: it wins while the pairs of
    the query times the slots of the target (a sixteenth of these, where there are labels) are below
    :func:`jaxmotif.matching._sizes.host_work`. ``_device`` compiles for each padded size and wins beyond.
    """
    return _host if target.on_host else _device


class Measures(NamedTuple):
    """Figures of the candidate lists, by which the order and the leaves are chosen (NumPy).

    Attributes:
      sizes: int64 ``[k]``, how many target nodes each domain has.
      nodes: how many target nodes are in any domain.
      often: int64 ``[k, k]``, the entries of all lists by which query node u leads to x; 0 where it does not.
      closest: int64 ``[k]``, the most candidates that each node can have once any neighbour is mapped.
      likely: float64 ``[k]``, the average length of the list that a candidate of each node is in, for the neighbour
        whose lists are shortest in this sense.
      meet: bool ``[k, k]``, which domains have a node in common.
      within: bool ``[k, k]``, which domains (rows) lie within which.
    """

    sizes: np.ndarray
    nodes: int
    often: np.ndarray
    closest: np.ndarray
    likely: np.ndarray
    meet: np.ndarray
    within: np.ndarray


class CandidateLists(NamedTuple):
    """The candidate lists, measured but not filled.

    Attributes:
      families: the families of lists, ascending by pair kind and query node.
      number: int64 ``[kinds, k]``, the number of the family of a kind and a query node.
      offsets: where the lists begin and end; the array lies where the target lies.
      totals: integers ``[J]``, the entries of each family.
      longest: integers ``[J]``, the length of the longest list of each family.
      bitmap: whether there is room for bit matrices.
      nodes: N, the capacity of the reduced target.
    """

    families: Families
    number: np.ndarray
    offsets: Any
    totals: np.ndarray
    longest: np.ndarray
    bitmap: bool
    nodes: int

    @property
    def target(self) -> Target:
        """The target between the nodes kept."""
        return self.families.target

    @property
    def count(self) -> int:
        """The number of families."""
        return int(self.families.count)

    @property
    def starts(self) -> np.ndarray:
        """The place where each family begins in the entries, and the end of the last, int64 ``[families + 1]``."""
        return np.concatenate([[0], np.cumsum(self.totals[: self.count].astype(np.int64))])


def filter_target(
    target: Target, asked: QueryConstraints, allowed: np.ndarray | None, options: Options
) -> FilteredDomains:
    """Do the second phase of a plan: filter the domains.

    Args:
      target: the index of the target.
      asked: all that the query asks.
      allowed: bool ``[k, n]``, domains to begin with, or ``None``.
      options: which filters to use, and the deadline.
    """
    words = asked.conditions.near.shape[-1]
    begin = None if allowed is None else pack_domains(allowed, words, np.asarray(target.ids))
    return backend_of(target).filter_domains(target, asked, begin, options)


def reduce_and_measure(
    target: Target, asked: QueryConstraints, kept: FilteredDomains, options: Options
) -> tuple[CandidateLists, Measures]:
    """Do the third phase of a plan: reduce the target to the nodes kept, and measure its candidate lists."""
    k, backend = asked.query.num_nodes, backend_of(target)
    # Matrices may take half of the memory given. A word has four bytes, and making them takes MAKING times as much.
    most_words = min(limits.MOST_MATRIX_WORDS, (options.memory or 2**63) // (8 * limits.MAKING))
    if target.on_host:
        nodes, slots = max(32, -(-kept.nodes // 32) * 32), kept.slots
        # A search on a CPU reads short lists as fast, and to make large matrices takes longer than the search.
        most_words = min(most_words, max(limits.HOST_MATRIX_WORDS, limits.MATRIX_WORDS_A_SLOT * slots))
    else:
        nodes, slots = power_of_four(kept.nodes, limits.LEAST_NODES), power_of_four(kept.slots, limits.LEAST_SLOTS)
    bitmap = len(asked.kinds) * nodes * (nodes // 32) <= most_words
    some = list_families(asked, bitmap)
    rows = np.zeros((len(some) if target.on_host else power_of_four(len(some), limits.LEAST_FAMILIES), 2), np.int32)
    rows[: len(some)] = some
    small, bits = backend.reduce_target(target, kept.bits, nodes=nodes, slots=slots)
    families = Families(small, bits, asked.kind_table(), rows, np.int32(len(some)))
    offsets, totals, longest, typical, meet, within = backend.measure_lists(families, options)
    number = np.zeros((len(asked.kinds), k), np.int64)
    # Padding of `rows` is no family: it would take the number of the first.
    number[tuple(some.T)] = np.arange(len(some))
    closest, likely, often = kept.sizes.copy(), np.full(k, np.inf), np.zeros((k, k))
    u, x, kind = asked.joined()
    j = number[kind, x]
    # The list of any one neighbour holds all candidates of x, so that the least of their longest lists is a bound.
    np.minimum.at(closest, x, longest[j])
    np.minimum.at(likely, x, typical[j])
    often[u, x] = totals[j]
    measured = Measures(kept.sizes, kept.nodes, often, closest, likely, meet[:k, :k], within[:k, :k])
    return CandidateLists(families, number, offsets, totals, longest, bitmap, nodes), measured


def list_families(asked: QueryConstraints, bitmap: bool) -> np.ndarray:
    """Return (pair kind, node x), integers ``[J, 2]``, of every family of lists that a search may read, ascending.

    They are the families of the query's edges and, unless there are bit matrices, those that tell which nodes are
    neighbours that must not be.
    """
    # Nodes that lead to x by pairs of one kind lead to the same lists: one family serves them all.
    wanted = np.zeros((len(asked.kinds), asked.query.num_nodes), bool)
    _, x, kind = asked.joined()
    wanted[kind, x] = True
    if not bitmap:
        at = np.nonzero(asked.non_neighbours >= 0)
        wanted[asked.non_neighbours[at], at[2]] = True
    return np.argwhere(wanted)


def pack_domains(allowed: np.ndarray, words: int, ids: np.ndarray) -> np.ndarray:
    """Return bool ``[k, n]`` as uint32 ``[W, N]``, of the nodes in the order of ``ids``, padding last."""
    k, n = allowed.shape
    bits = np.zeros((len(ids), 32 * words), bool)
    bits[:n, :k] = allowed[:, ids[:n]].T
    return np.ascontiguousarray(pack_bits(bits).T)
