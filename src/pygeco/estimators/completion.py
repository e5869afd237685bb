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
        or 0/1. Thresholds and widths that are left open come from the residuals: with the evidence
        from the model's own, else from those of row and column means. The cut points of levels and
        the dispersion of counts are estimated with the rest.
    penalty : "auto", "evidence", Penalty or None, default="auto"
        "evidence", `pygeco.Ridge(alpha)`, `pygeco.Trace(alpha)`, `pygeco.Schatten(alpha, p)`, or
        None. "auto" is the evidence, unless a solver is given; for the losses of margins and
        quantiles, for those of your own, and on a cluster for labels, levels and counts it is None.
    biases : "auto", bool, or some of "global", "row", "column", default="auto"
        Offsets μ + b_i + c_j. With the evidence, where "auto" is True, they are fitted jointly
        with the low-rank part. Else "auto" is False, and they are fitted first, by the same loss;
        for labels, counts and levels b and c then have a standard normal prior.
    posterior : int, default=0
        With the evidence: draw this many sweeps from the posterior and predict by their mean.
        30 are a good choice; fitting then takes a few times as long, and errs less. A mean of
        matrices has a higher rank than each of them: with `rank="auto"`, `rank_` is that of the
        mean, and `posterior_.rank` the one that the evidence chose.
    pattern : "auto", bool, "row" or "column", default="auto"
        With the evidence: whether it counts which cells are known, beside their values: what
        someone chose to rate says something of their taste. "auto" tries it for rows and columns
        and keeps it where the evidence does; True keeps it in any case, "row" and "column" that of
        one side alone. Fitting takes up to three times as long.
    time : "auto", bool or int, default="auto"
        With the evidence and the squared loss: whether it counts when a cell was known. Rows and
        columns then have offsets for periods, whose lengths and variances come from the data.
        "auto" takes times that `fit` is given, or a table's column of times (timestamp, date,
        rated_at, …), and keeps the periods that say something; True insists on times; a number is
        that of the periods. Fitting takes longer.
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
        For the directions and draws; the same seed gives the same bits.
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
        Of the matrix, largest first.
    biases_ : Biases
        The offsets μ, b and c; where time says something, as they are at the end.
    offsets_ : tuple of str
        Those that were fitted: some of "global", "row" and "column".
    posterior_ : Posterior or None
        Means and variances of the factors, where the evidence was used.
    average_ : Average or None
        The posterior mean and draws, where `posterior` was given; `average_.error` is what its
        compression into one low-rank matrix changed, root mean square at the fitted cells.
    loss_ : Loss
        The loss with what it left open estimated from the data.
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
        The weights of the fitted cells, summed; by the evidence, their ratios being as given.
    levels_ : tuple of two floats
        What counts of rows and of columns are divided by in weighted norms.
    lists_ : ListWeights or None
        What rows choose beside what they like, once `recommend` or `learn_lists` has learned it.
    row_attributes_, column_attributes_ : AttributeValues or None
        What the fit was told of rows and columns, as numbers.
    row_encoder_, column_encoder_ : Attributes or None
        How the attributes of rows and columns were made numbers.
    attribute_effects_ : AttributeEffects
        What the attributes say: by how much each level moves predictions, how surely, and which
        groups of them matter. `to_pandas()` makes it a table.
    drift_ : Drift or None
        The offsets of periods, where time says something: `drift_.offsets` has one part for each
        length of a period, with its side, width and `spread`, the variance of its offsets in
        units of `posterior_.scale`².
    time_column_ : str or None
        The column of the table that had the times.
    row_ids_, column_ids_ : array or None
        The sorted ids of rows and columns, where the fit was to a table.
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
        """Fit to the known cells of a matrix. Every form of X gives the same model.

        A fit that fails or is interrupted leaves the estimator as it was.

        Parameters
        ----------
        X : sparse matrix, array, tuple, CellList, table, path, or source on a cluster
            A sparse matrix (its stored cells), a dense array (its cells that are not NaN), a tuple
            (rows, cols, values[, shape]), `pygeco.cells(...)`, or a table of ratings: anything with
            the Arrow stream interface (pandas, polars, pyarrow, DuckDB) whose columns are called
            user, item and rating, or the like. Ids may be of any type; the model keeps them, and
            then speaks of ids, not of positions. Also the address of a folder of Parquet files, or
            a list of such files: they are read part by part, and may be larger than memory; on a
            cluster the workers read them, and a Dask DataFrame too. `pygeco.data.read_ratings`
            reads a file of any format.
        y : array or None, default=None
            The values of pairs: X is then a table or an array of two columns of ids, or a tuple
            (rows, cols). Of a matrix, whose values are its own, it is not used.
        sample_weight : array or None, default=None
            One weight per value of a tuple or a table, or per row of a matrix. A weight of two
            counts as two cells, of zero as none. By the evidence only their ratios count: all
            together they are the number of cells that they leave, so that two for every cell say
            no more than one.
        columns : sequence of names or numbers, "matrix" or None, default=None
            Which columns of a table, or of an array, are user, item and rating. Columns that are
            taken by position are told by a warning, and what looks like a table but does not say
            which column is which is refused; "matrix" says that it is the matrix itself.
        checkpoint : path or None, default=None
            A file that keeps the state of the fit, after each rank or every second or so between
            sweeps. A fit that was killed goes on from there when it is started again with the same
            data and settings, and ends with the same bits. The file stays; delete it later.
        row_attributes, column_attributes : table, matrix, (Attributes, table) or None, default=None
            What is known of rows and columns beforehand: a table with a column of ids, or a table
            or a matrix in the order of the rows. See `Attributes` for what becomes of its columns.
            The evidence sets a weight for each of them, zero for those that say nothing. An id
            without attributes is at the mean of all, one without cells where its attributes put
            it. On a cluster, of columns alone.
        times : array, str or None, default=None
            When each cell was known, of a tuple or a table: seconds or milliseconds since 1970,
            dates, or ISO text; or the name of a table's column. By default the column that is
            called timestamp, date or the like, if there is one; see `time`. Not on a cluster.

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
