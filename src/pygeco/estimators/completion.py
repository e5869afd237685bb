"""Matrix completion as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.events import Listener
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver
from pygeco.arrays.kinds import answer, moved, on, ones
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.posterior import Posterior
from pygeco.engines import borrow_cluster, choose_engine
from pygeco.estimators import _common
from pygeco.estimators._checkpoint import Checkpoint, key_of, seed_of, without_time
from pygeco.estimators._cluster import brought_home, file_state, spread_out
from pygeco.estimators._contents import COMPLETION, MAY_LACK
from pygeco.estimators._fits import Fitted, along_path, by_evidence
from pygeco.estimators._input import entries_from
from pygeco.estimators._progress import attend_fit
from pygeco.estimators._scale import has_bounded_scale
from pygeco.estimators._seen import Seen
from pygeco.estimators._tables import fitted_entries
from pygeco.estimators._whole import ModelListener, all_or_nothing
from pygeco.estimators.exporting import Exporting
from pygeco.estimators.folding import fold
from pygeco.estimators.partial import Updating
from pygeco.estimators.predicting import Predicting
from pygeco.estimators.recommending import Recommending
from pygeco.io.model_file import Saveable
from pygeco.io.tables import is_partitioned
from pygeco.losses import Loss, Squared, named
from pygeco.objectives import Entries
from pygeco.objectives.entries.biases import Biases, fit_biases, parts, with_scale

# What `to` leaves where it is.
ON_HOST = ("singular_values_", "row_ids_", "column_ids_", "penalty_", "offsets_")


class MatrixCompletion(
    Exporting,
    Saveable,
    Updating,
    Recommending,
    Predicting,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
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
        missing_values: str
        | float
        | list[float]
        | tuple[float, ...]
        | NDArray[Any]
        | None = "auto",
        callback: Callable[[Any], object] | None = None,
        observer: Listener | None = None,
        engine: str | None = None,
        random_state: Any = None,
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
        in_parts = is_partitioned(X)
        if in_parts and self.engine not in (None, "dask"):
            raise ValueError(
                f"engine: {self.engine!r} does not read files; use engine='dask', or read the file "
                "by pygeco.data.read_ratings and fit its table."
            )
        with attend_fit(self, self.observer, self.callback) as listener:
            if self.engine != "dask" and not in_parts:
                return self._fit(X, y, sample_weight, columns, checkpoint, listener)
            with borrow_cluster() as own:
                self._fit(X, y, sample_weight, columns, checkpoint, listener)
                if own:
                    brought_home(self)
        return self

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, columns: Any, checkpoint: Any, listener: Listener
    ) -> MatrixCompletion:
        penalty = self._penalty()
        entries = fitted_entries(
            self,
            X,
            columns,
            y=y,
            loss=named(self.loss),
            duplicates=self.duplicates,
            sample_weight=sample_weight,
            engine=self.engine,
        )
        entries = with_scale(entries, named(self.loss))
        self.loss_ = entries.loss
        self.range_ = self.loss_.bounds(entries.by_row.values)
        self.clip_ = self._clips(entries)
        chosen = self._offsets
        if penalty == "evidence":
            store = self._store_at(checkpoint, entries, chosen)
            seed = seed_of(store, _common.seed(self.random_state))
            found = by_evidence(
                entries,
                self.rank,
                chosen,
                int(self.posterior),
                seed,
                loss=named(self.loss),
                listener=listener,
                store=store,
            )
        else:
            self.biases_ = fit_biases(entries, chosen)
            watchers: tuple[object, ...] = self.observer, self.callback
            for each in watchers:
                if isinstance(each, ModelListener):
                    each.on_model(self)
            found = along_path(
                entries,
                self.rank,
                self.biases_,
                chosen,
                solver=self.solver,
                penalty=penalty,
                seed=_common.seed(self.random_state),
                listener=listener,
                refit=bool(self.refit),
                store=self._store_at(checkpoint, entries, chosen),
            )
        self.loss_ = found.loss or self.loss_
        self._store(found, entries)
        return self

    def _clips(self, entries: Entries) -> bool:
        """What clip="auto" stands for."""
        if self.clip != "auto":
            if not isinstance(self.clip, (bool, np.bool_)):
                raise ValueError(f"clip: expected 'auto', True or False, not {self.clip!r}.")
            return bool(self.clip)
        rated = isinstance(self.loss_, Squared) or self.loss_.robust
        return rated and has_bounded_scale(entries.by_row.values, entries.by_row.weights)

    def _store_at(self, path: Any, entries: Entries, chosen: tuple[str, ...]) -> Checkpoint | None:
        if path is None:
            return None
        seed = self.random_state if isinstance(self.random_state, (int, np.integer)) else None
        settings = (self.rank, self._penalty(), chosen, without_time(self.solver), seed)
        return Checkpoint(path, key_of(entries, *settings))

    def _penalty(self) -> Any:
        """The penalty that "auto" stands for; an error where the evidence cannot be had."""
        loss = named(self.loss)
        served = isinstance(loss, Squared) or loss.robust
        penalty = self.penalty
        if isinstance(penalty, str) and penalty not in ("auto", "evidence"):
            raise ValueError(
                f"penalty: unknown name {penalty!r}; use 'auto', 'evidence', None or a penalty."
            )
        if penalty == "auto":
            penalty = "evidence" if served and self.solver is None else None
        if penalty == "evidence" and not served:
            raise ValueError(
                f"penalty: the evidence is not known for loss={loss.name!r}, only for 'squared', "
                "'huber', 'pseudo-huber', 'log-cosh' and 'absolute'; use None or a penalty."
            )
        if self.posterior and penalty != "evidence":
            raise ValueError("posterior: draws need penalty='evidence'.")
        if not isinstance(self.posterior, (int, np.integer)) or self.posterior < 0:
            raise ValueError(
                f"posterior: expected a number of sweeps, at least 0, not {self.posterior!r}."
            )
        return penalty

    def _store(self, found: Fitted, entries: Entries) -> None:
        self.path_, self.n_iter_ = found.path, found.sweeps
        self.stop_reason_ = found.path.stop
        self.average_ = found.average
        self.held_out_ = None
        self.total_weight_ = entries.total_weight
        self.penalty_, self.offsets_ = self._penalty(), self._offsets
        self.levels_ = self._levels(*entries.counts())
        self._keep(found.factors, found.biases, found.posterior, entries)

    def _keep(
        self, A: LowRank, biases: Biases, posterior: Posterior | None, entries: Entries
    ) -> None:
        """The parts of the model that new cells change."""
        self.biases_, self.posterior_ = biases, posterior
        if A.rank == 0:  # an empty path does not know where its data are
            A = LowRank.zero(A.shape, entries.kind)
        self.factors_ = A.astype(entries.dtype)
        rest = (
            [ones((1, entries.shape[1]), entries.kind, entries.dtype)]
            if "row" in self._fitted_offsets
            else []
        )
        self.components_ = np.vstack([self.factors_.V.T, *rest])
        self.singular_values_ = self.factors_.s
        self.rank_ = self.factors_.rank
        cells = entries.by_row
        if entries.borrowed:  # the caller's own arrays, which may change
            cells = cells._replace(indices=cells.indices.copy(), values=cells.values.copy())
        self.seen_ = Seen(cells.pointers, cells.indices, cells.values, cells.weights)
        self._n_features_out = len(self.components_)

    @all_or_nothing
    def to(self, engine: str) -> MatrixCompletion:
        """The same fitted model on another engine: "cpu" or "cuda". Moves it in place.

        On either engine predictions are of the kind of the arrays that ask for them.
        """
        check_is_fitted(self)
        if spread_out(self):
            brought_home(self)
        like = choose_engine(engine).kind
        for name, value in vars(self).items():
            if name.endswith("_") and name not in ON_HOST:
                setattr(self, name, moved(value, like))
        self.engine = engine
        return self

    def transform(self, X: Any) -> Array:
        """Coordinates of the rows of X in `components_`, each fitted to its known cells alone.

        By the loss of the fit and its penalty, weighted norms included; by the prior, where it was
        the evidence. Without any, labels, counts and levels take a normal prior with the spread of
        the fitted rows' own coordinates. `transform_columns` does the same for columns.
        """
        check_is_fitted(self)
        entries = entries_from(
            self,
            X,
            reset=False,
            loss=self.loss_,
            duplicates=self.duplicates,
            allow_empty=True,
            engine=self._engine,
        )
        found = fold(self._model(), self.factors_, entries)
        fitted = found.coordinates
        if "row" in self._fitted_offsets:
            fitted = np.column_stack([fitted, found.offsets])
        asked = X if isinstance(X, tuple) else (X,)
        return answer(fitted.astype(entries.dtype, copy=False), *asked)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The full rows, dense, as `predict` would give them: coordinates times `components_`, plus
        column offsets, on the scale of the observed values.
        """
        check_is_fitted(self)
        return answer(self._response(self._linear(on(X, self.components_))), X)

    def _state(self) -> dict[str, Any]:
        """What a file keeps besides the settings."""
        away = hasattr(self, "factors_") and spread_out(self)
        return file_state(self) if away else super()._state()

    def _levels(self, *counts: Any) -> tuple[float, ...]:
        """The mean of counts^gamma of the rows, and of the columns; see `Penalty`."""
        gamma = getattr(self._penalty(), "gamma", 0.0)
        return tuple(float(np.mean(np.maximum(count, 1.0) ** gamma)) for count in counts)

    @property
    def _offsets(self) -> tuple[str, ...]:
        """The offsets that the settings switch on."""
        auto = self._penalty() == "evidence"
        return parts(auto if self.biases == "auto" else self.biases)

    @property
    def _fitted_offsets(self) -> tuple[str, ...]:
        """Those of the fit, whatever `set_params` has changed since; older files have none."""
        fitted = vars(self).get("offsets_")
        return self._offsets if fitted is None else tuple(fitted)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
