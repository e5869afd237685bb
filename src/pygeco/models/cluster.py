"""A fitted model whose rows are on a cluster: answers come from the workers that hold the rows.

Each slab gets an ordinary model of its own rows, a task there. A question about rows goes to the
models of their slabs, and the answers are put together here. The last row of such a model is the
average of all rows, which stands for an id that was not fitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.kinds import HOST, moved
from pygeco.arrays.low_rank import Array
from pygeco.models.base import FittedModel
from pygeco.models.completion import CompletionModel
from pygeco.models.ranking import UNKNOWN, Best, ListFilters, Reasons, list_length
from pygeco.models.seen import NO_CELLS, Positions, Seen, cut_rows
from pygeco.models.similarity import find_alike, find_nearest
from pygeco.models.slab_arrays import Leaf, Remote, is_in_slabs, map_parts, write_in_blocks
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.engines.dask.slabs import Slab, Slabs
    from pygeco.engines.dask.tall import Tall

Answer = TypeVar("Answer")


class Shell(NamedTuple):
    """A model without its rows: for each array of rows a leaf, and the average of its rows."""

    model: CompletionModel
    averages: list[Array]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClusterModel(FittedModel):
    """A model whose arrays of rows are in slabs on the workers."""

    def linear(self, rows: Positions, cols: Positions, times: Array | None = None) -> Array:
        return self._ask(CompletionModel.linear, rows, cols)

    def deviation(self, rows: Positions, cols: Positions, times: Array | None = None) -> Array:
        self.expect_evidence()
        return self._ask(CompletionModel.deviation, rows, cols)

    def spread(self, rows: Positions, cols: Positions) -> Array:
        return self._ask(CompletionModel.spread, rows, cols)

    def best(
        self,
        rows: Positions,
        k: int,
        filters: ListFilters = UNKNOWN,
        *,
        by: str = "auto",
    ) -> Best:
        if by == "choice":
            raise ValueError("by: lists by choice need the model on one machine; call to('cpu').")
        if filters.is_by_row:
            raise ValueError(
                "exclude: columns of each row need the model on one machine; call to('cpu')."
            )
        return self._ask(CompletionModel.best, rows, k=k, filters=filters)

    def similar_rows(self, rows: Positions, k: int) -> Best:
        """The best of each slab, then the best of these."""
        wanted = list_length(k, self.shape[0])
        flat = rows.reshape(-1)
        vectors = self._ask(_left_of, flat)
        tasks = [_submit(self._client, _nearest, one, vectors, wanted + 1) for one in self._slabs]
        parts = cast(list[Best], _gather(self._client, tasks))
        starts = self._rows.bounds
        found = np.hstack([part.columns + at for part, at in zip(parts, starts, strict=False)])
        scores = np.hstack([part.scores for part in parts])
        scores[found == flat[:, None]] = -np.inf
        order = np.lexsort((found, -scores), axis=1)[:, :wanted]
        best = np.take_along_axis(scores, order, 1)
        found = np.where(np.isfinite(best), np.take_along_axis(found, order, 1), -1)
        shape = (*rows.shape, wanted)
        return Best(found.reshape(shape), best.reshape(shape))

    def similar_columns(self, cols: Positions, k: int) -> Best:
        return find_alike(self.factors.T.left, cols, k)

    def explain(self, row: int, column: int, k: int, time: float | None = None) -> Reasons:
        if self.posterior is None:
            raise ValueError("row: explain needs a model fitted with penalty='evidence'.")
        bounds = self._rows.bounds
        t = int(np.searchsorted(bounds, row, side="right")) - 1
        local = int(row - bounds[t])
        task = _submit(self._client, CompletionModel.explain, self._slabs[t], local, column, k)
        return cast(Reasons, _gather(self._client, [task])[0])

    def was_fitted(self, rows: Positions, cols: Positions) -> NDArray[np.bool_]:
        return self._ask(CompletionModel.was_fitted, rows, cols)

    def count_contradictions(self, rows: Positions, cols: Positions, values: Array) -> int:
        """None is known of: the values are with the workers."""
        return 0

    def counts(self) -> tuple[Positions, Positions]:
        by_row, by_col = self._rows.engine.cells()
        return by_row.counts(), by_col.counts()

    def check_updatable(self) -> NoReturn:
        raise ValueError("X: partial_fit runs on the CPU; call to('cpu') first.")

    def update(
        self, new: Entries, places: tuple[Positions, Positions], times: Array | None = None
    ) -> NoReturn:
        self.check_updatable()

    def move_to(self, like: Array) -> CompletionModel:
        """All rows, from the cluster to this process."""
        pointers = np.concatenate(list(self._cells.pointers().runs()))
        seen = Seen(pointers, *(moved(x, HOST) for x in self.seen[1:]))
        parts: dict[str, Any] = _parts(self) | {"seen": seen}
        here = {name: moved(part, HOST) for name, part in parts.items()}
        return CompletionModel(**here).move_to(like)

    def prepare_for_file(self) -> Self:
        pointers = cast(NDArray[np.int64], self._cells.pointers())
        return replace(
            write_in_blocks(self), seen=write_in_blocks(self.seen)._replace(pointers=pointers)
        )

    def row_models(self) -> tuple[object, ...]:
        return self._slabs

    @property
    def is_here(self) -> bool:
        return False

    @property
    def _rows(self) -> Tall:
        return cast("Tall", self.factors.U)

    @property
    def _cells(self) -> Slabs:
        return self._rows.engine.slabs

    @property
    def _client(self) -> object:
        return self._cells.client

    @cached_property
    def _slabs(self) -> tuple[Remote, ...]:
        """A future of a model for each slab, made when first asked for."""
        leaves: list[Array] = []
        # Sent once, passed on between workers.
        shared = _submit(self._client, _same, _empty_shell(self, leaves))
        parts = [cast("Tall", leaf).futures() for leaf in (self.seen.values, *leaves)]
        bounds = pairwise(self._rows.bounds)
        return tuple(
            _submit(self._client, fill_shell, shared, slab, cut_rows(self.held_out, *ends), *own)
            for slab, ends, *own in zip(self._cells.futures, bounds, *parts, strict=True)
        )

    def _ask(
        self,
        question: Callable[..., Answer],
        rows: Positions,
        *others: Positions,
        **settings: object,
    ) -> Answer:
        """question(model of a slab, its rows, *others) of all slabs concerned, in their order.

        `others` go along with the rows; −1 is the average row. The answer is an array or a named
        tuple of arrays, one line a row.
        """
        arrays = np.broadcast_arrays(np.asarray(rows), *others)
        shape = arrays[0].shape
        index, *along = (array.reshape(-1) for array in arrays)
        bounds = self._rows.bounds
        home = np.maximum(np.searchsorted(bounds, index, side="right") - 1, 0)
        touched = np.unique(home) if len(home) else np.zeros(1, int)
        tasks = []
        for t in touched:
            own = home == t
            local = np.where(index[own] < 0, -1, index[own] - bounds[t])
            parts = (local, *(other[own] for other in along))
            tasks.append(_submit(self._client, _answer, self._slabs[t], question, parts, settings))
        answers = cast(list[Answer], _gather(self._client, tasks))
        places = np.argsort(home, kind="stable")
        return _put_together(answers, places, shape)


def fill_shell(
    shell: Shell, slab: Slab, held_out: Seen | None, targets: Array, *rows: Array
) -> CompletionModel:
    """On a worker: the model of a slab's own rows, with the average of all as one row more."""
    wide = [
        np.concatenate([own, np.asarray(mean, own.dtype)[None]])
        for own, mean in zip(rows, shell.averages, strict=True)
    ]

    def fill(x: object) -> object:
        return wide[x.number] if isinstance(x, Leaf) else x

    pointers = np.append(slab.pointers, slab.pointers[-1])
    return replace(
        map_parts(shell.model, fill),
        seen=Seen(pointers, slab.indices, targets, slab.weights),
        held_out=held_out,
        average_row=len(slab.pointers) - 1,
    )


def _empty_shell(model: ClusterModel, leaves: list[Array]) -> Shell:
    """The model with leaves for its arrays of rows, which are added to `leaves`."""

    def name_leaf(x: object) -> object:
        if not is_in_slabs(x):
            return x
        known = [t for t, leaf in enumerate(leaves) if leaf is x]
        if not known:
            leaves.append(cast(Array, x))
        return Leaf(known[0] if known else len(leaves) - 1)

    parts = _parts(model) | {"seen": NO_CELLS, "held_out": None}
    bare: dict[str, Any] = {name: map_parts(part, name_leaf) for name, part in parts.items()}
    averages = [np.asarray(np.mean(leaf, axis=0, dtype=float)) for leaf in leaves]
    if model.posterior is not None:
        side = model.posterior.rows
        for spread, center in ((side.variance, side.factor), (side.bias_variance, side.bias)):
            at = next(t for t, leaf in enumerate(leaves) if leaf is spread)
            averages[at] = averages[at] + _variance(center)
    return Shell(CompletionModel(**bare), averages)


def _parts(model: FittedModel) -> dict[str, object]:
    return {field.name: getattr(model, field.name) for field in fields(FittedModel)}


def _variance(x: Array) -> Array:
    """Of the rows, column by column."""
    middle = np.mean(x, axis=0, dtype=float)
    return np.mean((x - middle) ** 2, axis=0, dtype=float)


def _same(x: Answer) -> Answer:
    return x


def _left_of(model: CompletionModel, rows: Positions) -> Array:
    return model.factors.left[rows]


def _nearest(model: CompletionModel, vectors: Array, k: int) -> Best:
    """On a worker: the k of a slab's rows with the largest cosine to each vector."""
    # The last line is the average of all rows.
    return find_nearest(model.factors.left[:-1], vectors, k)


def _answer(
    model: CompletionModel,
    question: Callable[..., Answer],
    parts: tuple[Positions, ...],
    settings: dict[str, object],
) -> Answer:
    return question(model, *parts, **settings)


def _put_together(answers: list[Answer], places: Positions, shape: tuple[int, ...]) -> Answer:
    """Lines from several slabs in the order in which they were asked for."""
    first: Any = answers[0]
    if isinstance(first, tuple):
        columns = zip(*cast(list[tuple[Array, ...]], answers), strict=True)
        kind: Any = type(first)
        return cast(Answer, kind(*(_put_together(list(x), places, shape) for x in columns)))
    found = np.concatenate(cast(list[Array], answers))
    out = np.empty_like(found)
    out[places] = found
    return cast(Answer, out.reshape((*shape, *found.shape[1:])))


def _submit(client: object, function: Callable[..., object], *args: object) -> Remote:
    from pygeco.engines.dask.cluster import submit_call

    return submit_call(client, function, *args)


def _gather(client: object, tasks: list[Remote]) -> list[object]:
    from pygeco.engines.dask.patience import gather_values

    return gather_values(client, tasks)
