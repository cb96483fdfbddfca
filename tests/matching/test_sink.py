"""Matches written to files: the rows of a list, the same bytes whatever happens on the way."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import jax
import networkx as nx
import numpy as np
import pyarrow.parquet as parquet
import pytest

import jaxmotif
from jaxmotif.graph import Graph
from jaxmotif.matching import Search, _listing, count_matches, find_matches
from jaxmotif.matching import _sink as sinks
from jaxmotif.search._deadline import Deadline, TimeIsUp
from jaxmotif.search._listing import Listed

QUERY = nx.path_graph(4)
TARGET = Graph.from_networkx(nx.gnp_random_graph(40, 0.15, seed=2))
STRETCHES = 16  # few: each is a search, and a file


def read(path):
    if path.suffix == ".parquet":
        table = parquet.read_table(path)
        return np.stack([table[str(u)].to_numpy() for u in range(table.num_columns)], axis=1)
    if path.suffix == ".npz":
        return np.load(path)["nodes"]
    return np.loadtxt(path, delimiter=",", skiprows=1, dtype=int, ndmin=2)


@pytest.fixture(autouse=True)
def few_stretches():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_listing, "CHECKPOINT_STRETCHES", STRETCHES)
        yield


@pytest.fixture(scope="module")
def everything():
    return find_matches(QUERY, TARGET)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
def test_files_hold_the_list(tmp_path, everything, suffix, monkeypatch):
    monkeypatch.setattr(sinks, "ROWS", 300)
    contents = set()
    ways = ({}, {"devices": jax.devices()[:2]}, {"checkpoint": tmp_path / "kept"})
    for number, options in enumerate(ways):
        path = tmp_path / f"hits{number}{suffix}"
        found = find_matches(QUERY, TARGET, sink=path, **options)
        assert (found.path, found.count, found.exact, found.order) == (path, len(everything), True, everything.order)
        assert (read(path) == everything.nodes).all()
        assert len(found) == found.count
        assert found.table() == {"path": [str(path)], "matches": [found.count], "exact": [True], "status": ["done"]}
        contents.add(path.read_bytes())
    assert len(contents) == 1
    limited = find_matches(QUERY, TARGET, limit=500, sink=path, checkpoint=tmp_path / "kept")
    assert (limited.count, limited.status) == (500, "stopped at limit=500")
    assert (read(path) == everything.nodes[:500]).all()
    nothing = find_matches(nx.complete_graph(12), TARGET, sink=path, checkpoint=tmp_path / "kept")
    assert (nothing.count, nothing.exact) == (0, True)
    assert suffix == ".csv" or read(path).shape == (0, 12)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["kept", *(f"hits{i}{suffix}" for i in range(3))])
    assert not list((tmp_path / "kept").iterdir())


def test_an_empty_path_is_no_folder_of_checkpoints(tmp_path, monkeypatch):
    """It would be the current folder."""
    monkeypatch.chdir(tmp_path)
    for door in (count_matches, partial(find_matches, sink=tmp_path / "hits.npz")):
        with pytest.raises(ValueError, match="checkpoint is an empty path; name a folder"):
            door(QUERY, TARGET, checkpoint="")
    assert not list(tmp_path.iterdir())


def test_what_is_stopped_goes_on(tmp_path, everything, monkeypatch):
    path, folder = tmp_path / "hits.npz", tmp_path / "kept"
    options = {"sink": path, "checkpoint": folder, "search": Search(block=64)}
    stopped = find_matches(QUERY, TARGET, time_limit=0.0, **options)
    assert (stopped.path, stopped.exact) == (None, False)
    assert not path.exists()
    added = []

    def fail(self, block):
        if len(added) == 12:
            raise KeyboardInterrupt
        added.append(block)
        keep(self, block)

    keep = sinks.Pieces.add
    monkeypatch.setattr(sinks.Pieces, "add", fail)
    with pytest.raises(KeyboardInterrupt):
        find_matches(QUERY, TARGET, **options)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="checkpoint of other input or options"):
        find_matches(nx.path_graph(3), TARGET, sink=path, checkpoint=folder)
    done = len(list(folder.glob("*.piece")))
    assert done > 0
    assert not path.exists()
    seen = []
    monkeypatch.setattr(sinks.Pieces, "add", lambda self, block: (seen.append(block.stretch), keep(self, block))[1])
    assert find_matches(QUERY, TARGET, **options).count == len(everything)
    assert min(seen) == done
    assert (read(path) == everything.nodes).all()


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
def test_a_limit_of_time_leaves_no_file(tmp_path, everything, suffix, monkeypatch):
    """The time is up when some rows are written."""
    written = []

    class Late(Deadline):
        passed = property(lambda self: bool(written))

    kind = sinks._WRITERS[suffix]

    @contextlib.contextmanager
    def noted(path, size):
        with kind(path, size) as write:
            yield lambda nodes: (written.append(nodes.shape), write(nodes))

    monkeypatch.setitem(sinks._WRITERS, suffix, noted)
    monkeypatch.setattr(_listing, "Deadline", Late)
    monkeypatch.setattr(sinks, "ROWS", 300)
    path = tmp_path / f"hits{suffix}"
    found = find_matches(QUERY, TARGET, sink=path, time_limit=60.0, search=Search(block=64))
    assert (found.path, found.exact, found.status) == (None, False, "stopped at time_limit=60 s")
    assert 300 <= found.count < len(everything)
    assert repr(found).startswith(f"MatchFile({found.count:,} matches in no file, stopped at time_limit=60 s")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".npz"])
def test_a_failure_leaves_no_file(tmp_path, everything, suffix, monkeypatch):
    def write_and_fail():
        with sinks.open_writer(tmp_path / f"hits{suffix}", 4) as write:
            write(everything.nodes.T)
            raise KeyboardInterrupt

    monkeypatch.setattr(sinks, "ROWS", 300)
    with pytest.raises(KeyboardInterrupt):
        write_and_fail()
    assert not os.listdir(tmp_path)


def test_time_that_is_up_while_the_search_is_divided(tmp_path, monkeypatch):
    def stop(*given):
        raise TimeIsUp("stopped at time_limit=60 s")

    monkeypatch.setattr(_listing, "list_prefixes", stop)
    listed = find_matches(QUERY, TARGET, time_limit=60.0, devices=jax.devices()[:2])
    kept = find_matches(QUERY, TARGET, time_limit=60.0, sink=tmp_path / "hits.npz", checkpoint=tmp_path / "kept")
    for found in (listed, kept):
        assert (len(found), found.exact, found.status) == (0, False, "stopped at time_limit=60 s")
    assert listed.nodes.shape == (0, 4)
    assert kept.path is None
    assert os.listdir(tmp_path) == ["kept"]


def test_stretches_without_a_head_are_of_nobody(tmp_path):
    """Whoever deletes the head, as a message says, or is killed while all is removed, begins anew."""
    with sinks.Pieces(tmp_path, 2) as pieces:
        assert pieces.begin("one") == (0, 0)
        pieces.add(Listed(np.zeros((2, 3), np.int32), 0, True, ""))
        assert pieces.begin("one") == (1, 3)
        (tmp_path / "matches.checkpoint").unlink()
        assert pieces.begin("another") == (0, 0)


def test_a_query_that_matches_nothing_leaves_the_work_of_another_one_alone(tmp_path):
    kept = tmp_path / "kept"
    query, target = (Graph.from_edges([(0, 1)], node_labels=[label] * 2) for label in (0, 1))
    pieces = sinks.Pieces(kept, 2)
    pieces.begin("another")
    pieces.add(Listed(np.zeros((2, 3), np.int32), 0, True, ""))
    pieces.release()
    before = sorted(os.listdir(kept))
    with pytest.raises(ValueError, match="checkpoint of other input or options"):
        find_matches(query, target, sink=tmp_path / "hits.csv", checkpoint=kept)
    assert sorted(os.listdir(kept)) == before
    assert os.listdir(tmp_path) == ["kept"]


def test_a_kill_leaves_no_file(tmp_path):
    """Killed while it lists, then called again: the bytes of a run that was left in peace."""
    code = """
import networkx as nx, os, signal, sys
from jaxmotif.matching import _listing, _sink as sinks, find_matches
_listing.CHECKPOINT_STRETCHES = int(sys.argv[3])
keep, left = sinks.Pieces.add, [8]
def add(self, block):
    keep(self, block)
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
sinks.Pieces.add = add
target = nx.gnp_random_graph(40, 0.15, seed=2)
find_matches(nx.path_graph(4), target, sink=sys.argv[1], checkpoint=sys.argv[2])
"""
    path, folder = tmp_path / "hits.parquet", tmp_path / "kept"
    command = [sys.executable, "-c", code, str(path), str(folder), str(STRETCHES)]
    killed = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not path.exists()
    assert list(folder.glob("*.piece"))
    find_matches(QUERY, TARGET, sink=path, checkpoint=folder)
    find_matches(QUERY, TARGET, sink=tmp_path / "peace.parquet")
    assert path.read_bytes() == (tmp_path / "peace.parquet").read_bytes()


def test_mistakes(tmp_path):
    for options, error, message in (
        ({"sink": "hits.txt"}, ValueError, "sink must end in .parquet, .csv, .npz; got 'hits.txt'"),
        ({"checkpoint": tmp_path}, ValueError, "give sink= too"),
        ({"sink": tmp_path / "none" / "hits.csv"}, FileNotFoundError, "no such folder"),
    ):
        with pytest.raises(error, match=re.escape(message)):
            find_matches(QUERY, TARGET, **options)
    far = jaxmotif.query("A -> B; B -> C; A.label != C.label")
    labelled = Graph.from_edges([(0, 1), (1, 2)], node_labels=[1, 2, 3])
    with pytest.raises(ValueError, match="compares elements that no edge joins: it is listed without checkpoint"):
        find_matches(far, labelled, sink=tmp_path / "hits.npz", checkpoint=tmp_path / "kept")
    assert not list(tmp_path.glob("*.npz"))
