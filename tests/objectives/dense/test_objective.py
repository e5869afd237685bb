"""Dense against dense NumPy, against Entries on the same cells, and against itself."""

import numpy as np
import pytest
import scipy.optimize

from loss_cases import CASES
from oracles import dense, random_low_rank
from pygeco import Dense, Entries, LowRank, Ridge, Solver, Trace, minimize
from pygeco.engines.cpu import tiles
from pygeco.engines.cpu.threads import set_num_threads
from pygeco.losses import Huber, Logistic, Ordinal, PseudoHuber, Squared

SHAPE = (11, 14)


def table(seed=0, *, missing=0.3, dtype=float, shape=SHAPE, heavy=True):
    """Data with wild cells, NaN, and one line of each kind without any cell."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal(shape)
    if heavy:
        Y[rng.random(shape) < 0.2] *= 20
    if missing:
        Y[rng.random(shape) < missing] = np.nan
        Y[3], Y[:, 5] = np.nan, np.nan
    return Y.astype(dtype)


def mean_loss(loss, Y, A, W=None):
    """R and its dense gradient, by the loss's own formulas."""
    seen = ~np.isnan(Y)
    W = seen * (1.0 if W is None else W)
    y = np.where(seen, Y, 1.0)
    total = W.sum()
    return np.sum(W * loss.value(A, y)) / total, W * loss.slope(A, y) / total


@pytest.mark.parametrize("loss", [Squared(), Huber(0.7), PseudoHuber(0.5)], ids=lambda x: x.name)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
def test_value_and_gradient_are_those_of_the_formulas(loss, weighted, order):
    Y = np.asarray(table(), order=order)
    rng = np.random.default_rng(1)
    W = rng.uniform(0, 2, SHAPE) * (rng.random(SHAPE) < 0.8) if weighted else None
    A = random_low_rank(SHAPE, 3)
    objective = Dense(Y, loss, sample_weight=W)
    value, gradient = mean_loss(loss, Y, A.to_dense(), W)
    G = objective.gradient(A)
    assert objective.value(A) == pytest.approx(value, rel=1e-12)
    assert G.value == pytest.approx(value, rel=1e-12)
    assert G.inner == pytest.approx(np.sum(gradient * A.to_dense()), rel=1e-10, abs=1e-14)
    np.testing.assert_allclose(dense(G), gradient, atol=1e-14)
    X = rng.standard_normal((SHAPE[0], 4))
    np.testing.assert_allclose(G.rmatmat(X), gradient.T @ X, atol=1e-13)


def test_gradient_is_the_slope_of_the_value():
    Y, A = table(), random_low_rank(SHAPE, 2)
    objective, step = Dense(Y, Huber(0.7)), 1e-6
    found = dense(objective.gradient(A))
    for i, j in ((0, 0), (4, 9), (10, 13), (3, 2)):
        E = LowRank(np.eye(SHAPE[0])[:, [i]], np.ones(1), np.eye(SHAPE[1])[:, [j]])
        values = [
            objective.value(
                LowRank(np.column_stack([A.U, E.U]), np.append(A.s, t), np.column_stack([A.V, E.V]))
            )
            for t in (step, -step)
        ]
        assert (values[0] - values[1]) / (2 * step) == pytest.approx(found[i, j], abs=1e-8)


@pytest.mark.parametrize("loss", ["squared", Huber(0.8)])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_equals_entries_on_the_same_cells(loss, missing):
    Y = table(missing=missing)
    ours, theirs = Dense(Y, loss), Entries.from_dense(Y, loss=loss)
    A = random_low_rank(SHAPE, 3)
    assert ours.value(A) == pytest.approx(theirs.value(A), rel=1e-12)
    assert ours.smoothness == pytest.approx(theirs.smoothness, rel=1e-12)
    np.testing.assert_allclose(dense(ours.gradient(A)), dense(theirs.gradient(A)), atol=1e-14)
    solver = Solver(correction="core")
    paths = [minimize(data, 4, solver, random_state=0) for data in (ours, theirs)]
    for mine, other in zip(*paths, strict=True):
        assert mine.objective == pytest.approx(other.objective, rel=1e-5)


def test_mask_and_nan_are_the_same():
    Y = table(missing=0.0)
    mask = np.random.default_rng(2).random(SHAPE) < 0.6
    wild = np.where(mask, Y, np.inf)  # what is under the mask is not looked at
    A = random_low_rank(SHAPE, 2)
    by_mask, by_nan = Dense(wild, mask=mask), Dense(np.where(mask, Y, np.nan))
    assert by_mask.value(A) == pytest.approx(by_nan.value(A), rel=1e-14)
    np.testing.assert_allclose(dense(by_mask.gradient(A)), dense(by_nan.gradient(A)), atol=1e-15)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.bool_, np.float16])
def test_any_real_type_gives_the_values_of_float64(dtype):
    Y = np.random.default_rng(3).integers(0, 2 if dtype is np.bool_ else 200, SHAPE).astype(dtype)
    A = random_low_rank(SHAPE, 2)
    given, plain = Dense(Y, Huber(3.0)), Dense(Y.astype(float), Huber(3.0))
    assert given.value(A) == pytest.approx(plain.value(A), rel=1e-5)
    assert given.table.values.nbytes <= max(Y.nbytes, 4 * Y.size)


@pytest.mark.parametrize("name", CASES)
def test_every_loss_gives_the_path_of_entries(name):
    loss, targets = CASES[name]
    rng = np.random.default_rng(4)
    Y = targets(rng, (9, 8))
    Y[rng.random(Y.shape) < 0.2] = np.nan
    solver = Solver(correction="core")
    ours = minimize(Dense(Y, loss), 2, solver, random_state=0)
    theirs = minimize(Entries.from_dense(Y, loss=loss), 2, solver, random_state=0)
    assert ours[-1].objective == pytest.approx(theirs[-1].objective, rel=1e-4)


def test_trace_penalty_through_the_solver():
    Y = table(6, heavy=False, shape=(8, 6))
    path = minimize(Dense(Y), 4, penalty=Trace(0.02), random_state=0)
    other = minimize(Entries.from_dense(Y), 4, penalty=Trace(0.02), random_state=0)
    assert path[-1].objective == pytest.approx(other[-1].objective, rel=1e-5)


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5)])
def test_the_same_bits_for_any_number_of_threads(loss, monkeypatch):
    monkeypatch.setattr(tiles, "MAX_SERIAL_CELLS", 0)
    monkeypatch.setattr(tiles, "TILE_ROWS", 64)
    Y, A = table(7, shape=(300, 700)), random_low_rank((300, 700), 3)
    found = []
    for threads in (1, 2):
        set_num_threads(threads)
        objective = Dense(Y, loss)
        rows = objective.lines(False, A.U, A.V, A.V, curved=True)
        cols = objective.lines(True, A.V, A.U, A.U, curved=True)
        found.append([part.tobytes() for part in (*rows, *cols)])
    assert found[0] == found[1]


def test_tiles_do_not_change_the_sums(monkeypatch):
    shape = (700, 30)  # few columns: the rows are shared out in runs
    Y, A = table(8, shape=shape), random_low_rank(shape, 3)
    whole = Dense(Y, Huber(1.0)).lines(True, A.V, A.U, A.U, curved=True)
    monkeypatch.setattr(tiles, "MAX_SERIAL_CELLS", 0)
    monkeypatch.setattr(tiles, "TILE_ROWS", 8)
    monkeypatch.setattr(tiles, "TILE_COLS", 16)
    cut = Dense(Y, Huber(1.0)).lines(True, A.V, A.U, A.U, curved=True)
    for one, other in zip(whole, cut, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-10)


def test_shifted_sees_the_matrix_from_an_offset():
    Y, A = table(), random_low_rank(SHAPE, 2)
    rng = np.random.default_rng(9)
    row, col = rng.standard_normal(SHAPE[0]), rng.standard_normal(SHAPE[1])
    moved = Dense(Y, Huber(0.7)).shift(row, col)
    total = A.to_dense() + row[:, None] + col
    value, gradient = mean_loss(Huber(0.7), Y, total)
    G = moved.gradient(A)
    assert moved.value(A) == pytest.approx(value, rel=1e-12)
    assert G.inner == pytest.approx(np.sum(gradient * A.to_dense()), rel=1e-9)
    np.testing.assert_allclose(dense(G), gradient, atol=1e-14)
    seen = ~np.isnan(Y)
    np.testing.assert_allclose(
        np.sort(moved.residual_sample(A)), np.sort((Y - total)[seen]), atol=1e-12
    )


def test_outliers_are_the_large_residuals():
    Y, A = table(), random_low_rank(SHAPE, 2)
    rest = Y - A.to_dense()
    found = Dense(Y).outliers(A, 2.0).toarray()
    np.testing.assert_allclose(found, np.where(np.abs(rest) > 2.0, rest, 0.0), atol=1e-13)


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("dtype", [float, np.uint8])
def test_medians_skip_missing_cells(masked, dtype):
    rng = np.random.default_rng(10)
    Y = rng.integers(0, 100, (25, 7)).astype(dtype)
    mask = rng.random(Y.shape) < 0.7
    mask[:, 2] = False
    found = Dense(Y, mask=mask if masked else None).medians()
    for j, median in enumerate(found):
        column = Y[mask[:, j], j] if masked else Y[:, j]
        assert median == (np.median(column) if len(column) else 0.0)


def line_objective(loss, y, fixed, lift):
    seen = ~np.isnan(y)

    def value(w):
        return float(np.sum(loss.value(fixed[seen] @ w, y[seen]))) + lift * float(w @ w)

    return value


@pytest.mark.parametrize("side", ["column", "row"])
@pytest.mark.parametrize("ridge", [0.0, 0.01, "of its own"])
@pytest.mark.parametrize("loss", [Squared(), Huber(0.6), PseudoHuber(0.6)], ids=lambda x: x.name)
def test_half_sweep_solves_every_line(side, ridge, loss):
    Y = table(11, shape=(30, 24))
    if ridge == "of its own":
        ridge = np.geomspace(1e-4, 1e-1, 24 if side == "column" else 30)
    fixed = np.random.default_rng(12).standard_normal((30 if side == "column" else 24, 3))
    lines = Y.T if side == "column" else Y
    start = np.zeros((len(lines), 3))
    objective = Dense(Y, loss)
    W = objective.half_sweep(fixed, start, side=side, ridge=ridge)
    lifts = np.broadcast_to(ridge, len(lines)) * objective.total_weight
    for w, y, lift in zip(W, lines, lifts, strict=True):
        value = line_objective(loss, y, fixed, lift)
        oracle = scipy.optimize.minimize(value, w, method="BFGS", options={"gtol": 1e-9})
        assert value(w) <= oracle.fun + 1e-7 * max(1.0, abs(oracle.fun))


def test_half_sweep_of_the_squared_loss_is_least_squares():
    rng = np.random.default_rng(13)
    Y, fixed = rng.standard_normal((9, 7)), rng.standard_normal((9, 3))
    W = Dense(Y).half_sweep(fixed, np.ones((7, 3)), side="column")
    np.testing.assert_allclose(W.T, np.linalg.lstsq(fixed, Y)[0], atol=1e-12)
    ridge = np.geomspace(1e-3, 1.0, 7)
    W = Dense(Y).half_sweep(fixed, np.ones((7, 3)), side="column", ridge=ridge)
    for w, y, lift in zip(W, Y.T, ridge * Y.size, strict=True):
        expected = np.linalg.solve(fixed.T @ fixed + lift * np.eye(3), fixed.T @ y)
        np.testing.assert_allclose(w, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [("squared", Ridge(1e-3, gamma=0.5))]
    + [(loss, h) for loss in ("squared", Huber(0.8)) for h in (None, Ridge(1e-3), Trace(1e-2))],
)
def test_sweeps_reach_what_they_reach_on_entries(loss, penalty):
    Y = table(19, heavy=False, shape=(20, 16))
    solver = Solver(correction="sweep")
    ours = minimize(Dense(Y, loss), 3, solver, penalty=penalty, random_state=0)
    theirs = minimize(Entries.from_dense(Y, loss=loss), 3, solver, penalty=penalty, random_state=0)
    assert ours[0].objective == pytest.approx(theirs[0].objective, rel=1e-2)
    assert ours[-1].objective == pytest.approx(theirs[-1].objective, rel=2e-2)


def test_counts_are_the_weights_of_the_lines():
    Y = table()
    weights = np.random.default_rng(20).uniform(0.5, 2, SHAPE)
    rows, cols = Dense(Y, Huber(1.0), sample_weight=weights).counts()
    seen = np.where(np.isnan(Y), 0, weights)
    np.testing.assert_allclose(rows, seen.sum(axis=1), atol=1e-12)
    np.testing.assert_allclose(cols, seen.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("loss", [Huber(0.3), Squared(), PseudoHuber(0.3)], ids=lambda x: x.name)
@pytest.mark.parametrize("columns", [2, 20])  # systems of their own; scaled gradient steps
@pytest.mark.parametrize("coherent", [False, True])
def test_half_sweep_never_raises_a_line(loss, columns, coherent):
    rng = np.random.default_rng(14)
    Y = table(15, shape=(60, 40))
    fixed = rng.standard_normal((60, columns))
    if coherent:
        fixed[:columns] *= 50  # a few rows say nearly everything about the columns
    start = rng.standard_normal((40, columns))
    objective = Dense(Y, loss)
    before = objective.lines(True, start, fixed, fixed).values
    for steps in (1, 2, 5) if not isinstance(loss, PseudoHuber) else (2, 5):
        W = objective.half_sweep(fixed, start, side="column", steps=steps, exact=False)
        after = objective.lines(True, W, fixed, fixed).values
        assert np.all(after <= before * (1 + 1e-9))
    assert after.sum() < before.sum()


@pytest.mark.parametrize("exact", [False, True])
def test_wide_half_sweep_converges(exact):
    rng = np.random.default_rng(16)
    fixed = np.linalg.qr(rng.standard_normal((200, 25)))[0]
    truth = rng.standard_normal((30, 25))
    Y = fixed @ truth.T
    Y[rng.random(Y.shape) < 0.1] += 5.0
    objective = Dense(Y, Huber(1e-4))
    W = truth + 0.01 * rng.standard_normal(truth.shape)
    W = objective.half_sweep(fixed, W, side="column", steps=200, exact=exact)
    gradient = objective.lines(True, W, fixed, fixed).sides
    assert np.abs(gradient).max() < 1e-6
    np.testing.assert_allclose(W, truth, atol=1e-3)


def test_part_is_the_same_lines():
    Y, A = table(), random_low_rank(SHAPE, 2)
    moved = Dense(Y, Huber(0.7)).shift(np.arange(11.0), np.arange(14.0))
    some = np.array([0, 4, 7])
    whole = moved.lines(False, A.U, A.V, A.V).sides
    np.testing.assert_allclose(
        moved.part(rows=some).lines(False, A.U[some], A.V, A.V).sides, whole[some], atol=1e-12
    )


def test_labels_and_levels():
    rng = np.random.default_rng(17)
    Y = rng.integers(0, 2, SHAPE).astype(float)
    A = random_low_rank(SHAPE, 2)
    signs = np.where(Y > 0, 1.0, -1.0)
    value, _ = mean_loss(Logistic(), signs, A.to_dense())
    assert Dense(Y, "logistic").value(A) == pytest.approx(value, rel=1e-12)
    with pytest.raises(ValueError, match="labels −1 and"):
        Dense(Y + 5, "logistic")
    Y[2, 2] = np.nan
    assert isinstance(Dense(Y, "ordinal").loss, Ordinal)


def test_float32_stays_float32():
    Y = table(dtype=np.float32)
    objective = Dense(Y, Huber(0.7))
    assert objective.dtype == np.float32
    assert objective.table.values is Y
    A = random_low_rank(SHAPE, 2)
    value, gradient = mean_loss(Huber(0.7), Y.astype(float), A.to_dense())
    assert objective.value(A) == pytest.approx(value, rel=1e-5)
    np.testing.assert_allclose(dense(objective.gradient(A)), gradient, atol=1e-7)


def test_diagonal_correction_and_replacements_run_on_dense_data():
    Y = table(18, missing=0.0, heavy=False)
    diagonal = minimize(Dense(Y), 3, Solver(correction="diagonal"), random_state=0)
    replaced = minimize(Dense(Y), 3, Solver(replacements=2), random_state=0)
    best = np.linalg.svd(Y, compute_uv=False)
    floor = np.sum(best[3:] ** 2) / Y.size
    for path in (diagonal, replaced):
        values = [step.objective for step in path]
        assert values == sorted(values, reverse=True)
        assert values[-1] >= floor * (1 - 1e-9)
    assert replaced[-1].objective == pytest.approx(floor, rel=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"Y": np.ones(3)}, "Y: expected a 2-dimensional array"),
        ({"Y": np.ones((2, 2), complex)}, "Y: expected real numbers"),
        ({"Y": np.ones((0, 2))}, "Y: shape .* has no cells"),
        ({"Y": np.full((2, 2), np.nan)}, "Y: no observed cell"),
        ({"Y": np.array([[1.0, np.inf]])}, "Y: 1 cells are infinite"),
        ({"Y": np.ones((2, 2)), "mask": np.ones((2, 2))}, "mask: expected booleans"),
        ({"Y": np.ones((2, 2)), "mask": np.ones((2, 3), bool)}, "mask: expected booleans"),
        ({"Y": np.ones((2, 2)), "sample_weight": np.ones(3)}, "sample_weight: shape"),
        ({"Y": np.ones((2, 2)), "sample_weight": -np.ones(2)}, "sample_weight: weights must"),
        ({"Y": np.ones((2, 2)), "sample_weight": np.zeros(2)}, "Y: no observed cell"),
    ],
)
def test_bad_input_is_named_in_one_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        Dense(**arguments)


def test_bad_side_is_named():
    with pytest.raises(ValueError, match="side: unknown name"):
        Dense(np.ones((2, 2))).half_sweep(np.ones((2, 1)), np.ones((2, 1)), side="left")
