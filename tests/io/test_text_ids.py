"""Ids in text are what the text says; files of other shapes are read, or refused with a hint."""

import io

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygeco.data import read_attributes, read_ratings
from pygeco.errors import ReadError
from pygeco.io.ratings import read_columns
from pygeco.io.sources import open_source
from pygeco.io.text_ids import has_thousands, id_texts, narrow_ids
from pygeco.io.text_tables import read_text_table

WRITTEN = st.lists(
    st.one_of(
        st.integers(-20, 20).map(str),
        st.integers(2**62, 2**70).map(str),
        st.from_regex(r"0{0,2}[0-9]\.?[0-9]{0,2}", fullmatch=True),
        st.sampled_from(
            ["true", "True", "2020-01-01", "2020-1-1", "nan", "inf", "1e3", "-0", "+1"]
        ),
    ).filter(lambda text: text != "nan"),
    min_size=1,
    max_size=6,
)


def users(ids: list[str], sign: str = ",") -> list:
    lines = [sign.join((one, str(k), "3")) for k, one in enumerate(ids)]
    content = "\n".join([sign.join(("user", "item", "rating")), *lines, ""])
    return read_ratings(io.BytesIO(content.encode())).table.column("user").to_pylist()


@given(WRITTEN)
def test_no_two_ids_become_one(ids) -> None:
    found = users(ids)
    assert len(found) == len(ids)
    assert len(set(found)) == len(set(ids))
    back = id_texts(narrow_ids(pa.chunked_array([pa.array(ids)])), "user")
    assert back.to_pylist() == ids


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        (["01", "1", "001"], ["01", "1", "001"]),
        (["1.10", "1.1"], ["1.10", "1.1"]),
        (["1.5", "2.0"], [1.5, 2.0]),
        (["7", "8"], [7, 8]),
        ([" 7", "8 "], [7, 8]),
        ([str(2**63 + k) for k in range(50)], [2**63 + k for k in range(50)]),
        ([str(2**70), str(2**70 + 1)], [str(2**70), str(2**70 + 1)]),
        (["1", "NA", "2"], [1, 2]),
        (["FR", "NA"], ["FR", "NA"]),
        ([" FR", "NA ", " a b\xa0"], ["FR", "NA", "a b"]),
    ],
)
@pytest.mark.parametrize("sign", [",", "::", ";"])
def test_ids_stay_what_the_text_says(ids, wanted, sign) -> None:
    assert users(ids, sign) == wanted


@pytest.mark.parametrize("sign", [", ", " :: ", " ; ", "\t "])
def test_spaces_around_ids_are_no_part_of_them(sign) -> None:
    lines = ["u3|film 3|4", "u4|film 4|5"]
    text = "\n".join(line.replace("|", sign) for line in ["user|item|rating", *lines])
    given = dict.fromkeys(("user", "item", "rating"))
    for texts in ((), ("user", "item")):
        table = read_columns(io.BytesIO(text.encode()), dict(given), texts=texts).table
        assert table.select([0, 1]).to_pydict() == {
            "user": ["u3", "u4"],
            "item": ["film 3", "film 4"],
        }
    line = '{"user": " u3", "item": " 3", "rating": 4}\n'  # text of JSON is what it says
    assert read_ratings(io.BytesIO(line.encode())).table.column("user").to_pylist() == [" u3"]


def test_large_ids_in_json() -> None:
    lines = "".join(f'{{"user": {2**63 + k}, "item": {k}, "rating": 1.5}}\n' for k in range(50))
    found = read_ratings(io.BytesIO(lines.encode())).table.column("user").to_pylist()
    assert found == [2**63 + k for k in range(50)]
    with pytest.raises(ReadError, match="too large for numbers in JSON; write them as text"):
        read_ratings(io.BytesIO(lines.replace(str(2**63), str(2**70)).encode()))


def test_a_few_rows_are_read_with_the_kind_of_the_whole() -> None:
    table = read_columns(io.BytesIO(b"user,item\n1,2\n"), {"user": None, "item": None}).table
    assert table.to_pylist() == [{"user": 1, "item": 2}]
    content = io.BytesIO(b"user,item\n1,2\n")
    table = read_columns(content, {"user": None, "item": None}, texts=["user"]).table
    assert table.to_pylist() == [{"user": "1", "item": 2}]


def test_pairs_without_a_header_lose_no_line() -> None:
    asked = {"user": None, "item": None}
    for text, rows in ((b"u1,i1\nu2,i2\n", 2), (b"user,item\nu2,i2\n", 1), (b"who,what\n1,2\n", 1)):
        assert read_columns(io.BytesIO(text), dict(asked)).table.num_rows == rows


GROUPED = [f"{k:,}" for k in (12, 987, 1_230, 12_345, 1_002_500)]
DECIMALS = [f"{k:.3f}".replace(".", ",") for k in (0.5, 1.25, 12.345)]


@pytest.mark.parametrize("signs", ["\t", ";"])
def test_commas_that_part_thousands_are_no_decimal_ones(signs, tmp_path) -> None:
    """987 beside 1,230 was read as 987 beside 1.23."""
    for numbers, is_read in ((GROUPED[:4], False), (DECIMALS, True), (["1,5", "3", "1,230"], True)):
        assert has_thousands(numbers) is not is_read
        rows = [signs.join((f"u{k}", "x", one)) for k, one in enumerate(numbers)]
        text = "\n".join([signs.join(("user", "item", "rating")), *rows]).encode()
        table = read_text_table(open_source(io.BytesIO(text))).table
        assert pa.types.is_floating(table.column("rating").type) == is_read
        assert (read_attributes(io.BytesIO(text))["rating"].dtype.kind == "f") == is_read
        if is_read:
            wanted = [float(one.replace(",", ".")) for one in numbers]
            assert read_ratings(io.BytesIO(text)).table.column("rating").to_pylist() == (
                pytest.approx(wanted)
            )
        else:
            with pytest.raises(ReadError, match="row 3 says '1,230'"):
                read_ratings(io.BytesIO(text))


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (["1,542", "12,307"], "decimal commas: '1,542' is 1.542"),
        (["5", "1,542", "-"], "decimal commas: '1,542' is 1.542"),
        (["0,542", "1,542"], ""),
        (["1,5", "1,542"], ""),
        (["1542", "1,542"], ""),
        (["5", "4"], ""),
    ],
)
def test_commas_that_may_part_thousands_are_told(numbers, said) -> None:
    """Nothing was said of numbers a thousand times too small."""
    text = "\n".join(["user;item;rating", *(f"u{k};x;{one}" for k, one in enumerate(numbers))])
    found = read_ratings(io.BytesIO(text.encode())).found
    assert found.startswith(f'the file (";"-separated, with a header{", " * bool(said)}{said}):')


@given(st.lists(st.integers(-(10**9), 10**9)))
def test_no_thousands_among_decimals_in_the_shortest_form(numbers) -> None:
    texts = [f"{k / 1000:g}".replace(".", ",") for k in numbers]
    assert not has_thousands(texts)
