"""Modules that scikit-learn imports and commands seldom need, read when somebody asks for more than
their names.

They take as long as many a command does. Here the process is `geco`'s own; in that of others a
library must leave modules as they are.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

NAMES = ("scipy.stats", "pandas")


class Deferred(ModuleType):
    """What stands in `sys.modules` for a module until something of it is used.

    It says where the module's file is, and nothing else: the first other question reads the file.
    """

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


def defer_imports() -> None:
    """Put off the modules that are installed and not there yet."""
    for name in NAMES:
        spec = None if name in sys.modules else find_spec(name)
        if spec is not None:
            module = Deferred(name)
            module.__spec__, module.__loader__, module.__file__ = spec, spec.loader, spec.origin
            sys.modules[name] = module
