"""The three forms in which a graphlet kernel is tested."""

import functools
from typing import Any, NamedTuple

import jax
import pytest
from jax.experimental import pallas as pl

from jaxmotif.kernels import cliques, triangles, wedges
from jaxmotif.kernels.choice import Backend


class Form(NamedTuple):
    """A backend, and the lanes a kernel program takes there (blocks are a multiple of them)."""

    backend: Backend
    lanes: int

    def jit(self, function: Any, **static: Any) -> Any:
        return jax.jit(functools.partial(function, backend=self.backend, **static))


@pytest.fixture(params=["xla", "interpreted", pytest.param("gpu", marks=pytest.mark.gpu)])
def form(request, monkeypatch) -> Form:
    """Plain XLA; the Pallas kernels interpreted, in programs of 16 lanes; the Pallas kernels on a GPU."""
    if request.param == "interpreted":
        monkeypatch.setattr(pl, "pallas_call", functools.partial(pl.pallas_call, interpret=True))
        for module in (triangles, wedges, cliques):
            monkeypatch.setattr(module, "LANES", 16)
        monkeypatch.setattr(triangles, "PROGRAMS", 3)
    return Form("xla", 16) if request.param == "xla" else Form("pallas-triton", 1024 if request.param == "gpu" else 16)
