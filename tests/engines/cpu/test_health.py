"""What numba has compiled, and where it is kept."""

from pathlib import Path

import numpy as np

from pygeco import Entries, LowRank
from pygeco.engines.cpu.health import cache


def test_kernels_that_ran_are_counted_and_their_folder_is_there() -> None:
    entries = Entries([0, 1], [1, 0], [1.0, 2.0])
    entries.gradient(LowRank.zero((2, 2))).matvec(np.ones(2))
    found = cache()
    assert Path(found.folder).is_dir()
    assert found.hits + found.misses >= 1
    assert found.megabytes > 0
