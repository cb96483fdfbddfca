"""Searches of tests run on a device, however small they are, but for those that ask for NumPy's or for equations."""

import pytest


@pytest.fixture(autouse=True)
def on_a_device(request, monkeypatch):
    if "small" not in request.fixturenames:
        monkeypatch.setattr("jaxmotif.matching._host_search.candidate_budget", lambda *_: -1)
    if "equations" not in request.fixturenames:
        monkeypatch.setattr("jaxmotif.matching._equations.equations_pay", lambda *_, **__: False)


@pytest.fixture
def small():
    """Small searches are done in NumPy."""


@pytest.fixture
def equations():
    """Plain queries are counted by equations where these are less work."""
