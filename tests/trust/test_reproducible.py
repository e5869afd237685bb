"""The same seed gives the same bits: after any other fits, in any process, on any threads."""

import importlib
import os
import pkgutil
import subprocess
import sys

import pytest
from threadpoolctl import threadpool_limits

import fit_cases
from pygeco.engines import cpu
from pygeco.engines.cpu.parallel import Kernel
from soak import SOAK, tried

SCRIPT = fit_cases.__file__
POOLS = ("NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def digests(threads=None, **environment) -> str:
    """What the script prints in a process of its own: a line for each kind of fit."""
    counts = {} if threads is None else dict.fromkeys(POOLS, str(threads))
    run = subprocess.run(
        [sys.executable, str(SCRIPT), *(["twice"] if SOAK else [])],
        env=os.environ | counts | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    tried("fits compared to the bit", (2 if SOAK else 1) * len(run.stdout.splitlines()))
    return run.stdout


@pytest.fixture(scope="module")
def one_thread() -> str:
    """In this process, which has made many other fits."""
    with threadpool_limits(1):
        found = fit_cases.digest_cases()
    assert len(found) >= 30
    return "".join(f"{name}: {bits}\n" for name, bits in found.items())


@pytest.mark.parametrize("threads", [2, 4] if SOAK else [4])
def test_any_number_of_threads_in_any_process(one_thread, threads) -> None:
    assert digests(threads) == one_thread


@pytest.mark.skipif(not SOAK, reason="compiles every kernel anew: in the long form")
def test_kernels_from_the_cache_give_the_bits_of_fresh_ones(one_thread, tmp_path) -> None:
    assert digests(2, NUMBA_CACHE_DIR=str(tmp_path), PYTHONHASHSEED="1") == one_thread


def kernels():
    for info in pkgutil.iter_modules(cpu.__path__, cpu.__name__ + "."):
        module = importlib.import_module(info.name)
        for name, given in vars(module).items():
            if isinstance(given, Kernel):
                yield f"{info.name}.{name}", given.compiled


def test_no_parallel_kernel_leaves_the_order_of_sums_to_the_compiler() -> None:
    """What it may reassociate or fuse at will differs between machines and versions."""
    parallel = dict(kernels())
    assert len(parallel) >= 5
    free = [name for name, kernel in parallel.items() if kernel.targetoptions.get("fastmath")]
    assert free == []
