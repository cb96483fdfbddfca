"""Compiled programs that are kept: where, how many, and what is done about broken ones."""

import os
import pwd
import subprocess
import sys
import time
from pathlib import Path

import jax
import pytest

from jaxmotif.arrays import _kept
from jaxmotif.arrays._kept import drop_oldest
from jaxmotif.cli import main
from tests.more import more

COMMAND = [sys.executable, "-m", "jaxmotif"]
RUN = ["graphlets", "karate"]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A process without any setting but a home folder."""
    for name in list(os.environ):
        if name.startswith(("JAX_COMPILATION", "JAX_PERSISTENT", "JAXMOTIF_CACHE", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def run(*arguments):
    made = subprocess.run([*COMMAND, *RUN, *map(str, arguments)], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "4-clique           31710  G8         11" in made.stdout
    return made.stderr


def programs(folder):
    return sorted([*Path(folder).glob("*/*-program"), *Path(folder).glob("*/*-cache")])


@pytest.mark.parametrize("broken", [True, *more(False)])
def test_the_command_keeps_code_by_itself_and_mends_what_is_broken(home, broken):
    run()
    kept = programs(home / ".cache" / "jaxmotif")
    assert kept
    assert kept[0].parent.stat().st_mode & 0o077 == 0
    written = [file.stat().st_ino for file in kept]
    if not broken:
        assert "compiled code" not in run()
        assert programs(home / ".cache" / "jaxmotif") == kept
        assert [file.stat().st_ino for file in kept] == written
        return
    for file in kept:
        file.write_bytes(b"garbage")
        os.utime(file, (0, 0))
    assert "compiled code that was kept is broken, and is made anew" in run()
    assert all(file.read_bytes() != b"garbage" for file in kept)


@pytest.mark.more
def test_no_cache_is_kept_when_not_asked_for_or_not_possible(home, monkeypatch):
    (home / "file").write_text("")
    assert "compiled code is not kept" in run("--cache", home / "file")
    assert run("--no-cache", "--quiet") == ""
    assert not (home / ".cache").exists()


def test_only_the_oldest_are_dropped(tmp_path):
    for age, name in enumerate("abcd"):
        (tmp_path / f"{name}-cache").write_bytes(bytes(100))
        os.utime(tmp_path / f"{name}-cache", (10**9 - age, 10**9 - age))
    (tmp_path / "other").write_bytes(bytes(1000))
    drop_oldest(tmp_path, 400)
    assert len(os.listdir(tmp_path)) == 5
    drop_oldest(tmp_path, 250)
    assert sorted(os.listdir(tmp_path)) == ["a-cache", "b-cache", "other"]
    drop_oldest(tmp_path, 0)
    assert os.listdir(tmp_path) == ["other"]


def test_what_is_just_being_written_is_not_forgotten(tmp_path, monkeypatch):
    for name in ("old-cache", "new-cache"):
        (tmp_path / name).write_bytes(b"x")
    os.utime(tmp_path / "old-cache", (time.time() - 3600,) * 2)
    before = _kept.jax.config.jax_compilation_cache_dir
    _kept.jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    _kept.forget_compiled()
    _kept.jax.config.update("jax_compilation_cache_dir", before)
    assert os.listdir(tmp_path) == ["new-cache"]


def test_a_negative_bound_is_refused():
    with pytest.raises(ValueError, match="max_bytes must not be negative, got -1"):
        _kept.keep_compiled(max_bytes=-1)


def test_without_a_home_folder_no_code_is_kept_and_work_goes_on(home, monkeypatch, capsys):
    """As in a container whose user the system does not know."""

    def unknown(_):
        raise KeyError("getpwuid(): uid not found")

    monkeypatch.delenv("HOME")
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", None)
    try:
        assert main(["graphlets", "karate"]) == 0
        shown = capsys.readouterr()
        assert "compiled code is not kept: this user has no home folder" in shown.err
        assert "4-clique" in shown.out
        with pytest.raises(OSError, match="no home folder"):
            _kept.keep_compiled("~/programs")
    finally:
        jax.config.update("jax_compilation_cache_dir", before)
