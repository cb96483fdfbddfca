"""What all commands share: options alike, quiet when asked to be, columns explained, what is ignored said."""

import argparse
import inspect
import re

import jax
import pytest

from jaxmotif.cli import _values, main
from jaxmotif.cli._app import build_parser
from jaxmotif.cli._columns import COLUMNS
from jaxmotif.cli._command import use_devices
from jaxmotif.cli._parser import _blocks, parser_of

JOBS = {
    "graphlets": ("jaxmotif.graphlets.graphlet_counts", []),
    "graphlets --per edge": ("jaxmotif.graphlets.edge_graphlets", []),
    "graphlets --per node": ("jaxmotif.graphlets.node_orbits", []),
    "match": ("jaxmotif.matching.count_matches", []),
    "motifs": ("jaxmotif.motifs.find_motifs", []),
    "census": ("jaxmotif.motifs.subgraph_census", []),
    "sample": ("jaxmotif.motifs.sample_subgraphs", []),
    "search": ("jaxmotif.sieve.find_color_motif", ["--colors", "colors.txt", "--motif", "red:2"]),
}


class Reached(Exception):
    """The job was called."""


def parsers():
    (action,) = (a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction))
    return {name: action.choices[name] for name in ("graphlets", "match", "motifs", "census", "sample", "search")}


@pytest.mark.parametrize(("device", "kept_off"), [(None, False), (1, False), ("cpu", True)])
def test_accelerators_are_left_alone_for_a_cpu_only(device, kept_off, monkeypatch):
    asked = []
    monkeypatch.setattr(jax.config, "update", lambda name, value: asked.append((name, value)))
    with use_devices(argparse.Namespace(device=device, cluster=None, memory=None)):
        pass
    assert asked == [("jax_platforms", "cpu")] * kept_off


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("job", JOBS)
def test_progress_is_shown_unless_quiet(job, quiet, monkeypatch, tmp_path, capsys):
    asked = []

    def recording(*_, progress, **__):
        asked.append(progress)
        raise Reached

    monkeypatch.setattr(JOBS[job][0], recording)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "colors.txt").write_text("0 red\n")
    (tmp_path / "g.txt").write_text("0 1\n1 2\n")
    command, *more = job.split()
    files = ["g.txt", "g.txt"] if command == "match" else ["g.txt"]
    assert main([command, *files, *more, *JOBS[job][1], *["--quiet"] * quiet]) == 1
    assert asked == [not quiet]
    shown = capsys.readouterr().err.splitlines()
    assert "Reached" in shown[-1]
    assert (len(shown) == 1) is quiet


def test_one_option_has_one_meaning():
    """An option that several commands have has the same default, choices, type and help in all."""
    meanings: dict[str, dict[tuple, set[str]]] = {}
    for name, parser in parsers().items():
        for action in parser._actions:
            for option in action.option_strings:
                meaning = (str(action.default), action.help, action.metavar, getattr(action.type, "__name__", None))
                meanings.setdefault(option, {}).setdefault(meaning, set()).add(name)
    several = {option for option, found in meanings.items() if len(found) > 1}
    # Edges or nodes, maps or occurrences; none or one listed; up to so many nodes, or just so many; the chance to miss
    # a vertex, or the width of an interval; a census takes a seed with --estimate alone, and else says so.
    assert several == {"--per", "--limit", "--size", "-k", "--error", "--seed"}
    everywhere = {option for option, found in meanings.items() if {*parsers()} in found.values()}
    assert {
        "--directed", "--undirected", "--columns", "--text-ids", "--input-format", "--format", "-o", "--output",
        "--wide", "--device", "--memory", "--cluster", "--cache", "--no-cache", "--quiet",
    } <= everywhere  # fmt: skip
    assert {"-k", "--size"} <= {*meanings}


def test_a_size_is_not_needed(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n1 2\n0 2\n2 3\n")
    assert main(["census", str(tmp_path / "g.txt"), "--quiet"]) == 0
    assert "size      3" in capsys.readouterr().out


def test_sampled_subgraphs_are_written_by_name(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("ann bob\nbob cid\ncid dan\neve fay\n")
    command = ["sample", str(tmp_path / "g.txt"), "--num", "5", "--quiet", "--seed", "3"]
    assert main([*command, "--format", "csv"]) == 0
    header, *rows = (line for line in capsys.readouterr().out.splitlines() if not line.startswith("#"))
    assert header == "node_0,node_1,node_2"
    assert len(rows) == 5
    assert {tuple(row.split(",")) for row in rows} == {("ann", "bob", "cid"), ("bob", "cid", "dan")}
    assert main([*command, "--size", "5"]) == 1
    assert "no component of this graph has 5 nodes" in capsys.readouterr().err


def test_every_column_is_explained(capsys, tmp_path):
    (tmp_path / "g.txt").write_text("".join(f"{i} {i + 1}\n{i} {i + 2}\n" for i in range(8)))
    (tmp_path / "c.txt").write_text("0 red\n1 red\n")
    graph = str(tmp_path / "g.txt")
    commands = {
        "graphlets": [graph], "census": [graph, "--directed"],
        "motifs": [graph, "--directed", "--random", "4", "--switches", "1"],
        "match": [graph, graph], "search": [graph, "--colors", str(tmp_path / "c.txt"), "--motif", "red:2"],
    }  # fmt: skip
    assert main(["help", "columns"]) == 0
    page = " ".join(capsys.readouterr().out.split())
    for command, arguments in commands.items():
        assert main([command, *arguments, "--format", "csv", "--quiet"]) == 0
        lines = capsys.readouterr().out.splitlines()
        header = next(line for line in lines if not line.startswith("#"))
        facts = {line[2:].partition(":")[0] for line in lines if line.startswith("# ")}
        known = {name for key in COLUMNS[command] for name in key.split(", ")}
        # Readings are of classes with labels alone.
        assert set(header.split(",")) | ({"reading"} & known) == known
        for fact in {"longer_z", "null_model", "repetitions"} & facts:
            assert f"{fact}: " in page
    assert all(" ".join(meaning.split()) in page for names in COLUMNS.values() for meaning in names.values())


@pytest.mark.parametrize(
    ("command", "more"), [("graphlets", []), ("search", ["--colors", "c.txt", "--motif", "red:2"])]
)
def test_labels_without_use_are_said_to_be_ignored(command, more, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.txt").write_text("0 red\n1 red\n")
    (tmp_path / "g.txt").write_text("4 3 0\nred\nblue\nred\nblue\n0 1 x\n1 2 y\n2 3 x\n")
    assert main([command, "g.txt", *more]) == 0
    shown = capsys.readouterr().err
    assert re.findall(r"(\w+) labels ignored", shown) == ["node", "edge"]
    (tmp_path / "g.txt").write_text("4 3 1\nred\nblue\nred\nblue\n0 1\n1 2\n2 3\n")
    assert main([command, "g.txt", *more]) == 0
    shown = capsys.readouterr().err
    assert re.findall(r"(\w+) labels ignored", shown) == ["node"]
    assert "directions ignored" in shown
    assert main([command, "g.txt", *more, "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_table_of_options_holds_nothing_in_vain():
    """Each block is a command or part of one, and each function that reads a value is asked for by an option."""
    included = {line.split(" ", 1)[1] for lines in _blocks().values() for line in lines if line.startswith("include ")}
    included |= {line.split(" ", 1)[1] for lines in _blocks().values() for line in lines if line.startswith("group ")}
    assert included == {heading for heading in _blocks() if " | " not in heading}
    text = "\n".join(line for lines in _blocks().values() for line in lines)
    kinds = {name for name, value in vars(_values).items() if inspect.isfunction(value) and name[0] != "_"}
    kinds -= {"load_extra", "path_with_ending"}  # another module's; "ending" in the table
    unused = {kind for kind in kinds if not re.search(rf"\| (required )?{kind}( = \S+)? \|", text)}
    assert unused == set()
    assert kinds > {"whole_number", "memory_size", "probability"}


def test_rules_are_about_options_of_their_command():
    """What is refused or needed, and where, are options that the command has."""
    rules = 0
    for heading, lines in _blocks().items():
        for rule, _, rest in (line.partition(" ") for line in lines):
            if rule in ("refuse", "need"):
                options, condition, _ = rest.split(" | ")
                word, *others = condition.split()
                known = {name for a in parser_of(heading.split(" | ")[0])._actions for name in a.option_strings}
                assert word in ("if", "unless", "always")
                assert (word == "always") is (not others)
                assert {option.partition("=")[0] for option in [*options.split(), *others]} <= known
                rules += 1
    assert rules > 10
