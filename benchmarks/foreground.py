"""Foreground of a film: outliers of rank 3 against the difference from the temporal median.

    python benchmarks/foreground.py highway.avi

No one has drawn the outlines of the cars in this film, so the reference is made: textured ellipses
of known outline move over every eighth real frame, in front of the scene's own light, leaves and
traffic. Found and true pixels are compared where no real car ever drives (the wood on the left and
the verge on the right), so that every pixel that counts is known exactly.
F = 2 |found ∩ true| / (|found| + |true|), at a range of thresholds on the absolute residual, the
same for both ways; then at 3.5 robust deviations of each way's own residuals, one for all pixels
and one a pixel. The latter is what RobustPCA does by default. Needs the extra `video`.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import numpy as np

from pygeco import RobustPCA
from video import frames

EVERY = 8  # frames, of which one is taken
OBJECTS = 8
DEVIATIONS = 3.5 * 1.4826  # of a Gaussian, over the median of its absolute value
THRESHOLDS = np.arange(4.0, 80.0, 2.0)  # gray levels


def find_quiet(shape: tuple[int, int]) -> np.ndarray:
    """Where no car of highway.avi ever drives: the wood, and the verge below the other road."""
    y, x = np.indices(shape)
    return (x + y < 170) | ((x > 268) & (y > 45))


def paste_objects(film: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The film (T, height, width) with ellipses that move across it, and where these are."""
    film, truth = film.copy(), np.zeros(film.shape, bool)
    shape = film.shape[1:]
    y, x = np.indices(shape)
    for _ in range(OBJECTS):
        height, width = rng.uniform(5, 16, 2)
        start, speed = rng.uniform((0, 0), shape), rng.uniform(1, 4, 2) * rng.choice([-1, 1], 2)
        gray, texture = rng.uniform(20, 235), rng.normal(0, 8, (64, 64))
        for t in range(len(film)):
            cy, cx = (start + speed * t) % shape
            inside = ((y - cy) / height) ** 2 + ((x - cx) / width) ** 2 <= 1
            surface = gray + texture[(y - int(cy)) % 64, (x - int(cx)) % 64]
            film[t][inside] = surface[inside].clip(0, 255)
            truth[t] |= inside
    return film, truth


def f_measure(found: np.ndarray, truth: np.ndarray) -> float:
    return float(2 * np.count_nonzero(found & truth) / (found.sum() + truth.sum()))


def main() -> None:
    data = Path(os.environ.get("PYGECO_DATA", "."))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("film", type=Path, nargs="?", default=data / "video" / "highway.avi")
    parser.add_argument("--rank", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    Y, shape = frames(given.film)
    film = Y[::EVERY].reshape(-1, *shape)
    film, truth = paste_objects(film, np.random.default_rng(given.seed))
    X, quiet = film.reshape(len(film), -1), find_quiet(shape).reshape(-1)
    truth = truth.reshape(X.shape)[:, quiet]
    busy = time.process_time()
    model = RobustPCA(given.rank, random_state=0).fit(X)
    print(f"{X.shape[0]} x {X.shape[1]}: {time.process_time() - busy:.1f} s of CPU time")
    low, median = model.low_rank_, np.median(X, axis=0)
    away = np.abs(X - median)
    background = (low.U * low.s) @ low.V[quiet].T
    ways = {
        f"rank {given.rank}": (
            np.abs(X[:, quiet] - background), 3.5 * model.scale_, model.threshold_[quiet],
        ),
        "median": (
            away[:, quiet], DEVIATIONS * float(np.median(away)),
            DEVIATIONS * np.median(away[:, quiet], axis=0),
        ),
    }  # fmt: skip
    scores = {
        name: np.array([f_measure(rest > t, truth) for t in THRESHOLDS])
        for name, (rest, _, _) in ways.items()
    }
    print("threshold  " + "".join(f"{name:>8}" for name in ways))
    for t, *both in zip(THRESHOLDS, *scores.values(), strict=True):
        print(f"{t:9.0f}  " + "".join(f"{f:8.3f}" for f in both))
    for name, (rest, one, own) in ways.items():
        best = int(np.argmax(scores[name]))
        print(
            f"{name}: best F {scores[name][best]:.4f} at {THRESHOLDS[best]:.0f} gray levels; "
            f"at 3.5 deviations {f_measure(rest > one, truth):.4f} of all pixels ({one:.1f}), "
            f"{f_measure(rest > own, truth):.4f} of each ({np.median(own):.1f}, the median)"
        )


if __name__ == "__main__":
    main()
