"""Input of the objectives that measure: matrices, targets and weights, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import ArrayLike

from pygeco.arrays.kinds import as_array
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.losses import Loss, Multinomial, check_size, find_loss, prepare_loss

MAX_GRAM_SIZE = 1000  # up to this size an exact eigenvalue is cheaper than products

Matrix = Any  # a dense array or a scipy sparse array: both have `@` and `.T`


def check_matrix(name: str, given: Any) -> Matrix:
    """A finite real matrix in float64, dense or CSR."""
    if scipy.sparse.issparse(given):
        X = scipy.sparse.csr_array(given)
        numbers = X.data
    else:
        X = numbers = as_array(given)
    if X.ndim != 2:
        raise ValueError(f"{name}: expected a 2-dimensional array, got {X.ndim} dimension(s).")
    if 0 in X.shape:
        raise ValueError(f"{name}: has shape {X.shape}; at least one row and column are needed.")
    check_finite(name, numbers)
    return X.astype(float) if scipy.sparse.issparse(X) else np.ascontiguousarray(X, dtype=float)


def check_finite(name: str, numbers: Any) -> None:
    """Raise unless these are finite real numbers."""
    if numbers.dtype.kind not in "fiub":
        raise ValueError(f"{name}: expected real numbers, not {numbers.dtype}.")
    if not np.all(np.isfinite(numbers)):
        count = int(np.sum(~np.isfinite(numbers)))
        raise ValueError(f"{name}: {count} value(s) are NaN or infinity; drop or impute them.")
    check_size(name, numbers)


def prepare_targets(
    name: str, loss: str | Loss, y: ArrayLike, rows: int, w: Array | None = None
) -> tuple[Loss, Array]:
    """The loss settled on the targets, and the targets: (N, K), or class codes (N,).

    A row of weight zero takes the target of another, so that it settles nothing.
    """
    given = as_array(y)
    if given.ndim not in (1, 2) or len(given) != rows:
        raise ValueError(
            f"{name}: has shape {given.shape}, but {rows} rows are measured; one target a row."
        )
    if w is not None and not w.all():
        given = given.copy()
        given[w == 0] = given[np.argmax(w)]
    if loss == "multinomial" or isinstance(loss, Multinomial):
        if given.ndim != 1:
            raise ValueError(f"{name}: the multinomial loss needs labels (N,), not {given.shape}.")
        if given.dtype.kind == "f":
            check_finite(name, given)
        settled = (Multinomial() if isinstance(loss, str) else loss).fitted(given, weights=w)
        return settled, settled.targets(given)
    check_finite(name, given)
    try:
        each = None if w is None else np.broadcast_to(w, given.T.shape).T
        fitted, values = prepare_loss(loss, np.asarray(given, dtype=float), each)
    except ValueError as error:
        raise ValueError(str(error).replace("values:", f"{name}:", 1)) from None
    return fitted, values.reshape(rows, -1)


def prepare_scalar_targets(
    loss: str | Loss, y: ArrayLike, rows: int, w: Array | None
) -> tuple[Loss, Array]:
    """The same where each measurement is one number: targets (N, 1)."""
    loss = find_loss(loss)
    if np.ndim(y) != 1:
        raise ValueError(f"y: expected a 1-dimensional array, got {np.ndim(y)} dimension(s).")
    return prepare_targets("y", loss, y, rows, w)


def check_offsets(offset: ArrayLike | None, rows: int) -> Array | float:
    """Fixed parts of the predictions, (N, 1), or zero."""
    if offset is None:
        return 0.0
    o = np.asarray(offset, dtype=float)
    if o.shape != (rows,):
        raise ValueError(f"offset: expected shape ({rows},), one per row, not {o.shape}.")
    check_finite("offset", o)
    return o[:, None]


def check_weights(sample_weight: ArrayLike | None, rows: int) -> Array | None:
    """Weights (N,), none negative and one positive at least; None where there are none."""
    if sample_weight is None:
        return None
    w = as_array(sample_weight).astype(float)
    if w.shape != (rows,):
        raise ValueError(f"sample_weight: expected shape ({rows},), one per row, not {w.shape}.")
    if not (np.all(np.isfinite(w)) and w.min() >= 0 and w.max() > 0):
        raise ValueError("sample_weight: weights must be finite, ≥ 0 and not all zero.")
    return w


def normalize_weights(w: Array | None, rows: int) -> Array:
    """Weights (N, 1) that sum to one."""
    return np.full((rows, 1), 1 / rows) if w is None else (w / w.sum())[:, None]


def scale_rows(w: Array, X: Matrix) -> Matrix:
    """diag(w) X for a column w."""
    return X.multiply(w).tocsr() if scipy.sparse.issparse(X) else w * X


def find_gram(X: Matrix, w: Array) -> Array:
    """Xᵀdiag(w)X for a column w, (d, d); of more than MAX_GRAM_SIZE columns its diagonal (d,)."""
    scaled = scale_rows(w, X)
    if X.shape[1] > MAX_GRAM_SIZE:
        return np.asarray((scaled * X).sum(axis=0)).reshape(-1)
    product = scaled.T @ X
    return product.toarray() if scipy.sparse.issparse(product) else product


def find_top_square(X: Matrix) -> float:
    """σ₁(X)², from the Gram of the shorter side where that is small, else by Lanczos."""
    short = min(X.shape)
    if short <= MAX_GRAM_SIZE:
        gram = X.T @ X if X.shape[1] == short else X @ X.T
        dense = gram.toarray() if scipy.sparse.issparse(gram) else gram
        top = float(scipy.linalg.eigvalsh(dense, subset_by_index=[short - 1, short - 1])[0])
    else:
        from scipy.sparse.linalg import svds

        start = stream(Purpose.SMOOTHNESS).standard_normal(short)
        found = svds(X, k=1, v0=start, return_singular_vectors=False)
        top = float(found[0]) ** 2
    return max(top, 0.0) * (1 + 1e-9)  # rounding must not make a bound out of reach
