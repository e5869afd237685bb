"""Clusters of the tests: workers fork from one process that has imported what they need.

A worker that starts by itself takes two seconds of a core for its imports. Such a one, as a user
gets it by default, is in the test of the command (`io/partitioned/test_fit.py`).
"""

import os

import dask
from distributed.utils import get_mp_context

METHOD = "distributed.worker.multiprocessing-method"

dask.config.set({METHOD: "forkserver"})
# Dask names modules of its own at the first call, so this comes after it.
get_mp_context().set_forkserver_preload(["worker_imports"])
HERE, GIVEN = os.path.dirname(__file__), os.environ.get("PYTHONPATH")
os.environ["PYTHONPATH"] = f"{GIVEN}{os.pathsep}{HERE}" if GIVEN else HERE
