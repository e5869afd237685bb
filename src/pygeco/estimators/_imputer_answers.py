"""What an imputer can be asked besides filled cells: deviations, intervals, chances, draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from pygeco.arrays.checks import is_real
from pygeco.arrays.kinds import as_array
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, RandomState, seed_from, stream
from pygeco.bayes.column_codes import NumberCode, ValueCode, code_constant
from pygeco.bayes.mixed_draws import draw_cells, draw_model
from pygeco.bayes.mixed_table import Belief, MixedTable, student_widths
from pygeco.bayes.table_gaussian import TableGaussian
from pygeco.estimators._input import check_components
from pygeco.estimators._table_filling import (
    Filler,
    answer_cells,
    fill_table,
    limit_cells,
    read_block,
    split_rows,
)
from pygeco.io.column_kinds import Columns
from pygeco.io.filled_columns import append_truths, fill_columns, make_filling
from pygeco.io.model_file import Saveable
from pygeco.io.tables import is_table, list_columns
from pygeco.io.typed_columns import Field, make_dense, read_column, take_columns

INDICATOR = "missingindicator_"  # before a column's name, as scikit-learn has it


class _ImputerAnswers(Saveable):
    """Questions about missing cells; the fit is the imputer's."""

    # Files of an earlier version have none of these: they are of arrays.
    fields_: tuple[Field, ...] = ()
    table_: MixedTable | None = None
    columns_: Columns | None = None
    marked_: NDArray[np.bool_] = np.zeros(0, bool)
    fit_rows_: int = 1_000
    alpha_: float | None
    components_: Array
    deviations_: Array
    mean_: Array
    scale_: Array
    imputation_std_: Array
    noise_: float
    n_features_in_: int
    n_components: int | None
    alpha: float | None
    n_jobs: int | None
    add_indicator: bool

    def impute_std(self, X: Any) -> Array:
        """Give the deviation of each missing cell.

        Parameters
        ----------
        X : table or array (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_features)
            In the unit of the column (seconds for dates); of a category the probability that it is
            another one. Zero at known cells.
        """
        X, filler = self._prepare(X)
        return answer_cells(X, filler, lambda table, k, belief: table.deviate(k, belief))

    def impute_interval(self, X: Any, coverage: float = 0.9) -> tuple[Any, Any]:
        """Return the ends of an interval for each missing cell.

        Parameters
        ----------
        X : table or array (n_samples, n_features)
        coverage : float, default=0.9
            The share of cells that should lie in their intervals, as measured at masked cells of a
            table. Those of an array are Student's, for as many rows.

        Returns
        -------
        low, high : tables or arrays (n_samples, n_features)
            Of the types of X; known cells stay, and a category gets its most probable one in both.
            Of levels, and of counts with few values, the narrowest that has the coverage or more.
        """
        if not 0 < coverage < 1:
            raise ValueError(f"coverage: must be between 0 and 1, not {coverage!r}.")
        X, filler = self._prepare(X)

        def ask(side: int) -> Any:
            def answer(table: MixedTable, k: int, belief: Belief) -> Array:
                return table.bound(k, belief, coverage)[side]

            return fill_table(X, filler, answer, self.n_jobs)

        return ask(0), ask(1)

    def impute_proba(self, X: Any, column: str) -> Array:
        """Return the probability of each value that a column's cells may have.

        Parameters
        ----------
        X : table (n_samples, n_features)
        column : str
            A column of categories, levels, or yes/no.

        Returns
        -------
        array (n_samples, n_values)
            In the order of the column's values; known cells have a one at their own.
        """
        X, filler = self._prepare(X)
        names = [field.name for field in filler.fields]
        if column not in names or not len(filler.fields[names.index(column)].values):
            raise ValueError(f"column: {column!r} is none of categories, levels, or yes and no.")
        at = filler.places.index(names.index(column))
        code = filler.table.codes[at]
        if not (isinstance(code, ValueCode) and is_table(X)):
            raise ValueError("X: give a table, as in the fit.")
        columns = take_columns(X)[1]
        out = []
        for rows in split_rows(len(columns[0])):
            cells = read_block(columns, filler, rows)
            found = np.zeros((len(cells), len(code.values)))
            known = code.find(cells[:, at])
            found[np.flatnonzero(known >= 0), known[known >= 0]] = 1
            belief = filler.table.believe(cells, [at])[0]
            found[belief.rows] = filler.table.chances(at, belief)
            out.append(found)
        return np.concatenate(out)

    def sample_imputations(self, X: Any, k: int = 5, random_state: RandomState = None) -> list[Any]:
        """Fill a table several times with random draws, for multiple imputation.

        Each time, a model is drawn from those that fit the data, and then the missing cells of each
        row together. Analyze all the tables and combine the results by Rubin's rules: their
        variances then account for the missing cells.

        Parameters
        ----------
        X : table or array (n_samples, n_features)
        k : int, default=5
            How many times.
        random_state : int, RandomState, Generator or None, default=None
            Of the draws.

        Returns
        -------
        list of tables or arrays (n_samples, n_features)
            Of the types of X; known cells are the same in all of them.
        """
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise ValueError(f"k: expected an integer ≥ 1, not {k!r}.")
        X, filler = self._prepare(X)
        seed = seed_from(random_state)
        return [self._draw(X, filler, stream(Purpose.IMPUTER_DRAWS, seed, t)) for t in range(k)]

    def _draw(self, X: Any, filler: Filler, rng: np.random.Generator) -> Any:
        model = filler._replace(table=draw_model(filler.table, self.fit_rows_, rng))
        if not is_table(X):
            cells = np.asarray(X, float)
            parts = [draw_cells(model.table, cells[rows], rng) for rows in split_rows(len(cells))]
            return np.where(np.isnan(X), np.concatenate(parts), X).astype(np.asarray(X).dtype)
        columns = take_columns(X)[1]
        found: dict[int, list[tuple[Any, Array]]] = {k: [] for k in model.places}
        for rows in split_rows(len(columns[0])):
            cells = read_block(columns, model, rows)
            drawn = draw_cells(model.table, cells, rng)
            for t, place in enumerate(model.places):
                own = np.flatnonzero(np.isnan(cells[:, t]))
                found[place].append((own + rows.start, drawn[own, t]))
        filled = {}
        for place, blocks in found.items():
            at, x = (np.concatenate([block[side] for block in blocks]) for side in (0, 1))
            if len(at):
                field = model.fields[place]
                x = limit_cells(x, field, model.table.codes[model.places.index(place)])
                filled[field.name] = make_filling(at, x, field, columns[place])
        return fill_columns(X, filled)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Name the columns that `transform` returns.

        Parameters
        ----------
        input_features : array of str or None, default=None
            The names of the features, if the fit had none.

        Returns
        -------
        array of str
            Those of the features, and of the indicators behind them.
        """
        names = super().get_feature_names_out(input_features)  # type: ignore[misc]
        more = [f"{INDICATOR}{names[k]}" for k in np.flatnonzero(self.marked_)]
        return np.asarray([*names, *more], dtype=object)

    def _prepare(self, X: Any) -> tuple[Any, Filler]:
        """X checked, and the model as one of columns; that of an array has plain numbers alone."""
        check_is_fitted(self)
        X = make_dense(X)
        if self.table_ is not None:
            return self._check_columns(X), Filler(self.fields_, self.table_)
        if self.alpha_ is not None:
            raise ValueError(
                "X: a fit with n_components or alpha does not know how sure it is; leave both out."
            )
        return self._check_table(X, reset=False), self._as_filler()  # type: ignore[attr-defined]

    def _check_columns(self, X: Any) -> Any:
        """A table with the columns of the fit, or an array of as many."""
        _check_feature_names(self, X, reset=False)
        if not is_table(X):
            return self._check_table(X, reset=False)  # type: ignore[attr-defined]
        names = list_columns(X)
        if names != [field.name for field in self.fields_]:
            raise ValueError(
                f"X: has the columns {', '.join(names[:8])}, not those of the fit in their order."
            )
        return X

    def _check_parameters(self, shape: tuple[int, int]) -> None:
        if self.n_components is not None:
            check_components(self.n_components, shape, least=0, instead=" or None")
        if not (self.alpha is None or (is_real(self.alpha) and 0 <= self.alpha < np.inf)):
            raise ValueError(f"alpha: must be a finite number ≥ 0 or None, not {self.alpha!r}.")

    def _as_filler(self) -> Filler:
        none, d = np.zeros(0), self.n_features_in_
        ends = -np.inf, np.inf
        constant = (self.imputation_std_ == 0) & (self.noise_ > 0)
        codes = tuple(
            code_constant(float(m))
            if is_constant
            else NumberCode(1.0, 1.0, 0.0, float(m), float(s), *ends, none, none)
            for m, s, is_constant in zip(self.mean_, self.scale_, constant, strict=True)
        )
        gaussian = TableGaussian(np.zeros(d), self.components_, self.deviations_, self.noise_)
        fields = tuple(Field(f"x{k}", "number", "", (), none, False, False) for k in range(d))
        widths = np.tile(student_widths(self.fit_rows_), (d, 1))
        return Filler(fields, MixedTable(codes, gaussian, widths))

    def _believe_deviations(self) -> Array:
        """The deviation of a cell of each column given all the others, in its unit."""
        d = len(self.mean_)
        gaussian = TableGaussian(np.zeros(d), self.components_, self.deviations_, self.noise_)
        if self.alpha_ is not None or not self.noise_ > 0:
            return np.zeros(d)
        return self.scale_ / np.sqrt(gaussian.diagonal_precision())

    def _mark(self, X: Any) -> NDArray[np.bool_]:
        """Which columns have missing cells and are to get an indicator."""
        if not self.add_indicator:
            return np.zeros(self.n_features_in_, bool)
        return np.asarray(find_missing(X).any(axis=0))


def find_missing(X: Any) -> NDArray[np.bool_]:
    """Which cells are missing (n_samples, n_features)."""
    if not is_table(X):
        return np.isnan(as_array(X).astype(float))
    names, columns = take_columns(X)
    out = np.zeros((len(columns[0]) if columns else 0, len(columns)), bool)
    for k, (name, column) in enumerate(zip(names, columns, strict=True)):
        raw = read_column(column, name)
        out[:, k] = np.asarray(column.is_null()) if raw is None else np.isnan(raw.values)
    return out


def mark_missing(X: Any, filled: Any, model: _ImputerAnswers) -> Any:
    """What was filled, with a column behind it for each that had missing cells in the fit."""
    missing = find_missing(X)[:, model.marked_]
    if not is_table(filled):
        return np.hstack([filled, missing.astype(filled.dtype)])
    return append_truths(filled, dict(zip(name_indicators(model), missing.T, strict=True)))


def name_indicators(model: _ImputerAnswers) -> list[str]:
    """The names of the columns that `mark_missing` appends."""
    names = model.get_feature_names_out([field.name for field in model.fields_] or None)
    return [str(name) for name in names[model.n_features_in_ :]]


def check_indicators(model: _ImputerAnswers) -> None:
    """Refuse a table that has a column of the name of an indicator."""
    own = {field.name for field in model.fields_} | set(getattr(model, "feature_names_in_", ()))
    for name in name_indicators(model):
        if name in own:
            raise ValueError(
                f"X: has a column {name!r}, as add_indicator=True calls the one that it appends; "
                "rename it."
            )
