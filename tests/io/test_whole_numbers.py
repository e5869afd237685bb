"""Ids that are whole numbers, read as numbers at once: the table is that of a reader of text."""

import io
from collections import deque

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ReadError
from pygeco.io import delimited, whole_numbers
from pygeco.io.whole_numbers import has_padded_number

LINES = [f"{u},{7 * u % 101},{u % 9 / 2},{10**9 + u}" for u in range(1, 400)]
ODD = {
    "plain": [],
    "zero": ["0,0,0.5,1"],
    "padded": ["01,2,3.5,1"],
    "padded column": ["1,002,3.5,1"],
    "zeros": ["00,2,3.5,1"],
    "negative": ["-5,2,-0.5,1"],
    "minus zero": ["-0,2,1,1"],
    "minus padded": ["-07,2,1,1"],
    "plus": ["+7,2,1,1"],
    "spaces": [" 7,2 ,1,1"],
    "space and zero": [" 07,2,1,1"],
    "quotes": ['"7","2",1,1'],
    "quoted zero": ['"07",2,1,1'],
    "missing": ["NA,2,1,1", "5,,1,1", "6,null,2,1"],
    "None": ["None,2,1,1"],
    "another word": ["#NA,2,1,1"],
    "point": ["1.0,2,1,1"],
    "hexadecimal": ["0x10,2,1,1", "16,3,1,1"],
    "large hexadecimal": ["5,0X1F,1,1"],
    "exponent": ["1e05,2,1,1"],
    "long": [f"{2**63},2,1,1"],
    "longer": [f"{10**30},2,1,1"],
    "text": ["ann,2,1,1"],
    "small rating": ["5,2,0.05,1", "6,2,1e-05,1"],
    "rating of zeros": ["5,2,007,1"],
    "decimal rating": ["5,2,NaN,1"],
    "rating in words": ["5,2,good,1"],
    "date": ["5,2,1,2005-09-06", "5,3,1,2005-10-01T00:05:06"],
    "latin": ["5,2,1,caf\xe9"],
}


def read(text, **settings):
    try:
        reading = read_ratings(io.BytesIO(text), **settings)
    except ValueError as error:
        return str(error)
    return reading.table.schema, reading.table.to_pydict(), reading.found


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("form", ["csv", "dat", "header"])
@pytest.mark.parametrize("at_once", [5, 1 << 18])
def test_the_table_is_that_of_a_reader_of_text(monkeypatch, name, form, at_once) -> None:
    monkeypatch.setattr(whole_numbers, "SCANNED_AT_ONCE", at_once)
    rows = [*LINES[:200], *ODD[name], *LINES[200:]]
    head = ["user,item,rating,timestamp"] if form == "header" else []
    text = "\n".join(head + rows).encode("latin-1") + b"\n"
    text = text.replace(b",", b"::") if form == "dat" else text
    found = read(text)
    monkeypatch.setattr(delimited, "find_whole_columns", lambda lines, at: [])
    assert found == read(text)


def test_whole_numbers_are_read_once(monkeypatch) -> None:
    read_table, calls = delimited._read, []

    def count(*args):
        calls.append(args)
        return read_table(*args)

    monkeypatch.setattr(delimited, "_read", count)
    assert read("\n".join(LINES).encode())[0].field(0).type == "int64"
    assert len(calls) == 1


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_number_may_lie_across_two_reads(cut) -> None:
    text = b"12,34\n5,-07,\n"
    file = whole_numbers.Watched(io.BytesIO(text), has_times=True)
    with pytest.raises(ReadError):
        deque(iter(lambda: file.read(cut), b""))
    fine = whole_numbers.Watched(io.BytesIO(b"10,100\n2005-01-02,0.05,0\n"), has_times=True)
    deque(iter(lambda: fine.read(cut), b""))


def test_times_of_a_day_are_no_ids() -> None:
    text = np.frombuffer(b"\n\nT01:02\n\n", np.uint8)
    assert has_padded_number(text, has_times=False)
    assert not has_padded_number(text, has_times=True)
