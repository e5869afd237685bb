"""Compiled functions on the disk, which hold as long as none of their files has changed.

numba compiles a function anew when its own file changes. What it calls may stand in another file,
and is part of its code: after an upgrade it would run as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys

from pygeco.engines.cpu.optimising import OPTIONS
from pygeco.engines.cpu.sources import hash_sources


def njit(*functions: Callable[..., Any], **options: Any) -> Any:
    """numba's own, as `optimising` has it; with `cache=True` the function on the disk belongs to
    these sources.
    """
    made = numba.njit(*functions, **(OPTIONS | options))
    if functions:
        return _stamp(made)
    return lambda function: _stamp(made(function))


def _stamp(compiled: Any) -> Any:
    # Both names are numba's own: where a release has others, its own rule holds.
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        source = Path(compiled.py_func.__code__.co_filename)
        file._source_stamp = file._source_stamp, hash_sources(source)
    return compiled


def read_kept(compiled: Any, kinds: tuple[Any, ...]) -> bool:
    """Whether the function for these types is here or on the disk; it is then ready to be called.

    numba's own way loads all that it can compile with before it reads anything.
    """
    if kinds in compiled.overloads:
        return True
    # These names are numba's own, as above.
    read, context = getattr(compiled._cache, "_load_overload", None), compiled.targetctx
    if read is None or not hasattr(compiled, "_cache_hits"):
        return False
    with global_compiler_lock:
        rtsys.initialize(context)
        try:
            found = read(kinds, context)
        except OSError:
            return False
        if found is None:
            return False
        compiled._cache_hits[kinds] += 1
        context.insert_user_function(found.entry_point, found.fndesc, [found.library])
        compiled.add_overload(found)
    return True
