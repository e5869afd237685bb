"""The spectral family: singular pairs of clicks that are divided by powers of counts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pygeco.arrays.kinds import inner, on, times
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import Purpose, stream
from pygeco.clicks.settings import SpectralSettings
from pygeco.engines.values import LineScales
from pygeco.objectives import Entries

# How often a block is multiplied by R̃ᵀR̃ before it is made orthonormal again, which takes ten times
# as long: from random numbers, and from the pairs of other powers, ranks, or of most of the clicks.
COLD_POWERS = (1, 2, 2)
WARM_POWERS = (3,)
ROUNDING_SHARE = 1e-6  # of the mean squared column: what float32 leaves of a Gram
LEAST_SPREAD = 1e-7  # of the mean of scores: less is rounding
REFERENCE = 255  # the index of the singular value that the ridge is measured by


class Spectrum(NamedTuple):
    """Right singular vectors (n, k) of the normalized clicks, and the values, largest first."""

    vectors: Array
    values: Array


class SpectralFactors(NamedTuple):
    """Scores of rows x of clicks are x `encoder` `right`ᵀ; of the fitted rows `left` `right`ᵀ."""

    left: Array
    right: Array
    encoder: Array


def line_powers(entries: Entries, row_power: float, column_power: float) -> tuple[Array, Array]:
    """Counts of rows and of columns to these powers; a line without clicks counts as one click."""
    rows, cols = entries.counts()
    return (
        np.maximum(rows, 1).astype(float) ** row_power,
        np.maximum(cols, 1).astype(float) ** column_power,
    )


def find_spectrum(
    entries: Entries,
    settings: SpectralSettings,
    *,
    seed: int,
    start: Array | None = None,
) -> Spectrum:
    """The leading pairs of D_r^−a R D_c^−b, where the values of the entries are R.

    Subspace iteration with every product in blocks, from `start` (n, k') and random columns beyond
    it. Leading pairs are exact to rounding, weak ones approximate. O(iterations |E| rank + …).
    """
    assert settings.rank is not None
    assert settings.row_power is not None
    assert settings.column_power is not None
    rank = min(settings.rank, *entries.shape)
    powers = line_powers(entries, -settings.row_power, -settings.column_power)
    down, across = (on(p, entries.kind, entries.dtype) for p in powers)
    to_rows, to_columns = LineScales(down, across), LineScales(across, down)
    Q = _first_block(entries, rank, seed, start)
    for power in COLD_POWERS if start is None else WARM_POWERS:
        for _ in range(power):
            Q = _products(entries, True, _products(entries, False, Q, to_rows), to_columns)
            Q = _scale_down(Q)
        Q = _orthonormalize(Q)
    Y = _orthonormalize(_products(entries, False, Q, to_rows))
    # With Z = R̃ᵀY and Y orthonormal, the singular pairs in their span are eigenpairs of ZᵀZ.
    Q, squares = _normalize(_products(entries, True, Y, to_columns))
    return Spectrum(Q, np.sqrt(squares))


def project_rows(entries: Entries, spectrum: Spectrum, settings: SpectralSettings) -> Array:
    """R D_c^−b V, the rows before any ridge, which comes to the columns of it."""
    return _encode(entries, _weigh_columns(entries, spectrum, settings))


def make_factors(
    entries: Entries,
    spectrum: Spectrum,
    settings: SpectralSettings,
    projected: Array | None = None,
) -> SpectralFactors:
    """The model of these settings, from the spectrum of their powers; `projected` rows, if known,
    are those of this spectrum and any ridge.
    """
    assert settings.popularity is not None
    assert settings.ridge is not None
    encoder = _weigh_columns(entries, spectrum, settings)
    V = spectrum.vectors[:, : encoder.shape[1]]
    shrink = on(shrink_values(spectrum.values, settings.ridge)[: V.shape[1]], V, V.dtype)
    rows = _encode(entries, encoder) if projected is None else projected
    found = SpectralFactors(rows * shrink, V, encoder * shrink)
    if settings.fame:
        found = _add_fame(entries, found, settings.fame)
    _, popular = line_powers(entries, 0.0, settings.popularity)
    return found._replace(right=on(popular[:, None], V, V.dtype) * found.right)


def _add_fame(entries: Entries, factors: SpectralFactors, fame: float) -> SpectralFactors:
    """The factors with one more column: each click of a row adds to what many rows clicked."""
    left, right, encoder = factors
    each = np.ones_like(right, shape=(len(right), 1))
    total, counts = _encode(entries, each), on(entries.counts()[1][:, None], right, right.dtype)
    size = fame * measure_spread(left, right) / measure_spread(total, counts)
    parts = (left, total), (right, counts * right.dtype.type(size)), (encoder, each)
    return SpectralFactors(*(np.concatenate(pair, axis=1) for pair in parts))


def _encode(entries: Entries, encoder: Array) -> Array:
    """The rows of the clicks, by an encoder without a ridge."""
    return _products(entries, False, encoder, LineScales(None, None))


def _weigh_columns(entries: Entries, spectrum: Spectrum, settings: SpectralSettings) -> Array:
    """D_c^−b V, of as many columns as the settings have."""
    assert settings.column_power is not None
    V = spectrum.vectors[:, : settings.rank or len(spectrum.values)]
    _, across = line_powers(entries, 0.0, -settings.column_power)
    return on(across[:, None], V, V.dtype) * V


def shrink_values(values: Array, ridge: float) -> Array:
    """f = σ² / (σ² + ridge σ_ref²)."""
    squares = values**2
    reference = squares[min(REFERENCE, len(squares) - 1)]
    return squares / np.maximum(squares + ridge * reference, np.finfo(float).tiny)


def _normalize(X: Array) -> tuple[Array, Array]:
    """Orthonormal columns of the same span, by the eigenvectors of XᵀX, and its eigenvalues.

    Largest first; directions that rounding drowns become small columns.
    """
    squares, turn = np.linalg.eigh(inner(X, X).astype(float))
    squares, turn = squares[::-1], turn[:, ::-1]
    least = max(float(squares[0]) * ROUNDING_SHARE, float(np.finfo(np.float32).tiny))
    squares = np.maximum(squares, least)
    return times(X, (turn / np.sqrt(squares)).astype(X.dtype)), squares


def _orthonormalize(X: Array) -> Array:
    """The same without the eigenvalues, at a tenth of the time: any basis of the span will do."""
    gram = inner(X, X).astype(float)
    sizes = np.sqrt(np.maximum(np.diag(gram), float(np.finfo(np.float32).tiny)))
    unit = gram / np.outer(sizes, sizes)
    try:
        L = np.linalg.cholesky(unit + ROUNDING_SHARE * np.eye(len(unit)))
    except np.linalg.LinAlgError:  # directions that rounding drowns
        return _normalize(X)[0]
    return times(X, (np.linalg.inv(L).T / sizes[:, None]).astype(X.dtype))


def _scale_down(X: Array) -> Array:
    """X over a power of two, which changes no bit: powers of large counts would overflow."""
    return X * X.dtype.type(2.0 ** -np.frexp(float(np.abs(X).max()))[1])


def _products(entries: Entries, columns: bool, X: Array, scales: LineScales) -> Array:
    """R X, or Rᵀ X, scaled, in the precision of the clicks."""
    cells = entries.cells(columns)
    return cells.engine.scaled_products(cells, cells.values, X, scales)


def _first_block(entries: Entries, rank: int, seed: int, start: Array | None) -> Array:
    n = entries.shape[1]
    known = 0 if start is None else min(start.shape[1], rank)
    fresh = stream(Purpose.SPECTRUM, seed, rank).standard_normal((n, rank - known), np.float32)
    Q = on(fresh, entries.kind, entries.dtype)
    if start is not None and known:
        known_pairs = start[:, :known]  # in a product with a power these would drown the others
        Q = Q - times(known_pairs, inner(known_pairs, Q))
        Q = np.concatenate([known_pairs, Q / float(np.sqrt(n))], axis=1)
    return Q


def measure_spread(left: Array, right: Array) -> float:
    """The standard deviation of the scores `left` `right`ᵀ over all cells, without forming them.

    One where rounding is all that they differ by.
    """
    m, n = len(left), len(right)
    total = float(inner(left.sum(axis=0)[:, None], right.sum(axis=0)[:, None])[0, 0])
    squares = float(np.sum(inner(left, left).astype(float) * inner(right, right).astype(float)))
    mean = total / (m * n)
    spread = float(np.sqrt(max(squares / (m * n) - mean**2, 0.0)))
    return spread if spread > LEAST_SPREAD * max(abs(mean), LEAST_SPREAD) else 1.0
