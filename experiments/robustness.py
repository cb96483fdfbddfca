"""What the program withstands: signals, odd files, many sizes, processes of a cluster that disagree.

    python experiments/robustness.py SUBJECT [NUMBER [JOB]] [--data FOLDER]

Run in the folder above. Subjects: terminations, interrupts, mutants, hostile, star, calls, sizes, cluster; the number
is of terminations or interrupts of each job, of mutants, or of rounds of calls. Prints what
experiments/results/robustness.md records. Moments are in CPU seconds of the process, so that a busy machine does not
move them; seeds are fixed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import harness
from harness import data_folder

TICKS = os.sysconf("SC_CLK_TCK")


class Ended(NamedTuple):
    """A process that has ended: its status, standard error, CPU seconds, seconds since it was sent a signal, memory."""

    status: int
    errors: str
    cpu: float
    late: float
    kilobytes: int


def start(*arguments: object, environment: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
    """Start a command, with its errors in a file that is deleted already."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a shell's background jobs, and inherited
    errors = tempfile.TemporaryFile()  # noqa: SIM115 (end closes it)
    process = subprocess.Popen(
        [sys.executable, "-m", "jaxmotif", *map(str, arguments)],
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=os.environ | {"JAX_PLATFORMS": "cpu"} | (environment or {}),
    )
    process.stdin = errors  # kept with the process
    return process


def cpu_of(process: subprocess.Popen[bytes]) -> float:
    """Return the CPU seconds so far, of all threads."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def end(process: subprocess.Popen[bytes], number: int | None = None, moment: float = 0.0) -> Ended:
    """Wait for a process, and send it a signal once it has taken ``moment`` CPU seconds, if it still runs then."""
    sent, memory = None, 0
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        state = Path(f"/proc/{process.pid}/status").read_text()
        memory = max([memory, *map(int, re.findall(r"VmHWM:\s*(\d+)", state))])
        if number is not None and sent is None and cpu_of(process) >= moment:
            process.send_signal(number)
            sent = time.monotonic()
        time.sleep(0.01)
    late = 0.0 if sent is None else time.monotonic() - sent
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.stdin is not None
    process.stdin.seek(0)
    text = process.stdin.read().decode(errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
    process.stdin.close()
    return Ended(process.returncode, text, usage.ru_utime + usage.ru_stime, late, memory)


def colors(folder: Path, nodes: int) -> Path:
    """Write a file of three colors at random."""
    drawn = random.Random(0)
    path = folder / "colors.txt"
    path.write_text("".join(f"{node} {drawn.choice('rgb')}\n" for node in range(nodes)))
    return path


def parts_in(folder: Path) -> list[str]:
    """Return the files in a folder that are not finished."""
    return [path.name for path in folder.rglob("*") if path.name.endswith(".part")]


def result(path: Path) -> str:
    """Return what a file says, but for the seconds that it took."""
    return re.sub(r"(?m)^(\d-cycle,\d+),[\d.]+,[\d.]+,", r"\1,", path.read_text())


def terminations(data: Path, number: int = 20, *names: str) -> None:
    """Tell runs to end by chains of four SIGTERMs, each run resumed and at last finished.

    What all runs of a chain took beyond one that is not disturbed, but for starting, is what its four signals lost
    together.
    """
    arcs, edges = (data_folder(data, kind) for kind in ("directed", "undirected"))
    jobs = {
        "graphlets": ["graphlets", edges / "web-cnr-2000.edges.gz", "--per", "node"],
        "match": ["match", "6-cycle", arcs / "yeastppi_listed.edges"],
        "motifs": ["motifs", arcs / "yeast.edges", "--size", 5, "--random", 90, "--directed"],
        "search": ["search", edges / "facebook_combined.edges.gz", "--motif", "r:5,g:5,b:4", "--colors"],
    }
    print("| job | alone, CPU s | start | signals | exit 143 | same result | lost by four, CPU s | latest end, s |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in names or jobs:
        job = jobs[name]
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            command = [*job, colors(folder, 1500)] if name == "search" else job
            command += ["--quiet", "--output", folder / "out.csv", "--checkpoint"]
            end(start(*command, folder / "first"))  # compiles
            alone, again = (end(start(*command, folder / "whole")) for _ in range(2))
            expected = result(folder / "out.csv")
            moments, lost, statuses, same, late = random.Random(name), [], Counter[int](), 0, 0.0
            for chain in range(-(-number // 4)):
                (folder / "out.csv").unlink()
                at = sorted(moments.uniform(0, alone.cpu - again.cpu) for _ in range(4))
                runs = []
                for i in range(4):
                    gap = again.cpu + at[i] - at[i - 1] if i else moments.uniform(0, again.cpu) + at[0]
                    runs.append(end(start(*command, folder / f"{chain}"), signal.SIGTERM, gap))
                    assert runs[-1].status in (0, 143, -signal.SIGTERM), runs[-1]
                    assert "Traceback" not in runs[-1].errors, runs[-1].errors
                    assert not (folder / "out.csv").exists() or 0 in [run.status for run in runs]
                    assert not parts_in(folder), parts_in(folder)
                statuses.update(run.status for run in runs)
                late = max(late, *(run.late for run in runs))
                last = end(start(*command, folder / f"{chain}"))
                assert last.status == 0, last
                same += result(folder / "out.csv") == expected
                taken = sum(run.cpu - again.cpu for run in runs if run.cpu > again.cpu) + last.cpu - again.cpu
                lost.append(taken - (alone.cpu - again.cpu))
            told = f"{statuses[143]}" + (f" and {statuses[-15]} before Python started" if statuses[-15] else "")
            told += f", {statuses[0]} had ended" if statuses[0] else ""
            print(
                f"| {name} | {alone.cpu:.1f} | {again.cpu:.1f} | {statuses.total()} | {told} | {same} of {len(lost)} "
                f"| {', '.join(f'{cpu:.1f}' for cpu in lost)} | {late:.1f} |",
                flush=True,
            )


def interrupts(number: int = 12, *names: str) -> None:
    """Press Ctrl-C at random moments of each of five commands, from the start to the end."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        out = folder / "out.csv"
        commands = {
            "graphlets": ["graphlets", "celegans"],
            "census": ["census", "celegans", "--size", 4],
            "match": ["match", "5-cycle", "celegans-gap"],
            "motifs": ["motifs", "celegans", "--random", 100],
            "search": ["search", "karate", "--motif", "r:2,g:1", "--colors", colors(folder, 35)],
        }
        print("| command | alone, CPU s | signals | exit | latest end, s |\n|---|---|---|---|---|", flush=True)
        for name in names or commands:
            command = (
                commands[name]
                + ["--quiet", "--output", out]
                + (["--checkpoint", folder / name] if name != "census" else [])
            )
            moments, statuses, late = random.Random(name), Counter[str](), 0.0
            end(start(*command))
            alone = end(start(*command))
            expected = result(out)
            for _ in range(number):
                out.unlink(missing_ok=True)
                found = end(start(*command), signal.SIGINT, moments.uniform(0, alone.cpu))
                early = found.status == -signal.SIGINT or "init_import_site" in found.errors  # Python itself starts
                told = found.errors.strip()
                statuses[f"{found.status}" + " while Python itself starts" * early] += 1
                assert found.status in (0, 130) or early, found
                assert early or told == "" or told.startswith("jaxmotif: interrupted"), told
                assert not early or "/jaxmotif/cli/_" not in told, told
                assert not out.exists() or result(out) == expected
                assert not parts_in(folder), parts_in(folder)
                late = max(late, found.late)
            text = ", ".join(f"{count} x {status}" for status, count in sorted(statuses.items()))
            print(f"| {name} | {alone.cpu:.1f} | {statuses.total()} | {text} | {late:.1f} |", flush=True)


def mutants(data: Path, number: int = 5000) -> None:
    """Read samples of every format and the files that people have, as they are and then with one thing changed each."""
    import numpy as np

    from jaxmotif.io import read_graph
    from tests.io import test_formats as formats
    from tests.io.format_samples import Sample, library_samples, text_samples

    samples = text_samples() | library_samples()
    for path in sorted((data / "formats").iterdir()):
        if path.suffix not in (".md", ".dl"):
            read = read_graph(path).report
            assert read is not None
            samples[path.name] = Sample(path.read_bytes(), read.format, (), None, path.suffix)
    formats.test_the_files_that_people_have(data)
    rng, tally, names = np.random.default_rng(2026), Counter[str](), sorted(samples)
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(number):
            sample = samples[names[turn % len(names)]]
            content = formats.mutated(sample.content, rng)
            try:
                tally[formats.check_mutant(sample, content, Path(folder) / f"g{sample.suffix}")] += 1
            except Exception as error:
                tally["wrong"] += 1
                print(f"{names[turn % len(names)]}: {type(error).__name__}: {str(error)[:300]}\n{content!r}"[:2500])
    print(f"{number} mutants of {len(samples)} files: {dict(tally)}; {time.process_time():.0f} CPU s")


def hostile() -> None:
    """Give the command files made to take time or memory, or to run a program; its limits are its own."""
    import gzip

    from tests.io import test_formats as formats

    files: dict[str, Any] = {name: made() if callable(made) else made for name, (made, _) in formats.HOSTILE.items()}
    gigabytes = {"rows": b"0 1\n", "one line": b"0" * 1000, "comments": b"# a comment\n", "XML": b" " * 1000}
    for name, text in gigabytes.items():  # one member, many times
        first = gzip.compress(b"<graphml>") if name == "XML" else b""
        files[f"gzip bomb of {name}"] = first + gzip.compress(text * ((16 << 20) // len(text))) * 1024
    zeros = formats.npy_header((1 << 29, 2)), bytes(1 << 24)
    files["gzip bomb of npy"] = gzip.compress(zeros[0]) + gzip.compress(zeros[1]) * 512
    files["zip bomb"] = formats.zipped({"format.npy": formats.npy_header((1 << 30,), "|i1") + bytes(1 << 30)})
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain"
        plain.write_text("0 1\n")
        end(start("graphlets", plain))
        usual = end(start("graphlets", plain))
        worst, slow, large = Counter[int](), (0.0, ""), (0, "")
        for name, content in files.items():
            path = Path(folder) / "graph"
            path.write_bytes(content.encode() if isinstance(content, str) else content)
            found = end(start("graphlets", path, "--quiet"))
            print(f"{name}: {found.status}, {found.cpu:.1f} CPU s", file=sys.stderr, flush=True)
            worst[found.status] += 1
            slow, large = max(slow, (found.cpu, name)), max(large, (found.kilobytes, name))
            lines = found.errors.splitlines()
            allowed = (0, 1) if formats.HOSTILE[name][1] is None else (1,)
            if found.status not in allowed or "Traceback" in found.errors or len(lines) > 1:
                print(f"{name}: exit {found.status}, {found.errors[:500]!r}", flush=True)
    print(
        f"{len(files)} files, exit {dict(worst)}; most CPU s {slow[0]:.1f} ({slow[1]}), most memory "
        f"{large[0] >> 10} MiB ({large[1]}); of a file of one edge {usual.cpu:.1f} s, {usual.kilobytes >> 10} MiB"
    )


def star() -> None:
    """Match a star of 8 leaves in one of 5,000."""
    import math

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        (folder / "target.txt").write_text("".join(f"0 {leaf}\n" for leaf in range(1, 5001)))
        (folder / "query.txt").write_text("".join(f"0 {leaf}\n" for leaf in range(1, 9)))
        command = ["match", folder / "query.txt", folder / "target.txt", "--quiet", "--output", folder / "out.json"]
        for cache in ("empty", "warm"):
            cpu = end(start(*command, "--cache", folder / "cache")).cpu
            exact = str(math.perm(5000, 8)) in (folder / "out.json").read_text()
            print(f"star of 8 in a star of 5,000, {cache} cache: exact {exact}, {cpu:.2f} CPU s", flush=True)


def calls(number: int = 3) -> None:
    """Time four commands with an empty cache, again, and on another file of the same bucket, in CPU seconds.

    A figure is the least of some rounds. Python's own bytecode is there, as after an installation.
    """
    commands = {
        "graphlets celegans": ["graphlets"],
        "census celegans --size 3": ["census", "--size", 3],
        "match ffl celegans": ["match", "ffl"],
        "motifs celegans --size 3 --random 100": ["motifs", "--size", 3, "--random", 100],
    }
    print("| command | first | second | another file |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        bytecode = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
        lines = Path("jaxmotif/datasets/celegans.edges").read_text().splitlines()
        (folder / "other.edges").write_text("\n".join(lines[:-40]))
        for name, command in commands.items():
            rounds = []
            for turn in range(number + 1):
                rest = ["--quiet", "--output", folder / "out.csv", "--cache", folder / f"{name}{turn}"]
                files = ["celegans", "celegans", folder / "other.edges"]
                rounds.append([end(start(*command, file, *rest, environment=bytecode)).cpu for file in files])
            least = (min(times) for times in zip(*rounds[1:], strict=True))  # the first round writes bytecode
            print(f"| {name} | {' | '.join(f'{cpu:.2f}' for cpu in least)} |", flush=True)


def sizes() -> None:
    """Count the programs compiled for 100 graphs of 100 sizes."""
    import jax
    import numpy as np

    import jaxmotif
    from tests.compilations import compilations

    rng, other, sizes = (
        np.random.default_rng(0),
        np.random.default_rng(1),
        np.linspace(20, 400, 100).astype(int).tolist(),
    )
    assert len(set(sizes)) == 100
    arcs = {
        "3 arcs a node": {n: other.integers(0, n, (3 * n, 2)) for n in sizes},
        "1 to 8 arcs a node": {n: rng.integers(0, n, (int(n * rng.uniform(1, 8)), 2)) for n in sizes},
    }
    jobs = {
        "graphlets": jaxmotif.graphlet_counts,
        "census, size 3": lambda graph: jaxmotif.subgraph_census(graph, 3),
        "census, size 4": lambda graph: jaxmotif.subgraph_census(graph, 4),
        "motifs, size 3, 10 random graphs": lambda graph: jaxmotif.find_motifs(graph, 3, 10),
        "motifs, size 3, 100 random graphs": lambda graph: jaxmotif.find_motifs(graph, 3, 100),
        "match, feed-forward loop": lambda graph: jaxmotif.count_matches("ffl", graph),
    }
    print("| job | " + " | ".join(f"{kind}: programs | CPU s" for kind in arcs) + " |")
    print("|---" * (1 + 2 * len(arcs)) + "|", flush=True)
    for name, job in jobs.items():
        cells = []
        for rows in arcs.values():
            graphs = [jaxmotif.Graph.from_edges(edges, n, name != "graphlets") for n, edges in rows.items()]
            jax.clear_caches()
            started = time.process_time()
            with compilations() as found:
                for graph in graphs:
                    job(graph)
            cells += [str(len(found)), f"{time.process_time() - started:.1f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def cluster(data: Path) -> None:
    """Run two processes that were given different things, and two of which one is killed."""
    arcs = data_folder(data, "directed")
    base = ["motifs", arcs / "yeast.edges", "--size", 3, "--random", 100, "--quiet", "--directed"]
    others = {
        "input": ["motifs", arcs / "ecoli_alon423.edges", *base[2:]],
        "seed": [*base, "--seed", 1],
        "size": [*base, "--size", 4],
        "option": [*base, "--keep", "degree"],
    }
    end(start(*base))  # compiles
    print("| processes | exit | lines | s |\n|---|---|---|---|", flush=True)
    for name, other in others.items():
        started, pair = time.monotonic(), together(base, other)
        found = [end(process) for process in pair]
        seconds = time.monotonic() - started
        lines = [line for one in found for line in one.errors.splitlines()]
        print(f"| other {name} | {[one.status for one in found]} | {lines} | {seconds:.1f} |", flush=True)
    long = ["motifs", arcs / "yeast.edges", "--size", 5, "--random", 2000, "--directed"]
    for killed in (0, 1):
        pair = together(long, long)
        while cpu_of(pair[killed]) < 6:
            time.sleep(0.05)
        pair[killed].kill()
        started = time.monotonic()
        other = end(pair[1 - killed])
        end(pair[killed])
        last = other.errors.splitlines()[-1:]
        seconds = time.monotonic() - started
        print(f"| {killed} killed | {other.status} | {last} | {seconds:.1f} |", flush=True)


def together(*commands: Sequence[object]) -> list[subprocess.Popen[bytes]]:
    """Start the processes of one cluster."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    places = [f"{number}/{len(commands)}@localhost:{port}" for number in range(len(commands))]
    return [start(*command, "--cluster", place) for command, place in zip(commands, places, strict=True)]


WITH_DATA: dict[str, Callable[..., None]] = {act.__name__: act for act in (terminations, mutants, cluster)}
ALONE: dict[str, Callable[..., None]] = {act.__name__: act for act in (interrupts, hostile, star, calls, sizes)}

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("subject", choices=[*WITH_DATA, *ALONE])
parser.add_argument("number", nargs="?", type=int)
parser.add_argument("names", nargs="*", metavar="JOB")
harness.add_common(parser)


def main(options: argparse.Namespace) -> None:
    """Run a subject."""
    given = ([] if options.number is None else [options.number]) + options.names
    if options.subject in WITH_DATA:
        WITH_DATA[options.subject](options.data, *given)
    else:
        ALONE[options.subject](*given)


if __name__ == "__main__":
    harness.run(main, parser.parse_args(), workers=True)
