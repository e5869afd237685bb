"""Clicks, plays and purchases as a scikit-learn estimator: nothing to tune."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.events import Listener
from pygeco.arrays.kinds import HOST
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.clicks.model import ClickModel
from pygeco.clicks.settings import SpectralSettings, SquaresSettings
from pygeco.estimators._click_fits import fit_click_model
from pygeco.estimators._click_updates import take_in_clicks
from pygeco.estimators._completion_folding import _CompletionFolding
from pygeco.estimators._fits import borrow_cluster_for
from pygeco.estimators._progress import attend_fit
from pygeco.estimators._whole import all_or_nothing
from pygeco.estimators.click_choice import ClickChoice
from pygeco.estimators.evaluation import evaluate
from pygeco.io.click_contents import CLICK_CHECKS
from pygeco.io.model_contents import COMPLETION, MAY_LACK
from pygeco.io.model_parts import CLICK_PARTS


class ImplicitCompletion(_CompletionFolding):
    """Recommend from clicks: what someone chose, without saying how much they liked it.

    With no argument everything is chosen by clicks that are held out: a matrix of weighted squares
    by sweeps, singular pairs of clicks divided by powers of counts, each with its rank, powers
    and penalty, and the share of each in the scores. All clicks are fitted then.

    Parameters
    ----------
    rank : int or "auto", default="auto"
        The rank of each family; "auto" leaves it to held-out clicks.
    squares : "auto", SquaresSettings, dict or False, default="auto"
        Weighted squares; settings that are given are kept, and False leaves the family out.
    spectral : "auto", SpectralSettings, dict or False, default="auto"
        Singular pairs of normalized clicks, likewise.
    share : "auto" or float, default="auto"
        The share of the squares in the scores, from 0 to 1.
    counts : "auto", "log", "plain" or "ignore", default="auto"
        What counts of clicks are as weights: log₂(1 + count), the counts themselves, or 1. "auto"
        is "log" where those of the fit are heavy-tailed, which a warning tells, "ignore" where all
        are equal, and else "plain". Counts that come later weigh as those of the fit.
    attribute_settings : "auto", dict, False or pair of these, default="auto"
        How much attributes count, for both sides, or for rows and for columns: a dict of `weight`
        (of lines without clicks) and `pull` (of others, in clicks), see `ClickChoice`. What is left
        out is chosen by held-out lines and clicks; False leaves attributes without effect.
    callback : callable or None, default=None
        Called with each `ClickTrial`; a true answer ends the search, and what did best is fitted.
    observer : Listener or None, default=None
        Told of the start and of the stop. See `Listener`.
    engine : "cpu", "cuda", "dask", a Dask client or None, default=None
        Where the passes over the clicks run, and where the model then is; by default where the
        data are. On a cluster rows and their clicks stay with the workers; attributes go without
        one.
    random_state : int, RandomState or None, default=None
        For the clicks that are held out, and the starts; the same seed gives the same bits.
    n_jobs : int or None, default=None
        Threads that the fit runs on; None or −1 is all cores.
    verbose : int, default=0
        1 writes a line a second about the fit to standard error, 2 one for every trial.

    Attributes
    ----------
    model_ : FittedModel
        What was fitted, frozen: it answers questions about positions.
    choice_ : ClickChoice
        The settings that were chosen, and a table of all that was tried.
    factors_ : LowRank
        The matrix of scores, `U diag(s) Vᵀ`. Its scale means nothing: only the order within a row.
    rank_ : int
        Its rank, of both families together.
    components_ : array (rank_, n)
        Vᵀ.
    singular_values_ : array (rank_,)
        Of the matrix, largest first.
    seen_ : Seen
        The fitted clicks, row by row.
    row_ids_, column_ids_ : array or None
        The sorted ids of rows and columns, where the fit was to a table.
    table_columns_ : tuple of str or None
        The columns of that table.
    n_features_in_ : int
        The columns of the matrix.
    n_iter_ : int
        The number of trials.
    stop_reason_ : Stop
        Whether held-out clicks or the callback ended the search.
    held_out_ : Seen or None
        Clicks that `keep_held_out` was given.
    total_weight_ : float
        The weights of the clicks, summed.
    biases_, offsets_, loss_, penalty_, levels_, range_, clip_, path_, posterior_, average_ : object
        Of `MatrixCompletion`, whose answers this class shares; they say nothing here.
    row_attributes_, column_attributes_ : AttributeValues or None
        What the fit was told of rows and columns, as numbers.
    row_encoder_, column_encoder_ : Attributes or None
        How the attributes of rows and columns were made numbers.
    attribute_effects_ : object
        Of the evidence; it says nothing here.
    lists_, drift_, time_column_ : None
        Lists are by the scores themselves, and time says nothing here.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import ImplicitCompletion
    >>> rng = np.random.default_rng(0)
    >>> group = rng.integers(4, size=300)
    >>> clicks = (rng.random((300, 40)) < np.where(np.arange(40) % 4 == group[:, None], 0.5, 0.02))
    >>> rows, cols = np.nonzero(clicks)
    >>> model = ImplicitCompletion(random_state=0).fit((rows, cols))
    >>> best = model.recommend(0, k=3).columns
    >>> bool(np.all(best % 4 == group[0]))
    True
    """

    _contents, _may_lack = COMPLETION | CLICK_CHECKS, MAY_LACK
    _model_kind, _model_parts = ClickModel, CLICK_PARTS
    _needs_values = False
    _score_name = "score"
    # What ratings leave open, and clicks do not.
    loss = "squared"
    penalty = None
    biases = False
    posterior = 0
    pattern = False
    solver = None
    refit = True
    clip = False
    duplicates = "sum"
    missing_values = None

    def __init__(
        self,
        rank: int | str = "auto",
        *,
        squares: str | bool | dict[str, Any] | SquaresSettings = "auto",
        spectral: str | bool | dict[str, Any] | SpectralSettings = "auto",
        share: float | str = "auto",
        counts: str = "auto",
        attribute_settings: Any = "auto",
        callback: Callable[[Any], object] | None = None,
        observer: Listener | None = None,
        engine: str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.rank = rank
        self.squares = squares
        self.spectral = spectral
        self.share = share
        self.counts = counts
        self.attribute_settings = attribute_settings
        self.callback = callback
        self.observer = observer
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def choice_(self) -> ClickChoice:
        """The settings that were chosen, and a table of all that was tried."""
        model = vars(self).get("model_")
        if model is None:
            raise AttributeError(f"{type(self).__name__!r} is not fitted, so it has no 'choice_'.")
        maps = (model.row_map, model.column_map)
        said = (None if one is None else one.settings for one in maps)
        families = model.spectral_settings, model.squares_settings
        return ClickChoice(*families, model.share, model.trials, *said)

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        columns: Sequence[str | int] | str | None = None,
        row_attributes: Any = None,
        column_attributes: Any = None,
    ) -> ImplicitCompletion:
        """Fit to clicks. Every form of X gives the same model.

        A fit that fails or is interrupted leaves the estimator as it was.

        Parameters
        ----------
        X : tuple, sparse matrix, array, CellList or table
            A tuple (rows, cols) or (rows, cols, counts[, shape]), a sparse matrix or an array whose
            cells above zero are clicks, `pygeco.cells(...)`, or a table (pandas, polars, pyarrow,
            DuckDB) with a column of users and one of items, or the like; a column of counts may
            stand beside them. Ids may be of any type; the model keeps them. A pair that comes
            several times counts as often.
        y : array or None, default=None
            The counts of pairs.
        columns : sequence of two or three names or numbers, "matrix" or None, default=None
            Which columns of a table are the users, the items and the counts.
        row_attributes, column_attributes : table, matrix, (Attributes, table) or None, default=None
            What is known of rows and columns beforehand, as `MatrixCompletion.fit` takes it. Lines
            held out say how much it counts for new ones, and held-out clicks for others; nothing,
            where it does not help. A line without clicks is where its attributes put it.

        Returns
        -------
        ImplicitCompletion
            The estimator itself.
        """
        with (
            attend_fit(self, self.observer, self.callback) as listener,
            borrow_cluster_for(None, self.engine) as is_own_cluster,
        ):
            fit_click_model(self, X, y, columns, (row_attributes, column_attributes), listener)
            if is_own_cluster:
                self._move(HOST)
        return self

    def transform(self, X: Any, attributes: Any = None) -> Array:
        """Find coordinates of the rows of X in `components_`, each from its own clicks alone.

        Parameters
        ----------
        X : matrix or tuple (rows, cols[, counts[, shape]])
            With the columns of the fit; the rows may be new.
        attributes : table, dict, matrix or None, default=None
            What is known of these rows beside their clicks, in the form of `row_attributes` of the
            fit: a line for each row of X, in their order. Rows without clicks are where attributes
            alone put them.

        Returns
        -------
        array (rows, rank_)
        """
        return super().transform(X, attributes)

    def score(self, X: Any, y: Any = None) -> float:
        """Measure the mean nDCG@20 of lists without fitted clicks; higher is better.

        Parameters
        ----------
        X : clicks as `fit` takes them
            Of rows that were fitted, and not seen in the fit.
        y : None
            Not used.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        return float(evaluate(self, X, protocol="all", k=(20,)).ndcg[20])

    def partial_fit(
        self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None, times: Any = None
    ) -> Self:
        """Take in new clicks: all clicks are fitted again by the settings that were chosen.

        From where the model is, so that it takes a small part of the time of `fit`. A model that
        was never fitted is fitted.

        Parameters
        ----------
        X : clicks as `fit` takes them
            The new clicks; those on cells that are known are added to their counts, which are
            weighed then. New rows and columns are added, by their ids where the fit had some.
        y : array or None, default=None
            The counts of pairs.
        sample_weight, times : None
            Not used.

        Returns
        -------
        ImplicitCompletion
            The estimator itself.
        """
        if "model_" not in vars(self):
            return self.fit(X, y)
        take_in_clicks(self, X, y)
        return self
