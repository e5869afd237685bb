"""What the estimators on feature matrices share: parameters, checks of samples, classes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy  # scipy.special is imported when used
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pygeco.algorithm.penalties import Penalty, Ridge
from pygeco.algorithm.solver import Solver
from pygeco.arrays.checks import check_rank, is_real
from pygeco.arrays.kinds import fill_masked
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.errors.visible_text import quote_id
from pygeco.io.model_file import Saveable
from pygeco.losses import check_size
from pygeco.losses.base import softplus
from pygeco.objectives.validation import check_weights

ClassWeight = dict[Any, float] | str | None
CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class FeatureModel(Saveable, BaseEstimator):  # type: ignore[misc]
    """Functions of feature matrices whose coefficients have low rank, and their parameters."""

    def __init__(
        self,
        rank: int,
        alpha: float,
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

    def _limit_rank(self, most: int) -> int:
        """The rank, at most what the shape allows."""
        return min(check_rank(self.rank), most)

    def _penalty(self) -> Penalty | None:
        penalty = Ridge(self.alpha)
        return penalty if penalty.alpha else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Samples(NamedTuple):
    """Rows of features, dense or CSR, their targets, and their weights."""

    X: Any
    y: NDArray[Any]
    weights: Array | None


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
