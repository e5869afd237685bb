"""What a fitted MatrixCompletion says of cells."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import answer, host, on
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.posterior import Posterior
from pygeco.engines import Engine, choose_engine
from pygeco.estimators._cluster import spread_out
from pygeco.estimators._frames import predicted_frame
from pygeco.estimators._ids import find_ids
from pygeco.estimators._input import entries_from
from pygeco.estimators._seen import Seen, count_contradictions, given_cells, was_fitted
from pygeco.estimators._tables import (
    deviation_at,
    find_listed,
    linear_at,
    located,
    predicted,
    rated,
)
from pygeco.estimators.cell_list import CellList
from pygeco.estimators.folding import Linear, Sizes, predict_hidden
from pygeco.io.tables import is_frame, is_table
from pygeco.losses import Loss, named
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases


def _has_probabilities(estimator: Any) -> bool:
    return type(named(estimator.loss)).probabilities is not Loss.probabilities


class Predicting:
    """Predictions, their deviations and scores, for positions, ids, tables and matrices."""

    factors_: LowRank
    biases_: Biases
    posterior_: Posterior | None
    loss_: Loss
    components_: Array
    seen_: Seen
    range_: tuple[float, float]
    total_weight_: float
    row_ids_: Any
    table_columns_: tuple[str, ...] | None
    clip: bool | str

    def predict(
        self,
        rows: Any,
        cols: ArrayLike | None = None,
        *,
        return_std: bool = False,
        unknown: str = "mean",
    ) -> Any:
        """The values at cells (rows[t], cols[t]), or at those of `pygeco.cells(...)`; given one
        matrix instead, its rows completed.

        On the scale of the observed values: a probability of the label 1 for the logistic loss,
        a mean count for Poisson, a mean level for the ordinal loss, the margin for the hinge.

        A model fitted from a table takes ids, or one table of ids: the answer then is a table of
        the same kind, with a column `prediction` (and `deviation` with `return_std`); for a Dask
        DataFrame a lazy one, which the workers compute where the rows are.

        An id that was not fitted stands for the average row or column (`unknown="mean"`), gives NaN
        ("nan") or an error ("error"). A table's column `known` marks such cells, and a warning
        tells of them where ids are given one by one.
        """
        check_is_fitted(self)
        if isinstance(rows, CellList):
            i, j = find_listed(self, rows)
            values = self._response(linear_at(self, i, j))
            return (values, deviation_at(self, i, j)) if return_std else values
        if cols is None and self._asks(rows):
            return predicted(self, rows, return_std, unknown)
        if cols is None and is_frame(rows):
            return predicted_frame(self, rows, return_std, unknown)
        if cols is None:
            if return_std:
                raise ValueError("return_std: needs rows and cols; a matrix has none.")
            return self._response(self.decision_function(rows))
        i = find_ids(self, "rows", rows, 0, unknown)
        j = find_ids(self, "cols", cols, 1, unknown)
        found = [self._response(linear_at(self, i, j))]
        if return_std:
            found.append(deviation_at(self, i, j))
        if unknown == "nan" and self.row_ids_ is not None:
            found = [np.where(on((i < 0) | (j < 0), x), np.nan, x) for x in found]
        values, *rest = (answer(x, rows, cols) for x in found)
        return (values, *rest) if rest else values

    def known_cells(self, X: Any) -> tuple[Any, Any, Array]:
        """Rows, columns (positions) and targets of a table's cells whose ids were fitted."""
        return given_cells(self, X)

    def was_fitted(self, rows: Any, cols: Any) -> Any:
        """Whether each cell, given by positions, is one that the model was fitted to."""
        check_is_fitted(self)
        return was_fitted(self, np.asarray(rows), np.asarray(cols))

    def _asks(self, X: Any) -> bool:
        """Whether X is a table of ids, which only a model fitted from a table understands; or an
        array of them, where the fit was to one.
        """
        if self.row_ids_ is None or not isinstance(X, np.ndarray) or X.ndim != 2:
            return self.row_ids_ is not None and is_table(X)
        return all(f"{k}" in (self.table_columns_ or ()) for k in range(2)) and X.shape[1] in (
            2,
            3,
            4,
        )

    def decision_function(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """The linear predictor ⟨u_i s, v_j⟩ + μ + b_i + c_j, for the same input as `predict`."""
        check_is_fitted(self)
        if isinstance(rows, CellList):
            return linear_at(self, *find_listed(self, rows))
        if cols is None and self._asks(rows):
            cells = located(self, rows)
            return linear_at(self, cells.rows, cells.cols)
        if cols is None:
            model: Any = self
            asked = rows if isinstance(rows, tuple) else (rows,)
            return answer(self._linear(model.transform(rows)), *asked)
        i, j = find_ids(self, "rows", rows, 0, "mean"), find_ids(self, "cols", cols, 1, "mean")
        return answer(linear_at(self, i, j), rows, cols)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """P(label −1 or 0) and P(label 1) at each cell; for the ordinal loss, P(each level)."""
        z = self.decision_function(rows, cols)
        return self.loss_.probabilities(z)

    def score(self, X: Any, y: Any = None) -> float:
        """Higher is better: −RMSE over the known cells of X.

        A table, `pygeco.cells(...)` or a tuple (rows, cols, values[, shape]) has cells of the
        fitted matrix; `y`, if given, the values of a table of pairs. A matrix with as many rows as
        the fit has, and no other value at any cell that was fitted, is that matrix too. The rows of
        any other are new, as scikit-learn's cross-validation asks about them: each cell is
        predicted from four fifths of the others of its row.

        For labels, counts and levels it is minus the mean loss, so minus the mean negative
        log-likelihood for the logistic and ordinal losses (and for Poisson, up to a constant).
        """
        check_is_fitted(self)
        if self._asks(X):
            cells = rated(self, X, y)
            return self._scored(host(linear_at(self, cells.rows, cells.cols)), cells.values)
        if isinstance(X, CellList) and X.row_ids is not None:
            z = linear_at(self, *find_listed(self, X))
            return self._scored(host(z), self.loss_.targets(X.values))
        held = entries_from(self, X, reset=False, loss=self.loss_, engine=self._engine)
        if not isinstance(X, (tuple, CellList)) and self._has_other_rows(held):
            return self._scored(*predict_hidden(self, held))
        if held.shape[0] != self.factors_.shape[0]:
            raise ValueError(
                f"X: has {held.shape[0]} rows, but the model was fitted with "
                f"{self.factors_.shape[0]}; score compares cells of the fitted matrix."
            )
        z = linear_at(self, held.rows(), held.by_row.indices)
        return self._scored(z, held.by_row.values)

    def _has_other_rows(self, held: Entries) -> bool:
        """Whether the rows of a matrix are not those of the fit."""
        if held.shape[0] != self.factors_.shape[0]:
            return True
        cells = held.by_row
        count = count_contradictions(self, held.rows(), host(cells.indices), host(cells.values))
        if count:
            warnings.warn(
                f"X: has other values than the fit at {count:,} cells, so its rows are taken for "
                "new ones; pass pygeco.cells(X) to compare it with the fitted rows.",
                UserWarning,
                stacklevel=3,
            )
        return count > 0

    def _scored(self, z: Array, y: Array) -> float:
        if not self.loss_.regression:
            return -float(np.mean(self.loss_.value(z, y), dtype=float))
        error = self._response(z) - y
        return -float(np.sqrt(np.mean(error.astype(float) ** 2)))

    def to_dense(self) -> Array:
        """The whole completed m × n matrix. Nothing else forms it."""
        check_is_fitted(self)
        b = self.biases_
        full = self.factors_.to_dense() + (b.mean + b.row[:, None] + b.col)
        return self._response(full.astype(self.factors_.U.dtype, copy=False))

    def _model(self) -> Linear | Posterior:
        """What rows and columns that were not fitted are folded into."""
        if self.posterior_ is not None:
            return self.posterior_
        counts = self._counts()
        model: Any = self
        levels = vars(self).get("levels_") or model._levels(*counts)  # older files have none
        rows, cols = (Sizes(*size) for size in zip(counts, levels, strict=True))
        switched = ("row" in model._fitted_offsets, "column" in model._fitted_offsets)
        return Linear(
            self.factors_,
            self.biases_,
            rows,
            cols,
            switched,
            vars(self)["penalty_"] if "penalty_" in vars(self) else model._penalty(),
            self.total_weight_,
            self.loss_,
        )

    def _counts(self) -> tuple[Any, Any]:
        """Cells of each row and of each column."""
        if spread_out(self):
            engine: Any = choose_engine(None, self.factors_.U)
            return tuple(cells.counts() for cells in engine.cells())
        return (
            np.diff(host(self.seen_.pointers)),
            np.bincount(host(self.seen_.indices), minlength=self.factors_.shape[1]),
        )

    @property
    def _engine(self) -> Engine:
        """Where the model is; of one on a cluster, its columns, which is what new rows need."""
        return choose_engine(None, self.factors_.V)

    def _linear(self, W: Array) -> Array:
        W = on(W, self.components_)
        full = W @ self.components_ + (self.biases_.mean + self.biases_.col)
        return full.astype(np.result_type(W, self.components_), copy=False)

    def _response(self, z: Array) -> Array:
        values = self.loss_.response(z)
        clips = vars(self).get("clip_", False) if self.clip == "auto" else self.clip
        return np.clip(values, *self.range_) if clips else values
