"""A target by a quadratic function of low rank."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from pygeco.algorithm.solver import Solver
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.estimators._feature_model import take_samples
from pygeco.estimators._quadratic import _QuadraticForms
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_contents import MAY_LACK, QUADRATIC
from pygeco.losses import Loss


class QuadraticRegressor(RegressorMixin, _QuadraticForms):  # type: ignore[misc]
    """Predict a target by a quadratic function xᵀAx + wᵀx + b with rank(A) ≤ rank, for any loss.

    It is fitted like each function of `QuadraticClassifier`.

    Parameters
    ----------
    rank : int or "auto", default=8
        The highest rank of A, at most d; "auto" as in `QuadraticClassifier`.
    loss : str or Loss, default="squared"
        Any loss of `pygeco.losses` with one prediction per target.
    alpha : float or "auto", default=1e-5
        The ridge; "auto" as in `LowRankClassifier`, by the loss with the scale of the targets.
    solver : Solver or None, default=None
        Settings of the algorithm.
    random_state : int, RandomState or None, default=None
        Seed of the directions; the same seed gives the same bits.
    n_jobs : int or None, default=None
        Number of threads; None or −1 uses all cores. The bits do not depend on it.
    verbose : int, default=0
        1 writes a line per second about the fit to standard error, 2 a line for every step.

    Attributes
    ----------
    components_, eigenvalues_, shifts_, coef_, intercept_ : arrays
        As in `QuadraticClassifier`, with one function.
    loss_ : Loss
        The loss, with the settings that are estimated from its residuals.
    objectives_ : list of one tuple
        The objective after each rank.
    rank_ : int
        The rank of A.
    alpha_ : float
        The ridge: as given, or as held-out samples chose it.
    choice_ : FeatureChoice or None
        What held-out samples chose, and all trials; None where nothing was "auto".
    trials_ : tuple of tuples
        The same trials as plain numbers.
    n_iter_ : int
        Steps.
    n_features_in_ : int
        d.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import QuadraticRegressor
    >>> X = np.random.default_rng(0).standard_normal((100, 3))
    >>> y = (X[:, 0] - X[:, 1]) ** 2 + X[:, 2]
    >>> bool(QuadraticRegressor(rank=1, random_state=0).fit(X, y).score(X, y) > 0.99)
    True
    """

    _contents, _may_lack = QUADRATIC, MAY_LACK

    def __init__(
        self,
        rank: int | str = 8,
        *,
        loss: str | Loss = "squared",
        alpha: float | str = 1e-5,
        solver: Solver | None = None,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        verbose: int | bool = 0,
    ) -> None:
        super().__init__(rank, alpha, solver, random_state, n_jobs, verbose)
        self.loss = loss

    @all_or_nothing
    def fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> QuadraticRegressor:
        """Fit to samples and their targets.

        Parameters
        ----------
        X : array or sparse matrix (N, d)
            The samples.
        y : array (N,)
            The targets.
        sample_weight : array (N,) or None, default=None
            A sample of weight zero counts as absent.

        Returns
        -------
        QuadraticRegressor
            The estimator itself.
        """
        X, y, w = take_samples(self, X, y, sample_weight, y_numeric=True)
        self._fit_forms(X, [y], w)
        return self

    def predict(self, X: Any) -> Array:
        """Predict on the scale of the targets.

        Parameters
        ----------
        X : array or sparse matrix (N, d)

        Returns
        -------
        array (N,)
        """
        z = self._forms(X)[:, 0]
        return self.loss_.response(z)
