import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from oracles import dense, problem, random_low_rank
from pygeco import Entries, LowRank, Solver, minimize
from pygeco.engines.cpu import cells

CORE = Solver(correction="core")
SHAPES = [(12, 9), (9, 12), (1, 6), (6, 1), (1, 1)]


@pytest.fixture(params=["both orders", "by row", "by column"])
def orders(request, monkeypatch):
    """Which orders a gradient of 12 × 9 or 9 × 12 keeps."""
    if request.param != "both orders":
        monkeypatch.setattr(cells, "MIN_CELLS_PER_SUM", 0)
        monkeypatch.setattr(cells, "MAX_CACHED_SUMS", 12 if request.param == "by row" else 9)
    return request.param


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_and_gradient_against_dense_formulas(shape, weights, dtype, orders) -> None:
    case = problem(shape, 0.6, weights=weights, dtype=dtype)
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if dtype is np.float32 else {"atol": 1e-12}
    for A in (LowRank.zero(shape), random_low_rank(shape, 2)):
        full = A.to_dense()
        G = case.entries.gradient(A)
        np.testing.assert_allclose(case.entries.value(A), case.value(full))
        np.testing.assert_allclose(G.value, case.value(full))
        np.testing.assert_allclose(dense(G), case.gradient(full), **tolerance)
        np.testing.assert_allclose(G.inner, np.sum(case.gradient(full) * full), atol=1e-6)
        y = np.random.default_rng(0).standard_normal(shape[0])
        np.testing.assert_allclose(G.rmatvec(y), case.gradient(full).T @ y, **tolerance)
    np.testing.assert_allclose(case.entries.value_at_zero, case.value(0.0))


@pytest.mark.parametrize("loss", ["squared", "huber", "poisson"])
def test_one_order_gives_what_both_do(monkeypatch, loss) -> None:
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((9, 12)) < 0.6)
    values, weight = rng.poisson(2.0, len(rows)), rng.uniform(0.5, 2.0, len(rows))
    entries = Entries(rows, cols, values, (9, 12), loss=loss, sample_weight=weight)
    entries = entries.shift(rng.standard_normal(9), rng.standard_normal(12))
    A = random_low_rank((9, 12), 2)
    X, Y = rng.standard_normal((12, 3)), rng.standard_normal((9, 3))
    both = entries.gradient(A)
    monkeypatch.setattr(cells, "MIN_CELLS_PER_SUM", 0)
    for narrow, columns in ((12, False), (9, True)):
        monkeypatch.setattr(cells, "MAX_CACHED_SUMS", narrow)
        one = entries.gradient(A)
        assert one.columns is columns
        np.testing.assert_allclose([one.value, one.inner], [both.value, both.inner], rtol=1e-12)
        for product, Z in (
            ("matmat", X),
            ("rmatmat", Y),
            ("matvec", X[:, 0]),
            ("rmatvec", Y[:, 0]),
        ):
            expected = getattr(both, product)(Z)
            np.testing.assert_allclose(getattr(one, product)(Z), expected, atol=1e-14)


def test_crowded_columns_keep_one_order() -> None:
    shape, per_column = (40_000, 6), cells.MIN_CELLS_PER_SUM
    rng = np.random.default_rng(0)
    rows = np.concatenate([np.sort(rng.choice(shape[0], per_column, False)) for _ in range(6)])
    cols = np.repeat(np.arange(6), per_column)
    values = rng.standard_normal(len(rows))
    zero = LowRank.zero(shape)
    assert Entries(rows, cols, values, shape).gradient(zero).columns is False
    assert Entries(cols, rows, values, shape[::-1]).gradient(zero.T).columns is True
    fewer = Entries(rows[1:], cols[1:], values[1:], shape).gradient(zero)
    assert not hasattr(fewer, "columns")


def test_gradient_is_the_derivative_of_the_value() -> None:
    case = problem(weights=True)
    A = random_low_rank((12, 9), 2)
    G = dense(case.entries.gradient(A))
    h = 1e-6
    for i, j in ((0, 0), (3, 8), (11, 4), (7, 7)):
        bump = np.zeros((12, 9))
        bump[i, j] = h
        up, down = (LowRank.from_dense(A.to_dense() + sign * bump) for sign in (1, -1))
        slope = (case.entries.value(up) - case.entries.value(down)) / (2 * h)
        np.testing.assert_allclose(G[i, j], slope, atol=1e-7)


@pytest.mark.parametrize("weights", [False, True])
def test_smoothness_bounds_every_direction_and_is_reached(weights) -> None:
    """Definition 1 with the β of Lemma 1: 2/|E| where every cell counts once."""
    case = problem(weights=weights)
    beta = case.entries.smoothness
    if not weights:
        np.testing.assert_allclose(beta, 2 / np.count_nonzero(case.W))
    A = random_low_rank((12, 9), 2).to_dense()
    rng = np.random.default_rng(0)
    i, j = np.unravel_index(np.argmax(case.W), case.W.shape)
    pairs = [(rng.standard_normal(12), rng.standard_normal(9)) for _ in range(50)]
    pairs.append((np.eye(12)[i], np.eye(9)[j]))
    for u, v in pairs:
        uv = np.outer(u, v) / (np.linalg.norm(u) * np.linalg.norm(v))
        for eta in (-3.0, 0.1, 10.0):
            line = case.value(A) + eta * np.sum(case.gradient(A) * uv)
            assert case.value(A + eta * uv) <= line + beta * eta**2 / 2 + 1e-12
    np.testing.assert_allclose(case.value(A + eta * uv), line + beta * eta**2 / 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_form_of_the_same_cells_gives_the_same_bits(dtype) -> None:
    rng = np.random.default_rng(0)
    shape = (20, 15)
    rows, cols = np.nonzero(rng.random(shape) < 0.4)
    y = rng.standard_normal(len(rows)).astype(dtype)
    y[:5] = 0.0  # observed zeros are observations
    table = np.full(shape, np.nan, dtype)
    table[rows, cols] = y
    coo = sp.coo_array((y, (rows, cols)), shape)
    mixed = rng.permutation(len(y))
    forms = [
        Entries(rows, cols, y, shape),
        Entries(rows[mixed], cols[mixed], y[mixed], shape),
        Entries(list(rows), list(cols), y, shape),
        Entries(rows.astype(np.int16), cols.astype(np.uint8), y, shape),
        Entries.from_dense(table),
        Entries.from_dense(np.asfortranarray(table)),
        Entries.from_sparse(coo),
        Entries.from_sparse(coo.tocsr()),
        Entries.from_sparse(coo.tocsc()),
        Entries.from_sparse(sp.coo_matrix(coo)),
    ]
    first = minimize(forms[0], 2, Solver.paper(), random_state=0)
    for entries in forms:
        assert entries.size == len(y)
        assert entries.dtype == dtype
        path = minimize(entries, 2, Solver.paper(), random_state=0)
        assert [step.objective for step in path] == [step.objective for step in first]
        np.testing.assert_array_equal(path.A.U, first.A.U)


def test_a_weight_of_two_is_the_cell_twice() -> None:
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((9, 7)) < 0.6)
    y, twice = rng.standard_normal(len(rows)), rng.integers(1, 3, len(rows))
    entries = Entries(rows, cols, y, (9, 7), sample_weight=twice)
    A = random_low_rank((9, 7), 2)
    errors = np.repeat((A.to_dense()[rows, cols] - y) ** 2, twice)
    np.testing.assert_allclose(entries.value(A), errors.mean())


def test_weights_that_are_all_equal_change_nothing() -> None:
    plain = problem(weights=False)
    rows, cols = np.nonzero(plain.W)
    y = plain.Y[rows, cols]
    one = minimize(plain.entries, 3, CORE, random_state=0)
    for w in (np.ones(len(y)), np.full(len(y), 4.0)):
        entries = Entries(rows, cols, y, (12, 9), sample_weight=w)
        other = minimize(entries, 3, CORE, random_state=0)
        np.testing.assert_allclose(other[-1].objective, one[-1].objective)


def test_a_weight_of_zero_is_no_cell() -> None:
    case = problem()
    rows, cols = np.nonzero(case.W)
    y, w = case.Y[rows, cols], np.ones(len(rows))
    w[::3] = 0.0
    some = Entries(rows[w > 0], cols[w > 0], y[w > 0], (12, 9))
    all_of_them = Entries(rows, cols, y, (12, 9), sample_weight=w)
    for A in (random_low_rank((12, 9)), LowRank.zero((12, 9))):
        np.testing.assert_allclose(all_of_them.value(A), some.value(A))


@pytest.mark.parametrize("policy", ["mean", "sum", "last"])
@pytest.mark.parametrize("weights", [False, True])
def test_duplicates_against_pandas(policy, weights) -> None:
    rng = np.random.default_rng(0)
    rows, cols = rng.integers(0, 8, 200), rng.integers(0, 6, 200)
    y = rng.standard_normal(200)
    w = rng.uniform(0.5, 2, 200) if weights else np.ones(200)
    table = pd.DataFrame({"i": rows, "j": cols, "y": y, "w": w, "wy": w * y})
    groups = table.groupby(["i", "j"])
    if policy == "mean":
        expected = groups["wy"].sum() / groups["w"].sum()
    else:
        expected = getattr(groups["y"], policy)()
    heavy = groups["w"].last() if policy == "last" else groups["w"].mean()
    given = w if weights else None
    found = Entries(rows, cols, y, (9, 6), sample_weight=given, duplicates=policy)
    at = np.repeat(np.arange(9), found.by_row.counts()), found.by_row.indices
    assert list(zip(*at, strict=True)) == list(expected.index)
    np.testing.assert_allclose(found.by_row.values, expected)
    if weights:
        np.testing.assert_allclose(found.by_row.weights, heavy)
    same = sp.csc_array((found.by_col.values, found.by_col.indices, found.by_col.pointers), (9, 6))
    np.testing.assert_allclose(same.toarray()[at], expected)


def test_equal_columns_in_neighboring_rows_are_not_duplicates() -> None:
    assert Entries([0, 1, 2, 4], [3, 3, 3, 3], [1.0, 2.0, 3.0, 4.0], (6, 4)).size == 4


def bad(match, *args, **kwargs):
    return pytest.param(args, kwargs, match, id=match[:40])


@pytest.mark.parametrize(
    ("args", "kwargs", "match"),
    [
        bad("values: 1 of 2 observed values are NaN", [0, 1], [0, 1], [1.0, np.nan]),
        bad("values: 2 of 2 observed values are NaN or inf", [0, 1], [0, 1], [np.inf, -np.inf]),
        bad("values: expected real numbers, not complex", [0], [0], [1j]),
        bad("values: expected real numbers, not <U", [0], [0], ["a"]),
        bad("values: expected real numbers, not object", [0], [0], np.array([None])),
        bad("values: expected real numbers, not datetime", [0], [0], np.array(["2020"], "M8[D]")),
        bad("values: expected a 1-dimensional array", [0], [0], [[1.0]]),
        bad("values: no observed cell", np.zeros(0, int), np.zeros(0, int), [], (3, 3)),
        bad("values: cell (1, 2) is given more than once (1 repeats", [1, 1], [2, 2], [1.0, 2.0]),
        bad("rows: index 3 is outside 0 … 2", [0, 3], [0, 1], [1.0, 2.0], (3, 3)),
        bad("rows: index -1 is outside", [0, -1], [0, 1], [1.0, 2.0]),
        bad("cols: index 9 is outside 0 … 2", [0, 1], [0, 9], [1.0, 2.0], (3, 3)),
        bad("rows: expected integers, not float64", [0.0], [0], [1.0]),
        bad("cols: expected integers, not bool", [0], [True], [1.0]),
        bad("rows: expected 1 indices, one per value, not (2,)", [0, 1], [0], [1.0]),
        bad("cols: expected 1 indices, one per value, not ()", [0], 0, [1.0]),
        bad("shape: expected two integers of at least 1, not (3,)", [0], [0], [1.0], (3,)),
        bad("shape: expected two integers", [0], [0], [1.0], (3, 2.5)),
        bad("shape: expected two integers", [0], [0], [1.0], (0, 3)),
        bad("shape: expected two integers of at least 1, not 7", [0], [0], [1.0], 7),
        bad("shape: at most 2³¹ − 1 rows", [0], [0], [1.0], (2**31, 3)),
        bad("shape: at most 2³¹ − 1 cols", [0], [2**33], [1.0]),
        bad("sample_weight: expected shape (1,)", [0], [0], [1.0], sample_weight=[1.0, 1.0]),
        bad("sample_weight: weights must be finite, ≥ 0", [0], [0], [1.0], sample_weight=[-1.0]),
        bad("sample_weight: weights must be", [0], [0], [1.0], sample_weight=[0.0]),
        bad("sample_weight: weights must be", [0], [0], [1.0], sample_weight=[np.nan]),
        bad("sample_weight: expected real numbers", [0], [0], [1.0], sample_weight=["x"]),
        bad("duplicates: unknown policy 'first'", [0], [0], [1.0], duplicates="first"),
        bad("loss: unknown", [0], [0], [1.0], loss="cubic"),
    ],
)
def test_bad_input_names_the_argument(args, kwargs, match) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(match)) as error:
        Entries(*args, **kwargs)
    assert str(error.value).endswith(".")


def test_bad_matrices_name_x() -> None:
    with pytest.raises(ValueError, match=r"^X: complex values are not supported"):
        Entries.from_sparse(sp.csr_array(np.array([[1j]])))
    with pytest.raises(ValueError, match=r"^X: expected a 2-dimensional array, got 1"):
        Entries.from_dense([1.0, 2.0])
    with pytest.raises(ValueError, match=r"^X: expected real numbers, not complex128"):
        Entries.from_dense([[1j]])
    with pytest.raises(ValueError, match=r"^values: 1 of 2 observed values are NaN or infinity"):
        Entries.from_dense([[np.inf, np.nan, 1.0]])
    with pytest.raises(ValueError, match=r"^values: no observed cell"):
        Entries.from_dense([[np.nan]])
    with pytest.raises(ValueError, match=r"^values: no observed cell"):
        Entries.from_sparse(sp.csr_array((4, 5)))
    with pytest.raises(ValueError, match=r"^X: .*empty|^values: no observed|^shape: expected two"):
        Entries.from_dense(np.zeros((0, 3)))


def test_empty_rows_and_columns_are_fine() -> None:
    entries = Entries([2, 2, 5], [1, 4, 4], [1.0, 2.0, 3.0], (9, 8))
    path = minimize(entries, 3, Solver.paper(), random_state=0)
    A = path.A.to_dense()
    np.testing.assert_allclose(A[[2, 2, 5], [1, 4, 4]], [1.0, 2.0, 3.0], atol=1e-6)
    assert np.all(np.isfinite(A))
    np.testing.assert_allclose(np.delete(A, [2, 5], axis=0), 0, atol=1e-12)


def test_shape_is_found_where_it_is_not_given() -> None:
    assert Entries([0, 4], [7, 1], [1.0, 2.0]).shape == (5, 8)


def test_integers_and_booleans_become_doubles() -> None:
    assert Entries([0], [0], [3]).dtype == np.float64
    assert Entries.from_dense(np.array([[1, 2], [3, 4]])).size == 4
    assert Entries.from_dense(np.array([[True, False]])).value_at_zero == 0.5
    assert Entries([0], [0], np.array([3], np.float16)).dtype == np.float64


def test_shifted_targets() -> None:
    case = problem(weights=True)
    rng = np.random.default_rng(0)
    b, c = rng.standard_normal(12), rng.standard_normal(9)
    A = random_low_rank((12, 9), 2)
    moved = case.entries.shift(b, c)
    expected = case.value(A.to_dense() + b[:, None] + c)
    np.testing.assert_allclose(moved.value(A), expected)
    np.testing.assert_allclose(moved.value_at_zero, case.value(b[:, None] + c))
    np.testing.assert_allclose(case.entries.value_at_zero, case.value(0.0))


def test_rank_may_be_as_large_as_the_matrix() -> None:
    for shape in ((6, 4), (4, 6)):
        case = problem(shape, 0.9)
        path = minimize(case.entries, 4, Solver.paper(), random_state=0)
        assert path[-1].objective < 0.02 * case.value(0.0)
