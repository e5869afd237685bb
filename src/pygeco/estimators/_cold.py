"""Cold start: rows and columns that a fit has not seen, known by their attributes alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.bayes.attributes import AttributeValues
from pygeco.estimators._attribute_tables import group_values
from pygeco.estimators._dates import read_asked_time, read_asked_times
from pygeco.estimators._ids import gather_ids, name_sides, take_ids
from pygeco.estimators.attributes import Attributes
from pygeco.estimators.ranking import Ranking
from pygeco.io.attribute_tables import AttributeTable, read_attribute_table
from pygeco.io.tables import find_positions, find_unsorted, make_comparable
from pygeco.models import FittedModel
from pygeco.models.completion import CompletionModel
from pygeco.models.ranking import ListFilters

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

NAMES = ("new_rows", "new_columns")


class NewSide(NamedTuple):
    """New lines of one side: their attributes, and their ids, or None where they have none."""

    values: AttributeValues
    ids: NDArray[Any] | None

    def __len__(self) -> int:
        return len(self.values.known)


class Extended(NamedTuple):
    """A fitted model with new rows and columns after its own."""

    model: CompletionModel
    fitted: FittedModel
    sides: tuple[NewSide | None, NewSide | None]

    def locate(self, ids: NDArray[Any] | None, given: Any, side: int) -> NDArray[np.int64]:
        """Positions of ids of the fit and of new ones; new lines without ids come after the fit."""
        name, own = ("rows", "cols")[side], self.fitted.shape[side]
        new = self.sides[side]
        wanted = np.asarray(given)
        at = np.asarray(wanted if ids is None else find_positions(ids, wanted)).astype(np.int64)
        total = self.model.shape[side]
        if ids is not None and new is not None and new.ids is not None and len(new):
            place = find_unsorted(new.ids, wanted)
            at = np.where((at < 0) & (place >= 0), own + place, at)
        if np.any((at < 0) | (at >= total)):
            lost = int(np.argmax(((at < 0) | (at >= total)).reshape(-1)))
            wrong = wanted.reshape(-1)[[lost]].tolist()[0]
            raise ValueError(
                f"{name}: {wrong!r} was not fitted and is not among {NAMES[side]}; add its "
                "attributes there."
            )
        return at


def extend(estimator: _CompletionState, new_rows: Any, new_columns: Any) -> Extended:
    """The fitted model with lines that are known by their attributes."""
    encoders = estimator.row_encoder_, estimator.column_encoder_
    sides = [
        None if given is None else encode_lines(encoder, given, side, NAMES[side])
        for side, (given, encoder) in enumerate(zip((new_rows, new_columns), encoders, strict=True))
    ]
    rows, columns = (new.values if new is not None and len(new) else None for new in sides)
    model = estimator.model_.add_lines(rows, columns)
    return Extended(model, estimator.model_, (sides[0], sides[1]))


def predict_new(
    estimator: _CompletionState,
    rows: Any,
    cols: Any,
    return_std: bool,
    new: tuple[Any, Any],
    times: Any = None,
) -> Any:
    """See `MatrixCompletion.predict`: cells of which a row or a column may be new."""
    if cols is None:
        raise ValueError("new_rows: needs rows and cols, one id each for every cell, or a matrix.")
    wide = extend(estimator, *new)
    ids = gather_ids(estimator.row_ids_), estimator.column_ids_
    i, j = np.broadcast_arrays(wide.locate(ids[0], rows, 0), wide.locate(ids[1], cols, 1))
    m, n = wide.fitted.shape
    known = (i < m) & (j < n)
    t = read_asked_times(times, i.shape)
    at = t if t is None else np.broadcast_to(t, i.shape)[known]
    found = [np.array(wide.model.predict(i, j, t))]
    found[0][known] = wide.fitted.predict(i[known], j[known], at)
    if not return_std:
        return found[0]
    found.append(np.array(wide.model.deviation(i, j, t)))
    found[1][known] = wide.fitted.deviation(i[known], j[known], at)
    return found[0], found[1]


def recommend_new(
    estimator: _CompletionState,
    rows: Any,
    k: int,
    new: tuple[Any, Any],
    filters: ListFilters,
    time: Any = None,
) -> Ranking:
    """See `MatrixCompletion.recommend`: lists for rows, or of columns, known by attributes."""
    if filters.is_by_row:
        name = NAMES[0] if new[0] is not None else NAMES[1]
        raise ValueError(f"{name}: columns of each row are for fitted lines; give arrays of them.")
    wide = extend(estimator, *new)
    side, more = wide.sides
    m, n = wide.fitted.shape
    ids = gather_ids(estimator.row_ids_)
    given: Any = rows
    if rows is not None:
        at = wide.locate(ids, rows, 0)
    elif side is not None:
        at = m + np.arange(len(side))
        given = at - m if side.ids is None else side.ids
    else:
        at = np.arange(m)
        given = at if ids is None else ids
    if filters.allowed is not None:
        more_columns = np.ones(wide.model.shape[1] - n, bool)
        filters = filters._replace(allowed=np.append(filters.allowed, more_columns))
    model = wide.model.at(read_asked_time(time))
    found, scores = model.best(at, k, filters)
    names = (*name_sides(estimator.table_columns_), estimator._score_name)
    return Ranking(take_ids(_join_columns(estimator, more), found), scores, given, names)


def _join_columns(estimator: _CompletionState, new: NewSide | None) -> NDArray[Any] | None:
    """The ids of the fit's columns, and of new ones after them."""
    ids = estimator.column_ids_
    if ids is None or new is None or not len(new):
        return ids
    if new.ids is None:
        raise ValueError("new_columns: need a column of ids, as the columns of the fit have them.")
    more, fits = make_comparable(ids, new.ids)
    if np.all(fits):
        return np.concatenate([ids, more])
    return np.concatenate([ids.astype(object), new.ids.astype(object)])


def encode_lines(encoder: Attributes | None, given: Any, side: int, name: str) -> NewSide:
    """Attributes of new lines as a user gives them; errors call them by this name."""
    if encoder is None:
        told = ("row_attributes", "column_attributes")[side]
        raise ValueError(f"{name}: the model was fitted without {told}; fit it with them.")
    table: Any = given
    ids = None
    if isinstance(given, Mapping):
        table = read_attribute_table(_fill(encoder, given, name))
    elif hasattr(given, "columns") or hasattr(given, "__arrow_c_stream__"):
        table = read_attribute_table(given)
    column = getattr(encoder, "id_column_", None)
    if isinstance(table, AttributeTable) and column in table.columns:
        ids = table.ids(column)
    matrix = encoder.transform(table)
    values = group_values(matrix, np.ones(matrix.shape[0], bool), encoder.groups_)
    return NewSide(values, ids)


def _fill(encoder: Attributes, given: Mapping[str, Any], name: str) -> dict[str, Any]:
    """One line from single values, or several from columns; what is not said is missing."""
    single = all(np.ndim(value) == 0 for value in given.values())
    columns = {key: [value] if single else value for key, value in given.items()}
    known = {group.name for group in encoder.groups_} | {getattr(encoder, "id_column_", None)}
    wrong = [key for key in columns if key not in known]
    if wrong:
        names = ", ".join(str(group.name) for group in encoder.groups_)
        raise ValueError(f"{name}: there is no attribute {wrong[0]!r}; the model knows {names}.")
    count = len(next(iter(columns.values()))) if columns else 1
    for group in encoder.groups_:
        gap = np.nan if group.kind == "number" else None
        columns.setdefault(group.name, [gap] * count)
    return columns
