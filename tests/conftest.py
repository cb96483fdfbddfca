"""Set-up shared by all tests: CPU with four devices unless JAXMOTIF_TEST_GPU is set, strict promotion, real data."""

import gc
import os
import sys
import warnings
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

ON_GPU = bool(os.environ.get("JAXMOTIF_TEST_GPU"))
os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4".strip()
os.environ["JAXMOTIF_CACHE"] = "off"  # tests change what programs are made of in ways that kept programs cannot know
# Some environments forbid it: then every process of the many that tests start would compile the whole package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
if not ON_GPU:
    os.environ["JAX_PLATFORMS"] = "cpu"
    # Most of the time goes to compiling: less of it, and each program once for all workers and later runs.
    os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    os.environ["XLA_FLAGS"] += " --xla_cpu_parallel_codegen_split_count=1"
    if version("jaxlib").startswith("0.10."):  # these compile in half the time without; later ones know no such flag
        os.environ["XLA_FLAGS"] += " --xla_cpu_use_fusion_emitters=false"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "compiled"))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.02")
    # Which line of Python made each operation is told to nobody here, and takes a fifteenth of the time.
    os.environ.setdefault("JAX_TRACEBACK_IN_LOCATIONS_LIMIT", "0")

import jax  # noqa: E402  (the environment must be set first)
import pytest  # noqa: E402

from jaxmotif.motifs import _random_graphs  # noqa: E402
from tests.optimised import optimise  # noqa: E402

# Tracing makes many objects that last: to look through them as often as Python would takes a tenth of the time.
gc.set_threshold(50_000, 20, 50)

# With so little optimised, chains that are padding take most of the time. A pilot has fewer chains then, and so finds
# another length for all chains; apart from that no bit depends on it.
_random_graphs.CPU_LANES = 2**11

if not ON_GPU:
    _random_graphs.run_chains = optimise(_random_graphs.run_chains)

jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


TRITON_WARNING = "The Pallas Triton backend is deprecated", DeprecationWarning


def pytest_configure(config):
    if ON_GPU:  # where kernels take that form as long as it is there
        config.addinivalue_line("filterwarnings", f"ignore:{TRITON_WARNING[0]}:{TRITON_WARNING[1].__name__}")


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow or more")


def pytest_collection_modifyitems(config, items):
    for item in items:
        if "gpu" in item.keywords and not ON_GPU:
            item.add_marker(pytest.mark.skip(reason="needs a GPU (JAXMOTIF_TEST_GPU=1)"))
        if not config.getoption("--slow") and (marked := {"slow", "more"} & item.keywords.keys()):
            item.add_marker(pytest.mark.skip(reason=f"{marked.pop()} (--slow)"))


def pytest_collection_finish():
    gc.freeze()  # what was imported stays


@pytest.fixture(scope="module", autouse=True)
def few_memory_maps():
    """Compiled code takes several memory maps a program; Linux ends a process (65,530 by default) that has too many."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and maps.read_bytes().count(b"\n") > 52_000:
        jax.clear_caches()


@pytest.fixture
def wide():
    """JAX's 64-bit mode, for functions that are part of compiled ones."""
    with jax.enable_x64(True):
        yield


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real networks with verified answers: $JAXMOTIF_DATA, or shared/data beside the repository."""
    path = Path(os.environ.get("JAXMOTIF_DATA") or Path(__file__).parents[2] / "shared" / "data")
    if not path.is_dir():
        pytest.skip(f"no real networks at {path} (set JAXMOTIF_DATA)")
    return path


@pytest.fixture(scope="session")
def abstract_gpu():
    """Gives a context in which functions are lowered for an NVIDIA GPU that need not be there."""
    pytest.importorskip("jax.experimental.pallas.triton", exc_type=ImportError)
    device = jax.sharding.AbstractDevice("NVIDIA H100 80GB HBM3", num_cores=132, platform="gpu")
    mesh = jax.sharding.AbstractMesh((), (), abstract_device=device)

    @contextmanager
    def lowering():
        with warnings.catch_warnings(), jax.sharding.use_abstract_mesh(mesh):
            warnings.filterwarnings("ignore", *TRITON_WARNING)
            yield

    return lowering
