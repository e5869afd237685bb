"""Matrices known by their products alone: sums, multiples, weights. Low rank is one too.

Every operator multiplies several columns at once. One that knows a vector's product alone gets the
rest from `Operator`, column by column; one that knows columns gets the vector's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from pygeco.arrays.checks import check_lines
from pygeco.arrays.kinds import HOST, Array, contiguous, scaled_rows


class Operator(Protocol):
    """An m × n matrix G by its products.

    Derive from it and state `shape`, then `matvec` and `rmatvec`, or `matmat` and `rmatmat`, or
    all four. `kind` is an array of the kind that the products take.
    """

    if TYPE_CHECKING:  # a property, or an attribute

        @property
        def shape(self) -> tuple[int, int]: ...

    @property
    def kind(self) -> Array:
        return HOST

    def matvec(self, x: Array) -> Array:
        """G x."""
        return self.matmat(x[:, None])[:, 0]

    def rmatvec(self, y: Array) -> Array:
        """Gᵀ y."""
        return self.rmatmat(y[:, None])[:, 0]

    def matmat(self, X: Array) -> Array:
        """G X."""
        return np.column_stack([self.matvec(contiguous(x)) for x in X.T])

    def rmatmat(self, Y: Array) -> Array:
        """Gᵀ Y."""
        return np.column_stack([self.rmatvec(contiguous(y)) for y in Y.T])


@dataclass(frozen=True, eq=False)
class MadeOf(Operator):
    """What is made of another operator: its shape, and its kind of arrays."""

    G: Operator

    @property
    def shape(self) -> tuple[int, int]:
        return self.G.shape

    @property
    def kind(self) -> Array:
        return self.G.kind


@dataclass(frozen=True, eq=False)
class Sum(MadeOf):
    """G + H."""

    H: Operator

    def matvec(self, x: Array) -> Array:
        return self.G.matvec(x) + self.H.matvec(x)

    def rmatvec(self, y: Array) -> Array:
        return self.G.rmatvec(y) + self.H.rmatvec(y)

    def matmat(self, X: Array) -> Array:
        return self.G.matmat(X) + self.H.matmat(X)

    def rmatmat(self, Y: Array) -> Array:
        return self.G.rmatmat(Y) + self.H.rmatmat(Y)


@dataclass(frozen=True, eq=False)
class Multiple(MadeOf):
    """factor · G."""

    factor: float

    def matvec(self, x: Array) -> Array:
        return self.factor * self.G.matvec(x)

    def rmatvec(self, y: Array) -> Array:
        return self.factor * self.G.rmatvec(y)

    def matmat(self, X: Array) -> Array:
        return self.factor * self.G.matmat(X)

    def rmatmat(self, Y: Array) -> Array:
        return self.factor * self.G.rmatmat(Y)


@dataclass(frozen=True, eq=False)
class Weighted(MadeOf):
    """diag(rows) G diag(cols)."""

    rows: Array
    cols: Array

    @property
    def kind(self) -> Array:
        return self.rows

    def matvec(self, x: Array) -> Array:
        x = check_lines("x", x, len(self.cols), 1)
        return self.rows * self.G.matvec(self.cols * x)

    def rmatvec(self, y: Array) -> Array:
        y = check_lines("y", y, len(self.rows), 1)
        return self.cols * self.G.rmatvec(self.rows * y)

    def matmat(self, X: Array) -> Array:
        X = check_lines("X", X, len(self.cols), 2)
        return scaled_rows(self.G.matmat(scaled_rows(X, self.cols)), self.rows)

    def rmatmat(self, Y: Array) -> Array:
        Y = check_lines("Y", Y, len(self.rows), 2)
        return scaled_rows(self.G.rmatmat(scaled_rows(Y, self.rows)), self.cols)
