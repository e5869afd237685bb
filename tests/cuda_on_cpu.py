"""The engine "cuda" without a GPU: its own code on NumPy arrays, its kernels compiled by C++."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from pygeco.arrays.kinds import HOST
from pygeco.engines.cuda.engine import Cuda
from pygeco.engines.cuda.launch import NULL, source

SHIM = Path(__file__).parent / "engines" / "cuda_on_cpu.h"
COMPILER = shutil.which("g++") or shutil.which("clang++")


class CpuLauncher:
    """Like `Launcher`: compiles what is asked for, here into a library of its own."""

    def __init__(self, folder):
        self.folder, self.kernels = folder, {}

    def guard(self):
        return nullcontext()

    def check_room(self, cells, bytes_a_value):
        pass

    def __call__(self, name, shape, *arguments, shared=0):
        if name not in self.kernels:
            self.kernels[name] = self._compiled(name)
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

    def _compiled(self, name):
        stem = self.folder / f"kernel{len(self.kernels)}"
        code = f'#include "{SHIM}"\n{source()}'
        code += 'extern "C" void go(unsigned gx, unsigned gy, unsigned bx, void** arguments) '
        code += f"{{ launch(&call<&{name}>, gx, gy, bx, arguments); }}\n"
        stem.with_suffix(".cpp").write_text(code)
        command = [COMPILER, "-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off"]
        command += ["-U_FORTIFY_SOURCE"]  # which takes a jump to another stack for a mistake
        subprocess.run(
            [*command, "-o", str(stem.with_suffix(".so")), str(stem.with_suffix(".cpp"))],
            check=True,
        )
        function = ctypes.CDLL(str(stem.with_suffix(".so"))).go
        function.argtypes = [ctypes.c_uint] * 3 + [ctypes.c_void_p]
        function.restype = None
        return function


class EmulatedCuda(Cuda):
    """A hundred times slower than "cpu": for few cells."""


def emulated_engine(folder) -> EmulatedCuda:
    if COMPILER is None:
        pytest.skip("no C++ compiler for the kernels on the CPU")
    return EmulatedCuda(CpuLauncher(folder), HOST)
