"""The prior of a side's vectors: one Gaussian, about what is known of each row where that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import on, stack
from pygeco.arrays.linalg import find_inverse_root, mark_lower, solve_triangle
from pygeco.arrays.low_rank import Array
from pygeco.arrays.short_repr import show_fields
from pygeco.bayes.effects import (
    Effect,
    center_rows,
    draw_effects,
    draw_weights,
    solve_effects,
    square_effects,
    sum_pulls,
    weigh_effects,
)
from pygeco.bayes.ridge import RidgeGroup
from pygeco.engines.columns import Moments, Rows, steps_of
from pygeco.objectives.entries.half_sweep import UNKNOWN, Side

FLOAT = np.float32  # the noise of the data is far above the rounding
NEVER = 1e10  # the precision of an offset that is switched off


class Gaussian(NamedTuple):
    """The prior of one side's vectors: precision (s + 1, s + 1) and center, the offset last.

    Both are on the host. `some` says which rows have data. `effects` are what attributes add to the
    center; `centers` (m, s + 1) then are those of the rows, and `squares` the BᵀB of the effects,
    while these are fitted. `cold` is the prior of rows that have attributes and no cells.
    """

    precision: Array
    center: Array
    some: NDArray[np.bool_]
    offset: bool
    effects: tuple[Effect, ...] = ()
    centers: Array | None = None
    cold: Gaussian | None = None
    squares: tuple[Array, ...] = ()

    def __repr__(self) -> str:
        return show_fields(self)

    def on_host(self) -> tuple[str, ...]:
        return "precision", "center", "squares"

    @property
    def about(self) -> Array:
        """What the rows' vectors lie about: one center, or one a row."""
        return self.center if self.centers is None else self.centers

    def there(self, like: Array) -> Array:
        """One for rows with data, else zero, (m, 1)."""
        return on(self.some, like).astype(FLOAT)[:, None]

    @property
    def unknowns(self) -> int:
        """Numbers of a vector that are free."""
        return len(self.center) - (not self.offset)

    @classmethod
    def of(cls, side: Side, some: NDArray[np.bool_], offset: bool) -> Gaussian:
        """The most likely one for these vectors."""
        d = side.rank + 1
        return cls(np.eye(d), np.zeros(d), some, offset).update(side)

    def update(self, side: Side, groups: Sequence[RidgeGroup] = ()) -> Gaussian:
        """The most likely one over the n rows with data, its off-diagonal times n / (n + d)."""
        rows = Rows(*side, self.some)
        steps = steps_of(side.bias)
        if not groups:
            center, covariance = self._shrink(steps.measure_rows(rows, self.center))
            return self._replace(precision=np.linalg.inv(covariance), center=center)
        T = steps.center_rows(rows, self.center)
        effects = solve_effects(groups, self.effects, T, self.there(T))
        moves = center_rows(groups, effects)
        squares = square_effects(effects)
        pulls = sum_pulls(effects, squares)
        rest = steps.measure_rows(rows._replace(less=moves), self.center)
        center, covariance = self._shrink(rest, pulls / max(rest.number, 1))
        precision = np.linalg.inv(covariance)
        effects = weigh_effects(groups, effects, squares, precision, self.unknowns)
        return self._replace(
            precision=precision,
            center=center,
            effects=effects,
            centers=on(center.astype(FLOAT), moves) + moves,
            squares=squares,
        )

    def _shrink(self, found: Moments, more: Array | float = 0.0) -> tuple[Array, Array]:
        """Mean and covariance of the rows, `more` added to it before its off-diagonal shrinks."""
        count, center, covariance, spread = found
        d = len(center)
        covariance = covariance + more
        own = np.diag(covariance) + spread if count else np.ones(d)
        share = count / (count + d)
        covariance = share * covariance
        np.fill_diagonal(covariance, np.maximum(own, 1e-12))
        self.switch_offset(center, covariance)
        return center, covariance

    def switch_offset(self, center: Array, covariance: Array) -> None:
        """Make an offset that is switched off certain to be zero, in place."""
        if not self.offset:
            covariance[-1, :] = covariance[:, -1] = center[-1] = 0.0
            covariance[-1, -1] = 1 / NEVER

    def draw(
        self,
        side: Side,
        guess: Array,
        rng: np.random.Generator,
        groups: Sequence[RidgeGroup] = (),
        *,
        renews: bool = True,
    ) -> Gaussian:
        """Mean and precision given the side's vectors: normal and Wishart, the conjugate pair.

        The prior of the prior counts as many rows as there are components, at the diagonal of
        `guess`. With attributes their coefficients are drawn first, if that `renews` them, and
        their weights last.
        """
        rows = Rows(side.factor, side.bias, UNKNOWN, UNKNOWN, self.some)
        steps = steps_of(side.bias)
        effects, more, moves, squares = self.effects, 0, None, self.squares
        offset: Array | float = 0.0  # that the moves have in them
        pulls: Array | float = 0.0
        if groups:
            if renews or self.centers is None or not squares:
                T = steps.center_rows(rows, self.center)
                effects = draw_effects(groups, effects, T, self.precision, self.there(T), rng)
                moves, squares = center_rows(groups, effects), square_effects(effects)
            else:
                moves, offset = self.centers, self.center
            more = sum(group.size for group in groups)
            pulls = sum_pulls(effects, squares)
        found = steps.measure_rows(rows._replace(less=moves), self.center - offset)
        found = found._replace(mean=found.mean + offset)
        precision, center = self._draw_moments(found, guess, more, pulls, rng)
        prior = self._replace(precision=precision, center=center)
        if moves is None:
            return prior
        return prior._replace(
            effects=draw_weights(effects, squares, precision, self.unknowns, rng),
            centers=on((center - offset).astype(FLOAT), moves) + moves,
            squares=squares,
        )

    def _draw_moments(
        self,
        found: Moments,
        guess: Array,
        more: int,
        pulls: Array | float,
        rng: np.random.Generator,
    ) -> tuple[Array, Array]:
        """Precision and center given vectors; `more` of them, with this scatter, are unseen."""
        count, center, covariance, _ = found
        d = len(center)
        scatter = count * covariance + d * np.diag(np.diag(guess)) + pulls
        if not self.offset:
            scatter[-1, :] = scatter[:, -1] = center[-1] = 0.0
            scatter[-1, -1] = 1e-10
        # Bartlett: L A Aᵀ Lᵀ with L Lᵀ the scale, A lower triangular, χ on the diagonal.
        L = find_inverse_root(scatter)
        A = np.where(mark_lower(d), rng.standard_normal((d, d)), 0.0)
        A[range(d), range(d)] = np.sqrt(rng.chisquare(count + more + d - np.arange(d)))
        root = L @ A
        center = center + solve_triangle(root, rng.standard_normal(d)) / np.sqrt(count)
        if not self.offset:
            center[-1] = 0.0
        return root @ root.T, center

    def add_components(self, variances: Array) -> Gaussian:
        """With more components, independent of the others, of these variances."""
        s = len(self.center) - 1
        order = np.concatenate([np.arange(s), s + 1 + np.arange(len(variances)), [s]])
        wide = np.zeros((len(order), len(order)))
        wide[: s + 1, : s + 1] = self.precision
        wide[range(s + 1, len(order)), range(s + 1, len(order))] = 1 / variances
        center = np.concatenate([self.center, np.zeros(len(variances))])
        return self._replace(
            precision=wide[np.ix_(order, order)],
            center=center[order],
            effects=tuple(e.add_components(len(variances)) for e in self.effects),
            centers=None,
            squares=(),
        )


def stack_side(side: Side) -> tuple[Array, Array]:
    """Vectors with their offsets, and the variances of both."""
    return stack_vectors(side), stack([side.variance, side.bias_variance])


def stack_vectors(side: Side) -> Array:
    """Vectors with their offsets."""
    return stack([side.factor, side.bias])
