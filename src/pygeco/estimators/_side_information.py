"""Side information of MatrixCompletion: what is known of rows and columns beside their cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pygeco.algorithm.penalties import Penalty
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.posterior import Known
from pygeco.bayes.side_information import gather_known
from pygeco.estimators._attribute_tables import SideAttributes, align_attributes, group_values
from pygeco.estimators._dates import CellTimes, cut_dates
from pygeco.io.tables import find_positions
from pygeco.models.slab_arrays import is_in_slabs
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState
    from pygeco.estimators.attributes import Attributes

PATTERNS = ("auto", True, False, "row", "column")
SIDES = ("row_attributes", "column_attributes")


class SideInformation(NamedTuple):
    """Attributes of rows and of columns, None where there are none, and how they were coded.

    `dates` has the times of the cells, row by row.
    """

    values: tuple[AttributeValues | None, AttributeValues | None] = (None, None)
    encoders: tuple[Attributes | None, Attributes | None] = (None, None)
    dates: CellTimes = CellTimes()


def take_attributes(
    estimator: _CompletionState,
    entries: Entries,
    given: tuple[Any, Any],
    penalty: str | Penalty | None,
) -> tuple[Entries, SideInformation]:
    """The attributes of the rows and columns of cells.

    Rows and columns that only the attributes know are added to the cells' own; the estimator gets
    their ids.
    """
    _check_settings(estimator, given, penalty)
    if all(table is None for table in given):
        return entries, SideInformation()
    ids: list[Any] = [estimator.row_ids_, estimator.column_ids_]
    values: list[AttributeValues | None] = []
    encoders: list[Attributes | None] = []
    places = []
    for side, (name, table) in enumerate(zip(SIDES, given, strict=True)):
        count = entries.shape[side]
        if table is None:
            values.append(None)
            encoders.append(None)
            places.append(np.arange(count))
            continue
        if side == 0 and is_in_slabs(entries.kind):
            raise ValueError(
                "row_attributes: are not for fits on a cluster, where column_attributes and the "
                "pattern are; leave them out, or fit on one machine."
            )
        found = align_attributes(table, ids[side], count, name=name)
        if len(found.extra_ids) and is_in_slabs(entries.kind):
            raise ValueError(
                f"{name}: {len(found.extra_ids):,} ids, such as "
                f"{found.extra_ids[:1].tolist()[0]!r}, have no cells, and there is no place for "
                "them on a cluster; leave them out, or fit on one machine."
            )
        ids[side], place = _join_ids(ids[side], found.extra_ids, count)
        values.append(_order_values(found, place))
        encoders.append(found.encoder)
        places.append(place[:count])
    shape = (_count(values[0], entries.shape[0]), _count(values[1], entries.shape[1]))
    if shape != entries.shape:
        entries = _spread_cells(entries, shape, (places[0], places[1]))
        estimator.row_ids_, estimator.column_ids_ = ids
        estimator.n_features_in_ = shape[1]
    return entries, SideInformation((values[0], values[1]), (encoders[0], encoders[1]))


def learn_known(estimator: _CompletionState, entries: Entries, info: SideInformation) -> Known:
    """What the settings and the attributes say of rows and columns, where the passes run."""
    pattern = estimator.pattern
    wanted = (pattern in ("auto", True, "row"), pattern in ("auto", True, "column"))
    known = gather_known(entries, wanted, info.values, stays=pattern != "auto")
    return known._replace(periods=cut_dates(estimator, entries, info.dates.times))


def _check_settings(
    estimator: _CompletionState, given: tuple[Any, Any], penalty: str | Penalty | None
) -> None:
    pattern = estimator.pattern
    if not isinstance(pattern, (str, bool, np.bool_)) or pattern not in PATTERNS:
        raise ValueError(f"pattern: expected one of {PATTERNS}, not {pattern!r}.")
    if penalty == "evidence":
        return
    if pattern not in ("auto", False):
        raise ValueError(
            "pattern: the known cells say something to a fit by the evidence alone; use "
            "penalty='evidence', or pattern=False."
        )
    for name, table in zip(SIDES, given, strict=True):
        if table is not None:
            raise ValueError(
                f"{name}: say something to a fit by the evidence alone; use penalty='evidence', or "
                "leave them out."
            )


def _count(values: AttributeValues | None, count: int) -> int:
    return count if values is None else len(values.known)


def _join_ids(
    ids: NDArray[Any] | None, extra: NDArray[Any], count: int
) -> tuple[NDArray[Any] | None, NDArray[np.int64]]:
    """All ids in order, and the places of the old ones and then of the others among them."""
    if ids is None or not len(extra):
        return ids, np.arange(count + len(extra))
    every = np.concatenate([ids, extra])
    union = np.sort(every)
    return union, find_positions(union, every)


def _order_values(found: SideAttributes, place: NDArray[np.int64]) -> AttributeValues:
    """The attributes in the order of all ids."""
    order = np.argsort(place, kind="stable")
    matrix = sp.csr_array(found.matrix[order])
    return group_values(matrix, found.known[order], found.groups)


def _spread_cells(
    entries: Entries, shape: tuple[int, int], places: tuple[NDArray[Any], NDArray[Any]]
) -> Entries:
    """The cells in a larger matrix, in which the old rows and columns have these places."""
    cells = entries.by_row
    return Entries(
        places[0][entries.rows()],
        places[1][cells.indices],
        cells.values,
        shape,
        sample_weight=cells.weights if len(cells.weights) else None,
        engine=entries.engine,
    ).with_loss(entries.loss)
