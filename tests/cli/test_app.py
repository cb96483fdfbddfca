"""Exit codes, messages and behaviour of the whole command."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings

import jax
import pytest

import jaxmotif
from jaxmotif.cli import _command, _datasets, _exit_on_interrupt, main
from jaxmotif.cli._app import warnings_as_notes
from jaxmotif.cli._parser import build_parser
from jaxmotif.io._registry import READABLE
from tests.more import more

COMMAND = [sys.executable, "-m", "jaxmotif"]
QUICK = [*COMMAND, "match", "triangle", "karate", "--quiet"]  # compiles nothing


def test_version_and_help_import_no_jax():
    code = "import sys, jaxmotif.cli as c\ntry: c.main(['--version'])\nexcept SystemExit: print('jax' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines() == [f"jaxmotif {jaxmotif.__version__}", "False"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["graphlets"],
        ["graphlets", "karate", "--per", "triangle"],
        ["graphlets", "karate", "--memory", "3Q"],
        ["graphlets", "karate", "--memory", "0"],
        ["graphlets", "karate", "--input-format", "word"],
        ["graphlets", "karate", "--device", "abacus"],
        ["census", "karate", "--device", "hybrid:alpha=2"],
        ["match", "karate", "karate", "--device", "hybrid:speed=2"],
        ["graphlets", "karate", "--form", "json"],
    ],
)
def test_bad_usage_is_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: jaxmotif" in capsys.readouterr().err


def test_without_a_command_there_is_help(capsys):
    assert main([]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "count the induced subgraphs" in shown.err
    commands = [line.split("   ")[0] for line in shown.err.splitlines() if line.startswith("  jaxmotif ")]
    assert [build_parser().parse_args(command.split()[1:]).command for command in commands] == [
        "motifs",
        "match",
        "graphlets",
    ]


@pytest.mark.parametrize("command", ["graphlets", "match", "motifs", "census", "sample", "search"])
def test_bad_usage_is_told_in_two_lines(command, capsys):
    with pytest.raises(SystemExit, match="2"):
        main([command])
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 2
    assert shown[0].startswith(f"usage: jaxmotif {command} ")
    assert "the following arguments are required" in shown[1]


def test_help_names_every_format(capsys):
    with pytest.raises(SystemExit):
        main(["graphlets", "--help"])
    shown = capsys.readouterr().out
    assert [name for name in READABLE if name not in shown] == []


def test_info(capsys):
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    assert "xla" in shown
    assert "jaxlib" in shown
    assert shown.count("cpu:") == 4


def test_datasets(capsys):
    assert main(["datasets"]) == 0
    assert "karate" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "expected"), [(None, "nor a bundled network of that name"), ("0 1\n1 x y z\n", "line 2")]
)
def test_user_mistakes_are_one_line_and_1(content, expected, tmp_path, capsys):
    graph = tmp_path / "graph.txt"
    if content is not None:
        graph.write_text(content)
    assert main(["graphlets", str(graph), "--output", str(tmp_path / "out")]) == 1
    message = capsys.readouterr().err
    assert message.startswith("jaxmotif: error: ")
    assert expected in message
    assert message.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_missing_devices_are_found_before_reading(tmp_path, capsys):
    assert main(["graphlets", str(tmp_path / "no graph"), "--device", "1000"]) == 1
    assert "--device 1000, but this machine has" in capsys.readouterr().err


def test_unwritable_output_is_found_before_reading(tmp_path, capsys):
    assert main(["graphlets", str(tmp_path / "no graph"), "--output", str(tmp_path / "missing" / "out")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_surprises_name_their_kind(monkeypatch, capsys):
    monkeypatch.setattr("jaxmotif.graphlets.graphlet_counts", lambda *_, **__: {}["surprise"])
    monkeypatch.delenv("JAXMOTIF_TRACEBACK", raising=False)
    assert main(["graphlets", "karate", "--quiet"]) == 1
    shown = capsys.readouterr().err
    assert shown == "jaxmotif: error: KeyError: 'surprise' (set JAXMOTIF_TRACEBACK=1 to see where)\n"
    monkeypatch.setenv("JAXMOTIF_TRACEBACK", "1")
    assert main(["graphlets", "karate", "--quiet"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_device_without_memory_is_told_what_to_do(monkeypatch, capsys):
    def full(*_, **__):
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: 7 bytes\nmore lines")

    monkeypatch.setattr("jaxmotif.graphlets.graphlet_counts", full)
    assert main(["graphlets", "karate", "--quiet"]) == 1
    said = "a device ran out of memory (RESOURCE_EXHAUSTED: 7 bytes); use a device with more, or --memory for less"
    assert capsys.readouterr().err == f"jaxmotif: error: {said}\n"


@pytest.mark.filterwarnings("always")
def test_each_warning_is_told_once(caplog, tmp_path, monkeypatch):
    monkeypatch.setitem(jax.config.values, "jax_compilation_cache_dir", str(tmp_path))
    with warnings_as_notes():
        for text in ("of one\n  kind", "of another kind", "of one kind"):
            warnings.warn(text, stacklevel=1)
        for why in ("torn", "empty"):  # of one broken folder
            text = f"Error reading persistent compilation cache entry for 'jit_sums': ValueError: {why}"
            warnings.warn(text, stacklevel=1)
    assert [(record.name, record.message) for record in caplog.records] == [
        ("jaxmotif.warnings", "of one kind"),
        ("jaxmotif.warnings", "of another kind"),
        ("jaxmotif", "compiled code that was kept is broken, and is made anew (ValueError: torn)"),
    ]


def test_ctrl_c_is_130_and_leaves_nothing(monkeypatch, tmp_path, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("jaxmotif.graphlets.graphlet_counts", interrupted)
    assert main(["graphlets", "karate", "--output", str(tmp_path / "out")]) == 130
    assert "\njaxmotif: interrupted; nothing is kept: --checkpoint FOLDER would " in capsys.readouterr().err
    assert os.listdir(tmp_path) == []
    monkeypatch.setattr("jaxmotif.io.write_graph", interrupted)  # of a command that never keeps anything
    assert main(["convert", "karate", str(tmp_path / "out.csv")]) == 130
    assert capsys.readouterr().err.endswith("\njaxmotif: interrupted\n")
    kept = str(tmp_path)
    assert main(["graphlets", "karate", "--checkpoint", kept]) == 130
    said = f"kept in {kept}, and the same command goes on: jaxmotif graphlets karate --checkpoint {kept}\n"
    assert capsys.readouterr().err.endswith(said)


def test_an_interrupt_while_modules_are_imported_is_130(monkeypatch):
    ended = []
    monkeypatch.setattr(os, "write", lambda *told: ended.append(told))
    monkeypatch.setattr(os, "_exit", ended.append)
    _exit_on_interrupt(signal.SIGINT, None)
    monkeypatch.undo()
    assert ended == [(2, b"jaxmotif: interrupted\n"), 130]


def test_silent_work_is_told_of(monkeypatch, capsys):
    run = _datasets.run

    def work(args):
        told, end = "", time.monotonic() + 30
        while "jaxmotif: datasets: at work\n" not in told:
            assert time.monotonic() < end
            told += capsys.readouterr().err
        return run(args)

    monkeypatch.setattr(_command, "SILENT_SECONDS", 0.01)
    monkeypatch.setattr(_datasets, "run", work)
    assert main(["datasets"]) == 0


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the streams")
@pytest.mark.parametrize("told", [True, *more(False)])
def test_a_closed_standard_output_is_told_and_costs_no_file(tmp_path, told):
    if told:
        closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *QUICK], capture_output=True, text=True)
        assert (closed.returncode, closed.stderr) == (1, "jaxmotif: error: standard output: Bad file descriptor\n")
        return
    out = tmp_path / "out.json"
    subprocess.run(["sh", "-c", '"$@" >&- 2>&-', "sh", *QUICK, "--output", str(out)], check=True)
    assert json.loads(out.read_text())["matches"] == 270


DEAF = """
import signal, time
import jaxmotif.graphlets
from jaxmotif.cli import program

def deaf(*_, **__):
    while True:
        try:
            print("counting", flush=True)
            time.sleep(60)
        except KeyboardInterrupt:
            pass

signal.signal(signal.SIGINT, signal.default_int_handler)  # a test run in the background ignores it
jaxmotif.graphlets.graphlet_counts = deaf
program()
"""


def test_ctrl_c_ends_work_that_does_not_hear_it(tmp_path):
    arguments = ["graphlets", "karate", "--quiet", "--output", str(tmp_path / "out")]
    with subprocess.Popen(
        [sys.executable, "-c", DEAF, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "counting\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert process.stderr.read() == "\njaxmotif: interrupted\n"
    assert os.listdir(tmp_path) == []


def test_closed_pipe_is_quiet():
    with subprocess.Popen(QUICK, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141
