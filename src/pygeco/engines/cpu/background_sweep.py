"""The half-sweep before a background: every row's own system, whose shared part is diagonal.

Λ_i = diag(d_i) + Σ_j w_e v_j v_jᵀ,  d_i = background_i e + ridge_i,  b_i = Σ_j w_e y_e v_j.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from pygeco.engines.cpu.parallel import spread


@spread
def solve_lines(
    pointers, indices, values, weights, V, e, background, ridge, jitter, out, unexplained
):  # fmt: skip
    """Solve every row's system into `out` (m, s), which holds the start on entry."""
    s = V.shape[1]
    for i in prange(len(pointers) - 1):
        M, b = np.zeros((s, s), V.dtype), np.zeros(s, V.dtype)
        left = 0.0
        for t in range(pointers[i], pointers[i + 1]):
            w = weights[t] if len(weights) else V.dtype.type(1)
            v = V[indices[t]]
            left += w * values[t] * values[t]
            for k in range(s):
                b[k] += w * values[t] * v[k]
                for q in range(s):
                    M[k, q] += w * v[k] * v[q]
        pull = V.dtype.type(jitter * np.trace(M) / s)
        for k in range(s):
            M[k, k] += background[i] * e[k] + ridge[i] + pull
            b[k] += pull * out[i, k]
        if pointers[i + 1] > pointers[i]:
            out[i] = np.linalg.solve(M, b)
        else:
            out[i] = 0
        for k in range(s):
            left -= b[k] * out[i, k]
        unexplained[i] = left
