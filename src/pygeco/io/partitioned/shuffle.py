"""Ratings in parts to slabs of rows on the workers of a cluster, shuffled by user once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from pygeco.engines.dask.patience import await_futures, gather_values
from pygeco.engines.dask.slabs import Slabs
from pygeco.errors import ColumnError, RepeatedCellError
from pygeco.io import parquet_parts as files
from pygeco.io.column_names import match_columns
from pygeco.io.partitioned import parts
from pygeco.io.partitioned.ids import RowIds
from pygeco.io.tables import Column, find_column, id_array, is_frame, pyarrow
from pygeco.io.value_scale import parse_marks
from pygeco.objectives.entries.observed import check_policy

MERGED_AT_ONCE = 8  # summaries that one task merges
Progress = Callable[[float], object]


class Partitioned(NamedTuple):
    """Ratings on a cluster: slabs (ranges) of rows, sorted by the user's id, and the ids.

    Attributes
    ----------
    slabs : Slabs
        The cells, on the workers.
    row_ids : RowIds
        On the workers too.
    column_ids : array
        On the client.
    names, found : tuple of str, str
        The three columns, and what was read, in words.
    held : table or None
        The rows that were held out, on the client.
    """

    slabs: Slabs
    row_ids: RowIds
    column_ids: NDArray[Any]
    names: tuple[str, ...]
    found: str
    held: Any = None


class Planned(NamedTuple):
    """Tasks of the parts and of their held-out rows, not yet run; the names of the three columns,
    and the source in words.
    """

    tasks: list[Any]
    held: list[Any]
    names: tuple[str, ...]
    words: str


def read_partitioned(
    X: Any,
    client: Any,
    *,
    columns: Sequence[Column | None] | None = None,
    duplicates: str = "error",
    holdout: tuple[float, int] | None = None,
    missing_values: Any = "auto",
    progress: Progress | None = None,
) -> Partitioned:
    """Read the ratings of a Dask DataFrame, of a list of Parquet files or of a folder, in slabs.

    The workers read each part once. Rows are sorted by the user's id, as on one machine. The number
    of slabs and the order depend on the data alone. Nothing as large as the number of users or
    cells reaches this process. Each slab is a pure task that begins at the source, so that Dask can
    make it again if a worker is lost.

    Parameters
    ----------
    X : Dask DataFrame, list of paths, or path
        Files must be Parquet, local or at any fsspec address.
    client : distributed.Client
        The client of the cluster.
    columns : sequence of three or None, default=None
        User, item and rating, by name or number; None for those to recognize by name.
    duplicates : "error", "mean", "sum" or "last", default="error"
        What to do with a cell that appears more than once.
    holdout : (float, int) or None, default=None
        A share and a seed: rows to leave out and return separately, at most a million; they do not
        depend on how the files are cut.
    missing_values : "auto", None, number or list of numbers, default="auto"
        As in `MatrixCompletion`.
    progress : callable or None, default=None
        Called with the share of the work that is done.

    Returns
    -------
    Partitioned
    """
    check_policy(duplicates)
    token = uuid4().hex
    if is_frame(X):
        if holdout is not None:
            raise ValueError("holdout: is for files; split a Dask DataFrame by random_split.")
        plan = _plan_frame(X, columns, parse_marks(missing_values), token)
    else:
        plan = _plan_files(X, client, columns, holdout, parse_marks(missing_values), token)
    read = client.persist(plan.tasks)
    await_futures(client, client.compute(read), _halve_progress(progress, 0.0))
    root = client.persist(_summarize(read, plan.names, token))
    summary: parts.Summary = gather_values(client, [client.compute(root)])[0]
    about = summary.cells, summary.bad, summary.first, summary.values
    files.check_rows(plan.words, *about, missing_values)
    built = client.persist(_build_slabs(read, root, summary, plan, duplicates, token))
    del read
    return _collect(client, built, summary, plan, duplicates, token, progress)


def _plan_files(
    X: Any,
    client: Any,
    columns: Sequence[Column | None] | None,
    holdout: tuple[float, int] | None,
    marks: tuple[float, ...],
    token: str,
) -> Planned:
    from dask import delayed

    paths = files.list_files(X)
    asked = client.map(files.read_footer, paths, key=f"pygeco-footer-{token}")
    footers = gather_values(client, asked)
    rows = files.plan_parts(paths, footers, files.check_three(columns))
    chosen = files.choose_rows(holdout, footers)
    read = delayed(parts.read_part, pure=True)
    tasks = [
        read(one, chosen, marks, dask_key_name=f"pygeco-read-{token}-{t}")
        for t, one in enumerate(rows)
    ]
    hold = delayed(files.read_held_rows, pure=True)
    held = [] if chosen is None else [hold(one, chosen) for one in rows]
    return Planned(tasks, held, rows[0].names, files.name_files(X, len(paths)))


def _plan_frame(
    X: Any, columns: Sequence[Column | None] | None, marks: tuple[float, ...], token: str
) -> Planned:
    from dask import delayed

    names = [str(name) for name in X.columns]
    given = files.check_three(columns).values()
    if columns is None:
        at = match_columns(names, files.ROLES)
        if at is None:
            raise ColumnError(
                f"X: no columns look like user, item and rating, but {names}; pass columns=."
            )
    else:
        at = [find_column("columns", one, names) for one in given if one is not None]
    read = delayed(parts.make_part_of_frame, pure=True)
    tasks = [
        read(one, at, t, marks, dask_key_name=f"pygeco-read-{token}-{t}")
        for t, one in enumerate(X.to_delayed())
    ]
    return Planned(
        tasks, [], tuple(names[k] for k in at), f"a Dask DataFrame in {len(tasks):,} parts"
    )


def _summarize(read: Sequence[Any], names: tuple[str, ...], token: str) -> Any:
    """The task of the summary of all parts, a tree with branches of FAN."""
    from dask import delayed

    summary, merge = delayed(parts.summarize_part, pure=True), delayed(parts.merge, pure=True)
    level = [
        summary(one, dask_key_name=f"pygeco-summary-{token}-{t}") for t, one in enumerate(read)
    ]
    height = 0
    while height == 0 or len(level) > 1:
        height += 1
        level = [
            merge(
                level[t : t + MERGED_AT_ONCE],
                names,
                dask_key_name=f"pygeco-merge-{token}-{height}-{t}",
            )
            for t in range(0, len(level), MERGED_AT_ONCE)
        ]
    return level[0]


def _build_slabs(
    read: Sequence[Any],
    root: Any,
    summary: parts.Summary,
    plan: Planned,
    duplicates: str,
    token: str,
) -> list[Any]:
    """The tasks of the slabs: every part split, the pieces of each slab put together."""
    from dask import delayed

    begin = parts.find_starts(summary)
    whole = len(summary.items), summary.dtype, duplicates, plan.names[0]
    items = delayed(parts.get_items, pure=True)(root, dask_key_name=f"pygeco-items-{token}")
    split, take = delayed(parts.split, pure=True), delayed(parts.take_piece, pure=True)
    pieces = [
        split(one, begin, items, dask_key_name=f"pygeco-split-{token}-{t}")
        for t, one in enumerate(read)
    ]
    assemble = delayed(parts.assemble, pure=True)
    built = []
    for b in range(len(begin) + 1):
        own = [
            take(one, b, dask_key_name=f"pygeco-piece-{token}-{t}-{b}")
            for t, one in enumerate(pieces)
        ]
        built.append(assemble(own, *whole, dask_key_name=f"pygeco-build-{token}-{b}"))
    return built


def _collect(
    client: Any,
    built: Sequence[Any],
    summary: parts.Summary,
    plan: Planned,
    duplicates: str,
    token: str,
    progress: Progress | None,
) -> Partitioned:
    """Futures of the slabs and of their ids, and what the client knows of them."""
    from dask import delayed

    get = delayed(getattr, pure=True)
    asked = [
        [get(one, name, dask_key_name=f"pygeco-{name}-{token}-{t}") for t, one in enumerate(built)]
        for name in ("slab", "users", "account")
    ]
    slabs, users, accounts = (client.compute(tasks) for tasks in asked)
    await_futures(client, slabs, _halve_progress(progress, 0.5))
    told: list[parts.Account] = gather_values(client, accounts)
    column_ids = id_array(summary.items)
    repeated = [one for one in told if one.repeats]
    if repeated and duplicates == "error":
        user, at = repeated[0].pair or (None, 0)
        pair = user, column_ids[[at]].tolist()[0]
        raise RepeatedCellError(pair, sum(one.repeats for one in told), "X: the pair")
    rows = np.cumsum([0, *(one.users for one in told)]).astype(np.int64)
    sizes = np.array([one.cells for one in told], np.int64)
    shaped = Slabs(
        client, tuple(slabs), rows, len(column_ids), sizes, np.dtype(summary.dtype), False
    )
    starts = id_array(parts.find_starts(summary))
    found = files.tell_rows(plan.words, plan.names, summary.cells, summary.skipped)
    row_ids = RowIds(client, tuple(users), starts, rows)
    held = _join_held(gather_values(client, client.compute(plan.held))) if plan.held else None
    return Partitioned(shaped, row_ids, column_ids, plan.names, found, held)


def _join_held(tables: Sequence[Any]) -> Any:
    """Tables of held-out rows as one, with ratings of one type."""
    return pyarrow().concat_tables(tables, promote_options="permissive")


def _halve_progress(progress: Progress | None, begin: float) -> Progress | None:
    """The progress of one half of the work, as that of the whole."""
    return None if progress is None else lambda share: progress(begin + 0.5 * share)
