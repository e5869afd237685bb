"""Answers of a model whose rows are on a cluster: they come from the workers that hold the rows.

Each slab gets an ordinary model of its own rows, a task there. A question about rows goes to the
models of their slabs, and the answers are put together here. The last row of such a model is the
average of all rows, which stands for an id that was not fitted.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.arrays.container import Blocks
from pygeco.arrays.kinds import HOST, moved
from pygeco.objectives import Entries

# Parameters that the slabs' models do without.
DROPPED = ("callback", "observer", "engine", "random_state")
ROWS = ("U", "row", "rows", "row_prior")  # parts of factors, offsets and posteriors
ELSEWHERE = (
    "path_",
    "seen_",
    "held_out_",
    "row_ids_",
)  # what is not needed there, or is there already

_MODELS: weakref.WeakKeyDictionary[Any, tuple[Any, ...]] = weakref.WeakKeyDictionary()


class Leaf(NamedTuple):
    """The place of an array of rows in a model."""

    number: int


class Shell(NamedTuple):
    """A model without its rows: for each array of rows a leaf, and the average of its rows."""

    model: Any
    averages: list[NDArray[Any]]


def spread_out(model: Any) -> bool:
    """Whether the rows of a fitted model are on a cluster."""
    return away(model.factors_.U)


def away(x: Any) -> bool:
    """Whether an array's rows are on a cluster."""
    return hasattr(x, "futures")


def sent_out(x: Any, entries: Entries) -> Any:
    """What a file kept, with its large arrays of the kind of the entries: rows to their slabs."""
    if not away(entries.kind):
        return moved(x, entries.kind)
    engine: Any = entries.engine
    return _spread(x, engine.home, False)


def _spread(x: Any, home: Any, rows: bool) -> Any:
    """`rows` is true within a part that has one line for each row."""
    from pygeco.engines.dask.rowwise import send_rows

    stay = x.on_host() if hasattr(x, "on_host") else ()
    names = [field.name for field in fields(x)] if is_dataclass(x) else getattr(x, "_fields", ())
    if names:
        parts = {
            name: _spread(getattr(x, name), home, rows or name in ROWS)
            for name in names
            if name not in stay
        }
        change: Any = replace if is_dataclass(x) else type(x)._replace
        return change(x, **parts)
    return send_rows(x, home) if rows and isinstance(x, np.ndarray) and x.ndim else x


def asked(
    model: Any, function: Callable[..., Any], rows: Any, *others: Any, **settings: Any
) -> Any:
    """function(model of a slab, its rows, *others) of all slabs concerned, in the order of `rows`.

    `others` go along with the rows; −1 is the average row. The answer is an array or a named tuple
    of arrays, one line a row.
    """
    from pygeco.engines.dask.cluster import submit_call
    from pygeco.engines.dask.patience import gather_values

    arrays = np.broadcast_arrays(np.asarray(rows), *others)
    shape = arrays[0].shape
    index, *along = (array.reshape(-1) for array in arrays)
    U = model.factors_.U
    home = np.maximum(np.searchsorted(U.bounds, index, side="right") - 1, 0)
    models, client = slab_models(model), U.engine.slabs.client
    touched = np.unique(home) if len(home) else np.zeros(1, int)
    tasks = []
    for t in touched:
        own = home == t
        local = np.where(index[own] < 0, U.bounds[t + 1] - U.bounds[t], index[own] - U.bounds[t])
        parts = (local, *(other[own] for other in along))
        tasks.append(submit_call(client, _answer, models[t], function, parts, settings))
    answers = gather_values(client, tasks)
    places = np.argsort(home, kind="stable")
    return _put_together(answers, places, shape)


def asked_one(model: Any, function: Callable[..., Any], row: int, *others: Any) -> Any:
    """function(model of the slab, the row there, *others)."""
    from pygeco.engines.dask.patience import gather_values

    U = model.factors_.U
    t = int(np.searchsorted(U.bounds, row, side="right")) - 1
    client = U.engine.slabs.client
    asked = client.submit(function, slab_models(model)[t], int(row - U.bounds[t]), *others)
    return gather_values(client, [asked])[0]


def _answer(model: Any, function: Callable[..., Any], parts: Any, settings: Any) -> Any:
    return function(model, *parts, **settings)


def _put_together(answers: list[Any], places: NDArray[Any], shape: tuple[int, ...]) -> Any:
    if isinstance(answers[0], tuple):
        columns = zip(*answers, strict=True)
        kind: Any = type(answers[0])
        return kind(*(_put_together(list(column), places, shape) for column in columns))
    found = np.concatenate(answers)
    out = np.empty_like(found)
    out[places] = found
    return out.reshape((*shape, *found.shape[1:]))


def slab_models(model: Any) -> tuple[Any, ...]:
    """A future of a model for each slab, made when first asked for."""
    if model.factors_ not in _MODELS:
        _MODELS[model.factors_] = _made(model)
    return _MODELS[model.factors_]


def drop_slab_models(model: Any) -> None:
    """Let them be made anew, of what has changed in the model."""
    if spread_out(model):
        _MODELS.pop(model.factors_, None)


def _made(model: Any) -> tuple[Any, ...]:
    from pygeco.engines.dask.cluster import submit_call
    from pygeco.estimators._seen import cut_rows

    slabs = model.factors_.U.engine.slabs
    client = slabs.client
    leaves: list[Any] = []
    # Sent once, passed on between workers.
    shared = submit_call(client, _same, _shell(model, leaves))
    parts = [leaf.futures() for leaf in (model.seen_.values, *leaves)]
    held, bounds = vars(model).get("held_out_"), model.factors_.U.bounds
    return tuple(
        submit_call(client, narrowed, shared, slab, cut_rows(held, *ends), *own)
        for slab, ends, *own in zip(slabs.futures, pairwise(bounds), *parts, strict=True)
    )


def _same(x: Any) -> Any:
    return x


def _shell(model: Any, leaves: list[Any]) -> Shell:
    bare = copy.copy(model)
    for name, value in vars(model).items():
        if name in ELSEWHERE or name in DROPPED:
            setattr(bare, name, None)
        elif name.endswith("_"):
            setattr(bare, name, mapped_parts(value, lambda x: _leaf(x, leaves)))
    averages = [np.asarray(np.mean(leaf, axis=0, dtype=float)) for leaf in leaves]
    if model.posterior_ is not None:
        side = model.posterior_.rows
        for spread, centre in ((side.variance, side.factor), (side.bias_variance, side.bias)):
            at = next(t for t, leaf in enumerate(leaves) if leaf is spread)
            averages[at] = averages[at] + _variance(centre)
    return Shell(bare, averages)


def _variance(x: Any) -> Any:
    """Of the rows, column by column."""
    middle = np.mean(x, axis=0, dtype=float)
    return np.mean((x - middle) ** 2, axis=0, dtype=float)


def _leaf(x: Any, leaves: list[Any]) -> Any:
    if not away(x):
        return x
    known = [t for t, leaf in enumerate(leaves) if leaf is x]
    if not known:
        leaves.append(x)
    return Leaf(known[0] if known else len(leaves) - 1)


def brought_home(model: Any) -> None:
    """The model's rows, from the cluster to this process."""
    seen = model.seen_
    pointers = np.concatenate(list(model.factors_.U.engine.slabs.pointers().runs()))
    for name, value in vars(model).items():
        if name.endswith("_") and name != "row_ids_":
            setattr(model, name, moved(value, HOST))
    arrays = (moved(x, HOST) for x in (seen.indices, seen.values, seen.weights))
    model.seen_ = type(seen)(pointers, *arrays)
    if hasattr(model.row_ids_, "get"):
        model.row_ids_ = model.row_ids_.get()


def file_state(model: Any) -> dict[str, Any]:
    """What a file keeps of a model on a cluster: its arrays of rows come slab after slab.

    This process holds one slab of one array at a time.
    """
    slabs = model.factors_.U.engine.slabs
    ids = model.row_ids_
    whole = vars(model) | {"row_ids_": None if ids is None else ids.blocks()}
    found = in_blocks(whole)
    found["seen_"] = found["seen_"]._replace(pointers=slabs.pointers())
    return found


def in_blocks(parts: dict[str, Any]) -> dict[str, Any]:
    """The same values with their arrays of rows as blocks, one slab each."""
    return {name: mapped_parts(value, _in_blocks) for name, value in parts.items()}


def _in_blocks(x: Any) -> Any:
    if not away(x):
        return x
    return Blocks(x.dtype, x.shape, lambda: (future.result() for future in x.futures()))


def narrowed(shell: Shell, slab: Any, held_out: Any, targets: Any, *rows: Any) -> Any:
    """On a worker: the model of a slab's own rows, with the average of all as one row more."""
    from pygeco.estimators._seen import Seen

    wide = [
        np.concatenate([own, np.asarray(mean, own.dtype)[None]])
        for own, mean in zip(rows, shell.averages, strict=True)
    ]

    def filled(x: Any) -> Any:
        return wide[x.number] if isinstance(x, Leaf) else x

    model = copy.copy(shell.model)
    for name, value in vars(shell.model).items():
        if name.endswith("_"):
            setattr(model, name, mapped_parts(value, filled))
    model._average_row = len(slab.pointers) - 1
    pointers = np.append(slab.pointers, slab.pointers[-1])
    model.seen_ = Seen(pointers, slab.indices, targets, slab.weights)
    model.held_out_ = held_out
    return model


def mapped_parts(x: Any, function: Callable[[Any], Any]) -> Any:
    """The same object with function(part) for its parts: of dataclasses, tuples and lists."""
    if isinstance(x, Leaf):
        return function(x)
    if is_dataclass(x) and not isinstance(x, type):
        names = [field.name for field in fields(x) if field.init]
        return replace(x, **{name: mapped_parts(getattr(x, name), function) for name in names})
    if hasattr(x, "_fields") and not isinstance(x, Blocks):
        return x._replace(**{name: mapped_parts(getattr(x, name), function) for name in x._fields})
    if type(x) in (tuple, list):
        return type(x)(mapped_parts(part, function) for part in x)
    return function(x)
