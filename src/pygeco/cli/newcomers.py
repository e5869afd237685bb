"""Users and items that were not fitted, known to the command line by their attributes."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.cli.attributes import NO_IDS, OPTIONS, PEOPLE, match_kind, read_table, speak_of_file
from pygeco.cli.console import Voice
from pygeco.errors.visible_text import escape_controls

if TYPE_CHECKING:
    from pygeco.estimators.attributes import Attributes

NEW_KEYWORDS = ("new_rows", "new_columns")
ROLES = ("user", "item")


class Newcomers(NamedTuple):
    """Lines with attributes: what they are called, and the columns that the model knows.

    `option` is that which told of them. `id_column` is None where they have no ids, and `names` are
    words for them. `was_fitted` says which of the ids the model has.
    """

    option: str
    names: NDArray[Any]
    columns: dict[str, NDArray[Any]]
    id_column: str | None
    was_fitted: NDArray[np.bool_]

    def take(self, at: Any) -> dict[str, NDArray[Any]]:
        """Some of them, as `MatrixCompletion.predict` takes new rows."""
        ids = {} if self.id_column is None else {self.id_column: self.names[at]}
        return ids | {name: column[at] for name, column in self.columns.items()}

    def ask(self, block: slice) -> tuple[Any, Any]:
        """The rows of a block for `recommend`, and the attributes of those that were not fitted."""
        if self.id_column is None:
            return None, self.take(block)
        new = np.flatnonzero(~self.was_fitted)
        start, stop, _ = block.indices(len(self.names))
        new = new[(new >= start) & (new < stop)]
        return self.names[block], self.take(new) if len(new) else None

    def find(self, wanted: NDArray[Any]) -> NDArray[np.int64]:
        """Where wanted ids are among them; −1 for one that is not."""
        from pygeco.io.tables import find_unsorted

        return find_unsorted(self.names, wanted)


def parse_newcomers(model: Any, texts: list[str]) -> Newcomers:
    """Users that are described by texts such as age=25,occupation=student."""
    option = "--new-user"
    encoder = get_encoder(model, 0, option)
    told = [_parse_description(text, encoder, option) for text in texts]
    columns = {
        group.name: _read_fields(group, [one.get(group.name, "") for one in told], option)
        for group in encoder.groups_
    }
    names = np.array([*texts, None], object)[:-1]
    return Newcomers(option, names, columns, None, np.zeros(len(texts), bool))


def read_newcomers(model: Any, path: Path, side: int, option: str, voice: Voice) -> Newcomers:
    """The lines of a table of attributes; those without ids are numbered from 1."""
    from pygeco.io.attribute_columns import as_numbers
    from pygeco.io.attribute_tables import find_id_column, read_attribute_table
    from pygeco.io.tables import find_positions

    encoder = get_encoder(model, side, option)
    columns = read_table(path, option)
    table = read_attribute_table(columns)
    own = [group.name for group in encoder.groups_]
    if not any(name in columns for name in own):
        raise ValueError(
            f"{option}: {path.name} has none of the attributes that the model knows, which are "
            f"{', '.join(own)}; name its columns so."
        )
    lost = [name for name in own if name not in columns]
    if lost:
        voice.note(f"{path.name}: {', '.join(lost)} counts as missing; there is no such column.")
    called = encoder.id_column_
    column = called if called in columns else find_id_column(table, "auto", own)
    kept = {name: columns[name] for name in own if name in columns}
    try:
        for group in encoder.groups_:
            if group.kind == "number" and group.name in kept:
                as_numbers(table.read(group.name), group.name)
        ids = None if column is None else table.ids(column)
    except ValueError as error:
        raise ValueError(speak_of_file(str(error), option)) from error
    if ids is None or called is None:
        return Newcomers(option, 1 + np.arange(table.rows), kept, None, np.zeros(table.rows, bool))
    known = (model.row_ids_, model.column_ids_)[side]
    ids = match_kind(known, ids)
    _refuse_repeats(ids, str(column), option)
    return Newcomers(option, ids, kept, called, find_positions(known, ids) >= 0)


def read_new_sides(
    model: Any, paths: tuple[Path | None, Path | None], voice: Voice
) -> tuple[Newcomers | None, Newcomers | None]:
    """Tables of users and of items with ids; None where there is no file."""
    found: list[Newcomers | None] = []
    for side, (path, option) in enumerate(zip(paths, OPTIONS, strict=True)):
        new = None if path is None else read_newcomers(model, path, side, option, voice)
        if new is not None and new.id_column is None:
            raise ValueError(f"{option}: {NO_IDS}")
        found.append(new)
    return found[0], found[1]


def predict_with(
    model: Any,
    asked: Any,
    new: tuple[Newcomers | None, Newcomers | None],
    *,
    return_std: bool,
    unknown: str,
) -> Any:
    """The table of pairs with predictions; ids that were not fitted by their attributes.

    An id that has none either is as `unknown` says.
    """
    from pygeco.io.tables import find_positions

    if new == (None, None):
        return model.predict(asked, return_std=return_std, unknown=unknown)
    ids = [asked.column(role).to_numpy(zero_copy_only=False) for role in ROLES]
    known = model.row_ids_, model.column_ids_
    fitted = [find_positions(own, some) >= 0 for own, some in zip(known, ids, strict=True)]
    at = [
        np.full(len(some), -1) if side is None else side.find(some)
        for side, some in zip(new, ids, strict=True)
    ]
    told = (fitted[0] | (at[0] >= 0)) & (fitted[1] | (at[1] >= 0))
    if unknown == "error" and not told.all():
        model.predict(asked.filter(~told), unknown=unknown)  # which says why not
    found = model.predict(
        asked, return_std=return_std, unknown="mean" if unknown == "error" else unknown
    )
    cold = told & ~(fitted[0] & fitted[1])
    if not cold.any():
        return found
    more = {}
    for word, side, place, own in zip(NEW_KEYWORDS, new, at, fitted, strict=True):
        wanted = np.unique(place[cold & ~own])
        if side is not None and len(wanted):
            more[word] = side.take(wanted)
    if "timestamp" in asked.column_names:
        more["times"] = asked.filter(cold).column("timestamp")
    values = model.predict(ids[0][cold], ids[1][cold], return_std=return_std, **more)
    columns = dict(zip(("prediction", "deviation"), values, strict=True) if return_std else [])
    return _put(found, cold, columns or {"prediction": values})


def _put(table: Any, cold: NDArray[np.bool_], columns: dict[str, Any]) -> Any:
    """The table with other values at some lines, which then are known."""
    for name, values in {**columns, "known": True}.items():
        column = np.array(table.column(name).to_numpy(zero_copy_only=False))
        column[cold] = values
        table = table.set_column(table.column_names.index(name), name, [column])
    return table


def get_encoder(model: Any, side: int, option: str) -> Attributes:
    """How the attributes of a side were made numbers; refused where the fit had none."""
    encoder: Attributes | None = (model.row_encoder_, model.column_encoder_)[side]
    if encoder is None:
        raise ValueError(
            f"{option}: the model was fitted without attributes of {PEOPLE[side]}; fit it with "
            f"{OPTIONS[side]}."
        )
    return encoder


@contextmanager
def speak_of(command: str, option: str) -> Iterator[None]:
    """What the library says of attributes, in the words of the command line."""
    from pygeco.errors import AttributeWarning

    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", AttributeWarning)
            yield
    except ValueError as error:
        sentence = str(error)
        is_ours = sentence.startswith(("X: ", *NEW_KEYWORDS))
        raise ValueError(speak_of_file(sentence, option) if is_ours else sentence) from error
    for text in dict.fromkeys(str(w.message) for w in caught if w.category is AttributeWarning):
        said = escape_controls(" ".join(speak_of_file(text, option).split()))
        print(f"geco {command}: {said}", file=sys.stderr)
    for one in caught:
        if one.category is not AttributeWarning:
            warnings.warn(one.message, one.category, stacklevel=2)


def _parse_description(text: str, encoder: Attributes, option: str) -> dict[str, str]:
    """age=25,city="Paris, France" as texts by name."""
    known = [group.name for group in encoder.groups_]
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace, lexer.whitespace_split = ",", True
    lexer.quotes, lexer.escape, lexer.commenters = '"', "", ""
    try:
        parts = [part.strip() for part in lexer]
    except ValueError:
        raise ValueError(f"{option}: a quotation mark is left open in {text!r}.") from None
    found: dict[str, str] = {}
    for part in parts:
        name, sign, value = (one.strip() for one in part.partition("="))
        if not sign:
            raise ValueError(
                f"{option}: expected NAME=VALUE, such as {known[0]}=…, not {part!r}; quote values "
                "with commas."
            )
        if name not in known:
            raise ValueError(
                f"{option}: there is no attribute {name!r}; the model knows {', '.join(known)}."
            )
        if name in found:
            raise ValueError(f"{option}: {name} is given twice in {text!r}.")
        found[name] = value
    if not found:
        raise ValueError(f"{option}: says nothing; expected {known[0]}=… or the like.")
    return found


def _read_fields(group: Any, fields: list[str], option: str) -> NDArray[Any]:
    """The values of one attribute; empty ones are missing."""
    from pygeco.io.attributes import parse_column

    column = parse_column(fields, as_text=group.kind != "number")
    if group.kind != "number" or column.dtype.kind != "O":
        return column
    wrong = [field for field in column if field is not None and not _is_number(field)]
    if wrong:
        raise ValueError(f"{option}: {group.name} is a number, and {wrong[0]!r} is none.")
    return np.full(len(fields), np.nan)


def _is_number(field: str) -> bool:
    from pygeco.io.attributes import parse_column

    return parse_column([field, "0"]).dtype.kind != "O"


def _refuse_repeats(ids: NDArray[Any], column: str, option: str) -> None:
    distinct, counts = np.unique(ids, return_counts=True)
    if len(distinct) < len(ids):
        twice = distinct[[int(np.argmax(counts > 1))]].tolist()[0]
        raise ValueError(
            f"{option}: the id {twice!r} stands more than once in column {column!r}; keep one line "
            "for each id."
        )
