"""Clusters on Dask: the bits of one machine, whatever becomes of workers, and one line for what cannot be mended."""

import collections
import contextlib
import functools
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif.cli import main
from jaxmotif.devices import Cluster, ClusterError
from jaxmotif.devices import _cluster_call as calls
from jaxmotif.devices._cluster import _Driver, connect
from jaxmotif.devices._cluster_call import pack, unpack
from jaxmotif.features import census_orbits, pattern_features
from jaxmotif.matching import Search, count_matches, count_queries, disjoint_occurrences, find_matches
from jaxmotif.matching._sink import parts_of
from jaxmotif.motifs import _random_graphs
from tests.devices.jobs import _skewed, digest
from tests.more import more

pytest.importorskip("distributed")
ROOT = Path(__file__).parents[2]
HERE = "127.0.0.1"
PRELOAD = str(Path(__file__).with_name("preload.py"))


@functools.cache
def expected(name):
    return digest(name)


class Machines:
    """A scheduler and workers, each a process that may be killed; a gate, if asked for, stops the ninth step."""

    def __init__(self, folder, gated=False, **environment):
        self.folder, self.steps, self.gate = folder, folder / "steps", folder / "gate"
        self.environment = os.environ | environment
        self.environment |= {"JM_STEPS": str(self.steps), "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT)}
        # Workers that look a hundred times a second where they are take a third of the time that they wait.
        self.environment["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"] = "False"
        if gated:
            self.environment["JM_GATE"] = str(self.gate)
        self.workers = []
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--scheduler-file", str(file))
        wait_for(lambda: file.exists() and "://" in file.read_text())
        self.address = re.search(r"\w+://[\d.:]+", file.read_text())[0]

    def _start(self, kind, *options, **environment):
        command = [sys.executable, "-m", "dask", kind, *options, "--host", HERE, "--dashboard-address", f"{HERE}:0"]
        with open(self.folder / "errors", "a") as errors:
            return subprocess.Popen(
                command, env=self.environment | environment, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=errors
            )

    def start_worker(self, *options, nanny=False, **environment):
        kind = "--nanny" if nanny else "--no-nanny"
        options = [self.address, "--nthreads", "1", kind, "--preload", PRELOAD, *options]
        self.workers.append(self._start("worker", *options, **environment))
        return self.workers[-1]

    def forget(self):
        """Count the steps from one on again, and close the gate."""
        self.steps.unlink(missing_ok=True)
        self.gate.unlink(missing_ok=True)

    def begun(self):
        """The units that were begun: the worker's process, the job, and the items."""
        text = self.steps.read_text() if self.steps.exists() else ""
        return [tuple(line.split()) for line in text.splitlines()]

    def wait_for_steps(self, number):
        wait_for(lambda: len(self.begun()) >= number)

    def done_again(self):
        units = collections.Counter(step[1:] for step in self.begun())
        return sum(units.values()) - len(units)

    def end(self):
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def wait_for(true, seconds=60.0):
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


@contextlib.contextmanager
def machines(folder, workers=2, nannies=0, **environment):
    running = Machines(folder, **environment)
    try:
        for number in range(workers):
            running.start_worker(nanny=number < nannies)
        with connect(running.address) as cluster:
            if workers:
                cluster.client.wait_for_workers(workers, timeout=60)
            yield running, cluster
    finally:
        running.end()


@pytest.fixture(scope="module")
def calm(tmp_path_factory):
    """Two workers that nothing happens to, one with a nanny, and that share every job, however short."""
    with machines(tmp_path_factory.mktemp("calm"), nannies=1, JM_MOMENT="0", JM_SLOW="0.01") as started:
        yield started


@pytest.fixture
def cluster(calm):
    return calm[1]


@pytest.mark.parametrize("name", ["graphlets", *more("matching", "census", "sieve", "motifs")])
def test_the_bits_of_one_machine(cluster, name):
    assert digest(name, devices=cluster) == expected(name)


@pytest.mark.parametrize(("moment", "name"), [(60.0, "graphlets"), *more((60.0, "motifs"), (0.02, "graphlets"))])
def test_short_jobs_are_done_by_the_worker_that_plans(moment, name, calm, monkeypatch):
    """All of a call in one task, where there is time; results of jobs done alone reach the workers of later ones."""
    submitted, plain, (running, two) = [], _Driver._submit, calm

    def submit(driver, what, *args):
        submitted.append(what)
        return plain(driver, what, *args)

    monkeypatch.setattr(_Driver, "_submit", submit)
    running.forget()
    two.client.run(setattr, calls, "MOMENT", moment)
    try:
        assert digest(name, devices=two) == expected(name)
    finally:
        two.client.run(setattr, calls, "MOMENT", 0.0)
    assert len({step[0] for step in running.begun()}) == (1 if moment == 60.0 else 2)
    assert (submitted == ["call", "plan"]) == (moment == 60.0)


@pytest.mark.slow
def test_further_calls(cluster, monkeypatch):
    """All that takes devices: five nodes, types, estimates, stages, chains that go on, parts of matches."""
    monkeypatch.setattr(_random_graphs, "CPU_LANES", 2**13)  # as the workers have it
    graph, path = _skewed(), jaxmotif.Graph.from_edges([(0, 1), (1, 2), (2, 3)])

    def random(**options):
        first = jaxmotif.random_graphs(graph, 20, jax.random.key(3), **options)
        return [one.edge_list().tolist() for one in jaxmotif.random_graphs(graph, 20, 3, start=first, **options)]

    def estimated(**options):
        found = jaxmotif.estimate_census(graph, 4, error=0.1, **options)
        return found.names, found.counts.tolist(), found.hits.tolist()

    def discovered(**options):
        found = jaxmotif.find_motifs(graph, 3, "auto", 1, attempts=5, **options)
        return found.counts.tolist(), found.significance.z.tolist()

    calls = [
        random,
        estimated,
        discovered,
        lambda **options: jaxmotif.node_orbits(graph, size=5, **options).to_numpy().tolist(),
        lambda **options: jaxmotif.node_orbits(graph, typed=True, **options).to_numpy().tolist(),
        lambda **options: jaxmotif.graphlet_counts([graph, path], **options).values.tolist(),
        lambda **options: census_orbits(graph, 4, **options).values.tolist(),
        lambda **options: disjoint_occurrences(graph, "triangle", **options).occurrences.tolist(),
        lambda **options: jaxmotif.participation_counts(path, graph, **options).tolist(),
        lambda **options: [found.count for found in count_queries([path, "triangle"], graph, **options)],
    ]
    for call in calls:
        assert call(devices=cluster) == call()


def test_features_of_several_graphs(cluster):
    graphs = [jaxmotif.Graph.from_edges(edges) for edges in ([(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)])]
    assert pattern_features(graphs, ["triangle"], devices=cluster).values.tolist() == [[1], [0]]


def test_a_listing(cluster, tmp_path):
    graph, path = _skewed(), jaxmotif.Graph.from_edges([(0, 1), (1, 2), (2, 3)])

    def listed(**options):
        return find_matches(path, graph, search=Search(block=2048), **options)

    whole, some = listed().nodes, listed(limit=1000, devices=cluster)
    np.testing.assert_array_equal(listed(devices=cluster).nodes, whole)
    np.testing.assert_array_equal(some.nodes, whole[:1000])
    assert (some.exact, some.status) == (False, "stopped at limit=1000")
    parquet = pytest.importorskip("pyarrow.parquet")
    parts_of(tmp_path / "matches.parquet").mkdir()  # a call that died left it
    file = listed(sink=tmp_path / "matches.parquet", devices=cluster)
    assert (file.count, file.exact, Path(file.path)) == (len(whole), True, tmp_path / "matches.parquet")
    assert len(list(tmp_path.glob("matches.parquet/part-*.parquet"))) > 2
    rows = parquet.read_table(file.path)
    np.testing.assert_array_equal(np.stack([column.to_numpy() for column in rows.columns], axis=1), whole)
    # Planning alone finds that there is none.
    none = find_matches("triangle", path, sink=tmp_path / "none.parquet", devices=cluster)
    assert (none.count, none.exact, parquet.read_table(none.path).num_rows) == (0, True, 0)
    with pytest.raises(FileExistsError, match="is there already"):
        listed(sink=tmp_path / "matches.parquet", devices=cluster)
    with pytest.raises(ValueError, match="sink must end in .parquet"):
        listed(sink=tmp_path / "matches.csv", devices=cluster)


def test_mistakes_of_users_are_told_as_on_one_machine(cluster):
    with pytest.raises(ValueError, match="graphlets are counted in undirected graphs"):
        jaxmotif.graphlet_counts(jaxmotif.Graph.from_edges([(0, 1)], directed=True), devices=cluster)
    with pytest.raises(ValueError, match="a cluster writes no certificates: leave out certify="):
        jaxmotif.graphlet_counts([(0, 1)], devices=cluster, certify="counts.json")
    with pytest.raises(TypeError, match="cannot be shared among the workers of a cluster"):
        jaxmotif.iter_matches("triangle", _skewed(), devices=cluster)


def test_a_time_limit(cluster):
    query = jaxmotif.Graph.from_edges([(i, i + 1) for i in range(9)] + [(0, 5)])
    started = time.monotonic()
    search = Search(leaves=False, symmetry=False)
    found = count_matches(query, _skewed(), search=search, time_limit=1.0, devices=cluster)
    assert (found.exact, found.status) == (False, "stopped at time_limit=1 s")
    assert time.monotonic() - started < 10


def test_files_are_read_here(cluster, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("graph.txt").write_text("1 2\n2 3\n3 1\n")
    assert jaxmotif.graphlet_counts("graph.txt", devices=cluster).counts["triangle"] == 1
    assert count_matches("graph.txt", "graph.txt", devices=cluster).count == 6


def test_the_command(cluster, capsys):
    address = cluster.client.scheduler.addr
    assert main(["graphlets", "karate", "--format", "json"]) == 0
    alone = capsys.readouterr().out
    assert main(["graphlets", "karate", "--format", "json", "--cluster", address]) == 0
    assert capsys.readouterr().out == alone
    assert main(["graphlets", "karate", "--cluster", address, "--device", "gpu"]) == 1
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert re.fullmatch(r"jaxmotif: error: worker tcp://\S+: ValueError: device 'gpu', but JAX finds no GPU .*", line)


def test_nobody_there(capsys):
    dask = pytest.importorskip("dask")
    with dask.config.set({"distributed.comm.timeouts.connect": "0.5s"}):
        assert main(["graphlets", "karate", "--cluster", f"tcp://{HERE}:9", "--quiet"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"jaxmotif: error: no scheduler can be reached at tcp://{HERE}:9: ")


def test_random_keys_arrive_as_they_were():
    key = jax.random.key(7, impl="rbg")
    there = unpack(pack(dict, {"key": key, "size": 3}))()
    assert there["size"] == 3
    assert jax.random.key_impl(there["key"]) == jax.random.key_impl(key)
    np.testing.assert_array_equal(jax.random.key_data(there["key"]), jax.random.key_data(key))


@pytest.mark.parametrize(("keep", "asked", "kept"), [(True, None, True), (True, "off", False), (False, None, False)])
def test_a_worker_keeps_programs_as_the_user_does_and_has_what_dask_leaves_it(keep, asked, kept, monkeypatch):
    """Unless its environment forbids it; a worker that takes more memory than Dask allows it would be stopped."""
    folders, before = [], jax.config.jax_compilation_cache_dir
    monkeypatch.setattr(calls, "keep_compiled", folders.append)
    monkeypatch.setattr(calls, "free_memory", lambda device: 1000)
    monkeypatch.delenv("JAXMOTIF_CACHE", raising=False)
    if asked is not None:
        monkeypatch.setenv("JAXMOTIF_CACHE", asked)

    def free(limit, taken):
        limits, monitor = SimpleNamespace(memory_limit=limit), SimpleNamespace(get_process_memory=lambda: taken)
        return calls.meet("cpu", keep, SimpleNamespace(memory_manager=limits, monitor=monitor))[1]

    try:
        jax.config.update("jax_compilation_cache_dir", None)
        found = [free(*limits) for limits in ((None, 0), (900, 200), (5000, 200), (100, 200))]
        assert folders == [None] * 4 * kept
        jax.config.update("jax_compilation_cache_dir", "somewhere")  # kept already
        free(None, 0)
        assert len(folders) == 4 * kept
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
    assert found == [1000, 700, 1000, 1]


# Workers that die, come, fail and differ.


def run_meanwhile(cluster, name, act, **options):
    """The digest of a job, or its error, while something happens."""
    acting = threading.Thread(target=act)
    acting.start()
    try:
        return digest(name, devices=cluster, **options)
    except ClusterError as error:
        return str(error)
    finally:
        acting.join()


@pytest.mark.more
def test_all_killed_and_one_come(tmp_path, caplog):
    """The same bytes; a line says when nobody is there."""
    with machines(tmp_path, JM_SLOW="0.1") as (running, cluster):

        def act():
            running.wait_for_steps(6)
            for worker in running.workers:
                worker.kill()
            wait_for(lambda: "the cluster has no worker left; waiting for one" in caplog.messages, seconds=10)
            running.start_worker()

        assert run_meanwhile(cluster, "graphlets", act) == expected("graphlets")
        assert running.done_again() <= 4


@pytest.mark.more
def test_a_unit_that_kills_its_worker_is_named(tmp_path):
    with machines(tmp_path, workers=0, JM_FATAL="60", JM_SLOW="0.05") as (running, cluster):
        for _ in range(2):
            running.start_worker(nanny=True)
        cluster.client.wait_for_workers(2, timeout=60)
        digest("sieve", devices=cluster)  # has no item 60
        started = time.monotonic()
        with pytest.raises(ClusterError) as caught:
            digest("graphlets", devices=cluster)
        assert time.monotonic() - started < 30
        line = re.match(r"unit (\d+) to (\d+) of graphlets-1 ended \d+ workers", str(caught.value))
        first, stop = map(int, line.groups())
        assert first <= 60 < stop


@pytest.mark.more
def test_a_unit_that_fails_is_named(tmp_path):
    """Once, wherever it runs, and with the work of others kept."""
    with machines(tmp_path, JM_FAILS="60") as (running, cluster):
        with pytest.raises(ClusterError, match="RuntimeError: this item cannot be done") as caught:
            digest("graphlets", devices=cluster, checkpoint=tmp_path / "kept")
        first, stop = map(int, re.match(r"unit (\d+) to (\d+) of graphlets-1 failed", str(caught.value)).groups())
        assert first <= 60 < stop
        assert (tmp_path / "kept" / "graphlets-1.checkpoint").exists()


@pytest.mark.more
def test_the_driver_killed_and_started_again(tmp_path):
    with machines(tmp_path, JM_SLOW="0.1") as (running, _):
        command = [sys.executable, "-m", "tests.devices.jobs", "graphlets", "--cluster", running.address]
        command += ["--checkpoint", str(tmp_path / "kept")]
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as driver:
            running.wait_for_steps(8)
            driver.kill()
        again = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=200)
    assert again.stdout.split() == ["graphlets", expected("graphlets")]


@pytest.mark.skipif(shutil.which("ss") is None, reason="needs ss")
def test_nothing_listens_elsewhere(calm):
    """By the commands of the documentation, and by its LocalCluster."""
    from distributed import LocalCluster

    running, _ = calm
    with LocalCluster(n_workers=1, threads_per_worker=1, host=HERE, dashboard_address=f"{HERE}:0"):
        processes = [os.getpid(), running.scheduler.pid, *(worker.pid for worker in running.workers)]
        listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
        pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
        for pid, parent in sorted(pairs):
            if parent in processes and pid not in processes:
                processes.append(pid)
        sockets = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True).stdout
    ours = [line.split()[3] for line in sockets.splitlines() if any(f"pid={process}," in line for process in processes)]
    assert len(ours) >= 5, sockets
    assert {address.rpartition(":")[0] for address in ours} == {HERE}


@pytest.mark.more
@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_strangers_get_nothing_with_tls(tmp_path):
    """Whoever has no certificate of the cluster's authority is sent away; the cluster works."""
    from distributed import Client, LocalCluster
    from distributed.security import Security

    def certificate(name):
        command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
        files = [str(tmp_path / f"{name}.{kind}") for kind in ("key", "pem")]
        subprocess.run([*command, "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
        return Security(
            tls_ca_file=files[1],
            require_encryption=True,
            **{
                f"tls_{role}_{what}": file
                for role in ("client", "scheduler", "worker")
                for what, file in zip(("key", "cert"), files, strict=True)
            },
        )

    ours, strangers = certificate("ours"), certificate("strangers")
    options = {"host": HERE, "dashboard_address": f"{HERE}:0", "security": ours, "protocol": "tls://"}
    with LocalCluster(n_workers=1, threads_per_worker=1, **options) as local, Client(local, security=ours) as client:
        address = local.scheduler_address
        assert address.startswith("tls://")
        assert digest("graphlets", devices=Cluster(client)) == expected("graphlets")
        for how, security in ((address, strangers), (address, None), (address.replace("tls", "tcp"), None)):
            with pytest.raises((OSError, TypeError)):
                Client(how, security=security, timeout=1, set_as_default=False)


# In this order on one cluster: its workers have compiled their programs, and at last it has no scheduler.


@pytest.fixture(scope="module")
def shaken(tmp_path_factory):
    with machines(tmp_path_factory.mktemp("shaken"), workers=1, gated=True, JM_SLOW="0.1") as started:
        yield started


@pytest.fixture
def one_worker(shaken):
    shaken[0].forget()
    return shaken


@pytest.fixture
def two_workers(one_worker):
    running, cluster = one_worker
    if len(cluster.client.nthreads()) < 2:
        running.start_worker()
        cluster.client.wait_for_workers(2, timeout=60)
    return running, cluster


def test_unlike_versions_are_refused_by_name(one_worker):
    """Before any work; also those of a worker that comes later."""
    running, cluster = one_worker

    def act():
        running.wait_for_steps(9)
        before = set(cluster.client.nthreads())
        running.start_worker(JM_VERSION="0.0.9")
        wait_for(lambda: set(cluster.client.nthreads()) - before)
        running.gate.touch()

    version = jaxmotif.__version__
    assert f"jaxmotif 0.0.9 and not {version}" in run_meanwhile(cluster, "graphlets", act)
    steps = len(running.begun())
    with pytest.raises(ClusterError, match=rf"worker tcp://\S+ has jaxmotif 0.0.9 and not {version}"):
        digest("graphlets", devices=cluster)
    assert len(running.begun()) <= steps + 1
    running.workers[-1].kill()
    wait_for(lambda: len(cluster.client.nthreads()) == 1)


def test_a_worker_killed_and_another_come(two_workers):
    running, cluster = two_workers

    def act():
        running.wait_for_steps(9)
        before = set(cluster.client.nthreads())
        running.workers[0].kill()
        newcomer.append(str(running.start_worker().pid))
        wait_for(lambda: set(cluster.client.nthreads()) - before)
        running.gate.touch()

    newcomer = []
    assert run_meanwhile(cluster, "graphlets", act) == expected("graphlets")
    assert running.done_again() <= 3
    assert newcomer[0] in {step[0] for step in running.begun()}


def test_a_connection_that_breaks_before_dask_knows_that_the_scheduler_is_gone():
    driver = object.__new__(_Driver)
    driver._client = SimpleNamespace(status="running", scheduler=SimpleNamespace(addr="tcp://there"))
    gone = threading.Timer(0.1, lambda: setattr(driver._client, "status", "closed"))
    gone.start()
    with pytest.raises(ClusterError, match="the scheduler tcp://there is gone"):
        driver._check_scheduler(OSError("connection reset"))
    gone.join()


def test_the_scheduler_killed_and_a_call_that_goes_on(two_workers, tmp_path):
    """One line within two seconds; the checkpoint goes on elsewhere, to the same bits."""
    (running, cluster), kept, ended = two_workers, tmp_path / "kept", []

    def act():
        running.wait_for_steps(8)
        running.scheduler.kill()
        ended.append(time.monotonic())

    running.gate.touch()
    found = run_meanwhile(cluster, "graphlets", act, checkpoint=kept)
    assert time.monotonic() - ended[0] < 2
    assert re.fullmatch(r"the scheduler tcp://\S+ is gone; what was found .*", found)
    assert digest("graphlets", checkpoint=kept) == expected("graphlets")
