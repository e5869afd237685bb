"""Small dense linear algebra with a defined outcome for singular input."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from pygeco.factors import Array


def solve_psd(M: Array, force: Array) -> Array:
    """M⁻¹ force by Cholesky; the least-norm solution where M is singular."""
    try:
        factor = scipy.linalg.cho_factor(M)
        x = scipy.linalg.cho_solve(factor, force)
        x = x + scipy.linalg.cho_solve(factor, force - M @ x)
        if np.all(np.isfinite(x)) and np.linalg.norm(force - M @ x) <= 1e-8 * np.linalg.norm(force):
            return x
    except scipy.linalg.LinAlgError:
        pass
    values, vectors = scipy.linalg.eigh(M)
    keep = values > len(M) * np.finfo(float).eps * max(values[-1], 0.0)
    out = vectors[:, keep] @ ((vectors[:, keep].T @ force) / values[keep])
    return out
