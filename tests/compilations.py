"""How many programs XLA compiles."""

import contextlib
from collections.abc import Iterator

import jax

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
