"""The meaning of every column of a result, and the columns with which all tables of classes begin."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jaxmotif.arrays._label_words import in_words
from jaxmotif.cli._output import Column, Report

if TYPE_CHECKING:
    from jaxmotif.graph import Graph
    from jaxmotif.patterns import Pattern

_WIDEST_CLASS = 36  # letters of a class of 6 nodes; a table shows wider classes by their number, or with --wide

_CLASS = {
    "class": "the adjacency matrix, row by row, of the class in its canonical form; labels of nodes come first, before "
    "a colon, and those of edges stand in the place of 1",
    "id": "the same matrix read as a binary number, which is the number of the class in mfinder and FANMOD; classes "
    "with labels have none",
    "name": "the usual name of the class without its labels: that of the triad census, of the graphlet, ...; of signed "
    "feed-forward loops also the type, coherent C1 to C4 or incoherent I1 to I4",
    "reading": "of classes with labels: who acts on whom, in words; nodes are lettered X, Y, Z, ...",
    "przulj": "the number of an undirected class as a graphlet, G0 to G29",
    "count": "how many sets of nodes of the graph induce it",
}

COLUMNS: Mapping[str, Mapping[str, str]] = {
    "graphlets": {
        "graphlet": "the graphlet, by its name in PGD; with --typed the name, or the matrix, of the class of a census",
        "id": "its adjacency matrix in canonical form, row by row, read as a binary number, as in a census",
        "przulj": "its number among the connected graphlets, G0 to G29",
        "count": "how many sets of nodes induce it",
    },
    "graphlets --per edge": {
        "u, v": "the ends of the edge",
        "2-star ... 4-node-1-edge": "how many induced subgraphs of this kind the edge lies in; where a graphlet has "
        "edges of several kinds, the name of the column says which, as in 4-path-end. The first 12 columns are the "
        "edge orbits of ORCA, in its order",
    },
    "graphlets --per node": {
        "node": "the node",
        "orbit-0 ... orbit-14": "how many induced subgraphs the node lies in, by its place in them, in the numbering "
        "of ORCA",
    },
    "graphlets --typed --per edge, node": {
        "021C:0, 030T:0-1, ...": "how many induced subgraphs of this class the node, or edge, lies in by its role "
        "there; the column is called by the class and, if the class has several roles, by the lowest place of the role",
    },
    "census": _CLASS,
    "census --per node, --per edge": {
        "node; u, v": "the node; the ends of the edge",
        "2-star:0, 030T:0-1, ...": "how many sets of nodes that induce the class hold the node or edge in this role; "
        "the column is called by the class, by name where it has one, and by the lowest of its nodes or edges that has "
        "the role, where there are several roles",
    },
    "census --disjoint": {
        "disjoint": "how many occurrences were chosen one after another so that no two share an edge (--disjoint edge, "
        "F2) or a node (node, F3): a lower bound of the largest number that is possible",
        "disjoint_upper": "an upper bound of this number, by how many nodes or edges take each role",
    },
    "census --strengths": {
        "intensity": "the mean over the occurrences of the class of the geometric mean of an occurrence's weights",
        "coherence": "the mean of that geometric mean divided by the arithmetic mean: 1 where the weights are equal",
        "expected_intensity, expected_coherence": "the same with random weights of the same edges",
        "ratio": "intensity divided by expected_intensity",
        "z": "(intensity - expected_intensity) / the standard deviation over random weights; it decides nothing",
        "q": "the false discovery rate over all classes, of the two-sided rank of the intensity",
        "why": "strong: q is at most 0.05, the ratio at least 1.1 and there are 4 occurrences or more; weak: the "
        "ratio is at most 1 / 1.1; or why neither",
    },
    "census --estimate": {
        "count": "the estimate of how many sets of nodes of the graph induce the class",
        "low, high": "the ends of its interval, at --level",
        "hits": "how many draws fell on the class; 2 / sqrt(hits) is about the relative half width of the interval",
        "frequency": "count divided by total",
    },
    "census --estimate, above the table": {
        "total, total_low, total_high": "the estimate of the number of connected subgraphs of this size, and its "
        "interval",
        "samples, accepted": "how many maps of trees were drawn, and how many of these were subgraphs",
    },
    "sample": {"node_0 ... node_9": "the nodes of a subgraph, by name, in the order of their ids"},
    "motifs": _CLASS
    | {
        "mean": "the mean of the counts in the random graphs",
        "sd": "their standard deviation",
        "z": "(count - mean) / sd; none where sd is 0. It describes, and decides nothing",
        "fold": "(count + 1/2) / (mean + 1/2), the size of the effect",
        "q": "the false discovery rate at which the class is still found, after Benjamini and Hochberg (or as "
        "--correction says) over the tested classes, for the two-sided p = 2 min(p_high, p_low); none where the class "
        "is not tested, since its count follows from those of others",
        "verdict": "motif: q is at most --alpha, the count at least --min-count and fold at least --min-fold; "
        "anti-motif: q is at most --alpha, the mean at least --min-count and fold at most 1 / --min-fold",
        "why": "the verdict with its figures, or why there is none, in words",
        "motif, anti_motif": "the same as truth values",
        "fold_low, fold_high": "95 % interval of fold, from that of the mean",
        "p_high": "(1 + random graphs with this count or more) / (1 + random graphs)",
        "p_low": "the same with this count or less",
        "profile": "z divided by the length of the vector of all z (significance profile)",
        "mean_low, mean_high": "95 % interval of the mean, from effective_size",
        "lag_correlation": "between the counts of a chain at full and at four times the length; near 0 is good",
        "effective_size": "how many independent random graphs the random graphs are worth, by a cautious reckoning",
    },
    "motifs --random auto": {
        "decided": "whether more random graphs would not change whether q is at most --alpha; above the table, for how "
        "many classes that is so",
    },
    "motifs --estimate": {
        "count": "the estimate of how many sets of nodes of the graph induce the class; 0 where no draw fell on it",
        "error": "its standard error; 0 where no draw fell on the class",
        "random_error": "the standard error of the estimate in a random graph (root mean square over these)",
        "mean, mean_low, mean_high": "the mean of the estimates in the random graphs, and its interval, which includes "
        "their errors",
        "sd": "the standard deviation of the random counts without the errors: sd^2 = max(s^2 - random_error^2, 0), "
        "where s^2 is the variance of the estimates",
        "z": "(count - mean) / sqrt(sd^2 + max(error, random_error)^2), which is nearer to 0 than the z of exact "
        "counts, and close to it after many draws; none where the estimates in random graphs do not differ",
        "p_high, p_low, q": "these come from the ranks of estimates, and are as valid as those from ranks of counts",
    },
    "motifs, above the table": {
        "result": "how many motifs and anti-motifs there are, by which rule, among how many tested classes",
        "total": "how many connected subgraphs of this size the graph has",
        "estimate": "how many maps of trees were drawn from each graph, where counts are estimates",
        "random_graphs": "how many random graphs were drawn",
        "null_model": "what every random graph keeps, and what is uniform over what",
        "attempts_per_edge": "switches tried for each edge and random graph; accepted_per_edge: those that were made",
        "accepted_by_kind": "the same for each one-way arc, and for each reciprocated pair: below 10 of either, the "
        "chains are too short",
        "compared; correlation (A, B), correlation_95, correlation_closed": "of several networks: Pearson's "
        "correlation of two significance profiles over all classes, its interval from random graphs drawn again, and "
        "the correlation over the tested classes alone; of undirected classes of four nodes by the ratio profile",
        "GCD-11 (A, B), GCD-73": "the graphlet correlation distance of two networks (--gcd)",
        "longer_z": "farthest difference of the means at full and at four times the length, in standard errors: beyond "
        "about 4 the chains are too short, take more --switches",
    },
    "match": {
        "query": "the file of the query",
        "matches": "how many maps there are (--per occurrence: sets of maps that differ by an automorphism of the "
        "query)",
        "seconds": "how long everything took that was done for the query, with compilation",
        "search": "how long the search alone took, which --seconds limits",
        "status": "done, or the limit that stopped the search, so that there may be more matches",
    },
    "match --limit": {"0, 1, ... or names": "one column for each node of the query: the node it is mapped to"},
    "census, motifs, match --occurrences": {
        "class, id, name, verdict; query": "what occurs, as in the table; for a folder of queries, which query occurs",
        "node_0, node_1, ... or names": "the node that takes the part of each row of the class's matrix, or of each "
        "node of the query; each set of nodes occurs once (if not induced: each subgraph). JSON lines have a list, "
        "nodes",
    },
    "search": {
        "vertex": "a vertex that lies in a match; with --direction out or in, the root of one",
        "matches": "the numbers of the listed matches that it lies in",
    },
    "search, above the table": {
        "found": "whether there is a match",
        "repetitions": "how often the sieve ran; 0 where simpler tests decided",
        "false_negative_bound": "a bound on the probability, for each vertex, that it was missed",
    },
}


def explain_columns() -> str:
    """Return every column and its meaning, as text for a terminal."""
    blocks = []
    for command, names in COLUMNS.items():
        lines = [
            textwrap.fill(
                f"{name}: {meaning}", 100, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
            )
            for name, meaning in names.items()
        ]
        blocks.append("\n".join([command, *lines]))
    return "\n\n".join(blocks) + "\n"


def class_patterns(classes: Sequence[str], directed: bool) -> dict[str, Pattern]:
    """Return classes as patterns, by names for files: the class's number, or its string where it has labels."""
    from jaxmotif.patterns import class_id, named_pattern

    patterns = {}
    for text in classes:
        number = class_id(text)
        patterns[text if number is None else f"id{number}"] = named_pattern(text, directed)
    return patterns


def class_report(columns: Mapping[str, Column], graph: Graph, others: Sequence[str]) -> Report:
    """Return a table of classes with labels in words, which JSON has as a list of classes.

    A terminal shows the columns that fit and say something. These are names and graphlet numbers if some class has one,
    ids if there are no labels, strings unless they are very long, and the other columns that are named.

    Args:
      columns: The columns of the table.
      graph: The graph, which has the words of labels.
      others: The names of further columns that a terminal shows.
    """
    classes = [in_words(str(name), graph.node_label_names, graph.edge_label_names) for name in columns["class"]]
    labelled = any(number is None for number in columns["id"])
    narrow = []
    if labelled:
        narrow.append("reading")
    elif max(map(len, classes), default=0) <= _WIDEST_CLASS:
        narrow.append("class")
    if not labelled:
        narrow.append("id")
    narrow += [name for name in ("name", "przulj") if any(columns[name])]
    return Report({}, {**columns, "class": classes}, narrow=[*narrow, *others], objects="classes")
