"""Whole programs that are kept: found when everything is the same, not when anything differs, never wrong."""

import os
import subprocess
import sys
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.compilation_cache import compilation_cache

from jaxmotif.arrays import _programs
from jaxmotif.arrays._compile import jit64
from jaxmotif.arrays._programs import NEVER, Brief


class Sizes(NamedTuple):
    rows: int
    name: str = "a"


def scaled(x, y=None, *, by=1, sizes=None):
    traces.append((np.shape(x), by, sizes))
    return x * by + (0 if y is None else y), {"rows": jnp.int64(sizes.rows if sizes else 0)}


traces: list = []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for programs; functions of this file count as the package's. What JAX's cache holds is not written."""
    monkeypatch.setattr(scaled, "__module__", "jaxmotif.scaled")
    _programs.keep_programs_in(tmp_path)
    traces.clear()
    jax.config.update("jax_enable_compilation_cache", False)
    compilation_cache.reset_cache()
    yield tmp_path
    _programs.keep_programs_in(None)
    jax.config.update("jax_enable_compilation_cache", True)
    compilation_cache.reset_cache()


def fresh(brief=NEVER):
    """The compiled function as a new process has it."""
    return jit64(scaled, brief=brief, static_argnames=("by", "sizes"))


def test_a_kept_program_is_not_traced_again_and_gives_the_same(folder):
    x = jnp.arange(4, dtype=jnp.int32)
    first = fresh()(x, np.int32(5), by=3, sizes=Sizes(7))
    assert (len(traces), len(os.listdir(folder))) == (1, 1)
    again = fresh()(x, np.int32(5), by=3, sizes=Sizes(7))
    assert len(traces) == 1
    assert first[0].tolist() == again[0].tolist() == [5, 8, 11, 14]
    assert (int(again[1]["rows"]), again[1]["rows"].dtype, again[0].committed) == (7, jnp.int64, first[0].committed)
    assert fresh()(x + 1, np.int32(0), by=3, sizes=Sizes(7))[0].tolist() == [3, 6, 9, 12]
    assert len(traces) == 1


@pytest.mark.parametrize(
    ("args", "options"),
    [
        ((jnp.arange(5, dtype=jnp.int32),), {"by": 3}),
        ((jnp.arange(4, dtype=jnp.int16),), {"by": 3}),
        ((np.arange(4, dtype=np.int32),), {"by": 3}),
        ((jnp.arange(4, dtype=jnp.int32),), {"by": 4}),
        ((jnp.arange(4, dtype=jnp.int32), jnp.int32(1)), {"by": 3}),
        ((jnp.arange(4, dtype=jnp.int32),), {"by": 3, "sizes": Sizes(7)}),
        ((jnp.arange(4, dtype=jnp.int32),), {"by": 3, "sizes": Sizes(7, "b")}),
    ],
)
def test_whatever_differs_is_another_program(folder, args, options):
    base = fresh()
    base(jnp.arange(4, dtype=jnp.int32), by=3)
    base(jnp.arange(4, dtype=jnp.int32), by=3, sizes=Sizes(8))
    assert len(traces) == 2
    found = fresh()(*args, **options)[0]
    assert len(traces) == 3
    more = args[1] if len(args) == 2 else 0
    assert found.tolist() == (np.asarray(args[0]) * options["by"] + np.asarray(more)).tolist()


def test_other_source_or_settings_are_other_programs(folder, monkeypatch):
    x = jnp.arange(4, dtype=jnp.int32)
    fresh()(x, by=3)
    monkeypatch.setattr(_programs, "_source", lambda: "edited")
    fresh()(x, by=3)
    assert len(traces) == 2
    with jax.numpy_dtype_promotion("standard"):
        fresh()(x, by=3)
    assert len(traces) == 3
    monkeypatch.setenv("XLA_FLAGS", os.environ["XLA_FLAGS"] + " --xla_dump_to=")
    fresh()(x, by=3)
    assert len(os.listdir(folder)) == 4


def drawn(key, x):
    traces.append(x.shape)
    return jax.random.fold_in(key, 3), jax.random.bits(key, x.shape, "uint32") + x


def test_random_keys_are_arguments_and_results(folder, monkeypatch):
    monkeypatch.setattr(drawn, "__module__", "jaxmotif.drawn")
    x = np.arange(5, dtype=np.uint32)
    key, bits = jit64(drawn)(jax.random.key(7), x)
    again, same = jit64(drawn)(jax.random.key(7), x)
    assert (len(traces), len(os.listdir(folder))) == (1, 1)
    assert jax.random.key_data(key).tolist() == jax.random.key_data(again).tolist()
    assert bits.tolist() == same.tolist() == (jax.random.bits(jax.random.key(7), (5,), "uint32") + x).tolist()


@pytest.fixture
def quick(folder, monkeypatch):
    """The options of what is compiled, where that is to be quick and the user has no settings of his own."""
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    before = jax.config.values["jax_disable_most_optimizations"]
    jax.config.update("jax_disable_most_optimizations", False)
    _programs.keep_programs_in(folder, quick=True)
    used, compiled = [], _programs._compiled
    monkeypatch.setattr(
        _programs, "_compiled", lambda low, options: used.append(dict(options)) or compiled(low, options)
    )
    yield used
    jax.config.update("jax_disable_most_optimizations", before)


def test_small_programs_are_compiled_quickly_at_first_and_well_once_they_are_hot(quick, folder):
    brief, x = Brief(unoptimised=32, unfused=64), np.arange(8, dtype=np.int32)
    tripled = fresh(brief)
    for call in range(_programs.HOT + 3):
        assert tripled(x, by=3)[0].tolist() == (3 * x).tolist()
        assert len(quick) == (1 if call < _programs.HOT else 2)
    assert quick == [_programs._UNOPTIMISED, {}]
    assert len(os.listdir(folder)) == 2
    for _ in range(_programs.HOT + 3):  # a later process takes the better one, and keeps to it
        assert fresh(brief)(x, by=3)[0].tolist() == (3 * x).tolist()
    assert (len(traces), len(quick)) == (1, 2)
    for size in (16, 17):
        fresh(brief)(np.arange(size, dtype=np.int32), by=3)
    fresh()(x, by=4)
    assert quick[2:] == [_programs._UNFUSED, {}, {}]


@pytest.mark.parametrize("theirs", ["flags", "setting", "not asked for"])
def test_users_settings_are_left_alone(quick, folder, monkeypatch, theirs):
    if theirs == "flags":
        monkeypatch.setenv("XLA_FLAGS", "--xla_force_host_platform_device_count=1")
    elif theirs == "setting":
        jax.config.update("jax_disable_most_optimizations", True)
    else:
        _programs.keep_programs_in(folder)
    fresh(Brief(unoptimised=32))(np.arange(8, dtype=np.int32), by=3)
    assert quick == [{}]


def test_options_that_this_xla_does_not_know_are_left_out():
    lowered = jax.jit(lambda x: x + 1).lower(np.int32(1))
    program = _programs._compiled(lowered, {"xla_of_another_version": 1, "xla_backend_optimization_level": 0})
    assert int(program(np.int32(1))) == 2


def test_other_failures_to_compile_are_not_tried_again():
    class Lowered:
        def compile(self, compiler_options):
            raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: 'xla_backend_optimization_level'")

    with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE"):
        _programs._compiled(Lowered(), {"xla_backend_optimization_level": 0})


def test_each_device_has_its_own(folder):
    for device in jax.devices()[:2]:
        x = jax.device_put(np.arange(3, dtype=np.int32), device)
        for _ in range(2):
            assert fresh()(x, by=2)[0].devices() == {device}
    assert (len(traces), len(os.listdir(folder))) == (2, 2)


SCRIPT = """
import sys, jax
from pathlib import Path
from jaxmotif.arrays import _compile, _kept, _programs
import numpy as np

def sums(x):
    return [(x * k).sum() + (x > k).sum() for k in range(8)], jax.numpy.sort(x)[::-1]

sums.__module__ = "jaxmotif.sums"
jax.config.update("jax_compilation_cache_dir", sys.argv[1])
if sys.argv[2] == "jax":
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
else:
    _kept.keep_compiled()
some, ordered = _compile.jit64(sums)(np.arange(100))
print(sum(map(int, some)), ordered[:2].tolist(), len(list(Path(sys.argv[1]).glob("*-program"))))
"""


@pytest.mark.more
def test_what_jax_has_read_from_its_own_cache_is_not_written_again(tmp_path):
    """XLA leaves out parts when it writes a program that it has itself read: seen to fail when it is run."""

    def run(how):
        made = subprocess.run([sys.executable, "-c", SCRIPT, tmp_path, how], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        return made.stdout.split()

    total = str(sum(4950 * k + 99 - k for k in range(8)))
    assert run("jax") == [total, "[99,", "98]", "0"]
    assert run("both") == run("both") == [total, "[99,", "98]", "0"]
    for file in tmp_path.glob("jit_*-cache"):
        file.unlink()
    assert run("both") == [total, "[99,", "98]", "1"]


def test_a_damaged_program_is_made_anew(folder, caplog):
    x = jnp.arange(4, dtype=jnp.int32)
    fresh()(x, by=3)
    (file,) = folder.iterdir()
    whole = file.read_bytes()
    for content in (b"", b"garbage", whole[:-10], whole[:100] + b"x" + whole[101:]):
        file.write_bytes(content)
        with caplog.at_level("INFO", "jaxmotif"):
            assert fresh()(x, by=3)[0].tolist() == [0, 3, 6, 9]
        assert "broken" in caplog.text
        caplog.clear()
    assert len(os.listdir(folder)) == 1
    count = len(traces)
    fresh()(x, by=3)
    assert len(traces) == count


def test_a_folder_that_cannot_be_written_is_done_without(folder, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_programs, "_write", full)
    _programs.note_once.cache_clear()
    with caplog.at_level("INFO", "jaxmotif"):
        for by in (1, 2):
            assert fresh()(jnp.arange(2, dtype=jnp.int32), by=by)[0].tolist() == [0, by]
    assert caplog.text.count("No space left on device") == 1


def test_what_cannot_be_described_is_left_to_jax(folder):
    by = 3
    closed = jit64(lambda x: x * by)
    assert closed(jnp.arange(2, dtype=jnp.int32)).tolist() == [0, 3]

    class Odd:
        rows = 5

    assert int(fresh()(jnp.arange(2, dtype=jnp.int32), sizes=Odd())[1]["rows"]) == 5
    assert jax.vmap(lambda x: fresh()(x, by=2)[0])(jnp.arange(3, dtype=jnp.int32)).tolist() == [0, 2, 4]
    assert os.listdir(folder) == []


def test_descriptions_tell_apart():
    values = [1, True, 1.0, "1", b"1", None, (1,), ((1,),), Sizes(1), Sizes(1, "b"), frozenset((1,)), ("1",)]
    texts = [_programs._described(value) for value in values]
    assert len(set(texts)) == len(values)
    assert _programs._described(frozenset("abc")) == _programs._described(frozenset("cba"))
    assert _programs._described((1, object())) is None


def test_a_partial_function_is_kept_nowhere(folder):
    """Its arguments are no part of a name: two of them must not share a program."""
    found = [int(jit64(partial(scaled, by=by))(jnp.int32(2))[0]) for by in (3, 4)]
    assert found == [6, 8]
    assert os.listdir(folder) == []
