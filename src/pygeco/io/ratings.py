"""Ratings from files: delimited text, Parquet, Arrow, JSON, Matrix Market."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any, BinaryIO, NamedTuple

from pygeco.errors import ColumnError, ReadError
from pygeco.io.columns import (
    choose_columns,
    convert_ratings,
    drop_incomplete_rows,
    explain_parse_errors,
    find_time_column,
)
from pygeco.io.delimited import Sniffed, read_delimited, sniff_text
from pygeco.io.item_blocks import is_in_blocks, list_block_columns, read_blocks
from pygeco.io.json_arrays import ARRAY
from pygeco.io.json_lines import list_json_names, read_json
from pygeco.io.matrix_market import read_market
from pygeco.io.plain_texts import unpack_codes, with_plain_texts
from pygeco.io.shapes import check_shape, find_gaps, find_moments, has_header
from pygeco.io.sources import Progress, Source, check_growth, open_source
from pygeco.io.tables import Column, pyarrow
from pygeco.io.text_ids import id_texts, narrow_ids, trim_texts
from pygeco.io.text_tables import read_matrix_cells

ROLES = ("user", "item", "rating")
TIMES = "timestamp"  # the column of times in what was read


class Reading(NamedTuple):
    """A table with one column for each role, and a description of what was found.

    Attributes
    ----------
    table : pyarrow.Table
        The table, as `MatrixCompletion.fit` takes it.
    found : str
        One sentence: the format, the columns, the rows, and how many were left out.
    columns : tuple of str
        Which columns of the file these are: names, or numbers from 1 if there are no names.
    """

    table: Any
    found: str
    columns: tuple[str, ...] = ()


class Layout(NamedTuple):
    """What a file is: its format in words, its columns, and whether they have names."""

    kind: str
    words: str
    names: list[str]
    named: bool = True
    text: Sniffed | None = None


def read_ratings(
    source: str | os.PathLike[str] | BinaryIO,
    *,
    user: Column | None = None,
    item: Column | None = None,
    rating: Column | None = None,
    matrix: bool = False,
    progress: Progress | None = None,
) -> Reading:
    r"""Read the ratings in a file as a pyarrow table with columns user, item and rating.

    The file may be CSV, TSV, text separated by ";", "|", spaces or "::", text with ratings below
    their item (as published by Netflix), Parquet, Arrow IPC, JSON (lines or one array of objects)
    or Matrix Market, also with gzip, bzip2, xz, zstd, lz4 or zip compression; all are recognized by
    content. Ids keep their type. In text they stay as written, and become numbers only if each one,
    written back, reads as before. Rows without an id or a rating are left out, as `found` tells.

    Parameters
    ----------
    source : path, binary file or "-"
        "-" is standard input. A path may lead into a zip archive of several files.
    user, item, rating : str, int or None, default=None
        Columns by name, by number from 0, or by text such as "2" that counts from 1. Others are
        recognized by their usual names; in a file without names, they are the first three.
    matrix : bool, default=False
        Read text with a row for each user and a column for each item instead.
    progress : callable or None, default=None
        Called with the share of the file that is read.

    Returns
    -------
    Reading

    Examples
    --------
    >>> import io
    >>> from pygeco.data import read_ratings
    >>> reading = read_ratings(io.BytesIO(b"who;film;stars\na;x;4\nb;y;5\n"), user="who", rating=2)
    >>> reading.table.to_pydict()
    {'user': ['a', 'b'], 'item': ['x', 'y'], 'rating': [4.0, 5.0]}
    """
    given = {"user": user, "item": item, "rating": rating}
    if matrix:
        return read_matrix(source, given, progress)
    return read_columns(source, given, progress)


def read_columns(
    source: str | os.PathLike[str] | BinaryIO | Source,
    given: dict[str, Column | None],
    progress: Progress | None = None,
    *,
    texts: Collection[str] = (),
    remembered: Mapping[str, str] | None = None,
    times: Column | bool | None = False,
) -> Reading:
    """The same for any roles, the keys of `given`; the ids of `texts` are read as text.

    Columns that are not given are those `remembered` from another file, where this one has them.

    Unless `times` is False, the column that it names, or else one that is called so, comes as a
    column "timestamp"; rows without one stay.

    A file of a few rows may hold only numbers where the ids of a model, or of the whole, are texts.
    """
    file = open_source(source, progress)
    if not file.head.strip():
        raise ReadError(f"{file.name} is empty; give a file with ratings.")
    layout = find_layout(file._replace(progress=None), given, remembered or {})
    roles, moments = list(given), find_moments(layout.text)
    shape, others = (layout.names, given), [*moments, *find_gaps(layout.text)]
    try:
        at = choose_columns(*shape, named=layout.named, remembered=remembered, others=others)
    except ColumnError as error:
        raise ColumnError(f"{file.name}: {error}") from None
    if times is not False:
        wish = None if isinstance(times, bool) else times
        known = (remembered or {}).get(TIMES)
        found = find_time_column(layout.names, at, wish, layout.named, known, moments)
        if wish is not None and found in at:
            taken = roles[at.index(found)]
            raise ColumnError(f"{file.name}: times and {taken} must be different columns.")
        if found is not None and found not in at:
            at, roles = [*at, found], [*roles, TIMES]
    names = [layout.names[k] for k in at]
    table, encoding = _table(file, layout, at, roles, texts)
    table, kind = table.rename_columns(roles), ", ".join(filter(None, (layout.words, encoding)))
    for k, role in enumerate(roles):
        if role == "title" or role in texts:
            written = id_texts(table.column(k), role)
            table = table.set_column(k, role, trim_texts(written) if layout.text else written)
        elif role != "rating" and layout.text is not None:
            table = table.set_column(k, role, narrow_ids(table.column(k)))
    if "rating" in roles:
        table = convert_ratings(file.name, table, names[roles.index("rating")])
    table, skipped = drop_incomplete_rows(table, but=TIMES)
    if not table.num_rows:
        raise ReadError(f"{file.name} has no row with {' and '.join(roles)}; give another file.")
    words = _words(file, layout._replace(words=kind), at, roles, table.num_rows, skipped)
    told = names if layout.named else [f"{k + 1}" for k in at]
    return Reading(table, words, tuple(told))


def read_matrix(
    source: str | os.PathLike[str] | BinaryIO | Source,
    given: dict[str, Column | None],
    progress: Progress | None = None,
) -> Reading:
    """The cells of a matrix in text that have a value, as ratings."""
    if any(it is not None for it in given.values()):
        raise ColumnError("matrix: every column is an item; do not name columns as well.")
    file = open_source(source, progress)
    with explain_parse_errors(file.name):
        return Reading(*read_matrix_cells(file))


def find_layout(
    file: Source, given: dict[str, Column | None], remembered: Mapping[str, str]
) -> Layout:
    """What the file is, by its first bytes; text of another shape than `given` is refused."""
    head = file.head
    if head.startswith(b"PAR1"):
        return Layout("parquet", "Parquet", _guard(file, _parquet_names))
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return Layout("arrow", "Arrow", _guard(file, lambda file: _arrow(file).schema.names))
    if head.startswith(b"%%MatrixMarket"):
        return Layout("matrix", "Matrix Market", list(ROLES))
    if (is_array := ARRAY.match(head) is not None) or head.lstrip().startswith(b"{"):
        asked = {name for name in given.values() if isinstance(name, str) and not name.isdecimal()}
        settled = [role for role, name in given.items() if name is not None]
        names = _guard(file, lambda file: list_json_names(file, asked, settled))
        return Layout("json", "a JSON array" if is_array else "JSON lines", names)
    if head.lstrip().startswith(b"["):
        raise ReadError(f"{file.name} is a JSON array, but not of objects; write one for each row.")
    if is_in_blocks(head):
        return Layout("blocks", "ratings below their item", list_block_columns(head))
    if b"\x00" in head:
        raise ReadError(
            f"{file.name} is not text in UTF-8, nor Parquet or Arrow; convert it to one of these."
        )
    text = sniff_text(file)
    known = {role: name for role, name in remembered.items() if name in text.names}
    given = {role: known.get(role) if it is None else it for role, it in given.items()}
    if text.header and not has_header(text, given):
        text = text.without_header()
    check_shape(file.name, text, given)
    return Layout("text", text.words, text.names, text.header, text)


def _table(
    file: Source, layout: Layout, at: list[int], roles: list[str], texts: Collection[str]
) -> tuple[Any, str]:
    """The chosen columns, in the order of `at`, and a word about their encoding, if it is odd."""
    if layout.text is not None:
        how = layout.text
        return _guard(file, lambda file: read_delimited(file, at, roles, how, texts))
    if layout.kind == "json":
        names = [layout.names[k] for k in at]
        return _guard(file, lambda file: read_json(file, names, roles))
    if layout.kind == "matrix":
        return _guard(file, _matrix).select(at), ""
    if layout.kind == "blocks":
        return _guard(file, read_blocks).select(at), ""
    read = {"parquet": _parquet_columns, "arrow": _arrow_columns}[layout.kind]
    return _guard(file, lambda file: read(file, at)), ""


def _parquet(file: Source) -> Any:
    from pyarrow.parquet import ParquetFile

    if file.path is not None and file.compression is None:
        return ParquetFile(file.path)
    return ParquetFile(file.whole())


def _parquet_names(file: Source) -> list[str]:
    return list(_parquet(file).schema_arrow.names)


def _parquet_columns(file: Source, at: list[int]) -> Any:
    whole = _parquet(file)
    about = whole.metadata
    rows = max(
        about.num_rows, sum(about.row_group(k).num_rows for k in range(about.num_row_groups))
    )
    check_growth(file.name, file.size, 8 * rows * len(at))
    names = whole.schema_arrow.names
    if len(set(names)) < len(names):  # pyarrow would give every column of a name
        return _sound(whole.read().select(at))
    asked = [names[k] for k in at]
    return _sound(whole.read(columns=asked).select(asked))


def _arrow_columns(file: Source, at: list[int]) -> Any:
    table = _arrow(file).read_all().select(at)
    check_growth(file.name, file.size, 8 * table.num_rows * len(at))
    return _sound(table)


def _sound(table: Any) -> Any:
    """The table, if no offset or index in it points astray: pyarrow trusts files."""
    table.validate(full=True)
    columns = [unpack_codes(column) for column in table.columns]
    return with_plain_texts(pyarrow().table(columns, names=table.column_names))


def _arrow(file: Source) -> Any:
    """A reader, which knows the schema before the data are read."""
    from pyarrow import ipc

    return (ipc.open_file if file.head.startswith(b"ARROW1") else ipc.open_stream)(file.whole())


def _matrix(file: Source) -> Any:
    """Rows and columns counted from 1, as the format does."""
    with file.file() as stream:
        cells = read_market(stream)
    for index in cells[:2]:
        index += 1  # in place: nobody else has it
    columns = {"user": cells.rows, "item": cells.cols, "rating": cells.values}
    return pyarrow().table(columns)


def _guard(file: Source, read: Callable[[Source], Any]) -> Any:
    """What `read` gives, or one sentence."""
    with explain_parse_errors(file.name):
        return read(file)


def _words(
    file: Source, layout: Layout, at: list[int], roles: list[str], rows: int, skipped: int
) -> str:
    def called(k: int) -> str:
        return repr(layout.names[k]) if layout.named else f"column {k + 1}"

    packed = f", {file.compression}" if file.compression else ""
    words = ["times" if role == TIMES else role for role in roles]
    parts = ", ".join(f"{word} = {called(k)}" for word, k in zip(words, at, strict=True))
    left = f"; {skipped:,} rows with a missing value are left out" if skipped else ""
    return f"{file.name} ({layout.words}{packed}): {parts}; {rows:,} rows{left}."
