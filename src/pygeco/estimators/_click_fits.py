"""ImplicitCompletion: from clicks and settings as given to a fitted model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Path, Stop
from pygeco.clicks.counts import weigh_counts
from pygeco.clicks.fitting import fit_clicks
from pygeco.engines import session
from pygeco.estimators._click_input import (
    check_place_of_attributes,
    make_click_entries,
    settle_counts,
)
from pygeco.estimators._click_settings import check_share, read_attribute_settings, read_families
from pygeco.estimators._known import take_attributes
from pygeco.estimators._progress import take_seed

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
    entries, told = take_attributes(estimator, entries, known, "evidence")
    listener.on_start(entries, min(entries.shape))
    with session(entries):
        found = fit_clicks(
            entries,
            spectral=families[0],
            squares=families[1],
            share=share,
            seed=take_seed(estimator.random_state),
            tell=listener.on_click_trial,
            told=told.values,
            attributes=attributes,
        )
    stop = Stop.CALLBACK if found.is_stopped else Stop.VALIDATION
    estimator.model_ = replace(found.model, trials=found.trials, count_rule=rule)
    estimator.path_ = Path((), stop, 0, entries.shape)
    estimator.n_iter_, estimator.stop_reason_ = len(found.trials), stop
    estimator.row_encoder_, estimator.column_encoder_ = told.encoders
    estimator.time_column_ = None
    listener.on_stop(stop)
