"""The rule by which classes are motifs, and that every output follows it."""

import dataclasses
import json
import re

import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.cli import main
from jaxmotif.motifs import Mixing, Rule, find_motifs
from jaxmotif.motifs._significance import significance_of
from jaxmotif.motifs._verdict import closed_classes, judge
from jaxmotif.report import motifs_report


def judged(counts, random, rule=None, tested=None, too_short=False):
    """The verdicts on counts, whose random graphs are independent."""
    counts, random = np.array(counts), np.array(random)
    classes, r = counts.size, random.shape[0]
    mixing = Mixing(10, np.zeros(classes), np.full(classes, float(r)), np.zeros(classes))
    rule, tested = rule or Rule(), np.ones(classes, bool) if tested is None else np.array(tested)
    significance = significance_of(counts, random, mixing, None, tested, rule.correction)
    return judge(counts, significance, tested, r, rule, too_short), significance


def around(*means, r=999):
    """Random counts of about a mean each, none of which is farther than 2."""
    return np.stack([mean + np.arange(r) % 3 - 1 for mean in means], axis=1)


def test_each_reason_has_its_words():
    random = around(13, 1000, 1, 10, 40, 3, 7, 20)
    random[:, 6] = 7
    counts = [70, 1040, 3, 10, 4, 0, 7, 33]
    (verdict, why), _ = judged(counts, random, tested=[True] * 7 + [False])
    assert verdict.tolist() == ["motif", "", "", "", "anti-motif", "", "", ""]
    for text, start in zip(
        why,
        (
            "motif: 70, expected 13 (5.22-fold, 95 % 5.2 to 5.24), q = 0.0028",
            "unusual, but small: 1.04-fold, q = 0.0028",
            "too few: 3 against 1 expected",
            "not unusual: q = 1",
            "anti-motif: 4, expected 40 (0.111-fold",
            "too few: 0 against 3 expected",
            "fixed: the same in every random graph",
            "follows from closed classes",
        ),
        strict=True,
    ):
        assert text.startswith(start), text


@pytest.mark.parametrize(("count", "few", "others", "word"), [(5, 1000, 0, "more"), (1995, 1000, 2000, "fewer")])
def test_a_count_on_one_side_of_the_mean_and_on_the_other_of_most_counts(count, few, others, word):
    """Ten of a thousand random counts decide the mean."""
    random = np.full((1000, 1), others)
    random[:10] = few
    loose = Rule(min_fold=1)
    (verdict, why), s = judged([count], random, loose)
    assert verdict.tolist() == [""]
    expected = f"{count:,} against {s.mean[0]:,.0f} expected, and yet {word} than in most random graphs"
    assert why[0] == f"unusual, but skewed: {expected}, q = 0.022"
    # The largest deviations are those from the mean.
    assert not judged([count], random, Rule(min_fold=1, correction="max"))[0].why[0].startswith("unusual, but skewed")


def test_values_that_are_no_counts_need_occurrences():
    """An unusual mean of weights says nothing where a class occurs three times, and at four times it does."""
    random = around(13, 13)
    _, significance = judged([70, 70], random)
    occurrences = np.array([3, 4])
    verdict, why = judge(np.array([70.0, 70.0]), significance, np.ones(2, bool), 999, Rule(), counts=occurrences)
    assert verdict.tolist() == ["", "motif"]
    assert why[0] == "too few: 3 occurrences, q = 0.002"


def test_few_random_graphs_decide_nothing():
    (verdict, why), s = judged([70, 20], around(13, 20, r=40))
    assert (verdict[0], s.q[0] > 0.05) == ("", True)
    assert why[0] == "cannot be decided: 40 random graphs of 79 needed"
    assert "not unusual" in why[1]
    (verdict, _), _ = judged([70, 20], around(13, 20, r=79))
    assert verdict[0] == "motif"
    (verdict, why), _ = judged([70, 20], around(13, 20), too_short=True)
    assert set(verdict) == {""}
    assert set(why) == {"withheld: the chains are too short"}
    limit = around(20, r=9) + 9 * (np.arange(9) % 2)[:, None]
    assert "at the limit" in judged([36], np.concatenate([limit] * 20))[0].why[0]


@pytest.mark.parametrize("correction", ["bh", "by", "max"])
def test_corrections_hold_their_error(correction):
    """No class is unusual, and classes depend: at most about alpha of all tables have a motif, by any correction."""
    rng, tables = np.random.default_rng(3), 400
    some = 0
    for _ in range(tables):
        common = rng.poisson(6, (200, 1))
        random = common + rng.poisson(3, (200, 7))
        (verdict, _), s = judged(random[0], random[1:], Rule(correction=correction, min_fold=1, min_count=0))
        some += any(verdict)
        assert not np.any(s.q[verdict != ""] > 0.05)
    assert some / tables < 0.05 + 3 * np.sqrt(0.05 * 0.95 / tables)


def test_numbers_out_of_range():
    for options in (
        {"alpha": 0},
        {"alpha": 1e-13},
        {"min_count": -1},
        {"min_fold": 0.9},
        {"correction": "x"},
        {"family": "x"},
    ):
        with pytest.raises(ValueError, match=next(iter(options))):
            Rule(**options)


@pytest.mark.parametrize("options", [{"alpha": "0.05"}, {"min_count": None}, {"min_count": True}, {"min_fold": "2"}])
def test_what_is_no_number(options):
    with pytest.raises(TypeError, match=f"{next(iter(options))} must be a (number|ratio).*, got"):
        Rule(**options)


def some_graph(seed, n=40, arcs=120):
    return Graph.from_edges(np.random.default_rng(seed).integers(0, n, (arcs, 2)), n, directed=True)


def test_open_classes_follow_from_closed_ones():
    found = find_motifs(some_graph(0), 3, 20)
    closed = closed_classes(found.classes)
    assert (found.tested == closed).all()
    at = {name[:4]: i for i, name in enumerate(found.names)}
    counts = np.concatenate([found.counts[None], found.random_counts])

    def total(**times):
        return sum(n * counts[:, at[name[1:]]] for name, n in times.items() if name[1:] in at)

    for constant in (
        total(_021D=1, _030T=1, _120D=1),
        total(_021U=1, _030T=1, _120U=1),
        total(_021C=1, _030T=1, _030C=3, _120C=1),
    ):
        assert np.ptp(constant) == 0
    assert find_motifs(some_graph(0), 3, 5, keep="degree").tested.all()
    assert find_motifs(some_graph(0), 3, 5, rule=Rule(family="all")).tested.all()
    note = found.notes[0]
    assert re.match(r"20 random graphs cannot show that a single class is unusual, of \d that are tested; \d+ ", note)


def test_networks_without_structure_have_no_motifs():
    """Random graphs as inputs, against others of the same null model; by any size of effect."""
    found = find_motifs(some_graph(1), 3, 400)
    inputs, random = found.random_counts[:100], found.random_counts[100:]
    loose = Rule(min_fold=1, min_count=0)
    some = sum(any(judged(counts, random, loose, found.tested)[0].verdict) for counts in inputs)
    assert some <= 11  # of 100, of which more than 5 + 3 sd happen once in hundreds of runs


def test_no_output_calls_a_class_with_a_large_q_a_motif(tmp_path, capsys):
    loops = [arc for i in range(0, 36, 2) for arc in ((i, i + 1), (i + 1, i + 2), (i, i + 2))]
    rng = np.random.default_rng(5)
    rows = [*loops, *rng.integers(0, 40, (25, 2)).tolist()]
    path, page = tmp_path / "g.txt", tmp_path / "page.html"
    path.write_text("".join(f"{u} {v}\n" for u, v in rows))
    options = ["motifs", str(path), "--directed", "--random", "200", "--checkpoint", str(tmp_path / "kept")]
    files = ["--report", str(page), "--figures", str(tmp_path / "figures")]
    assert main([*options, *files, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["classes"]
    called = {row["class"] for row in rows if row["verdict"]}
    assert "000100110" in called
    assert called == {row["class"] for row in rows if row["why"].startswith(("motif", "anti-motif"))}
    assert called == {row["class"] for row in rows if row["motif"] or row["anti_motif"]}
    for row in rows:
        assert row["class"] not in called or row["q"] <= 0.05
    assert any(row["z"] is not None and abs(row["z"]) > 2 and row["class"] not in called for row in rows)
    assert main(options) == 0
    table = capsys.readouterr().out
    assert len(re.findall(r"  (anti-)?motif: ", table)) == len(called)
    html = page.read_text("utf-8")
    lines = re.findall(r"<tr>.*?</tr>", html)
    assert sum('data-v="motif: ' in line or 'data-v="anti-motif: ' in line for line in lines) == len(called)
    assert len(re.findall(r'<circle class="dot full"', html)) == len(called)
    words = re.findall(r">(anti-motif|motif)<", (tmp_path / "figures" / "motifs.svg").read_text("utf-8"))
    assert len(words) == len(called)
    assert html.count('<div class="card">') == sum(row["verdict"] == "motif" for row in rows)


def test_pictures_fill_the_points_of_motifs_alone():
    pytest.importorskip("matplotlib").use("Agg")
    found = find_motifs(some_graph(0), 3, 20)
    z = np.where(np.isfinite(found.significance.z), 9.0, np.nan)  # which decides nothing
    found = dataclasses.replace(found, significance=dataclasses.replace(found.significance, z=z))
    filled, empty = found.plot_profile().collections
    unusual = np.flatnonzero(found.is_motif | found.is_anti_motif)
    assert filled.get_offsets()[:, 0].tolist() == unusual.tolist()
    assert len(empty.get_offsets()) == len(found.classes) - len(unusual)
    assert (empty.get_facecolors()[:, :3] == 1).all()
    assert "dot full" not in motifs_report([("g", some_graph(0), found)])


@pytest.mark.parametrize("directed", [False, True])
def test_where_the_degrees_leave_one_graph_no_chain_is_too_short(directed):
    pairs = [(u, v) for u in range(34) for v in range(34) if u < v or (directed and u != v)]
    complete = Graph.from_edges(pairs, 34, directed)
    found = find_motifs(complete, 3, 4)
    assert found.verdicts.why[found.tested].tolist() == ["fixed: the same in every random graph, says nothing"]
    assert "no chain could move" in found.notes[0]
    # With a number of attempts no pilot has looked for other places.
    assert set(find_motifs(complete, 3, 4, attempts=1).verdicts.why[found.tested]) == {
        "withheld: the chains are too short"
    }


def test_where_turns_lead_to_the_same_arcs_no_chain_is_too_short():
    """A transitive tournament."""
    found = find_motifs(Graph.from_edges([(u, v) for u in range(6) for v in range(u + 1, 6)], directed=True), 3, 4)
    assert set(found.verdicts.why) == {"fixed: the same in every random graph, says nothing"}
    assert "no chain could move" in found.notes[0]


def test_where_no_edge_has_another_to_exchange_ends_with_no_chain_is_too_short():
    """A path of nodes whose labels all differ."""
    path = Graph.from_edges([(i, i + 1) for i in range(34)], 35, node_labels=range(35))
    found = find_motifs(path, 3, 4, keep="labels")
    assert set(found.verdicts.why) == {"fixed: the same in every random graph, says nothing"}
    assert "no chain could move" in found.notes[0]


@pytest.mark.parametrize("keep", ["bidegree", "degree"])
def test_classes_of_longer_chains_alone_are_no_classes(keep):
    """Graphs that go on to four times the length meet classes that the random graphs do not."""
    found = find_motifs(some_graph(3), 4, 20, keep=keep, attempts=5)
    assert (found.counts + found.random_counts.sum(axis=0) > 0).all()
    assert found.significance.tests == len(found.classes)
