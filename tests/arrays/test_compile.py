"""Compiled functions: in 64-bit mode, with XLA's options where they may be given, the same when transformed."""

import os
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays import _compile
from jaxmotif.arrays._compile import QuickLimits, compile_quickly, compiling_for, jit64
from tests.compilations import compilations

HUGE = 2**40


@pytest.fixture
def quickly(monkeypatch):
    """A process that asks for few results, whose user has no settings of his own."""
    monkeypatch.setattr(_compile, "_unknown_options", set())
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    compile_quickly(True)
    yield
    compile_quickly(False)


def shifted():
    """A compiled function that no other test has called."""
    return jit64(lambda x: x.astype(jnp.int64) + HUGE, quick=QuickLimits(unoptimised=64, unfused=1024))


def options_of(function, argument):
    """What XLA was told when a function was called."""
    told = []
    jit = jax.jit

    def noted(*args, **kwargs):
        told.append(kwargs.get("compiler_options"))
        return jit(*args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jax, "jit", noted)
        result = function(argument)
    assert np.array_equal(result, np.asarray(argument).astype(np.int64) + HUGE)
    return told


def test_small_programs_are_compiled_quickly_where_that_is_asked_for(quickly):
    function = shifted()
    assert "xla_backend_optimization_level" in options_of(function, np.arange(8, dtype=np.int32))[0]
    assert "xla_backend_optimization_level" not in options_of(function, np.arange(100, dtype=np.int32))[0]
    assert options_of(function, np.arange(1000, dtype=np.int32)) == [None]
    compile_quickly(False)
    assert options_of(shifted(), np.arange(8, dtype=np.int32)) == [None]


def test_a_program_of_short_loops_runs_on_one_thread(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    function = jit64(lambda x: x.astype(jnp.int64) + HUGE, one_thread=64)
    alone = {"xla_disable_hlo_passes": "cpu-parallel-task-assigner"}
    assert options_of(function, np.arange(16, dtype=np.int32)) == [alone]
    assert options_of(function, np.arange(17, dtype=np.int32)) == [None]


def test_a_users_own_flags_are_left_alone(quickly, monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=2")
    assert "xla_backend_optimization_level" not in options_of(shifted(), np.arange(8, dtype=np.int32))[0]


def test_a_program_of_which_xla_would_make_few_huge_kernels_keeps_them_apart(monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    gpu, cpu = _compile.Target("cuda"), _compile.Target("cpu")
    apart = ("xla_disable_hlo_passes", "multi_output_fusion")
    assert apart in _compile._compiler_options(gpu, None, False, 0, [])
    assert apart not in _compile._compiler_options(gpu, None, True, 0, [])
    assert _compile._compiler_options(cpu, None, False, 0, []) == ()
    monkeypatch.setenv("XLA_FLAGS", "--xla_disable_hlo_passes=cse")  # what the user leaves out stays as it is
    assert "xla_disable_hlo_passes" not in dict(_compile._compiler_options(gpu, None, False, 0, []))


def test_an_option_that_this_xla_does_not_know_is_left_out(quickly, monkeypatch):
    unknown = (("xla_of_another_version", 1), ("xla_backend_optimization_level", 0))
    monkeypatch.setattr(_compile, "_UNOPTIMISED", unknown)
    assert options_of(shifted(), np.arange(8, dtype=np.int32)) == [
        dict(unknown),
        {"xla_backend_optimization_level": 0},
    ]


def test_options_are_no_hindrance_under_a_users_transformations(quickly):
    """XLA takes options for whole programs only."""
    function, x = shifted(), np.arange(6, dtype=np.int32).reshape(2, 3)
    expected = x.astype(np.int64) + HUGE
    assert np.array_equal(jax.vmap(function)(x), expected)
    with jax.enable_x64(True):
        assert np.array_equal(jax.jit(function)(x), expected)
        closed = jax.jit(lambda y: function(x) + y)  # with nothing traced, so a constant
        assert np.array_equal(closed(np.int64(1)), expected + 1)
        assert np.array_equal(jax.vmap(lambda y: function(x) + y)(np.arange(2)), expected + np.arange(2)[:, None, None])


def test_each_target_has_programs_of_its_own():
    function, elsewhere = jit64(lambda x: x * len(_compile.target().platform)), _compile.Target("elsewhere")
    assert int(function(np.int32(1))) == 3
    with compiling_for(elsewhere):
        assert int(function(np.int32(1))) == len("elsewhere")


def test_an_error_of_a_program_is_told_as_it_is():
    """Only an option that XLA does not know is a reason to call again."""

    def fail(x):
        calls.append(x)
        raise ArithmeticError("no such number")

    calls = []
    function = jit64(lambda x: jax.pure_callback(fail, jax.ShapeDtypeStruct((), np.int32), x))
    with pytest.raises(jax.errors.JaxRuntimeError, match="no such number"):
        jax.block_until_ready(function(np.int32(1)))
    assert len(calls) == 1


def test_kernels_that_the_user_names(monkeypatch):
    monkeypatch.setenv("JAXMOTIF_KERNELS", "interpreted")
    assert _compile.target_of(jax.devices("cpu")[0]) == _compile.Target("cpu", "interpreted")
    monkeypatch.setenv("JAXMOTIF_KERNELS", "fast")
    with pytest.raises(ValueError, match="JAXMOTIF_KERNELS must be one of .*interpreted, got 'fast'"):
        _compile.target_of(jax.devices("cpu")[0])


def test_threads_share_a_program():
    """Static arguments with defaults must be those of the call, whichever thread made the program."""
    wrong = []

    def work(function, k):
        if int(function(np.int32(1), by=k)) != k:
            wrong.append(k)

    for _ in range(40):
        function = jit64(lambda x, *, by=1: x * by, static_argnames="by")
        threads = [threading.Thread(target=work, args=(function, k % 3)) for k in range(8)]
        with compilations() as found:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(found) == 3
    assert wrong == []


def test_no_environment_is_changed():
    before = dict(os.environ)
    shifted()(np.arange(3, dtype=np.int32))
    assert dict(os.environ) == before
