"""The recurrence against a NumPy reference on field tables, in plain XLA and in the (interpreted) Pallas kernels."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxmotif.arrays._compile import Target, compiling_for, jit64
from jaxmotif.kernels import _gf256 as gf256
from jaxmotif.kernels import _sieve_pallas as sieve_pallas
from jaxmotif.kernels import _sieve_round as sieve_round
from jaxmotif.kernels import _sieve_rows as sieve_rows
from tests import emulated
from tests.kernels import field_tables
from tests.kernels.field_tables import multiply_bytes
from tests.more import more

SIZE, VERTICES, MAX_ROW = 7, 9, 4

plan_rows = jax.jit(sieve_rows.plan_rows, static_argnums=(2, 3))


def random_csr(rng, vertices, density):
    """A random graph in which vertex 3 is a hub, vertex 5 is isolated, and arcs go to vertex 6 alone, not from it."""
    matrix = np.triu(rng.random((vertices, vertices)) < density, 1)
    matrix[3, 4:] = matrix[:3, 3] = True
    matrix |= matrix.T
    matrix[5] = matrix[:, 5] = False
    matrix[6] = False
    offsets = np.concatenate([[0], np.cumsum(matrix.sum(1))]).astype(np.int32)
    return offsets, np.nonzero(matrix)[1].astype(np.int32)


def label_sum(labels, subset):
    chosen = [labels[:, l] for l in range(labels.shape[1]) if subset >> l & 1]
    return np.bitwise_xor.reduce(chosen) if chosen else np.zeros(labels.shape[0], np.uint8)


def reference(offsets, targets, labels, first, weights, size, subsets):
    """``P[s][i, L]`` of the module's recurrence, by tables, one subset after another: ``[size, V, subsets]``."""
    vertices = offsets.shape[0] - 1
    forms = sieve_round.num_forms(size)
    rows = np.zeros((size, vertices, len(subsets)), np.uint8)

    def neighbour_sum(weight, values):
        out = np.zeros(vertices, np.uint8)
        for i in range(vertices):
            for slot in range(offsets[i], offsets[i + 1]):
                out[i] ^= multiply_bytes(weight[slot], values[targets[slot]])
        return out

    for place, subset in enumerate(subsets):
        P = [None, label_sum(labels, subset)] + [np.zeros(vertices, np.uint8)] * (size - 1)
        for t in range(1, size):
            sums = {
                x: neighbour_sum(first[:, x - 1] if t == 1 else weights[sum(forms[:t]) + x - 1], P[t])
                for x in range(1, (size - 1) // t + 1)
            }
            for s in range(t + 1, size + 1):
                P[s] = P[s] ^ multiply_bytes(sums[(s - 1) // t], P[s - t])
        rows[:, :, place] = P[1:]
    return rows


def make(size, subsets):
    rng = np.random.default_rng(0)
    offsets, targets = random_csr(rng, VERTICES, 0.3)
    slots = targets.shape[0]
    labels = rng.integers(0, 256, (VERTICES, size), dtype=np.uint8)
    keys = jnp.asarray(rng.integers(0, 2**32, (size - 1 + sum(sieve_round.num_forms(size)), 2), np.uint32))
    drawn = jax.jit(gf256.random_elements)(jnp.arange(slots, dtype=jnp.uint32)[None], keys.T[:, :, None])
    weights = (np.asarray(drawn) >> 24).astype(np.uint8)
    found = reference(offsets, targets, labels, weights[: size - 1].T, weights[size - 1 :], size, subsets)
    return offsets, targets, labels, keys[: size - 1], keys[size - 1 :], found


@pytest.fixture(scope="module")
def instance():
    return make(SIZE, range(1 << SIZE))


def run(instance, words, max_row, start, extend, blocks=None):
    """All rows of blocks of ``words`` words, in the original numbering: uint8 ``[size, V, subsets]``."""
    offsets, targets, labels, first, later, _ = instance
    size = labels.shape[1]
    pieces = int(sieve_rows.num_pieces(np.diff(offsets), max_row).sum())
    rows, rank = plan_rows(jnp.asarray(offsets), jnp.asarray(targets), pieces, max_row)
    planes = jax.jit(field_tables.slice_bytes)(jnp.asarray(np.pad(labels, ((0, 0), (0, 32 - size)))))[:, :, 0]
    planes = jnp.zeros((rows.vertices, 8), jnp.uint32).at[rank].set(planes)
    found = []
    for block in blocks or range(4 // words):
        P = start(planes, first, jnp.int32(block * words), words, rows)
        for t in range(2, size):
            P = extend(P, jnp.int32(t), jnp.int32(sum(sieve_round.num_forms(size)[:t])), later, rows)
        found.append(sieve_round.by_plane(P, words))
    found = np.array(jax.jit(field_tables.unslice_bytes)(jnp.concatenate(found, axis=-1)))
    # Past their first, rows of vertices that neither have neighbours nor are one are not written; they would be zeros.
    found[1:, int(rows.live) :] = 0
    return found[:, rank]


def test_xla_equals_reference(instance):
    jitted = [
        jax.jit(sieve_round.start, static_argnums=3),
        jax.jit(sieve_round.extend),
    ]
    np.testing.assert_array_equal(run(instance, 2, MAX_ROW, *jitted), instance[-1])


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(Target("cpu", "interpreted"), marks=pytest.mark.more),
        pytest.param(emulated.TARGET, marks=emulated.NEEDS),
    ],
    ids=lambda x: x.kernels,
)
@pytest.mark.parametrize(("words", "warp"), [(4, 32), *more((2, 32), (1, 32)), (4, 1)])
def test_pallas_equals_reference(instance, target, words, warp, monkeypatch):
    """Lanes of 8, 16 and 32 vertices together, and of one vertex, as in a block of many words."""
    monkeypatch.setattr(sieve_pallas, "WARP", warp)
    kernels = [
        jit64(sieve_round.start, static_argnums=3),
        jit64(sieve_round.extend),
    ]
    with compiling_for(target):
        np.testing.assert_array_equal(run(instance, words, MAX_ROW, *kernels), instance[-1])


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(Target("cpu", "interpreted"), marks=pytest.mark.more),
        pytest.param(emulated.TARGET, marks=emulated.NEEDS),
    ],
    ids=lambda x: x.kernels,
)
def test_the_first_round_in_whole_blocks(target, monkeypatch):
    """As many words as one program of the kernel takes, and two programs, forms by parts: against plain XLA."""
    rng = np.random.default_rng(3)
    labels, keys = (jnp.asarray(rng.integers(0, 2**14, shape, np.uint32)) for shape in ((96, 8), (13, 2)))
    ring = jnp.arange(97, dtype=jnp.int32), (jnp.arange(96, dtype=jnp.int32) + 1) % 96
    for words in (sieve_pallas.BLOCK_WORDS, 2 * sieve_pallas.BLOCK_WORDS):
        rows = plan_rows(*ring, 0)[0]
        arguments = labels, keys, jnp.int32(6 * words), words, rows
        expected = jax.jit(sieve_round.start, static_argnums=3)(*arguments)
        monkeypatch.setattr(sieve_pallas, "FORMS_AT_ONCE", 64)  # The second part of 96 vertices begins at 32.
        with compiling_for(target):
            np.testing.assert_array_equal(jit64(sieve_round.start, static_argnums=3)(*arguments), expected)


@pytest.mark.parametrize(("pieces", "words"), [(32, 128), (0, 4), *more((0, 128), (32, 4))])
def test_pallas_lowers_for_cuda(abstract_gpu, pieces, words):
    shape = jax.ShapeDtypeStruct
    vertices, slots, size = 32, 100, 8
    ints = ((slots,), (vertices,), (vertices,), (), (pieces,), (pieces,), (vertices + 1,), (pieces,))
    rows = sieve_rows.Rows(*(shape(one, jnp.int32) for one in ints))
    scalar, labels = shape((), jnp.int32), shape((vertices, 8), jnp.uint32)

    def lower(function, *args, **options):
        with compiling_for(Target("cuda", "triton")), abstract_gpu():
            text = jax.jit(function, **options).trace(*args).lower(lowering_platforms=("cuda",)).as_text()
        assert "triton" in text

    lower(sieve_pallas.start, labels, shape((size - 1, 2), jnp.uint32), scalar, words, rows, static_argnums=3)
    P = shape((size, vertices, 8, words) if words > 16 else (size, vertices, words, 8), jnp.uint32)
    lower(sieve_pallas.extend, P, scalar, scalar, shape((20, 2), jnp.uint32), rows)


def test_the_last_subsets_of_the_largest_motif():
    subsets = [2**30 - 32, 2**30 - 18, 2**30 - 1]
    last = make(30, subsets)
    jitted = [
        jax.jit(sieve_round.start, static_argnums=3),
        jax.jit(sieve_round.extend),
    ]
    found = run(last, 1, 64, *jitted, blocks=[2**25 - 1])
    np.testing.assert_array_equal(found[:, :, [subset % 32 for subset in subsets]], last[-1])


def test_pallas_names_a_bad_block():
    labels, rows = jnp.zeros((4, 8), jnp.uint32), plan_rows(jnp.zeros(5, jnp.int32), jnp.zeros(1, jnp.int32), 0)[0]
    with pytest.raises(ValueError, match="got 96"):
        sieve_pallas.start(labels, jnp.zeros((2, 2), jnp.uint32), jnp.int32(0), 96, rows)


@pytest.mark.parametrize("max_row", [3, 64])
def test_plan_covers_every_slot_once(max_row):
    rng = np.random.default_rng(1)
    offsets, targets = random_csr(rng, 12, 0.4)
    degrees = np.diff(offsets)
    pieces = int(sieve_rows.num_pieces(degrees, max_row).sum()) + 2
    rows, rank = plan_rows(jnp.asarray(offsets), jnp.asarray(targets), pieces, max_row)
    rows, rank = jax.tree.map(np.asarray, (rows, rank))
    rank = np.asarray(rank)
    assert sorted(rank) == list(range(12))
    assert (np.diff(degrees[np.argsort(rank)]) <= 0).all()
    for old, new in enumerate(rank):
        first, last = rows.piece_offsets[new], rows.piece_offsets[new + 1]
        runs = [(rows.starts[new], rows.stops[new])]
        runs += zip(rows.piece_starts[first:last], rows.piece_stops[first:last], strict=True)
        assert all(int(stop - start) <= max_row for start, stop in runs)
        slots = list(itertools.chain.from_iterable(range(int(start), int(stop)) for start, stop in runs))
        assert slots == list(range(offsets[old], offsets[old + 1]))
        np.testing.assert_array_equal(rows.targets[np.asarray(slots, int)], rank[targets[slots]])
    unused = np.asarray(rows.piece_stops - rows.piece_starts)[int(rows.piece_offsets[-1]) :]
    assert not unused.any()


def test_label_sums_over_many_words():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2**30, 3, dtype=np.uint32)
    words = np.asarray([0, 1, 31, 12345, 2**25 - 1], np.uint32)
    sums = np.asarray(gf256.label_sums(jnp.asarray(labels)[:, None], jnp.asarray(words)[None]))
    for plane, word, place in itertools.product(range(3), range(5), (0, 1, 17, 31)):
        subset = int(words[word]) * 32 + place
        assert sums[plane, word] >> place & 1 == (int(labels[plane]) & subset).bit_count() % 2
