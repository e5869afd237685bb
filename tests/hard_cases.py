"""Matrices on which numerics go wrong, as dense arrays with NaN for missing cells."""

from __future__ import annotations

import numpy as np

from pygeco.data import make_low_rank

SCALES = (5e-324, 1e-300, 1e-150, 1e-30, 1e30, 1e100, 1e150, 1e300)


def _holes(X, share=0.4):
    X = np.array(X, float)
    gone = np.random.default_rng(0).random(X.shape) < share
    gone[0, 0] = False
    return np.where(gone, np.nan, X)


def _cases() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    exact = make_low_rank((12, 9), 2, random_state=1).to_dense()
    noisy = exact + 0.3 * rng.standard_normal(exact.shape)
    alone, diagonal = np.full((9, 8), np.nan), np.full((9, 6), np.nan)
    alone[3, 5] = 2.0
    diagonal[range(6), range(6)] = rng.standard_normal(6)
    lines = _holes(noisy)
    lines[[2, 5]] = lines[:, 4] = np.nan
    wide = np.full((400, 300), np.nan)  # 99.999 % missing
    wide[rng.integers(0, 400, 2), rng.integers(0, 300, 2)] = rng.standard_normal(2)
    return {
        "constant": np.full((8, 6), 3.5),
        "constant with holes": _holes(np.full((8, 6), 3.5)),
        "zeros": np.zeros((7, 5)),
        "rank deficient": exact,
        "exact low rank with holes": _holes(exact, 0.3),
        "one row": rng.standard_normal((1, 7)),
        "one column": rng.standard_normal((7, 1)),
        "one cell": np.array([[2.5]]),
        "one cell of many": alone,
        "missing rows and columns": lines,
        "one rating a column": diagonal,
        "duplicated columns": _holes(np.repeat(noisy[:, :3], 3, axis=1)),
        "nearly all missing": wide,
        "far from zero": _holes(noisy + 1e12),
        "labels": np.sign(_holes(noisy)),
        "mixed scales": _holes(noisy * 10.0 ** rng.integers(-30, 30, noisy.shape)),
        "wildly mixed scales": _holes(noisy * 10.0 ** rng.integers(-300, 300, noisy.shape)),
        "the largest numbers": _holes(np.sign(noisy) * np.finfo(float).max),
        **{f"times {scale:g}": _holes(noisy * scale) for scale in SCALES},
    }


CASES = _cases()


def single(X: np.ndarray) -> np.ndarray | None:
    """The same in float32, or None where that cannot hold it."""
    with np.errstate(over="ignore"):
        Y = X.astype(np.float32)
    return None if np.any(np.isinf(Y)) else Y
