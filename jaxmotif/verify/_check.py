"""The course of a check: what is compared with what, and what follows from it."""

import os
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import comb

import numpy as np

from . import _graph as graphs
from ._algebra import count_at_root
from ._certificate import FORMAT, Beyond, Refused, check_form, need, need_time, read_certificate, seed_of
from ._counts import count_around, count_graphlets
from ._modular import P, digest, exact_sum, random_rows, random_weights, row_weights, sum_of_products, weighted_sums

# The number of graphs with as many nodes as a graph without edges, which no census has among its classes.
ALL = {graphs.plain_shape("", "01234"[:size], 0): number for size, number in ((2, 2), (3, 4), (4, 11), (5, 34))}

# What a probability is followed by where numbers are known modulo P alone.
BUT = ", but for multiples of 2^61 - 1"


@dataclass
class Report:
    """Findings of a check.

    Attributes:
      accepted: whether something was checked, and all of it holds.
      reason: what does not hold, if anything.
      checked: statements, each with the probability with which it would have been refused if it were wrong.
      open: what is not checked.
      names: what the names in statements mean: a small graph, with the numbers of the labels of its nodes and arcs; and
        whether copies or maps are induced, and whether directions and labels count.
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


def check(certificate, graph: graphs.SimpleGraph, answer: np.ndarray | None = None, seconds: float = 60.0) -> Report:
    """Check a certificate against a graph.

    Args:
      certificate: the path of the file, or what is in it.
      graph: the graph, from :func:`graph_from_edges`. Its directions and labels do not count if the
        certificate leaves them out.
      answer: the table that the certificate is about, or the maps that were listed, integers ``[rows, columns]``.
      seconds: about how much CPU time the check may take. What it has not finished by then stays open.

    Raises:
      OSError: the file cannot be read.
    """
    try:
        content = certificate if isinstance(certificate, dict) else read_certificate(os.fspath(certificate))
        stated = content.get("format") if isinstance(content, dict) else content
        need(stated == FORMAT, f"the format is {stated!r:.60}; this checker reads {FORMAT!r}")
        check_form(content)
        if answer is not None:
            answer = np.asarray(answer)
            whole = answer.dtype.kind in "iu" or all(isinstance(value, int | np.integer) for value in answer.flat)
            need(answer.ndim == 2 and whole, "the answer is no table of whole numbers")
        return _Check(content, graph, answer, time.process_time() + seconds).run()
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError) as error:
        return Report(False, str(error) if isinstance(error, Refused) else f"this is no certificate: {error!r:.60}")


class _Check:
    def __init__(self, certificate: dict, graph: graphs.SimpleGraph, answer: np.ndarray | None, deadline: float):
        described, self._claim, self._drawn = certificate["graph"], certificate["claim"], certificate["witnesses"]
        self._prints, self._seed = certificate["fingerprints"], seed_of(certificate)
        self._deadline, self._report, self._answer = deadline, Report(True), answer
        labels = [getattr(graph, name) if described[name] else None for name in ("node_labels", "edge_labels")]
        directed = graph.directed and described["directed"]
        self._graph = graphs.graph_from_edges(graph.edges, graph.nodes, directed, *labels)
        own = graphs.describe(*self._graph[:5])
        need(own == described, f"the certificate is of another graph than this one, which is {own}")
        self._described = described
        columns, shown = self._claim["columns"], len(self._drawn)
        self._roots = columns[0]["roots"] if columns else 0
        self._rows = own["edges" if self._roots == 2 else "nodes"] if columns else 0
        need({len(values) for values in self._drawn} <= {len(columns)}, "a row has another number of columns")
        self._weights = row_weights(self._seed, self._rows)
        self._shown = range(shown) if shown == self._rows else random_rows(self._seed, self._rows, shown)
        self._own: set[int] = set()  # columns of the table that the checker has itself

    def run(self) -> Report:
        """Check everything, and return what was found."""
        for shape in self._claim["shapes"] + self._claim["columns"]:
            self._report.names[shape["name"]] = f"{shape['matrix']}, {shape['roots']} nodes in the root"
        counts = {"directions": "directed", "labels of nodes": "node_labels", "labels of edges": "edge_labels"}
        parts = [f"{'with' if self._described[field] else 'without'} {name}" for name, field in counts.items()]
        parts.insert(0, "induced" if self._claim["induced"] else "induced or not")
        self._report.names["a map" if self._claim["maps"] else "a copy"] = ", ".join(parts)
        if self._answer is not None and not self._claim["maps"]:
            need(self._answer.shape == (self._rows, len(self._prints)), "the answer has another shape")
            need(digest(self._answer) == self._claim["sha256"], "the answer is not the table of the certificate")
            self._report.checked["your table is the one of the certificate, by its SHA-256"] = "1"
        elif self._rows:
            self._report.open.append(f"whether your table is the one with SHA-256 {self._claim['sha256']}")
        (self._check_maps if self._claim["maps"] else self._check_shapes)()
        need(self._report.checked, "nothing could be checked")
        return self._report

    def _check_maps(self) -> None:
        """Count the maps by algebra, and compare their number, and a sum over them with random weights."""
        # There is one query, and no table.
        (query,), (), graph, answer = self._claim["shapes"], self._claim["columns"], self._graph, self._answer
        count, roots, size = query["total"], query["roots"], len(query["matrix"])
        at_root = partial(count_at_root, query, self._claim["order"], graph, self._claim["induced"], self._deadline)
        own, but = exact_sum(at_root([])), "" if graph.nodes**size < P else BUT
        need((own - count) % P == 0 and 0 <= count <= graph.nodes**size, "the number of maps is another one")
        self._report.checked[f"the number of maps, {count}"] = f"1{but}"
        sums = [(f"how many maps send the first {roots} of {size} query nodes where", self._seed)] if roots else []
        if answer is not None:
            need(answer.shape[1] == roots, f"the answer has {answer.shape[1]} columns, and a map {roots}")
            there = answer.min(initial=0) >= 0 and answer.max(initial=-1) < graph.nodes
            need(there, "the answer names nodes that the graph does not have")
            sums.append(("the list that you have, with weights that nobody could foresee", os.urandom(32)))
        for what, seed in sums:
            weights = [random_weights(seed, f"node {u}", graph.nodes) for u in range(roots)]
            listed = self._prints if answer is None or seed is self._seed else [sum_of_products(weights, answer)]
            need(listed == [exact_sum(at_root(weights)) % P], f"a sum over all maps is not that of {what}")
            self._report.checked[what] = f"1 - {roots} / 2^60{but}"

    def _compare(self, column: int, own: np.ndarray) -> None:
        """Compare a column of the table with the checker's: its sum, its fingerprint, and the values that are shown."""
        right = weighted_sums(self._weights, own[:, None]) == [self._prints[column]]
        right = right and exact_sum(own) == self._claim["columns"][column]["total"]
        right = right and (self._answer is None or (self._answer[:, column] == own).all())
        right = right and [values[column] for values in self._drawn] == [own[row] for row in self._shown]
        need(right, f"column {self._claim['columns'][column]['name']} is another one")
        self._own.add(column)

    def _check_shapes(self) -> None:
        """Compare counts of small graphs, in the graph and at its edges or nodes."""
        graph, directed, induced = self._graph, self._graph.directed, self._claim["induced"]
        shapes, columns = self._shapes("shapes", 0), self._shapes("columns", self._roots)
        counts, places, right = {shape: whole["total"] for shape, whole in shapes.items()}, [*columns], set()
        for shape, column in columns.items():
            times, count = graphs.orbit_size(shape, directed), counts[graphs.canonical((0, shape[1]), directed)]
            need(column["total"] == times * count, f"the sum of a column is not {times} times its count")
            self._report.checked[f"the sums of all {len(columns)} columns agree with the counts"] = "1"
        with suppress(Beyond):
            for shape, own in count_graphlets(graph, induced, self._deadline).items():
                if shape in counts:
                    need(counts[shape] == own, "a count in the graph is another one")
                    right.add(shape)
                elif shape in columns:
                    self._compare(places.index(shape), own)
        for empty in ALL.keys() & counts if induced else ():
            same = [count for shape, count in counts.items() if len(shape[1]) == len(empty[1])]
            every = len(same) < ALL[empty] or sum(same) == comb(graph.nodes, len(empty[1]))
            need(every, f"graphlets of {len(empty[1])} nodes: not all sets")
        self._check_rows(places)
        in_rows = {places[c] for c in self._own}
        right |= {graphs.canonical((0, shape[1]), directed) for shape in in_rows}
        by_prints = f"1 - 2^-59{BUT}" if self._answer is None else "1"
        counted, valued = ("the counts of", shapes, right, "1"), ("each value of column", columns, in_rows, by_prints)
        for what, part, proved, chance in (counted, valued):
            if names := [described["name"] for shape, described in part.items() if shape in proved]:
                self._report.checked[f"{what} {', '.join(names)}"] = chance
            if names := [described["name"] for shape, described in part.items() if shape not in proved]:
                self._report.open.append(f"{what} {', '.join(names)}, beyond this")

    def _shapes(self, part: str, roots: int) -> dict[graphs.Shape, dict]:
        """Return the shapes of a part of the claim, and what it says of each."""
        shapes = {}
        for described in self._claim[part]:
            need_time(self._deadline)
            need(described["roots"] == roots, "a root is not that of the job")
            shapes[graphs.canonical(self._graph.shape(described), self._graph.directed)] = described
        need(len({shape["name"] for shape in shapes.values()}) == len(self._claim[part]), f"two {part} are alike")
        return shapes

    def _check_rows(self, columns: list[graphs.Shape]) -> None:
        """Count rows again by listing the sets around them: those that were drawn, or all where all are shown."""
        listed = {shape: c for c, shape in enumerate(columns) if graphs.is_connected(shape) and len(shape[1]) > 1}
        roots = self._graph.edges if self._roots == 2 else np.arange(self._graph.nodes)[:, None]
        sizes, done, number = {len(shape[1]) for shape in listed}, 0, len(self._drawn) if listed else 0
        try:
            for row, values in zip(self._shown[:number], self._drawn, strict=False):
                found = count_around(self._graph, roots[row].tolist(), sizes, self._roots > 0, self._deadline)
                need(found.keys() <= listed.keys(), "a subgraph occurs that has no column")
                for shape, c in listed.items():
                    own = found[shape]
                    if not self._claim["induced"]:
                        own = sum(graphs.copies(shape, large) * found[large] for large in found)
                    need(values[c] == own, f"row {row} is wrong")
                done += 1
        except Beyond as limit:
            self._report.open.append(f"{number - done} of {number} rows: {limit}")
        if done:
            drawn = f"1 - {0.99**done:.1g} if 1% of all rows are wrong, 1 - {0.9**done:.1g} if 10%"
            what = f"{done} of {self._rows} rows, by listing all sets around them"
            self._report.checked[what] = "1" if done == self._rows else drawn
        for c in set(listed.values()) - self._own if done == self._rows else ():
            self._compare(c, np.array([values[c] for values in self._drawn], object))
