"""Clauses on columns of values: what is called a mismatch holds nowhere, and what holds somewhere is none."""

import numpy as np
import pytest

from jaxmotif.language._compare import fulfils, mismatch

COLUMNS = {
    "numbers": np.array([1, 2, 3]),
    "fractions": np.array([0.5, np.nan]),
    "truth": np.array([True, False]),
    "words": np.array(["1", "a", None], object),
    "both": np.array(["a", 2, None], object),
    "nothing": np.array([None, None], object),
}


@pytest.mark.parametrize("operator", ["==", "<", ">=", "in", "contains"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_mismatch_holds_nowhere(name, operator):
    for value in (2, 0.5, "2", "a", True):
        given = (value,) if operator == "in" else value
        if mismatch(COLUMNS[name], operator, given) is not None:
            assert not fulfils(COLUMNS[name], operator, given).any(), value


def test_words_and_numbers_are_no_mismatch():
    assert mismatch(COLUMNS["words"], "==", 2) == "holds words; 2 is a number, and a word in quotes, '2'"
    assert mismatch(COLUMNS["both"], "==", 2) is None
    assert fulfils(COLUMNS["both"], "==", 2).tolist() == [False, True, False]
