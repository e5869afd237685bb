"""The model file that a command asks, and the ids that it knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

MAX_CHECKED_BYTES = (
    1 << 26
)  # bytes of a model file from which its arrays stay in it, checksums or not


def open_model(path: Path) -> Any:
    """The model, of the kind that knows users and items."""
    from pygeco import load
    from pygeco.errors import ModelFileError

    model = load(path, mmap=path.stat().st_size > MAX_CHECKED_BYTES)
    if getattr(model, "row_ids_", None) is None:
        raise ModelFileError(
            f"{path} holds a {type(model).__name__} without users and items; use one that "
            "`geco fit` wrote."
        )
    return model


def is_of_clicks(model: Any) -> bool:
    """Whether the model was fitted to clicks, so that its scores are no ratings."""
    return hasattr(type(model), "choice_")


def find_known_ids(known: Any, texts: list[str], option: str) -> Any:
    from pygeco.io.tables import find_positions, parse_ids

    wanted = parse_ids(known, texts)
    if np.any(find_positions(known, wanted) < 0):
        # One by one: beside text that can be no id, all are taken for text.
        wrong = next(one for one in texts if find_positions(known, parse_ids(known, [one]))[0] < 0)
        raise ValueError(
            f"{option}: the model does not know {wrong!r}; it has {len(known):,} ids from "
            f"{known[0]!s} to {known[-1]!s}."
        )
    return wanted


def read_listed_ids(model: Any, path: Path | None, option: str) -> Any:
    """The ids in a file, one a line, in UTF-8 or Windows-1252, compressed or not."""
    from pygeco.io.columns import explain_parse_errors
    from pygeco.io.delimited import LINE_END
    from pygeco.io.encodings import decode_text
    from pygeco.io.sources import open_source

    if path is None:
        return None
    source = open_source(path)
    with explain_parse_errors(source.name), source.file() as file:
        lines = LINE_END.split(decode_text(file.read()))
    texts = [line.strip() for line in lines if line.strip()]
    return find_known_ids(model.column_ids_, texts, option)


def parse_user_ids(known: Any, texts: list[str], unknown: str) -> Any:
    """Ids of users, of whom the model may not know all; text that can be no id is refused."""
    from pygeco.io.tables import parse_ids

    for text in texts:
        if any("\ud800" <= sign <= "\udfff" for sign in text):  # bytes that Python did not decode
            raise ValueError(
                f"--user: {text!r} is no text in the encoding of this terminal; set one that it is "
                "in, such as LC_ALL=C.UTF-8."
            )
    ids = parse_ids(known, texts)
    if unknown == "error" or ids.dtype.kind != known.dtype.kind:
        return find_known_ids(known, texts, "--user")
    return ids
