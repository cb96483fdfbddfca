"""Tables that are hashed and added up on a device: as by hashlib and Python's integers, with rows of padding."""

import hashlib

import jax
import numpy as np
import pytest

import jaxmotif
from jaxmotif import verify
from jaxmotif.certificates import _table
from jaxmotif.certificates._table import DeviceTable, HostTable, certified_table
from jaxmotif.graph import synthetic
from jaxmotif.verify._modular import P, digest, random_rows, row_weights

CAPACITY, COLUMNS = 300, 5  # three leaves of 512 numbers, the last one in part


def random_table(rows, high=2**62):
    return np.random.default_rng(rows).integers(0, high, (rows, COLUMNS))


def on_device(table):
    padded = np.full((CAPACITY, COLUMNS), 7)
    padded[: len(table)] = table
    with jax.enable_x64(True):
        return DeviceTable(jax.numpy.asarray(padded), len(table))


def digest_by_hand(table):
    content = b"".join(int(number).to_bytes(8, "big") for number in table.ravel())
    leaves = [content[start : start + 8192] for start in range(0, len(content), 8192)]
    hashes = [hashlib.sha256(leaf + bytes(8192 - len(leaf)) + b"leaf").digest() for leaf in leaves]
    head = f"{table.shape}, numbers of 8 bytes\n".encode()
    return hashlib.sha256(head + b"".join(hashes) + b"root").hexdigest()


@pytest.mark.parametrize("rows", [0, 1, 102, 103, 205, 299, CAPACITY])  # 512 numbers are 102.4 rows
def test_tables_are_fixed_alike_on_a_device_and_on_the_host(rows):
    table, seed = random_table(rows), b"seed"
    exact = [sum(column) for column in table.T.tolist()]
    weights = row_weights(seed, rows).tolist()
    prints = [sum(w * x for w, x in zip(weights, column, strict=True)) % P for column in table.T.tolist()]
    shown = [0, rows // 2, rows - 1] if rows else []
    for form in (on_device(table), HostTable(table), HostTable(table.astype(object))):
        assert form.fix() == (exact, digest_by_hand(table))
        assert form.show(seed, shown) == (prints, table[shown].tolist())


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_any_row_may_be_a_witness(rows):
    assert {*random_rows(b"seed", rows, 200)} == {*range(rows)}


def test_counts_beyond_64_bits_are_added_up_exactly():
    table = np.array([[2**70, 1], [2**90 + 5, 3]], object)
    (sums, _), seed = HostTable(table).fix(), b"seed"
    assert sums == [2**70 + 2**90 + 5, 4]
    weights = row_weights(seed, 2).tolist()
    assert HostTable(table).show(seed, [1]) == (
        [int(np.dot(weights, column)) % P for column in table.T],
        [[2**90 + 5, 3]],
    )


def test_digests_tell_shapes_sizes_and_levels_apart():
    table = np.arange(1024)
    digests = {digest(table.reshape(shape)) for shape in ((1024,), (1024, 1), (512, 2), (2, 512), (32, 32))}
    assert len(digests) == 5
    assert digest(np.zeros((3, 1), int)) != digest(np.zeros((2, 1), int)) != digest(np.zeros((0, 1), int))
    # Numbers in 128 bits are as many bytes as twice the numbers in 64.
    assert digest(np.array([2**64 + 1], object)) != digest(np.array([1, 1]))
    assert digest(np.array([-1])) == digest(np.array([-1], object)) != digest(np.array([2**64 - 1], object))
    # The hashes of leaves as the content of a table are no leaf's hashes.
    leaves = b"".join(hashlib.sha256(table[i : i + 512].astype(">i8").tobytes() + b"leaf").digest() for i in (0, 512))
    assert digest(np.frombuffer(leaves, ">i8").astype(np.int64)) != digest(table)


def test_a_device_without_memory_leaves_a_table_to_the_host(monkeypatch):
    def fail(*_):
        raise jax.errors.JaxRuntimeError(why)

    why, table = "RESOURCE_EXHAUSTED: out of memory", random_table(40)
    monkeypatch.setattr(_table, "is_on_accelerator", lambda counts: True)
    assert isinstance(certified_table(table, 30, whole=True), HostTable)  # it is fetched as a whole anyway
    monkeypatch.setattr(_table, "fetch_int64", lambda counts, rows: counts[:rows])
    monkeypatch.setattr(_table, "_fix", fail)
    assert certified_table(table, 30, whole=False).fix() == HostTable(table[:30]).fix()
    why = "INTERNAL: broken"
    with pytest.raises(jax.errors.JaxRuntimeError, match=why):
        certified_table(table, 30, whole=False)


def test_certificates_of_tables_on_a_device_are_accepted(tmp_path, monkeypatch):
    """On a CPU as well, by the same programs."""
    monkeypatch.setattr("jaxmotif.certificates._write.WHOLE", 1)
    monkeypatch.setattr("jaxmotif.certificates._write.WITNESSES", 40)
    monkeypatch.setattr(_table, "is_on_accelerator", lambda counts: True)
    monkeypatch.setattr(_table, "HostTable", None)
    karate = jaxmotif.datasets.load("karate")
    result = jaxmotif.edge_graphlets(karate, certify=tmp_path / "c.json")
    report = verify.check(tmp_path / "c.json", verify.graph_from_edges(karate.edge_list()), result.values)
    assert report.accepted, report.reason
    assert f"each value of column {', '.join(result.columns)}" in report.checked


@pytest.mark.gpu
def test_a_gpu_fixes_its_own_tables(tmp_path, monkeypatch):
    monkeypatch.setattr(_table, "HostTable", None)
    graph = synthetic.erdos_renyi(300, m=2000, seed=1)
    result = jaxmotif.edge_graphlets(graph, certify=tmp_path / "c.json")
    report = verify.check(tmp_path / "c.json", verify.graph_from_edges(graph.edge_list(), graph.n), result.values)
    assert report.accepted, report.reason
    assert "your table is the one of the certificate, by its SHA-256" in report.checked
