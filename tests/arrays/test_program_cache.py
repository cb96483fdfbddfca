"""The folder of compiled programs: where it is, whom it may belong to, its size, and what is done about broken ones."""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

import jaxmotif
from jaxmotif.arrays import _program_cache as module
from jaxmotif.arrays._private_folder import why_not_private
from jaxmotif.arrays._program_cache import drop_oldest, forget_broken, keep_compiled
from jaxmotif.cli import main

COMMAND = [sys.executable, "-m", "jaxmotif"]
RUN = ["graphlets", "karate"]


@pytest.fixture
def unset_cache():
    """JAX's settings of the cache, restored afterwards."""
    names = ["jax_compilation_cache_dir", "jax_persistent_cache_enable_xla_caches"]
    names += [f"jax_persistent_cache_min_{name}" for name in ("compile_time_secs", "entry_size_bytes")]
    before = {name: jax.config.values[name] for name in names}
    yield
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


@pytest.fixture
def home(tmp_path, monkeypatch, unset_cache):
    """A process without any setting but a home folder."""
    jax.config.update("jax_compilation_cache_dir", None)
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


def told_by_main(capsys, *arguments):
    """What the command tells in this process, which is begun sooner than another."""
    assert main([*RUN, *map(str, arguments)]) == 0
    shown = capsys.readouterr()
    assert "4-clique           31710  G8         11" in shown.out
    return shown.err


def programs(folder):
    return sorted(Path(folder).glob("*/*-cache"))


TWICE = f"""
import os, pathlib, jax
from jaxmotif.cli import main
assert main({RUN}) == 0
for file in pathlib.Path(os.environ["HOME"]).glob(".cache/jaxmotif/*/*-cache"):
    file.write_bytes(b"garbage")
    os.utime(file, (0, 0))
jax.clear_caches()  # as another process, which takes longer to begin
assert main({RUN}) == 0
"""


def test_the_command_keeps_code_by_itself_and_mends_what_is_broken(home):
    made = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("4-clique           31710  G8         11") == 2
    assert made.stderr.count("compiled code that was kept is broken, and is made anew") == 1
    kept = programs(home / ".cache" / "jaxmotif")
    assert kept
    assert kept[0].parent.stat().st_mode & 0o077 == 0
    assert all(file.read_bytes() != b"garbage" for file in kept)


@pytest.mark.more
def test_another_process_takes_what_the_command_has_kept(home):
    run()
    kept = programs(home / ".cache" / "jaxmotif")
    written = [file.stat().st_ino for file in kept]
    assert "compiled code" not in run()
    assert programs(home / ".cache" / "jaxmotif") == kept
    assert [file.stat().st_ino for file in kept] == written


def test_no_cache_is_kept_when_not_asked_for_or_not_possible(home, capsys):
    assert told_by_main(capsys, "--no-cache", "--quiet") == ""
    (home / "file").write_text("")
    assert "compiled code is not kept" in told_by_main(capsys, "--cache", home / "file")
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


def test_all_programs_of_a_broken_ones_function_are_removed(tmp_path, unset_cache):
    for name in ("jit_sums-1234-cache", "jit_sums-abcd-cache", "jit_sums_of-1234-cache"):
        (tmp_path / name).write_bytes(b"x")
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    warning = "Error reading persistent compilation cache entry for 'jit_sums': ValueError: torn"
    assert forget_broken(warning)
    assert os.listdir(tmp_path) == ["jit_sums_of-1234-cache"]
    assert not forget_broken("Error writing persistent compilation cache entry for 'jit_sums': full")


def test_a_negative_bound_is_refused():
    with pytest.raises(ValueError, match="max_bytes must not be negative, got -1"):
        keep_compiled(max_bytes=-1)


def test_programs_are_dropped_from_a_folder_of_our_own_alone(tmp_path, unset_cache):
    """The size of a folder that JAX was told of is its user's affair."""
    own = keep_compiled(tmp_path / "own")
    theirs = tmp_path / "theirs"
    theirs.mkdir(mode=0o700)
    for folder in (own, theirs):
        (folder / "a-cache").write_bytes(b"x" * 100)
    assert keep_compiled(tmp_path / "own", max_bytes=0) == own
    assert os.listdir(own) == []
    jax.config.update("jax_compilation_cache_dir", str(theirs))  # as by JAX_COMPILATION_CACHE_DIR
    assert keep_compiled(max_bytes=50) == theirs
    assert os.listdir(theirs) == ["a-cache"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX permissions")
def test_a_folder_that_others_may_write_to_is_refused(tmp_path, unset_cache):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(PermissionError, match="others may write to .*shared"):
        keep_compiled(shared)
    jax.config.update("jax_compilation_cache_dir", str(shared))  # as by JAX_COMPILATION_CACHE_DIR
    with pytest.raises(PermissionError, match="others may write to .*shared"):
        keep_compiled()
    jax.config.update("jax_compilation_cache_dir", "gs://bucket/programs")
    with pytest.raises(PermissionError, match="gs://bucket/programs, outside this machine"):
        keep_compiled()
    assert jax.config.values["jax_compilation_cache_dir"] is None


def test_an_empty_path_is_no_folder(home):
    expected = home / ".cache" / "jaxmotif"
    assert keep_compiled("").parent == expected
    jax.config.update("jax_compilation_cache_dir", "")
    assert Path(str(module.kept_programs("")["compiled code"])).parent == expected


def test_every_level_of_a_new_folder_is_private(tmp_path, unset_cache):
    before = os.umask(0)
    try:
        folder = keep_compiled(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert folder.parent == tmp_path / "a" / "b"
    for level in (folder, *folder.parents[:2]):
        assert level.stat().st_mode & 0o777 == 0o700
    assert jax.config.values["jax_compilation_cache_dir"] == str(folder)


ATTACK = """
import os, sys
os.setgid({uid}), os.setuid({uid})
{code}
"""


def as_user(uid, code):
    script = ATTACK.format(uid=uid, code=code)
    return subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs two users, so root")
def test_a_stranger_cannot_have_his_code_run(monkeypatch):
    """One user's cache lies in a folder where all may write; another user tries to put a program into it."""
    victim, stranger = 12001, 12002
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        top = Path(top)
        top.chmod(0o1777)
        own, theirs = top / "own", top / "theirs"
        for folder, user in ((own, victim), (theirs, stranger), (theirs / "deep", victim)):
            folder.mkdir(mode=0o700)
            os.chown(folder, user, user)
        theirs.chmod(0o755)
        link = top / "link"
        link.symlink_to(theirs)
        monkeypatch.setattr(os, "geteuid", lambda: victim)
        assert why_not_private(own) is None  # the folder above is for all, but nobody can rename another's folder in it
        assert as_user(stranger, f"os.rename({str(own)!r}, {str(top / 'gone')!r})").returncode != 0
        assert as_user(stranger, f"open({str(own / 'jit_f-1-cache')!r}, 'w')").returncode != 0
        assert f"others may write to {top}" == why_not_private(top)
        assert "belongs to another user" in why_not_private(theirs)
        assert "belongs to another user" in why_not_private(theirs / "deep")
        assert "belongs to another user" in why_not_private(link)
        own.chmod(0o777)
        assert as_user(stranger, f"open({str(own / 'jit_f-1-cache')!r}, 'w').write('code')").returncode == 0
        assert f"others may write to {own}" == why_not_private(own)
        own.chmod(0o700)
        assert "jit_f-1-cache may be another user's" in why_not_private(
            own
        )  # it was put there while the folder was open
        os.chown(own / "jit_f-1-cache", victim, victim)
        assert why_not_private(own) is None


def test_the_command_does_without_a_cache_that_others_may_write_to(home, capsys):
    shared = home / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    jax.config.update("jax_compilation_cache_dir", str(shared))  # as by JAX_COMPILATION_CACHE_DIR
    assert "compiled code is not kept: others may write to" in told_by_main(capsys)
    assert jax.config.values["jax_compilation_cache_dir"] is None  # JAX is told to keep what was compiled nowhere


def test_without_a_home_folder_the_command_does_without_a_cache(home, monkeypatch, capsys):
    """A user who is in no list of users, as in many containers."""
    monkeypatch.delenv("HOME")
    monkeypatch.setattr(os, "getuid", lambda: 987654)
    assert "compiled code is not kept: this user has no home folder" in told_by_main(capsys)


def test_nothing_is_unpickled():
    """Compiled programs come from JAX's own cache alone; nothing that lies in a file is read as a pickle."""
    package = Path(jaxmotif.__file__).parent
    for file in package.rglob("*.py"):
        words = file.read_text("utf-8")
        assert "import pickle" not in words, file
        assert "serialize_executable" not in words, file


def test_processors_of_several_kinds_have_folders_of_their_own(monkeypatch):
    """What one compiles another may not be able to run: they are told apart by what they can do, not by how fast."""
    names = []
    for lines in ("flags : sse avx\n", "flags : sse avx avx512f\n", "cpu MHz : 1\nflags : sse avx\n"):
        monkeypatch.setattr(module, "open", lambda path, lines=lines: io.StringIO(lines), raising=False)
        names.append(module._machine())
    assert names[0] != names[1]
    assert names[0] == names[2]
