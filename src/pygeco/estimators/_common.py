"""What the estimators on feature matrices share."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from pygeco.algorithm.penalties import Penalty, Ridge
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import seed_from
from pygeco.losses import check_size
from pygeco.objectives.validation import weights

CHECKS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


def training(estimator: Any, X: Any, y: Any, **settings: Any) -> tuple[Any, NDArray[Any]]:
    """X and y checked as scikit-learn does: X dense or CSR, float64 or float32."""
    X, y = _quiet(estimator, X, y, **CHECKS, **settings)
    check_size("X", X.data if sp.issparse(X) else X)
    if y.dtype.kind == "f":
        check_size("y", y)
    return X, y


def drop_weightless(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Array | None]:
    """Samples without those of weight zero, which are as good as not given."""
    w = weights(sample_weight, X.shape[0])
    if w is None or w.all():
        return X, y, w
    return X[w > 0], y[w > 0], w[w > 0]


def features(estimator: Any, X: Any) -> Any:
    """X for a prediction, checked against the fit."""
    return _quiet(estimator, X, reset=False, **CHECKS)


def _quiet(*args: Any, **settings: Any) -> Any:
    """scikit-learn's checks, whose sum of huge numbers may overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        return validate_data(*args, **settings)


def labels(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The classes, sorted, and the code of each label."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y: holds only one class, {classes[0]!r}; at least two are needed.")
    return classes, codes


def capped(rank: Any, most: int) -> int:
    """A rank ≥ 1, at most what the shape allows."""
    if isinstance(rank, (int, np.integer)) and not isinstance(rank, bool) and rank >= 1:
        return min(int(rank), most)
    raise ValueError(f"rank: must be an integer ≥ 1, not {rank!r}.")


def ridge(alpha: float) -> Penalty | None:
    return Ridge(alpha) if alpha else None


def seed(random_state: Any) -> int:
    """One integer from whatever scikit-learn takes as a random state."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31 - 1))
    return seed_from(random_state)


def one_column_if_binary(z: Array) -> Array:
    """A decision as scikit-learn shapes it: (N,) for two classes, else (N, K)."""
    return z[:, 0] if z.shape[1] == 1 else z
