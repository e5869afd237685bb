"""A fixed camera over a road: background and moving cars from rank 3 plus outliers.

    python benchmarks/video.py highway.avi --picture highway.png

Prints seconds and peak memory, and draws three frames with background and foreground beside them.
Needs the extras `video` and `plot`.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import av
import matplotlib
import numpy as np

from pygeco import RobustPCA

matplotlib.use("Agg")
from matplotlib import pyplot as plt


def frames(path: Path) -> tuple[np.ndarray, tuple[int, int]]:
    """Gray frames as the rows of a matrix of bytes, and the shape of one."""
    with av.open(str(path)) as film:
        pictures = [frame.to_ndarray(format="gray") for frame in film.decode(video=0)]
    return np.stack([picture.reshape(-1) for picture in pictures]), pictures[0].shape


def draw(model: RobustPCA, Y: np.ndarray, shape: tuple[int, int], path: Path) -> None:
    """Three frames: as filmed, the low-rank background, and the outliers."""
    shown = [len(Y) // 8, len(Y) // 2, len(Y) - len(Y) // 5]
    low = model.low_rank_
    figure, axes = plt.subplots(3, 3, figsize=(10, 7.5), layout="constrained")
    for row, frame in zip(axes, shown, strict=True):
        background = (low.U[frame] * low.s) @ low.V.T
        foreground = np.abs(model.outliers_[[frame]].toarray()[0])
        titles = (f"frame {frame}", "background", "foreground")
        for axis, picture, title in zip(
            row, (Y[frame], background, foreground), titles, strict=True
        ):
            top = 255 if title != "foreground" else 100
            axis.imshow(picture.reshape(shape), cmap="gray", vmin=0, vmax=top)
            axis.set_title(title)
            axis.axis("off")
    figure.savefig(path, dpi=110)


def main() -> None:
    data = Path(os.environ.get("PYGECO_DATA", "."))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("film", type=Path, nargs="?", default=data / "video" / "highway.avi")
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--picture", type=Path, default=Path("video.png"))
    given = parser.parse_args()
    start = time.perf_counter()
    Y, shape = frames(given.film)
    decoded, busy = time.perf_counter(), time.process_time()
    model = RobustPCA(given.rank, random_state=0).fit(Y)
    fitted, busy = time.perf_counter(), time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    draw(model, Y, shape, given.picture)
    print(f"{Y.shape[0]} x {Y.shape[1]}, rank {given.rank}: decoded in {decoded - start:.1f} s")
    print(
        f"separated in {fitted - decoded:.1f} s ({busy:.1f} s of CPU time), "
        f"{model.n_iter_} sweeps, peak {peak:.2f} GiB"
    )
    share = model.outliers_.nnz / Y.size
    print(f"noise {model.scale_:.2f} gray levels, {100 * share:.1f} % of the cells foreground")


if __name__ == "__main__":
    main()
