"""Checkpoints: back unchanged, never half written, never taken for another's."""

import errno
import hashlib
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.devices import _checkpoint as checkpoint

NAME = checkpoint.fingerprint("work", 1)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "folder" / "work.checkpoint"


def test_arrays_come_back(file):
    arrays = {"a": np.arange(6, dtype=np.uint8).reshape(2, 3), "b": np.zeros((0, 4), np.int64), "c": jnp.float32(0.5)}
    assert checkpoint.load(file, NAME) is None
    checkpoint.save(file, NAME, arrays)
    back = checkpoint.load(file, NAME)
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].dtype == array.dtype
        assert back[name].shape == array.shape
    assert os.listdir(file.parent) == [file.name]


def test_the_last_save_counts(file):
    for step in range(3):
        checkpoint.save(file, NAME, {"step": step})
    assert int(checkpoint.load(file, NAME)["step"]) == 2


def test_every_truncation_and_flipped_bit_is_found(file):
    checkpoint.save(file, NAME, {"a": np.arange(5)})
    content = file.read_bytes()
    for length in range(len(content)):
        file.write_bytes(content[:length])
        with pytest.raises(ValueError, match="work.checkpoint: (damaged|not a|checkpoint version)"):
            checkpoint.load(file, NAME)
    for place in range(0, len(content), 7):
        flipped = bytearray(content)
        flipped[place] ^= 0x10
        file.write_bytes(flipped)
        with pytest.raises(ValueError, match="work.checkpoint: "):
            checkpoint.load(file, NAME)
    file.write_bytes(content + b"x")
    with pytest.raises(ValueError, match="damaged"):
        checkpoint.load(file, NAME)


def test_other_work_and_other_versions_are_refused(file):
    checkpoint.save(file, NAME, {"a": 1})
    with pytest.raises(ValueError, match="other input or options"):
        checkpoint.load(file, checkpoint.fingerprint("work", 2))
    file.write_bytes(file.read_bytes().replace(b"checkpoint 1\n", b"checkpoint 9\n", 1))
    with pytest.raises(ValueError, match="version '9'.*reads 1"):
        checkpoint.load(file, NAME)
    file.write_text("notes\n")
    with pytest.raises(ValueError, match="not a jaxmotif checkpoint"):
        checkpoint.load(file, NAME)


def test_a_failed_save_leaves_the_old_file(file):
    checkpoint.save(file, NAME, {"a": 1})
    with pytest.raises(ValueError, match="Object arrays"):
        checkpoint.save(file, NAME, {"a": np.array([object()])})
    assert int(checkpoint.load(file, NAME)["a"]) == 1
    assert os.listdir(file.parent) == [file.name]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no kill -9 here")
def test_killed_while_saving(file):
    """A process that saves without end is killed; what it leaves is one of its saves, whole."""
    code = f"""
        import numpy as np
        from jaxmotif.devices import _checkpoint as checkpoint
        step = 0
        while True:
            step += 1
            checkpoint.save({str(file)!r}, {NAME!r}, {{"step": step, "filler": np.full(1 << 16, step)}})
            if step == 3:
                print("going", flush=True)
    """
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"going\n"
        process.kill()
    back = checkpoint.load(file, NAME)
    assert int(back["step"]) >= 3
    assert (back["filler"] == back["step"]).all()


def test_fingerprints_tell_inputs_apart():
    key = jax.random.key(0)
    distinct = [
        (), (None,), (0,), (0.0,), (False,), ("0",), (b"0",), ((0,),), ((0,), 0), ([[0]],), ({"a": 0},), ({"a": 1},),
        (np.zeros(2, np.int32),), (np.zeros(2, np.int64),), (np.zeros((2, 1), np.int32),), (np.zeros(3, np.int32),),
        (key,), (jax.random.key(1),), (jax.random.key_data(key),), ("ab", "c"), ("a", "bc"), (["ab", "c"],),
    ]  # fmt: skip
    assert len({checkpoint.fingerprint(*parts) for parts in distinct}) == len(distinct)
    assert checkpoint.fingerprint(np.arange(3, dtype=np.int32)) == checkpoint.fingerprint(
        jnp.arange(3, dtype=jnp.int32)
    )
    with pytest.raises(TypeError, match="object"):
        checkpoint.fingerprint(object())
    with pytest.raises(TypeError, match="Python objects"):
        checkpoint.fingerprint(np.array([None]))


def test_one_writer_at_a_time(tmp_path):
    """The second is told who has it; what a killed one left is cleared away."""
    path = tmp_path / "work.checkpoint"
    (tmp_path / ".work.checkpoint.0badc0de.part").write_text("half")
    first = checkpoint.Lock(path)
    assert not [path for path in tmp_path.iterdir() if path.suffix == ".part"]
    with pytest.raises(ValueError, match=f"work.checkpoint: in use by process {os.getpid()} on"):
        checkpoint.Lock(path)
    first.release()
    checkpoint.Lock(path).release()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(checkpoint.fcntl is None, reason="this system has other locks")
def test_a_lock_that_its_owner_has_just_given_up_is_taken_anew(tmp_path, monkeypatch):
    """Between opening the file of the lock and locking it, its last owner removes it, and perhaps another makes one."""
    path, lock_file, opened = tmp_path / "work.checkpoint", tmp_path / ".work.checkpoint.lock", []

    def late(file, how):
        opened.append(file)
        if len(opened) < 3:
            lock_file.unlink()
        if len(opened) == 2:
            lock_file.write_text("of another process")
        return flock(file, how)

    flock = checkpoint.fcntl.flock
    monkeypatch.setattr(checkpoint.fcntl, "flock", late)
    lock = checkpoint.Lock(path)
    assert len(opened) == 3
    assert lock_file.read_text().startswith(f"process {os.getpid()} on ")
    lock.release()
    lock.release()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(checkpoint.fcntl is None, reason="this system has other locks")
def test_a_file_system_without_locks_keeps_checkpoints(tmp_path, monkeypatch):
    def refuse(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(checkpoint.fcntl, "flock", refuse)
    checkpoint.Lock(tmp_path / "work.checkpoint").release()
    assert list(tmp_path.iterdir()) == []


def test_many_writers_never_damage_a_file(tmp_path):
    """Eight at once, each with a lock or none: every load finds one of their files, whole."""
    path, failures = tmp_path / "work.checkpoint", []

    def write(number):
        for _ in range(40):
            try:
                if number % 2:
                    lock = checkpoint.Lock(path)
                    checkpoint.save(path, "id", {"number": np.full(1000, number)})
                    lock.release()
                else:
                    found = checkpoint.load(path, "id")
                    assert found is None or (found["number"] == found["number"][0]).all()
            except ValueError as error:
                if "in use by " not in str(error):
                    failures.append(error)
            except Exception as error:
                failures.append(error)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [path.name for path in tmp_path.iterdir()] == ["work.checkpoint"]


def test_a_checkpoint_whose_arrays_are_damaged_is_named(file):
    """The checksum is right: somebody wrote something else there."""
    checkpoint.save(file, NAME, {"a": np.arange(5)})
    first, second, content = file.read_bytes().split(b"\n", 2)
    damaged = content[: len(content) // 2]
    header = json.loads(second) | {"bytes": len(damaged), "sha256": hashlib.sha256(damaged).hexdigest()}
    file.write_bytes(b"\n".join([first, json.dumps(header).encode(), damaged]))
    with pytest.raises(ValueError, match="work.checkpoint: damaged checkpoint .its arrays cannot be read.*delete it"):
        checkpoint.load(file, NAME)


def test_a_full_disk_names_the_checkpoint(file, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space left on device.*work.checkpoint") as caught:
        checkpoint.Lock(file)
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(file))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device.*work.checkpoint"):
        checkpoint.save(file, NAME, {"a": 1})
