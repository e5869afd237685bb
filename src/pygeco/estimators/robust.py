"""Robust principal components as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from pygeco.algorithm.column_scales import column_thresholds
from pygeco.algorithm.events import Listener
from pygeco.algorithm.robust import fit_robust
from pygeco.algorithm.threshold import Schedule
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.checks import is_real
from pygeco.arrays.kinds import answer, contiguous, fill_masked, foreign, moved, on, zeros
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.engines import choose_engine
from pygeco.estimators._input import allow_missing, check_columns, check_components, check_points
from pygeco.estimators._progress import attend_fit, take_seed
from pygeco.estimators._robust_doubts import MIN_CUTOFF, warn_of_doubts
from pygeco.estimators._robust_rank import settle_components
from pygeco.estimators._robust_rows import place_rows
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_contents import MAY_LACK, ROBUST
from pygeco.io.model_file import Saveable
from pygeco.losses import Loss, find_loss
from pygeco.objectives.dense.input import check_extremes
from pygeco.objectives.dense.objective import Dense

TYPES = [np.float64, np.float32, np.uint8, np.int8, np.int16, np.uint16]  # else float64


class RobustPCA(Saveable, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Split X into low rank + sparse outliers + noise; cells may be missing.

    Minimizes Huber's loss under a rank constraint (the paper's section 4). By default its threshold
    shrinks with the residuals: a matrix that has exactly low rank, apart from gross outliers, is
    recovered to about `tol`; with noise the threshold ends at 1.345 robust standard deviations.

    The last sweeps leave out cells beyond 3.5 robust deviations, unless more than a quarter of the
    cells are parameters or the loss has a setting of yours: many of one sign would move the rest.

    The rank grows in five blocks of leading singular pairs of the clipped residuals; sweeps refine
    the result: about a hundred passes over the data, O(m n r) each. The memory used beyond the
    input is about a byte a cell; bytes and short integers are read as they are.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        The rank r, not counting the location. "auto" is what the evidence finds under Huber's loss.
        For a video, give a small number.
    loss : "huber" or a loss object, default="huber"
        `pygeco.losses.Huber(delta)` fixes the final threshold. A setting that another loss leaves
        open follows the residuals too; one that it sets is used as it is.
    center : bool, default=True
        Model a location too: column medians first, refined by the sweeps.
    decreasing : bool, default=True
        Let the threshold, or the scale of another loss, shrink with the residuals. If False, it is
        set once, from the residuals of the grown model.
    threshold : "auto" or float, default="auto"
        A cell is an outlier if its residual exceeds this. "auto" is `cutoff` robust standard
        deviations of its own column, and at least 100 `tol` of the data's spread; a number, in the
        units of the data, applies to all cells.
    cutoff : float, default=3.5
        The deviations of `threshold="auto"` (3.5 is from Iglewicz and Hoaglin, 1993). A column's
        deviation is shrunk toward `scale_`; the fewer cells it has, the more.
    tol : float, default=1e-6
        Stop when a sweep moves the matrix by less than this share of its norm (or, once the noise
        is reached, by less than a twentieth of the statistical error).
    max_iter : int, default=200
        Maximum number of sweeps after the rank has grown.
    engine : "cpu", "cuda" or None, default=None
        Where to fit; by default where X is: on the GPU for CuPy arrays.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the start vectors of the singular pairs.
    n_jobs : int or None, default=None
        Number of threads; None or −1 uses all cores. The bits do not depend on it.
    verbose : int, default=0
        1 writes a line per second about the fit to standard error, 2 a line for every step.

    Attributes
    ----------
    components_ : array (n_components, n_features)
        Orthonormal rows, the largest number of each positive, as in scikit-learn's PCA.
    location_ : array (n_features,)
        Zero without `center`.
    singular_values_ : array (n_components,)
        Singular values of the low-rank part, without the location.
    low_rank_ : LowRank
        The low-rank part, including the location; `low_rank_.to_dense()` is the matrix.
    outliers_ : sparse array (n_samples, n_features)
        X − low rank at the outliers.
    outlier_mask_ : bool array (n_samples, n_features)
        Where the outliers are, computed on demand.
    threshold_ : array (n_features,), or float if you set a number
        The residual above which a cell of the column is an outlier.
    scale_, spread_ : float
        Robust standard deviations of the noise, and of the data about their location.
    loss_ : Loss
        The loss of the last sweep, with its threshold or scale; `transform` uses it too.
    n_components_, n_iter_, n_features_in_ : int
        The rank, the sweeps after the rank has grown, and the columns of X.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 40))
    >>> wild = rng.random(X.shape) < 0.1
    >>> model = RobustPCA(2, random_state=0).fit(X + 100 * wild)
    >>> bool(np.allclose(model.low_rank_.to_dense(), X, atol=1e-4))
    True
    >>> bool(np.all(model.outlier_mask_ == wild))
    True
    """

    _contents, _may_lack = ROBUST, MAY_LACK

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        loss: str | Loss = "huber",
        center: bool = True,
        decreasing: bool = True,
        threshold: str | float = "auto",
        cutoff: float = 3.5,
        tol: float = 1e-6,
        max_iter: int = 200,
        engine: str | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        self.n_components = n_components
        self.loss = loss
        self.center = center
        self.decreasing = decreasing
        self.threshold = threshold
        self.cutoff = cutoff
        self.tol = tol
        self.max_iter = max_iter
        self.engine = engine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> RobustPCA:
        """Fit to a dense array, NaN for missing cells.

        Parameters
        ----------
        X : array (n_samples, n_features)
            Floats, bytes and short integers are read as they are.
        y : None
            Not used.

        Returns
        -------
        RobustPCA
            The estimator itself.
        """
        X = self._check_table(X, reset=True)
        self._check_parameters(X.shape)
        with attend_fit(self) as listener, one_blas_thread():  # passes have threads of their own
            dense = Dense(X, engine=self.engine)
            check_extremes(dense.table, find_loss(self.loss))
            self._fit(dense, np.float32 if X.dtype == np.float32 else np.float64, listener)
        return self

    def _fit(self, dense: Dense, real: type, listener: Listener) -> None:
        eps = float(np.finfo(dense.dtype).eps)
        loss, seed = find_loss(self.loss), take_seed(self.random_state)
        X, center = dense.table.values, self.center
        rank = settle_components(self.n_components, X, loss, seed, center=center)
        fit = fit_robust(
            dense,
            rank,
            Schedule(loss, self.decreasing),
            center=center,
            tol=max(self.tol, 20 * eps),
            max_sweeps=self.max_iter,
            seed=seed,
            listener=listener,
        )
        signs = np.where(fit.A.V.max(axis=0) < -fit.A.V.min(axis=0), -1.0, 1.0)
        self.components_: Array = contiguous((fit.A.V * signs).T, real)
        self.location_: Array = fit.location.astype(real)
        self.singular_values_: Array = fit.A.s.astype(real)
        whole = fit.whole()
        self.low_rank_ = whole.astype(real)
        self.scale_, self.spread_, self.loss_ = fit.scale, fit.spread, fit.loss
        self.threshold_: Array | float
        if self.threshold == "auto":
            scales = fit.scale, self.cutoff, 100 * max(self.tol, eps) * fit.spread
            self.threshold_ = column_thresholds(dense, whole, *scales, rank + int(center), fit.free)
        else:
            self.threshold_ = float(self.threshold)
        self.outliers_ = dense.outliers(whole, self.threshold_)
        wild = self.outliers_.nnz / dense.total_weight
        judged = self.threshold == "auto" and self.cutoff >= MIN_CUTOFF
        warn_of_doubts(fit, wild if judged else 0.0, self.max_iter)
        self.n_components_ = self._n_features_out = rank
        self.n_iter_ = fit.sweeps

    @property
    def outlier_mask_(self) -> NDArray[np.bool_]:
        """Where the outliers are."""
        check_is_fitted(self)
        mask = np.zeros(self.outliers_.shape, dtype=bool)
        mask[self.outliers_.nonzero()] = True
        return mask

    def transform(self, X: Any) -> Array:
        """Find coordinates in `components_`: each row's robust regression on them, by itself.

        Parameters
        ----------
        X : array (n_samples, n_features)
            NaN for missing cells.

        Returns
        -------
        array (n_samples, n_components)
        """
        check_is_fitted(self)
        X = self._check_table(X, reset=False)
        if X.dtype.kind == "f" and bool(np.isnan(X).all()):
            return zeros((len(X), self.n_components_), X, X.dtype)
        V = self.components_.T.astype(float)
        dense = Dense(X, self.loss_, engine=choose_engine(None, V))
        dense = dense.shift(zeros(len(X), V), self.location_.astype(float))
        with one_blas_thread():
            W = place_rows(dense, V, self)
        return answer(W.astype(np.float32 if X.dtype == np.float32 else np.float64), X)

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Return coordinates times `components_`, plus the location.

        Parameters
        ----------
        X : array (n_samples, n_components)
            Coordinates.

        Returns
        -------
        array (n_samples, n_features)
        """
        check_is_fitted(self)
        W = check_points(X, len(self.components_))
        return answer(on(W, self.components_) @ self.components_ + self.location_, X)

    @all_or_nothing
    def to(self, engine: str) -> RobustPCA:
        """Move the fitted model, in place, to another engine.

        Parameters
        ----------
        engine : "cpu" or "cuda"

        Returns
        -------
        RobustPCA
            The estimator itself.
        """
        check_is_fitted(self)
        like = choose_engine(engine).kind
        for name in ("components_", "location_", "low_rank_"):
            setattr(self, name, moved(getattr(self, name), like))
        self.engine = engine
        return self

    def _check_table(self, X: Any, *, reset: bool) -> NDArray[Any]:
        if foreign(X):  # scikit-learn's checks do not know a device's arrays; `Dense` has its own
            check_columns(self, X.shape[1], reset=reset)
            return X
        settings = {"reset": reset, "dtype": TYPES, "ensure_all_finite": "allow-nan"}
        return validate_data(self, fill_masked(X), **settings)

    def _check_parameters(self, shape: tuple[int, int]) -> None:
        if self.n_components != "auto":
            check_components(self.n_components, shape, instead=" or 'auto'")
        limit: Any = self.threshold
        is_auto = isinstance(limit, str) and limit == "auto"
        if not (is_auto or (is_real(limit) and 0 < limit < np.inf)):
            raise ValueError(f"threshold: expected 'auto' or a positive number, not {limit!r}.")
        for name in ("cutoff", "tol", "max_iter"):
            if not (is_real(value := getattr(self, name)) and value > 0):
                raise ValueError(f"{name}: must be positive, not {value!r}.")
        if type(loss := find_loss(self.loss)).targets is not Loss.targets:
            raise ValueError(f"loss: {loss.name!r} is of labels, levels or counts, not of numbers.")

    def __sklearn_tags__(self) -> Any:
        return allow_missing(super().__sklearn_tags__())
