"""Matrix completion as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pygeco.estimators._input import entries_from
from pygeco.factors import Array
from pygeco.losses import Loss, named
from pygeco.objectives.biases import fit_biases, parts, with_scale
from pygeco.objectives.rows import fold_in
from pygeco.path import Step
from pygeco.penalties import Penalty
from pygeco.solver import Observer, Solver, minimize


def _has_probabilities(estimator: Any) -> bool:
    return type(named(estimator.loss)).probabilities is not Loss.probabilities


class MatrixCompletion(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Fill a matrix of which some cells are known, by a matrix of low rank.

    Parameters
    ----------
    rank : int, default=10
        The highest rank. The path holds every rank up to it.
    loss : str or Loss, default="squared"
        "squared", "huber", "pseudo-huber", "log-cosh", "absolute", "quantile", "logistic",
        "smoothed-hinge", "poisson", "ordinal", or an object from `pygeco.losses`. Labels are −1/+1
        or 0/1. Huber's threshold, left open, comes from the residuals of row and column means.
    penalty : Penalty or None, default=None
        `pygeco.Ridge(alpha)`, `pygeco.Trace(alpha)` or `pygeco.Schatten(alpha, p)`.
    biases : bool, str or tuple of "global", "row", "column", default=False
        Offsets μ + b_i + c_j, fitted first, by the same loss; the low-rank part models what they
        leave. For labels, counts and levels b and c have a standard normal prior.
    solver : Solver or None, default=None
        The choices of the algorithm; `Solver.paper()` is the paper's experiment.
    clip : bool, default=False
        Clip predictions to the range of the observed values, which can only help. Labels
        have no such range.
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
    loss_ : Loss
        The loss with what it left open estimated from the data.
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
            loss=named(self.loss),
            duplicates=self.duplicates,
            sample_weight=sample_weight,
        )
        entries = with_scale(entries, named(self.loss))
        self.loss_ = entries.loss
        self.range_ = self.loss_.bounds(entries.by_row.values)
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
        """The values at cells (rows[t], cols[t]); given one matrix instead, its rows completed.

        On the scale of the observed values: a probability of the label 1 for the logistic loss,
        a mean count for Poisson, a mean level for the ordinal loss, the margin for the hinge.
        """
        return self._response(self.decision_function(rows, cols))

    def decision_function(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """The linear predictor ⟨u_i s, v_j⟩ + μ + b_i + c_j, for the same input as `predict`."""
        check_is_fitted(self)
        if cols is None:
            return self._linear(self.transform(rows))
        m, n = self.factors_.shape
        i, j = _cell_index("rows", rows, m), _cell_index("cols", cols, n)
        found = self.factors_.entries(i, j) + self.biases_.at(i, j)
        return found.astype(self.factors_.U.dtype, copy=False)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """P(label −1 or 0) and P(label 1) at each cell; for the ordinal loss, P(each level)."""
        z = self.decision_function(rows, cols)
        return self.loss_.probabilities(z)

    def score(self, X: Any, y: Any = None) -> float:
        """Higher is better: −RMSE over the known cells of X, whose rows are those of the fit.

        For labels, counts and levels it is minus the mean loss, so minus the mean negative
        log-likelihood for the logistic and ordinal losses (and for Poisson, up to a constant).
        """
        check_is_fitted(self)
        held = entries_from(self, X, reset=False, loss=self.loss_)
        if held.shape[0] != self.factors_.shape[0]:
            raise ValueError(
                f"X: has {held.shape[0]} rows, but the model was fitted with "
                f"{self.factors_.shape[0]}; score compares cells of the fitted matrix."
            )
        rows = np.repeat(np.arange(held.shape[0]), held.by_row.counts())
        z, y = self.decision_function(rows, held.by_row.indices), held.by_row.values
        if not self.loss_.regression:
            return -float(np.mean(self.loss_.value(z, y), dtype=float))
        error = self._response(z) - y
        return -float(np.sqrt(np.mean(error.astype(float) ** 2)))

    def transform(self, X: Any) -> Array:
        """Coordinates of the rows of X in `components_`, each fitted to its known cells alone.

        By the loss of the fit, with its ridge if it had one. Without one, labels, counts and levels
        take a normal prior with the spread of the fitted rows' own coordinates.
        """
        check_is_fitted(self)
        entries = entries_from(
            self, X, reset=False, loss=self.loss_, duplicates=self.duplicates, allow_empty=True
        )
        fitted = fold_in(
            entries,
            self.factors_.V.astype(float, copy=False),
            offset=self.biases_.mean + self.biases_.col,
            ridge=self._row_ridge(),
        )
        return fitted.astype(entries.dtype, copy=False)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The full rows, dense, as `predict` would give them: coordinates times `components_`, plus
        column offsets, on the scale of the observed values.
        """
        check_is_fitted(self)
        return self._response(self._linear(np.asarray(X)))

    def to_dense(self) -> Array:
        """The whole completed m × n matrix. Nothing else forms it."""
        check_is_fitted(self)
        b = self.biases_
        full = self.factors_.to_dense() + (b.mean + b.row[:, None] + b.col)
        return self._response(full.astype(self.factors_.U.dtype, copy=False))

    def _linear(self, W: Array) -> Array:
        full = W @ self.components_ + (self.biases_.mean + self.biases_.col)
        return full.astype(np.result_type(W, self.components_), copy=False)

    def _response(self, z: Array) -> Array:
        values = self.loss_.response(z)
        return np.clip(values, *self.range_) if self.clip else values

    def _row_ridge(self) -> Any:
        """The weight on each squared coordinate of a new row, for the sum of its losses."""
        ridge = self.penalty.quadratic if self.penalty is not None else None
        if ridge is not None or self.loss_.regression:
            return (ridge or 0.0) * self.total_weight_
        s = self.singular_values_.astype(float)
        return 0.5 * len(self.factors_.U) / np.maximum(s, 1e-6 * s.max(initial=1e-300)) ** 2

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
