"""The PTX that is shipped: of every kernel, what NVRTC makes of it, for old GPUs and drivers."""

import re
import zlib
from itertools import chain, islice

import pytest

from jaxmotif.kernels.cuda._nvrtc import NvrtcMissing, compile_ptx, nvrtc_version
from tests.kernels import shipped

FILES = {file.name: zlib.decompress(file.read_bytes()).decode() for file in shipped.FOLDER.iterdir()}


def nvrtc() -> tuple[int, int]:
    try:
        return nvrtc_version()
    except NvrtcMissing:
        return 0, 0


@pytest.fixture(scope="module")
def programs(request):
    """All kernels, or else those of every eighth case of a job: they differ by options, which are many."""
    step = 1 if request.config.getoption("--slow") else 8
    cases = (islice(job(), 0, None, step if job in (shipped.sieves, shipped.searches, shipped.motifs) else 1)
             for job in shipped.JOBS)  # fmt: skip
    return shipped.programs(chain.from_iterable(cases))


def test_every_kernel_is_shipped(programs):
    """With any number of positions in a block: sizes are data."""
    missing = programs.keys() - FILES.keys()
    assert not missing, f"run python -m tests.kernels.shipped: {sorted(missing)}"


def test_what_is_shipped_is_for_old_gpus_and_drivers():
    for name, ptx in FILES.items():
        assert re.search(rf"^\.visible \.entry {name.partition('-')[0]}\(", ptx, re.MULTILINE), name
        ((major, minor),) = re.findall(r"^\.version (\d+)\.(\d+)$", ptx, re.MULTILINE)
        assert (int(major), int(minor)) <= (8, 4), name
        assert re.search(r"^\.target sm_75$", ptx, re.MULTILINE), name
    assert sum(file.stat().st_size for file in shipped.FOLDER.iterdir()) < 2 * 10**6


@pytest.mark.skipif(nvrtc() != (12, 4), reason="needs NVRTC 12.4")
@pytest.mark.parametrize(
    "kernels", [("triangles", "census", "extend", "probe"), pytest.param(("",), marks=pytest.mark.slow)]
)
def test_what_is_shipped_is_what_nvrtc_makes(programs, kernels):
    for kernel in kernels:
        some = [name for name in programs if name.startswith(kernel)]
        for name in some if kernel == "" else some[:1]:
            assert compile_ptx(programs[name].text) == FILES[name]


@pytest.mark.skipif(nvrtc() < (12, 8), reason="needs NVRTC 12.8 or newer (JAXMOTIF_NVRTC names one)")
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_kernel_compiles_for_the_oldest_and_the_newest_gpus(programs, every):
    """Of each kernel one form, or all; what is shipped is for the oldest."""
    for program in programs.values() if every else {x.name: x for x in programs.values()}.values():
        for capability in ("75", "120") if every else ("120",):
            assert f".target sm_{capability}" in compile_ptx(program.text, capability)
