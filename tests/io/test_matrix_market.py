"""Matrix Market files."""

import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from pygeco.data import read_ratings
from pygeco.engines.cpu.text_kernels import parse_lines
from pygeco.engines.cpu.threads import limit_threads
from pygeco.io import matrix_market
from pygeco.io.matrix_market import read_market


@pytest.mark.parametrize("kind", ["coordinate", "dense", "pattern", "symmetric"])
def test_matrix_market(kind, tmp_path) -> None:
    matrix = sp.coo_array(([1.5, 2.0, 4.0], ([0, 2, 1], [1, 0, 1])), shape=(3, 3))
    path = tmp_path / "m.mtx"
    if kind == "symmetric":
        matrix = (matrix + matrix.T).tocoo()
    written = matrix.toarray() if kind == "dense" else matrix
    scipy.io.mmwrite(path, written, field="pattern" if kind == "pattern" else None)
    table = read_ratings(path).table
    back = np.zeros((3, 3))
    back[table.column(0).to_numpy() - 1, table.column(1).to_numpy() - 1] = table.column(
        2
    ).to_numpy()
    wanted = matrix.toarray()
    np.testing.assert_array_equal(back, wanted != 0 if kind == "pattern" else wanted)


LISTED = b"%%MatrixMarket matrix coordinate real general\n% a remark\n30 20 "


@pytest.mark.parametrize("least", [0, 1 << 30])
@pytest.mark.parametrize("size", [1, 7, 64, 1 << 24])
@pytest.mark.parametrize("form", ["plain", "tabs", "spaces", "trailing", "signs", "blank", "mixed"])
def test_any_spacing_in_any_blocks(monkeypatch, size, form, least) -> None:
    monkeypatch.setattr(matrix_market, "BLOCK_BYTES", size)
    monkeypatch.setattr(matrix_market, "MIN_FAST_BYTES", least)
    rng = np.random.default_rng(0)
    rows, cols = np.divmod(rng.choice(600, 50, replace=False), 20)
    values = np.concatenate([rng.standard_normal(10), np.round(rng.standard_normal(40), 3)])
    lines = [f"{i + 1} {j + 1} {x!r}" for i, j, x in zip(rows, cols, values.tolist(), strict=True)]
    changed = {
        "tabs": lambda line: line.replace(" ", "\t"),
        "spaces": lambda line: "  " + line.replace(" ", "   "),
        "trailing": lambda line: line + " ",
        "signs": lambda line: "+" + line,
        "blank": lambda line: line + "\n",
    }
    change = changed.get(form, lambda line: line)
    text = [change(line) for line in lines]
    if form == "mixed":
        text[30:] = [changed["spaces"](line) for line in text[30:]]
    found = read_market(io.BytesIO(LISTED + b"50\n" + "\n".join(text).encode()))
    for one, other in zip(found[:3], (rows, cols, values), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (found.rows.dtype, found.values.dtype) == (np.int32, np.float64)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"1 1 2.5.3\n1 2 3\n", "."),
        (b"1 1 2abc\n1 2 3\n", "."),
        (b"1 1-2\n1 2 3\n", "."),
        (b"1 1 2\n1 2 1e\n", "."),
        (b"1 1 2\n1 2 -\n", "."),
        (b"1 1 2\n1 2 1e-\n", "."),
        (b"1 1 2\n", "it says that it has 2 entries, but 1 lines"),
        (b"1 1 2\n1 2 3\n1 3 4\n", "it says that it has 2 entries, but 3 lines"),
        (b"", "it says that it has 2 entries, but 0 lines"),
        (b"1 1 2\n31 2 3\n", "outside of 30 × 20"),
        (b"1 1 2\n0 2 3\n", "outside of 30 × 20"),
        (b"1 1 2\n1 -2 3\n", "outside of 30 × 20"),
        (b"1 1 2\n1.5 2 3\n", "outside of 30 × 20"),
        (b"1 1 2\n99999999999999999999 2 3\n", "outside of 30 × 20"),
        (b"1 1 2\n1 2\n", "."),
        (b"1 1\n1 2\n", "a line has 2 numbers, where there should be 3"),
        (b"1 1 2 4\n1 2 3 5\n", "a line has 4 numbers"),
        (b"1 1 2\n% 2 3\n", "."),
        (b"1 1 2\n1 2 NA\n", "."),
        (b"1 1 2\n1 2 \xff\x00\n", "."),
    ],
)
@pytest.mark.parametrize("least", [0, 1 << 30])
def test_what_does_not_fit_is_an_error(monkeypatch, text, words, least) -> None:
    monkeypatch.setattr(matrix_market, "MIN_FAST_BYTES", least)
    with pytest.raises(ValueError, match=words):
        read_market(io.BytesIO(LISTED + b"2\n" + text))


@pytest.mark.parametrize("least", [0, 1 << 30])
@pytest.mark.parametrize("rows", [2**31 - 1, 2**31, 2**52])
def test_a_long_side(monkeypatch, least, rows) -> None:
    monkeypatch.setattr(matrix_market, "MIN_FAST_BYTES", least)
    head = f"%%MatrixMarket matrix coordinate real general\n{rows} 3 2\n"
    found = read_market(io.BytesIO(f"{head}{rows} 3 1.5\n1 1 2\n".encode()))
    assert found.rows.tolist() == [rows - 1, 0]
    assert found.cols.tolist() == [2, 0]
    assert found.rows.dtype == (np.int32 if rows < 2**31 else np.int64)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_blocks_keep_their_order_on_any_number_of_threads(monkeypatch, threads) -> None:
    monkeypatch.setattr(matrix_market, "BLOCK_BYTES", 40)
    monkeypatch.setattr(matrix_market, "MIN_FAST_BYTES", 0)
    lines = [f"{k % 30 + 1} {k % 20 + 1} {k}" for k in range(200)]
    with limit_threads(threads):
        found = read_market(io.BytesIO(LISTED + b"200\n" + "\n".join(lines).encode()))
    np.testing.assert_array_equal(found.values, np.arange(200))
    np.testing.assert_array_equal(found.rows, np.arange(200) % 30)


def test_short_numbers_are_the_nearest_ones() -> None:
    texts = ["0", "-0", "5", "0.1", "-12.75", "3.", ".5", "1e5", "1E-3", "2.5e+3", "1e22", "1e-22"]
    texts += ["123456789012345", "0.000123", "99999999.9999999", "1.5e-10"]
    block = "\n".join(texts).encode()
    values = np.empty(len(texts))
    none = np.empty(0, np.int32)
    count = parse_lines(np.frombuffer(block, np.uint8).copy(), False, none, none, values)
    assert count == len(texts)
    assert values.tobytes() == np.array([float(text) for text in texts]).tobytes()
    for odd in (b"1e23", b"1234567890123456", b"nan", b"inf", b"+1", b"1 2", b"0x1", b"1_0"):
        text = np.frombuffer(odd, np.uint8).copy()
        assert parse_lines(text, False, none, none, values) == -1
