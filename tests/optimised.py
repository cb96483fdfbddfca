"""Programs that run for so long that the tests compile them with some of the optimisations."""

import functools
from contextvars import ContextVar

from jaxmotif.arrays import _compile

_optimised = ContextVar("optimised", default=False)
_plain = _compile._compiler_options


def _options(*arguments):
    return (*_plain(*arguments), *((("xla_backend_optimization_level", 1),) if _optimised.get() else ()))


_compile._compiler_options = _options


def optimise(program):
    """Compile a program with some of the optimisations, where that takes less time than it saves."""

    @functools.wraps(program)
    def call(*args, **static):
        token = _optimised.set(True)
        try:
            return program(*args, **static)
        finally:
            _optimised.reset(token)

    return call
