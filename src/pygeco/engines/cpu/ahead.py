"""A process that compiles the kernels of a fit before they are asked for, beside the fit's own.

`python -m pygeco.engines.cpu.ahead FOLDER KIND` compiles what nobody has claimed in the folder, in
the order in which `geco fit` needs it, but what takes seconds comes first. Then it ends.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np

from pygeco.engines.cpu.claims import Shares
from pygeco.engines.cpu.keeping import read_kept

# Kernels of a fit of ratings by the evidence and of its lists, each with all the types that it is
# called with there, after the number of the part: NumPy's, with the dimensions of an array. Where a
# kernel has changed, `tests/cli/test_helping.py` fails with the lines as they should be.
RATINGS = {
    "sweep.half_sweep": (
        "i8:1 i4:1 f4:1 f4:1 i8:1 f4:1 i8 i8 i8 i8 f4:2 f4:1 f4:1 f4:2 f4 f4 f4:2 f4:2 f4:1 "
        "f4:2 f4:1 f4:2 f4:1 f8:1",
    ),
    "products.count_majors": ("i4:1 i8:1 i8:2",),
    "products.put_triplets": ("i4:1 i4:1 f4:1 i8:1 i8:2 i4:1 f4:1",),
    "products.put_transposed": ("i8:1 i4:1 f4:1 i8:1 i8:2 i4:1 f4:1",),
    "column_kernels.pad": ("f4:2 f4:2 f4:1 i8 i8 i8 f4:2",),
    "products.matmat": (
        "i8:1 i4:1 f4:1 i8:1 f8 f4:1 i8 f4:1 f4:1 f4:1 f4:2 f8:2 f4:1 f8 f4:2 f8:2",
    ),
    "products.fresh_products": ("i8:1 i4:1 f4:1 f4:1 i8:1 f4:2 f4:2 f8 f8:2 f8:2 f8:2",),
    "column_kernels.moments": ("f4:2 f4:1 f4:2 f4:1 ?:1 f4:2 f8:1 i8 f8:2",),
    "products.residuals": (
        "i8:1 i4:1 f4:1 f4:1 i8:1 f8:2 f8:2 f4:1 f8:2",
        "i8:1 i4:1 f4:1 f4:1 i8:1 f4:2 f4:2 f4:1 f8:2",
    ),
    "products.matvec": ("i8:1 i4:1 f4:1 i8:1 f8 f4:1 f8:1",),
    "products.scatter": ("i8:1 i4:1 f4:1 i8:1 f4:1 f8:2",),
    "products.add_runs": ("f8:2 f8 i8 i8 f8:1",),
    "tall_kernels.multiply_blocks": ("i8 u1:1 u1:1 i4:1 i8:1 i8:1 i8 i8 i8 i8",),
    "column_kernels.weigh": ("f4:2 f4:2 f4:1 i8 f8:2",),
    "ridge_kernels.take_step": ("i8 f4:2 f4:2 f4:2 f4:2 f4:1 f4:1 f4:2 f4:2 f4:2 i8 f8:2",),
    "ridge_kernels.multiply_directions": ("i8 f4:2 f4:2 f4:2 f4:1 i8 f8:2",),
    "column_kernels.subtract_span": ("f8:2 f8:1 f8:1 i8 f8:1 f8:2",),
    "group_kernels.move_block": ("i8:1 i4:1 f8:1 f8:1",),
    "group_kernels.sum_block": ("i8:1 i4:1 f8:1 f8:1 f8:1",),
    "group_kernels.take_part": ("i4:1 i8 f8:1 f8:1 i8",),
    "group_kernels.put_part": ("i4:1 i8 f8:1 f8:1 i8",),
    "noise_kernels.fill": ("f4:1 u4 u4 i8 i8",),
    "column_kernels.reflect": ("f4:1 f4:1 f4:1 f4 f4 i8 i8 f4:1",),
    "ranking.top_k": ("f4:2 i8:2 f4:2",),
    "largest_kernels.sum_lines": ("i8:1 f4:2 i8:1 i8:1 i4:1 f4:2",),
    "largest_kernels.hide_lines": ("i8:1 f4:2 i8:1 i8:1 i4:1",),
    "largest_kernels.pick_largest": ("i8:1 f4:2 i8:2 f4:2",),
}
# The same for a fit of clicks.
CLICKS = {
    "background_sweep.solve_rows": (
        "i8:1 i4:1 f4:1 f4:1 i8:1 i8:1 f4:1 i8 i8 f4:1 f4:1 f4:1 f4 i8 i8:1 f4:2 f8:1",
    ),
    "products.count_majors": RATINGS["products.count_majors"],
    "products.put_triplets": RATINGS["products.put_triplets"],
    "products.put_transposed": RATINGS["products.put_transposed"],
    "column_kernels.pad": RATINGS["column_kernels.pad"],
    "products.matmat": RATINGS["products.matmat"],
    "tall_kernels.multiply_blocks": RATINGS["tall_kernels.multiply_blocks"],
    "ranking.top_k": RATINGS["ranking.top_k"],
    "piece_kernels.move_pieces": ("i8:2 i8 i8 i8",),
}
KERNELS = {"ratings": RATINGS, "clicks": CLICKS}


def compile_next(shares: Shares) -> bool:
    """Compile the first kernel that nobody has claimed; false where there is none."""
    kernels = KERNELS[shares.kind]
    name = next(filter(shares.claim, kernels), None)
    if name is None:
        return False
    module, _, function = name.partition(".")
    # A line that is wrong is no error: the one who needs the kernel compiles it.
    with suppress(Exception):
        compiled = getattr(import_module(f"pygeco.engines.cpu.{module}"), function).compiled
        for kinds in map(read_kinds, kernels[name]):
            if not read_kept(compiled, kinds):
                compiled.compile(kinds)
    shares.finish(name)
    return True


def read_kinds(words: str) -> tuple[Any, ...]:
    """numba's types from a line of the table."""
    found: list[Any] = [numba.int64]
    for word in words.split():
        code, _, dimensions = word.partition(":")
        kind = numba.from_dtype(np.dtype(code))
        found.append(numba.types.Array(kind, int(dimensions), "C") if dimensions else kind)
    return tuple(found)


def main(folder: Path, kind: str) -> None:
    """Compile until nothing is left to claim, nor the folder: then nobody waits any more."""
    shares = Shares(folder, kind, lambda: False)
    while compile_next(shares):
        pass
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
