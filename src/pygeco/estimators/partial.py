"""A fitted model that learns more: new columns folded in, and new cells without another fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from pygeco.arrays.kinds import answer, foreign, on, ones
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.sweep import new_rows
from pygeco.estimators._input import cells_from
from pygeco.estimators._marks import drop_marks
from pygeco.estimators._recognize import take_cells
from pygeco.estimators._seen import sort_cells
from pygeco.estimators._whole import all_or_nothing
from pygeco.estimators.cell_list import CellList
from pygeco.estimators.folding import Linear, Sizes, fold
from pygeco.io.tables import is_table, names_of, positions
from pygeco.io.value_scale import parse_marks
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases
from pygeco.objectives.entries.half_sweep import Side

Places = tuple[NDArray[np.int64], NDArray[np.int64]]


class Updating:
    """`transform_columns`, `complete_columns` and `partial_fit` of `MatrixCompletion`."""

    def transform_columns(self, X: Any) -> Array:
        """Coordinates of new columns, each fitted to its known cells alone: (k, rank_), or
        (k, rank_ + 1) with offsets for columns.

        X (m, k) has the rows of the fit, in any form that `fit` takes. A column is then
        `factors_.U` times its coordinates, plus its offset and those of the rows. By the loss,
        penalty and prior of the fit, as `transform` does for rows.
        """
        check_is_fitted(self)
        model: Any = self
        entries = self._columns(X)
        found = fold(model._model().T, model.factors_.T, entries)
        parts = [found.coordinates]
        if "column" in model._fitted_offsets:
            parts.append(found.offsets)
        W = np.column_stack(parts).astype(entries.dtype, copy=False)
        return answer(W, *(X if isinstance(X, tuple) else (X,)))

    def complete_columns(self, X: Any) -> Array:
        """New columns in full, (m, k), as `predict` gives them for rows."""
        model: Any = self
        W = on(self.transform_columns(X), model.factors_.U)
        basis = model.factors_.U
        if "column" in model._fitted_offsets:
            basis = np.column_stack([basis, ones(len(basis), basis, basis.dtype)])
        z = basis @ W.T + (model.biases_.mean + model.biases_.row)[:, None]
        z = z.astype(np.result_type(W, basis), copy=False)
        return answer(model._response(z), *(X if isinstance(X, tuple) else (X,)))

    def _columns(self, X: Any) -> Entries:
        """The transposed cells of new columns."""
        model: Any = self
        settings = {"duplicates": model.duplicates, "engine": model._engine}
        entries = cells_from(X, loss=model.loss_, allow_empty=True, **settings).T
        m = model.factors_.shape[0]
        if entries.shape[1] != m:
            raise ValueError(
                f"X: has {entries.shape[1]} rows, but the model was fitted with {m}; new columns "
                "have the rows of the fit."
            )
        return entries

    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None) -> Self:
        """Take in new cells without another fit.

        X holds the new cells in any form that `fit` takes. A cell that is known already gets its
        new value. Rows and columns beyond the fitted shape are added. Where the fit had ids, X is
        a table too, and new ids are added.

        Each row with a new cell is fitted again to all its cells given the columns, then each such
        column given the rows, then those rows again: at the end every one of these rows is what
        `transform` makes of it (with a trace norm, nearly). All else stays: other rows and columns,
        the penalty or the prior and the noise, the rank, `path_`. Where many are new, fit again.

        O(|cells of those rows and columns| s²). A model that was never fitted is fitted.
        """
        if not hasattr(self, "factors_"):
            return self.fit(X, y, sample_weight=sample_weight)  # type: ignore[attr-defined]
        model: Any = self
        if foreign(model.factors_.U):
            raise ValueError("X: partial_fit runs on the CPU; call to('cpu') first.")
        if model.average_ is not None:
            raise ValueError(
                "posterior: the mean of draws cannot take in new cells; fit again, or use "
                "posterior=0."
            )
        new, places, ids = _arrived(model, X, y, sample_weight)
        entries = self._merged(new, places)
        rows, cols = (
            _touched(cells.counts(), place, size)
            for cells, place, size in zip(
                (new.by_row, new.by_col), places, entries.shape, strict=True
            )
        )
        if not len(rows) and not len(cols):
            return self
        state = _widened(model._model(), entries, places)
        state = _refitted(state, entries, rows)
        state = _refitted(state.T, entries.T, cols).T
        state = _refitted(state, entries, rows)
        self._adopt(state, entries, new)
        held = vars(model).get("held_out_")
        if held is not None:
            rows, cols = places[0][held.rows()], places[1][held.indices]
            model.held_out_ = sort_cells(rows, cols, held.values, entries.shape)
        model.row_ids_, model.column_ids_ = ids
        return self

    def _merged(self, new: Entries, places: Places) -> Entries:
        """The known cells and the new ones, which count where both are there."""
        model: Any = self
        seen, loss = model.seen_, model.loss_
        old = np.repeat(places[0], np.diff(seen.pointers))
        weighted = len(seen.weights) or len(new.by_row.weights)
        weights = [
            w if len(w) else np.ones(len(y))
            for w, y in ((seen.weights, seen.values), (new.by_row.weights, new.by_row.values))
        ]
        values = np.concatenate([seen.values, new.by_row.values]).astype(seen.values.dtype)
        return Entries(
            np.concatenate([old, new.rows()]),
            np.concatenate([places[1][seen.indices], new.by_row.indices]),
            values,
            new.shape,
            sample_weight=np.concatenate(weights) if weighted else None,
            duplicates="last",
        ).with_loss(loss)

    def _adopt(self, state: Linear | Posterior, entries: Entries, new: Entries) -> None:
        model: Any = self
        if isinstance(state, Posterior):
            model._keep(state.factors(), state.biases(), state, entries)
        else:
            model._keep(state.A, state.biases, None, entries)
        if new.size:
            low, high = model.loss_.bounds(new.by_row.values)
            model.range_ = min(low, model.range_[0]), max(high, model.range_[1])
        if entries.shape[1] != model.n_features_in_:
            model.n_features_in_ = entries.shape[1]
            vars(model).pop("feature_names_in_", None)


class Arrived(NamedTuple):
    """New cells in the larger matrix, where its old rows and columns are there, and all ids."""

    new: Entries
    places: Places
    ids: tuple[NDArray[Any] | None, NDArray[Any] | None]


def _arrived(model: Any, X: Any, y: Any, sample_weight: ArrayLike | None) -> Arrived:
    settings = {
        "loss": model.loss_,
        "duplicates": model.duplicates,
        "allow_empty": True,
        "sample_weight": sample_weight,
    }
    old, marks = model.factors_.shape, parse_marks(model.missing_values)
    if model.row_ids_ is None:
        X, settings["sample_weight"] = drop_marks(X, sample_weight, marks)
        new = cells_from(X, **settings)
        if not isinstance(X, (tuple, CellList)) and new.shape[1] < old[1]:
            raise ValueError(  # in scikit-learn's words
                f"X has {new.shape[1]} features, but {type(model).__name__} is expecting {old[1]} "
                "features as input, or more; pass (rows, cols, values) for a few cells."
            )
        m, n = (max(pair) for pair in zip(old, new.shape, strict=True))
        return Arrived(new.within((m, n)), (np.arange(old[0]), np.arange(old[1])), (None, None))
    names = model.table_columns_
    if not is_table(X):
        raise ValueError(f"X: the model knows ids; pass a table with columns {names}.")
    told = names[:2] if y is not None else names
    told = told if all(name in names_of(X) for name in told) else None
    got = take_cells(X, y, told, weights=sample_weight, missing_values=marks)
    if got.row_ids is None or got.column_ids is None:
        raise ValueError(f"X: expected a table with columns {names}, as in the fit.")
    settings["sample_weight"] = got.weights
    index, places, ids = [], [], []
    sides = ((model.row_ids_, got.row_ids), (model.column_ids_, got.column_ids))
    for codes, (known, fresh) in zip(got.X[:2], sides, strict=True):
        union = np.union1d(known, fresh)
        index.append(positions(union, fresh)[codes])
        places.append(positions(union, known))
        ids.append(union)
    new = Entries(index[0], index[1], got.X[2], (len(ids[0]), len(ids[1])), **settings)
    return Arrived(new, (places[0], places[1]), (ids[0], ids[1]))


def _touched(counts: NDArray[np.int64], place: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """The rows with a new cell, and those that are new themselves."""
    fresh = np.ones(size, bool)
    fresh[place] = False
    return np.flatnonzero(fresh | (counts > 0))


def _widened(state: Any, entries: Entries, places: Places) -> Any:
    """With zeros for new rows and columns, and the counts of all cells."""
    (m, n), (row, col) = entries.shape, places
    if isinstance(state, Posterior):
        some = [cells.counts() > 0 for cells in (entries.by_row, entries.by_col)]
        return replace(
            state,
            rows=Side(*(_grown(part, m, row) for part in state.rows)),
            cols=Side(*(_grown(part, n, col) for part in state.cols)),
            row_prior=state.row_prior._replace(some=some[0]),
            col_prior=state.col_prior._replace(some=some[1]),
        )
    A, b = state.A.astype(float), state.biases
    rows, cols = (
        Sizes(cells.counts(), sizes.level)
        for cells, sizes in ((entries.by_row, state.rows), (entries.by_col, state.cols))
    )
    return replace(
        state,
        A=LowRank(_grown(A.U, m, row), A.s, _grown(A.V, n, col)),
        biases=Biases(b.mean, _grown(b.row, m, row), _grown(b.col, n, col)),
        rows=rows,
        cols=cols,
    )


def _grown(x: Array, size: int, place: NDArray[np.int64]) -> Array:
    out = np.zeros((size, *x.shape[1:]), x.dtype)
    out[place] = x
    return out


def _refitted(state: Any, entries: Entries, rows: NDArray[np.int64]) -> Any:
    """The state with these rows fitted to all their cells, given the columns."""
    part = entries.some(rows)
    if isinstance(state, Posterior):
        found = new_rows(state, part)
        sides = (_put(old, rows, new) for old, new in zip(state.rows, found, strict=True))
        return replace(state, rows=Side(*sides))
    coordinates, offsets = state.fold(part)
    A, b = state.A, state.biases
    left = _put(A.U * A.s, rows, coordinates)
    row = _put(b.row, rows, offsets)
    A = LowRank(left, np.ones(A.rank), A.V).svd()
    return replace(state, A=A, biases=Biases(b.mean, row, b.col))


def _put(x: Array, rows: NDArray[np.int64], new: Array) -> Array:
    out = x.copy()
    out[rows] = new
    return out
