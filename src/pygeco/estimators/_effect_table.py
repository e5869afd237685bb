"""By how much the attributes of a fitted model move its predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.arrays.kinds import HOST, host, moved
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.effects import Effect
from pygeco.bayes.posterior import Posterior
from pygeco.bayes.ridge import PATTERN
from pygeco.diagnostics.attribute_effects import AttributeEffects, GroupEffect, LevelEffect

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState
    from pygeco.estimators.attributes import Attributes


def tabulate_effects(estimator: _CompletionState) -> AttributeEffects:
    """The table of a fitted model; empty without the evidence, or where nothing was told."""
    model = estimator.model_
    if model.posterior is None:
        return AttributeEffects()
    if not model.is_here:
        raise AttributeError(
            "attribute_effects_: the model's rows are on a cluster; call to('cpu') first."
        )
    now, seen = moved(model.posterior, HOST), model.seen
    pointers, indices = host(seen.pointers), host(seen.indices)
    every = np.ones(len(indices), np.float32)
    cells = sp.csr_array((every, indices, pointers), shape=model.shape)
    told = (model.row_attributes, model.column_attributes)
    encoders = (estimator.row_encoder_, estimator.column_encoder_)
    groups: list[GroupEffect] = []
    for t, (name, posterior) in enumerate((("row", now), ("column", now.T))):
        own = cells if t == 0 else sp.csr_array(cells.T)
        groups += _measure_side(name, posterior, own, told[t], encoders[t])
    return AttributeEffects(tuple(sorted(groups, key=lambda group: -group.strength)))


def _measure_side(
    side: str,
    now: Posterior,
    cells: sp.csr_array,
    values: AttributeValues | None,
    encoder: Attributes | None,
) -> Iterator[GroupEffect]:
    """The groups of the rows of a posterior; of its columns when it is transposed."""
    Z = np.column_stack([now.cols.factor, np.ones(len(now.cols.bias))]).astype(float)
    some = np.diff(cells.indptr) > 0
    spread = _measure_spread(now, Z, some)
    effects = {(effect.source, effect.name): effect for effect in now.row_prior.effects}
    for (source, name), effect in effects.items():
        X, counted = _take_attributes(effect, cells, values)
        counted = counted & some
        moves = (X @ effect.coefficients - effect.mean @ effect.coefficients)[counted]
        size = now.scale * _mean_square(moves, Z) ** 0.5
        group = GroupEffect(side, name, source, size, effect.degrees, size**2 / spread, ())
        if source == PATTERN:
            yield group._replace(levels=(_summarize(group, np.nan),))
        else:
            levels = _find_levels(values, encoder, name)
            yield group._replace(levels=_measure_levels(group, levels, now, effect, Z))
    for name in () if values is None else values.names:
        if ("table", name) not in effects:
            group = GroupEffect(side, name, "table", 0.0, 0.0, 0.0, ())
            yield group._replace(levels=(_summarize(group, 0.0),))


def _measure_levels(
    group: GroupEffect, levels: Levels, now: Posterior, effect: Effect, Z: Array
) -> tuple[LevelEffect, ...]:
    names, average = levels.names, levels.exclude * effect.mean.astype(float)
    # What all levels have in common moves no line, and nothing is known of it.
    B, doubt = (X - average @ X for X in (effect.coefficients, effect.doubt))
    z = Z.mean(axis=0)
    weights = now.scale * (B @ z)
    sizes = now.scale * np.sqrt(np.sum((B @ (Z.T @ Z / len(Z))) * B, axis=1))
    unit = now.scale * np.sqrt(z @ np.linalg.solve(now.row_prior.precision, z))
    doubts = unit * np.sqrt(np.mean(doubt**2, axis=1))
    order = np.argsort(-sizes, kind="stable")
    return tuple(
        LevelEffect(
            group.side,
            group.group,
            names[f],
            float(weights[f]),
            float(doubts[f]),
            float(sizes[f]),
            group.degrees,
            group.share,
        )
        for f in order
    )


def _summarize(group: GroupEffect, weight: float) -> LevelEffect:
    """A group in one line."""
    return LevelEffect(
        group.side, group.group, "", weight, weight, group.strength, group.degrees, group.share
    )


def _measure_spread(now: Posterior, Z: Array, some: NDArray[np.bool_]) -> float:
    """The mean square by which rows with data differ in their predictions, variances included."""
    U = np.column_stack([now.rows.factor, now.rows.bias]).astype(float)[some]
    W = np.column_stack([now.rows.variance, now.rows.bias_variance]).astype(float)[some]
    if not len(U):
        return 1.0
    doubt = float(W.mean(axis=0) @ np.mean(Z**2, axis=0))
    spread = now.scale**2 * (_mean_square(U - U.mean(axis=0), Z) + doubt)
    return float(max(spread, 1e-300))


def _mean_square(X: Array, Z: Array) -> float:
    """The mean of (x · z)² over the rows of both."""
    X = X.astype(float)
    if not len(X) or not len(Z):
        return 0.0
    return max(float(np.sum((X.T @ X / len(X)) * (Z.T @ Z / len(Z)))), 0.0)


def _take_attributes(
    effect: Effect, cells: sp.csr_array, values: AttributeValues | None
) -> tuple[sp.csr_array, NDArray[np.bool_]]:
    """The attributes of an effect, not yet less their mean, and the rows they are known of."""
    counts = np.diff(cells.indptr)
    if effect.source == PATTERN:
        size = 1 / np.sqrt(np.maximum(counts, 1))
        return sp.csr_array(sp.diags_array(size.astype(np.float32)) @ cells), counts > 0
    if values is None:
        raise ValueError(f"attributes: the model has an effect of {effect.name!r}, but no values.")
    return values.split()[values.names.index(effect.name)], values.known


class Levels(NamedTuple):
    """Names of a group's columns, and whether one of them excludes the others."""

    names: Sequence[str]
    exclude: bool


def _find_levels(values: AttributeValues | None, encoder: Attributes | None, name: str) -> Levels:
    """The levels of a group; "" where it has one column alone."""
    if values is None:
        return Levels((), False)
    at = values.names.index(name)
    size, start = values.sizes[at], sum(values.sizes[:at])
    if encoder is None:
        return Levels([str(k) for k in range(size)] if size > 1 else [""], False)
    names = encoder.get_feature_names_out()[start : start + size]
    shown = ["" if each == name else str(each).removeprefix(f"{name}=") for each in names]
    return Levels(shown, encoder.groups_[at].kind in ("category", "list"))
