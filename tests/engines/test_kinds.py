"""The whole package on arrays of another kind: the same numbers, and no silent conversion."""

import numpy as np
import pytest

from fake_device import FAKE_ENGINE, FakeArray
from pygeco import (
    Dense,
    Entries,
    MatrixCompletion,
    Power,
    Ridge,
    RobustPCA,
    Schatten,
    Solver,
    Trace,
    engines,
    losses,
    minimize,
    trace_path,
)
from pygeco.arrays.kinds import host, moved
from pygeco.arrays.linalg import qr
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.sweep import new_rows
from pygeco.data import make_ratings

ROWS, COLS, VALUES, SHAPE = make_ratings((60, 40), 900, rank=3)


@pytest.fixture(autouse=True)
def fake_engine(monkeypatch):
    monkeypatch.setitem(engines.ENGINE_MODULES, "fake", "fake_device")
    monkeypatch.setitem(engines.ENGINE_OF_PACKAGE, "fake_device", "fake")


def targets(loss):
    if loss in ("logistic", "smoothed-hinge"):
        return np.where(VALUES > 3.4, 1.0, -1.0)
    return np.round(VALUES) if loss in ("poisson", "ordinal") else VALUES


def both(**settings):
    given = (ROWS, COLS, targets(settings.get("loss")), SHAPE)
    return Entries(*given, **settings), Entries(*given, engine="fake", **settings)


def same_path(plain, other, rank, solver, penalty=None, rel=1e-9):
    expected = minimize(plain, rank, solver, penalty=penalty, random_state=0)
    found = minimize(other, rank, solver, penalty=penalty, random_state=0)
    assert len(found) == len(expected)
    for step, known in zip(found, expected, strict=True):
        assert isinstance(step.A.U, FakeArray)
        assert isinstance(step.A.s, np.ndarray)
        assert step.objective == pytest.approx(known.objective, rel=rel)
        assert step.certificate.gap() == pytest.approx(known.certificate.gap(), rel=max(1e-3, rel))


CHOICES = {
    "core": (Solver(), None),
    "sweep": (Solver(correction="sweep"), None),
    "diagonal": (Solver(correction="diagonal"), Ridge(1e-3)),
    "signs and replacements": (Solver(direction=Power(0.0, 5), signs=True, replacements=2), None),
    "ridge with weights": (Solver(), Ridge(1e-3, 0.5)),
    "trace norm": (Solver(), Trace(1e-2)),
    "trace norm by sweeps": (Solver(correction="sweep"), Trace(1e-2, 0.5)),
    "Schatten 3": (Solver(), Schatten(1e-3, 3.0)),
    "refined": (Solver(refine=True), None),
}


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_of_the_solver(name) -> None:
    same_path(*both(), 3, *CHOICES[name], rel=1e-7)


@pytest.mark.parametrize("loss", sorted(losses.LOSSES))
def test_every_loss(loss) -> None:
    same_path(*both(loss=loss), 2, Solver())
    # Line searches take another turn where rounding differs.
    same_path(*both(loss=loss), 1, Solver(correction="sweep"), rel=0.02)


def test_a_loss_of_the_users_own() -> None:
    loss = losses.Custom(lambda z, y: np.cosh(z - y) - 1, lambda z, y: np.sinh(z - y))
    same_path(*both(loss=loss), 2, Solver())


@pytest.mark.parametrize(
    ("loss", "weights"),
    [("squared", False), ("squared", True), ("huber", True), ("log-cosh", False)],
)
def test_dense(loss, weights) -> None:
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((30, 20))
    Y[rng.random(Y.shape) < 0.1] = np.nan
    settings = {"sample_weight": rng.random((30, 1)), "mask": rng.random(Y.shape) < 0.9}
    settings = settings if weights else {}
    for solver in (Solver(), Solver(correction="sweep")):
        pair = (Dense(Y, loss, **settings), Dense(Y, loss, engine="fake", **settings))
        same_path(*pair, 2, solver)


FITS = {
    "evidence": {},
    "posterior": {"posterior": 3},
    "path": {"solver": Solver(), "rank": 2, "biases": True},
    "huber": {"loss": "huber", "rank": 2, "biases": True},
    "logistic": {"loss": "logistic", "rank": 2, "biases": True},
    "levels": {"loss": "ordinal", "rank": 2, "posterior": 2},
    "counts": {"loss": "poisson", "rank": 2},
    "chosen rank": {"penalty": None, "solver": Solver(correction="sweep")},
}


@pytest.mark.parametrize("name", FITS)
def test_matrix_completion_is_fitted_moved_and_served(name) -> None:
    data = (ROWS, COLS, targets(FITS[name].get("loss")), SHAPE)
    plain = MatrixCompletion(random_state=0, **FITS[name]).fit(data)
    other = MatrixCompletion(random_state=0, engine="fake", **FITS[name]).fit(data)
    assert isinstance(other.factors_.U, FakeArray)
    expected = plain.predict(ROWS, COLS)

    def served():
        found = other.predict(ROWS, COLS)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected, atol=1e-4)
        assert other.score(data) == pytest.approx(plain.score(data), abs=1e-5)
        new = other.transform(data)
        assert isinstance(new, np.ndarray)
        whole = other.predict(data)
        np.testing.assert_allclose(whole, plain.predict(data), atol=1e-3)
        back = plain.inverse_transform(plain.transform(data))
        np.testing.assert_allclose(other.inverse_transform(new), back, atol=1e-3)
        if plain.model_.likelihood is None:  # which counts what is not known of a row
            np.testing.assert_allclose(back, whole, atol=1e-3)
        best, known = other.recommend([0, 3], k=4), plain.recommend([0, 3], k=4)
        np.testing.assert_allclose(best.scores, known.scores, atol=1e-3)
        np.testing.assert_allclose(
            other.similar(2).scores, plain.similar(2).scores, rtol=1e-3, atol=1e-3
        )
        if plain.posterior_ is not None:
            _, deviation = other.predict(ROWS, COLS, return_std=True)
            np.testing.assert_allclose(
                deviation, plain.predict(ROWS, COLS, return_std=True)[1], rtol=1e-3
            )
            assert other.explain(3, 4).base == pytest.approx(plain.explain(3, 4).base, abs=1e-3)

    served()
    assert isinstance(other.predict(FakeArray(ROWS), FakeArray(COLS)), FakeArray)
    other.to("cpu")
    assert isinstance(other.factors_.U, np.ndarray)
    assert isinstance(other.path_.A.U, np.ndarray)
    served()
    other.to("fake")
    assert isinstance(other.factors_.U, FakeArray)
    served()


def test_a_model_of_rank_zero() -> None:
    X = np.array([[np.nan, 3.0], [4.0, 3.0]], np.float32)  # its offsets explain all of it
    settings = {"rank": 1, "penalty": Schatten(0.01, 2.0), "biases": True, "random_state": 0}
    plain = MatrixCompletion(**settings).fit(X)
    other = MatrixCompletion(engine="fake", **settings).fit(X)
    assert plain.rank_ == other.rank_ == 0
    rows, cols = np.indices(X.shape).reshape(2, -1)
    np.testing.assert_allclose(other.predict(rows, cols), plain.predict(rows, cols), rtol=1e-6)


def test_data_of_a_kind_choose_its_engine() -> None:
    data = (FakeArray(ROWS), FakeArray(COLS), FakeArray(VALUES), SHAPE)
    assert Entries(*data).engine is FAKE_ENGINE
    full = np.full(SHAPE, np.nan)
    full[ROWS, COLS] = VALUES
    fitted = MatrixCompletion(random_state=0).fit(FakeArray(full))
    assert isinstance(fitted.factors_.U, FakeArray)
    known = MatrixCompletion(random_state=0).fit(full)
    np.testing.assert_allclose(fitted.predict(ROWS, COLS), known.predict(ROWS, COLS), atol=1e-4)
    assert Dense(FakeArray(full)).engine is FAKE_ENGINE
    with pytest.raises(ValueError, match="X: has 40 columns, but MatrixCompletion was fitted with"):
        MatrixCompletion(random_state=0).fit(FakeArray(full[:, :30])).predict(FakeArray(full))


@pytest.mark.parametrize("policy", ["mean", "sum", "last"])
def test_repeats_and_weights(policy) -> None:
    rng = np.random.default_rng(1)
    rows, cols = rng.integers(0, 6, 60), rng.integers(0, 5, 60)
    y, w = rng.standard_normal(60), rng.uniform(0.5, 2, 60)
    settings = {"sample_weight": w, "duplicates": policy}
    plain = Entries(rows, cols, y, (6, 5), **settings)
    other = Entries(rows, cols, y, (6, 5), engine="fake", **settings)
    np.testing.assert_allclose(host(other.by_col.values), plain.by_col.values)
    same_path(plain, other, 2, Solver())


def test_trace_path() -> None:
    plain, other = both()
    held = (ROWS[:50], COLS[:50], VALUES[:50])
    expected = trace_path(plain, count=3, ratio=0.3, validation=held)
    found = trace_path(other, count=3, ratio=0.3, validation=held)
    for step, known in zip(found, expected, strict=True):
        assert step.objective == pytest.approx(known.objective, rel=1e-7)
        assert step.error == pytest.approx(known.error, rel=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_robust_components(dtype) -> None:
    rng = np.random.default_rng(2)
    X = 100 + 10 * rng.standard_normal((50, 2)) @ rng.standard_normal((2, 30))
    X[rng.random(X.shape) < 0.1] = 250
    X = X.clip(0, 255).astype(dtype)
    plain = RobustPCA(2, random_state=0).fit(X)
    other = RobustPCA(2, random_state=0, engine="fake").fit(X)
    dense = plain.low_rank_.to_dense()
    np.testing.assert_allclose(host(other.low_rank_.to_dense()), dense, rtol=1e-3)
    assert other.outliers_.nnz == plain.outliers_.nnz
    scores = other.inverse_transform(other.transform(X))
    np.testing.assert_allclose(scores, plain.inverse_transform(plain.transform(X)), rtol=1e-3)
    again = other.to("cpu").inverse_transform(other.transform(X))
    np.testing.assert_allclose(again, scores, rtol=1e-3)


def test_tall_factors_by_cholesky_and_where_that_fails() -> None:
    rng = np.random.default_rng(3)
    good = rng.standard_normal((40, 5))
    cases = {
        "plain": good,
        "columns of very different sizes": good * 10.0 ** -np.arange(0, 20, 4),
        "nearly dependent": good @ (np.ones((5, 5)) + 1e-9 * rng.standard_normal((5, 5))),
        "dependent": good[:, [0, 1, 1, 2, 3]],
        "a zero column": good * [1, 1, 0, 1, 1],
        "no column": good[:, :0],
        "float32": good.astype(np.float32),
    }
    for X in cases.values():
        Q, R = qr(FakeArray(X))
        tolerance = 200 * np.finfo(X.dtype).eps
        assert isinstance(R, np.ndarray)
        Q = Q.get()
        np.testing.assert_allclose(Q.T @ Q, np.eye(X.shape[1]), atol=tolerance)
        np.testing.assert_allclose(Q @ R, X, atol=tolerance * np.abs(X).max(initial=1.0))


def test_an_unknown_engine_is_named() -> None:
    with pytest.raises(ValueError, match="engine: unknown name 'gpu'; use one of"):
        Entries([0], [0], [1.0], engine="gpu")


@pytest.mark.parametrize("loss", ["logistic", "ordinal", "poisson"])
def test_new_rows_under_a_likelihood_are_placed_where_the_arrays_are(loss):
    plain, other = both(loss=loss)
    found = fit_evidence(plain, rank=4, max_sweeps=8).posterior
    side, there = new_rows(found, plain), new_rows(moved(found, FakeArray(np.zeros(0))), other)
    assert isinstance(there.factor, FakeArray)
    np.testing.assert_allclose(host(there.factor), side.factor, atol=1e-4)
    np.testing.assert_allclose(host(there.bias), side.bias, atol=1e-4)
