"""Attributes of users and items for `geco fit`: what a file holds, and what came of it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pygeco.errors.visible_numbers import find_format

if TYPE_CHECKING:
    from pygeco.estimators.attributes import Attributes

Table = dict[str, Any]
OPTIONS, PEOPLE = ("--users", "--items"), ("users", "items")
NO_IDS = "no column holds ids; call the one that does 'id' in the file."
MAX_NAMED = 12  # columns that a sentence names
MAX_LISTED_LEVELS = 6  # of a group, for machines
KINDS = {"number": "numbers", "category": "categories", "list": "lists"}


class Taken(NamedTuple):
    """A file of attributes beside the ratings: the table, and what was made of its columns.

    Of `ids` ids with ratings `without_attributes` have none, and `without_ratings` others are in
    the file alone, which a cluster leaves out.
    """

    file: str
    who: str
    table: Table
    encoder: Attributes
    ids: int
    without_attributes: int
    without_ratings: int
    cells: str = "ratings"  # what the ids have

    @property
    def given(self) -> tuple[Any, Any]:
        """As `MatrixCompletion.fit` takes attributes."""
        return self.encoder, self.table

    def describe(self) -> dict[str, Any]:
        """What was taken, for machines."""
        return {
            "file": self.file,
            "id_column": self.encoder.id_column_,
            "columns": [group._asdict() for group in self.encoder.groups_],
            "left_out": dict(self.encoder.dropped_),
            "without_attributes": self.without_attributes,
            "without_ratings": self.without_ratings,
        }

    def tell(self) -> str:
        """The same in one line."""
        parts = [f"{self.file}: ids in {self.encoder.id_column_!r}"]
        for kind, called in KINDS.items():
            names = [
                group.name if kind == "number" else f"{group.name} ({group.size})"
                for group in self.encoder.groups_
                if group.kind == kind
            ]
            if names:
                parts.append(f"{called}: {_join_names(names)}")
        if self.encoder.dropped_:
            left = [f"{name} ({why})" for name, why in self.encoder.dropped_.items()]
            parts.append(f"left out: {_join_names(left)}")
        parts.append(
            f"{self.without_attributes:,} of {self.ids:,} {self.who} have no attributes, "
            f"{self.without_ratings:,} have attributes and no {self.cells}"
        )
        return "; ".join(parts) + "."


def read_table(path: Path, option: str) -> Table:
    """The columns of a file of attributes; errors name the option."""
    from pygeco.errors import ReadError
    from pygeco.io.attributes import read_attributes

    try:
        table = read_attributes(path)
    except ReadError as error:
        raise ReadError(f"{option}: {error}") from error
    except OSError as error:
        reason = error.strerror or error
        raise ReadError(f"{option}: cannot read {path}: {reason}; check the path.") from error
    if not len(next(iter(table.values()), ())):
        raise ReadError(f"{option}: {path.name} has no lines below the names of its columns.")
    return table


def read_sides(paths: tuple[Path | None, Path | None]) -> list[Table | None]:
    """The tables of users and of items; None where there is no file."""
    return [
        None if path is None else read_table(path, option)
        for path, option in zip(paths, OPTIONS, strict=True)
    ]


def find_ids(fitted: Any, side: int) -> Any:
    """The sorted ids of users or items in a table of ratings, here or on a cluster."""
    from pygeco.io.tables import encode_ids

    name = ("user", "item")[side]
    if hasattr(fitted, "column_ids"):
        return (fitted.row_ids, fitted.column_ids)[side]
    return encode_ids(fitted.column(name), name).ids


def take_sides(
    paths: tuple[Path | None, Path | None],
    tables: list[Table | None],
    fitted: Any,
    *,
    on_cluster: bool,
) -> list[Taken | None]:
    """The attributes of users and of items beside the ratings that are fitted."""
    found: list[Taken | None] = []
    for side, (path, table) in enumerate(zip(paths, tables, strict=True)):
        if path is None or table is None:
            found.append(None)
            continue
        ids = find_ids(fitted, side)
        taken = take_table(table, path.name, ids, side)
        found.append(drop_others(taken, ids) if on_cluster else taken)
    return found


def take_table(table: Table, file: str, ids: Any, side: int) -> Taken:
    """The attributes in the table of a file, beside these ids."""
    from pygeco.errors import AttributeWarning
    from pygeco.estimators._attribute_tables import align_attributes

    option = OPTIONS[side]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AttributeWarning)  # the line says what is left out
            found = align_attributes(table, ids, len(ids), name=option)
    except ValueError as error:
        has_none = any(
            part in str(error) for part in (" rows and no ids, ", " has the model's ids,")
        )
        said = f"{option}: {NO_IDS}" if has_none else speak_of_file(str(error), option)
        raise ValueError(said) from error
    if found.encoder.id_column_ is None:
        raise ValueError(f"{option}: {NO_IDS}")
    lost = len(ids) - int(found.known[: len(ids)].sum())
    sizes = len(ids), lost, len(found.extra_ids)
    return Taken(file, PEOPLE[side], table, found.encoder, *sizes)


def drop_others(taken: Taken, ids: Any) -> Taken:
    """Without the lines of ids that have no ratings."""
    from pygeco.io.attribute_tables import read_attribute_table
    from pygeco.io.tables import find_positions

    given = read_attribute_table(taken.table).ids(str(taken.encoder.id_column_))
    rated = find_positions(ids, match_kind(ids, given)) >= 0
    return taken._replace(table={name: column[rated] for name, column in taken.table.items()})


def match_kind(known: Any, ids: Any) -> Any:
    """Ids in the type of the model's, where they can be."""
    from pygeco.io.tables import make_comparable, parse_ids

    if np.any(make_comparable(known, ids)[1]):
        return ids
    found = parse_ids(known, [str(one) for one in ids.tolist()])
    return found if found.dtype.kind == known.dtype.kind else ids


def speak_of_file(sentence: str, option: str) -> str:
    """What the library says of a table, in the words of the command line."""
    said = sentence.replace("X: ", f"{option}: ", 1) if sentence.startswith("X: ") else sentence
    said = said if said.startswith(option) else f"{option}: {said}"
    for words in ("name the column of ids with", "name another column with"):
        said = said.replace(f"{words} Attributes(id_column=…)", "call the column of ids 'id'")
    return said.replace("name another in id_column=", "call another column 'id'")


def list_effects(model: Any) -> dict[str, list[dict[str, Any]]]:
    """What the attributes of users and items say, the strongest first; nothing on a cluster."""
    try:
        groups = model.attribute_effects_.groups
    except AttributeError:  # its rows are on the workers
        return {}
    found: dict[str, list[dict[str, Any]]] = {who: [] for who in PEOPLE}
    for group in groups:
        levels = [level for level in group.levels if level.level][:MAX_LISTED_LEVELS]
        kept = ("level", "weight", "deviation", "strength")
        told = group._asdict() | {"levels": [{k: getattr(it, k) for k in kept} for it in levels]}
        found[PEOPLE[told.pop("side") == "column"]].append(told)
    return found


def tell_effects(effects: dict[str, list[dict[str, Any]]], *, is_whole: bool) -> list[str]:
    """A line a side: what counts, by how far it moves predictions, and what says nothing.

    Of a fit that is not whole only what counts is said: the rest may not have been tried.
    """
    lines = []
    for who, groups in effects.items():
        told = find_format((one["strength"] for one in groups), 2)
        strong = [
            f"{'known cells' if one['source'] == 'pattern' else one['group']} "
            f"{one['strength']:{told}}"
            for one in groups
            if one["strength"] > 0
        ]
        silent = _join_names([one["group"] for one in groups if not one["strength"] > 0])
        if strong:
            said = f"what counts for {who}, by how far it moves a prediction: {_join_names(strong)}"
            lines.append(said + (f"; nothing for {silent}." if silent and is_whole else "."))
        elif silent and is_whole:
            lines.append(f"no attribute of {who} says anything: {silent}.")
    return lines


def _join_names(names: list[str]) -> str:
    return ", ".join(names[:MAX_NAMED]) + (", …" if len(names) > MAX_NAMED else "")
