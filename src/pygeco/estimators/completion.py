"""Matrix completion as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.events import Listener
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver
from pygeco.arrays.kinds import HOST, answer, moved, on
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.engines import choose_engine
from pygeco.estimators._choices import choose_clip, choose_penalty
from pygeco.estimators._completion_file import describe_model, restore_model
from pygeco.estimators._contents import COMPLETION, MAY_LACK
from pygeco.estimators._exporting import Vectors, export_factors, make_vectors
from pygeco.estimators._fits import borrow_cluster_for, fit_cells
from pygeco.estimators._ids import gather_ids
from pygeco.estimators._input import allow_missing
from pygeco.estimators._marks import MissingValues
from pygeco.estimators._predicting import predict_linear, predict_values, score_cells
from pygeco.estimators._progress import attend_fit
from pygeco.estimators._recommending import explain_cell, find_similar, recommend_columns
from pygeco.estimators._tables import given_cells
from pygeco.estimators._updating import fold_columns, fold_rows, take_in_cells
from pygeco.estimators._views import View
from pygeco.estimators._whole import all_or_nothing
from pygeco.estimators.ranking import Ranking
from pygeco.io.model_file import Saveable
from pygeco.losses import Loss, named
from pygeco.models import FittedModel
from pygeco.models.ranking import Reasons
from pygeco.models.slab_arrays import fetch_rows

if TYPE_CHECKING:
    from pygeco.estimators._ids import Ids


def _has_probabilities(estimator: Any) -> bool:
    return type(named(estimator.loss)).probabilities is not Loss.probabilities


class MatrixCompletion(
    Saveable,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Fill a matrix of which some cells are known, by a matrix of low rank.

    With no argument: the squared loss, offsets for rows and columns, and the evidence
    (empirical Bayes), which sets every weight and the rank from the data; nothing is left to tune.

    Parameters
    ----------
    rank : int or "auto", default="auto"
        The highest rank, which the model keeps to. "auto" leaves it to the evidence or, without
        that, to a tenth of the cells held out, after which all cells are fitted at the rank that
        did best; see `refit`.
    loss : str or Loss, default="squared"
        "squared", "huber", "pseudo-huber", "log-cosh", "absolute", "quantile", "logistic",
        "smoothed-hinge", "poisson", "ordinal", or an object from `pygeco.losses`. Labels are −1/+1
        or 0/1. Huber's threshold, left open, comes from the residuals: with the evidence from the
        model's own, else from those of row and column means.
    penalty : "auto", "evidence", Penalty or None, default="auto"
        "evidence", `pygeco.Ridge(alpha)`, `pygeco.Trace(alpha)`, `pygeco.Schatten(alpha, p)`, or
        None. "auto" is the evidence for the squared loss and for those that outliers pull less
        (Huber's, pseudo-Huber, log-cosh, absolute), unless a solver is given, and else None.
    biases : "auto", bool, or some of "global", "row", "column", default="auto"
        Offsets μ + b_i + c_j. With the evidence, where "auto" is True, they are fitted jointly
        with the low-rank part. Else "auto" is False, and they are fitted first, by the same loss;
        for labels, counts and levels b and c then have a standard normal prior.
    posterior : int, default=0
        With the evidence: draw this many sweeps from the posterior and predict by their mean.
        30 are a good choice; fitting then takes a few times as long, and errs less. A mean of
        matrices has a higher rank than each of them: with `rank="auto"`, `rank_` is that of the
        mean, and `posterior_.rank` the one that the evidence chose.
    solver : Solver or None, default=None
        The choices of the algorithm; `Solver.paper()` is the paper's experiment. "auto"
        corrections are sweeps with a penalty, and cores without one, which then err less.
    refit : bool, default=True
        Where held-out cells choose the rank: whether all cells are fitted then. If not, the model
        is the one that chose it, at half the cost, and knows nothing of the tenth.
    clip : "auto" or bool, default="auto"
        Clip predictions to the range of the observed values. Where new values stay within
        that range no prediction gets worse; a value beyond it can no longer be predicted.
        "auto" does so for ratings, with the squared loss and those that outliers pull less:
        values on a bounded scale of at most 21 even levels. Labels have no such range.
    duplicates : "error", "mean", "sum" or "last", default="error"
        What to do with a cell that is given more than once.
    missing_values : "auto", None, number or list of numbers, default="auto"
        Values that mean "no value" and are left out, such as −1 or 99. "auto" refuses data in which
        a number looks like that: −1, 0 or 99 apart from the scale of the others. None keeps all.
    callback : callable or None, default=None
        Called with each `Step`, with the evidence with each `Sweep`, with each `Trial` of a rank
        that held-out cells judge, and with each `PosteriorDraw`; a true answer stops the
        fit, with what it has by then. It sees the estimator as it was before the fit; with a
        method `on_model(model)` it is shown the new one, with its ids and offsets, before the
        first step of a path.
    observer : Listener or None, default=None
        Told of the start, of everything that the callback is called with, and of the stop; a true
        answer stops the fit too. See `Listener`.
    engine : "cpu", "cuda", "dask" or None, default=None
        Where the passes over the data run, and where the model then is; `to` moves it. By default
        where the data are: on the GPU for CuPy's arrays. "dask" is the cluster of Dask's current
        client, where the rows then stay; without a client, one on this machine for the fit alone.
    random_state : int, RandomState or None, default=None
    n_jobs : int or None, default=None
        Threads that the fit runs on, for the same bits with any number; None or −1 is all cores.
    verbose : int, default=0
        1 writes a line a second about the fit to standard error, 2 one for every step of it.

    Attributes
    ----------
    model_ : FittedModel
        What was fitted, frozen: it answers questions about positions. The other attributes but
        for the path and the ids are views of it.
    path_ : Path
        One step per rank: objective, certificate, seconds, passes, and the matrix.
    factors_ : LowRank
        The matrix of the highest rank, `U diag(s) Vᵀ`.
    components_ : array (rank_, n), or (rank_ + 1, n) with offsets for rows
        Vᵀ; the offset of a row is the coordinate of one more component, all ones.
    singular_values_ : array (rank_,)
    rank_, n_iter_ : int
    stop_reason_ : Stop
    biases_ : Biases
    posterior_ : Posterior or None
        Means and variances of the factors, where the evidence was used.
    average_ : Average or None
        The posterior mean and draws, where `posterior` was given; `average_.error` is what its
        compression into one low-rank matrix changed, root mean square at the fitted cells.
    clip_ : bool
        Whether predictions are clipped to `range_`, the smallest and the largest observed value.
    loss_ : Loss
        The loss with what it left open estimated from the data.
    held_out_ : Seen or None
        Cells that `keep_held_out` was given.
    row_ids_, column_ids_ : array or None
        The sorted ids of rows and columns, where the fit was to a table.
    """

    _contents, _may_lack = COMPLETION, MAY_LACK

    model_: FittedModel
    row_ids_: Ids | None
    column_ids_: NDArray[Any] | None
    table_columns_: tuple[str, ...] | None
    n_features_in_: int

    factors_ = View(lambda model: model.factors)
    biases_ = View(lambda model: model.biases)
    posterior_ = View(lambda model: model.posterior)
    average_ = View(lambda model: model.average)
    loss_ = View(lambda model: model.loss)
    seen_ = View(lambda model: model.seen)
    held_out_ = View(lambda model: model.held_out)
    offsets_ = View(lambda model: model.offsets)
    penalty_ = View(lambda model: model.penalty)
    total_weight_ = View(lambda model: model.total_weight)
    levels_ = View(lambda model: model.levels)
    range_ = View(lambda model: model.bounds)
    clip_ = View(lambda model: model.clips)
    row_attributes_ = View(lambda model: model.row_attributes)
    column_attributes_ = View(lambda model: model.column_attributes)
    components_ = View(lambda model: model.components)
    singular_values_ = View(lambda model: model.factors.s)
    rank_ = View(lambda model: model.factors.rank)
    _n_features_out = View(lambda model: len(model.components))

    def __init__(
        self,
        rank: int | str = "auto",
        *,
        loss: str | Loss = "squared",
        penalty: str | Penalty | None = "auto",
        biases: bool | str | tuple[str, ...] = "auto",
        posterior: int = 0,
        solver: Solver | None = None,
        refit: bool = True,
        clip: bool | str = "auto",
        duplicates: str = "error",
        missing_values: MissingValues = "auto",
        callback: Callable[[Any], object] | None = None,
        observer: Listener | None = None,
        engine: str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.rank = rank
        self.loss = loss
        self.penalty = penalty
        self.biases = biases
        self.posterior = posterior
        self.solver = solver
        self.refit = refit
        self.clip = clip
        self.duplicates = duplicates
        self.missing_values = missing_values
        self.callback = callback
        self.observer = observer
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        columns: Sequence[str | int] | str | None = None,
        checkpoint: str | PathLike[str] | None = None,
    ) -> MatrixCompletion:
        """Fit to a sparse matrix (its stored cells), a dense array (its cells that are not NaN),
        a tuple (rows, cols, values[, shape]), or a table of ratings. All give the same model.

        A table is anything with the Arrow stream interface (pandas, polars, pyarrow, DuckDB) whose
        columns are called user, item and rating, or the like; `columns` names them otherwise, also
        those of an array, by number. Its ids may be of any type; the model keeps them, and then
        speaks of ids, not of positions. Columns that are taken by position are told by a warning,
        and what looks like a table but does not say which column is which is refused;
        `columns="matrix"` says that it is the matrix itself.

        `y` has the values of pairs: X is a table or an array of two columns of ids, or a tuple
        (rows, cols). Of a matrix, whose values are its own, it is not used.

        On a cluster X may also be a Dask DataFrame of ratings, the address of a folder of Parquet
        files, or a list of such files: the workers read them. `pygeco.data.read_ratings` reads a
        file on one machine.

        `sample_weight` has one weight per value of a tuple or a table, or per row of a matrix.

        A fit that fails or is interrupted leaves the estimator as it was.

        `checkpoint` is a file that keeps the state of the fit, after each rank or every second or
        so between sweeps. A fit that was killed goes on from there when it is started again with
        the same data and settings, and ends with the same bits. The file stays; delete it later.
        """
        with (
            attend_fit(self, self.observer, self.callback) as listener,
            borrow_cluster_for(X, self.engine) as is_own_cluster,
        ):
            found = fit_cells(self, X, y, sample_weight, columns, checkpoint, listener)
            self.model_, self.path_ = found.model, found.path
            self.n_iter_, self.stop_reason_ = found.sweeps, found.path.stop
            if is_own_cluster:
                self._move(HOST)
        return self

    @property
    def uses_evidence(self) -> bool:
        """Whether the settings stand for a fit by the evidence."""
        return choose_penalty(self) == "evidence"

    @all_or_nothing
    def to(self, engine: str) -> MatrixCompletion:
        """The same fitted model on another engine: "cpu" or "cuda"; all of it, or none.

        On either engine predictions are of the kind of the arrays that ask for them.
        """
        check_is_fitted(self)
        self._move(choose_engine(engine).kind)
        self.engine = engine
        return self

    def _move(self, like: Array) -> None:
        """All that was fitted, ids apart, to arrays of another kind; ids to this process."""
        self.model_, self.path_ = self.model_.move_to(like), moved(fetch_rows(self.path_), like)
        self.row_ids_ = gather_ids(self.row_ids_)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as scikit-learn does. `clip` counts at once, others at the next fit."""
        super().set_params(**params)
        if "clip" in params and "model_" in vars(self):
            seen = self.model_.seen
            clips = choose_clip(self.clip, self.model_.loss, seen.values, seen.weights)
            self.model_ = replace(self.model_, clips=clips)
        return self

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
        return predict_values(self, rows, cols, return_std, unknown)

    def decision_function(self, rows: Any, cols: ArrayLike | None = None) -> Array:
        """The linear predictor ⟨u_i s, v_j⟩ + μ + b_i + c_j, for the same input as `predict`."""
        check_is_fitted(self)
        return predict_linear(self, rows, cols)

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
        return score_cells(self, X, y)

    def to_dense(self) -> Array:
        """The whole completed m × n matrix. Nothing else forms it."""
        check_is_fitted(self)
        return self.model_.to_dense()

    def known_cells(self, X: Any) -> tuple[Any, Any, Array]:
        """Rows, columns (positions) and targets of a table's cells whose ids were fitted."""
        return given_cells(self, X)

    def was_fitted(self, rows: Any, cols: Any) -> Any:
        """Whether each cell, given by positions, is one that the model was fitted to."""
        check_is_fitted(self)
        return self.model_.was_fitted(np.asarray(rows), np.asarray(cols))

    def keep_held_out(self, X: Any) -> Self:
        """Keep cells that were held out of the fit with the model, and in its file.

        `recommend` then leaves them out as it does those that were fitted, and a report judges by
        them. X is as `fit` takes it; cells with an id that was not fitted are left out.
        """
        check_is_fitted(self)
        self.model_ = self.model_.keep_held_out(*given_cells(self, X))
        return self

    def recommend(
        self,
        rows: Any = None,
        k: int = 10,
        *,
        exclude_seen: bool = True,
        items: ArrayLike | None = None,
        exclude: ArrayLike | None = None,
        unknown: str = "mean",
    ) -> Ranking:
        """The k columns with the highest prediction for each row, best first.

        A model fitted from a table takes and gives ids.

        Parameters
        ----------
        rows : one, an array or a table of them, or None
            One row gives 1-dimensional arrays, None lists for every fitted row.
        k : int, default=10
        exclude_seen : bool, default=True
            Leave out the row's fitted cells, and those given to `keep_held_out`.
        items : array or None
            The candidates; None stands for every column.
        exclude : array or None
            Columns that are in no list.
        unknown : "mean", "nan" or "error", default="mean"
            An id that was not fitted gets the list of the average row, of which a warning tells,
            an empty one, or an error, as in `predict`.

        Returns
        -------
        Ranking
            `columns` and `scores`, which are predictions as `predict` gives them;
            `recommend().to_pandas()` is a table for everyone.
        """
        check_is_fitted(self)
        return recommend_columns(
            self,
            rows,
            k,
            exclude_seen=exclude_seen,
            items=items,
            exclude=exclude,
            unknown=unknown,
        )

    def similar(self, columns: ArrayLike, k: int = 10) -> Ranking:
        """The k columns most like each given one: the cosine of their vectors, itself left out."""
        check_is_fitted(self)
        return find_similar(self, columns, k, side=1)

    def similar_rows(self, rows: ArrayLike, k: int = 10) -> Ranking:
        """The k rows most like each given one, `similar` for rows; its `columns` are rows here."""
        check_is_fitted(self)
        return find_similar(self, rows, k, side=0)

    def explain(self, row: Any, column: Any, k: int = 5) -> Reasons:
        """Which of the row's known columns drive its prediction at `column`.

        A row's vector is linear in its cells, so the prediction is a sum: `base`, which the offset
        of the column and the prior say, and what each known cell adds. Where the row knows `column`
        itself, it is the prediction from its other cells that is explained. Needs the evidence.
        """
        check_is_fitted(self)
        return explain_cell(self, row, column, k)

    def transform(self, X: Any) -> Array:
        """Coordinates of the rows of X in `components_`, each fitted to its known cells alone.

        By the loss of the fit and its penalty, weighted norms included; by the prior, where it was
        the evidence. Without any, labels, counts and levels take a normal prior with the spread of
        the fitted rows' own coordinates. `transform_columns` does the same for columns.
        """
        check_is_fitted(self)
        return fold_rows(self, X)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The full rows, dense, as `predict` would give them: coordinates times `components_`, plus
        column offsets, on the scale of the observed values.
        """
        check_is_fitted(self)
        return answer(self.model_.respond(self.model_.complete_rows(on(X, self.factors_.V))), X)

    def transform_columns(self, X: Any) -> Array:
        """Coordinates of new columns, each fitted to its known cells alone: (k, rank_), or
        (k, rank_ + 1) with offsets for columns.

        X (m, k) has the rows of the fit, in any form that `fit` takes. A column is then
        `factors_.U` times its coordinates, plus its offset and those of the rows. By the loss,
        penalty and prior of the fit, as `transform` does for rows.
        """
        check_is_fitted(self)
        return fold_columns(self, X)

    def complete_columns(self, X: Any) -> Array:
        """New columns in full, (m, k), as `predict` gives them for rows."""
        z = self.model_.complete_columns(self.transform_columns(X))
        return answer(self.model_.respond(z), *(X if isinstance(X, tuple) else (X,)))

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
        if "model_" not in vars(self):
            return self.fit(X, y, sample_weight=sample_weight)
        take_in_cells(self, X, y, sample_weight)
        return self

    def vectors(self) -> Vectors:
        """(u_i s, 1), (v_j, c_j) and μ + b_i, in float32."""
        check_is_fitted(self)
        return make_vectors(self.model_)

    def export(self, path: str | PathLike[str], side: str = "columns") -> None:
        """Write the factors, whole or not at all.

        `.npz`: U, s, V, mean, row_offset, column_offset, the arrays of `vectors()`, and ids where
        there are some. `.parquet`: one table for a `side`, "rows" or "columns", with id, offset and
        vector, the vector as in `vectors()`.
        """
        check_is_fitted(self)
        export_factors(self, path, side)

    def fitted_attributes(self) -> dict[str, Any]:
        """What a file keeps besides the settings, by name: parts of the model, the path and ids."""
        own = super().fitted_attributes()
        return own if "model_" not in own else describe_model(self, own)

    def _restore(self, fitted: dict[str, Any]) -> None:
        super()._restore(restore_model(self, fitted))

    def __sklearn_tags__(self) -> Any:
        tags = allow_missing(super().__sklearn_tags__())
        tags.input_tags.sparse = True
        return tags
