"""A fitted model of clicks whose rows are on a cluster."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NoReturn

import numpy as np

from pygeco.arrays.kinds import HOST, moved
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.lines import ClickLines
from pygeco.clicks.model import ClickModel
from pygeco.models.cluster import ClusterModel
from pygeco.models.completion import CompletionModel
from pygeco.models.ranking import Best, Reasons
from pygeco.models.seen import Positions


@dataclass(frozen=True, eq=False, kw_only=True)
class ClickClusterModel(ClickLines, ClusterModel):
    """Rows and their clicks are with the workers; what places new rows is here."""

    def explain(self, row: int, column: int, k: int, time: float | None = None) -> Reasons:
        """From the clicks of the row alone, which are fetched."""
        cols, weights = self._ask(_find_clicks, np.array([row]))
        return self.explain_clicks(cols[0].astype(np.int64), weights[0].astype(float), column, k)

    def add_lines(self, rows: AttributeValues | None, columns: AttributeValues | None) -> NoReturn:
        raise ValueError("new_rows: are placed by a model on one machine; call to('cpu') first.")

    def move_to(self, like: Array) -> ClickModel:
        """All rows, from the cluster to this process."""
        here = super().move_to(HOST)
        own = {field.name for field in fields(ClickLines)}
        parts = {name: getattr(self, name) for name in own}
        parts |= {field.name: getattr(here, field.name) for field in fields(here)}
        found: ClickModel = moved(ClickModel(**parts), like)
        return found


def _find_clicks(model: CompletionModel, rows: Positions) -> Best:
    """On a worker: the columns that one row clicked, and the weights of these clicks."""
    pointers, indices, values, *_ = model.seen
    own = slice(int(pointers[rows[0]]), int(pointers[rows[0] + 1]))
    return Best(indices[own][None], values[own][None])
