"""Kernels by name, compiled when first used, and errors that say what to do."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pygeco.arrays.low_rank import Array

# Files of kernels, and those that each needs beside "common".
KERNELS: dict[str, tuple[str, ...]] = {
    "cells": (), "columns": (), "ridge": (), "spans": (), "noise": (), "grams": (), "tables": (),
    "solve": ("grams",), "tiles": (), "rows": ("tiles",), "single": ("grams", "tiles", "rows"),
}  # fmt: skip
DECLARATION = re.compile(
    r"(template <[^\n]*>\n)?__global__ void (?:__launch_bounds__\([^\n]*\)\s|)(\w+)\("
)
NULL = np.uint64(0)
THREADS_PER_BLOCK = 128
MIN_CAPABILITY = 80  # compute capability with matrix instructions in double precision
USUAL_SHARED_BYTES = 48 << 10  # for more a kernel must ask
# Of a cell while cells are sorted: its key, its place, and the sort's own copies of both.
SORTING_BYTES = 40

Shape = tuple[tuple[int, ...], tuple[int, ...]]

CPP_TYPES = {
    "f4": "float", "f8": "double", "u1": "unsigned char", "i1": "signed char",
    "u2": "unsigned short", "i2": "short", "u4": "unsigned int", "i4": "int",
    "u8": "unsigned long long", "i8": "long long",
}  # fmt: skip


def number(x: Array) -> str:
    """The C++ name of an array's type."""
    return CPP_TYPES[x.dtype.kind + str(x.dtype.itemsize)]


def threads(count: int, block: int = THREADS_PER_BLOCK) -> Shape:
    """A grid of blocks for at least this many threads."""
    return (max(1, -(-count // block)),), (block,)


def source(*files: str) -> str:
    """Files of kernels, all by default, with what they need, as one text."""
    wanted = {"common", *(files or KERNELS), *(need for file in files for need in KERNELS[file])}
    return "".join(_read(file) for file in ("common", *KERNELS) if file in wanted)


def _read(file: str) -> str:
    return Path(__file__).with_name("kernels").joinpath(f"{file}.cu").read_text(encoding="utf-8")


def list_kernels() -> dict[str, tuple[str, tuple[str, ...]]]:
    """The file of each kernel by its plain name, and which of the file's are no templates."""
    found = {}
    for file in KERNELS:
        kernels = DECLARATION.findall(_read(file))
        plain = tuple(name for template, name in kernels if not template)
        found.update({name: (file, plain) for _, name in kernels})
    return found


class Launcher:
    """`launch("matvec<float>", (grid, block), *arguments)`; None is a null pointer.

    A kernel is compiled when it is first used, with what its file needs and no more: all files take
    six times as long. CuPy keeps what it compiled on disk.
    """

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise ImportError(
                "engine: 'cuda' needs CuPy; install it with pip install 'pygeco[cuda]'."
            ) from error
        capability = int(cupy.cuda.Device().compute_capability)
        if capability < MIN_CAPABILITY:
            raise RuntimeError(
                f"engine: 'cuda' needs a GPU of compute capability 8.0 or newer, not "
                f"{capability / 10}; use engine='cpu'."
            )
        self.cupy = cupy
        self.files = list_kernels()
        self.kernels: dict[str, Any] = {}

    def __call__(self, name: str, shape: Shape, *arguments: Any, shared: int = 0) -> None:
        self._find(name, shared)(*shape, _fill(arguments), shared_mem=shared)

    def prepare(
        self, name: str, shape: Shape, *arguments: Any, shared: int = 0
    ) -> Callable[[], None]:
        """The launch as a function, for one that is made again and again."""
        return partial(self._find(name, shared), *shape, _fill(arguments), shared_mem=shared)

    def _find(self, name: str, shared: int) -> Any:
        kernel = self.kernels.get(name)
        if kernel is None:
            self._compile(name)
            kernel = self.kernels[name]
        if shared > USUAL_SHARED_BYTES and shared > kernel.max_dynamic_shared_size_bytes:
            kernel.max_dynamic_shared_size_bytes = shared
        return kernel

    def _compile(self, name: str) -> None:
        """One instance of a template, or all kernels of a file that are none."""
        file, plain = self.files[name.partition("<")[0]]
        names = (name,) if "<" in name else plain
        module = self.cupy.RawModule(
            code=source(file), options=("-std=c++17",), name_expressions=names
        )
        self.kernels.update({each: module.get_function(each) for each in names})

    def guard(self) -> AbstractContextManager[object]:
        """Where memory runs out, an error that says how much is missing and what would fit."""
        cuda = self.cupy.cuda
        allocate = cuda.get_allocator()

        def careful(size: int) -> Any:
            try:
                return allocate(size)
            except cuda.memory.OutOfMemoryError as error:
                raise MemoryError(self._too_large(size)) from error

        return cuda.using_allocator(careful)

    def _too_large(self, size: int) -> str:
        pool = self.cupy.get_default_memory_pool()
        room = min(self.cupy.cuda.Device().mem_info[1], pool.get_limit() or math.inf)
        used = pool.used_bytes()
        share = 100 * room / (used + size)
        return (
            f"engine: the GPU needs {size / 2**30:.2f} GiB more than the {used / 2**30:.2f} GiB in "
            f"use, and has {room / 2**30:.2f} GiB; a problem with at most {share:.0f} % of these "
            "rows, columns and cells, or of this rank, would fit; else use engine='cpu'."
        )

    def check_room(self, cells: int, bytes_a_value: int) -> None:
        """Raise where so many cells cannot be sorted and kept in both orders."""
        each = SORTING_BYTES + 2 * (4 + bytes_a_value)
        pool = self.cupy.get_default_memory_pool()
        free = self.cupy.cuda.Device().mem_info[0] + pool.free_bytes()
        if each * cells > free:
            raise MemoryError(
                f"values: {cells:,} cells need about {each * cells / 2**30:.1f} GiB of GPU memory "
                f"while they are sorted, and {free / 2**30:.1f} GiB are free; about "
                f"{int(free // each):,} cells would fit; pass fewer, or use engine='cpu'."
            )


def _fill(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([NULL if x is None else x for x in arguments])
