"""New rows and columns of a fitted matrix completion, by a few cells and by their attributes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pygeco.arrays.kinds import answer, on
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.estimators._click_updates import read_new_columns, read_new_rows
from pygeco.estimators._cold import encode_lines
from pygeco.estimators._input import make_entries, read_entries
from pygeco.io.tables import is_table, list_columns
from pygeco.models import FittedModel
from pygeco.models.folding import Folded
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

SIDES = ("row", "column")


class Lines(NamedTuple):
    """New rows, or new columns as rows: their cells, and what is known of them beside these."""

    entries: Entries
    values: AttributeValues | None


def read_rows(estimator: _CompletionState, X: Any, given: Any, name: str = "attributes") -> Lines:
    """New rows of X, with their attributes as a user gives them."""
    model = estimator.model_
    if estimator._needs_values:
        entries = make_entries(
            estimator,
            X,
            reset=False,
            loss=model.loss,
            duplicates=estimator.duplicates,
            allow_empty=True,
            engine=model.engine,
        )
    else:
        entries = read_new_rows(estimator, X)
    return Lines(entries, read_line_attributes(estimator, given, entries.shape[0], 0, name))


def read_columns(estimator: _CompletionState, X: Any, given: Any) -> Lines:
    """New columns of X, transposed."""
    model = estimator.model_
    if estimator._needs_values:
        settings = {"duplicates": estimator.duplicates, "engine": model.engine}
        entries = read_entries(X, loss=model.loss, allow_empty=True, **settings).T
    else:
        entries = read_new_columns(estimator, X).T
    m = model.shape[0]
    if entries.shape[1] != m:
        raise ValueError(
            f"X: has {entries.shape[1]} rows, but the model was fitted with {m}; new columns "
            "have the rows of the fit."
        )
    return Lines(entries, read_line_attributes(estimator, given, entries.shape[0], 1, "attributes"))


def fold_rows(estimator: _CompletionState, X: Any, given: Any) -> Array:
    """See `MatrixCompletion.transform`."""
    if is_table(X) and set((estimator.table_columns_ or ("",))[:2]) <= set(list_columns(X)):
        raise ValueError(
            "X: transform takes a matrix with the columns of the fit, or (rows, cols, values), not "
            "a table of cells; partial_fit adds the rows of one to the model."
        )
    lines = read_rows(estimator, X, given)
    return _answer(estimator, estimator.model_.fold_rows(*lines), 0, lines.entries, X)


def fold_columns(estimator: _CompletionState, X: Any, given: Any) -> Array:
    """See `MatrixCompletion.transform_columns`."""
    lines = read_columns(estimator, X, given)
    return _answer(estimator, estimator.model_.fold_columns(*lines), 1, lines.entries, X)


def know_rows(estimator: _CompletionState, X: Any) -> tuple[Array, Array]:
    """Linear predictions of whole rows of a matrix, and their variances, by the evidence."""
    model, lines = estimator.model_, read_rows(estimator, X, None)
    W = _answer(estimator, model.fold_rows(*lines), 0, lines.entries, X)
    z = model.complete_rows(W)
    return z, on(model.vary_rows(*lines, noise=False), z).astype(z.dtype)


def complete_rows(estimator: _CompletionState, X: Any, given: Any, *, return_std: bool) -> Any:
    """See `MatrixCompletion.predict`: whole rows of a matrix, known by cells and attributes."""
    model, asked = estimator.model_, X if isinstance(X, tuple) else (X,)
    lines = read_rows(estimator, X, given, "new_rows")
    W = _answer(estimator, model.fold_rows(*lines), 0, lines.entries, X)
    vary = partial(model.vary_rows, *lines)
    return _answer_lines(model, model.complete_rows(W), vary, asked, return_std=return_std)


def complete_columns(estimator: _CompletionState, X: Any, given: Any, *, return_std: bool) -> Any:
    """See `MatrixCompletion.complete_columns`."""
    model, asked = estimator.model_, X if isinstance(X, tuple) else (X,)
    lines = read_columns(estimator, X, given)
    W = _answer(estimator, model.fold_columns(*lines), 1, lines.entries, X)
    vary = partial(model.vary_columns, *lines)
    return _answer_lines(model, model.complete_columns(W), vary, asked, return_std=return_std)


def _answer_lines(
    model: FittedModel,
    z: Array,
    vary: Callable[..., Array],
    asked: tuple[Any, ...],
    *,
    return_std: bool,
) -> Any:
    """Values of whole new lines, and their deviations where these are asked for."""
    likelihood = model.likelihood
    if likelihood is None:
        values = answer(model.respond(z), *asked)
        if not return_std:
            return values
        return values, answer(model.expect_evidence().scale * np.sqrt(vary(noise=True)), *asked)
    variance = on(vary(noise=False), z).astype(z.dtype)
    values = answer(model.respond(z, variance), *asked)
    return (values, answer(likelihood.deviate(z, variance), *asked)) if return_std else values


def _answer(
    estimator: _CompletionState, found: Folded, side: int, entries: Entries, X: Any
) -> Array:
    """Coordinates, with offsets where the side has them, of the kind of X."""
    W = found.coordinates
    if SIDES[side] in estimator.model_.offsets:
        W = np.column_stack([W, found.offsets])
    return answer(W.astype(entries.dtype, copy=False), *(X if isinstance(X, tuple) else (X,)))


def read_line_attributes(
    estimator: _CompletionState, given: Any, count: int, side: int, name: str
) -> AttributeValues | None:
    """Attributes of new lines, as a user gives them, which errors call by this name."""
    if given is None:
        return None
    encoder = (estimator.row_encoder_, estimator.column_encoder_)[side]
    values = encode_lines(encoder, given, side, name).values
    if len(values.known) != count:
        raise ValueError(
            f"{name}: have {len(values.known):,} lines, but X has {count:,} {SIDES[side]}s; give a "
            "line for each, in their order."
        )
    return values
