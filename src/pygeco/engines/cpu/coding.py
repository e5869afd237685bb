"""Numbers of few values and their codes on the cores of one machine, a run on each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays import coded
from pygeco.arrays.coded import CodeWork, Hashing
from pygeco.engines.cpu import coding_kernels as kernels


class CpuCodeWork(CodeWork):
    """See `CodeWork`."""

    def find_codes(
        self,
        bits: NDArray[Any],
        levels: NDArray[Any],
        hashing: Hashing,
        codes: NDArray[np.uint8],
        wanted: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        strange = np.zeros(len(wanted), bool)
        numbers = np.array([hashing.factor, hashing.shift], bits.dtype)
        kernels.find_codes(bits, levels, numbers, hashing.slots, wanted, coded.RUN, codes, strange)
        return strange

    def read_codes(self, codes: NDArray[np.uint8], table: NDArray[Any]) -> NDArray[Any]:
        if table.dtype not in (np.float32, np.float64):
            return super().read_codes(codes, table)
        out = np.empty(len(codes), table.dtype)
        kernels.read_codes(codes, table, coded.RUN, -(-len(codes) // coded.RUN), out)
        return out

    def count_codes(self, codes: NDArray[np.uint8]) -> NDArray[np.int64]:
        counts = np.empty((-(-len(codes) // coded.RUN), kernels.CODES), np.int64)
        kernels.count_codes(codes, coded.RUN, counts)
        found: NDArray[np.int64] = counts.sum(axis=0)
        return found


CODE_WORK = CpuCodeWork()
