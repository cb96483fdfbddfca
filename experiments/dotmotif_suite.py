"""DotMotif's own tests with its two executors for graphs in memory replaced by jaxmotif's.

    pip install dotmotif==0.18.0 && python experiments/dotmotif_suite.py

Fetches the source package of DotMotif 0.14.0, the last of those looked at that holds tests, with pip, and runs its
tests of executors, flags and multigraphs against the installed DotMotif.
"""

import subprocess
import sys
import tarfile
import tempfile
import types
from pathlib import Path

import pytest

FILES = (
    "executors/test_grandisoexecutor.py",
    "executors/test_networkxexecutor.py",
    "tests/test_multigraphs.py",
    "tests/test_dm_flags.py",
    "parsers/v2/test_v2_parser.py",
    "validators/test_dm_illegal_operators.py",
)


def fetch(folder: Path) -> list[Path]:
    """The test files, copied beside each other, so that they import the DotMotif that is installed."""
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder)]
    subprocess.run([*pip, "dotmotif==0.14.0"], check=True)
    (archive,) = folder.glob("*.tar.gz")
    with tarfile.open(archive) as source:
        source.extractall(folder / "source", filter="data")
    found = []
    for name in FILES:
        copy = folder / Path(name).name
        copy.write_bytes((folder / "source" / "dotmotif-0.14.0" / "dotmotif" / name).read_bytes())
        found.append(copy)
    return found


def replace() -> None:
    """DotMotif's executors by jaxmotif's, wherever tests import them from."""
    import dotmotif  # pyright: ignore[reportMissingImports]
    import dotmotif.executors  # pyright: ignore[reportMissingImports]

    from jaxmotif.compat.dotmotif import JaxmotifExecutor

    for name in ("NetworkXExecutor", "GrandIsoExecutor"):
        for module in (dotmotif, dotmotif.executors, sys.modules[f"dotmotif.executors.{name}"]):
            setattr(module, name, JaxmotifExecutor)


if __name__ == "__main__":
    neo4j = types.ModuleType("py2neo")  # of which some tests import a name, and no more
    neo4j.__dict__["Graph"] = None
    sys.modules.setdefault("py2neo", neo4j)
    with tempfile.TemporaryDirectory() as place:
        files = fetch(Path(place))
        if "--theirs" not in sys.argv:
            replace()
        sys.exit(
            pytest.main(
                ["-q", "-p", "no:cacheprovider", "-n", "0", "-W", "ignore", "--rootdir", place, *map(str, files)]
            )
        )
