"""Programs: what is written by name is read by name; and leaf counts against plain Python."""

import math
from collections import namedtuple

import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import jit64
from jaxmotif.kernels._lane_body import PLAIN
from jaxmotif.search._layout import (
    FactorWords,
    GroupWords,
    Operands,
    PairWords,
    Reader,
    SearchWords,
    SetWords,
    Sizes,
    TermWords,
    read_record,
    record_size,
    word_names,
)
from jaxmotif.search._leaf_counts import leaf_ways
from jaxmotif.search._limbs import LimbCounts, counts_of
from jaxmotif.search._program import Placement, build_program


def records(program, kind, count, first):
    words = program.code[first : first + count * record_size(kind)].reshape(count, -1).tolist()
    return [namedtuple("Words", word_names(kind))(*row) for row in words]


def test_what_is_written_is_read():
    steps = [
        Placement([PairWords(-1, 90, 0)]),
        Placement([PairWords(0, 10, 100)]),
        Placement([PairWords(1, 20, 200), PairWords(0, 30, 300)], below=[1], non_neighbours=[PairWords(0, 0, 400)]),
        Placement([PairWords(2, 40, 500)], distinct_from=[0], ahead=[FactorWords([], [1], 3, 77)]),
    ]
    leaf = FactorWords([SetWords(3, 50, 600, 8, 9, 5, flip=-1)], [1], 2, 64, 1)
    program = build_program(steps, [[TermWords(-2, [leaf, leaf]), TermWords(3, [])]], stride=4, longest=9).sized(
        [6, 7, 8]
    )
    search = read_record(lambda at: int(program.code[at]), SearchWords, 0)
    assert (search.stride, search.halvings, search.tables, search.first_steps) == (4, 4, 4, 0)
    assert program.columns == [[], [0], [0, 1], [0, 1, 2]]
    two, last = program.table(2), program.table(3)
    assert records(program, PairWords, two.num_anchors, two.anchors) == [(1, 20, 200), (0, 30, 300)]
    assert records(program, PairWords, two.num_non_neighbours, two.non_neighbours) == [(0, 0, 400)]
    assert program.code[two.below] == 1
    assert program.code[two.columns : two.columns + two.num_columns].tolist() == [0, 1, -1]  # -1: the new node
    assert (two.base, two.room, two.next_base, two.next_room, two.is_last) == (6, 7, 20, 8, 0)
    assert program.entries == 6 + 2 * 7 + 3 * 8
    assert program.after(2) == (6, 7)
    other = [5, 9, 4]
    anew = build_program(steps, [[TermWords(-2, [leaf, leaf]), TermWords(3, [])]], stride=4, longest=9).sized(other)
    assert program.sized(other).code.tolist() == anew.code.tolist()
    assert program.sized(other).entries == anew.entries
    assert (last.is_last, last.num_columns) == (1, 0)
    [ahead] = records(program, FactorWords, last.num_ahead, last.ahead)
    assert (ahead.num_sets, ahead.words, ahead.ranks, ahead.less) == (0, 3, 77, 0)
    [group] = records(program, GroupWords, last.num_groups, last.groups)
    first, second = records(program, TermWords, group.num_terms, group.terms)
    assert (first.coefficient, second.coefficient, second.num_factors) == (-2, 3, 0)
    factor = records(program, FactorWords, first.num_factors, first.factors)[1]
    assert (factor.num_used, program.code[factor.used], factor.words, factor.ranks) == (1, 1, 2, 64)
    assert (factor.less, factor.leaves) == (1, 1)
    assert records(program, SetWords, factor.num_sets, factor.sets) == [(-1, 50, 600, 8, 9, 5, -1)]


@pytest.mark.parametrize("sets", [15, 31, 32])
def test_costs_of_candidates_are_whole_numbers_of_31_bits(sets):
    """Bit rows of the largest target, 2^26 words each: sets of them cost what they are, or else 2^30."""
    wide = FactorWords([SetWords(0, 0, 0, 0, 0, 0, flip=-1)] * sets, [], 2**26, 0)
    steps = [Placement([PairWords(-1, 0, 0)]), Placement([PairWords(0, 0, 0)])]
    program = build_program(steps, [[TermWords(1, [wide])]], stride=1, longest=1).sized([4])
    cost = program.table(1).cost
    assert 0 <= cost - min(sets * 2**26, 2**30) < 64


def test_tables_beyond_the_limit_are_refused():
    steps = [Placement([PairWords(-1, 0, 0)]), Placement([PairWords(0, 0, 0)])]
    spare = build_program(steps, stride=1, longest=1).sized([4]).entries - 4
    most = 2**31 - 2 - spare
    assert build_program(steps, stride=1, longest=1).sized([most]).entries == 2**31 - 2
    with pytest.raises(ValueError, match="tables of 2147483647 entries are over the limit of 2147483646; use smaller"):
        build_program(steps, stride=1, longest=1).sized([most + 1])


@pytest.mark.parametrize("longest", [1, 2, 3, 1000, 2**16 + 1, 2**31 - 1])
def test_positions_of_rows_have_31_bits(longest):
    """As many rows as their candidates have positions for, and not one more."""
    program = build_program([Placement([PairWords(-1, 0, 0)])], stride=1, longest=longest).sized([])
    most = SearchWords(*program.code[: len(SearchWords._fields)].tolist()).most_rows
    assert most * longest < 2**31 <= (most + 1) * longest


@pytest.mark.parametrize("limbs", [2, 4])
def test_limbs(limbs):
    """Sums and products, with signs, against Python's integers."""
    numbers, rng = counts_of(limbs), np.random.default_rng(limbs)
    a, b, c = (rng.integers(0, 2**31, 16, dtype=np.int32) for _ in range(3))

    def compute(a, b, c):
        product = numbers.scale(numbers.scale(numbers.from_int32(jnp.int32(3) + 0 * a), a), b)
        square = numbers.multiply(product, numbers.from_int32(c)) if limbs > 2 else product
        less = numbers.scale(numbers.from_int32(0 * a - 1), b)  # minus b
        return numbers.sums(numbers.add(square, less))

    words = jit64(compute)(a, b, c)
    found = sum(int(word) << 32 * i for i, word in enumerate(words))
    third = c if limbs > 2 else np.ones(16, int)
    wanted = sum(3 * int(x) * int(y) * int(z) - int(y) for x, y, z in zip(a, b, third, strict=True))
    assert found == wanted % 2 ** (32 * limbs)


def test_negative_terms_wrap_back():
    numbers = LimbCounts(4)
    x = np.array([7], np.int32)
    words = jit64(lambda x: numbers.sums(numbers.add(numbers.from_int32(0 * x - 5), numbers.from_int32(x))))(x)
    assert [int(word) for word in words] == [2, 0, 0, 0]


@pytest.mark.parametrize(("limbs", "leaves"), [(2, [1, 2]), (4, [1, 1, 1]), (4, [3])])
def test_ways_to_map_leaves(limbs, leaves):
    """Three leaves of one anchor: alike, |S| (|S| - 1) (|S| - 2); the anchor's image is not in its own list."""
    near = np.triu(np.random.default_rng(3).random((32, 32)) < 0.4, 1)
    near |= near.T
    offsets = np.concatenate([[0], np.cumsum(near.sum(axis=1))]).astype(np.int32)
    leaf = PairWords(0, 0, 0)
    factors = [FactorWords([SetWords(*leaf, 0, 0, 0, 0)], [], 2, 0, sum(leaves[:i]), m) for i, m in enumerate(leaves)]
    program = build_program([Placement([PairWords(-1, 0, 0)])], [[TermWords(1, factors)]], stride=1, longest=32).sized(
        []
    )
    one = np.zeros(64, np.int32)
    op = Operands(program.code, offsets, np.nonzero(near)[1].astype(np.int32), one, one, one, one)
    op = Operands(*map(jnp.asarray, op))
    nodes = jnp.arange(32, dtype=jnp.int32)
    io = Reader(PLAIN, op, op.program, Sizes(32, 32, False, limbs=limbs))
    ways = jit64(lambda w: counts_of(limbs).sums(leaf_ways(io, jnp.int32(0), 0 * w, w, w < 30)))(nodes)
    found = sum(int(word) << 32 * i for i, word in enumerate(ways))
    assert found == sum(math.perm(int(degree), 3) for degree in near.sum(axis=1)[:30])
