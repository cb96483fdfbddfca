"""The front door: answers, matches, repetitions, several devices, checkpoints, and mistakes of the user."""

import itertools
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif import Graph
from jaxmotif.arrays._compile import Target
from jaxmotif.devices import _record as record
from jaxmotif.devices._ranges import Span
from jaxmotif.graph.synthetic import erdos_renyi, random_regular
from jaxmotif.sieve import _runner as runner
from jaxmotif.sieve import _search as search
from jaxmotif.sieve import find_color_motif
from jaxmotif.sieve._colors import parse_motif, vertex_shades
from jaxmotif.sieve._extract import is_match
from jaxmotif.sieve._prune import ColoredGraph, candidates, candidates_on_device, components, restrict
from tests.more import more
from tests.sieve import brute

PATH = Graph.from_edges([(0, 1), (1, 2), (2, 3), (3, 4)], pad=None)
LABELLED = Graph.from_edges([(0, 1), (1, 2)], 5, edge_labels=[1, 2])


def planted(n, degree, size, seed):
    """A regular graph in which one connected set alone has the motif's colors: graph, colors, motif, that set."""
    rng = np.random.default_rng(seed)
    graph = random_regular(n, degree, seed)
    offsets, targets = np.asarray(graph.out_offsets), np.asarray(graph.out_targets)
    chosen = [int(rng.integers(n))]
    while len(chosen) < size:
        vertex = rng.choice(chosen)
        near = int(rng.choice(targets[offsets[vertex] : offsets[vertex + 1]]))
        chosen += [near] * (near not in chosen)
    colors = np.array(["other"] * n, dtype="<U5")
    colors[chosen] = [("red", "blue", "green")[i % 3] for i in range(size)]
    motif = {color: (colors == color).sum().item() for color in ("red", "blue", "green")}
    return graph, colors, motif, tuple(sorted(chosen))


def test_a_planted_match_is_found_and_extracted():
    graph, colors, motif, chosen = planted(128, 8, 9, seed=0)
    result = find_color_motif(graph, colors, motif, key=0)
    assert result.found
    assert result.vertices.dtype == np.int64
    assert tuple(result.vertices.tolist()) == chosen
    assert result.matches == [chosen]
    assert result.false_negative_bound <= 1e-6


def check_all_matches(rng, key, n, size, num_colors, wildcards):
    """All matches, and for each fourth key two of them, against brute force; how many there are."""
    matrix, colors, motif = brute.random_instance(rng, n, size, num_colors, wildcards)
    expected = brute.matches(matrix, colors, motif)
    result = find_color_motif(brute.graph_of(matrix), colors, motif, key=key, limit=None)
    assert set(result.matches) == expected
    assert len(result.matches) == len(expected)
    assert set(result.vertices.tolist()) == set().union(*expected)
    assert result.found == bool(expected)
    if key % 4 == 0:
        some = find_color_motif(brute.graph_of(matrix), colors, motif, key=key, limit=2).matches
        assert len(some) == min(2, len(expected))
        assert set(some) <= expected
    return len(expected)


@pytest.mark.parametrize("wildcards", [False, True])
def test_all_matches_of_small_graphs(wildcards):
    """Every match, each once: the sieve's partition of the space of matches against brute force."""
    rng = np.random.default_rng(wildcards)
    # Of graphs with several colors a vertex, one in ten tells whether vertices are forced that must not be.
    assert sum(check_all_matches(rng, key, 8, 4, 2, wildcards) for key in range(48 if wildcards else 12)) > 50


def check_directed_and_labelled(rng, n, size, density, direction):
    """All matches and all roots, along the edges that count alone, against brute force; how many matches."""
    arcs = rng.random((n, n)) < density
    arcs = np.triu(arcs, 1) if direction is None else arcs & ~np.eye(n, dtype=bool)
    _, colors, motif = brute.random_instance(rng, n, size, 2, wildcards=rng.random() < 0.4)
    edges = np.argwhere(arcs)
    labels = rng.integers(0, 3, len(edges))
    graph = Graph.from_edges(edges, n, direction is not None, edge_labels=labels, pad=(16, 64))
    arcs[tuple(edges[labels == 1].T)] = False
    allowed = {"out": arcs, "in": arcs.T}.get(str(direction), arcs | arcs.T)
    expected = brute.rooted_matches(allowed, colors, motif)
    options = {"edge_labels": (0, 2), "direction": direction, "limit": None}
    result = find_color_motif(graph, colors, motif, int(rng.integers(2**31)), **options)
    assert sorted(result.matches) == sorted(expected)
    assert result.vertices.tolist() == sorted(set().union(*expected.values()))
    assert not result.notes
    return len(expected)


@pytest.mark.parametrize("direction", ["out", *more(None, "in", "any")])
def test_directed_graphs_and_labels_of_edges(direction):
    rng = np.random.default_rng(9)
    assert sum(check_directed_and_labelled(rng, 8, 4, 0.5, direction) for _ in range(8)) > 8


@pytest.mark.slow
def test_thousands_of_directed_and_labelled_graphs():
    rng = np.random.default_rng(10)
    found = 0
    for number in range(2500):
        n, size, density = int(rng.integers(3, 9)), int(rng.integers(1, 6)), rng.choice([0.2, 0.4, 0.6])
        found += check_directed_and_labelled(rng, n, size, density, (None, "out", "in", "any")[number % 4])
    assert found > 2500


def test_a_hub_without_arcs_of_its_own_and_words_for_labels():
    """An in-star whose hub is the motif's last: the sink's rows are read and never written; labels have words."""
    graph = Graph.from_edges([(leaf, 0) for leaf in range(1, 101)], directed=True, edge_labels=[1] * 60 + [2] * 40)
    object.__setattr__(graph, "edge_label_names", {1: "binds", 2: "cuts"})
    options = {"colors": ["b"] + ["a"] * 100, "motif": {"a": 1, "b": 1}, "key": 0, "limit": 0}
    found = find_color_motif(graph, **options, direction="out", edge_labels=["binds"])
    assert found.vertices.tolist() == list(range(1, 61))
    found = find_color_motif(graph, **options, direction="in", edge_labels={"cuts", 1})
    assert found.vertices.tolist() == [0]
    with pytest.raises(ValueError, match="no edge has the label 'eats'; labels of this graph are binds, cuts"):
        find_color_motif(graph, **options, direction="in", edge_labels=["eats"])


def test_extraction_by_restricting_in_a_larger_graph():
    """Every vertex lies in a match, so no component is one."""
    graph = random_regular(128, 8, 1)
    colors, motif = np.arange(128) % 3, {0: 3, 1: 3, 2: 3}
    result = find_color_motif(graph, colors, motif, key=1, limit=3)
    host = ColoredGraph(
        np.asarray(graph.out_offsets),
        np.asarray(graph.out_targets),
        vertex_shades(colors, parse_motif(motif), 128, None),
    )
    assert len(set(result.matches)) == 3
    assert all(is_match(host, parse_motif(motif), match) for match in result.matches)


def test_matches_of_a_large_graph_are_extracted_in_balls(monkeypatch):
    """Once a ball holds a match, the sieve runs on small arrays, and looks no further than the match can reach."""
    graph = random_regular(5000, 6, 1)
    colors, motif = np.random.default_rng(0).integers(0, 4, 5000), dict.fromkeys(range(4), 1)
    padded, sizes = [], []
    upload, values = runner.Sieve.upload, runner.Sieve.values

    def noted_upload(sieve, graph, capacities=None):
        arrays = upload(sieve, graph, capacities)
        padded.append(arrays[0][2].shape[0])
        return arrays

    def noted_values(sieve, placed, *rest):
        sizes.append(placed.n)
        return values(sieve, placed, *rest)

    monkeypatch.setattr(runner.Sieve, "upload", noted_upload)
    monkeypatch.setattr(runner.Sieve, "values", noted_values)
    result = find_color_motif(graph, colors, motif, key=0, limit=4)
    assert len(set(result.matches)) == 4
    host = ColoredGraph(
        np.asarray(graph.out_offsets),
        np.asarray(graph.out_targets),
        vertex_shades(colors, parse_motif(motif), 5000, None),
    )
    assert all(is_match(host, parse_motif(motif), match) for match in result.matches)
    runs = result.repetitions
    assert set(sizes[:runs]) == {5000}
    # Three steps from a vertex lead to 187 vertices at most.
    assert max(sizes[runs:]) <= 1 + 6 + 6 * 5 + 6 * 5 * 5
    assert max(padded[1:]) <= 5120 // 16


def test_smaller_capacities():
    def sized(n, slots):
        return ColoredGraph(np.zeros(n + 1, np.int32), np.zeros(slots, np.int32), np.zeros(n, np.uint32))

    for n, slots, whole, expected in (
        (5000, 30_000, (5120, 32_768), (5120, 32_768)),
        (320, 2048, (5120, 32_768), (320, 2048)),
        (321, 2048, (5120, 32_768), (5120, 32_768)),
        (320, 2049, (5120, 32_768), (5120, 32_768)),
        (30, 100, (1 << 20, 1 << 25), (256, 8192)),
        (30, 100, (4095, 1 << 16), (4095, 1 << 16)),
    ):
        assert runner.smaller_capacities(sized(n, slots), whole) == expected


def test_isolated_matches_all_come_out():
    """Footnote 4 of the paper: components of exactly k vertices."""
    edges = [(4 * c + a, 4 * c + b) for c in range(5) for a, b in ((0, 1), (1, 2), (2, 3))]
    colors = ["red", "blue", "blue", "red"] * 4 + ["red", "blue", "red", "red"]
    result = find_color_motif(Graph.from_edges(edges), colors, {"red": 2, "blue": 2}, key=0, limit=None)
    assert sorted(result.matches) == [tuple(range(4 * c, 4 * c + 4)) for c in range(4)]
    assert result.vertices.tolist() == list(range(16))


def test_cheap_noes():
    for colors, motif in (
        (["red"] * 5, {"red": 2, "blue": 1}),
        (["red", "red", "red", "red", "blue"], {"red": 1, "blue": 2}),
        ([None] * 5, {"red": 1}),
        (["red", None, "red", None, "red"], {"red": 2}),
    ):
        result = find_color_motif(PATH, colors, motif, key=0)
        assert (result.found, result.vertices.tolist(), result.matches) == (False, [], [])
        assert (result.repetitions, result.false_negative_bound) == (0, 0.0)


def test_empty_graph_and_single_vertices():
    for none in ([], np.array([], str)):
        assert not find_color_motif(Graph.from_edges([], num_nodes=0), none, {"a": 1}, key=0).found
    result = find_color_motif(Graph.from_edges([], num_nodes=3), ["a", "b", "a"], {"a": 1}, key=0, limit=None)
    assert result.vertices.tolist() == [0, 2]
    assert sorted(result.matches) == [(0,), (2,)]


def test_a_no_takes_all_repetitions():
    """Right colors in one component, no match: the runs and the bound follow from the error."""
    colors = ["red", "blue", "blue", "green", "blue"]
    for error, repetitions in ((0.5, 1), (1e-3, 2), (1e-6, 4)):
        result = find_color_motif(PATH, colors, {"red": 1, "blue": 1, "green": 1}, key=0, error=error)
        assert not result.found
        assert result.repetitions == repetitions == search.needed_repetitions(3, error)
        assert result.false_negative_bound == (5 / 256) ** repetitions <= error


def test_names_colors_and_keys_in_other_forms():
    graph = Graph.from_edges([(0, 1), (1, 2)], node_names=["x", "y", "z"])
    expected = find_color_motif(graph, ["r", "b", "r"], {"r": 2, "b": 1}, key=4)
    assert expected.found
    for colors, motif, key in (
        ({"z": "r", "x": ["r"], "y": {"b", "c"}}, {"r": 2, "b": 1, "unused": 0}, jax.random.key(4)),
        (np.array(["r", "b", "r"]), {"b": np.int64(1), "r": 2}, 4),
        ([7, (7, 9), 7], {7: 2, 9: 1}, 4),
        (np.array([7, 9, 7], np.uint8), {7: 2, 9: 1}, 4),
    ):
        result = find_color_motif(graph, colors, motif, key)
        assert result.vertices.tolist() == [0, 1, 2]
        assert result.matches == expected.matches
    assert find_color_motif(graph, colors, motif, key, limit=2**70).matches == [(0, 1, 2)]


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"motif": {}}, ValueError, "motif is empty"),
        ({"motif": {"r": 0}}, ValueError, "motif is empty"),
        ({"motif": {"r": -1}}, ValueError, "'r' cannot occur -1 times"),
        ({"motif": {"r": 1.5}}, TypeError, "whole number of times, got 1.5"),
        ({"motif": {"r": True}}, TypeError, "whole number of times, got True"),
        ({"motif": {"r": 31}}, ValueError, "1 to 30 vertices, got 31"),
        ({"motif": "r:2"}, TypeError, "maps colors to numbers"),
        ({"motif": {3: 1}}, TypeError, "color 3 of the motif cannot occur among colors such as 'r'"),
        ({"colors": ["r"] * 4}, ValueError, "4 colors for 5 vertices"),
        ({"colors": "rrrrr"}, TypeError, "one entry a vertex"),
        ({"colors": {"r", "s", "t", "u", "v"}}, TypeError, "one entry a vertex"),
        ({"colors": np.zeros((5, 2), int)}, ValueError, "shape .5, 2."),
        ({"colors": np.ma.array(["r"] * 5, mask=[1, 0, 0, 0, 0])}, ValueError, "masked values in colors"),
        ({"colors": {9: "r"}}, ValueError, "9, which is no vertex"),
        ({"colors": [[["r"]], "r", "r", "r", "r"]}, TypeError, "vertex 0"),
        ({"error": 0.0}, ValueError, "between 0 and 1, got 0.0"),
        ({"error": None}, TypeError, "error must be a number between 0 and 1, got None"),
        ({"limit": 2.5}, TypeError, "limit must be an integer, got 2.5"),
        ({"limit": -1}, ValueError, "limit must not be negative, got -1"),
        ({"graph": Graph.from_edges([(0, 1)], directed=True)}, ValueError, "'out', 'in', 'any'; got None"),
        ({"direction": "out"}, ValueError, "leave out direction='out'"),
        ({"edge_labels": [1]}, ValueError, "edges have no labels"),
        ({"graph": LABELLED, "edge_labels": [1, 99]}, ValueError, "no edge has the label 99; .* are 1, 2$"),
        ({"graph": LABELLED, "edge_labels": [1.0]}, TypeError, "label in edge_labels must be an integer, got 1.0"),
        ({"edge_labels": "red"}, TypeError, "collection of labels"),
        ({"devices": "tpu"}, ValueError, "unknown device 'tpu'"),
    ],
)
def test_mistakes(changes, error, text):
    arguments = {"graph": PATH, "colors": ["r"] * 5, "motif": {"r": 2}, "key": 0} | changes
    with pytest.raises(error, match=text):
        find_color_motif(**arguments)


@pytest.fixture(scope="module")
def large():
    """An instance of several steps, with a hub: host and key."""
    rng = np.random.default_rng(5)
    matrix, colors, motif = brute.random_instance(rng, 100, 9, 3, wildcards=True)
    matrix[0, 1:] = matrix[1:, 0] = True
    graph = brute.graph_of(matrix, pad=None)
    return ColoredGraph(np.asarray(graph.out_offsets), np.asarray(graph.out_targets), brute.shades_of(colors, motif))


@pytest.fixture
def short_steps(monkeypatch):
    monkeypatch.setitem(runner._STEP_WORK, "cpu", 1.0)
    monkeypatch.setitem(runner._UNIT_WORDS, "cpu", 1)


def values(host, devices, key):
    sieve = runner.Sieve(9, devices)
    return sieve.values(sieve.place(host), key)


@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_the_same_bits_on_several_devices(large, short_steps, count):
    key, devices = jax.random.key(6), jax.devices()
    assert len(devices) >= 4
    one, several = (values(large, tuple(devices[:number]), key) for number in (1, count))
    assert (one != 0).sum() > 50
    np.testing.assert_array_equal(one, several)


def test_every_word_is_in_one_block_and_smaller_blocks_begin_anew(monkeypatch):
    """Any stretch is cut into aligned blocks; where memory runs out, what was added up is done again in smaller."""
    done = []

    def advance(draw, total, blocks, *, words):
        done.extend(range(int(blocks[0]) * words, int(blocks[1]) * words))
        return total + np.uint8(1)

    monkeypatch.setattr(runner, "_advance", advance)
    draw = SimpleNamespace(rows=SimpleNamespace(vertices=3))
    task = runner._Task(draw, jax.devices()[0], 2, 4)
    for block in (2, 1, None):
        for first, stop in itertools.combinations(range(8), 2):
            done.clear()
            task.step(Span(first, stop))
            assert done == list(range(2 * first, 2 * stop))
        assert task.halve() == (block and f"blocks of {block} words")
        assert task.collect()["total"].any() == (block is None)
        assert not task.collect()["total"].any()
    # The words of the largest motif are divided among items that have equally many.
    assert runner.polynomials.num_words(30) == 2**25
    assert 2**25 % runner._ITEMS == 0


def test_interrupted_runs_go_on_to_the_same_bits(tmp_path, monkeypatch, short_steps):
    graph, colors, motif, _ = planted(128, 8, 9, seed=2)
    colors[:] = np.where(colors == "other", "red", colors)
    monkeypatch.setattr(record, "SAVE_SECONDS", 0.0)
    options = {"limit": 0, "error": 1e-3, "memory": 1 << 20}
    whole = find_color_motif(graph, colors, motif, 0, **options)
    folder = tmp_path / "state"
    save = record.checkpoint.save

    def stop_after(steps):
        counter = itertools.count(1)

        def stopping(*arguments):
            save(*arguments)
            if next(counter) == steps:
                raise KeyboardInterrupt

        return stopping

    for steps in (4, 2, 3):
        with monkeypatch.context() as patch:
            patch.setattr(record.checkpoint, "save", stop_after(steps))
            with pytest.raises(KeyboardInterrupt):
                find_color_motif(graph, colors, motif, 0, checkpoint=folder, **options)
        assert (folder / "sieve-1.checkpoint").exists()
    with pytest.raises(ValueError, match="other input or options"):
        find_color_motif(graph, colors, motif, 1, checkpoint=folder, **options)
    again = find_color_motif(graph, colors, motif, 0, checkpoint=folder, **options)
    np.testing.assert_array_equal(again.vertices, whole.vertices)
    assert again.repetitions == whole.repetitions


def test_a_damaged_checkpoint_is_named(tmp_path):
    (tmp_path / "sieve-1.checkpoint").write_text("jaxmotif checkpoint 1\n{")
    with pytest.raises(ValueError, match="sieve-1.checkpoint: damaged"):
        find_color_motif(PATH, ["r"] * 5, {"r": 2}, 0, checkpoint=tmp_path)


def test_components_and_restriction():
    rng = np.random.default_rng(8)
    for n in (1, 2, 30, 200):
        matrix = np.triu(rng.random((n, n)) < 1.2 / n, 1)
        matrix |= matrix.T
        degrees = matrix.sum(1)
        host = ColoredGraph(
            np.concatenate([[0], np.cumsum(degrees)]).astype(np.int32),
            np.nonzero(matrix)[1].astype(np.int32),
            np.arange(n, dtype=np.uint32),
        )
        label = components(host)
        reach = np.linalg.matrix_power((matrix | np.eye(n, dtype=bool)).astype(float), 1) > 0
        for _ in range(8):
            reach = (reach.astype(float) @ reach.astype(float)) > 0
        np.testing.assert_array_equal(np.unique(label, return_index=True)[1][label], reach.argmax(1))
        assert np.all(np.diff(np.unique(label, return_index=True)[1]) > 0)
        keep = rng.random(n) < 0.7
        inside, ids = restrict(host, keep)
        rows = [
            sorted(ids[inside.targets[inside.offsets[i] : inside.offsets[i + 1]]].tolist()) for i in range(inside.n)
        ]
        assert rows == [np.flatnonzero(matrix[v] & keep).tolist() for v in np.flatnonzero(keep)]
        np.testing.assert_array_equal(inside.shades, ids)


def test_candidates_need_enough_of_every_color():
    motif = parse_motif({"r": 2, "b": 1})
    graph = Graph.from_edges([(0, 1), (1, 2), (3, 4), (4, 5), (6, 7), (8, 9), (9, 10), (10, 11)], pad=None)
    colors = ["r", "r", "b", "r", "b", "b", "r", "b", "r", None, "r", "b"]
    host = ColoredGraph(
        np.asarray(graph.out_offsets), np.asarray(graph.out_targets), vertex_shades(colors, motif, 12, None)
    )
    assert np.flatnonzero(candidates(host, motif)).tolist() == [0, 1, 2]


def test_candidates_are_the_same_on_a_device():
    rng = np.random.default_rng(3)
    motif = parse_motif({"r": 2, "b": 1})
    some = 0
    for number in range(20):
        graph = erdos_renyi(40, m=24 + number, seed=number, pad=None)
        colors = [(None, "r", "b", {"r", "b"})[x] for x in rng.integers(0, 4, 40)]
        host = ColoredGraph(
            np.asarray(graph.out_offsets), np.asarray(graph.out_targets), vertex_shades(colors, motif, 40, None)
        )
        wanted = candidates(host, motif)
        padded = np.pad(host.offsets, (0, 8), mode="edge"), np.pad(host.targets, (0, 96 - host.targets.size))
        found = candidates_on_device(*map(jnp.asarray, (*padded, np.pad(host.shades, (0, 8)))), motif)
        assert found.tolist() == [*wanted.tolist(), *[False] * 8]
        some += wanted.any() and not wanted.all()
    assert some > 10


def test_is_match_verifies():
    motif = parse_motif({"r": 2, "b": 1})
    colors = ["r", {"r", "b"}, "r", "b", "b"]
    host = ColoredGraph(
        np.asarray(PATH.out_offsets), np.asarray(PATH.out_targets), vertex_shades(colors, motif, 5, None)
    )
    good = {(0, 1, 2), (1, 2, 3)}
    for chosen in itertools.combinations(range(5), 3):
        assert is_match(host, motif, chosen) == (chosen in good)
    assert not is_match(host, motif, (0, 1))
    assert not is_match(host, motif, (0, 1, 1, 2, 3))


def test_blocks_of_few_words_leave_most_of_the_memory(monkeypatch):
    """More than eight words are for a quarter of it, on a GPU; hosts of 2^10 to 2^26 vertices, 64 GiB."""
    monkeypatch.setattr(runner, "target_of", lambda device: Target("cuda", "ptx"))
    monkeypatch.setattr(runner, "default_memory", lambda device: 2**36)
    sieve = runner.Sieve(10)
    hosts = [SimpleNamespace(rows=SimpleNamespace(vertices=2**i, pieces=0)) for i in (10, 20, 22, 24, 26)]
    assert [sieve._block_words(host, None, 32) for host in hosts] == [32, 32, 8, 8, 2]
