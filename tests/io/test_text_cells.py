"""Texts as cells of types, and back, letter by letter."""

import csv
import io

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from pygeco.io.text_cells import put_cells, type_texts, write_cells, write_text


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["1", "NA", "-2 "], "int64"),
        (["00500", "1"], "string"),
        (["-007"], "string"),
        (["0x1F", "12"], "string"),
        (["12345678901234567890", "5"], "string"),
        (["1.50", "nan", "Nan", "1e-05", "007"], "double"),
        (["1", "1.413e-05", "inf"], "double"),
        (["TRUE", "", "FALSE"], "bool"),
        (["2024-05-01", "?"], "date32[day]"),
        (["10:20", "11:30"], "time32[s]"),
        (["2024-05-01T10:00", "2024-05-01"], "timestamp[s]"),
        (["2024-05-01T10:00:00+02:00", "2024-05-01T10:00:00Z"], "timestamp[s, tz=UTC]"),
        (["2024-05-01 10:00:00.25"], "timestamp[ns]"),
        (["x", "", "NA"], "string"),
        (["", "?", "-"], "null"),
        (["1,5", "2"], "string"),
    ],
)
def test_types_are_those_of_every_known_text(texts, kind) -> None:
    found = type_texts(pa.chunked_array([texts[:1], texts[1:]], pa.string()))
    assert str(found.type) == kind
    words = {"", "NA", "?", "-", "nan", "Nan"}
    empty = {""} if kind == "string" else words
    assert found.is_null().to_pylist() == [text in empty for text in texts]
    assert pc.any(pc.is_null(found, nan_is_null=True)).as_py() == bool(empty & set(texts))


@pytest.mark.parametrize(
    ("texts", "wanted"),
    [(["1,5", "2", "NA"], [1.5, 2.0, None]), (["1.234,5", "2"], None), (["1", "2"], [1, 2])],
)
def test_decimal_commas(texts, wanted) -> None:
    found = type_texts(pa.chunked_array([texts]), comma=True)
    assert found.to_pylist() == (texts if wanted is None else wanted)


@pytest.mark.parametrize(
    "texts",
    [
        ["TRUE", "FALSE"],
        ["True", "False"],
        ["false", "true"],
        ["2024-05-01"],
        ["10:20"],
        ["10:20:30"],
        ["2024-05-01T10:00"],
        ["2024-05-01 10:00:00"],
        ["2024-05-01T00:00:00+02:00"],
        ["2024-05-01T10:00:00-0530"],
        ["2024-05-01T10:00:00Z"],
        ["2024-05-01 10:00:00.25"],
        ["12", "-3"],
        ["1.5", "-0.25"],
    ],
)
def test_cells_are_written_as_their_column_is(texts) -> None:
    column = pa.chunked_array([texts])
    assert write_cells(type_texts(column), column).to_pylist() == texts


@pytest.mark.parametrize(
    ("known", "other"), [("TRUE", "FALSE"), ("False", "True"), ("true", "false")]
)
def test_a_truth_that_is_not_there_is_written_like_the_other(known, other) -> None:
    cells = pa.array([known.lower() == "true", known.lower() != "true"])
    assert write_cells(cells, pa.chunked_array([[known]])).to_pylist() == [known, other]


def test_only_missing_cells_are_put() -> None:
    given = pa.table({"a": ["01", "NA", "3.0"], "b": ["x", "", "NA"]})
    before = pa.table({"a": [1.0, None, 3.0], "b": ["x", None, None]})
    filled = pa.table({"a": [9.0, 2.5, 9.0], "b": pa.array(["x", None, None])})
    found = put_cells(given, before, filled)
    assert found.to_pydict() == {"a": ["01", "2.5", "3.0"], "b": ["x", "", "NA"]}


@pytest.mark.parametrize("sign", [",", "\t"])
def test_text_is_read_back_by_python(sign) -> None:
    texts = ["00500", 'say "x"', "a\nb", "a,b", "a\tb", None, "", "é", " x "]
    table = pa.table(
        {"a,b": texts, 'c"': pa.array(range(9)), "d": pa.array(texts).dictionary_encode()}
    )
    file = io.BytesIO()
    write_text(file, table, sign, named=True)
    rows = list(csv.reader(io.StringIO(file.getvalue().decode(), newline=""), delimiter=sign))
    wanted = [[one or "", str(k), one or ""] for k, one in enumerate(texts)]
    assert rows == [["a,b", 'c"', "d"], *wanted]
    file = io.BytesIO()
    write_text(file, pa.table({"b": pa.array([b"\xff", None])}), sign, named=False)
    assert file.getvalue() == b"\xff\n\n"


def test_lists_are_refused() -> None:
    with pytest.raises(ValueError, match=r"column 'a' is of type list.*; write a Parquet file"):
        write_text(io.BytesIO(), pa.table({"a": [[1]]}), ",", named=True)
