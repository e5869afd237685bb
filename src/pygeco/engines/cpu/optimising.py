"""How numba compiles the functions of this folder: what they do not need costs most of its time.

Their arrays are kept by their callers, so that no references are counted, which for every cell
would cost as much as the cell itself; what a function needs beside them it takes from `memory`.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder


class OnceLibrary(JITCodeLibrary):
    """numba's own, whose code is optimised once.

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
