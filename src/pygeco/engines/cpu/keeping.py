"""How numba compiles the functions of this folder, and keeps them on the disk.

What they do not need costs most of its time. Their arrays are kept by their callers, so that no
references are counted, which for every cell would cost as much as the cell itself; what a function
needs beside them it takes from `memory`.

A function on the disk holds as long as none of its files has changed. numba compiles it anew when
its own file changes. What it calls may stand in another file, and is part of its code: after an
upgrade it would run as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys

from pygeco.engines.cpu.sources import hash_sources


class OnceLibrary(JITCodeLibrary):
    """numba's own, whose code is optimized once.

    numba goes over each function before, and over the module before it is linked, for the sake of
    counted references. Here nothing is counted, and the last pass finds what those would.
    """

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        found = self._codegen._module_pass_manager()
        passes, *builder = found if isinstance(found, tuple) else (found,)  # none before numba 0.62
        passes.run(self._final_module, *builder)


class OnceCompiler(CompilerBase):
    """numba's own, which puts what it compiles into a library of this kind."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = OnceLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


# Nobody calls these functions from C, either, and none has expressions of whole arrays.
OPTIONS = {
    "pipeline_class": OnceCompiler,
    "_nrt": False,
    "no_cfunc_wrapper": True,
    "no_rewrites": True,
}


def njit(*functions: Callable[..., Any], **options: Any) -> Any:
    """numba's, with these options; with `cache=True` what is on the disk is of these sources."""
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
