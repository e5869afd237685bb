"""A fitted model of clicks: a matrix of scores, and how new rows find their place in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pygeco.arrays.kinds import foreign, host
from pygeco.arrays.low_rank import Array
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.lines import ClickLines
from pygeco.models.completion import CompletionModel
from pygeco.models.folding import Folded
from pygeco.models.ranking import Reasons
from pygeco.models.seen import Positions
from pygeco.objectives import Entries


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClickModel(ClickLines, CompletionModel):
    """A model of clicks whose rows are all here."""

    def explain(self, row: int, column: int, k: int, time: float | None = None) -> Reasons:
        """Scores are sums over a row's clicks, given which columns those are."""
        own = slice(int(self.seen.pointers[row]), int(self.seen.pointers[row + 1]))
        cols = host(self.seen.indices[own]).astype(np.int64)
        found = self.explain_clicks(cols, host(self.seen.values[own]).astype(float), column, k)
        target = host(self.factors.V[column]).astype(float)
        base, said = self._explain_attributes(row, int(np.sum(cols != column)), target)
        return Reasons(
            found.columns, found.contributions, found.base if base is None else base, said
        )

    def fold_columns(self, entries: Entries, values: AttributeValues | None = None) -> Folded:
        """New columns from the clicks on them, and from their attributes where these are given."""
        from pygeco.clicks.new_columns import fold_columns

        return fold_columns(self, entries, values)

    def add_lines(
        self, rows: AttributeValues | None, columns: AttributeValues | None
    ) -> ClickModel:
        from pygeco.clicks.informing import add_lines

        return add_lines(self, rows, columns)

    def check_updatable(self) -> None:
        if foreign(self.factors.U):
            raise ValueError("X: partial_fit runs on the CPU; call to('cpu') first.")

    def update(
        self, new: Entries, places: tuple[Positions, Positions], times: Array | None = None
    ) -> ClickModel:
        """All clicks fitted again by the same settings, from where this model is.

        `new` has counts; where there is no rule for these, weights.
        """
        from pygeco.clicks.fitting import refit

        self.check_updatable()
        return refit(self, new, places)

    def _explain_attributes(
        self, row: int, count: int, target: Array
    ) -> tuple[float | None, dict[str, float]]:
        """What the mean row adds, where there is no click, and what each group of attributes.

        None where attributes say nothing of the row.
        """
        said, values = self.row_map, self.row_attributes
        if said is None or values is None or said.is_silent or not values.known[row]:
            return None, {}
        pull = said.settings.pull
        share = pull / (pull + count) if count else 1.0
        x = values.matrix[[row]].toarray()[0] - said.center
        parts = share * x * (said.weights @ target)
        ends = np.cumsum(values.sizes)[:-1]
        sums = [float(part.sum()) for part in np.split(parts, ends)]
        base = 0.0 if count else float(said.level @ target)
        return base, dict(zip(values.names, sums, strict=True)) if share else {}
