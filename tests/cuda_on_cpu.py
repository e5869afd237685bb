"""The engine "cuda" without a GPU: its own code on NumPy arrays, its kernels compiled by C++."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pygeco.arrays.kinds import HOST
from pygeco.engines.cuda.engine import Cuda
from pygeco.engines.cuda.launch import NULL, source

SHIM = Path(__file__).parent / "engines" / "cuda_on_cpu.h"
COMPILER = shutil.which("g++") or shutil.which("clang++")

# Sizes and kinds of tiles, at the end of the names of Grams.
SMALL_TILES = [
    f"2, {k}, true, {one}, {two}"
    for k in (1, 2)
    for one in ("false", "true")
    for two in ("false", "true")
]
LARGE_TILES = [
    "4, 3, true, true, false", "4, 4, false, false, true", "4, 4, false, true, false",
    "4, 4, false, true, true", "6, 5, true, false, true", "6, 5, true, true, true",
    "6, 6, true, true, false",
]  # fmt: skip
GRAMS = [
    *(f"grams<{kind}, {kind}, {kind}, {tiles}>" for kind in ("float", "double")
      for tiles in (*SMALL_TILES, *LARGE_TILES)),
    *(f"grams<float, double, double, {tiles}>" for tiles in SMALL_TILES[::2]),
    "grams<float, float, double, 2, 1, true, true, false>",
]  # fmt: skip
# Compiled one by one, these take five times as long as those of a line in one library.
TOGETHER = [
    [
        "add_columns", "add_long_rows", "append_columns", "measure", "normals", "project",
        "reflect", "stack_rows", "subtract_again", "subtract_projection",
    ],
    [
        "begin_descent", "center_rows", "change_direction", "gather_columns", "gather_rows",
        "sum_rows", "take_step", "weigh_rows",
        *(f"multiply_fours<{lanes}>" for lanes in (1, 2, 4, 8, 16)),
    ],
    [
        *GRAMS, "add_ranges", "matmat<float, double, 1>", "huber<float, short>",
        "huber<float, unsigned char>", "medians<float, unsigned char>",
        *(f"{name}<{kind}>" for name in ("add_pieces", "matvec", "matvec_ranges", "predictions")
          for kind in ("float", "double")),
        *(f"{name}<{kind}, {kind}{rest}>" for name, rest in (
            ("matmat", ", 1"), ("matmat", ", 2"), ("huber", ""), ("medians", ""),
        ) for kind in ("float", "double")),
        "solve<float, true>", "solve<double, true>", "unpack<double>",
    ],
]  # fmt: skip


class CpuLauncher:
    """Like `Launcher`: compiles what is asked for, and here what is asked for beside it."""

    def __init__(self, folder):
        self.folder, self.kernels = folder, {}

    def guard(self):
        return nullcontext()

    def check_room(self, cells, bytes_a_value):
        pass

    def prepare(self, *given, shared=0):
        return partial(self, *given, shared=shared)

    def __call__(self, name, shape, *arguments, shared=0):
        if name not in self.kernels:
            self._compile(next((names for names in TOGETHER if name in names), [name]))
        values, pointers = [], []
        for given in (NULL if x is None else x for x in arguments):
            if isinstance(given, np.ndarray):
                assert given.flags.c_contiguous
                given = np.uint64(given.ctypes.data)
            values.append(np.array(given))
            pointers.append(values[-1].ctypes.data)
        grid, block = shape
        gx, gy = (*grid, 1)[:2]
        assert shared <= 8 << 16
        assert block[0] <= 1024
        self.kernels[name](gx, gy, block[0], (ctypes.c_void_p * len(pointers))(*pointers))

    def _compile(self, names):
        stem = self.folder / f"kernels{len(self.kernels)}"
        code = f'#include "{SHIM}"\n{source()}'
        for k, name in enumerate(names):
            code += (
                f'extern "C" void go{k}(unsigned gx, unsigned gy, unsigned bx, void** arguments)'
            )
            code += f" {{ launch(&call<&{name}>, gx, gy, bx, arguments); }}\n"
        stem.with_suffix(".cpp").write_text(code)
        command = [COMPILER, "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off"]
        command += ["-U_FORTIFY_SOURCE"]  # which takes a jump to another stack for a mistake
        subprocess.run(
            [*command, "-o", str(stem.with_suffix(".so")), str(stem.with_suffix(".cpp"))],
            check=True,
        )
        library = ctypes.CDLL(str(stem.with_suffix(".so")))
        for k, name in enumerate(names):
            function = self.kernels[name] = library[f"go{k}"]
            function.argtypes = [ctypes.c_uint] * 3 + [ctypes.c_void_p]
            function.restype = None


class EmulatedCuda(Cuda):
    """A hundred times slower than "cpu": for few cells."""


def emulated_engine(folder) -> EmulatedCuda:
    if COMPILER is None:
        pytest.skip("no C++ compiler for the kernels on the CPU")
    return EmulatedCuda(CpuLauncher(folder), HOST)
