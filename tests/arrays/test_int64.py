"""64-bit integers outside JAX's 64-bit mode."""

import operator
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import PartitionSpec as P

from jaxmotif.arrays import Int64, checked_psum

VALUES = np.array([[0, 1, -1], [2**31, 2**32, -(2**33) - 5], [2**63 - 1, -(2**63), 2**53 + 1]])
SMALL = np.array([[2**40, 7, -3], [0, -(2**35), 2**32]])
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


@pytest.fixture
def in_32_bits():
    """JAX's usual mode, whatever the mode of the run."""
    with jax.enable_x64(False):
        yield


@pytest.fixture(params=[False, True], ids=["x64 off", "x64 on"])
def x64(request):
    with jax.enable_x64(request.param):
        yield request.param


def of_stored_counts(values):
    """As a front door hands them over: with rows of padding."""
    padded = np.concatenate([values, np.full_like(values[:1], 9)])
    with jax.enable_x64(True):
        return Int64.of_rows(jax.device_put(padded), len(values))


def test_values_survive(x64):
    wide = Int64.of(VALUES)
    assert (wide.shape, wide.ndim, wide.size, wide.dtype) == ((3, 3), 2, 9, np.int64)
    np.testing.assert_array_equal(wide.to_numpy(), VALUES)
    assert Int64.of(np.int32(-7)).to_numpy().tolist() == -7
    assert Int64.of([2**62, 1]).tolist() == [2**62, 1]
    assert Int64.of(wide) is wide
    assert wide.devices() == {jax.devices()[0]}
    assert Int64.of(np.array([7, 2**63 - 1], np.uint64)).tolist() == [7, 2**63 - 1]
    assert repr(Int64.of([2**62, 1])) == "Int64([4611686018427387904,                   1])"


@pytest.mark.parametrize(
    "index", [0, (0, 1), (slice(None), 2), (..., 0), np.array([2, 0]), (1, ...), VALUES > 0, slice(1), -1, (-1, -3)]
)
def test_parts_are_those_of_an_array(x64, index):
    assert Int64.of(VALUES)[index].tolist() == VALUES[index].tolist()


def test_rows_come_to_an_end(x64):
    assert [row.tolist() for row in Int64.of(VALUES)] == VALUES.tolist()


@pytest.mark.parametrize("index", [
    (0, 0, 0), 3, -4, (0, 3), (slice(None), -4), (..., 3), (None, 3), np.array([0, 3]), jnp.array(3),
])  # fmt: skip
def test_an_index_that_is_not_there_is_refused(index):
    with pytest.raises(IndexError):
        Int64.of(VALUES)[index]


def test_padded_counts_are_one_type(x64):
    values = np.array([[2**32 - 1, 7], [0, 2**31]])
    for take in (
        lambda x: x.to_numpy(), lambda x: np.asarray(x + 0), lambda x: x[:].to_numpy(), lambda x: np.from_dlpack(x),
        lambda x: jax.jit(lambda y: y)(x).to_numpy(), lambda x: pickle.loads(pickle.dumps(x)).to_numpy(),
        lambda x: jax.device_get(x).to_numpy(), lambda x: jax.jit(lambda y: y)(jax.device_get(x)).to_numpy(),
        lambda x: x.block_until_ready().reshape(4).reshape(2, 2).T.T.to_numpy(),
    ):  # fmt: skip
        counts = of_stored_counts(values)
        assert (counts.shape, counts.dtype, len(counts)) == ((2, 2), np.int64, 2)
        assert take(counts).dtype == np.int64
        np.testing.assert_array_equal(take(counts), values)
    leaf, tree = jax.tree.flatten(of_stored_counts(values))
    assert (leaf[0].dtype, leaf[0].shape, tree) == (np.int64, (2, 2), jax.tree.structure(Int64.of(values)))
    assert tuple(map(int, of_stored_counts(values).__dlpack_device__())) == (1, 0)  # DLPack's number of a CPU
    with jax.enable_x64(True):
        stored = jax.device_put(np.concatenate([values, values]))
        assert int(jax.jit(lambda x: Int64.of_rows(x, 2).sum())(stored)) == values.sum()
    # A trace keeps nothing in what it closes over.
    counts = of_stored_counts(values)
    assert int(jax.jit(lambda: counts.sum())()) == values.sum()
    np.testing.assert_array_equal(counts.to_numpy(), values)


def test_no_copy_and_no_wait():
    with jax.enable_x64(True):
        stored = jax.device_put(np.arange(6, dtype=np.int64).reshape(3, 2))
    assert Int64.of_rows(stored, 2)._stored is stored


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    "other", [SMALL[::-1], SMALL[0], 5, -(2**40), np.int32(3), SMALL[0].astype(np.int32), SMALL[0] > 0]
)
def test_sums_and_differences(x64, other, traced):
    run = jax.jit if traced else lambda f: f
    if isinstance(other, np.ndarray) and other.dtype == bool:
        other = other.astype(np.int8)
    exact = np.asarray(other).astype(object) if isinstance(other, np.ndarray) else int(other)
    counts, ours = Int64.of(SMALL), SMALL.astype(object)
    theirs = [other]
    if isinstance(other, np.ndarray):
        theirs.append(Int64.of(other))
        if other.dtype != np.int64:
            theirs.append(jnp.asarray(other))
    for one in theirs:
        operations = [operator.add, operator.sub, *COMPARISONS]
        if not isinstance(one, jax.Array):  # an array of JAX asks for one of JAX
            operations += [lambda x, y: y + x, lambda x, y: y - x]
        # One program of all of them: each alone would take most of its time to be compiled.
        found = run(lambda x, one=one, operations=operations: [operate(x, one) for operate in operations])(counts)
        for operate, result in zip(operations, found, strict=True):
            assert result.tolist() == operate(ours, exact).tolist()
            assert (result.dtype == bool) == (operate in COMPARISONS)
    assert run(operator.neg)(counts).tolist() == (-ours).tolist()
    assert (+counts).tolist() == SMALL.tolist()


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1), -1])
def test_reductions(x64, axis):
    def reduce(counts):
        return [getattr(counts, name)(axis) for name in ("sum", "max", "min")]

    counts = Int64.of(SMALL)
    wanted = [getattr(SMALL, name)(axis=axis).tolist() for name in ("sum", "max", "min")]
    assert [found.tolist() for found in reduce(counts)] == wanted
    assert [found.tolist() for found in jax.jit(reduce)(counts)] == wanted


def test_scalars_are_numbers():
    counts = Int64.of(SMALL)
    assert (int(counts[0, 0]), float(counts[0, 0]), counts[0, 0].item(), [1, 2][Int64.of(1)]) == (
        2**40,
        2.0**40,
        2**40,
        2,
    )
    assert bool(counts[0, 1] == 7)
    assert counts[0, 1] == 7
    assert not Int64.of(0)
    for convert in (int, float, bool):
        with pytest.raises(TypeError, match=r"without axes is .* got shape \(3,\)"):
            convert(counts[0])
    with pytest.raises(TypeError, match="no length"):
        len(counts[0, 0])
    with pytest.raises(TypeError, match="unhashable"):
        hash(counts)
    assert (counts == None) is False  # noqa: E711
    assert counts != "7"
    for operate in (operator.add, operator.sub, operator.lt):
        with pytest.raises(TypeError, match="not supported|unsupported operand"):
            operate(counts, "7")


def test_comparisons_with_integers_beyond_64_bits():
    counts = Int64.of([1, 2**63 - 1])
    assert (counts < 2**63).tolist() == (counts != 2**70).tolist() == (counts > -(2**70)).tolist() == [True, True]
    assert (counts == 2**64 + 1).tolist() == (counts >= 2**63).tolist() == [False, False]


def test_nothing_wraps_outside_a_trace():
    most, least = Int64.of([2**63 - 1, 0]), Int64.of([-(2**63), 0])
    with jax.enable_x64(True):
        unsigned = jnp.array([2**63], jnp.uint64)
        assert Int64.of(unsigned - 1).tolist() == [2**63 - 1]
        with pytest.raises(TypeError, match="integers, got uint64 while traced"):
            jax.jit(Int64.of)(unsigned)
    for make in (
        lambda: most + 1, lambda: most - -1, lambda: least - 1, lambda: -least, lambda: most - least,
        lambda: most + most, lambda: Int64.of([2**62, 2**62]).sum(), lambda: Int64.of([-(2**62)] * 3).sum(),
        lambda: most + 2**63,
        lambda: Int64.of(np.uint64(2**63)), lambda: Int64.of(unsigned),
        lambda: Int64.of([2**70]), lambda: Int64.of([-(2**70), 0]),
    ):  # fmt: skip
        with pytest.raises(OverflowError, match="more than 63 bits"):
            make()
    assert Int64.of([2**62, -(2**62), 2**62]).sum().tolist() == 2**62
    assert Int64.of([-(2**62)] * 2).sum().tolist() == -(2**63)


def test_a_trace_says_whether_a_sum_wrapped(x64):
    check = jax.jit(lambda x: x.checked_sum(0))
    total, fits = check(Int64.of([[2**62, 2**40], [2**62 - 1, 2**40]]))
    assert (total.tolist(), bool(fits)) == ([2**63 - 1, 2**41], True)
    assert not check(Int64.of([[2**62, 2**40], [2**62, 2**40]]))[1]


def test_computed_in_a_trace_and_carried_out(x64):
    @jax.jit
    @jax.vmap
    def square(x):
        with jax.enable_x64(True):
            return Int64.of(x.astype(jnp.int64) ** 2)

    found = square(jnp.asarray([3, -(2**30), 2**31 - 1], jnp.int32))
    assert found.shape == (3,)
    assert found.to_numpy().tolist() == [9, 2**60, (2**31 - 1) ** 2]


def test_through_transformations(x64):
    counts = Int64.of(SMALL)
    assert jax.vmap(lambda x: x.sum())(counts).tolist() == SMALL.sum(axis=1).tolist()
    assert jax.lax.scan(lambda total, x: (total + x, total), Int64.of(np.zeros(3, int)), counts)[0].tolist() == (
        SMALL.sum(axis=0).tolist()
    )
    assert jax.lax.cond(jnp.bool_(True), lambda x: -x, lambda x: x, counts).tolist() == (-SMALL).tolist()
    slope = jax.grad(lambda w, x: (w * x.astype("float32")).sum())(jnp.float32(1), counts)
    assert slope == np.float32(SMALL.sum())
    assert jax.vjp(lambda x: x.astype("float32"), counts)[0].shape == (2, 3)
    assert jax.eval_shape(lambda x: x + 1, counts).shape == (2, 3)
    assert jax.jit(lambda x: x + 1).lower(counts).compile()(counts).tolist() == (SMALL + 1).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_rounds_once_to_floats(x64, dtype):
    inside = np.array([2**24 + 1, 2**24 + 3, -(2**40) - 3, 2**62 + 2**38 + 1, 2049, 7])
    inside = inside if dtype != "float16" else inside[-2:]
    found = Int64.of(inside).astype(dtype)
    assert found.dtype == dtype
    np.testing.assert_array_equal(np.asarray(found, np.float64), inside.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_integers_that_fit_are_cast(x64, dtype):
    limits = np.iinfo(dtype)
    found = Int64.of([limits.min, limits.max]).astype(dtype)
    assert (found.dtype, found.tolist()) == (dtype, [limits.min, limits.max])
    for beyond in (limits.min - 1, limits.max + 1):
        with pytest.raises(OverflowError, match=f"from {beyond} to {beyond} do not fit {dtype}"):
            Int64.of([beyond]).astype(dtype)
        values, fits = jax.jit(lambda x: x.checked_cast(dtype))(Int64.of([beyond]))
        assert (values.dtype, bool(fits)) == (dtype, False)
    assert jax.jit(lambda x: x.checked_cast(dtype))(Int64.of([0, limits.max]))[1]
    with pytest.raises(TypeError, match=f"checked_cast\\('{dtype}'\\)"):
        jax.jit(lambda x: x.astype(dtype))(Int64.of([1]))


@pytest.mark.usefixtures("in_32_bits")
def test_wide_integers_are_for_the_64_bit_mode():
    counts = Int64.of(SMALL)
    for dtype in ("int64", "uint64"):
        with pytest.raises(TypeError, match=f"no {dtype} outside its 64-bit mode"):
            counts.astype(dtype)
    with jax.enable_x64(True):
        assert counts.astype("int64").tolist() == SMALL.tolist()
        assert jax.jit(lambda x: x.astype("int64"))(counts).tolist() == SMALL.tolist()
        with pytest.raises(OverflowError, match="do not fit uint64"):
            counts.astype("uint64")
        assert jnp.asarray(counts).tolist() == SMALL.tolist()
        assert counts.int64.dtype == np.int64
    with pytest.raises(TypeError, match="compare for bool"):
        counts.astype(bool)


@pytest.mark.usefixtures("in_32_bits")
def test_jax_numpy_is_refused_what_it_would_truncate():
    counts = Int64.of(SMALL)
    for compute in (jnp.asarray, lambda x: jnp.ones(3) + x):
        with pytest.raises(TypeError, match=r"do not fit int32, .*astype\('float32'\)"):
            compute(counts)
    for compute in (jnp.log1p, lambda x: jnp.stack([x, x]), lambda x: jnp.where(True, x, 0)):
        with pytest.raises(TypeError, match=r"do not fit int32|inside jit values may not fit"):
            compute(counts)
    with pytest.raises(TypeError, match=r"inside jit values may not fit; take .astype\('float32'\)"):
        jax.jit(jnp.asarray)(Int64.of([1]))
    few = jnp.asarray(Int64.of([1, -(2**31)]))
    assert (few.dtype, few.tolist()) == (np.int32, [1, -(2**31)])


@pytest.mark.parametrize("floating", [0.5, np.float32(1), np.array([0.5]), jnp.ones(3), 1j])
def test_floats_are_refused(floating):
    for operate in (operator.add, operator.sub, operator.eq, operator.lt):
        with pytest.raises(TypeError, match="Int64"):
            operate(Int64.of(SMALL), floating)
    for values in ([0.5], jnp.ones(3)):
        with pytest.raises(TypeError, match="integers, got float"):
            Int64.of(values)


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype int64")
@pytest.mark.usefixtures("in_32_bits")
def test_functions_over_leaves_cannot_truncate():
    counts = Int64.of(SMALL)
    for change in (lambda x: x.astype(jnp.float32), lambda x: x.astype(jnp.int32), lambda x: x > 0):
        with pytest.raises(TypeError, match=r"an Int64 holds int64 values, .*is_leaf"):
            jax.tree.map(change, counts)
    with pytest.raises(TypeError, match="made int32"):
        jax.tree.map(lambda x: x + 1, counts)
    assert jax.tree.map(lambda x: x[0], counts).tolist() == SMALL[0].tolist()
    whole = jax.tree.map(lambda x: x.astype("float32"), (counts,), is_leaf=lambda x: isinstance(x, Int64))
    assert whole[0].tolist() == SMALL.astype(np.float32).tolist()


@pytest.mark.parametrize("jitted", [False, True])
def test_a_sum_over_devices_carries(x64, jitted):
    if jax.device_count() < 4:
        pytest.skip("needs four devices")
    mesh = jax.make_mesh((4,), ("part",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:4])
    run = jax.jit if jitted else lambda f: f

    def over_devices(f):
        return run(jax.shard_map(f, mesh=mesh, in_specs=P("part"), out_specs=P()))

    values = np.array([2**32 - 1, 5, 2**32 - 1, 6, 2**32 - 1, -7, 2**61, 2**31])
    wanted = values.reshape(4, 2).sum(axis=0).tolist()
    total, fits = over_devices(lambda x: checked_psum(x, "part"))(Int64.of(values))
    assert (total.tolist(), bool(fits)) == (wanted, True)
    assert over_devices(lambda x: jax.lax.psum(x, "part"))(Int64.of(values)).tolist() == wanted
    assert over_devices(lambda x: jax.lax.pmax(x, "part"))(Int64.of(values)).tolist() == [2**61, 2**31]
    assert not over_devices(lambda x: checked_psum(x, "part"))(Int64.of([2**62, 1] * 4))[1]


@pytest.mark.parametrize("global_mode", [False, True])
def test_the_mode_is_left_as_it_was(global_mode):
    with jax.enable_x64(global_mode):
        with jax.enable_x64(True):
            assert jnp.asarray(VALUES).dtype == jnp.int64
        Int64.of(VALUES[:2]).sum()
        assert jax.config.jax_enable_x64 == global_mode
        assert jnp.arange(3).dtype == ("int64" if global_mode else "int32")
