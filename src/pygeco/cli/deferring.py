"""Modules that scikit-learn and pyarrow import and commands seldom need: read when asked for more
than their names, or not at all.

They take as long as many a command does. Here the process is `geco`'s own; in that of others a
library must leave modules as they are.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

NAMES = ("scipy.stats",)
# scikit-learn and pyarrow import it, where it is installed, to know a data frame when they see one.
# Commands have none, but those that compute by Dask.
FRAMES = "pandas"


class Deferred(ModuleType):
    """What stands in `sys.modules` for a module until something of it is used.

    It says where the module's file is, and nothing else: the first other question reads the file.
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


class _WithoutFrames:
    """Asked first for each module, it says that pandas is not there, and nothing of others."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == FRAMES:
            raise ModuleNotFoundError(f"{name}: commands do without data frames", name=name)


def defer_imports(*, frames: bool = True) -> None:
    """Put off the modules that are installed and not there yet; do without pandas or not."""
    if not frames:
        sys.meta_path.insert(0, _WithoutFrames())
    for name in NAMES:
        spec = None if name in sys.modules else find_spec(name)
        if spec is not None:
            module = Deferred(name)
            module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
            sys.modules[name] = module
