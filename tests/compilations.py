"""How many programs XLA compiles, and how many are called."""

import contextlib
from collections.abc import Iterator

import jax
import pytest

from jaxmotif.arrays import _compile

EVENT = "/jax/core/compile/backend_compile_duration"


@contextlib.contextmanager
def compilations() -> Iterator[list[str]]:
    """The names of what XLA compiles meanwhile, a program read from the cache on disk among them.

    Example:
      >>> import numpy as np
      >>> with compilations() as found:
      ...     _ = jax.jit(lambda x: x * 3 + 1)(np.float32(2))
      >>> len(found)
      1
    """
    found: list[str] = []

    def hear(event: str, seconds: float, fun_name: str = "", **_: object) -> None:
        if event == EVENT:
            found.append(fun_name)

    jax.monitoring.register_event_duration_secs_listener(hear)
    try:
        yield found
    finally:
        jax.monitoring.unregister_event_duration_listener(hear)


@contextlib.contextmanager
def programs() -> Iterator[set[tuple]]:
    """Collect the programs of the library that are called meanwhile, compiled by now or long before: the function's
    name and options, and the shapes and static values of its arguments."""
    found: set[tuple] = set()
    call = _compile.call_program

    def noted(run, args, kwargs):
        kinds = ((x.shape, str(x.dtype)) if hasattr(x, "shape") else x for x in jax.tree.leaves((args, kwargs)))
        found.add((run.__qualname__, id(run), *kinds))
        return call(run, args, kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_compile, "call_program", noted)
        yield found
