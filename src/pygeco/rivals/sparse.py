"""Greedy selection for vectors, the ancestors of GECO: MP, OMP and FCFGS.

In the terms of the GECO paper's section 2, w is λ: a coordinate of w stands where a rank-one
matrix stands there, and the size of the support where the rank does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pygeco.algorithm.path import StepSequence, Stop
from pygeco.arrays.linalg import solve_psd
from pygeco.arrays.low_rank import Array
from pygeco.arrays.newton import NEWTON_STEPS, descend
from pygeco.losses import Loss, Squared, prepare_loss

__all__ = ["SparsePath", "SparseStep", "fcfgs", "mp", "omp"]


class SparseStep(NamedTuple):
    """A vector on the way.

    Attributes
    ----------
    support : tuple of int
        The coordinates chosen so far, in their order.
    w : array (n,)
        The vector.
    objective : float
        The mean loss of X w.
    """

    support: tuple[int, ...]
    w: Array
    objective: float


@dataclass(frozen=True, eq=False)
class SparsePath(StepSequence[SparseStep]):
    """One step for each selection: a sequence.

    Attributes
    ----------
    steps : tuple of SparseStep
        In order.
    stop : Stop
        Why it ended.
    """

    steps: tuple[SparseStep, ...]
    stop: Stop


def fcfgs(X: ArrayLike, y: ArrayLike, size: int, loss: str | Loss = "squared") -> SparsePath:
    """Fully corrective forward greedy selection: minimize f(w) = mean ℓ(Xw, y) with ‖w‖₀ ≤ size.

    The coordinate with the largest |∂f| is chosen, then f is minimized over all that are. For
    every w̄, f(w_k) − f(w̄) ≤ 2 β ‖w̄‖₁² / k (S. Shalev-Shwartz, N. Srebro and T. Zhang, "Trading
    accuracy for sparsity in optimization problems with sparsity constraints", SIAM Journal on
    Optimization 20 (2010), section 2).

    Parameters
    ----------
    X : array (N, n)
        The design.
    y : array (N,)
        The targets.
    size : int
        At most min(N, n).
    loss : str or Loss, default="squared"
        ℓ.

    Returns
    -------
    SparsePath

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco.rivals.sparse import fcfgs
    >>> fcfgs(np.eye(3), [1.0, 3.0, 2.0], 2)[-1].support
    (1, 2)
    """
    f = Risk(*_checked(X, y, loss))
    w: Array = np.zeros(f.X.shape[1])
    chosen, steps = list[int](), list[SparseStep]()
    for _ in range(_size(size, min(f.X.shape))):
        slope = np.abs(f.slope(w))
        slope[chosen] = 0.0  # zero at the minimum over them, up to rounding
        best = int(np.argmax(slope))
        if slope[best] <= MIN_SLOPE_SHARE * f.scale:
            return SparsePath(tuple(steps), Stop.STATIONARY)
        chosen.append(best)
        w = f.minimize_over(w, chosen)
        steps.append(SparseStep(tuple(chosen), w, f.value(w)))
    return SparsePath(tuple(steps), Stop.RANK)


def omp(X: ArrayLike, y: ArrayLike, size: int) -> SparsePath:
    """Orthogonal matching pursuit: the column nearest the residual, then least squares.

    Nearest is the largest |x_jᵀr| / ‖x_j‖ (Y. C. Pati, R. Rezaiifar and P. S. Krishnaprasad,
    Asilomar 1993): FCFGS for the squared loss and columns of norm one.

    Parameters
    ----------
    X : array (N, n)
        The columns.
    y : array (N,)
        The target.
    size : int
        At most min(N, n).

    Returns
    -------
    SparsePath
    """
    design, target, loss = _checked(X, y, "squared")
    norms = np.linalg.norm(design, axis=0)
    scale = np.where(norms > 0, norms, 1.0)
    path = fcfgs(design / scale, target, size, loss)
    steps = tuple(step._replace(w=step.w / scale) for step in path)
    return SparsePath(steps, path.stop)


def mp(X: ArrayLike, y: ArrayLike, max_iter: int) -> SparsePath:
    """Matching pursuit: the column nearest the residual, and its own weight only.

    (S. Mallat and Z. Zhang, IEEE Transactions on Signal Processing 41, 1993.) A column may be
    chosen again; `support` has each once. Each step lowers ‖r‖² by (x_jᵀr)² / ‖x_j‖².

    Parameters
    ----------
    X : array (N, n)
        The columns.
    y : array (N,)
        The target.
    max_iter : int
        The most steps.

    Returns
    -------
    SparsePath
    """
    design, target, _ = _checked(X, y, "squared")
    norms = np.linalg.norm(design, axis=0)
    unit = design / np.where(norms > 0, norms, 1.0)
    w, r, steps = np.zeros(design.shape[1]), target.copy(), list[SparseStep]()
    support: tuple[int, ...] = ()
    for _ in range(_size(max_iter, None)):
        along = unit.T @ r
        best = int(np.argmax(np.abs(along)))
        if abs(along[best]) <= MIN_SLOPE_SHARE * np.linalg.norm(target):
            return SparsePath(tuple(steps), Stop.STATIONARY)
        w = w + along[best] / norms[best] * (np.arange(len(w)) == best)
        r = r - along[best] * unit[:, best]
        support = support if best in support else (*support, best)
        steps.append(SparseStep(support, w, float(r @ r) / len(r)))
    return SparsePath(tuple(steps), Stop.ITERATIONS)


MIN_SLOPE_SHARE = 1e-13  # of the first slope; a smaller one is rounding


@dataclass(frozen=True, eq=False)
class Risk:
    """f(w) = mean ℓ(Xw, y)."""

    X: Array
    y: Array
    loss: Loss

    @property
    def scale(self) -> float:
        """The size that a slope has before anything is fitted."""
        return float(np.linalg.norm(self.slope(np.zeros(self.X.shape[1]))))

    def value(self, w: Array) -> float:
        return float(np.mean(self.loss.value(self.X @ w, self.y)))

    def slope(self, w: Array) -> Array:
        return self.X.T @ self.loss.slope(self.X @ w, self.y) / len(self.y)

    def minimize_over(self, w: Array, chosen: list[int]) -> Array:
        """Argmin of f over the chosen coordinates, the others zero, by Newton from w."""
        part = Risk(self.X[:, chosen], self.y, self.loss)

        def newton(b: Array) -> tuple[Array, float]:
            stiffness = self.loss.stiffness(part.X @ b, self.y)
            force = -part.slope(b)
            step = solve_psd(part.X.T @ (stiffness[:, None] * part.X) / len(self.y), force)
            return step, float(force @ step)

        steps = 1 if isinstance(self.loss, Squared) else NEWTON_STEPS
        out = np.zeros_like(w)
        out[chosen] = descend(part.value, newton, w[chosen], steps)[0]
        return out


def _checked(X: ArrayLike, y: ArrayLike, loss: str | Loss) -> tuple[Array, Array, Loss]:
    design, target = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
    if design.ndim != 2 or 0 in design.shape or not np.all(np.isfinite(design)):
        raise ValueError("X: expected a matrix of finite numbers, one row a sample.")
    if target.shape != design.shape[:1] or not np.all(np.isfinite(target)):
        raise ValueError(
            f"y: expected {len(design)} finite numbers, one a row of X, not shape {target.shape}."
        )
    settled, targets = prepare_loss(loss, target)
    return design, targets, settled


def _size(size: int, most: int | None) -> int:
    if not isinstance(size, (int, np.integer)) or size < 1 or (most is not None and size > most):
        limit = "" if most is None else f" and at most min(X.shape) = {most}"
        raise ValueError(f"size: expected an integer of at least 1{limit}, not {size!r}.")
    return int(size)
