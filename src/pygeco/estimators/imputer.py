"""Missing values of a table, filled from a Gaussian or a low-rank model of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import _check_feature_names, check_is_fitted, validate_data

from pygeco.algorithm.events import Listener
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.kinds import fill_masked
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.bayes.mixed_fit import choose_array_form
from pygeco.bayes.mixed_table import MixedTable
from pygeco.bayes.table_gaussian import TableGaussian, fit_table
from pygeco.estimators._imputer_answers import _ImputerAnswers, check_indicators, mark_missing
from pygeco.estimators._input import allow_missing
from pygeco.estimators._low_rank_filling import fit_low_rank, measure_columns, predict_rows
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.estimators._table_filling import (
    Filler,
    choose_ways,
    fill_table,
    fit_fields,
    measure_deviations,
)
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.column_kinds import Columns, describe_fields
from pygeco.io.model_contents import IMPUTER, IMPUTER_MAY_LACK
from pygeco.io.tables import is_table
from pygeco.io.typed_columns import Field, make_dense

FILLS = ("auto", "mean", "median")


class LowRankImputer(_ImputerAnswers, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Fill missing cells from the relations between columns; known cells stay as they are.

    A table of pandas, polars or Arrow may have columns of any kind: numbers (also positive or
    heavy-tailed ones), counts, yes/no, levels, categories, dates. Kinds are inferred from types and
    values (`columns_` lists them with the reasons), or set by you. The table keeps its types. Cells
    become coordinates, and rows of coordinates are modeled as one Gaussian, whose covariance is
    shrunk by the evidence (empirical Bayes). Known cells that are masked for it decide how numbers
    are transformed and how wide intervals are. There is nothing to tune.

    In an array, all columns are numbers. They are standardized, so units do not matter, and rows
    are modeled as one Gaussian. If there are more columns than rows, masked cells choose between an
    unrestricted covariance and low rank plus noise, whose rank the evidence chooses; with very many
    columns it always has low rank. With `n_components` or `alpha`, the model is a low-rank matrix
    with that rank and ridge, and a table comes back as an array unless you call `set_output`.

    A missing cell is predicted from the known cells of its row alone, so new rows are filled like
    any other. A row without known cells gets the model's means (those of the columns, corrected for
    the missing cells). A column without known cells in the fit is filled with zero in an array, and
    left as it is in a table.

    Parameters
    ----------
    n_components : int or None, default=None
        The rank. None leaves it to the evidence; if you set `alpha`, None lets a held-out tenth of
        the known cells choose it, zero included, from one path with every rank.
    alpha : float or None, default=None
        Ridge: minimize the mean squared error plus `alpha` times the mean square of the model's
        cells. None leaves it to the evidence; if you set `n_components`, None lets held-out cells
        choose from a few values, with one path for each.
    columns : dict, Columns or None, default=None
        Kinds of a table's columns by name, to override what is inferred; see `Columns`.
    fill : {"auto", "mean", "median"}, default="auto"
        How to fill a missing cell of a table. "auto" takes the mean of numbers, the median of
        levels and the most probable category; "mean" takes the mean of levels too (best for
        squared errors), "median" the median of numbers too (best for absolute errors).
    add_indicator : bool, default=False
        Append a yes/no column for each column that has missing cells in the fit.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the held-out cells and of the directions of a low-rank fit.
    n_jobs : int or None, default=None
        Number of threads; None or −1 uses all cores. The bits do not depend on it.
    verbose : int, default=0
        1 writes a line per second about the fit to standard error, 2 a line for every step.

    Attributes
    ----------
    columns_ : Columns or None
        The kinds of a table's columns, with the reasons; None if an array was fitted.
    shape_ : str
        How numbers were transformed: "plain", "power" (including logarithms) or "ranks".
    imputation_std_ : array (n_features,)
        The error of a filled cell of each column in its own unit: measured at masked cells for a
        table, computed from the model for an array; for a category, the share that is wrong.
    components_ : array (n_components_, n_coordinates)
        Orthonormal rows, in standardized units; a coordinate is a feature of an array.
    deviations_ : array (n_components_,)
        The deviation of a row along each component; ones if you set a rank or a ridge.
    noise_ : float
        The remaining variance of a cell, or the ridge of a row, in standardized units.
    mean_, scale_ : arrays (n_coordinates,)
        The means and deviations by which columns are standardized.
    n_components_ : int
        The rank; with a covariance, at most one less than the number of features.
    alpha_ : float or None
        The ridge that was set or chosen; None if the evidence was used.
    n_features_in_ : int
        The columns of X.
    fields_, table_, trials_ : tuple, MixedTable or None, array (n_columns, 3)
        The columns of a table; the model of those that take part; and for each of these the
        number of masked cells, their error, and that of means or the most frequent category.
    fit_rows_ : int
        The number of rows used in the fit, at most 30,000 of a table.
    marked_ : array of bool (n_features,)
        The columns with an indicator.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import LowRankImputer
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 10.0, 100.0])
    >>> X[2, 1] = np.nan
    >>> LowRankImputer(1, alpha=1e-6, random_state=0).fit_transform(X)[2].round(3).tolist()
    [3.0, 30.0, 300.0]
    """

    _contents, _may_lack = IMPUTER, IMPUTER_MAY_LACK

    def __init__(
        self,
        n_components: int | None = None,
        *,
        alpha: float | None = None,
        columns: Mapping[str, Any] | Columns | None = None,
        fill: str = "auto",
        add_indicator: bool = False,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.columns = columns
        self.fill = fill
        self.add_indicator = add_indicator
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> LowRankImputer:
        """Learn from a table, or from an array with NaN for missing cells.

        Parameters
        ----------
        X : table or array (n_samples, n_features)
        y : None
            Not used.

        Returns
        -------
        LowRankImputer
            The estimator itself.
        """
        if self.fill not in FILLS:
            raise ValueError(f"fill: expected one of {', '.join(FILLS)}, not {self.fill!r}.")
        X = make_dense(X)
        if is_table(X) and self.n_components is None and self.alpha is None:
            self._fit_columns(X)
        else:
            self._fit_numbers(X)
        self.n_components_ = len(self.components_)
        self.marked_ = self._mark(X)
        check_indicators(self)
        return self

    def _fit_columns(self, X: Any) -> None:
        """Columns of any kind."""
        wanted = self.columns or {}
        given = wanted if isinstance(wanted, Columns) else Columns(dict(wanted))
        _check_feature_names(self, X, reset=True)
        number = take_seed(self.random_state)
        with attend_fit(self) as listener, one_blas_thread():
            fields, found = fit_fields(X, given, number, listener)
        self.n_features_in_ = len(fields)
        self.columns_: Columns | None = describe_fields(fields)
        self.fields_: tuple[Field, ...] = fields
        self.table_: MixedTable | None = found.table
        self.shape_, self.fit_rows_ = found.shape, found.rows
        gaussian = found.table.gaussian
        self.mean_, self.scale_ = gaussian.mean, np.ones(len(gaussian.mean))
        self.components_, self.deviations_ = gaussian.components, gaussian.deviations
        self.noise_, self.alpha_ = gaussian.noise, None
        self.imputation_std_ = measure_deviations(Filler(fields, found.table), found.trials)
        self.trials_ = np.array([[t.cells, t.error, t.null] for t in found.trials], float)

    def _fit_numbers(self, X: Any) -> None:
        """An array, or a table of numbers where rank or ridge was given."""
        if self.columns is not None:
            raise ValueError(
                "columns: kinds of columns need a table, and neither n_components nor alpha."
            )
        X = self._check_table(X, reset=True)
        self._check_parameters(X.shape)
        known = ~np.isnan(X)
        self.mean_, self.scale_, varies = measure_columns(X, known)
        Z = self._standardize(X)
        number = take_seed(self.random_state)
        with attend_fit(self) as listener, one_blas_thread():
            if self.n_components is None and self.alpha is None:
                self._fit_gaussian(Z, varies, number, listener)
            else:
                wanted = self.n_components, self.alpha
                A, self.alpha_ = fit_low_rank(Z, wanted, number, listener)
                self.components_ = np.where(known.any(axis=0), A.V.T, 0.0)
                self.deviations_ = np.ones(A.rank)
                self.noise_ = float(self.alpha_ * known.mean())
        self.columns_, self.table_, self.fields_, self.shape_ = None, None, (), "plain"
        self.fit_rows_, self.trials_ = len(X), np.zeros((0, 3))
        self.imputation_std_ = self._believe_deviations()
        self.imputation_std_[known.any(axis=0) & ~varies] = 0.0

    def _fit_gaussian(
        self, Z: Array, varies: NDArray[np.bool_], seed: int, listener: Listener
    ) -> None:
        """Rank and noise by the evidence; columns that say nothing stay at their means."""
        Z, shape = Z[:, varies], Z.shape
        found = fit_table(Z, seed, listener, form=choose_array_form(Z, seed))
        self.components_ = np.zeros((len(found.components), shape[1]))
        self.components_[:, varies] = found.components
        self.mean_[varies] += found.mean * self.scale_[varies]
        self.deviations_, self.noise_ = found.deviations, found.noise
        self.alpha_: float | None = None

    def transform(self, X: Any) -> Any:
        """Fill the missing cells of X; every other cell keeps its bits.

        Parameters
        ----------
        X : table or array (n_samples, n_features)

        Returns
        -------
        table or array (n_samples, n_features)
            A copy, of the same types; with `add_indicator` and more columns.
        """
        check_is_fitted(self)
        X = make_dense(X)
        if self.table_ is None:
            filled = self._fill_numbers(self._check_table(X, reset=False, copy=True))
        else:
            X = self._check_columns(X)
            filler = Filler(self.fields_, self.table_)
            ways = choose_ways(filler, self.fill)
            filled = fill_table(
                X, filler, lambda table, k, b: table.estimate(k, b, ways[k]), self.n_jobs
            )
        return mark_missing(X, filled, self) if self.add_indicator else filled

    def _fill_numbers(self, X: Array) -> Array:
        known = ~np.isnan(X)
        rows = ~known.all(axis=1)
        if rows.any():
            part = X[rows]
            filled = self._fill(self._standardize(part))
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
        return predict_rows(Z, V.T * self.deviations_, self.noise_)

    def _standardize(self, X: Array) -> Array:
        return X / self.scale_ - self.mean_ / self.scale_  # the largest numbers have no difference

    def _check_table(self, X: Any, *, reset: bool, copy: bool = False) -> Array:
        return validate_data(
            self,
            fill_masked(X),
            reset=reset,
            copy=copy,
            dtype=[np.float64, np.float32],
            ensure_all_finite="allow-nan",
        )

    def __sklearn_tags__(self) -> Any:
        return allow_missing(super().__sklearn_tags__())
