"""Several targets from a coefficient matrix of low rank."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin

from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.estimators._feature_model import take_samples
from pygeco.estimators._linear import _LowRankLinear
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_contents import LINEAR, MAY_LACK, REGRESSOR
from pygeco.losses import Loss
from pygeco.losses import find_loss as loss_named


class ReducedRankRegressor(MultiOutputMixin, RegressorMixin, _LowRankLinear):  # type: ignore[misc]
    """Predict several targets with one low-rank matrix of coefficients W, for any loss.

    Minimizes the mean over samples of Σ_k loss(x W_kᵀ + b_k, y_k) + alpha ‖W‖²_F over
    rank(W) ≤ rank. With the squared loss this is reduced-rank regression (Anderson 1951).

    Features may have any units and any means; only the ridge depends on their units, and the fit
    of up to 1,000 samples to twice as many features or more, which without a ridge is that of least
    norm. If the fit does not converge, scikit-learn's ConvergenceWarning says so.

    Parameters
    ----------
    rank : int or "auto", default=10
        As in `LowRankClassifier`; one target allows rank 1, which is ordinary regression.
    loss : str or Loss, default="squared"
        Any loss of `pygeco.losses` with one prediction per target.
    alpha : float or "auto", default=0.0
        The ridge; "auto" as in `LowRankClassifier`, by the loss with the scale of the targets.
    fit_intercept : bool, default=True
        Whether the predictions have free constants.
    solver : Solver or None, default=None
        None is `Solver(refine=True)`.
    random_state : int, RandomState or None, default=None
        Seed of the directions; the same seed gives the same bits.
    n_jobs : int or None, default=None
        Number of threads; None or −1 uses all cores. The bits do not depend on it.
    verbose : int, default=0
        1 writes a line per second about the fit to standard error, 2 a line for every step.

    Attributes
    ----------
    coef_ : array (K, d)
        W, computed on demand.
    intercept_ : array (K,)
        The constants.
    factors_ : LowRank
        W as `U diag(s) Vᵀ`.
    loss_ : Loss
        The loss, with the settings that are estimated from its residuals.
    path_ : Path
        One step per rank.
    rank_ : int
        The rank of W.
    alpha_ : float
        The ridge: as given, or as held-out samples chose it.
    choice_ : FeatureChoice or None
        What held-out samples chose, and all trials; None where nothing was "auto".
    trials_ : tuple of tuples
        The same trials as plain numbers.
    n_iter_ : int
        Steps of the path.
    one_target_ : bool
        Whether y had one dimension; predictions then have one too.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import ReducedRankRegressor
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> Y = X @ np.outer([1.0, 0.0, 2.0, 0.0], [1.0, 2.0, 3.0]) + 1.0
    >>> model = ReducedRankRegressor(rank=1, random_state=0).fit(X, Y)
    >>> model.coef_.shape, model.intercept_.round(2).tolist()
    ((3, 4), [1.0, 1.0, 1.0])
    """

    _contents, _may_lack = LINEAR | REGRESSOR, MAY_LACK

    def __init__(
        self,
        rank: int | str = 10,
        *,
        loss: str | Loss = "squared",
        alpha: float | str = 0.0,
        fit_intercept: bool = True,
        solver: Solver | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(rank, alpha, solver, random_state, n_jobs, verbose)
        self.loss = loss
        self.fit_intercept = fit_intercept

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> ReducedRankRegressor:
        """Fit to samples and their targets.

        Parameters
        ----------
        X : array or sparse matrix (N, d)
            The samples.
        y : array (N, K) or (N,)
            The targets.
        sample_weight : array (N,) or None, default=None
            A sample of weight zero counts as absent.

        Returns
        -------
        ReducedRankRegressor
            The estimator itself.
        """
        X, y, w = take_samples(self, X, y, sample_weight, multi_output=True, y_numeric=True)
        self.loss_ = self._minimize(X, y, w, loss_named(self.loss))
        self.one_target_ = np.ndim(y) == 1
        return self

    def predict(self, X: Any) -> Array:
        """Predict on the scale of the targets.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N, K) or (N,)
        """
        z = self._linear(X)
        z = self.loss_.response(z)
        return z[:, 0] if self.one_target_ else z
