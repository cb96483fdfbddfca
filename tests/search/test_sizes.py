"""Sizes of steps and tables."""

import jax
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target
from jaxmotif.search import _sizes
from jaxmotif.search._sizes import LEAST_STEP, fit_tables, step_sizes, table_entries, window_rows

CPU = jax.devices("cpu")[0]


@pytest.mark.parametrize("memory", [2**20, 2**22, 2**26])
@pytest.mark.parametrize("widths", [[1, 2], [3] * 8, [1, 40, 7]])
def test_tables_fit_their_memory(memory, widths):
    widths = np.array(widths)
    block, rooms = fit_tables(2**14, 2**14, widths, memory, CPU, 1000, 4000)
    used = 4 * table_entries(int((rooms * widths).sum())) + 1000 + step_sizes(Target("cpu")).step_bytes * block
    assert used <= memory
    assert LEAST_STEP <= block <= 2**14
    # Room for a step on top of what makes the table worth working on, in each.
    assert (rooms // 3 * 2 <= block).all()
    assert (np.diff(rooms[np.argsort(widths)]) <= 0).all()  # no wide table takes more than a narrow one


@pytest.mark.parametrize(
    ("asked", "memory", "whole"),
    [(100, None, 100), (1500, None, 1024), (3 * 2**10, None, 3 * 2**10), (5 * 2**10, 400_000, 2**11)],
)
def test_steps_of_more_than_a_tile_take_whole_tiles(asked, memory, whole):
    assert fit_tables(asked, 2**14, np.array([1, 2, 3]), memory, CPU, 0, 0)[0] == whole
    assert window_rows(10 * 2**10, 9.0, Target("cuda", "triton")) == 2**10


@pytest.mark.parametrize("memory", [2**24, None])
def test_with_enough_memory_a_step_is_as_large_as_it_may_be(memory):
    block, rooms = fit_tables(2**14, 2**14, np.array([1, 2, 3]), memory, CPU, 1000, 4000)
    assert block == 2**14
    assert rooms.tolist() == [3 * 2**13] * 3


def test_places_of_all_entries_and_of_the_spare_one_have_31_bits():
    asked = (2**28, 2**28 + 1, 2**30 + 1, 2**31 - 2)
    assert [table_entries(entries) for entries in asked] == [2**28, 2**30, 2**31 - 2, 2**31 - 2]


def test_too_little_memory_is_refused():
    with pytest.raises(ValueError, match="memory=1000 bytes is too little for tables of 3 columns"):
        fit_tables(2**14, 2**14, np.array([1, 2]), 1000, CPU, 0, 0)


def test_accelerators_of_all_kinds_get_their_sizes():
    tpu, amd, fused = Target("tpu"), Target("rocm"), Target("cuda", "triton")
    assert step_sizes(tpu) == step_sizes(amd)
    assert step_sizes(tpu).counting > step_sizes(Target("cpu")).counting
    assert step_sizes(fused).counting > step_sizes(tpu).counting
    assert window_rows(2**14, 9.0, Target("cpu")) == 2**13
    assert window_rows(2**14, 99.0, tpu) == 1024 < window_rows(2**14, 9.0, tpu)


@pytest.mark.parametrize("sizes", [_sizes.CPU, _sizes.FUSED, _sizes.ACCELERATOR])
def test_the_work_of_a_first_slice_is_counted_in_32_bits(sizes):
    assert 0 < sizes.first_work < 2**31
