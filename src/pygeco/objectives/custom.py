"""Any convex smooth function of a matrix, given by two functions of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy  # its parts are imported when used

from pygeco.arrays.checks import is_whole
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.arrays.operators import Operator
from pygeco.arrays.streams import Purpose, stream
from pygeco.objectives.base import Objective
from pygeco.objectives.spans.slopes import CustomSpan

__all__ = ["Custom", "CustomGradient", "CustomSpan"]

# Trace norms, up to a half, of the random matrices at which a user's functions are tried.
TRIED_SIZES = (0.1, 1.0, 1.0, 3.0)
VALUE_ROUNDING = 1e-9  # of the values tried, by which one that cannot be negative may seem to be

Value = Callable[[LowRank], float]
Slopes = Callable[[LowRank], Any]


class Custom(Objective):
    """R(A) by two functions of your own, each of a `LowRank`.

    R must be convex: everything that is said of a solution rests on it. Both functions are tried
    at a few random matrices when the objective is built, which finds slips and what is not convex
    there, but cannot prove convexity.

    Parameters
    ----------
    shape : tuple of two ints
        Of A.
    value : callable
        R(A). `A.to_dense()` is the m × n array for those who want it; `A.entries(i, j)` and
        `A.matvec(x)` never form it.
    gradient : callable
        ∇R(A), m × n: an array, a scipy sparse matrix or a LinearOperator.
    smoothness : float or None, default=None
        β where it is known; only the bounds of Theorems 1 and 2 ask for it.
    nonnegative : bool, default=False
        Whether R ≥ 0 everywhere: certificates are sharper for it, and with `Trace` the optimum can
        be proved.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Custom, minimize
    >>> Y = np.diag([3.0, 2.0, 1.0])
    >>> objective = Custom(
    ...     Y.shape,
    ...     lambda A: float(np.sum((A.to_dense() - Y) ** 2)),
    ...     lambda A: 2 * (A.to_dense() - Y),
    ...     nonnegative=True,
    ... )
    >>> minimize(objective, 2, random_state=0).A.s.round(3).tolist()
    [3.0, 2.0]
    """

    shape: tuple[int, int]
    nonnegative: bool = False
    _size: float = 0.0

    def __init__(
        self,
        shape: tuple[int, int],
        value: Value,
        gradient: Slopes,
        *,
        smoothness: float | None = None,
        nonnegative: bool = False,
    ) -> None:
        sizes = tuple(shape) if np.iterable(shape) else ()
        if len(sizes) != 2 or not all(is_whole(size) and size >= 1 for size in sizes):
            raise ValueError(f"shape: expected two sizes ≥ 1, not {shape!r}.")
        for name, function in (("value", value), ("gradient", gradient)):
            if not callable(function):
                raise ValueError(
                    f"{name}: expected a function of a LowRank, not {type(function).__name__}."
                )
        self.shape = int(sizes[0]), int(sizes[1])
        self._value, self._gradient, self._smoothness = value, gradient, smoothness
        self.nonnegative = bool(nonnegative)
        self._check()
        self._check_convex()

    @property
    def smoothness(self) -> float:
        if self._smoothness is None:
            raise ValueError("smoothness: not known for this Custom objective; pass smoothness=β.")
        return self._smoothness

    def value(self, A: LowRank) -> float:
        given = _ask(self._value, A)
        number = np.squeeze(np.asarray(given))
        if number.ndim or number.dtype.kind not in "fiub":
            raise ValueError(
                f"value: returned {type(given).__name__}, but R(A) is one real number; sum over "
                "the cells or samples."
            )
        found = float(number)
        if not np.isfinite(found):
            raise ValueError(f"value: returned {found}; it must be finite at every matrix.")
        if self.nonnegative and found < -VALUE_ROUNDING * self._size:
            raise ValueError(
                f"nonnegative: value is {found:.6g} at a matrix; leave nonnegative=False."
            )
        return found

    def gradient(self, A: LowRank) -> CustomGradient:
        G = self.slopes(A)
        return CustomGradient(G, self.value(A), _along(G, A))

    def slopes(self, A: LowRank) -> Any:
        """∇R(A) as the user gives it: whatever multiplies."""
        G = _ask(self._gradient, A)
        if scipy.sparse.issparse(G):
            G = scipy.sparse.csr_array(G)
        elif not _is_operator(G):
            array = np.asarray(G)
            if array.dtype.kind not in "fiub":
                raise ValueError(
                    f"gradient: returned {type(G).__name__}; return ∇R(A) as a real array, a scipy "
                    "sparse matrix or a LinearOperator."
                )
            G = array.astype(float, copy=False)
        if G.shape != self.shape:
            raise ValueError(f"gradient: has shape {G.shape}, but the objective's is {self.shape}.")
        numbers = (
            G.data if scipy.sparse.issparse(G) else G if isinstance(G, np.ndarray) else np.zeros(0)
        )
        if not np.all(np.isfinite(numbers)):
            raise ValueError("gradient: has NaN or infinite entries; it must be finite everywhere.")
        return G

    def span(self, A: LowRank) -> CustomSpan:
        return CustomSpan(self, A.U, A.V)

    def _check(self) -> None:
        """Central differences along a random rank-one direction, at a random rank-one matrix."""
        rng = stream(Purpose.OBJECTIVE_CHECK)
        (u, v), (p, q) = ([rng.standard_normal(k) for k in self.shape] for _ in range(2))
        U = np.column_stack([u / np.linalg.norm(u), p / np.linalg.norm(p)])
        V = np.column_stack([v / np.linalg.norm(v), q / np.linalg.norm(q)])
        t = 1e-4
        middle = LowRank(U, np.array([1.0, 0.0]), V)
        G = self.slopes(middle)
        if _is_operator(G):
            _check_transpose(G, U)
        ahead, here, behind = (self.value(LowRank(U, np.array([1.0, x]), V)) for x in (t, 0, -t))
        slope = float(U[:, 1] @ _product(G, V[:, 1]))
        rise = (ahead - behind) / (2 * t)
        bend = (ahead - 2 * here + behind) / t
        noise = 1e-13 * max(abs(ahead), abs(here), abs(behind)) / t
        if abs(rise - slope) > 1e-3 * (abs(rise) + abs(slope)) + abs(bend) + noise:
            raise ValueError(
                f"gradient: says {slope:.6g} along a random direction where the value rises by "
                f"{rise:.6g}; it is not the derivative of `value`."
            )

    def _check_convex(self) -> None:
        """⟨∇R(A) − ∇R(B), A − B⟩ ≥ 0 for zero and some random matrices of rank one and two."""
        rng = stream(Purpose.OBJECTIVE_CHECK, 0, 1)
        tried = [LowRank.zero(self.shape)]
        for size in TRIED_SIZES:
            U, V = (rng.standard_normal((k, 2)) for k in self.shape)
            s = (
                size
                * np.array([1.0, 0.5])
                / (np.linalg.norm(U, axis=0) * np.linalg.norm(V, axis=0))
            )
            tried.append(LowRank(U, s, V))
        slopes = [self.slopes(A) for A in tried]
        for (A, G), (B, H) in combinations(zip(tried, slopes, strict=True), 2):
            own = [_along(G, A), -_along(G, B), -_along(H, A), _along(H, B)]
            if sum(own) < -1e-9 * sum(abs(part) for part in own):
                raise ValueError(
                    "value: is not convex, its slope falls along a line between two random "
                    "matrices; only convex functions can be minimized here."
                )
        if self.nonnegative:
            self._size = max(self.value(A) for A in tried)


@dataclass(frozen=True, eq=False)
class CustomGradient(Operator):
    """The user's gradient as an operator."""

    G: Any
    value: float
    inner: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.G.shape

    def matvec(self, x: Array) -> Array:
        return np.asarray(self.G @ x)

    def rmatvec(self, y: Array) -> Array:
        return np.asarray(self.G.T @ y)

    def matmat(self, X: Array) -> Array:
        return np.asarray(self.G @ X)

    def rmatmat(self, Y: Array) -> Array:
        return np.asarray(self.G.T @ Y)


def _ask(function: Callable[[LowRank], Any], A: LowRank) -> Any:
    """What a user's function says; its own errors with a note of what it was given."""
    try:
        return function(A)
    except (TypeError, ValueError, AttributeError) as error:
        error.add_note("pygeco calls it with a LowRank A; A.to_dense() is the m × n array.")
        raise


def _product(G: Any, V: Array) -> Array:
    return np.asarray(G @ V)


def _along(G: Any, A: LowRank) -> float:
    """⟨G, A⟩."""
    return float(np.sum(A.s * np.sum(A.U * _product(G, A.V), axis=0)))


def _is_operator(G: object) -> bool:
    from scipy.sparse.linalg import LinearOperator

    return isinstance(G, LinearOperator)


def _check_transpose(G: Any, U: Array) -> None:
    try:
        G.T @ U
    except (NotImplementedError, TypeError):  # what scipy raises depends on how G was made
        raise ValueError("gradient: the LinearOperator needs rmatvec as well.") from None
