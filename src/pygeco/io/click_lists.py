"""Clicks as lists: a line is a row and its columns, `user item item …`."""

from __future__ import annotations

import re
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygeco.errors import ReadError
from pygeco.io.columns import explain_parse_errors
from pygeco.io.delimited import LINE_END
from pygeco.io.encodings import decode_text
from pygeco.io.sources import Source, open_source


class ClickPairs(NamedTuple):
    """Clicks, in the order of the file.

    Attributes
    ----------
    rows, cols : int arrays
        Click t is (rows[t], cols[t]).
    """

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]


class LeftOut(NamedTuple):
    """Clicks that were left out, with the columns to rank each of them among.

    Attributes
    ----------
    rows, cols : arrays
        Click t is (rows[t], cols[t]): whole numbers if all ids are, otherwise text.
    negatives : array (clicks, count)
        The columns to rank each click among.
    """

    rows: NDArray[Any]
    cols: NDArray[Any]
    negatives: NDArray[Any]


def read_click_lists(path: str | PathLike[str] | Source) -> ClickPairs:
    """Read a file of lines `user item item …`, compressed or not.

    Ids are whole numbers from 0. A line with only a user has no clicks.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    ClickPairs
    """
    name, text = _read_text(path)
    numbers, counts = _parse(name, text)
    starts = np.cumsum(counts) - counts
    first = np.zeros(len(numbers), bool)
    first[starts[counts > 0]] = True
    counts = counts[counts > 0]
    return ClickPairs(np.repeat(numbers[first], counts - 1), numbers[~first])


def read_left_out(path: str | PathLike[str]) -> LeftOut:
    """Read a file of lines `(user,item) item item …`, such as NCF's file of negatives.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    LeftOut
    """
    name, text = _read_text(path)
    lines = [line for line in LINE_END.split(decode_text(text)) if line.strip()]
    found = [_LEFT_OUT.fullmatch(line.strip()) for line in lines]
    if not found or None in found:
        wrong = next((line for line, hit in zip(lines, found, strict=True) if hit is None), "")
        raise ReadError(f"{name}: expected lines '(user,item) item item …', not {wrong[:30]!r}.")
    groups = [hit.groups() for hit in found if hit is not None]
    negatives = [rest.split("\t") if "\t" in rest.strip() else rest.split() for *_, rest in groups]
    if len({len(one) for one in negatives}) > 1 or not negatives[0]:
        raise ReadError(
            f"{name}: expected lines '(user,item) item item …', each with as many items."
        )
    rows, cols = (_as_numbers(np.array([line[t].strip() for line in groups])) for t in range(2))
    others = np.char.strip(np.array(negatives))
    # Items are numbers in both places, or in none.
    if cols.dtype.kind == "i" and np.char.isdigit(others).all():
        return LeftOut(rows, cols, others.astype(np.int64))
    return LeftOut(rows, cols.astype(str), others)


_LEFT_OUT = re.compile(r"\((.*),(.*)\)\s+(.*)")


def _as_numbers(texts: NDArray[Any]) -> NDArray[Any]:
    return texts.astype(np.int64) if np.char.isdigit(texts).all() else texts


def _read_text(path: str | PathLike[str] | Source) -> tuple[str, bytes]:
    source = open_source(path)
    with explain_parse_errors(source.name), source.file() as file:
        return source.name, file.read()


def _parse(name: str, text: bytes) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The numbers of a text, and how many each line has."""
    words = text.split()
    if not all(map(bytes.isdigit, words)):
        wrong = next(word for word in words if not word.isdigit())
        raise ReadError(
            f"{name}: expected whole numbers from 0, as 'user item item …', not "
            f"{wrong[:30].decode(errors='replace')!r}."
        )
    try:
        numbers = np.array(words, dtype=np.int64)
    except (OverflowError, ValueError):
        raise ReadError(f"{name}: has a number beyond 2⁶³.") from None
    return numbers, np.array([len(line.split()) for line in text.splitlines()], dtype=np.int64)
