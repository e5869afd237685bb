"""Matrices and tables of numbers in files: npy, npz, mtx, csv, tsv, Parquet."""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy  # its parts are imported when used
from numpy.typing import NDArray

from pygeco.arrays.low_rank import Array
from pygeco.errors import ReadError
from pygeco.io.columns import explain_parse_errors
from pygeco.io.matrix_market import read_market
from pygeco.io.plain_texts import with_plain_texts
from pygeco.io.sources import PACKED, Source, check_growth, open_source, take_ending
from pygeco.io.tables import as_floats, pyarrow
from pygeco.io.text_cells import put_cells, write_text
from pygeco.io.text_tables import read_text_table

TABLES = (".csv", ".tsv", ".txt", ".parquet")
ARRAYS = (".npy", ".npz", ".mtx")


class AnyTable(NamedTuple):
    """A table of columns of any type, whether the file names them, and the texts of its cells,
    where it is of text.
    """

    arrow: Any
    named: bool
    texts: Any | None = None

    def keep_cells(self, filled: Any, path: Path, cleared: Any | None = None) -> Any:
        """What to write to `path`: the cells as they were read, and those that were filled.

        Filled are the cells missing in `cleared`, by default the table itself, but not in `filled`.
        """
        as_text = self.texts is not None and path.suffix.lower() != ".parquet"
        given = self.texts if as_text else self.arrow
        return put_cells(given, self.arrow if cleared is None else cleared, filled)


class Table(NamedTuple):
    """The columns of numbers of a table (NaN for missing cells), and the whole of it."""

    values: Array
    names: list[str]
    others: list[str]
    whole: AnyTable

    @property
    def arrow(self) -> Any:
        return self.whole.arrow

    @property
    def named(self) -> bool:
        return self.whole.named

    def filled(self, values: Array) -> Any:
        """The table with the missing cells of its number columns taken from `values`.

        What `values` leaves missing stays so. A column of integers keeps its type where all of
        them are whole and in its range; one of numbers that float64 does not hold is filled with
        whole numbers.
        """
        table, inexact, columns = self.arrow, self.inexact, {}
        for k, name in enumerate(self.names):
            missing = np.isnan(self.values[:, k])
            if missing.any() and not np.isnan(values[:, k]).all():
                new = np.where(missing, values[:, k], self.values[:, k])
                own = table.column(name)
                fill = _fill_exactly if name in inexact else _as_type
                columns[name] = fill(new, own)
        return _with_columns(table, columns)

    @property
    def inexact(self) -> list[str]:
        """Columns of integers some of which float64 does not hold, so that `values` differ."""
        pa = pyarrow()
        columns = [(name, self.arrow.column(name)) for name in self.names]
        return [
            name
            for name, column in columns
            if pa.types.is_integer(column.type) and not _holds_exactly(column)
        ]

    def take(self, at: Sequence[int]) -> Table:
        """The same with these columns of numbers; the rest are others."""
        names = [self.names[k] for k in at]
        others = [name for name in self.arrow.column_names if name not in names]
        return self._replace(values=self.values[:, list(at)], names=names, others=others)

    def with_values(self, values: Array) -> Any:
        """The table with all of its number columns replaced, and all others as they were read."""
        pa = pyarrow()
        table = self.arrow if self.whole.texts is None else self.whole.texts
        columns = {
            name: pa.array(np.ascontiguousarray(values[:, k])) for k, name in enumerate(self.names)
        }
        return _with_columns(table, columns)


def read_array(path: str | os.PathLike[str]) -> NDArray[Any]:
    """The matrix in a file of numpy or scipy, or in Matrix Market's format; 2 or 3 dimensions."""
    source = Path(path)
    readers = {".mtx": _market, ".npz": _archive}
    with explain_parse_errors(str(path)), source.open("rb") as file:
        array = readers.get(source.suffix.lower(), _npy)(file, os.fstat(file.fileno()).st_size)
    if array.ndim not in (2, 3) or array.dtype.kind not in "fiub" or 0 in array.shape:
        raise ReadError(
            f"{path} holds an array of shape {array.shape} and type {array.dtype}; give a matrix "
            "of real numbers, or frames (time, height, width)."
        )
    return array


def _market(file: BinaryIO, size: int) -> Array:
    cells = read_market(file)
    check_growth(file.name, size, 8 * math.prod(cells.shape))
    return np.asarray(
        scipy.sparse.coo_array((cells.values, (cells.rows, cells.cols)), cells.shape).toarray()
    )


def _npy(file: BinaryIO, size: int) -> NDArray[Any]:
    _check_header(file, size)
    return np.lib.format.read_array(file, allow_pickle=False)


def _check_header(file: Any, size: int) -> None:
    """Compare the size that an npy header claims with what there is, and go back to the start."""
    version = np.lib.format.read_magic(file)
    reader = np.lib.format.read_array_header_1_0
    if version != (1, 0):
        reader = np.lib.format.read_array_header_2_0
    shape, _, dtype = reader(file)
    claimed = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=0) < 0 or claimed > size - file.tell():
        raise ValueError(f"its header claims an array of shape {shape} and type {dtype}")
    file.seek(0)


def _archive(file: BinaryIO, size: int) -> NDArray[Any]:
    """The one array of an npz archive, or the sparse matrix that scipy put there."""
    with zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            check_growth(file.name, size, member.file_size)
            with archive.open(member) as content:
                _check_header(content, member.file_size)
        names = [Path(name).stem for name in archive.namelist()]
    file.seek(0)
    if "format" in names and "shape" in names:
        matrix = scipy.sparse.load_npz(file)
        check_growth(file.name, size, 8 * math.prod(matrix.shape))
        if matrix.format in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)  # an index astray would be followed
        return np.asarray(matrix.toarray())
    if len(names) != 1:
        raise ValueError(f"it holds {len(names)} arrays; save the one to use by itself")
    with np.load(file, allow_pickle=False) as found:
        return np.asarray(found[names[0]])


def read_table(path: str | os.PathLike[str]) -> Table:
    r"""A table from text (separated by , ; | tabs or spaces) or Parquet.

    Columns of numbers are found; empty cells, NA, null, ?, - and \N are missing. The first line is
    data if it has a number, unless the rows below say that its numbers are names (`has_names`).
    """
    pa = pyarrow()
    whole = read_any_columns(path)
    table = whole.arrow
    numbers = [f.name for f in table.schema if _is_number(f.type)]
    if not numbers or not table.num_rows:
        shown = ", ".join(repr(name) for name in table.column_names[:8]) or "none"
        raise ReadError(f"{path} has no column of numbers (its columns: {shown}).")
    with explain_parse_errors(str(path)):
        cast = [table.column(name).cast(pa.float64(), safe=False) for name in numbers]
    values = np.column_stack([column.to_numpy(zero_copy_only=False) for column in cast])
    others = [name for name in table.column_names if name not in numbers]
    return Table(values, numbers, others, whole)


def check_table(path: Path) -> None:
    """What the system says of a file that is not there, or a sentence for one of another ending."""
    if take_ending(path) not in TABLES:
        path.stat()
        raise ValueError(
            f"{path}: expected a table ending in {', '.join(TABLES)}, which may be compressed "
            f"({', '.join(PACKED)})."
        )


def read_any_columns(path: str | os.PathLike[str]) -> AnyTable:
    """A table of columns of any type, from text or Parquet."""
    source = open_source(path)
    with explain_parse_errors(str(path)):
        is_parquet = take_ending(Path(path)) == ".parquet"
        found = _parquet(source) if is_parquet else AnyTable(*read_text_table(source))
        columns = found.arrow.column_names
    if len(set(columns)) < len(columns):
        raise ReadError(f"{path}: two columns have the same name; rename one.")
    return found


def write_table(file: BinaryIO, table: Any, path: Path, named: bool = True) -> None:
    """The table in the format that the name of `path` says."""
    if path.suffix.lower() == ".parquet":
        from pyarrow.parquet import write_table as write

        write(table, file)
        return
    separator = "\t" if path.suffix.lower() in (".tsv", ".txt") else ","
    write_text(file, table, separator, named=named)


def _parquet(source: Source) -> AnyTable:
    from pyarrow.parquet import ParquetFile

    whole = ParquetFile(source.path if source.compression is None else source.whole())
    about = whole.metadata
    check_growth(source.name, source.size, 8 * about.num_rows * about.num_columns)
    table = whole.read()
    table.validate(full=True)
    return AnyTable(with_plain_texts(table), named=True)


def _with_columns(table: Any, new: dict[str, Any]) -> Any:
    """The table with columns replaced; what pandas noted of their types changes with them."""
    pa = pyarrow()
    fields = {field.name: field for field in table.schema}
    kinds = {
        name: np.dtype(column.type.to_pandas_dtype()).name
        for name, column in new.items()
        if column.type != fields[name].type
    }
    fields |= {name: pa.field(name, column.type) for name, column in new.items()}
    columns = dict(zip(table.column_names, table.columns, strict=True)) | new
    metadata = dict(table.schema.metadata or {})
    if kinds and b"pandas" in metadata:
        try:
            notes = json.loads(metadata.pop(b"pandas"))
            for field in notes["columns"]:
                if kind := kinds.get(field["field_name"]):
                    field |= {"pandas_type": kind, "numpy_type": kind}
            metadata[b"pandas"] = json.dumps(notes).encode()
        except (ValueError, TypeError, KeyError):
            pass  # notes that pandas could not read either are left out
    return pa.table(list(columns.values()), schema=pa.schema(list(fields.values()), metadata))


def _holds_exactly(column: Any) -> bool:
    """Whether float64 holds every integer of an Arrow column."""
    try:
        as_floats(column)
    except pyarrow().ArrowException:
        return False
    return True


def _fill_exactly(new: Array, own: Any) -> Any:
    """A column of integers with its missing cells from `new`, as the nearest integers it holds."""
    pa = pyarrow()
    pc = pa.compute
    ends = np.iinfo(own.type.to_pandas_dtype())
    top = np.nextafter(float(ends.max), 0)  # 2⁶³ is the nearest float to the greatest integer
    found = pa.array(np.clip(np.rint(new), float(ends.min), top), from_pandas=True)
    return pc.if_else(pc.is_null(own), found.cast(own.type, safe=False), own)


def _as_type(column: Array, own: Any) -> Any:
    """An array of the type of `own` where that holds every number (float32 is near enough), or of
    float64.
    """
    pa, kind = pyarrow(), own.type
    if kind == pa.float32():
        return pa.array(column.astype(np.float32), from_pandas=True)
    found = pa.array(column, from_pandas=True)
    if pa.types.is_integer(kind):
        with suppress(pa.ArrowInvalid):
            return found.cast(kind)
    return found


def _is_number(kind: Any) -> bool:
    t = pyarrow().types
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind) or t.is_null(kind))
