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
from pygeco.estimators._click_input import take_held_clicks
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
    """Recommend from clicks: what people chose, without saying how much they liked it.

    By default, held-out clicks choose everything. Two families of models are tried: weighted
    squares, and singular pairs of clicks divided by powers of counts. The fit chooses the rank,
    powers and penalty of each, and how much each contributes to the scores; it then uses all
    clicks.

    Parameters
    ----------
    rank : int or "auto", default="auto"
        The rank of each family; "auto" leaves it to held-out clicks.
    squares : "auto", SquaresSettings, dict or False, default="auto"
        Weighted squares; settings that you give are kept, and False leaves the family out.
    spectral : "auto", SpectralSettings, dict or False, default="auto"
        Singular pairs of normalized clicks, likewise.
    share : "auto" or float, default="auto"
        The share of the squares in the scores, from 0 to 1.
    counts : "auto", "log", "plain" or "ignore", default="auto"
        How counts of clicks become weights: log₂(1 + count), the counts themselves, or 1. "auto" is
        "log" if the counts of the fit are heavy-tailed (a warning says so), "ignore" if all are
        equal, and "plain" otherwise. Later counts are weighed as in the fit.
    attribute_settings : "auto", dict, False or pair of these, default="auto"
        How much attributes count, for both sides, or for rows and for columns: a dict of `weight`
        (for rows or columns without clicks) and `pull` (for others, in clicks); see `ClickChoice`.
        Held-out rows, columns and clicks choose what you leave out; False ignores attributes.
    callback : callable or None, default=None
        Called with each `ClickTrial`. If it returns true, the search ends, and the best settings
        so far are fitted.
    observer : Listener or None, default=None
        Receives the start and the stop. See `Listener`.
    engine : "cpu", "cuda", "dask", a Dask client or None, default=None
        Where to fit, and where the model then stays; by default where the data are. On a cluster,
        rows and their clicks stay with the workers, and attributes are not supported.
    random_state : int, RandomState or None, default=None
        Seed of the held-out clicks and the starts; the same seed gives the same bits.
    n_jobs : int or None, default=None
        Number of threads; None or −1 uses all cores.
    verbose : int, default=0
        1 writes a line per second about the fit to standard error, 2 a line for every trial.

    Attributes
    ----------
    model_ : FittedModel
        The fitted model, immutable; it uses positions, not ids.
    choice_ : ClickChoice
        The settings that were chosen, and a table of all trials.
    factors_ : LowRank
        The matrix of scores, `U diag(s) Vᵀ`. Only the order within a row has a meaning.
    rank_ : int
        Its rank, of both families together.
    components_ : array (rank_, n)
        Vᵀ.
    singular_values_ : array (rank_,)
        Singular values of the matrix, largest first.
    seen_ : Seen
        The fitted clicks, row by row.
    row_ids_, column_ids_ : array or None
        The sorted ids of rows and columns, if a table was fitted.
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
        Shared with `MatrixCompletion`; without meaning here.
    row_attributes_, column_attributes_ : AttributeValues or None
        The attributes of rows and columns, as numbers.
    row_encoder_, column_encoder_ : Attributes or None
        How the attributes of rows and columns were turned into numbers.
    attribute_effects_ : object
        Shared with `MatrixCompletion`; without meaning here.
    lists_, drift_, time_column_ : None
        Not used: lists are ranked by the scores themselves, and times do not count.

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
        """The settings that were chosen, and a table of all trials."""
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
        """Fit clicks. Every form of X gives the same model.

        If a fit fails or is interrupted, the estimator stays as it was.

        Parameters
        ----------
        X : tuple, sparse matrix, array, CellList or table
            A tuple (rows, cols) or (rows, cols, counts[, shape]), a sparse matrix or an array whose
            cells above zero are clicks, `pygeco.cells(...)`, or a table (pandas, polars, pyarrow,
            DuckDB) with a column of users and one of items, or the like, and perhaps a column of
            counts. Ids may be of any type; the model keeps them. A pair that appears several times
            counts that many times.
        y : array or None, default=None
            The counts of pairs.
        columns : sequence of two or three names or numbers, "matrix" or None, default=None
            Which columns of a table are the users, the items and the counts.
        row_attributes, column_attributes : table, matrix, (Attributes, table) or None, default=None
            Attributes of rows and columns, as in `MatrixCompletion.fit`. Held-out rows and columns
            decide how much they count for new ones, held-out clicks how much for others; if they
            do not help, not at all. Rows and columns without clicks are placed by attributes.

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
            Attributes of these rows, in the form of `row_attributes` in the fit: one line per row
            of X, in their order. Rows without clicks are placed by attributes alone.

        Returns
        -------
        array (rows, rank_)
        """
        return super().transform(X, attributes)

    def score(self, X: Any, y: Any = None) -> float:
        """Measure the mean nDCG@20 of lists without fitted clicks; higher is better.

        Parameters
        ----------
        X : clicks as fit takes them
            Clicks of fitted rows that the fit has not seen; a matrix has the shape of the fit.
        y : array or None, default=None
            The counts of pairs.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        clicks = take_held_clicks(self, X, y)
        return float(evaluate(self, clicks, protocol="all", k=(20,)).ndcg[20])

    def partial_fit(
        self, X: Any, y: Any = None, *, sample_weight: ArrayLike | None = None, times: Any = None
    ) -> Self:
        """Add new clicks, and fit all clicks again with the settings that were chosen.

        This starts from the present model, so it takes a small part of the time of `fit`. An
        estimator that is not fitted yet is fitted.

        Parameters
        ----------
        X : clicks as fit takes them
            The new clicks. Clicks on known cells are added to their counts before these are
            weighed. New rows and columns are added, by their ids if the fit had ids.
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
