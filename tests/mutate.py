"""Mutation testing: change one thing in the package at random, and see that the tests of its room notice.

::

    python -m tests.mutate --count 20 --seed 1
    python -m tests.mutate --rooms matching sieve --count 10 --seed 2 --record experiments/results/mutations.md
    python -m tests.mutate --kept

The work is done in a copy of the checkout, whose tests must pass before anything is changed. A mutant is killed where a
test fails, or takes longer than the limit. What the nearest tests do not notice goes to the rooms that stand on the
mutant's own, and what these do not notice survives. `tests/mutants.toml` keeps mutants that once survived, and those
that move a guard of exactness.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

USERS = {
    "arrays": ["graph", "graphlets", "census", "matching", "sieve"],
    "graph": ["io", "graphlets", "census", "matching", "motifs", "sieve"],
    "patterns": ["census", "matching", "features", "verify", "motifs", "report"],
    "devices": ["graphlets", "matching", "sieve", "motifs"],
    "kernels": ["search", "graphlets", "census", "matching", "motifs", "sieve"],
    "search": ["matching"],
    "census": ["motifs", "features", "graphlets", "matching"],
    "graphlets": ["features", "verify", "learn", "cli"],
    "matching": ["compat", "features", "verify", "cli"],
    "motifs": ["report", "cli"],
    "sieve": ["verify", "cli"],
    "io": ["graph", "cli", "compat"],
    "certificates": ["verify", "cli"],
    "language": ["matching", "compat", "cli"],
    "features": ["learn", "report", "cli"],
    "drawing": ["report"],
    "report": ["cli"],
    "datasets": ["cli"],
}
"""The rooms whose tests are run after the tests of the room itself."""

COMPARED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
CALCULATED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
}
SWAPPED = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}

ALIKE = {ast.Name, ast.Attribute, ast.BinOp}
"""Kinds of arguments that are exchanged where two of a kind follow each other: others would only be of a wrong type."""


@dataclass(frozen=True)
class Mutant:
    """A change of one stretch of a file.

    Attributes:
      path: The file, from the root of the checkout.
      line: The line at which the stretch begins.
      start, end: Where the stretch begins and ends, in bytes of the file.
      before, after: What stands there, and what is put there.
    """

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str

    @property
    def room(self) -> str:
        parts = Path(self.path).parts
        return parts[1] if len(parts) > 2 else "jaxmotif"

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: `{' '.join(self.before.split())}` -> `{' '.join(self.after.split())}`"


def changes(node: ast.AST) -> Iterator[ast.AST | str]:
    """Yield what can stand in the place of a node."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in COMPARED:
            yield ast.Compare(left, [COMPARED[type(op)]()], [right])
        case ast.BinOp(left, op, right) if type(op) in CALCULATED:
            yield ast.BinOp(left, CALCULATED[type(op)](), right)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() as value):
            yield ast.Constant(value + 1)
        case ast.Constant(float() as value):
            yield ast.Constant(value * 1.25 + (value == 0))
        case ast.Call(func, arguments, keywords):
            name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
            if name in SWAPPED:
                other = SWAPPED[name]
                renamed = ast.Name(other) if isinstance(func, ast.Name) else ast.Attribute(func.value, other)
                yield ast.Call(renamed, arguments, keywords)
            elif len(arguments) >= 2 and are_exchanged(*arguments[:2]):
                yield ast.Call(func, [arguments[1], arguments[0], *arguments[2:]], keywords)
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Expr(ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break():
            yield "pass"


def are_exchanged(first: ast.AST, second: ast.AST) -> bool:
    """Tell whether two arguments that follow each other are exchanged: unlike ones of a kind."""
    return type(first) is type(second) in ALIKE and ast.dump(first) != ast.dump(second)


def looked_at(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below one whose change is behaviour: no messages of errors, no annotations, no text."""
    for name, field in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        if isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: lengths are equal where tests pass
            continue
        for child in field if isinstance(field, list) else [field]:
            if not isinstance(child, ast.AST) or isinstance(child, ast.Raise | ast.JoinedStr | ast.Assert | ast.Import):
                continue
            if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
                continue
            yield child
            yield from looked_at(child)


def mutants(path: Path) -> list[Mutant]:
    """Return all mutants of a file, in its order."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    result = []
    for node in looked_at(ast.parse(source)):
        for change in changes(node):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            after = change if isinstance(change, str) else f"({ast.unparse(ast.fix_missing_locations(change))})"
            before = source[start:end].decode()
            result.append(Mutant(str(path.relative_to(ROOT)), node.lineno, start, end, before, after))
    return result


def kept(rooms: list[str]) -> list[Mutant]:
    """Return the mutants of `tests/mutants.toml`, of some rooms or all."""
    result = []
    for entry in tomllib.loads((ROOT / "tests" / "mutants.toml").read_text("utf-8"))["mutant"]:
        before, after = entry["before"].encode(), entry["after"]
        source = (ROOT / entry["path"]).read_bytes()
        if source.count(before) != 1:
            raise ValueError(f"{entry['path']} holds {entry['before']!r} {source.count(before)} times instead of once")
        start = source.index(before)
        line = source.count(b"\n", 0, start) + 1
        result.append(Mutant(entry["path"], line, start, start + len(before), entry["before"], after))
    return [mutant for mutant in result if not rooms or mutant.room in rooms]


def copy_checkout(folder: Path) -> None:
    """Copy the files that git tracks, and changes not yet committed with them."""
    for name in subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).splitlines():
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def nearest(mutant: Mutant, folder: Path) -> list[str]:
    """Return the tests of a mutant's room, those first that have most to do with its file."""
    room = folder / "tests" / mutant.room
    stem = Path(mutant.path).stem.strip("_")
    files = sorted(room.glob("test_*.py")) if room.is_dir() else sorted((folder / "tests").glob("test_*.py"))
    words = {stem, *stem.split("_"), Path(mutant.path).parent.name}
    # First what bears its name, then what names it.
    named = re.compile(rf"\b_?{stem}\b")
    files.sort(key=lambda file: (stem not in file.stem, not named.search(file.read_text("utf-8")),
                                 not words & set(file.stem.split("_"))))  # fmt: skip
    # The file itself comes last: pytest imports it anew, and tests before it shall not see that.
    return [*(str(file.relative_to(folder)) for file in files), mutant.path]


def further(mutant: Mutant, folder: Path) -> list[str]:
    """Return the tests of the rooms that stand on a mutant's room."""
    rooms = ["tests/laws", *(f"tests/{room}" for room in USERS.get(mutant.room, []))]
    return [*rooms, *(str(file.relative_to(folder)) for file in sorted((folder / "tests").glob("test_*.py")))]


def passes(tests: list[str], folder: Path, seconds: float) -> tuple[bool, str]:
    """Run tests in a folder: whether all passed in time, and the first that did not."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "JAXMOTIF_DATA": "none"}
    environment.setdefault("JAX_COMPILATION_CACHE_DIR", str(ROOT / ".pytest_cache" / "compiled"))
    command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "no:cacheprovider", "--no-header", *tests]
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except BaseException as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return False, f"longer than {seconds:.0f} s"
    failed = [line for line in output.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return process.returncode == 0, failed[0].partition(" - ")[0] if failed else f"exit {process.returncode}"


def try_mutant(mutant: Mutant, folder: Path, seconds: float, near: bool) -> tuple[str, str]:
    """Return how a mutant ended, "killed near", "killed further" or "survived", and by what (``near``: in its room)."""
    file = folder / mutant.path
    source = file.read_bytes()
    write_anew(file, source[: mutant.start] + mutant.after.encode() + source[mutant.end :])
    try:
        for where, tests in (("near", nearest), ("further", further))[: 1 if near else 2]:
            passed, by = passes(tests(mutant, folder), folder, seconds)
            if not passed:
                return f"killed {where}", by
        return "survived", ""
    finally:
        write_anew(file, source)


def write_anew(file: Path, source: bytes) -> None:
    """Write a source with a time unlike the one before it, so that Python keeps to no bytecode of another version."""
    before = file.stat().st_mtime
    file.write_bytes(source)
    os.utime(file, (before + 2, before + 2))


def modules(rooms: list[str]) -> list[Path]:
    """Return the files of rooms, or files that are given by their paths."""
    if not rooms:
        return sorted((ROOT / "jaxmotif").rglob("*.py"))
    return sorted(
        file
        for room in rooms
        for file in ([ROOT / room] if room.endswith(".py") else (ROOT / "jaxmotif" / room).rglob("*.py"))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rooms", nargs="+", default=[], help="rooms or paths of files (default: the whole package)")
    parser.add_argument("--count", type=int, default=20, help="how many mutants (default: 20)")
    parser.add_argument("--seed", type=int, default=0, help="which mutants (default: 0)")
    parser.add_argument("--seconds", type=float, default=600, help="limit of one run of tests (default: 600)")
    parser.add_argument("--minutes", type=float, default=1e9, help="begin no mutant after as many minutes")
    parser.add_argument("--record", type=Path, help="add a table by room and the survivors to this file")
    parser.add_argument("--kept", action="store_true", help="try the mutants of tests/mutants.toml instead")
    parser.add_argument("--near", action="store_true", help="run the tests of a mutant's own room alone")
    parser.add_argument("--unchecked", action="store_true", help="do not try first whether the tests pass unchanged")
    parser.add_argument("--list", action="store_true", help="print the mutants alone")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.kept:
        chosen = kept(options.rooms)
    else:
        candidates = [mutant for file in modules(options.rooms) for mutant in mutants(file)]
        chosen = random.Random(options.seed).sample(candidates, min(options.count, len(candidates)))
    if options.list:
        print(*chosen, sep="\n")
        return
    describe = ["git", "describe", "--always", "--abbrev=7", "--dirty=+"]
    commit = subprocess.check_output(describe, cwd=ROOT, text=True).strip()
    ends = Counter()
    survivors = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_checkout(folder)
        sound = {mutant.room for mutant in chosen} if options.unchecked else set()
        end_of_all = time.monotonic() + 60 * options.minutes
        for number, mutant in enumerate(chosen, 1):
            if time.monotonic() > end_of_all:
                break
            if mutant.room not in sound:
                passed, by = passes(nearest(mutant, folder), folder, options.seconds)
                if not passed:
                    parser.error(f"the tests of {mutant.room} do not pass before anything is changed: {by}")
                sound.add(mutant.room)
            begin = time.monotonic()
            end, by = try_mutant(mutant, folder, options.seconds, options.near)
            ends[mutant.room, end] += 1
            if end == "survived":
                survivors.append(mutant)
            print(f"{number}/{len(chosen)} {end} ({time.monotonic() - begin:.0f} s) {mutant} {by}", flush=True)
    text = told(ends, survivors, commit)
    print(text)
    if options.record:
        with options.record.open("a", encoding="utf-8") as file:
            file.write(text)


def told(ends: Counter, survivors: list[Mutant], commit: str) -> str:
    """Return the table by room and the survivors, with commit, date and command, as Markdown."""
    command = f"python -m tests.mutate {' '.join(sys.argv[1:])}"
    lines = [f"\n## {sum(ends.values())} mutants, commit {commit}, {time.strftime('%Y-%m-%d')}\n"]
    lines += [f"`{command}` on {os.cpu_count()} cores, Python {sys.version.split()[0]}\n"]
    lines += ["| room | mutants | killed near | killed further | survived |", "|---|---|---|---|---|"]
    for room in sorted({room for room, _ in ends}):
        near, far, survived = (ends[room, end] for end in ("killed near", "killed further", "survived"))
        lines.append(f"| {room} | {near + far + survived} | {near} | {far} | {survived} |")
    lines += ["", *(f"- {mutant}" for mutant in survivors), ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
