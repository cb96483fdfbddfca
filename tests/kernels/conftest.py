"""The forms in which a kernel is tested."""

from typing import Any, NamedTuple

import jax
import pytest

from jaxmotif.arrays._compile import Target, compiling_for, jit64
from tests import emulated


class Form(NamedTuple):
    """What kernels are compiled for, and the lanes of a tile there (blocks are a multiple of them)."""

    target: Target
    lanes: int

    def jit(self, function: Any, **static: Any) -> Any:
        """The function in this form, compiled, with some arguments fixed."""
        compiled = jit64(lambda *args: function(*args, **static))

        def call(*args: Any) -> Any:
            with compiling_for(self.target):
                return compiled(*args)

        return call


FORMS = {
    "xla": Form(Target("cpu"), 16),
    # Nothing compiles a GPU's kernel for a CPU: it is interpreted, in tiles of 16 lanes.
    "interpreted": Form(Target("cpu", "interpreted"), 16),
    # Translated to CUDA C++, which a C++ compiler takes too.
    "translated": Form(emulated.TARGET, 1024),
    "triton": Form(Target("cuda", "triton"), 1024),
    "ptx": Form(Target("cuda", "ptx"), 1024),
}


@pytest.fixture(
    params=[
        "xla",
        pytest.param("interpreted", marks=pytest.mark.more),
        pytest.param("translated", marks=emulated.NEEDS),
        *(pytest.param(name, marks=pytest.mark.gpu) for name in ("triton", "ptx")),
    ]
)
def form(request) -> Form:
    """Plain XLA; a GPU's kernels interpreted, and translated, on a CPU; each form of them on a GPU."""
    if request.param == "triton":
        pytest.importorskip("jax.experimental.pallas.triton", exc_type=ImportError)
    return FORMS[request.param]


@pytest.fixture
def lowered_for_cuda(abstract_gpu):
    """Gives the text of a function, called with these arguments, for an NVIDIA GPU that need not be there."""

    def lower(function: Any, *args: Any, form: str = "triton", **static: Any) -> str:
        jitted = jax.jit(lambda *args: function(*args, **static))
        with compiling_for(FORMS[form].target), jax.enable_x64(True), abstract_gpu():
            return jitted.trace(*args).lower(lowering_platforms=("cuda",)).as_text()

    return lower
