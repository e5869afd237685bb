"""One thread for the many tiny problems; the tests of threads set their own number."""

import gc
import os
from functools import cache

import pytest
from hypothesis import settings
from threadpoolctl import ThreadpoolController

from pygeco.engines.cpu.threads import get_num_threads, set_num_threads
from soak import SOAK

# An idle cluster of two workers takes 14 % of a core for watching itself, and so 3 to 4 %.
for _name, _value in (
    ("WORKER__PROFILE__ENABLED", "False"),
    ("ADMIN__SYSTEM_MONITOR__INTERVAL", "10s"),
    ("ADMIN__TICK__INTERVAL", "1s"),
):
    os.environ.setdefault(f"DASK_DISTRIBUTED__{_name}", _value)

# A machine may be busy: how long an example takes says nothing.
settings.register_profile("pygeco", deadline=None, max_examples=100 if SOAK else 40)
settings.load_profile("pygeco")

# Files that take longest come first, so that no process is left alone with one at the end.
SLOW = (
    "engines/dask/test_engine.py", "test_docs.py", "cli/test_helping.py",
    "trust/test_reproducible.py", "engines/test_engines.py", "algorithm/test_measured_paths.py",
    "cli/test_streams.py", "estimators/test_feature_model.py", "objectives/dense/test_objective.py",
    "serve/test_browser.py", "experiments/test_figure1.py", "algorithm/test_solver.py",
    "trust/test_load.py",
    "test_bench.py", "trust/test_disk.py", "reports/test_browser.py", "trust/test_kill.py",
    "trust/test_laws.py", "test_gallery.py", "bayes/test_sampling.py",
    "bayes/test_evidence_robust.py",
    "cli/test_watching.py", "trust/test_fuzz.py", "trust/test_supply.py", "cli/test_console.py",
    "algorithm/test_paper.py", "estimators/test_robust_ratings.py", "cli/test_fit.py",
    "estimators/test_sklearn.py", "algorithm/corrections/test_sweep.py",
)  # fmt: skip

# Tests that fork from one process or ask the same models go to one worker of xdist, which makes
# these once.
TOGETHER = {
    "clusters": (
        "tests/engines/dask/", "tests/io/partitioned/",
        "tests/test_docs.py::test_blocks_run[cluster]",
    ),
    "terminals": (
        "tests/cli/test_console.py", "tests/cli/test_streams.py", "tests/cli/test_watching.py",
        "tests/trust/test_disk.py",
    ),
    "served models": ("tests/serve/",),
}  # fmt: skip


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection():
    """What is collected stays: the garbage collector need not look at it again and again."""
    gc.disable()
    found = yield
    gc.freeze()
    gc.enable()
    return found


def pytest_unconfigure() -> None:
    gc.unfreeze()


def pytest_collection_modifyitems(items) -> None:
    def turn(item) -> int:
        name = item.nodeid.partition("::")[0].removeprefix("tests/")
        return SLOW.index(name) if name in SLOW else len(SLOW)

    items.sort(key=turn)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file goes to one process, and so do those that share one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class SharingTogether(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            for name, starts in TOGETHER.items():
                if nodeid.startswith(starts):
                    return name
            return super()._split_scope(nodeid)

    return SharingTogether(config, log)


@pytest.fixture(scope="session", autouse=True)
def _one_thread_of_blas():
    """Two would wait for each other at every small product, which takes a fifth of the time."""
    with ThreadpoolController().limit(limits=1, user_api="blas"):
        yield


@pytest.fixture(scope="session", autouse=True)
def _one_command():
    """typer's runner makes the command anew for each call, which takes longer than most calls."""
    from typer import testing

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "_get_command", cache(testing._get_command))
        yield


@pytest.fixture(autouse=True)
def _one_thread():
    before = get_num_threads()
    set_num_threads(1)
    yield
    set_num_threads(before)


@pytest.fixture(scope="session")
def terminals():
    """Commands on terminals and other streams."""
    from terminals import Terminals

    found = Terminals()
    yield found
    found.close()
