"""How rows find their place in a model of clicks, and what their clicks say there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, NoReturn

import numpy as np

from pygeco.arrays.kinds import host, on, zeros
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.attributes import AttributeMap
from pygeco.clicks.settings import SpectralSettings, SquaresSettings
from pygeco.models.base import FittedModel
from pygeco.models.folding import Folded
from pygeco.models.ranking import Reasons, list_length
from pygeco.models.seen import Positions
from pygeco.objectives import Entries
from pygeco.objectives.clicks.half_sweep import Basis, find_basis, sweep_rows
from pygeco.objectives.clicks.input import weigh_by_values

COUNT_RULES = ("log", "plain", "ones")  # log₂(1 + count), the count, or 1


class SpectralPart(NamedTuple):
    """Coordinates of a row x of clicks are x `encoder` (n, r), in the basis of the model's V.

    `vectors` (n, k) are the singular vectors, which a fit to more clicks starts from.
    """

    encoder: Array
    vectors: Array


class SquaresPart(NamedTuple):
    """Coordinates of a row are its least squares in `columns` (n, d), times `turn` (d, r)."""

    columns: Array
    turn: Array
    weights: Array  # κ, of the columns in the background
    row_level: float  # the mean of counts of rows to the row power

    def hold(self, counts: Array, settings: SquaresSettings) -> tuple[Array, Array]:
        """α ρ and the ridge of rows with these numbers of clicks."""
        assert settings.background is not None
        assert settings.ridge is not None
        power = settings.row_power or 0.0
        own = settings.background * np.maximum(counts, 1.0) ** power / self.row_level
        return own, settings.ridge * (counts + own * float(self.weights.sum()))


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClickLines(FittedModel):
    """Scores of all cells as one matrix; a row's place is a function of its clicks alone.

    Attributes
    ----------
    spectral_settings, squares_settings : SpectralSettings and SquaresSettings or None
        What was chosen or given.
    share : float
        The share of the squares in the scores.
    spectral, squares : SpectralPart and SquaresPart or None
        How new rows are placed; None where that family has no share.
    trials : tuple
        What was tried for the settings.
    row_map, column_map : AttributeMap or None
        Where attributes put rows and columns; None where the fit had none.
    count_rule : "log", "plain", "ones" or None
        What counts were as weights in the fit, which later ones are too; None where the file of
        an earlier version did not say.
    """

    spectral_settings: SpectralSettings | None
    squares_settings: SquaresSettings | None
    share: float
    spectral: SpectralPart | None
    squares: SquaresPart | None
    trials: tuple[object, ...] = ()
    row_map: AttributeMap | None = None
    column_map: AttributeMap | None = None
    count_rule: str | None = None

    def fold_rows(self, entries: Entries, values: AttributeValues | None = None) -> Folded:
        like = self.factors.V
        found = zeros((entries.shape[0], self.factors.rank), like, like.dtype)
        if self.spectral is not None:
            cells = entries.cells(columns=False)
            found = found + cells.engine.products(cells, cells.values, 1.0, self.spectral.encoder)
        if self.squares is not None and entries.size:
            found = found + self._solve_rows(entries)
        counts = host(entries.by_row.counts())
        if np.any(counts == 0):  # nothing is known of them
            found[on(counts == 0, found)] = on(self.mean_line, found)
        if values is not None:
            assert self.row_map is not None
            found = on(self.row_map.move(values, counts, host(found)), like).astype(like.dtype)
        return Folded(found, zeros(len(found), like, like.dtype))

    def fold_columns(self, entries: Entries, values: AttributeValues | None = None) -> Folded:
        raise ValueError(
            "X: new columns are placed by a model on one machine; call to('cpu') first."
        )

    def expect_evidence(self) -> NoReturn:
        raise ValueError(
            "return_std: scores of clicks rank columns; they have no deviations and no intervals."
        )

    def explain_clicks(self, cols: Positions, weights: Array, column: int, k: int) -> Reasons:
        """What the clicks of any row add, fitted or not."""
        others = cols != column
        cols, weights = cols[others], weights[others]
        target = host(self.factors.V[column]).astype(float)
        parts = np.zeros(len(cols))
        if self.spectral is not None:
            parts += weights * (host(self.spectral.encoder[cols]).astype(float) @ target)
        if self.squares is not None and len(cols):
            parts += self._explain_squares(cols, weights, target)
        order = np.argsort(-np.abs(parts), kind="stable")[: list_length(k, len(parts))]
        base = 0.0 if len(cols) else float(self.mean_line @ target)
        return Reasons(cols[order], parts[order], base)

    @cached_property
    def mean_line(self) -> Array:
        """Where the average row is, which rows are of whom nothing is known."""
        A = self.factors
        return host(A.U.mean(axis=0, dtype=float)) * host(A.s).astype(float)

    @cached_property
    def basis(self) -> Basis | None:
        """Of the background of all columns, which every new row and every reason needs.

        It is found once, when first asked for; None where the squares have no share.
        """
        part = self.squares
        return None if part is None else find_basis(self.engine, part.columns, part.weights)

    @cached_property
    def _turn_from_basis(self) -> Array:
        """From coordinates in the basis to those of the model, (d, r): each reason needs it."""
        assert self.basis is not None
        assert self.squares is not None
        return host(self.basis.vectors).T @ host(self.squares.turn).astype(float)

    def _solve_rows(self, entries: Entries) -> Array:
        part, settings = self.squares, self.squares_settings
        assert part is not None
        assert settings is not None
        weighted = weigh_by_values(entries)
        own, ridge = part.hold(weighted.by_row.counts().astype(float), settings)
        solved = sweep_rows(
            weighted.by_row,
            part.columns,
            background=own,
            weights=part.weights,
            ridge=ridge,
            basis=self.basis if type(entries.engine) is type(self.engine) else None,
        )
        turn = on(solved.rotation.T.astype(part.turn.dtype) @ host(part.turn), solved.factor)
        return solved.factor @ turn

    def _explain_squares(self, cols: Positions, weights: Array, target: Array) -> Array:
        part, settings = self.squares, self.squares_settings
        assert part is not None
        assert settings is not None
        own, ridge = part.hold(np.array([float(len(cols))]), settings)
        assert self.basis is not None
        # With the system D + MᵀWM in the basis of the background, the parts are W M times its
        # inverse times the target: (I + W M D⁻¹Mᵀ)⁻¹ W M D⁻¹ t, as small as the clicks are few.
        D = own[0] * host(self.basis.values) + ridge[0]
        mine = host(self.basis.partner[cols]).astype(float)
        t = self._turn_from_basis @ target
        if len(cols) <= len(D):
            small = np.eye(len(cols)) + weights[:, None] * ((mine / D) @ mine.T)
            found: Array = np.linalg.solve(small, weights * (mine @ (t / D)))
            return found
        pull = np.linalg.solve(np.diag(D) + (mine.T * weights) @ mine, t)
        return weights * (mine @ pull)
