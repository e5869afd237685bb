"""Matrix completion as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pygeco.estimators._input import entries_from
from pygeco.factors import Array
from pygeco.losses import Loss
from pygeco.objectives.biases import fit_biases, parts
from pygeco.objectives.rows import fold_in
from pygeco.path import Step
from pygeco.penalties import Penalty
from pygeco.solver import Observer, Solver, minimize


class MatrixCompletion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Fill a matrix of which some cells are known, by a matrix of low rank.

    Parameters
    ----------
    rank : int, default=10
        The highest rank. The path holds every rank up to it.
    loss : "squared" or a loss object, default="squared"
    penalty : Penalty or None, default=None
        `pygeco.Ridge(alpha)`, `pygeco.Trace(alpha)` or `pygeco.Schatten(alpha, p)`.
    biases : bool, str or tuple of "global", "row", "column", default=False
        Offsets μ + b_i + c_j, fitted first; the low-rank part models what they leave.
    solver : Solver or None, default=None
        The choices of the algorithm; `Solver.paper()` is the paper's experiment.
    clip : bool, default=False
        Clip predictions to the range of the observed values, which can only help.
    duplicates : "error", "mean", "sum" or "last", default="error"
        What to do with a cell that is given more than once.
    callback : callable or None, default=None
        Called with each `Step`; a true answer stops the fit.
    observer : Observer or None, default=None
        Told of the start, of each step and of the stop.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    path_ : Path
        One step per rank: objective, certificate, seconds, passes, and the matrix.
    factors_ : LowRank
        The matrix of the highest rank, `U diag(s) Vᵀ`.
    components_ : array (rank_, n)
        Vᵀ.
    singular_values_ : array (rank_,)
    rank_, n_iter_ : int
    stop_reason_ : Stop
    biases_ : Biases
    """

    def __init__(
        self,
        rank: int = 10,
        *,
        loss: str | Loss = "squared",
        penalty: Penalty | None = None,
        biases: bool | str | tuple[str, ...] = False,
        solver: Solver | None = None,
        clip: bool = False,
        duplicates: str = "error",
        callback: Callable[[Step], object] | None = None,
        observer: Observer | None = None,
        random_state: Any = None,
    ) -> None:
        self.rank = rank
        self.loss = loss
        self.penalty = penalty
        self.biases = biases
        self.solver = solver
        self.clip = clip
        self.duplicates = duplicates
        self.callback = callback
        self.observer = observer
        self.random_state = random_state

    def fit(
        self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None
    ) -> MatrixCompletion:
        """Fit to a sparse matrix (its stored cells), a dense array (its cells that are not NaN)
        or a tuple (rows, cols, values[, shape]). All three give the same model.

        `sample_weight` goes with the tuple form: one weight per value.
        """
        if sample_weight is not None and not isinstance(X, tuple):
            raise ValueError("sample_weight: needs X as (rows, cols, values, shape).")
        entries = entries_from(
            self,
            X,
            reset=True,
            loss=self.loss,
            duplicates=self.duplicates,
            sample_weight=sample_weight,
        )
        self.range_ = float(entries.by_row.values.min()), float(entries.by_row.values.max())
        self.biases_ = fit_biases(entries, parts(self.biases))
        path = minimize(
            entries.shifted(self.biases_.mean + self.biases_.row, self.biases_.col),
            self.rank,
            self.solver,
            penalty=self.penalty,
            random_state=self._seed(),
            callback=self.callback,
            observer=self.observer,
        )
        self.path_ = path
        self.total_weight_ = entries.total_weight
        self.factors_ = path.A.svd().astype(entries.dtype)
        self.components_ = np.ascontiguousarray(self.factors_.V.T)
        self.singular_values_ = self.factors_.s
        self.rank_ = self.factors_.rank
        self.n_iter_ = len(path)
        self.stop_reason_ = path.stop
        self._n_features_out = self.rank_
        return self

    def predict(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """The values at cells (rows[t], cols[t]); given one matrix instead, its rows completed."""
        check_is_fitted(self)
        if cols is None:
            return self.inverse_transform(self.transform(rows))
        m, n = self.factors_.shape
        i, j = _cell_index("rows", rows, m), _cell_index("cols", cols, n)
        found = self.factors_.entries(i, j) + self.biases_.at(i, j)
        return self._clipped(found.astype(self.factors_.U.dtype, copy=False))

    def score(self, X: Any, y: Any = None) -> float:
        """−RMSE over the known cells of X, whose rows are those of the fit: higher is better."""
        check_is_fitted(self)
        held = entries_from(self, X, reset=False)
        if held.shape[0] != self.factors_.shape[0]:
            raise ValueError(
                f"X: has {held.shape[0]} rows, but the model was fitted with "
                f"{self.factors_.shape[0]}; score compares cells of the fitted matrix."
            )
        rows = np.repeat(np.arange(held.shape[0]), held.by_row.counts())
        error = self.predict(rows, held.by_row.indices) - held.by_row.values
        return -float(np.sqrt(np.mean(error.astype(float) ** 2)))

    def transform(self, X: Any) -> Array:
        """Coordinates of the rows of X in `components_`, each fitted to its known cells alone."""
        check_is_fitted(self)
        entries = entries_from(self, X, reset=False, duplicates=self.duplicates, allow_empty=True)
        ridge = self.penalty.quadratic if self.penalty is not None else None
        fitted = fold_in(
            entries,
            self.factors_.V.astype(float, copy=False),
            offset=self.biases_.mean + self.biases_.col,
            ridge=(ridge or 0.0) * self.total_weight_,
        )
        return fitted.astype(entries.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The full rows, dense: coordinates times `components_`, plus column offsets."""
        check_is_fitted(self)
        W = np.asarray(X)
        full = W @ self.components_ + (self.biases_.mean + self.biases_.col)
        return self._clipped(full.astype(np.result_type(W, self.components_), copy=False))

    def to_dense(self) -> Array:
        """The whole completed m × n matrix. Nothing else forms it."""
        check_is_fitted(self)
        b = self.biases_
        full = self.factors_.to_dense() + (b.mean + b.row[:, None] + b.col)
        return self._clipped(full.astype(self.factors_.U.dtype, copy=False))

    def _clipped(self, values: Array) -> Array:
        return np.clip(values, *self.range_) if self.clip else values

    def _seed(self) -> Any:
        state = self.random_state
        if isinstance(state, (int, np.integer, np.random.Generator)) or state is None:
            return state
        return int(check_random_state(state).randint(2**31 - 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _cell_index(name: str, given: ArrayLike, size: int) -> Any:
    index = np.asarray(given)
    if index.dtype.kind not in "iu":
        raise ValueError(f"{name}: expected integers, not {index.dtype}.")
    if index.size and (index.min() < 0 or index.max() >= size):
        wrong = index[(index < 0) | (index >= size)].flat[0]
        raise ValueError(f"{name}: index {wrong} is outside 0 … {size - 1}, the fitted matrix.")
    return index
