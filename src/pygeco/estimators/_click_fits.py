"""ImplicitCompletion: from clicks and settings as given to a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Path, Stop
from pygeco.clicks.counts import weigh_counts
from pygeco.clicks.fitting import fit_clicks
from pygeco.clicks.settings import (
    AttributeSettings,
    GivenAttributes,
    SpectralSettings,
    SquaresSettings,
)
from pygeco.engines import session
from pygeco.estimators._click_input import (
    check_place_of_attributes,
    make_click_entries,
    settle_counts,
)
from pygeco.estimators._progress import take_seed
from pygeco.estimators._side_information import take_attributes

if TYPE_CHECKING:
    from pygeco.estimators.implicit import ImplicitCompletion


def fit_click_model(
    estimator: ImplicitCompletion,
    X: Any,
    y: Any,
    columns: Sequence[str | int] | str | None,
    known: tuple[Any, Any],
    listener: Listener,
) -> None:
    """The model of the clicks of X, which the estimator gets; `known` are attributes."""
    families, share = read_families(estimator), check_share(estimator.share)
    attributes = read_attribute_settings(estimator.attribute_settings)
    entries = make_click_entries(estimator, X, y, columns)
    rule = settle_counts(entries, estimator.counts)
    entries = weigh_counts(entries, rule)
    check_place_of_attributes(entries, known)
    entries, info = take_attributes(estimator, entries, known, "evidence")
    listener.on_start(entries, min(entries.shape))
    with session(entries):
        found = fit_clicks(
            entries,
            spectral=families[0],
            squares=families[1],
            share=share,
            seed=take_seed(estimator.random_state),
            tell=listener.on_click_trial,
            told=info.values,
            attributes=attributes,
        )
    stop = Stop.CALLBACK if found.is_stopped else Stop.VALIDATION
    estimator.model_ = replace(found.model, trials=found.trials, count_rule=rule)
    estimator.path_ = Path((), stop, 0, entries.shape)
    estimator.n_iter_, estimator.stop_reason_ = len(found.trials), stop
    estimator.row_encoder_, estimator.column_encoder_ = info.encoders
    estimator.time_column_ = None
    listener.on_stop(stop)


def read_settings(name: str, given: Any, kind: Any) -> Any:
    if isinstance(given, (bool, np.bool_)) or given is None:
        return kind() if given else None
    if given == "auto":
        return kind()
    if isinstance(given, kind):
        return given
    if isinstance(given, dict):
        try:
            return kind(**given)
        except TypeError:
            known = ", ".join(vars(kind()))
            raise ValueError(f"{name}: unknown settings in {given!r}; use {known}.") from None
    raise ValueError(f"{name}: expected 'auto', False, a dict or {kind.__name__}, not {given!r}.")


def read_attribute_settings(given: Any) -> tuple[GivenAttributes, GivenAttributes]:
    """How much attributes of rows, and of columns, count: one for both sides, or a pair."""
    name = "attribute_settings"
    pair = given if isinstance(given, (tuple, list)) else (given, given)
    if len(pair) != 2:
        raise ValueError(f"{name}: expected one, or a pair of rows and columns, not {given!r}.")
    sides = []
    for one in pair:
        if isinstance(one, AttributeSettings):
            one = GivenAttributes(one.weight, one.pull)
        is_off = isinstance(one, (bool, np.bool_)) and not one
        found = GivenAttributes(0.0, 0.0) if is_off else None
        found = found or read_settings(name, one, GivenAttributes) or GivenAttributes()
        found.check(name)
        sides.append(found)
    return sides[0], sides[1]


def check_share(share: Any) -> float | None:
    if share == "auto":
        return None
    is_number = isinstance(share, (int, float, np.number)) and not isinstance(share, bool)
    if is_number and 0 <= share <= 1:
        return float(share)
    raise ValueError(f"share: expected 'auto' or a number from 0 to 1, not {share!r}.")


def read_families(
    estimator: ImplicitCompletion,
) -> tuple[SpectralSettings | None, SquaresSettings | None]:
    """The settings of both families as given, with the rank of all."""
    spectral = read_settings("spectral", estimator.spectral, SpectralSettings)
    squares = read_settings("squares", estimator.squares, SquaresSettings)
    rank = estimator.rank
    if rank != "auto":
        spectral = None if spectral is None else replace(spectral, rank=rank)
        squares = None if squares is None else replace(squares, rank=rank)
    for name, part in (("spectral", spectral), ("squares", squares)):
        if part is not None:
            part.check(name if rank == "auto" else "rank")
    return spectral, squares
