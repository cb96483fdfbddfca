"""The course of a check: what is compared with what, and what follows from it."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from math import comb

import numpy as np

from ._algebra import Query, TooMuch
from ._certificate import FORMAT, Refused, check_form, need, read_certificate, seed_of
from ._direct import Neighbourhoods
from ._formulas import count_around_nodes, count_subgraphs
from ._graph import SimpleGraph
from ._modular import P, digest, exact_sum, random_rows, random_weights, weighted_sums
from ._shapes import Shape, canonical, copies, is_connected, orbit_size, shapes_of_four, unrooted

ROWS = {
    "edge_graphlets": "edges",
    "node_orbits": "nodes",
    "subgraph_census": "nodes",
    "count_matches": None,
    "graphlet_counts": None,
    "find_matches": None,
}
"""What the rows of each job's table are."""

ALMOST = "1 - 2^-60"
"""Least probability with which a sum with random weights tells two tables apart."""

_ALL = {2: 2, 3: 4, 4: 11, 5: 34}
"""Number of graphs with so many nodes."""


@dataclass
class Report:
    """Findings of a check.

    Attributes:
      accepted: whether something was checked, and all of it holds.
      reason: what does not hold, if anything.
      checked: statements, each with the probability with which it would have been refused if it were wrong.
      open: what is not checked.
      names: what the names in statements mean: the edges of a small graph, whose first nodes are the root.
    """

    accepted: bool
    reason: str = ""
    checked: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        if not self.accepted:
            return f"refused: {self.reason}"
        lines = [f"checked: {text}\n    (if wrong, refused with probability {p})" for text, p in self.checked.items()]
        lines += [f"not checked: {text}" for text in self.open]
        return "\n".join([*lines, *(f"here {name} is {meaning}" for name, meaning in self.names.items()), "accepted"])


def check(
    certificate: str | os.PathLike | dict, graph: SimpleGraph, answer: np.ndarray | None = None, seconds: float = 60.0
) -> Report:
    """Check a certificate against a graph.

    Args:
      certificate: the path of the file, or what is in it.
      graph: the graph, from :func:`graph_from_edges` or :func:`read_edge_list`.
      answer: the table that the certificate is about, integers ``[rows, columns]``, if it is at hand.
      seconds: about how much CPU time the check may take. What it has not finished by then stays open.

    Raises:
      OSError: the file cannot be read.
    """
    try:
        if isinstance(certificate, dict):
            check_form(certificate)
        else:
            certificate = read_certificate(os.fspath(certificate))
        return _Check(certificate, graph, answer, seconds).run()
    except Refused as refused:
        return Report(False, str(refused))
    except (ValueError, LookupError, OverflowError) as error:  # lists that do not fit each other, and the like
        return Report(False, f"the parts of the certificate do not fit each other ({error})")


class _Check:
    def __init__(self, certificate: dict, graph: SimpleGraph, answer: np.ndarray | None, seconds: float):
        need(certificate["format"] == FORMAT, f"the format is not {FORMAT!r}")
        self._claim, self._prints, self._drawn = (certificate[part] for part in ("claim", "fingerprints", "witnesses"))
        described, self._answer, self._report = certificate["graph"], answer, Report(True)
        self._start, self._deadline = time.process_time(), time.process_time() + seconds
        self._graph = graph.reduced(described)
        own = self._graph.described()
        need(own == described, f"the certificate is of another graph than this one, which is {own}")
        need(self._claim["job"] in ROWS, "the job is unknown")
        rows = own.get(ROWS[self._claim["job"]], 0)
        need(self._claim["rows"] == rows, "the table has not a row for each edge or node")
        self._plain = not (own["directed"] or own["node_labels"] or own["edge_labels"])
        self._seed = seed_of(certificate)
        self._weights = random_weights(self._seed, "rows", rows)

    def run(self) -> Report:
        self._check_answer()
        if self._claim["job"] in ("count_matches", "find_matches"):
            known = len(self._report.checked)
            self._check_maps()
            need(len(self._report.checked) > known, f"nothing could be checked: {'; '.join(self._report.open)}")
            return self._report
        columns, shapes = self._shapes("columns"), self._shapes("shapes")
        self._counts = dict(zip(shapes, self._claim["counts"], strict=True))
        self._sums = dict(zip(columns, self._claim["sums"], strict=True))
        self._prints = dict(zip(columns, self._prints, strict=True))
        self._names, self._proved = columns | shapes, set()
        self._numbers: dict[Shape, np.ndarray] = {}
        roots = {2} if ROWS[self._claim["job"]] == "edges" else {0} if self._claim["job"] == "subgraph_census" else {1}
        need({s[0] for s in shapes} <= {0} and {s[0] for s in columns} <= roots, "roots are not those of the job")
        self._check_sums()
        if self._plain:
            self._check_relations()
        self._check_rows()
        for what, named, chance in (("the counts of", shapes, "1"), ("each value of column", columns, ALMOST)):
            proved = [name for shape, name in named.items() if shape in self._proved]
            if proved:
                self._report.checked[f"{what} {', '.join(proved)}"] = chance
            if len(proved) < len(named):
                others = ", ".join(name for name in named.values() if name not in proved)
                self._report.open.append(f"{what} {others}, beyond this")
        return self._report

    def _shapes(self, part: str) -> dict[Shape, str]:
        """Return the shapes of a part of the claim, and their names."""
        shapes = {}
        for described in self._claim[part]:
            need(time.process_time() < self._deadline, "the time was over before all shapes were read")
            shapes[canonical(self._graph.shape(described), self._graph.directed)] = described["name"]
            self._report.names[f"{part[:-1]} {described['name']}"] = self._graph.meaning(described)
        need(len(shapes) == len(set(shapes.values())) == len(self._claim[part]), f"two {part} have one meaning or name")
        return shapes

    def _check_answer(self) -> None:
        """Compare the table that the user has with what the certificate says of it."""
        if self._answer is None:
            if self._claim["rows"]:
                self._report.open.append(f"whether your table is the one with SHA-256 {self._claim['sha256']}")
            return
        need(self._answer.shape == (self._claim["rows"], len(self._claim["sums"])), "the answer has another shape")
        need(digest(self._answer) == self._claim["sha256"], "the answer is not the table of the certificate")
        need(weighted_sums(self._weights, self._answer) == self._prints, "the answer has other fingerprints")
        self._report.checked["your table is the one of the certificate, by its SHA-256"] = "1"

    def _check_sums(self) -> None:
        """Compare the counts of each size with the number of node sets, and the sums of columns with the counts."""
        for size, number in _ALL.items() if self._plain and self._claim["induced"] else ():
            counts = [count for shape, count in self._counts.items() if len(shape[2]) == size]
            complete = len(counts) == number
            need(
                not complete or sum(counts) == comb(self._graph.nodes, size), f"graphlets of {size} nodes: not all sets"
            )
        for shape, total in self._sums.items():
            whole, times = unrooted(shape, self._graph.directed), orbit_size(shape, self._graph.directed)
            right = total == times * self._counts.get(whole, -1)
            need(right, f"the sum of column {self._names[shape]} is not {times} times the count in the graph")
        if self._sums:
            self._report.checked[f"the sums of all {len(self._sums)} columns agree with the counts"] = "1"

    def _check_relations(self) -> None:
        """Compare sums of columns with numbers of subgraphs: in the whole graph, then for random weights of rows."""
        around = count_around_nodes(self._graph, self._start + 0.6 * (self._deadline - self._start))
        numbers = count_subgraphs(self._graph, around)
        wholes = {shape: unrooted(shape, False) for shape in shapes_of_four(2)}
        sums = {c: orbit_size(c, False) * self._counts[w] for c, w in wholes.items() if w in self._counts}
        held, fixed = self._relate(numbers[2], sums, None)
        self._report.checked[f"{held} relations between the counts and the graph"] = "1"
        self._prove_counts({wholes[shape] for shape in fixed})
        self._numbers = numbers.get(next(iter(self._prints), (0,))[0], {})
        if self._numbers:
            held, fixed = self._relate(self._numbers, self._prints, self._weights)
            self._report.checked[f"{held} relations between columns and the graph, in each row"] = ALMOST
            self._proved |= fixed
        if self._numbers and self._answer is not None:
            weights = random_weights(os.urandom(32), "rows", len(self._answer))
            own = weighted_sums(weights, self._answer)
            self._relate(self._numbers, dict(zip(self._prints, own, strict=True)), weights)
            self._report.checked["the same of your table, with weights that nobody could foresee"] = ALMOST

    def _relate(
        self, numbers: dict[Shape, np.ndarray], sums: dict[Shape, int], weights: np.ndarray | None
    ) -> tuple[int, set[Shape]]:
        """Check the relations of which all columns are there; return how many, and the columns that they determine.

        Args:
          numbers: the numbers of subgraphs, induced or not, at each row.
          sums: the sum of each column over the rows.
          weights: of the rows; None for ones, and then sums are compared as whole numbers.
        """
        parts: dict[Shape, dict[Shape, int]] = {}
        for small in numbers:
            times = {large: copies(small, large) for large in shapes_of_four(small[0])}
            parts[small] = {c: k for c, k in times.items() if k} if self._claim["induced"] else {small: 1}
        usable = [small for small in numbers if parts[small].keys() <= sums.keys()]
        if weights is None:
            totals = [exact_sum(numbers[small]) for small in usable]
        else:
            totals = weighted_sums(weights, np.array([numbers[small] for small in usable]).reshape(-1, len(weights)).T)
        for small, total in zip(usable, totals, strict=True):
            difference = total - sum(k * sums[c] for c, k in parts[small].items())
            name = self._names.get(small) or self._names.get(unrooted(small, False), "a graphlet")
            right = difference == 0 if weights is None else difference % P == 0
            need(right, f"subgraphs like {name} are not as many as the certificate says")
        return len(usable), {small for small in usable if parts[small].keys() <= set(usable)}

    def _prove_counts(self, shapes: set[Shape]) -> None:
        """Note that counts are proved, and the last count of its size, since the sum of all of them is right."""
        for size, number in _ALL.items() if self._plain and self._claim["induced"] else ():
            same = {shape for shape in self._counts if len(shape[2]) == size}
            shapes = shapes | same if len(same) == number and len(same - shapes - self._proved) == 1 else shapes
        self._proved |= shapes

    def _check_rows(self) -> None:
        """Recount rows by listing the sets around them: those drawn, and all if that is needed and there is time."""
        wanted = [shape for shape in self._sums or self._counts if is_connected(shape) and len(shape[2]) > 1]
        if not wanted or not self._graph.nodes:
            return
        near = Neighbourhoods(self._graph, {len(shape[2]) for shape in wanted})
        roots = self._graph.edges if wanted[0][0] == 2 else np.arange(self._graph.nodes)[:, None]

        def recount(row: int) -> list[int]:
            found = near.row(tuple(roots[row].tolist()), wanted[0][0] > 0)
            need(not self._sums or found.keys() <= set(wanted), "a subgraph occurs that has no column")
            if self._claim["induced"]:
                return [found[shape] for shape in wanted]
            return [sum(copies(small, large) * found[large] for large in found) for small in wanted]

        start, done = time.process_time(), 0
        near.deadline = (start + self._deadline) / 2
        rows = random_rows(self._seed, len(roots), len(self._drawn))
        try:
            for row, values in zip(rows, self._drawn, strict=True):
                claimed = dict(zip(self._sums, values, strict=True))
                self._relate({shape: values[row : row + 1] for shape, values in self._numbers.items()}, claimed, None)
                need(recount(row) == [claimed[shape] for shape in wanted], f"row {row} is wrong")
                done += 1
        except TimeoutError:
            self._report.open.append(f"{len(rows) - done} of {len(rows)} rows drawn at random: the time was over")
        if done:
            chances = [f"1 - {(1 - share) ** done:.1g} if {share:.0%} of all rows are wrong" for share in (0.01, 0.1)]
            self._report.checked[f"{done} rows drawn at random, by listing all sets around them"] = ", ".join(chances)
        each, near.deadline = (time.process_time() - start) / max(done, 1), self._deadline
        if self._proved >= set(wanted) or not self._is_affordable(each * len(roots)):
            return
        try:
            table = np.array([recount(row) for row in range(len(roots))], object).reshape(-1, len(wanted))
        except TimeoutError:
            return
        prints = weighted_sums(random_weights(self._seed, "rows", len(table)), table)
        for shape, column, fingerprint in zip(wanted, table.T, prints, strict=True):
            whole, times = unrooted(shape, self._graph.directed), orbit_size(shape, self._graph.directed)
            right = sum(column) == times * self._counts[whole] and self._prints.get(shape, fingerprint) == fingerprint
            need(right, f"listing all sets gives other numbers of {self._names[shape]}")
            self._proved.add(shape)
            self._prove_counts({whole})

    def _is_affordable(self, seconds: float) -> bool:
        return seconds < self._deadline - time.process_time()

    def _check_maps(self) -> None:
        """Compare the count, and for a listing the maps themselves, with sums by algebra."""
        (described,), (count,), claim = self._claim["shapes"], self._claim["counts"], self._claim
        self._graph.shape({**described, "roots": 0})  # refuses what is no shape
        self._report.names["query"] = self._graph.meaning(described)
        query, maps = Query(described, self._graph, claim["induced"], self._deadline), count * claim["maps_each"]
        if claim["maps_each"] != 1:
            self._report.open.append(f"whether each occurrence of the query is {claim['maps_each']} maps")
        weights = [random_weights(self._seed, f"node {u}", self._graph.nodes) for u in range(query.size)]
        wanted = [dict(enumerate(weights))] if claim["job"] == "find_matches" else []
        try:
            sums = [query.weighted_sum(weights) for weights in [{}, *wanted]]
        except (TooMuch, TimeoutError) as error:
            self._report.open.append(f"the maps, by algebra: {error or 'the time was over'}")
            return
        need(sums[0] == maps % P, "the number of maps is another one")
        need(sums[1:] == self._prints, "a sum over all maps with random weights is another one")
        exact = self._graph.nodes**query.size < P and maps < P
        self._report.checked[f"the number of maps, {maps}"] = "1" if exact else "1, but for multiples of 2^61 - 1"
        if wanted:
            self._report.checked["the maps that were listed, in any order"] = f"1 - {query.size} / (2^61 - 1)"
