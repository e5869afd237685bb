"""Matrices of rank two with noise of a known size, for tests of what a fit says about it."""

from typing import NamedTuple

import numpy as np


class NoisyCells(NamedTuple):
    """Fitted cells as MatrixCompletion takes them, the others, and the precision of the noise."""

    fitted: tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int]]
    others: tuple[np.ndarray, np.ndarray, np.ndarray]
    precision: float


def make_noisy_cells(shape, noise, share=0.6, seed=0) -> NoisyCells:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    Y = A + noise * rng.standard_normal(shape)
    known = rng.random(shape) < share
    rows, cols = np.nonzero(known)
    others = np.nonzero(~known)
    return NoisyCells((rows, cols, Y[known], shape), (*others, Y[~known]), noise**-2)
