"""Further cases of parametrized tests: `.ci/run` runs them in turns, ``--slow`` all, to widen what others show."""

import pytest


def more(*cases: object) -> list:
    """These cases, marked; a tuple is of several arguments."""
    return [pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.more) for case in cases]
