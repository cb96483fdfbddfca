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
from ._formulas import at_edges, at_nodes, count_at_arcs, feasible
from ._graph import SimpleGraph
from ._modular import P, digest, exact_sum, random_rows, random_weights, weighted_sums
from ._shapes import Shape, canonical, copies, is_connected, orbit_size, shapes_of_four, unrooted

ROW_OF = {"edge_graphlets": "edge", "node_orbits": "node", "subgraph_census": "node", "count_matches": "node"}
"""What the rows of a job's table are; of ``graphlet_counts`` and ``find_matches`` there is none."""

ALMOST = "1 - 2^-60"
"""Least probability with which a sum with random weights tells two tables apart."""

_ALL = {2: 2, 3: 4, 4: 11, 5: 34}
"""Number of graphs with so many nodes."""


@dataclass
class Report:
    """What a check has found.

    Attributes:
      accepted: whether everything that was looked at holds.
      reason: what does not hold, if anything.
      proved: statements, each with the probability with which it would have been refuted if it were wrong.
      open: what is not checked.
    """

    accepted: bool
    reason: str = ""
    proved: dict[str, str] = field(default_factory=dict)
    open: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = [
            f"checked: {statement} (if wrong, refused with probability {p})" for statement, p in self.proved.items()
        ]
        lines += [f"not checked: {text}" for text in self.open]
        return "\n".join([*lines, "accepted"] if self.accepted else [f"refused: {self.reason}"])


def check(
    certificate: str | os.PathLike | dict, graph: SimpleGraph, answer: np.ndarray | None = None, seconds: float = 60.0
) -> Report:
    """Check a certificate against a graph.

    Args:
      certificate: the path of the file, or what is in it.
      graph: the graph, from :func:`graph_from_edges` or :func:`read_edge_list`.
      answer: the table that the certificate is about, integers ``[rows, columns]``, if it is at hand.
      seconds: about how long the check may take. What it has not finished by then, it does not call checked.

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
    except (ValueError, IndexError, OverflowError) as error:  # lists that do not fit each other, and the like
        return Report(False, f"the parts of the certificate do not fit each other ({error})")


class _Check:
    def __init__(self, certificate: dict, graph: SimpleGraph, answer: np.ndarray | None, seconds: float):
        self._claim, self._prints, self._witnesses = (
            certificate[name] for name in ("claim", "fingerprints", "witnesses")
        )
        described, self._answer = certificate["graph"], answer
        self._start, self._deadline = time.monotonic(), time.monotonic() + seconds
        self._graph = graph.reduced(described)
        own = self._graph.described()
        need(certificate["format"] == FORMAT, f"the format is not {FORMAT!r}")
        need(own == described, f"the certificate is of another graph than this one, with {own}"[:200])
        self._seed, self._report = seed_of(certificate), Report(True)
        rows = {"edge": own["edges"], "node": own["nodes"], None: 0}[ROW_OF.get(self._claim["job"])]
        need(self._claim["rows"] == rows, "the table has not a row for each edge or node")
        self._plain = not (own["directed"] or own["node_labels"] or own["edge_labels"])

    def run(self) -> Report:
        self._check_answer()
        if self._claim["job"] in ("count_matches", "find_matches"):
            self._check_maps()
            return self._report
        need(self._claim["job"] in ROW_OF or self._claim["job"] == "graphlet_counts", "the job is unknown")
        columns = {self._shape(one): one["name"] for one in self._claim["columns"]}
        shapes = [self._shape(one) for one in self._claim["shapes"]]
        self._counts = dict(zip(shapes, self._claim["counts"], strict=True))
        need(len(columns) == len(self._claim["columns"]), "two columns have one meaning")
        need(
            len(self._counts) == len(shapes) and all(s[0] == 0 for s in shapes),
            "two counts have one meaning, or a root",
        )
        self._columns, self._names = (
            list(columns),
            {s: one["name"] for s, one in zip(shapes, self._claim["shapes"], strict=True)},
        )
        self._open = dict(columns)  # columns of which not every value is proved
        self._open_counts = dict(self._names)
        self._sums = dict(zip(self._columns, self._claim["sums"], strict=True))
        self._fingerprints = dict(zip(self._columns, self._prints, strict=True))
        self._check_sums()
        if self._plain:
            self._check_relations()
        self._check_rows()
        self._report.open += [f"each value of column {name}" for name in self._open.values()]
        self._report.open += [f"the count of {name}" for name in self._open_counts.values()]
        return self._report

    def _shape(self, described: dict) -> Shape:
        need(time.monotonic() < self._deadline, "the time was over before all shapes were read")
        return canonical(self._graph.shape(described), self._graph.directed)

    def _check_answer(self) -> None:
        """Compare the table that the user has with what the certificate says of it."""
        if self._answer is None:
            if self._claim["rows"]:
                self._report.open.append(f"whether your table is the one with SHA-256 {self._claim['sha256'][:16]}")
            return
        need(self._answer.shape == (self._claim["rows"], len(self._claim["sums"])), "the answer has another shape")
        need(digest(self._answer) == self._claim["sha256"], "the answer is not the table of the certificate")
        weights = random_weights(self._seed, "rows", len(self._answer))
        need(weighted_sums(weights, self._answer) == self._prints, "the answer has other fingerprints")
        need([sum(column) for column in self._answer.T.tolist()] == self._claim["sums"], "the answer has other sums")
        self._report.proved["your table is the one of the certificate"] = "1, by its SHA-256"

    def _check_sums(self) -> None:
        """Compare the sums of columns with the counts in the graph, and the counts of each size with all node sets."""
        for size, number in _ALL.items():
            counts = [count for shape, count in self._counts.items() if len(shape[2]) == size]
            complete = self._plain and self._claim["induced"] and len(counts) == number
            need(not complete or sum(counts) == comb(self._graph.nodes, size), f"counts of {size} nodes: not all sets")
        for shape, total in self._sums.items():
            whole = unrooted(shape, self._graph.directed)
            need(whole in self._counts, f"what column {self._open[shape]} counts has no count in the graph")
            times = orbit_size(shape, self._graph.directed)
            agrees = total == times * self._counts[whole]
            need(agrees, f"the sum of column {self._open[shape]} is not {times} times the count in the graph")
        if self._sums:
            self._report.proved[f"the sums of all {len(self._sums)} columns agree with the counts"] = "1"

    def _check_relations(self) -> None:
        """Compare sums of columns with numbers of subgraphs: in the whole graph, then for random weights of rows."""
        try:
            deadline = self._start + 0.6 * (self._deadline - self._start)
            arcs = count_at_arcs(self._graph, deadline) if feasible(self._graph) else None
        except TimeoutError:
            arcs = None
        edges = at_edges(self._graph, arcs)
        wholes = {shape: unrooted(shape, False) for shape in shapes_of_four(2)}
        sums = {c: orbit_size(c, False) * self._counts[w] for c, w in wholes.items() if w in self._counts}
        held, fixed = self._relate(edges, sums, None)
        self._report.proved[f"{held} relations between the counts and the graph hold"] = "1"
        self._prove_counts({wholes[shape] for shape in fixed})
        if self._columns:
            numbers = edges if self._columns[0][0] == 2 else at_nodes(self._graph, arcs)
            weights = random_weights(self._seed, "rows", self._claim["rows"])
            held, fixed = self._relate(numbers, self._fingerprints, weights)
            if self._answer is not None:
                foreseen_by_nobody = random_weights(os.urandom(32), "rows", len(self._answer))
                prints = weighted_sums(foreseen_by_nobody, self._answer)
                self._relate(numbers, dict(zip(self._columns, prints, strict=True)), foreseen_by_nobody)
            self._report.proved[f"{held} relations between the columns and the graph hold in each row"] = ALMOST
            for shape in fixed:
                self._report.proved[f"every value of column {self._open.pop(shape)}"] = ALMOST

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
        values = np.array([numbers[small] for small in usable], np.int64).reshape(len(usable), -1).T
        totals = [exact_sum(column) for column in values.T] if weights is None else weighted_sums(weights, values)
        for small, total in zip(usable, totals, strict=True):
            difference = total - sum(k * sums[c] for c, k in parts[small].items())
            name = self._names.get(unrooted(small, False), "a graphlet")
            need(
                difference % (P if weights is not None else 2**300) == 0,
                f"subgraphs like {name} are not as many as claimed",
            )
        return len(usable), {small for small in usable if parts[small].keys() <= set(usable)}

    def _prove_counts(self, shapes: set[Shape]) -> None:
        """Note which counts are proved, also the last one of its size, since all sets of that size are counted."""
        for size, number in _ALL.items():
            same = {shape for shape in self._counts if len(shape[2]) == size}
            if self._claim["induced"] and self._plain and len(same) == number and len(same - shapes) == 1:
                shapes = shapes | same
        for shape in shapes & self._open_counts.keys():
            self._report.proved[f"the count of {self._open_counts.pop(shape)}"] = "1"

    def _check_rows(self) -> None:
        """Recount rows by listing the sets around them: those drawn, and all if that is needed and there is time."""
        wanted = [shape for shape in self._columns or self._counts if is_connected(shape) and len(shape[2]) > 1]
        if not wanted or not self._graph.nodes:
            return
        needed = [
            shape for shape in wanted if shape in self._open or (not self._columns and shape in self._open_counts)
        ]
        near, rooted = Neighbourhoods(self._graph, {len(shape[2]) for shape in wanted}), wanted[0][0] > 0
        roots = self._graph.edges if wanted[0][0] == 2 else np.arange(self._graph.nodes)[:, None]

        def recount(row: int) -> list[int]:
            found = near.row(tuple(roots[row].tolist()), rooted)
            need(not self._columns or found.keys() <= set(wanted), "a subgraph occurs that has no column")
            if self._claim["induced"]:
                return [found[shape] for shape in wanted]
            return [sum(copies(small, large) * found[large] for large in found) for small in wanted]

        start, done = time.monotonic(), 0
        near.deadline = start + (self._deadline - start) / (2 if needed else 1)
        drawn = random_rows(self._seed, len(roots), len(self._witnesses))
        try:
            for row, values in zip(drawn, self._witnesses, strict=True):
                claimed = dict(zip(self._columns, values, strict=True))
                need(recount(row) == [claimed[shape] for shape in wanted], f"row {row} is wrong")
                done += 1
        except TimeoutError:
            self._report.open.append(f"{len(drawn) - done} of {len(drawn)} rows drawn at random: the time was over")
        if done:
            chances = ", ".join(
                f"1 - {(1 - share) ** done:.1g} if {share:.0%} of all rows are" for share in (0.01, 0.1)
            )
            self._report.proved[f"{done} rows drawn at random, by listing"] = chances
        each, near.deadline = (time.monotonic() - start) / max(done, 1), self._deadline
        if not needed or each * len(roots) > self._deadline - time.monotonic():
            return
        try:
            table = np.array([recount(row) for row in range(len(roots))], object).reshape(-1, len(wanted))
        except TimeoutError:
            return
        prints = weighted_sums(random_weights(self._seed, "rows", len(table)), table)
        for shape, column, fingerprint in zip(wanted, table.T, prints, strict=True):
            whole, times = unrooted(shape, self._graph.directed), orbit_size(shape, self._graph.directed)
            right = (
                sum(column) == times * self._counts[whole] and self._fingerprints.get(shape, fingerprint) == fingerprint
            )
            need(right, f"listing all sets gives other numbers of {self._names[whole]}")
            if shape in self._open:
                self._report.proved[f"every value of column {self._open.pop(shape)}"] = ALMOST
            self._prove_counts({whole})

    def _check_maps(self) -> None:
        """Compare the count, and the participation of nodes or the maps themselves, with sums by algebra."""
        (shape,), (count,), claim = self._claim["shapes"], self._claim["counts"], self._claim
        self._graph.shape({**shape, "roots": 0})
        query = Query(shape, self._graph, claim["induced"], self._deadline)
        maps = count * claim["maps_each"]
        if claim["maps_each"] != 1:
            self._report.open.append(f"whether {claim['maps_each']} maps belong to one occurrence of the query")
        if claim["job"] == "count_matches":
            need(claim["sums"] == [maps] * query.size, "how often nodes take part does not add up to the maps")
            self._report.proved["how often nodes take part adds up to the count, for each query node"] = "1"
            weights = random_weights(self._seed, "rows", self._graph.nodes)
            wanted = [{}, *({u: weights} for u in range(query.size))]
        else:
            wanted = [{}, {u: random_weights(self._seed, f"node {u}", self._graph.nodes) for u in range(query.size)}]
        try:
            sums = [query.weighted_sum(weights) for weights in wanted]
        except (TooMuch, TimeoutError) as error:
            self._report.open.append(f"the maps: {error or 'the time was over'}")
            return
        need(sums[0] == maps % P, "the number of maps is another one")
        need(sums[1:] == self._prints, "a sum over all maps with random weights is another one")
        exact = self._graph.nodes**query.size < P and maps < P
        self._report.proved[f"the number of maps, {maps}"] = "1" if exact else "1, but for multiples of 2^61 - 1"
        what = "how often each node takes part" if claim["job"] == "count_matches" else "the maps, each of them once"
        self._report.proved[what] = f"1 - {query.size} / (2^61 - 1)"
