"""Files from which long chains of tasks start anew.

What a task gave depends on the tasks before it, back to the data. Without an end to that, a dead
worker would cost all that was done since the start, and the scheduler would keep it all in mind.
So now and then row factors are written to a place that all workers reach; the chain then begins
there. `dask.config.set({"pygeco.scratch": "s3://…"})` names the place, any address of fsspec; on a
cluster within one machine it is a folder of its own. Where there is none, chains stay long.
"""

from __future__ import annotations

import pickle
import shutil
import tempfile
import weakref
from contextlib import suppress
from typing import Any

import dask
import fsspec

from pygeco.engines.dask.adapter import is_on_one_machine


class SlabFiles:
    """The files of one value, a slab each. They are there as long as somebody may need them."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.paths = paths
        weakref.finalize(self, _remove_files, paths)


class Scratch:
    """A place for files; `root` is None where there is none."""

    def __init__(self, client: Any) -> None:
        self.root: str | None = dask.config.get("pygeco.scratch", None)
        if self.root is None and is_on_one_machine(client):
            self.root = tempfile.mkdtemp(prefix="pygeco-")
            weakref.finalize(self, shutil.rmtree, self.root, ignore_errors=True)

    def name_files(self, name: str, count: int) -> SlabFiles:
        return SlabFiles(tuple(f"{self.root}/{name}-{t}.part" for t in range(count)))


def save_value(value: Any, path: str) -> None:
    """On a worker: the value to its file. Written again it has the same bytes."""
    with fsspec.open(path, "wb", auto_mkdir=True) as file:
        pickle.dump(value, file, protocol=5)


def load_value(path: str, slab: Any) -> Any:
    """On a worker, where the slab is."""
    with fsspec.open(path, "rb") as file:
        return pickle.load(file)


def _remove_files(paths: tuple[str, ...]) -> None:
    for path in paths:
        with suppress(Exception):  # a file less in the way, at most
            files, inside = fsspec.core.url_to_fs(path)
            files.rm(inside)
