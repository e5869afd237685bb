"""Missing values of a table, filled from a low-rank model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from pygeco.algorithm.path import Path
from pygeco.algorithm.penalties import Ridge, Schatten
from pygeco.algorithm.refinements import refine
from pygeco.algorithm.solver import minimize
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, stream
from pygeco.estimators._common import seed
from pygeco.estimators._contents import IMPUTER, MAY_LACK
from pygeco.estimators._progress import Listener, attend_fit
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_file import Saveable
from pygeco.objectives.dense.objective import Dense

# What is not given is chosen among these, by the error at a tenth of the known cells.
MOST = 15
ALPHAS = (0.01, 0.1, 0.3, 1.0)
HELD = 0.1


class LowRankImputer(Saveable, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill NaN by a low-rank model of the standardised columns; known cells stay as they are.

    Columns are brought to mean 0 and deviation 1, so that their units do not matter. A missing
    cell of a row is predicted from the row's known cells alone, so rows that the fit has not seen
    are filled like any other. A row without known cells gets the column means. A column without
    known cells in the fit is kept, and filled with zero.

    Parameters
    ----------
    n_components : int or None, default=None
        The rank. None chooses it, zero included, by the error at a tenth of the known cells that
        are held out for it: one path gives every rank.
    alpha : float or None, default=None
        Ridge: the mean squared error plus `alpha` times the mean square of the model's cells.
        None chooses it by the same held-out cells, one path for each of a few values.
    random_state : int, RandomState, Generator or None, default=None
    n_jobs : int or None, default=None
        Threads that the fit runs on, for the same bits with any number; None or −1 is all cores.
    verbose : int, default=0
        1 writes a line a second about the fit to standard error, 2 one for every step of it.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        Orthonormal rows, in standardised units.
    mean_, scale_ : arrays (n_features,)
    n_components_ : int
    alpha_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import LowRankImputer
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 10.0, 100.0])
    >>> X[2, 1] = np.nan
    >>> LowRankImputer(1, alpha=1e-6, random_state=0).fit_transform(X)[2].round(3).tolist()
    [3.0, 30.0, 300.0]
    """

    _contents, _may_lack = IMPUTER, MAY_LACK

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> LowRankImputer:
        """Learn the components from a table with NaN for missing cells."""
        X = self._checked(X, reset=True)
        self._check_parameters(X.shape)
        known = ~np.isnan(X)
        self.mean_, self.scale_ = _moments(X, known)
        Z = self._standardised(X)
        number = seed(self.random_state)
        with attend_fit(self) as listener, threadpool_limits(1, "blas"):
            rank, self.alpha_ = self._chosen(Z, known, number, listener)
            A = LowRank.zero(X.shape)
            if rank:
                path = _path(Z, rank, self.alpha_, number, listener)
                A = refine(Dense(Z), path.A, _ridge(X.shape, self.alpha_)).A.svd()
        self.components_ = np.where(known.any(axis=0), A.V.T, 0.0)
        self.share_ = float(known.mean())
        self.n_components_ = A.rank
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """X with its NaN filled; every other cell keeps its bits."""
        check_is_fitted(self)
        X = self._checked(X, reset=False, copy=True)
        known = ~np.isnan(X)
        rows = ~known.all(axis=1)
        if rows.any():
            part = X[rows]
            Z = self._standardised(part)
            filled = _predicted(Z, self.components_.T, self.alpha_ * self.share_)
            with np.errstate(over="ignore"):
                filled = filled * self.scale_ + self.mean_
            ends = np.finfo(X.dtype)
            X[rows] = np.where(known[rows], part, np.clip(filled, ends.min, ends.max))
        return X

    def _standardised(self, X: Array) -> Array:
        return X / self.scale_ - self.mean_ / self.scale_  # the largest numbers have no difference

    def _chosen(
        self, Z: Array, known: NDArray[np.bool_], seed: int, listener: Listener | None
    ) -> tuple[int, float]:
        """Rank and alpha as given, or those with the smallest error at cells held out for it."""
        most = min(MOST, min(Z.shape) - 1) if self.n_components is None else self.n_components
        ranks = range(most + 1) if self.n_components is None else (most,)
        alphas = ALPHAS if self.alpha is None else (self.alpha,)
        held = known & (stream(Purpose.IMPUTER_CHOICE, seed).random(Z.shape) < HELD)
        if most < 1 or not held.any() or np.array_equal(held, known):  # nothing to choose by
            return ranks[0] if known.any() else 0, alphas[-1]
        if len(ranks) == len(alphas) == 1:
            return most, alphas[0]
        seen = np.where(held, np.nan, Z)
        errors = {}
        for alpha in alphas:
            path = _path(seen, most, alpha, seed, listener)
            models = {0: LowRank.zero(Z.shape)} | {step.rank: step.A for step in path}
            for rank in ranks:
                A = models.get(rank, path.A)  # the path may have stopped before
                filled = _predicted(seen, A.V, alpha * float(known.mean()))
                errors[rank, alpha] = float(np.sum((Z - filled)[held] ** 2))
        return min(errors, key=errors.__getitem__)

    def _checked(self, X: Any, *, reset: bool, copy: bool = False) -> Array:
        return validate_data(
            self,
            X,
            reset=reset,
            copy=copy,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )

    def _check_parameters(self, shape: tuple[int, int]) -> None:
        rank = self.n_components
        if rank is not None:
            if not isinstance(rank, (int, np.integer)) or isinstance(rank, bool):
                raise ValueError(f"n_components: expected an integer or None, not {rank!r}.")
            if not 0 <= rank <= min(shape):
                raise ValueError(
                    f"n_components: must be between 0 and {min(shape)} for data with "
                    f"n_samples={shape[0]} and n_features={shape[1]}, not {rank}."
                )
        if self.alpha is not None and not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"alpha: must be a finite number ≥ 0 or None, not {self.alpha!r}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _path(Z: Array, rank: int, alpha: float, seed: int, listener: Listener | None) -> Path:
    penalty = _ridge(Z.shape, alpha)
    return minimize(Dense(Z), rank, penalty=penalty, random_state=seed, callback=listener)


def _ridge(shape: tuple[int, int], alpha: float) -> Schatten:
    return Ridge(alpha / (shape[0] * shape[1]))


def _predicted(Z: Array, V: Array, ridge: float) -> Array:
    """Each row from its own known cells: argmin_w Σ (z − V w)² + ridge ‖w‖², times Vᵀ."""
    if V.shape[1] == 0 or np.isnan(Z).all():
        return np.zeros(Z.shape)
    data, start = Dense(Z), np.zeros((len(Z), V.shape[1]))
    return data.half_sweep(V, start, side="row", ridge=ridge / data.total_weight) @ V.T


def _moments(X: Array, known: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Mean and deviation of the known cells of each column; 0 and 1 where these say nothing."""
    count = np.maximum(known.sum(axis=0), 1)
    top = np.abs(np.where(known, X, 0)).max(axis=0, initial=0.0).astype(float)
    top = np.maximum(top, np.finfo(float).tiny)
    Z = np.where(known, X, 0) / top  # squares of huge values would overflow
    mean = Z.sum(axis=0) / count
    scale = np.sqrt(np.sum(np.where(known, Z - mean, 0) ** 2, axis=0) / count)
    flat = scale <= 1e-12
    return mean * top, np.where(flat, 1.0, scale * top)
