"""Several networks compared by their motifs."""

import dataclasses
import json

import numpy as np
import pytest

from jaxmotif import Graph, datasets, find_motifs, read_graph
from jaxmotif.cli import main
from jaxmotif.features import graphlet_correlation_distance
from jaxmotif.motifs import Rule, Until, compare_motifs, correct_together
from jaxmotif.motifs._compare import average_tree, check_networks
from jaxmotif.motifs._significance import benjamini_hochberg


def some_graph(seed, n=40, arcs=120, **options):
    """Of more nodes than graphs whose chains walk, which takes ten times as long."""
    return Graph.from_edges(np.random.default_rng(seed).integers(0, n, (arcs, 2)), n, **options)


@pytest.fixture(scope="module")
def three():
    """Motifs of three networks."""
    return {name: find_motifs(some_graph(i, directed=True), 3, 40, attempts=10) for i, name in enumerate("abc")}


def test_correlations_of_profiles(three):
    found = three
    compared = compare_motifs(found)
    profiles = np.zeros((3, len(compared.classes)))
    for row, one in zip(profiles, found.values(), strict=True):
        row[[compared.classes.index(text) for text in one.classes]] = np.nan_to_num(one.significance.profile)
    np.testing.assert_allclose(compared.profiles, profiles, atol=1e-12)
    np.testing.assert_allclose(compared.correlation, np.corrcoef(profiles))
    np.testing.assert_allclose(compared.tested_correlation, np.corrcoef(profiles[:, compared.tested]))
    assert 0 < compared.tested.sum() <= 7
    off = ~np.eye(3, dtype=bool)
    assert (compared.low <= compared.high + 1e-12).all()
    assert ((compared.low < compared.correlation) & (compared.correlation < compared.high))[off].any()
    # Directly, by the random graphs of one network drawn again.
    rng, one = np.random.default_rng(1), found["a"]
    draws = [one.random_counts[rng.integers(0, 40, 40)] for _ in range(400)]
    z = [(one.counts - d.mean(0)) / np.where(d.std(0, ddof=1) > 0, d.std(0, ddof=1), np.inf) for d in draws]
    same = [np.corrcoef(x, np.nan_to_num(one.significance.z))[0, 1] for x in z]
    assert np.quantile(same, 0.025) > compared.low[0, 0] - 0.1
    text = repr(compared)
    assert "3 networks by" in text
    assert "closed" in text


def test_profiles_of_four_undirected_nodes_are_ratios():
    found = {name: find_motifs(some_graph(i), 4, 20, attempts=10) for i, name in enumerate("ab")}
    one, compared = found["a"], compare_motifs(found)
    ratio = (one.counts - one.significance.mean) / (one.counts + one.significance.mean + 4)
    at = [compared.classes.index(text) for text in one.classes]
    np.testing.assert_allclose(compared.profiles[0, at], ratio / np.linalg.norm(ratio))


def test_networks_corrected_together(three):
    found = [three[name] for name in "ab"]
    together = correct_together(found)
    p = [2 * np.minimum(f.significance.p_high, f.significance.p_low)[f.tested] for f in found]
    wanted = benjamini_hochberg(np.minimum(1, np.concatenate(p)))
    np.testing.assert_allclose(np.concatenate([f.significance.q[f.tested] for f in together]), wanted)
    assert "corrected for" in together[0].summary
    with pytest.raises(ValueError, match="one rule"):
        correct_together([found[0], find_motifs(some_graph(1, directed=True), 3, 5, attempts=20, rule=Rule(alpha=0.1))])
    assert correct_together([]) == []
    with pytest.raises(ValueError, match="Until decides for one alone"):
        correct_together([find_motifs(some_graph(1), 3, Until(most=100), attempts=20)])


def test_networks_that_differ_are_refused_before_any_work(capsys, monkeypatch):
    def never(*args, **options):
        raise AssertionError("worked")

    monkeypatch.setattr("jaxmotif.motifs.find_motifs", never)
    assert main(["motifs", "karate", "celegans"]) == 1
    assert "karate is undirected and celegans is directed" in capsys.readouterr().err
    labelled, bare = (Graph.from_edges([(0, 1)], 2, edge_labels=labels) for labels in ([1], None))
    with pytest.raises(ValueError, match="a has edge labels and b has none"):
        check_networks({"b": bare, "a": labelled}, 3)
    assert main(["motifs", "karate", "--gcd", "11"]) == 1
    assert "--gcd is for several networks" in capsys.readouterr().err


def test_one_run_compares_networks(tmp_path, capsys):
    page = tmp_path / "page.html"
    options = "motifs", "karate", "florentine", "--random", "50", "--together", "--gcd", "11", "--report", str(page)
    assert main([*options, "--format", "json"]) == 0
    written = json.loads(capsys.readouterr().out)
    distance = graphlet_correlation_distance(datasets.load("karate"), datasets.load("florentine"))
    assert written["GCD-11 (karate, florentine)"] == pytest.approx(distance)
    assert abs(written["correlation (karate, florentine)"]) == pytest.approx(1)  # of two classes
    for row in written["classes"]:
        assert {"network", "mean", "sd", "z", "q", "verdict", "why"} <= set(row)
    text = page.read_text("utf-8")
    assert "<h2>The networks compared</h2>" in text
    assert "Classes: karate" in text
    assert "Classes: florentine" in text
    assert f"{distance:.3f}" in text


def test_networks_of_one_name_keep_their_work_in_the_folder(tmp_path, monkeypatch):
    """Networks whose files have one name go by the files' paths, which may lead elsewhere."""
    paths = [tmp_path / "here" / "net.txt", tmp_path / "there" / "net.txt"]
    for path in paths:
        path.parent.mkdir()
        path.write_text("a b\nb c\nc a\nc d\n")
    monkeypatch.chdir(tmp_path / "here")
    for names in (map(str, paths), ("net.txt", "../there/net.txt")):
        before = {path for path in tmp_path.rglob("*") if path.is_dir()}
        kept = tmp_path / "kept"
        assert main(["motifs", *names, "--random", "20", "--attempts", "1", "--checkpoint", str(kept), "--quiet"]) == 0
        made = {path for path in tmp_path.rglob("*") if path.is_dir()} - before
        assert len(made - {kept}) == 2
        assert {path.parent for path in made - {kept}} == {kept}


def test_heights_of_a_tree_are_mean_distances():
    """Also those of a correlation, which are small."""
    distances = np.array([[0, 0.2, 0.6], [0.2, 0, 0.4], [0.6, 0.4, 0]])
    order, brackets = average_tree(distances)
    assert order.index(2) in (0, 2)
    assert sorted(max(heights) for _, heights in brackets) == pytest.approx([0.2, 0.5])


def test_notes_of_networks_corrected_together():
    """Twenty networks take twenty times as many random graphs, as notes and verdicts say alike."""
    found = find_motifs(some_graph(0), 3, 45)
    assert not [note for note in found.notes if "cannot show" in note]
    together = correct_together([found] * 20)[0]
    assert [note for note in together.notes if "of 20 that are tested; 799 would" in note]
    again = correct_together([together] * 20)[0]
    assert sum("cannot show" in note for note in again.notes) == 1


def labelled(words, seed=0):
    edges = [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5), (5, 3), (1, 4)]
    lines = [f"{u},{v},{words[(u + v) % 2]}" for u, v in edges]
    return "\n".join(["source,target,sign", *lines])


def test_classes_of_labels_that_are_words(three, tmp_path):
    """A number that stands for one word here and for another there is no class of both."""
    words = {"a": ("on", "off"), "b": ("both", "off"), "c": ("off", "on"), "d": ("on", "off")}
    for name, two in words.items():
        (tmp_path / f"{name}.csv").write_text(labelled(two))
    one = {"directed": True, "edge_label": "sign"}
    drawn = {"num_random": 20, "attempts": 5}
    apart = {name: find_motifs(read_graph(tmp_path / f"{name}.csv", **one), 3, **drawn) for name in words}
    assert compare_motifs({name: apart[name] for name in "ad"}).correlation[0, 1] > 0.99
    with pytest.raises(ValueError, match="label_ids"):
        compare_motifs({name: apart[name] for name in "ab"})
    one["label_ids"] = {}
    alike = {name: find_motifs(read_graph(tmp_path / f"{name}.csv", **one), 3, **drawn) for name in "abc"}
    compared = compare_motifs(alike)
    assert compared.correlation[0, 1] < 0.9
    assert len(set(compared.labels)) == len(compared.classes)
    with pytest.raises(ValueError, match="edge labels are words in a, and in plain they are numbers or there are none"):
        compare_motifs({"a": apart["a"], "plain": three["a"]})
    one = three["a"]
    for kind, text in (("node", "0,1,0:000000110"), ("edge", ".,.,.,1,.,.,0,0,.")):
        with_labels = dataclasses.replace(one, classes=(text,))
        with pytest.raises(ValueError, match=f"^b has {kind} labels and a has none, so that they have no class"):
            compare_motifs({"a": one, "b": with_labels})
    with pytest.raises(ValueError, match="no networks"):
        compare_motifs({})
