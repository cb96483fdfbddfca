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


@pytest.fixture
def lowered_for_cuda():
    """Gives the text of a jitted function, called with these arguments, for an NVIDIA GPU that need not be there."""
    device = jax.sharding.AbstractDevice("NVIDIA H100 80GB HBM3", num_cores=132, platform="gpu")
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=device)

    def lower(function: Any, *args: Any) -> str:
        with jax.sharding.use_abstract_mesh(mesh):
            return function.trace(*args).lower(lowering_platforms=("cuda",)).as_text()

    return lower
