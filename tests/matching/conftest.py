"""Searches of tests run on a device, however small they are, but for those that ask for NumPy's."""

import pytest

from jaxmotif.matching import _small


@pytest.fixture(autouse=True)
def on_a_device(request, monkeypatch):
    if "small" not in request.fixturenames:
        monkeypatch.setattr(_small, "MOST_CANDIDATES", -1)


@pytest.fixture
def small():
    """Small searches are done in NumPy."""
    return _small.MOST_CANDIDATES
