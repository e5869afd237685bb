"""Cells of a table's columns as coordinates of one Gaussian, and what a Gaussian says of a cell.

A number has one coordinate, a monotone function of it: as it is, a power of its distance from an
end (logarithms among them), or the normal score of its rank. Each is standardized, and a change of
units changes none of them.

A value of k (a category, a level, yes or no) has a point: k − 1 coordinates with mean 0 and
covariance I over the known cells, of a category in any direction alike, so that names and their
order say nothing; levels lie on one line, at the means of a normal cut at their shares. If N(m, S)
is what is believed of the coordinates, and N(μ, C) is that after a row's other cells, these say
log p(x) = xᵀ(C⁻¹μ − S⁻¹m) − ½ xᵀ(C⁻¹ − S⁻¹)x of the point x: the discriminant of Fisher, to which
the log shares are added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # scipy.special is imported when used
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array

SHAPES = ("plain", "power", "ranks")
POWERS = (0.0, 1 / 3, 0.5)  # 0 is the logarithm
SHIFTS = (0.02, 0.1, 0.5, 2.0)  # of the nearer end from zero, in deviations
MIN_GAIN = 3.0  # of log likelihood, for a power to be taken: it has two choices of its own
MAX_TRIED = 5_000  # cells by which a power is chosen
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(9)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


class NumberCode(NamedTuple):
    """z = (f(sign x + shift) − mean) / scale, f a power; or scores at knots, between them a line.

    `power` 1 is x itself. What comes back stays between `low` and `high` unless it is 1.
    """

    power: float
    sign: float
    shift: float
    mean: float
    scale: float
    low: float
    high: float
    knots: Array
    scores: Array

    @property
    def width(self) -> int:
        return 1

    def encode(self, x: Array) -> Array:
        """Coordinates (n, 1), NaN for NaN."""
        z: Array
        if len(self.knots):
            z = np.interp(x, self.knots, self.scores)
        elif self.power == 1:
            z = x / self.scale - self.mean / self.scale  # the largest numbers have no difference
        else:
            ends = self.sign * np.array([self.low, self.high]) + self.shift
            y = np.maximum(self.sign * x + self.shift, 0.25 * ends.min())
            z = (_raise(y, self.power) - self.mean) / self.scale
        return np.where(np.isnan(x), np.nan, z)[:, None]

    def decode(self, z: Array) -> Array:
        """Numbers of coordinates."""
        if len(self.knots):
            return np.interp(z, self.scores, self.knots)
        if self.power == 1:
            with np.errstate(over="ignore"):
                return np.asarray(z * self.scale + self.mean)
        t = z * self.scale + self.mean
        if self.power == 0:
            y = np.exp(np.clip(t, -700, 700))
        else:
            y = np.maximum(t * self.power, 0) ** (1 / self.power)
        return np.clip((y - self.shift) * self.sign, self.low, self.high)

    def moments(self, mean: Array, deviation: Array) -> tuple[Array, Array]:
        """Mean and deviation of the number whose coordinate is N(mean, deviation²)."""
        if self.power == 1 and not len(self.knots):
            return self.decode(mean), deviation * self.scale
        center = self.decode(mean)
        beside = self.decode(mean + NODES[:, None] * deviation) - center
        first, second = WEIGHTS @ beside, WEIGHTS @ beside**2
        return center + first, np.sqrt(np.maximum(second - first**2, 0))


def _raise(y: Array, power: float) -> Array:
    return np.log(y) if power == 0 else y**power / power


def code_numbers(x: Array, shape: str) -> NumberCode:
    """The code of a column of numbers (NaN for missing ones) in one of `SHAPES`."""
    known = x[~np.isnan(x)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    none = np.zeros(0)
    if not high > low:
        return code_constant(low)
    if shape == "ranks":
        knots, counts = np.unique(known, return_counts=True)
        scores = scipy.special.ndtri((np.cumsum(counts) - counts / 2) / len(known))
        spread = np.sqrt(np.sum(counts * scores**2) / len(known))
        return NumberCode(1.0, 1.0, 0.0, 0.0, 1.0, low, high, knots, scores / spread)
    power, sign, shift = choose_power(known) if shape == "power" else (1.0, 1.0, 0.0)
    if power == 1:
        top = max(abs(low), abs(high))  # squares of huge values would overflow
        part = known / top
        mean, scale = float(part.mean()) * top, float(part.std()) * top
    else:
        t = _raise(sign * known + shift, power)
        mean, scale = float(t.mean()), float(t.std())
    return NumberCode(power, sign, shift, mean, scale or 1.0, low, high, none, none)


def code_constant(x: float) -> NumberCode:
    """The code of a column that has one value: whatever is believed of it, it is that."""
    return NumberCode(1.0, 1.0, 0.0, 0.0, 1.0, x, x, np.array([x]), np.zeros(1))


def choose_power(known: Array) -> tuple[float, float, float]:
    """Power, sign and shift under which the numbers are nearest to normal, by likelihood."""
    step = -(-len(known) // MAX_TRIED)
    x = np.sort(known)[:: max(1, step)]
    x = np.concatenate([x, [known.max()]])
    deviation, none = float(x.std()), (1.0, 1.0, 0.0)
    signs, shifts = [], []
    for sign in (1.0, -1.0):
        low = float(min(sign * x[0], sign * x[-1]))
        own = [share * deviation - low for share in SHIFTS] + [0.0] * (low > 0)
        signs += [sign] * len(own)
        shifts += own
    y = np.array(signs)[:, None] * x + np.array(shifts)[:, None]
    logs = np.log(y)
    totals = logs.sum(axis=1)
    fits = np.empty((len(POWERS), len(y)))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k, power in enumerate(POWERS):
            t = logs if power == 0 else np.exp(power * logs) / power
            t = t - (t.sum(axis=1) / len(x))[:, None]
            spread = np.einsum("ij,ij->i", t, t) / len(x)
            fits[k] = -len(x) / 2 * np.log(spread) + (power - 1) * totals
    fits[~np.isfinite(fits)] = -np.inf
    at = np.unravel_index(np.argmax(fits), fits.shape)
    if not fits[at] > -len(x) * np.log(deviation) + MIN_GAIN:
        return none
    return POWERS[at[0]], signs[at[1]], shifts[at[1]]


class ValueCode(NamedTuple):
    """points (k, q) of k values that known cells have in `shares`; `values` (k,) rise.

    `trust` is the weight of what other cells say: 1 where the Gaussian is as sure as it should be.
    """

    values: Array
    points: Array
    shares: Array
    is_ordered: bool
    trust: float

    @property
    def width(self) -> int:
        return int(self.points.shape[1])

    def encode(self, x: Array) -> Array:
        """Points (n, q); NaN where x is NaN or a value without a known cell."""
        at = self.find(x)
        return np.where(at[:, None] < 0, np.nan, self.points[at])

    def find(self, x: Array) -> NDArray[np.intp]:
        """The places of values, −1 where they are missing or not among those with a point."""
        at = _find_places(self.values, x)
        return np.where(self.shares[at] > 0, at, -1)

    def chances(self, mean: Array, covariance: Array, prior: tuple[Array, Array]) -> Array:
        """Probabilities (n, k) from N(mean, covariance) of n cells; prior is that of any cell."""
        with np.errstate(divide="ignore"):
            scores = np.broadcast_to(np.log(self.shares), (len(mean), len(self.shares)))
        if self.width:
            scores = scores + self.trust * self.discriminate(mean, covariance, prior)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def discriminate(self, mean: Array, covariance: Array, prior: tuple[Array, Array]) -> Array:
        """What the other cells say of each value, in logarithms (n, k)."""
        own = np.linalg.inv(covariance)
        before = np.linalg.inv(prior[1])
        linear = (own @ mean[:, :, None])[:, :, 0] - before @ prior[0]
        x, more = self.points, own - before
        squares = (x[:, :, None] * x[:, None, :]).reshape(len(x), self.width**2)
        return linear @ x.T - 0.5 * more.reshape(len(more), self.width**2) @ squares.T


def code_values(x: Array, values: Array, *, is_ordered: bool) -> ValueCode:
    """The code of a column of `values`, which rise; cells that hold none of them, or NaN, say
    nothing.
    """
    at = _find_places(values, x)
    counts = np.bincount(at[at >= 0], minlength=len(values)).astype(float)
    shares = counts / max(1.0, counts.sum())
    used = shares > 0
    count, p = int(used.sum()), shares[used]
    points = np.zeros((len(values), 0))
    if count >= 2:
        own = _line(p) if is_ordered else _simplex(p)
        points = np.zeros((len(values), own.shape[1]))
        points[used] = own
    return ValueCode(np.asarray(values, float), points, shares, is_ordered, 1.0)


def _find_places(values: Array, x: Array) -> NDArray[np.intp]:
    """Where numbers stand among values that rise, −1 for others."""
    at = np.minimum(np.searchsorted(values, x), len(values) - 1)
    return np.where(values[at] == x, at, -1)


def _line(p: Array) -> Array:
    """Means of a normal between the cuts that give these shares, standardized."""
    cuts = scipy.special.ndtri(np.cumsum(p)[:-1])
    density = np.concatenate([[0], np.exp(-(cuts**2) / 2), [0]])
    x = (density[:-1] - density[1:]) / p
    x = x - p @ x
    return (x / np.sqrt(p @ x**2))[:, None]


def _simplex(p: Array) -> Array:
    """Points whose mean is 0 and whose covariance is I: U / √p, U orthonormal and beside √p."""
    root = np.sqrt(p)
    U = np.linalg.qr(np.column_stack([root, np.eye(len(p))[:, 1:]]))[0][:, 1:]
    return U / root[:, None]


Code = NumberCode | ValueCode
