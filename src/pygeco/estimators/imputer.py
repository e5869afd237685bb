"""Missing values of a table, filled from a Gaussian or a low-rank model of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Path
from pygeco.algorithm.penalties import Ridge, Schatten
from pygeco.algorithm.refinements import refine
from pygeco.algorithm.run import minimize
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.streams import Purpose, RandomState, stream
from pygeco.bayes.table_gaussian import TableGaussian, fit_table
from pygeco.estimators._input import allow_missing, check_components
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_contents import IMPUTER, MAY_LACK
from pygeco.io.model_file import Saveable
from pygeco.objectives.dense.objective import Dense

# Where one of rank and ridge is given, the other is chosen among these, by the error at a tenth of
# the known cells.
MAX_CHOSEN_RANK = 15
ALPHAS = (0.01, 0.1, 0.3, 1.0)
HELD_OUT_SHARE = 0.1


class LowRankImputer(Saveable, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fill NaN from the columns' relations; known cells stay as they are.

    Columns are brought to mean 0 and deviation 1, so that their units do not matter. By default
    their rows are modeled as one Gaussian whose covariance the evidence shrinks as far as the
    table asks for: nothing is to be tuned. A table with more columns than rows, or very many
    columns, has a covariance of low rank plus noise instead, its rank chosen by the evidence too.
    With `n_components` or `alpha`, the model is a low-rank matrix with that rank and ridge.

    A missing cell of a row is predicted from the row's known cells alone, so rows that the fit has
    not seen are filled like any other. A row without known cells gets the model's means (those of
    the columns, corrected for the cells that are missing). A column without known cells in the fit
    is kept, and filled with zero.

    Parameters
    ----------
    n_components : int or None, default=None
        The rank. None leaves it to the evidence; with `alpha` given, it is chosen, zero included,
        by the error at a tenth of the known cells that are held out for it: one path gives every
        rank.
    alpha : float or None, default=None
        Ridge: the mean squared error plus `alpha` times the mean square of the model's cells.
        None leaves it to the evidence; with `n_components` given, it is chosen by held-out cells,
        one path for each of a few values.
    random_state : int, RandomState, Generator or None, default=None
        Of the held-out cells and of the directions of a fit of low rank.
    n_jobs : int or None, default=None
        Threads that the fit runs on, for the same bits with any number; None or −1 is all cores.
    verbose : int, default=0
        1 writes a line a second about the fit to standard error, 2 one for every step of it.

    Attributes
    ----------
    components_ : array (n_components_, n_features)
        Orthonormal rows, in standardized units.
    deviations_ : array (n_components_,)
        The deviation of a row along each of them; ones where rank or ridge was given.
    noise_ : float
        The variance of a cell beside them, or the ridge of a row, in standardized units.
    mean_, scale_ : arrays (n_features,)
        What columns are standardized by.
    n_components_ : int
        Up to one less than the features where a covariance was fitted.
    alpha_ : float or None
        The ridge given or chosen; None where the evidence was used.
    n_features_in_ : int
        The columns of X.

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
        random_state: RandomState = None,
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
        """Learn the components from a table with NaN for missing cells.

        Parameters
        ----------
        X : array (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        LowRankImputer
            The estimator itself.
        """
        X = self._check_table(X, reset=True)
        self._check_parameters(X.shape)
        known = ~np.isnan(X)
        self.mean_, self.scale_, varies = measure_columns(X, known)
        Z = self._standardize(X)
        number = take_seed(self.random_state)
        with attend_fit(self) as listener, threadpool_limits(1, "blas"):
            if self.n_components is None and self.alpha is None:
                self._fit_gaussian(Z, varies, number, listener)
            else:
                self._fit_low_rank(Z, known, number, listener)
        self.n_components_ = len(self.components_)
        return self

    def _fit_gaussian(
        self, Z: Array, varies: NDArray[np.bool_], seed: int, listener: Listener
    ) -> None:
        """Rank and noise by the evidence; columns that say nothing stay at their means."""
        found = fit_table(Z[:, varies], seed, listener)
        self.components_ = np.zeros((len(found.components), Z.shape[1]))
        self.components_[:, varies] = found.components
        self.mean_[varies] += found.mean * self.scale_[varies]
        self.deviations_, self.noise_ = found.deviations, found.noise
        self.alpha_: float | None = None

    def _fit_low_rank(
        self, Z: Array, known: NDArray[np.bool_], seed: int, listener: Listener
    ) -> None:
        """The rank and ridge that are given; what is not is chosen by held-out cells."""
        rank, alpha = self._choose(Z, known, seed, listener)
        A = LowRank.zero(Z.shape)
        if rank:
            path = _fit_path(Z, rank, alpha, seed, listener)
            A = refine(Dense(Z), path.A, _make_ridge(Z.shape, alpha)).A.svd()
        self.components_ = np.where(known.any(axis=0), A.V.T, 0.0)
        self.deviations_ = np.ones(A.rank)
        self.alpha_, self.noise_ = alpha, float(alpha * known.mean())

    def transform(self, X: Any) -> NDArray[Any]:
        """Fill the NaN of X; every other cell keeps its bits.

        Parameters
        ----------
        X : array (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_features)
            A copy.
        """
        check_is_fitted(self)
        X = self._check_table(X, reset=False, copy=True)
        known = ~np.isnan(X)
        rows = ~known.all(axis=1)
        if rows.any():
            part = X[rows]
            Z = self._standardize(part)
            filled = self._fill(Z)
            with np.errstate(over="ignore"):
                filled = filled * self.scale_ + self.mean_
            ends = np.finfo(X.dtype)
            X[rows] = np.where(known[rows], part, np.clip(filled, ends.min, ends.max))
        return X

    def _fill(self, Z: Array) -> Array:
        """Each row from its own known cells, by the smaller of two exact systems.

        A covariance has about as many components as columns: its systems are those of the missing
        cells. Those of a low-rank model are in its components.
        """
        V, d = self.components_, Z.shape[1]
        if self.alpha_ is None and 2 * len(V) >= d:
            return TableGaussian(np.zeros(d), V, self.deviations_, self.noise_).fill(Z)
        return _predict_rows(Z, V.T * self.deviations_, self.noise_)

    def _standardize(self, X: Array) -> Array:
        return X / self.scale_ - self.mean_ / self.scale_  # the largest numbers have no difference

    def _choose(
        self, Z: Array, known: NDArray[np.bool_], seed: int, listener: Listener
    ) -> tuple[int, float]:
        """Rank and alpha as given, or those with the smallest error at cells held out for it."""
        most = (
            min(MAX_CHOSEN_RANK, min(Z.shape) - 1)
            if self.n_components is None
            else self.n_components
        )
        ranks = range(most + 1) if self.n_components is None else (most,)
        alphas = ALPHAS if self.alpha is None else (self.alpha,)
        held = known & (stream(Purpose.IMPUTER_CHOICE, seed).random(Z.shape) < HELD_OUT_SHARE)
        if most < 1 or not held.any() or np.array_equal(held, known):  # nothing to choose by
            return ranks[0] if known.any() else 0, alphas[-1]
        if len(ranks) == len(alphas) == 1:
            return most, alphas[0]
        seen = np.where(held, np.nan, Z)
        errors = {}
        for alpha in alphas:
            path = _fit_path(seen, most, alpha, seed, listener)
            models = {0: LowRank.zero(Z.shape)} | {step.rank: step.A for step in path}
            for rank in ranks:
                A = models.get(rank, path.A)  # the path may have stopped before
                filled = _predict_rows(seen, A.V, alpha * float(known.mean()))
                errors[rank, alpha] = float(np.sum((Z - filled)[held] ** 2))
        return min(errors, key=errors.__getitem__)

    def _check_table(self, X: Any, *, reset: bool, copy: bool = False) -> Array:
        return validate_data(
            self,
            X,
            reset=reset,
            copy=copy,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )

    def _check_parameters(self, shape: tuple[int, int]) -> None:
        if self.n_components is not None:
            check_components(self.n_components, shape, least=0, instead=" or None")
        if self.alpha is not None and not (np.isfinite(self.alpha) and self.alpha >= 0):
            raise ValueError(f"alpha: must be a finite number ≥ 0 or None, not {self.alpha!r}.")

    def __sklearn_tags__(self) -> Any:
        return allow_missing(super().__sklearn_tags__())


def _fit_path(Z: Array, rank: int, alpha: float, seed: int, listener: Listener) -> Path:
    penalty = _make_ridge(Z.shape, alpha)
    return minimize(Dense(Z), rank, penalty=penalty, random_state=seed, observer=listener)


def _make_ridge(shape: tuple[int, int], alpha: float) -> Schatten:
    return Ridge(alpha / (shape[0] * shape[1]))


def _predict_rows(Z: Array, V: Array, ridge: float) -> Array:
    """Each row from its own known cells: argmin_w Σ (z − V w)² + ridge ‖w‖², times Vᵀ."""
    if V.shape[1] == 0 or np.isnan(Z).all():
        return np.zeros(Z.shape)
    data, start = Dense(Z), np.zeros((len(Z), V.shape[1]))
    return data.half_sweep(V, start, side="row", ridge=ridge / data.total_weight) @ V.T


def measure_columns(X: Array, known: NDArray[np.bool_]) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Mean and deviation of the known cells of each column; 0 and 1 where these say nothing.

    And which columns vary.
    """
    count = np.maximum(known.sum(axis=0), 1)
    top = np.abs(np.where(known, X, 0)).max(axis=0, initial=0.0).astype(float)
    top = np.maximum(top, np.finfo(float).tiny)
    Z = np.where(known, X, 0) / top  # squares of huge values would overflow
    mean = Z.sum(axis=0) / count
    scale = np.sqrt(np.sum(np.where(known, Z - mean, 0) ** 2, axis=0) / count)
    flat = scale <= 1e-12
    return mean * top, np.where(flat, 1.0, scale * top), ~flat
