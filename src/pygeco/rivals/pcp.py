"""Principal component pursuit by the inexact augmented Lagrange multiplier method.

Min ‖L‖_tr + λ ‖S‖₁ such that L + S = Y (Candès, Li, Ma and Wright 2011); the method is Algorithm 5
of Lin, Chen and Ma, arXiv:1009.5055 (2010), with a full SVD at each iteration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from pygeco.arrays.low_rank import Array
from pygeco.losses import check_size
from pygeco.rivals.base import check_positive


class Decomposition(NamedTuple):
    """Y = low_rank + sparse, up to the tolerance.

    Attributes
    ----------
    low_rank, sparse : arrays (m, n)
        The two parts, both dense arrays.
    rank : int
        Of the low-rank part.
    n_iter : int
        How many were taken.
    converged : bool
        Whether the tolerance was reached.
    """

    low_rank: Array
    sparse: Array
    rank: int
    n_iter: int
    converged: bool


def principal_component_pursuit(
    Y: ArrayLike,
    *,
    weight: float | None = None,
    growth: float = 1.5,
    tol: float = 1e-7,
    max_iter: int = 1000,
) -> Decomposition:
    """Take Y (m, n) apart into a low-rank and a sparse matrix. One SVD of its size an iteration.

    μ starts at 1.25/‖Y‖₂. The defaults are the authors' settings.

    Parameters
    ----------
    Y : array (m, n)
        Finite numbers: the method knows no missing cells.
    weight : float or None, default=None
        λ; None is 1/√max(m, n).
    growth : float, default=1.5
        The factor by which μ grows.
    tol : float, default=1e-7
        It stops at ‖Y − L − S‖_F ≤ tol ‖Y‖_F.
    max_iter : int, default=1000
        The most iterations.

    Returns
    -------
    Decomposition

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.rivals import principal_component_pursuit
    >>> Y = np.ones((20, 20))
    >>> Y[3, 4] = 50.0
    >>> found = principal_component_pursuit(Y)
    >>> found.rank, found.sparse[3, 4].round(3).item()
    (1, 49.0)
    """
    Y = np.asarray(Y)
    if Y.ndim != 2 or Y.dtype.kind not in "fiub" or not np.all(np.isfinite(Y)):
        raise ValueError(
            "Y: expected a matrix of finite numbers; the method knows no missing cells."
        )
    Y = Y.astype(float)
    check_size("Y", Y)
    lam = 1 / np.sqrt(max(Y.shape)) if weight is None else check_positive("weight", weight)
    if check_positive("growth", growth) < 1:
        raise ValueError(f"growth: must be at least 1, not {growth!r}.")
    top = float(np.abs(Y).max(initial=0.0))
    unit = 2.0 ** np.floor(np.log2(top)) if top else 1.0  # squares of tiny numbers are zero
    Y = Y / unit
    size = float(np.linalg.norm(Y))
    L, S, rank = np.zeros_like(Y), np.zeros_like(Y), 0
    if size == 0.0:
        return Decomposition(L, S, 0, 0, True)
    top = float(np.linalg.norm(Y, 2))
    multiplier = Y / max(top, float(np.abs(Y).max()) / lam)
    mu = 1.25 / top
    ceiling = 1e7 * mu
    for iteration in range(1, max_iter + 1):
        P, s, Qt = scipy.linalg.svd(
            Y - S + multiplier / mu, full_matrices=False, overwrite_a=True, check_finite=False
        )
        rank = int(np.count_nonzero(s > 1 / mu))
        L = (P[:, :rank] * (s[:rank] - 1 / mu)) @ Qt[:rank]
        S = Y - L + multiplier / mu
        S = np.sign(S) * np.maximum(np.abs(S) - lam / mu, 0)
        rest = Y - L - S
        multiplier += mu * rest
        mu = min(growth * mu, ceiling)
        if np.linalg.norm(rest) <= tol * size:
            return Decomposition(unit * L, unit * S, rank, iteration, True)
    return Decomposition(unit * L, unit * S, rank, max_iter, False)
