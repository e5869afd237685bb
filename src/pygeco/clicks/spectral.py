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
FEW_ROWS = 2  # times as many columns: less, and the way back from rows costs more than it spares
ROUNDING_SHARE = 1e-6  # of the mean squared column: what float32 leaves of a Gram
LEAST_SPREAD = 1e-7  # of the mean of scores: less is rounding
REFERENCE = 255  # the index of the singular value that the ridge is measured by


class Spectrum(NamedTuple):
    """Right singular vectors (n, k) of the normalized clicks, and the values, largest first."""

    vectors: Array
    values: Array


class SpectralFactors(NamedTuple):
    """Scores of the fitted rows are `left` `right`ᵀ; of rows x of clicks, see `find_encoder`."""

    left: Array
    right: Array


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
    it. Leading pairs are exact to rounding, weak ones approximate. Blocks are made orthonormal on
    the side of the columns, or on that of rows where these are few: O(iterations |E| rank +
    min(2m, n) rank²).
    """
    assert settings.rank is not None
    assert settings.row_power is not None
    assert settings.column_power is not None
    rank = min(settings.rank, *entries.shape)
    powers = line_powers(entries, -settings.row_power, -settings.column_power)
    down, across = (on(p, entries.kind, entries.dtype) for p in powers)
    from_rows = FEW_ROWS * entries.shape[0] < entries.shape[1]
    scales = LineScales(down, across), LineScales(across, down)

    def go(X: Array) -> Array:
        """To the longer side: R̃ᵀX from the rows, else R̃X."""
        return _products(entries, from_rows, X, scales[from_rows])

    def come(X: Array) -> Array:
        return _products(entries, not from_rows, X, scales[not from_rows])

    known = None if start is None else start[:, :rank]
    if known is not None and from_rows:
        known = _orthonormalize(_scale_down(come(known))[0])
    Q = _first_block(entries, entries.shape[not from_rows], rank, seed, known)
    for power in COLD_POWERS if start is None else WARM_POWERS:
        for _ in range(power + from_rows):
            Q, _ = _scale_down(come(go(Q)))
        Q = _orthonormalize(Q)
    # With Y = R̃Q turned to be orthonormal, whose Gram is QᵀW, and Z = R̃ᵀY, the singular pairs in
    # their span are eigenpairs of ZᵀZ.
    W, size = _scale_down(come(go(Q)))
    turn = _find_root(inner(Q, W).astype(float))
    vectors, squares, last = _normalize(times(W, turn.astype(W.dtype)))
    if from_rows:
        vectors = go(times(Q, (turn @ last / np.sqrt(size)).astype(Q.dtype)))
    return Spectrum(vectors, np.sqrt(squares * size))


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
    V = spectrum.vectors[:, : settings.rank or len(spectrum.values)]
    if projected is None:
        projected = project_rows(entries, spectrum, settings)
    found = SpectralFactors(projected * on(_shrink(spectrum, settings), V, V.dtype), V)
    if settings.fame:
        found = _add_fame(entries, found, settings.fame)
    if not settings.popularity:
        return found
    _, popular = line_powers(entries, 0.0, settings.popularity)
    return found._replace(right=on(popular[:, None], V, V.dtype) * found.right)


def find_encoder(entries: Entries, spectrum: Spectrum, settings: SpectralSettings) -> Array:
    """What takes rows x of clicks to their factors, x `encoder`."""
    encoder = _weigh_columns(entries, spectrum, settings)
    encoder = encoder * on(_shrink(spectrum, settings), encoder, encoder.dtype)
    if settings.fame:
        encoder = np.concatenate([encoder, _each(encoder)], axis=1)
    return encoder


def _shrink(spectrum: Spectrum, settings: SpectralSettings) -> Array:
    assert settings.ridge is not None
    return shrink_values(spectrum.values, settings.ridge)[: settings.rank]


def _each(columns: Array) -> Array:
    """One for each column, which a row's clicks on them count."""
    return np.ones_like(columns, shape=(len(columns), 1))


def _add_fame(entries: Entries, factors: SpectralFactors, fame: float) -> SpectralFactors:
    """The factors with one more column: each click of a row adds to what many rows clicked."""
    left, right = factors
    total = _encode(entries, _each(right))
    counts = on(entries.counts()[1][:, None], right, right.dtype)
    size = fame * measure_spread(left, right) / measure_spread(total, counts)
    parts = (left, total), (right, counts * right.dtype.type(size))
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


def _normalize(X: Array) -> tuple[Array, Array, Array]:
    """Orthonormal columns of the same span, by the eigenvectors of XᵀX, its eigenvalues and these.

    Largest first; directions that rounding drowns become small columns.
    """
    squares, turn = np.linalg.eigh(inner(X, X).astype(float))
    squares, turn = squares[::-1], turn[:, ::-1]
    squares = np.maximum(squares, _least(squares))
    return times(X, (turn / np.sqrt(squares)).astype(X.dtype)), squares, turn


def _orthonormalize(X: Array) -> Array:
    """The same without the eigenvalues, at a tenth of the time: any basis of the span will do."""
    return times(X, _find_root(inner(X, X).astype(float)).astype(X.dtype))


def _find_root(gram: Array) -> Array:
    """C with Cᵀ `gram` C = I, but for directions that rounding drowns."""
    gram = (gram + gram.T) / 2
    sizes = np.sqrt(np.maximum(np.diag(gram), float(np.finfo(np.float32).tiny)))
    unit = gram / np.outer(sizes, sizes)
    try:
        L = np.linalg.cholesky(unit + ROUNDING_SHARE * np.eye(len(unit)))
    except np.linalg.LinAlgError:
        squares, turn = np.linalg.eigh(gram)
        return np.asarray(turn / np.sqrt(np.maximum(squares, _least(squares))))
    return np.asarray(np.linalg.inv(L).T / sizes[:, None])


def _least(squares: Array) -> float:
    """What rounding leaves of the squares of a block's directions."""
    return max(float(squares.max()) * ROUNDING_SHARE, float(np.finfo(np.float32).tiny))


def _scale_down(X: Array) -> tuple[Array, float]:
    """X over a power of two, which changes no bit, and that power: large counts would overflow."""
    size = 2.0 ** np.frexp(float(np.abs(X).max()))[1]
    return X * X.dtype.type(1 / size), float(size)


def _products(entries: Entries, columns: bool, X: Array, scales: LineScales) -> Array:
    """R X, or Rᵀ X, scaled, in the precision of the clicks."""
    cells = entries.cells(columns)
    return cells.engine.scaled_products(cells, cells.values, X, scales)


def _first_block(entries: Entries, size: int, rank: int, seed: int, known: Array | None) -> Array:
    """Columns that are `known`, which are orthonormal, and random ones beyond them."""
    count = 0 if known is None else known.shape[1]
    fresh = stream(Purpose.SPECTRUM, seed, rank).standard_normal((size, rank - count), np.float32)
    Q = on(fresh, entries.kind, entries.dtype)
    if known is not None and count:
        # In a product with a power these would drown the others.
        Q = Q - times(known, inner(known, Q))
        Q = np.concatenate([known, Q / float(np.sqrt(size))], axis=1)
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
