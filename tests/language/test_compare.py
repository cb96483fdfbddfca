"""Clauses on columns of values: what is called a mismatch holds nowhere, and what holds somewhere is none."""

import numpy as np
import pytest

from jaxmotif.language._compare import agree, fulfils, mismatch

COLUMNS = {
    "numbers": np.array([1, 2, 3]),
    "fractions": np.array([0.5, np.nan]),
    "truth": np.array([True, False]),
    "words": np.array(["1", "a", None], object),
    "both": np.array(["a", 2, None], object),
    "large numbers": np.array([2**70, 2, None], object),
    "nothing": np.array([None, None], object),
    "no number": np.array([np.nan, np.nan]),
    "no row": np.zeros(0),
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
    assert mismatch(np.array([np.str_("x"), None], object), "==", 2).startswith("holds words; 2 is a number")
    assert mismatch(COLUMNS["both"], "==", 2) is None
    assert fulfils(COLUMNS["both"], "==", 2).tolist() == [False, True, False]


def test_a_number_in_quotes_is_a_number_among_numbers():
    large, both = COLUMNS["large numbers"], COLUMNS["both"]
    assert fulfils(large, ">", "5").tolist() == [True, False, False]
    assert fulfils(large, "==", str(2**70)).tolist() == [True, False, False]
    assert fulfils(large, "in", ("2", "a")).tolist() == [False, True, False]
    assert fulfils(both, "==", "2").tolist() == [False, True, False]
    assert fulfils(both, "!=", "a").tolist() == [False, True, True]
    assert mismatch(large, ">", "word") == "holds numbers, and 'word' is none"


@pytest.mark.parametrize("name", ["nothing", "no number", "no row"])
def test_columns_without_values_are_compared_with_anything(name):
    for value in (2, "a", True):
        assert mismatch(COLUMNS[name], "==", value) is None
        assert not fulfils(COLUMNS[name], "==", value).any()


PAIRS = [(1, 1), (1, 2), (2, 1), (None, 1), ("a", "a"), ("a", "ab"), ("ab", "a"), (None, None), ("1", 1), (1, None)]
FRACTIONS = [(0.5, 0.5), (0.5, 1), (1, 0.5), (np.nan, 1), (1, np.nan), (np.nan, np.nan)]
LAWS = {
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
    "<": lambda x, y: type(x) is type(y) and x < y,
    "<=": lambda x, y: type(x) is type(y) and x <= y,
    ">": lambda x, y: type(x) is type(y) and x > y,
    ">=": lambda x, y: type(x) is type(y) and x >= y,
    "in": lambda x, y: isinstance(x, str) and isinstance(y, str) and x in y,
    "!in": lambda x, y: not LAWS["in"](x, y),
    "contains": lambda x, y: isinstance(x, str) and isinstance(y, str) and y in x,
    "!contains": lambda x, y: not LAWS["contains"](x, y),
}


@pytest.mark.parametrize("operator", LAWS)
@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[:3], FRACTIONS], ids=["objects", "numbers", "fractions"])
def test_columns_agree_value_by_value(operator, pairs):
    kind = {len(PAIRS): object, len(FRACTIONS): float}.get(len(pairs))
    left, right = (np.array(side, kind) for side in zip(*pairs, strict=True))
    # What is missing, None or not a number, agrees with nothing.
    wanted = [
        x is not None and y is not None and x == x and y == y and LAWS[operator](x, y)
        for x, y in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert agree(left, operator, right).tolist() == wanted
