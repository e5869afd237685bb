"""Matrix completion as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from pygeco.algorithm.events import Listener
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver
from pygeco.arrays.kinds import HOST
from pygeco.arrays.streams import RandomState
from pygeco.estimators._completion_folding import _CompletionFolding
from pygeco.estimators._fits import borrow_cluster_for, fit_cells
from pygeco.estimators._marks import MissingValues
from pygeco.estimators._progress import attend_fit
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_contents import COMPLETION, MAY_LACK
from pygeco.losses import Loss


class MatrixCompletion(_CompletionFolding):
    """Predict the unknown cells of a matrix from the known ones, with a low-rank model.

    By default there is nothing to tune: with the squared loss and offsets for rows and columns,
    empirical Bayes (the evidence) sets the rank and every weight from the data.

    Parameters
    ----------
    rank : int or "auto", default="auto"
        The highest rank that the model may have. "auto" leaves the choice to the evidence.
        Without the evidence, a held-out tenth of the cells chooses the rank, and all cells are
        then fitted at that rank; see `refit`.
    loss : str or Loss, default="squared"
        "squared", "huber", "pseudo-huber", "log-cosh", "absolute", "quantile", "logistic",
        "smoothed-hinge", "poisson", "ordinal", or an object from `pygeco.losses`. Labels are −1/+1
        or 0/1. Thresholds and widths that you do not set come from the residuals: from the model's
        own with the evidence, else from those of row and column means. The cut points of levels
        and the dispersion of counts are estimated too.
    penalty : "auto", "evidence", Penalty or None, default="auto"
        "evidence", `pygeco.Ridge(alpha)`, `pygeco.Trace(alpha)`, `pygeco.Schatten(alpha, p)`, or
        None. "auto" is the evidence, unless you give a solver. It is None for the losses of margins
        and quantiles, for a loss of your own, and on a cluster for labels, levels and counts.
    biases : "auto", bool, or some of "global", "row", "column", default="auto"
        Offsets μ + b_i + c_j. With the evidence "auto" is True, and they are fitted jointly with
        the low-rank part. Otherwise "auto" is False, and offsets that you ask for are fitted first,
        by the same loss; for labels, counts and levels b and c have a standard normal prior.
    posterior : int, default=0
        With the evidence: predict with the mean of this many draws from the posterior. 30 is a
        good choice: the error is smaller, and the fit takes a few times as long. A mean of
        matrices has a higher rank than each of them: with `rank="auto"`, `rank_` is the rank of
        the mean, and `posterior_.rank` the one that the evidence chose.
    pattern : "auto", bool, "row" or "column", default="auto"
        With the evidence: whether to use which cells are known, not just their values, since what
        someone chose to rate says something about their taste. "auto" tries it for rows and
        columns and keeps it where the evidence supports it; True always keeps it, "row" and
        "column" on that side alone. Fitting takes up to three times as long.
    time : "auto", bool or int, default="auto"
        With the evidence and the squared loss: whether to use the times of the cells. Rows and
        columns then have offsets for periods, whose lengths and variances come from the data.
        "auto" uses the times given to `fit`, or a table's column of times (timestamp, date,
        rated_at, …), and keeps the periods that matter; True requires times; a number sets how
        many periods there are. Fitting takes longer.
    solver : Solver or None, default=None
        Settings of the algorithm; `Solver.paper()` is the paper's experiment. "auto" corrections
        are sweeps if there is a penalty, and cores, which then have a smaller error, if not.
    refit : bool, default=True
        If held-out cells choose the rank: whether to fit all cells afterward. If False, the model
        that chose the rank is kept, at half the cost, without the held-out tenth.
    clip : "auto" or bool, default="auto"
        Clip predictions to the range of the observed values. If new values stay within that
        range, no prediction gets worse; a value beyond it can no longer be predicted. "auto"
        clips ratings (values on a bounded scale of at most 21 even levels) under the squared loss
        and the robust ones. Labels have no such range.
    duplicates : "error", "mean", "sum" or "last", default="error"
        What to do with a cell that appears more than once.
    missing_values : "auto", None, number or list of numbers, default="auto"
        Values that mean "no value", such as −1 or 99; their cells are left out. "auto" refuses
        data in which a number such as −1, 0 or 99 lies apart from the others. None keeps all.
    callback : callable or None, default=None
        Called with each `Step` of a path, each `Sweep` of the evidence, each `Trial` of a rank on
        held-out cells, and each `PosteriorDraw`. If it returns true, the fit stops and keeps what
        it has. During the fit the estimator itself is unchanged; if the callback has a method
        `on_model(model)`, that is called with the new model, with its ids and offsets, before
        the first step of a path.
    observer : Listener or None, default=None
        Receives the start, everything that the callback receives, and the stop; a true return
        value stops the fit too. See `Listener`.
    engine : "cpu", "cuda", "dask" or None, default=None
        Where to fit, and where the model then stays; `to` moves it. By default this is where the
        data are: on the GPU for CuPy arrays. "dask" is the cluster of the current Dask client,
        where the rows stay; without a client, a cluster on this machine for the fit alone.
    random_state : int, RandomState or None, default=None
        Seed of the directions and draws; the same seed gives the same bits.
    n_jobs : int or None, default=None
        Number of threads; None or −1 uses all cores. The bits do not depend on it.
    verbose : int, default=0
        1 writes a line per second about the fit to standard error, 2 a line for every step.

    Attributes
    ----------
    model_ : FittedModel
        The fitted model, immutable; it uses positions, not ids. The other attributes, except the
        path and the ids, are views of it.
    path_ : Path
        One step per rank: objective, certificate, seconds, passes, and the matrix.
    stop_reason_ : Stop
        Why the fit ended.
    n_iter_ : int
        Sweeps of the evidence, or steps of the path.
    factors_ : LowRank
        The matrix of the highest rank, `U diag(s) Vᵀ`.
    rank_ : int
        Its rank.
    components_ : array (rank_, n), or (rank_ + 1, n) with offsets for rows
        Vᵀ; the offset of a row is the coordinate of one more component, all ones.
    singular_values_ : array (rank_,)
        Singular values of the matrix, largest first.
    biases_ : Biases
        The offsets μ, b and c; if the model uses times, those at the end of the data.
    offsets_ : tuple of str
        Which offsets were fitted: some of "global", "row" and "column".
    posterior_ : Posterior or None
        Means and variances of the factors, if the evidence was used.
    average_ : Average or None
        The posterior mean and draws, with `posterior`; `average_.error` is the root mean square
        change at the fitted cells from compressing the mean into one low-rank matrix.
    loss_ : Loss
        The loss, with the settings that were estimated from the data.
    penalty_ : Penalty, "evidence" or None
        What "auto" stood for.
    clip_ : bool
        Whether predictions are clipped to `range_`.
    range_ : tuple of two floats
        The smallest and the largest observed value.
    seen_ : Seen
        The fitted cells, row by row.
    held_out_ : Seen or None
        Cells that `keep_held_out` was given.
    total_weight_ : float
        Sum of the weights of the fitted cells; the evidence rescales them, keeping their ratios.
    levels_ : tuple of two floats
        What counts of rows and of columns are divided by in weighted norms.
    lists_ : ListWeights or None
        How choice and liking count in lists, once `recommend` or `learn_lists` has learned it.
    row_attributes_, column_attributes_ : AttributeValues or None
        The attributes of rows and columns, as numbers.
    row_encoder_, column_encoder_ : Attributes or None
        How the attributes of rows and columns were turned into numbers.
    attribute_effects_ : AttributeEffects
        The effects of attributes: by how much each level moves predictions, how certain that is,
        and which groups matter. `to_pandas()` makes it a table.
    drift_ : Drift or None
        The offsets of periods, if the model uses times: `drift_.offsets` has one part for each
        length of a period, with its side, width and `spread`, the variance of its offsets in
        units of `posterior_.scale`².
    time_column_ : str or None
        The column of the table that held the times.
    row_ids_, column_ids_ : array or None
        The sorted ids of rows and columns, if a table was fitted.
    table_columns_ : tuple of str or None
        The columns of that table.
    n_features_in_ : int
        The columns of the matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import MatrixCompletion
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    >>> known = np.where(rng.random(X.shape) < 0.5, X, np.nan)
    >>> model = MatrixCompletion(random_state=0).fit(known)
    >>> model.rank_
    2
    >>> bool(np.abs(model.to_dense() - X).max() < 0.01)
    True
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
        pattern: bool | str = "auto",
        time: bool | str | int = "auto",
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
        self.pattern = pattern
        self.time = time
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
        row_attributes: Any = None,
        column_attributes: Any = None,
        times: Any = None,
    ) -> MatrixCompletion:
        """Fit the known cells of a matrix. Every form of X gives the same model.

        If a fit fails or is interrupted, the estimator stays as it was.

        Parameters
        ----------
        X : sparse matrix, array, tuple, CellList, table, path, or source on a cluster
            A sparse matrix (its stored cells), a dense array (its cells that are not NaN), a tuple
            (rows, cols, values[, shape]), `pygeco.cells(...)`, or a table of ratings: anything with
            the Arrow stream interface (pandas, polars, pyarrow, DuckDB) whose columns are called
            user, item and rating, or the like. Ids may be of any type; the model keeps them and
            uses them in place of positions. Also the address of a folder of Parquet files, or a
            list of such files: they are read part by part and may be larger than memory. On a
            cluster the workers read them; there, X may be a Dask DataFrame too.
            `pygeco.data.read_ratings` reads a file of any format.
        y : array or None, default=None
            The values, if X is a table or an array of two columns of ids, or a tuple (rows, cols).
            Not used if X is a matrix.
        sample_weight : array or None, default=None
            One weight per value of a tuple or a table, or per row of a matrix. A weight of two
            counts as two cells, zero as none. With the evidence only the ratios matter (the weights
            are scaled to sum to (Σ√w)² / Σw), so that two for every cell is the same as one.
        columns : sequence of names or numbers, "matrix" or None, default=None
            Which columns of a table, or of an array, are user, item and rating. A warning says so
            if columns are taken by position. What looks like a table, but does not show which
            column is which, is refused; "matrix" says that it is the matrix itself.
        checkpoint : path or None, default=None
            A file for the state of the fit, written after each rank or about every second between
            sweeps. A fit that was killed continues from it when started again with the same data
            and settings, and ends with the same bits. The file stays; delete it later.
        row_attributes, column_attributes : table, matrix, (Attributes, table) or None, default=None
            Attributes of rows and columns: a table with a column of ids, or a table or a matrix in
            the order of the rows. See `Attributes` for how columns are encoded. The evidence sets a
            weight for each of them, zero for those that carry no information. An id without
            attributes gets the mean of all; an id without cells is placed by its attributes. On a
            cluster, for columns only.
        times : array, str or None, default=None
            The time of each cell of a tuple or a table (seconds or milliseconds since 1970, dates,
            or ISO text), or the name of a table's column. By default a column called timestamp,
            date or the like, if there is one; see `time`. Not on a cluster.

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        with (
            attend_fit(self, self.observer, self.callback) as listener,
            borrow_cluster_for(X, self.engine) as is_own_cluster,
        ):
            known = row_attributes, column_attributes
            found = fit_cells(
                self, X, y, sample_weight, columns, checkpoint, listener, known, times
            )
            self.model_, self.path_ = found.model, found.path
            self.row_encoder_, self.column_encoder_ = found.encoders
            self.time_column_ = found.time_column
            self.n_iter_, self.stop_reason_ = found.sweeps, found.path.stop
            if is_own_cluster:
                self._move(HOST)
        return self
