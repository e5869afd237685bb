"""One side of a sweep over clicks: every row's own small problem before a common background.

With C = Vᵀdiag(κ)V = Q diag(e) Qᵀ and V Q in place of V, the background is diagonal in every row:
Λ_i = α ρ_i diag(e) + λ_i I + Σ_j w_e v_j v_jᵀ. A ridge does not see the rotation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.arrays.kinds import HOST, distant
from pygeco.arrays.low_rank import Array
from pygeco.engines.protocol import Engine
from pygeco.engines.values import Cells, Ridges


class Swept(NamedTuple):
    """U and V of the same rotation, the rotation, and what is left of the objective's sum."""

    factor: Array
    partner: Array
    rotation: Array
    unexplained: float


class Basis(NamedTuple):
    """What a background asks of its columns V, whichever rows come: e, Q, and V in that basis."""

    values: Array
    vectors: Array
    partner: Array
    longest: float  # max_j ‖v_j‖²


def find_basis(engine: Engine, partner: Array, weights: Array) -> Basis:
    """The basis of C = Vᵀdiag(weights)V, where V is `partner`. O(n s² + s³)."""
    e, Q = np.linalg.eigh(engine.weighted_gram(partner, weights))
    turned = engine.rotate(partner, Q.astype(partner.dtype))
    return Basis(e, Q, turned, float(np.max(np.einsum("ik,ik->i", partner, partner))))


def sweep_rows(
    cells: Cells,
    partner: Array,
    *,
    background: Array,
    weights: Array,
    ridge: Array,
    start: Array | None = None,
    jitter: float = 0.0,
    basis: Basis | None = None,
) -> Swept:
    """argmin over u_i of Σ w (y − ⟨u_i, v_j⟩)² + background_i u_iᵀ C u_i + ridge_i ‖u_i‖².

    V (n, s) is `partner` and C = Vᵀdiag(weights)V. Where background and ridge hold some row by less
    than the share `jitter` of a click, that share pulls rows to their `start`. The precision is the
    partner's. O(|E| s² + (m + n) s²), where rows have fewer cells than s; a `basis` that is known
    spares what does not depend on the rows.
    """
    engine, s = cells.engine, partner.shape[1]
    e, Q, turned, longest = basis or find_basis(engine, partner, weights)
    heaviest = float(cells.weights.max()) if len(cells.weights) else 1.0
    click = heaviest * longest
    hold = float(background.min()) * max(0.0, float(e[0])) + float(ridge.min())
    if start is None:
        like = HOST if distant(partner) else partner  # columns beside rows on a cluster are here
        begin: Array = np.zeros_like(like, shape=(cells.groups, s), dtype=partner.dtype)
    else:
        begin = engine.rotate(start.astype(partner.dtype), Q.astype(partner.dtype))
    ridges = Ridges(
        partner=turned,
        bias=None,
        variance=None,
        bias_variance=None,
        ridge=ridge,
        prior=np.eye(s),
        shift=np.zeros(s),
        tau=1.0,
        jitter=jitter if hold < jitter * click else 0.0,
        noise=None,
        offsets=False,
        background=background,
        spectrum=np.maximum(e, 0.0),
    )
    solved = engine.half_sweep(cells, begin, ridges, variances=False)
    return Swept(solved.out, turned, Q, solved.unexplained)
