"""What all experiments share: networks, clocks, checks, other programs in turn, tables, figures and records.

A script declares rows, each a function that measures one thing, and ends in ``rows.main()``:

    rows = Rows(__doc__)

    @rows(option("--seconds", type=float, default=20.0, help="limit of each search"))
    def hard(options):
        '''Time the hard instances; aim: ten times less than any other program.'''

Every run prints first the commit, the date, the machine and the command, which a record has to name. With ``--record
FILE`` all that is printed is added to FILE, too.

Networks are looked for in ``--data FOLDER``, in $JAXMOTIF_DATA, and in shared/data beside the repository. FOLDER holds
directed/, labelled/ and undirected/, or is the one of these that a row reads.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import multiprocessing
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

import jax
import jax.numpy as jnp
import numpy as np

# jaxmotif is imported where it is used: compare.py runs this file with older checkouts, which lack newer names.
if TYPE_CHECKING:
    from jaxmotif.graph import Graph

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "results" / "figures"
DATA = Path(os.environ.get("JAXMOTIF_DATA") or HERE.parents[1] / "shared" / "data")
Kind = Literal["attributed", "directed", "labelled", "molecules", "undirected"]
Argument = tuple[tuple[str, ...], dict[str, Any]]
Row = Callable[[argparse.Namespace], None]

HARD_QUERIES = {
    "graemlin_helicobacter_L2derived/sparse_e4_0": (201_043_214, 36, 35, 322),
    "graemlin_helicobacter_L8derived/semi_e16_0": (75_806_154, 73, None, 16),
    "cmap_1a0g_a/sparse_e32_0": (132_350_220, None, None, 2.9),
    "graemlin_helicobacter_L8derived/dense_e32_0": (1_076_324_210, None, None, 1759),
    "graemlin_helicobacter_L1/sparse_e4_0": (5_884_385_502, 510, 80, 5590),
    "graemlin_helicobacter_L1/semi_e8_0": (13_352_754_063, 1173, 230, 45454),
    "graemlin_campylobacter_L4derived/semi_e16_1": (272_891_757, 247, None, 8027),
    "string_yeast_u32/sparse_e8_0": (1_027_261_090, 744, None, 0.6),
    "string_yeast_u32/dense_e32_0": (45_259_201_966, 12031, None, 20),
    "cmap_1a0g_a/sparse_e64_0": (30_940_704, None, None, 7),
    "graemlin_campylobacter_L16derived/sparse_e16_0": (1_989_473_392_832, None, None, 424),
    "string_human_u32/dense_e64_0": (790_785_306_501_120, None, None, 567),
    "string_yeast_s32/sparse_e8_0": (23_236_866_643, None, None, 104),
    "string_yeast_s32/dense_e64_0": (1_512_956_511_234_595_046_551_716_720, None, None, 56),
}
"""Matches, and ms on an H200 machine of EGSM and T-DFS (GPU, listing) and of DAF (one CPU core, counting)."""

# Some rows compare with the oracles of the tests, which are not installed.
sys.path.append(str(HERE.parent))


# ---- the command line


def option(*names: str, **settings: Any) -> Argument:
    """Describe an argument of a row, as ``add_argument`` of argparse takes it."""
    return names, settings


def numbers(text: str) -> list[int]:
    """Parse whole numbers between commas; there may be none."""
    return [int(number) for number in text.split(",") if number]


def words(text: str) -> list[str]:
    """Parse words between commas; there may be none."""
    return [word for word in text.split(",") if word]


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that every row takes."""
    parser.add_argument("--data", type=Path, metavar="FOLDER", default=DATA, help="folder of networks")
    parser.add_argument("--record", type=Path, metavar="FILE", help="also add what is printed to this file")


class Rows:
    """The command line of a script: a subcommand for each row.

    Args:
      doc: the script's docstring.
      workers: whether rows run in processes of their own. Then this process must not start a device, which would
        keep its memory from them.
    """

    def __init__(self, doc: str | None, workers: bool = False):
        self.parser = argparse.ArgumentParser(
            description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
        )
        self._choices = self.parser.add_subparsers(dest="row", metavar="ROW", required=True)
        self._workers = workers

    def __call__(self, *arguments: Argument, name: str | None = None) -> Callable[[Row], Row]:
        """Make a function a row, called as the function is unless ``name`` says otherwise."""

        def add(act: Row) -> Row:
            called = name or act.__name__.replace("_", "-")
            doc = act.__doc__ or ""
            parser = self._choices.add_parser(called, help=doc.partition("\n")[0], description=doc, allow_abbrev=False)
            for names, settings in arguments:
                parser.add_argument(*names, **settings)
            add_common(parser)
            parser.set_defaults(act=act)
            return act

        return add

    def main(self) -> None:
        """Run the row that the command line names."""
        options = self.parser.parse_args()
        run(options.act, options, self._workers)


def run(act: Row, options: argparse.Namespace, workers: bool = False) -> None:
    """Print where and how this run is made, and run a row."""
    with contextlib.ExitStack() as stack:
        if options.record:
            file = stack.enter_context(options.record.open("a", encoding="utf-8"))
            stack.enter_context(contextlib.redirect_stdout(Tee(sys.stdout, file)))  # pyright: ignore[reportArgumentType]
        where = machine_of_workers() if workers else machine()
        print(
            f"Commit {commit()}, {today()}; {where}, Python {platform.python_version()}\n\n    {command()}\n",
            flush=True,
        )
        act(options)


class Tee:
    """A text stream that writes to several others."""

    def __init__(self, *streams: TextIO):
        self._streams = streams

    def write(self, text: str) -> int:
        for stream in self._streams:
            stream.write(text)
        return len(text)

    def flush(self) -> None:
        for stream in self._streams:
            stream.flush()


# ---- what a record has to name


def commit() -> str:
    """Return the commit of this checkout, with a plus sign where files differ from it; "unknown" without git."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return git("rev-parse", "--short=7", "HEAD") + "+" * bool(git("status", "--porcelain", "-uno"))
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def today() -> str:
    """Return the date as a record has it."""
    return datetime.date.today().isoformat()


def command() -> str:
    """Return the command that started this process, without where it writes and without folders of this machine."""
    words, given = [], iter(sys.argv[1:])
    for word in given:
        if word in ("--out", "--record"):
            next(given, None)
            continue
        path = Path(word)
        if path.is_absolute():
            word = "FOLDER" if path.is_dir() else path.name
        words.append(f"'{word}'" if " " in word else word)
    return " ".join(["python", f"experiments/{Path(sys.argv[0]).name}", *words])


def machine() -> str:
    """Describe the devices, without the name of the host."""
    device, count = jax.devices()[0], len(jax.devices())
    kind = f"CPU, {len(os.sched_getaffinity(0))} cores" if device.platform == "cpu" else device.device_kind
    many = f"{count} x " if count > 1 and device.platform != "cpu" else ""
    return f"{many}{kind}, jax {jax.__version__}"


def machine_of_workers() -> str:
    """Describe the devices as a process of its own sees them, which then lets go of them."""
    code = f"import sys; sys.path.insert(0, {str(HERE)!r}); import harness; print(harness.machine())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return found.stdout.strip() or "no device"


def backend() -> str:
    """Return the kind of device, "cpu" or "gpu", which names of figures end in."""
    return "cpu" if jax.default_backend() == "cpu" else "gpu"


# ---- networks


def data_folder(data: Path, kind: Kind) -> Path:
    """Return the folder of networks of one kind, or end the program if there is none."""
    if (data / kind).is_dir():
        return data / kind
    # A folder that was named may itself be the one of that kind; the default never is.
    if data.is_dir() and (data != DATA or data.name == kind):
        return data
    raise SystemExit(f"no {kind} networks in {data}: name their folder by --data FOLDER, or in JAXMOTIF_DATA")


def undirected(data: Path, name: str) -> Graph:
    """Read an undirected network."""
    from jaxmotif.io import read_graph

    return read_graph(data_folder(data, "undirected") / f"{name}.edges.gz", format="edges")


def directed(data: Path, name: str) -> Graph:
    """Read a directed network."""
    from jaxmotif.io import read_graph

    return read_graph(data_folder(data, "directed") / f"{name}.edges", directed=True)


def all_directed(data: Path) -> dict[str, Graph]:
    """Read all directed networks, by name."""
    return {path.stem: directed(data, path.stem) for path in sorted(data_folder(data, "directed").glob("*.edges"))}


def instance(data: Path, name: str) -> tuple[Graph, Graph]:
    """Read the query and the target of ``TARGET/QUERY``; a further part of the name, ``/induced``, is passed over."""
    from jaxmotif.io import read_graph

    target, query = name.split("/")[:2]
    folder = data_folder(data, "labelled") / target
    return read_graph(folder / "queries" / f"{query}.txt"), read_graph(folder / "target.txt.gz")


def network(data: Path, name: str) -> Graph:
    """Read an undirected network, or make one that a name stands for.

    ``rmat-SCALE``: 2^SCALE nodes, edge factor 8. ``er-1k``, ``ba-1k``, ``geometric-1k``: 1,000 nodes and 150,000 edges.
    """
    from jaxmotif.graph import Graph, synthetic

    if name.startswith("rmat-"):
        return synthetic.rmat(int(name[5:]), 8, seed=1, isolated="drop", pad="bucket")
    if name == "er-1k":
        return synthetic.erdos_renyi(1000, m=150_000, seed=1, pad="bucket")
    if name == "ba-1k":
        return synthetic.barabasi_albert(1000, 184, seed=1, pad="bucket")
    if name == "geometric-1k":  # the closest pairs of random points in the unit square
        points = np.random.default_rng(1).random((1000, 2))
        u, v = np.triu_indices(1000, 1)
        closest = np.argpartition(((points[u] - points[v]) ** 2).sum(1), 150_000)[:150_000]
        return Graph.from_edges(np.stack([u[closest], v[closest]], 1), num_nodes=1000, pad="bucket")
    return undirected(data, name)


def rmat_edges(scale: int, at_once: int = 1 << 22) -> np.ndarray:
    """Draw an R-MAT graph on the device: 16 rows for each of ``2^scale`` nodes, int32 ``[E, 2]`` in host memory."""

    def draw(key: jax.Array) -> jax.Array:
        def bit(index: jax.Array, ends: jax.Array) -> jax.Array:
            at = jax.random.uniform(jax.random.fold_in(key, index), (at_once,))
            u = at >= 0.76
            v = ((at >= 0.57) & ~u) | (at >= 0.95)
            return 2 * ends + jnp.stack([u, v], axis=1).astype(jnp.int32)

        return jax.lax.fori_loop(0, scale, bit, jnp.zeros((at_once, 2), jnp.int32))

    return drawn_edges(draw, max(1, (16 << scale) // at_once))


def drawn_edges(draw: Callable[[jax.Array], jax.Array], parts: int) -> np.ndarray:
    """Draw edges on the device, a part for each of so many keys; int32 ``[E, 2]`` in host memory."""
    draw = jax.jit(draw)
    return np.concatenate([np.asarray(draw(key)) for key in jax.random.split(jax.random.key(0), parts)])


SETS = {"100,000 of 18 to 28 nodes": (100_000, 18, 29, 3), "20,000 of 20 to 60 nodes": (20_000, 20, 61, 8)}
"""Sets of small graphs: how many, least and most nodes (not included), edges beside those of a tree."""


def small_graphs(count: int, least: int, stop: int, more: int) -> list[np.ndarray]:
    """Make an edge array ``[E, 2]`` for each of many graphs as large as molecules.

    They are trees in which each node hangs on one of the three before it, with ``more`` edges between any nodes.
    """
    rng = np.random.default_rng(0)
    n = rng.integers(least, stop, count)
    node = np.arange(n.sum()) - np.repeat(np.cumsum(n) - n, n)
    below = np.maximum(0, node - rng.integers(1, 4, node.size))
    owner = np.concatenate([np.repeat(np.arange(count), n), np.repeat(np.arange(count), more)])
    ends = (rng.random((2, count * more)) * np.repeat(n, more)).astype(np.int64)
    edges = np.concatenate([np.stack([below, node]), ends], axis=1)[:, (order := np.argsort(owner, kind="stable"))].T
    return np.split(edges, np.cumsum(np.bincount(owner[order]))[:-1])


# ---- checks


def verified(data: Path, kind: Kind, file: str) -> dict[str, Any]:
    """Read the verified answers of a file such as ``graphlets.json``, by network; none if it is not there."""
    if not data.is_dir():  # nothing is known of graphs that are made here, which need no folder
        return {}
    path = data_folder(data, kind) / file
    if not path.exists():
        return {}
    answers = json.loads(path.read_text())
    return answers.get("graphs", answers.get("targets", answers))


def check(what: str, found: Any, expected: Any) -> None:
    """End the program at a wrong result."""
    if found != expected:
        raise SystemExit(f"{what}: {found}, not {expected}")


def check_counts(data: Path, name: str, counts: Mapping[str, int]) -> str:
    """End the program if counts differ from the verified ones; say "ok", or "-" where none are known."""
    known = verified(data, "undirected", "graphlets.json").get(name)
    if known is None:
        return "-"
    wrong = {key: (counts[key], value) for key, value in known["counts"].items() if counts[key] != value}
    check(f"{name}, counts that differ", wrong, {})
    return "ok"


# ---- clocks


def clock() -> float:
    """Return seconds: CPU seconds of all threads on a CPU, which others may share, else wall seconds."""
    return time.process_time() if jax.default_backend() == "cpu" else time.perf_counter()


class Timing(NamedTuple):
    """How long a call takes, in seconds.

    Attributes:
      first: the first call, which compiles.
      best: the least of the later ones, each waited for (the first one's, if there are no others).
      median: the middle one of the later ones.
      cpu: the least CPU seconds, all threads together, of the later ones.
      first_cpu: CPU seconds of the first call.
      programs: how many programs the first call compiled.
      compiling: what XLA took for these, added up over its threads.
      result: what the fastest of the later calls gave.
    """

    first: float
    best: float
    median: float
    cpu: float
    first_cpu: float
    programs: int
    compiling: float
    result: Any

    @property
    def seconds(self) -> float:
        """The least of the later calls by :func:`clock`."""
        return self.cpu if jax.default_backend() == "cpu" else self.best


_compiled: list[float] | None = None


def compilations() -> list[float]:
    """Return the seconds of every program that was compiled since this was first called; the list grows."""
    global _compiled
    if _compiled is None:
        _compiled = heard = []

        def hear(event: str, duration_secs: float, **_: object) -> None:
            if event.endswith("backend_compile_duration"):
                heard.append(duration_secs)

        jax.monitoring.register_event_duration_secs_listener(hear)
    return _compiled


def once(call: Callable[[], Any]) -> tuple[Any, float, float]:
    """Call and wait: the result, wall seconds and CPU seconds of all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = jax.block_until_ready(call())
    return result, time.perf_counter() - wall, time.process_time() - cpu


def measure(
    call: Callable[[], Any], calls: int = 3, seconds: float = float("inf"), check: Callable[[Any], None] | None = None
) -> Timing:
    """Time a first call and later ones, each waited for.

    Args:
      call: what is timed.
      calls: how many later calls at most.
      seconds: no later call but the first of them begins when these have taken as long together.
      check: is given the first result before any later call.
    """
    heard = compilations()
    before = len(heard)
    result, first, first_cpu = once(call)
    programs, compiling = len(heard) - before, sum(heard[before:])
    if check is not None:
        check(result)
    walls, cpus = list[float](), list[float]()
    while len(walls) < calls and (not walls or sum(walls) < seconds):
        later, wall, cpu = once(call)
        if not walls or wall < min(walls):
            result = later
        walls.append(wall)
        cpus.append(cpu)
    walls, cpus = walls or [first], cpus or [first_cpu]
    middle = sorted(walls)[len(walls) // 2]
    return Timing(first, min(walls), middle, min(cpus), first_cpu, programs, compiling, result)


def back_to_back(call: Callable[[], Any], calls: int = 20) -> float:
    """Return seconds a call where calls follow each other unwaited: the device's time, if the host needs less."""
    jax.block_until_ready(call())
    started = time.perf_counter()
    jax.block_until_ready([call() for _ in range(calls)])
    return (time.perf_counter() - started) / calls


def peak_gib() -> float:
    """Return the most GiB of the first device that were ever in use, as far as its allocator tells."""
    return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", 0) / 2**30


# ---- other programs


class Turns(NamedTuple):
    """CPU seconds of two calls that took turns, in order of the turns."""

    ours: list[float]
    theirs: list[float]

    def __str__(self) -> str:
        """Cells of a table: least and median of either, and in how many turns the other took as much or more."""
        least = [f"{min(times):.3f} ({sorted(times)[len(times) // 2]:.3f})" for times in self]
        slower = sum(own <= other for own, other in zip(*self, strict=True))
        return f"{least[0]} | {least[1]} | {slower} of {len(self.ours)}"


def in_turn(ours: Callable[[], Any], theirs: Callable[[], Any], most: int = 9, seconds: float = 60) -> Turns:
    """Time two calls in turn, so that what else a machine does falls on both, until they have taken a while."""
    turns = Turns([], [])
    while not turns.ours or (len(turns.ours) < most and sum(turns.ours) + sum(turns.theirs) < seconds):
        turns.ours.append(once(ours)[2])
        turns.theirs.append(once(theirs)[2])
    return turns


def within(seconds: float, work: Callable[[], None]) -> float | None:
    """Run work in a process of its own: wall seconds, or None if it was stopped at the limit."""
    started = time.perf_counter()
    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    process.join(seconds)
    if process.is_alive():
        process.terminate()
        process.join()
        return None
    return time.perf_counter() - started


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Throw away what a program in another language prints meanwhile."""
    held, quiet = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    try:
        yield
    finally:
        os.dup2(held, 1)
        for number in (held, quiet):
            os.close(number)


def start_worker(
    *words: object, environment: Mapping[str, str] | None = None, stdin: int | None = None
) -> subprocess.Popen[str]:
    """Start this script again in a process of its own, with other words; its standard output is a pipe."""
    line = [sys.executable, sys.argv[0], *map(str, words)]
    environment = os.environ | (environment or {})
    return subprocess.Popen(line, stdin=stdin, stdout=subprocess.PIPE, env=environment, text=True)


def json_lines(output: str) -> list[dict[str, Any]]:
    """Parse the lines of an output that are JSON objects; a worker may say other things, too."""
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def tell(**what: Any) -> None:
    """Print a line that :func:`json_lines` understands."""
    print(json.dumps(what), flush=True)


# ---- tables and figures


class Table:
    """A Markdown table, printed row by row.

    Args:
      head: heads of columns; a string may hold several, as "network | nodes | edges".
    """

    def __init__(self, *head: str):
        line = " | ".join(head)
        print(f"| {line} |\n|{'---|' * (line.count(' | ') + 1)}", flush=True)

    def row(self, *cells: Any) -> None:
        """Print a row; numbers that are not whole with three digits, and what is not known as a dash."""
        texts = ("-" if x is None else f"{x:.3g}" if isinstance(x, float) else str(x) for x in cells)
        print(f"| {' | '.join(texts)} |", flush=True)


Series = Mapping[str, Mapping[Any, Any] | tuple[Sequence[Any], Sequence[Any]]]


def figure(name: str, series: Series, folder: Path = FIGURES, where: str | None = None, **told: Any) -> None:
    """Write the data of a figure, which ``figures.py`` draws.

    A figure may be measured in parts: points of earlier runs with the same title on the same kind of machine stay, if
    they are not measured again.

    Args:
      name: of the JSON file in ``folder``.
      series: points by label, as a dictionary, or as x and y where an x may come more than once.
      where: the machine; by default the devices of this process.
      told: ``title``, ``xlabel``, ``ylabel``, ``kind`` ("line", "bar" or "scatter"), ``paper`` (what the paper shows
        there), and if need be ``note``, ``logx``, ``logy``.
    """
    path = folder / f"{name}.json"
    told = {
        "title": told.pop("title"),
        "command": command(),
        "commit": commit(),
        "date": today(),
        "machine": where or machine(),
        "logx": False,
        "logy": False,
        **told,
    }
    points = {
        label: tuple(given.items()) if isinstance(given, Mapping) else tuple(zip(*given, strict=True))
        for label, given in series.items()
    }
    old = next((json.loads(p.read_text()) for p in (path, FIGURES / path.name) if p.exists()), None)
    if old and (old["title"], old["machine"]) == (told["title"], told["machine"]):
        points = _joined(old["series"], points, told["kind"])
        for key in ("command", "commit", "date"):
            told[key] = "; ".join(dict.fromkeys([*str(old.get(key, "")).split("; "), told[key]])).removeprefix("; ")
    told["series"] = [{"label": k, "x": [x for x, _ in v], "y": [y for _, y in v]} for k, v in points.items()]
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(told, indent=1) + "\n")


def _joined(old: list[dict[str, Any]], new: dict[str, tuple], kind: str) -> dict[str, tuple]:
    """Join the points of two runs; of a scatter plot a series is replaced as a whole."""
    found = {one["label"]: tuple(zip(one["x"], one["y"], strict=True)) for one in old}
    for label, points in new.items():
        merged = points if kind == "scatter" else tuple((dict(found.get(label, ())) | dict(points)).items())
        found[label] = tuple(sorted(merged)) if kind == "line" else merged
    return found


# ---- processes with a cache of their own


@contextlib.contextmanager
def empty_cache() -> Iterator[dict[str, str]]:
    """Give an environment whose compilation cache, kept on disk between processes, begins empty."""
    with tempfile.TemporaryDirectory() as folder:
        yield {
            "JAX_COMPILATION_CACHE_DIR": folder,
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
        }
