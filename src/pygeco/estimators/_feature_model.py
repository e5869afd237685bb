"""What the estimators on feature matrices share: parameters, checks of samples, classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.special is imported when used
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from pygeco.algorithm.penalties import Penalty, Ridge
from pygeco.algorithm.solver import Solver
from pygeco.arrays.blas_threads import one_blas_thread
from pygeco.arrays.checks import check_rank, is_real
from pygeco.arrays.kinds import fill_masked
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.errors.visible_text import quote_id
from pygeco.estimators.feature_choice import (
    MAX_RANK,
    FeatureChoice,
    FeatureTrial,
    Question,
    judge,
    split_samples,
)
from pygeco.io.model_file import Saveable
from pygeco.losses import check_size
from pygeco.losses.base import softplus
from pygeco.objectives.validation import check_weights

ClassWeight = dict[Any, float] | str | None
CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class FeatureModel(Saveable, BaseEstimator):  # type: ignore[misc]
    """Functions of feature matrices whose coefficients have low rank, and their parameters."""

    _least_rank = 1  # that may be found

    def __init__(
        self,
        rank: int | str,
        alpha: float | str,
        solver: Solver | None,
        random_state: RandomState,
        n_jobs: int | None,
        verbose: int | bool,
    ) -> None:
        self.rank = rank
        self.alpha = alpha
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settle(
        self, X: Any, labels: Any, most: int, seed: int, ask: Callable[[range], Question]
    ) -> int:
        """The rank, at most `most`, and `alpha_`: as given, or as samples held out choose them.

        `ask` says of these ranks what is tried. `labels` are those of a classifier.
        """
        find_alpha, find_rank = is_auto(self.alpha), is_auto(self.rank)
        rank = MAX_RANK if find_rank else check_rank(self.rank, instead=" or 'auto'")
        rank = min(rank, most)
        self.trials_: tuple[tuple[float, int, float, float], ...] = ()
        self.alpha_ = 0.0 if find_alpha else check_alpha(self.alpha)
        if not (find_alpha or find_rank):
            return rank
        folds = split_samples(X, labels if is_classifier(self) else None, seed)
        question = ask(range(self._least_rank if find_rank else rank, rank + 1))
        if not find_alpha:
            question = question._replace(alphas=np.array([self.alpha_]))
        with one_blas_thread():
            trials = judge(question, folds)
        self.trials_ = tuple((t.alpha, t.rank, t.loss, t.error) for t in trials)
        choice = FeatureChoice.of(trials)
        self.alpha_ = choice.alpha
        return choice.rank

    @property
    def choice_(self) -> FeatureChoice | None:
        """What held-out samples chose, and all trials; None where nothing was to be chosen."""
        check_is_fitted(self)
        trials = getattr(self, "trials_", ())  # which files of earlier versions lack
        found = [FeatureTrial(*trial) for trial in trials]
        return FeatureChoice.of(found) if found else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def is_auto(setting: object) -> bool:
    """Whether held-out samples are to choose."""
    return isinstance(setting, str) and setting == "auto"


def check_alpha(alpha: object) -> float:
    """The ridge, a finite number ≥ 0."""
    if not (is_real(alpha) and 0 <= alpha < np.inf):
        raise ValueError(f"alpha: must be a finite number ≥ 0 or 'auto', not {alpha!r}.")
    return float(alpha)


class Samples(NamedTuple):
    """Rows of features, dense or CSR, their targets, and their weights."""

    X: Any
    y: NDArray[Any]
    weights: Array | None


def make_ridge(alpha: float) -> Penalty | None:
    """The penalty; None where it is nothing."""
    return Ridge(alpha) if alpha else None


def take_samples(
    estimator: FeatureModel,
    X: Any,
    y: ArrayLike,
    sample_weight: ArrayLike | None,
    **settings: Any,
) -> Samples:
    """X and y checked as scikit-learn does, X in float64 or float32.

    Samples of weight zero are as good as not given.
    """
    rows, targets = _quiet(estimator, X, y, **CHECKS, **settings)
    targets = targets.toarray() if sp.issparse(targets) else targets
    check_size("X", rows.data if sp.issparse(rows) else rows)
    if targets.dtype.kind == "f":
        check_size("y", targets)
    w = check_weights(sample_weight, rows.shape[0])
    if w is None or w.all():
        return Samples(rows, targets, w)
    return Samples(rows[w > 0], targets[w > 0], w[w > 0])


def take_features(estimator: FeatureModel, X: Any) -> Any:
    """X for a prediction, checked against the fit."""
    return _quiet(estimator, X, reset=False, **CHECKS)


def _quiet(*args: Any, **settings: Any) -> Any:
    """scikit-learn's checks, which see no mask, and whose sum of huge numbers may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return validate_data(*fill_masked(args), **settings)


def code_labels(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes, sorted, and the code of each label."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y: holds only one class, {quote_id(classes[0])}; at least two are needed."
        )
    return classes, codes


def weigh_classes(
    class_weight: ClassWeight, classes: NDArray[Any], codes: NDArray[Any], weights: Array | None
) -> Array | None:
    """The weights of samples times those of their classes, which scikit-learn's forms say."""
    if class_weight is None:
        return weights
    own = np.ones(len(codes)) if weights is None else weights
    if isinstance(class_weight, str) and class_weight == "balanced":
        totals = np.bincount(codes, own)
        return own * (totals.sum() / (len(classes) * totals))[codes]
    if not isinstance(class_weight, dict):
        raise ValueError(
            "class_weight: expected 'balanced', a dict of classes and weights, or None, not "
            f"{class_weight!r}."
        )
    lacking = [key for key in class_weight if key not in classes.tolist()]
    if lacking and any(c not in class_weight for c in classes.tolist()):
        raise ValueError(f"class_weight: {quote_id(lacking[0])} is not a class of y.")
    given = [class_weight.get(c, 1.0) for c in classes.tolist()]
    for c, weight in zip(classes, given, strict=True):
        if not (is_real(weight) and 0 < weight < np.inf):
            raise ValueError(
                f"class_weight: the weight of {quote_id(c)} must be a finite number > 0, not "
                f"{weight!r}."
            )
    return own * np.array(given, dtype=float)[codes]


def one_column_if_binary(z: Array) -> Array:
    """A decision as scikit-learn shapes it: (N,) for two classes, else (N, K)."""
    return z[:, 0] if z.shape[1] == 1 else z


def choose_classes(z: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """The class of each sample: by the sign of the one score, or by the highest of several."""
    best = z[:, 0] > 0 if z.shape[1] == 1 else np.argmax(z, axis=1)
    return classes[best.astype(int)]


def log_probabilities(z: Array) -> Array:
    """The logarithms of P(class | x), (N, 2) by the one score of two classes, else (N, K)."""
    if z.shape[1] == 1:
        return -softplus(np.column_stack([z, -z]))
    return scipy.special.log_softmax(z, axis=1)
