"""Further cases of parametrized tests: they widen what the others show, and run in turns in `.ci/run`, and with ``--slow``."""

import pytest


def more(*cases: object) -> list:
    """These cases, marked; a tuple is of several arguments."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.more) for case in cases]
