"""Searches that tell how often target nodes, or edges, take each part in a match, and what each of them adds up.

A *part* is a query node, or a query edge as a pair of nodes. A target node, or edge, takes all parts that automorphisms
of the query exchange equally often, so that one part of an orbit is enough. Of all maps that a group F of automorphisms
exchanges, a search finds one. Over all maps, a part p is then taken

    |F| / |F p|  times as often as all parts of its orbit F p  in the maps found.

The images of nodes that are searched stand in the rows of the search. A leaf may have a single neighbour, and compete
for nodes with its twins alone. Then it takes each of its candidates equally often, and the counts of its neighbour say
how often. Any other leaf is searched too, after all core nodes, while the remaining leaves are still counted in closed
form; there is one search for each orbit of such leaves. So the work is that of finding the matches of the core and one
leaf, however many matches of the whole query there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxmotif.graph import Graph
from jaxmotif.matching._options import Options
from jaxmotif.matching.planner._ask import QueryConstraints
from jaxmotif.matching.planner._leaves import LeafPlan
from jaxmotif.matching.planner._order import SearchOrder, colors_of
from jaxmotif.matching.planner._placements import Layout
from jaxmotif.matching.planner._reduce import Measures
from jaxmotif.patterns import Pattern, stabilizer_chain
from jaxmotif.patterns._roles import place_orbits, places_of
from jaxmotif.search._layout import Operands, PairWords, TallyWords

Part = tuple[int, ...]


class Orbit(NamedTuple):
    """Parts that automorphisms exchange.

    Attributes:
      parts: all parts of the orbit.
      added: the parts that a search adds up, an orbit of the automorphisms that the search leaves out.
    """

    parts: list[Part]
    added: list[Part]


class Tallied(NamedTuple):
    """A search, and the parts that it adds up."""

    order: SearchOrder
    orbits: list[Orbit]


class Cells(NamedTuple):
    """The place of the cells of a part in the tally.

    Attributes:
      base: the first cell. A node has one for each target node, an edge one for each entry of its lists.
      place: where the lists of an edge begin in the offsets; -1 for a node that is searched.
      turned: whether the lists lead from the second node of the edge to the first.
      evenly: whether the part is of a leaf that takes all candidates equally often. Then the cells are those of its
        neighbour, whose lists hold the candidates.
    """

    base: int
    place: int = -1
    turned: bool = False
    evenly: bool = False


def choose_tallied_orders(
    asked: QueryConstraints, order: SearchOrder, measured: Measures, options: Options, allowed: np.ndarray | None
) -> list[Tallied]:
    """Return the searches that find what is asked, and the parts that each adds up.

    Without a tally there is one search, which counts the matches. With a tally there may be several, which together
    find all counts. If some of them are for leaves, a search that only counts the matches comes before them.

    Args:
      asked: all that the query asks.
      order: the order of the search that counts.
      measured: figures of the candidate lists.
      options: what is asked for.
      allowed: bool ``[k, n]``, given domains: only nodes with the same may be exchanged.
    """
    if options.tally is None:
        return [Tallied(order, [])]
    query, leaves = asked.query, order.leaves.nodes
    colors = colors_of(allowed)
    # Parts that any automorphism exchanges have equal counts, so that one count serves a whole orbit.
    whole = [[part] for part in options.parts or ()]
    if not whole:
        parts = places_of(query, options.tally)
        whole = place_orbits(query, parts, stabilizer_chain(asked.shape, colors=colors).generators)
    even = find_even_leaves(query, order, measured)
    # The group F has the automorphisms that the search leaves out, none of which moves a leaf.
    mine = []
    if options.search.symmetry:
        mine = stabilizer_chain(asked.shape, [*order.core, *leaves], leaves, colors).generators

    def cost(small: list[Part]) -> tuple[bool, bool, int]:
        return bool({*small[0]} & searched_last), bool({*small[0]} & even), len(small)

    searched_last = {*leaves} - even
    by_leaf: dict[int | None, list[Orbit]] = {}
    for orbit in whole:
        # Any part of the orbit will do. A searched one costs least, then one of a leaf that takes candidates evenly.
        chosen = min(place_orbits(query, orbit, mine), key=cost)
        leaf = next(iter({*chosen[0]} & searched_last), None)  # shared by all, as F moves no leaf
        by_leaf.setdefault(leaf, []).append(Orbit(orbit, chosen))
    searched = by_leaf.pop(None, [])
    if not by_leaf:
        return [Tallied(order, searched)]
    counting = Tallied(order, [])
    found = [Tallied(search_leaf_last(order, leaf), parts) for leaf, parts in by_leaf.items() if leaf is not None]
    # What needs no leaf searched is added up by the first of these searches, not by the count before them.
    found[0].orbits.extend(searched)
    return [counting, *found]


def search_leaf_last(order: SearchOrder, leaf: int) -> SearchOrder:
    """Return the order with a leaf searched after all others, and one leaf fewer."""
    groups = [[x for x in group if x != leaf] for group in order.leaves.groups]
    groups = [group for group in groups if group]
    leaves = LeafPlan(groups, order.leaves.inside, order.leaves.limbs if groups else 0)
    return order._replace(core=[*order.core, leaf], leaves=leaves)


def find_even_leaves(query: Pattern, order: SearchOrder, measured: Measures) -> set[int]:
    """Return the leaves that take all of their candidates equally often.

    Such a leaf has one neighbour, no node that is searched can take one of its candidates, and only its twins compete
    with it.
    """
    found = set()
    core = np.array(order.core)
    for group in order.leaves.groups:
        near = query.neighbors[group[0]]
        # Its neighbours cannot be its candidates, as no node is its own neighbour.
        rivals = measured.meet[core, group[0]] & ~near[core]
        alike = all(order.leaves.holds(x, group) for x in group)
        if alike and near.sum() == 1 and not rivals.any():
            found.update(group)
    return found


class TallyPlan(NamedTuple):
    """The sums of a search to be made.

    Attributes:
      tallies: the sums, as the program of the search says them.
      orbits: all parts of each orbit, and the cells of the parts that are added up.
      size: the number of cells.
    """

    tallies: list[TallyWords]
    orbits: list[tuple[list[Part], list[Cells]]]
    size: int


NO_TALLY = TallyPlan([], [], 0)


def lay_out(tallied: Tallied, layout: Layout) -> TallyPlan:
    """Plan the sums of a search: what its program adds up, in which cells, and how many cells there are.

    Raises:
      ValueError: for more cells than int32 can number.
    """
    lists, tallies = layout.lists, list[TallyWords]()
    bases: dict[Part, int] = {}
    size = 0

    def place(part: Part) -> Cells:
        leaf = next((u for u in part if u not in layout.position), None)
        if leaf is not None:
            return beside(part, leaf)
        if len(part) == 1:
            return Cells(room(part, lists.nodes))
        # Lists lead from the node placed earlier.
        a, b = sorted(part, key=layout.position.__getitem__)
        pair, family = layout.pair(a, b), lists.number[layout.asked.which[a, b], b]
        base = room(part, int(lists.totals[family]), int(lists.starts[family]), pair)
        return Cells(base, pair.list, turned=(a, b) != part)

    def beside(part: Part, leaf: int) -> Cells:
        [near] = np.flatnonzero(layout.asked.which[leaf] >= 0).tolist()
        # Its cells are those of its neighbour, which several leaves may share.
        base = room((near,), lists.nodes)
        return Cells(base, layout.pair(near, leaf).list, turned=(near, leaf) != part, evenly=True)

    def room(part: Part, cells: int, first: int = 0, pair: PairWords | None = None) -> int:
        """Return the first cell of a part; a part that is asked for again has the same cells."""
        nonlocal size
        if part not in bases:
            bases[part] = size
            position = max(layout.position[u] for u in part)
            # Entries are numbered over all families. With this base the first entry of this family has the first cell.
            of, lists = (-1, -1) if pair is None else (pair.slot, pair.list)
            tallies.append(TallyWords(position, lists, of, size - first))
            size += cells
        return bases[part]

    cells = [(orbit.parts, [place(part) for part in orbit.added]) for orbit in tallied.orbits]
    if size >= 2**31:
        raise ValueError(f"{len(tallies)} query edges have {size} candidate edges, over the limit of {2**31 - 1}")
    return TallyPlan(tallies, cells, size)


class Found(NamedTuple):
    """The sums that a search made.

    Attributes:
      tally: int64, the cells.
      operands: the operands of the search.
      ids: int ``[nodes]``, the node of the target that each node of the reduced target is.
    """

    tally: np.ndarray
    operands: Operands
    ids: np.ndarray

    def at(self, cells: Cells) -> np.ndarray:
        """Return the counts of a part, one for each node of the reduced target."""
        return self.tally[cells.base : cells.base + len(self.ids)]

    def lists(self, cells: Cells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the ends of the entries of a part's lists, first and second node, and the count of each."""
        offsets = np.asarray(self.operands.offsets[cells.place : cells.place + len(self.ids) + 1])
        heads = np.asarray(self.operands.entries[int(offsets[0]) : int(offsets[-1])])
        lengths = np.diff(offsets)
        if cells.evenly:
            # Each candidate takes it equally often: the division is exact.
            counts = np.repeat(self.at(cells) // np.maximum(lengths, 1), lengths)
        else:
            counts = self.tally[cells.base : cells.base + len(heads)]
        return self.ids[np.repeat(np.arange(len(self.ids)), lengths)], self.ids[heads], counts

    def by_node(self, cells: Cells, target: Graph) -> np.ndarray:
        """Return the counts of a part that is a node, int64 ``[n]``."""
        nodes, counts = (self.ids, self.at(cells)) if cells.place < 0 else self.lists(cells)[1:]
        found = np.zeros(target.n, np.int64)
        # A node may be a candidate in many lists: each of its counts is added.
        np.add.at(found, nodes, counts)
        return found

    def by_edge(self, cells: Cells, target: Graph) -> np.ndarray:
        """Return the counts of a part that is an edge, int64 ``[m]``."""
        tails, heads, counts = self.lists(cells)
        ends = np.stack([heads, tails] if cells.turned else [tails, heads], axis=1)
        found = np.zeros(target.m, np.int64)
        np.add.at(found, target._edge_rows(ends), counts)
        return found
