"""SHA-256 of many messages against that of hashlib; in XLA and as kernels of a GPU."""

import hashlib

import numpy as np
import pytest

from jaxmotif.kernels._sha256 import hash_leaves

pytestmark = pytest.mark.usefixtures("wide")


@pytest.mark.parametrize(("leaves", "words", "end"), [(3, 32, b"leaf"), (200, 32, b"leaf"), (1, 16, b"")])
def test_hashes_equal_those_of_hashlib(form, leaves, words, end):
    messages = np.random.default_rng(leaves).integers(0, 2**32, (leaves, words), np.uint32)
    hashes = np.asarray(form.jit(hash_leaves, end=end)(messages)).view(np.uint32)
    expected = [hashlib.sha256(message.astype(">u4").tobytes() + end).digest() for message in messages]
    assert hashes.T.astype(">u4").tobytes() == b"".join(expected)
