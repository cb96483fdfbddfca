"""The phases of a plan that look at the target: filter the domains, and measure the candidate lists they leave.

Both run on the device or, for small targets, in NumPy (:mod:`jaxmotif.matching._host`); each waits for the device
once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxmotif.arrays._bits import pack_bits
from jaxmotif.arrays._sizes import power_of_four
from jaxmotif.matching import _candidates as on_device
from jaxmotif.matching import _domains as domains
from jaxmotif.matching import _host as on_host
from jaxmotif.matching._candidates import Reduced
from jaxmotif.matching._conditions import Asked
from jaxmotif.matching._options import Options
from jaxmotif.matching._sizes import HOST_MATRIX_WORDS, MAKING, MATRIX_WORDS_A_SLOT, MOST_MATRIX_WORDS, PlanSizes
from jaxmotif.matching._target import Target

Waiting = Generator[tuple[str, Any], Any, Any]
"""A phase that yields its name and the arrays it needs on the host, and is sent them."""


class Forms(NamedTuple):
    """The functions of one home of the target: alike in what they take and return."""

    filter_domains: Callable[..., Any]
    reduce_target: Callable[..., Any]
    measure_lists: Callable[..., Any]
    fill_lists: Callable[..., Any]
    bit_matrices: Callable[..., Any]
    number_nodes: Callable[..., Any]
    bit_rows: Callable[..., Any]


ON_DEVICE = Forms(domains.filter_domains, *(getattr(on_device, name) for name in Forms._fields[1:]))
ON_HOST = Forms(*(getattr(on_host, name) for name in Forms._fields))


class Kept(NamedTuple):
    """What the filters leave.

    Attributes:
      bits: the domains, uint32 ``[W, N]`` where the target lies.
      sizes: int64 ``[k]``, of the domains.
      nodes, slots: of the target, in any domain and between such nodes.
    """

    bits: Any
    sizes: np.ndarray
    nodes: int
    slots: int

    @property
    def empty(self) -> bool:
        """Whether some node can be mapped nowhere, or all to fewer nodes than they are: there is no match then."""
        return self.sizes.min() == 0 or self.nodes < len(self.sizes)


class Measures(NamedTuple):
    """What the order and the leaves are chosen by (NumPy).

    Attributes:
      sizes: int64 ``[k]``, of the domains; nodes: in any of them.
      often: int64 ``[k, k]``: entries of the lists by which node u leads to x, 0 where it does not.
      closest: int64 ``[k]``: candidates of each node at most, given any neighbour.
      likely: float64 ``[k]``: candidates that a candidate of each node is one of, given a neighbour, on average.
      meet, within: bool ``[k, k]``: which domains have a node in common; which (rows) lie within which.
    """

    sizes: np.ndarray
    nodes: int
    often: np.ndarray
    closest: np.ndarray
    likely: np.ndarray
    meet: np.ndarray
    within: np.ndarray


class Lists(NamedTuple):
    """The candidate lists, measured but not filled.

    Attributes:
      forms, reduced: the target between the nodes kept, and the functions of its home.
      kinds: int32 ``[C, 6]``, padded.
      families: (pair kind, query node) of each family of lists, ascending; rows: the same, int32 ``[J, 2]``, padded.
      number: int64 ``[kinds, k]``, of the family of a kind and node.
      offsets: of the lists, where the target lies. totals, longest: integers ``[J]``, entries and longest list.
      bitmap: whether there is room for bit matrices.
      nodes: N, the capacity of the reduced target.
    """

    forms: Forms
    reduced: Reduced
    kinds: np.ndarray
    families: list[tuple[int, int]]
    rows: np.ndarray
    number: np.ndarray
    offsets: Any
    totals: np.ndarray
    longest: np.ndarray
    bitmap: bool
    nodes: int

    @property
    def starts(self) -> np.ndarray:
        """Where each family begins in the entries, and the end of the last, int64 ``[families + 1]``."""
        return np.concatenate([[0], np.cumsum(self.totals[: len(self.families)].astype(np.int64))])


def filtered(target: Target, asked: Asked, allowed: np.ndarray | None, options: Options) -> Waiting:
    """The second phase: the domains, as :class:`Kept`.

    Args:
      allowed: bool ``[k, n]``, domains to begin with, or ``None``.
    """
    forms = ON_HOST if target.on_host else ON_DEVICE
    words = asked.conditions.near.shape[-1]
    begin = None if allowed is None else domain_words(allowed, words, np.asarray(target.ids))
    labelled = asked.query.node_labels is not None and target.node_labels is not None
    conditions = asked.conditions
    if not target.on_host:  # sent once a query, in one piece
        (device,) = target.offsets.devices()
        conditions = asked.query.known(
            ("conditions", options.induced, options.wildcard, device), lambda: jax.device_put(conditions, device)
        )
    filters = options.chosen_filters(labelled)
    while True:
        bits, *counts = forms.filter_domains(target, conditions, begin, filters=filters, deadline=options.deadline)
        sizes, left = yield "filter", tuple(counts)
        if left[2]:
            break
        options.deadline.check()
        begin = bits  # domains only shrink: the next call goes on where this one stopped
    # Padded query nodes have empty domains, which say nothing.
    return Kept(bits, sizes[: asked.query.num_nodes].astype(np.int64), int(left[0]), int(left[1]))


def reduced(target: Target, asked: Asked, kept: Kept, options: Options, sizes: PlanSizes) -> Waiting:
    """The third phase: the target between the nodes kept, and how long its candidate lists are, as :class:`Lists` and
    :class:`Measures`."""
    k, kinds = asked.query.num_nodes, asked.kind_table()
    if target.on_host:
        forms, nodes = ON_HOST, max(32, -(-kept.nodes // 32) * 32)  # whole words of bit matrices
    else:
        # In few sizes, since all that follows compiles for them.
        forms, nodes = ON_DEVICE, power_of_four(kept.nodes, sizes.nodes)
    small = forms.reduce_target(target, kept.bits, nodes=nodes, slots=power_of_four(kept.slots, sizes.slots))
    # At most half of the memory given: a word has four bytes, and to make matrices takes MAKING times what they are.
    most_words = min(MOST_MATRIX_WORDS, (options.memory or 2**63) // (8 * MAKING))
    if target.on_host:  # there a search reads short lists as fast, and to make large matrices takes longer than it
        most_words = min(most_words, max(HOST_MATRIX_WORDS, MATRIX_WORDS_A_SLOT * kept.slots))
    bitmap = len(asked.kinds) * nodes * (nodes // 32) <= most_words
    families = list_families(asked, bitmap)
    # NumPy compiles nothing: no padding there.
    room = len(families) if target.on_host else power_of_four(len(families), sizes.families)
    rows = np.zeros((room, 2), np.int32)
    rows[: len(families)] = np.array(families, np.int32).reshape(-1, 2)
    found = forms.measure_lists(small, kinds, rows, np.int32(len(families)), deadline=options.deadline)
    totals, longest, typical, meet, within = yield "reduce", found[1:]
    number = np.zeros((len(asked.kinds), k), np.int64)
    # Padding of `rows` is no family: it would take the number of the first.
    number[tuple(rows[: len(families)].T)] = np.arange(len(families))
    lists = Lists(forms, small, kinds, families, rows, number, found.offsets, totals, longest, bitmap, nodes)
    return lists, measures(asked, kept, lists, typical, meet[:k, :k], within[:k, :k])


def list_families(asked: Asked, bitmap: bool) -> list[tuple[int, int]]:
    """(pair kind, node x) of every family of lists that a search may read: those of the query's edges, and those that
    say which nodes are strangers, unless bit matrices do."""
    # Nodes that lead to x by pairs of one kind lead to the same lists: one family serves them all.
    wanted = np.zeros((len(asked.kinds), asked.query.num_nodes), bool)
    _, x, kind = asked.joined()
    wanted[kind, x] = True
    if not bitmap:
        at = np.nonzero(asked.strangers >= 0)
        wanted[asked.strangers[at], at[2]] = True
    return [(kind, x) for kind, x in np.argwhere(wanted).tolist()]


def measures(
    asked: Asked, kept: Kept, lists: Lists, typical: np.ndarray, meet: np.ndarray, within: np.ndarray
) -> Measures:
    """What the lists say of each query node."""
    k = asked.query.num_nodes
    closest, likely, often = kept.sizes.copy(), np.full(k, np.inf), np.zeros((k, k))
    u, x, kind = asked.joined()
    j = lists.number[kind, x]
    # Any neighbour's list holds all of x's candidates: the shortest of the longest bounds them.
    np.minimum.at(closest, x, lists.longest[j])
    np.minimum.at(likely, x, typical[j])
    often[u, x] = lists.totals[j]
    return Measures(kept.sizes, kept.nodes, often, closest, likely, meet, within)


def domain_words(allowed: np.ndarray, words: int, ids: np.ndarray) -> np.ndarray:
    """Bool ``[k, n]`` as uint32 ``[W, N]``, of the nodes in the order of ``ids``, padding last."""
    k, n = allowed.shape
    bits = np.zeros((len(ids), 32 * words), bool)
    bits[:n, :k] = allowed[:, ids[:n]].T
    return np.ascontiguousarray(pack_bits(bits).T)
