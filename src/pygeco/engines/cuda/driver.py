"""What the machine's own driver says of its GPUs: CuPy need not be there."""

from __future__ import annotations

import ctypes
import sys


def count_gpus() -> int:
    """How many the driver knows; none where there is no driver."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value
