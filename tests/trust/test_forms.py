"""One model, however the data come, wherever they are, and after it was saved and loaded."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st

from pygeco import MatrixCompletion, Ridge, Solver, Trace, engines, load
from pygeco.arrays.kinds import host
from pygeco.engines.cuda.driver import count_gpus
from soak import law

SETTINGS = [
    {},
    {"rank": 1, "posterior": 2},
    {"rank": 1, "penalty": Ridge(1e-2), "biases": True},
    {"rank": 2, "penalty": Trace(2e-2)},
    {"rank": 2, "loss": "huber", "penalty": Ridge(1e-2), "biases": True},
    {"rank": 2, "solver": Solver(correction="diagonal"), "clip": True},
]


@pytest.fixture(autouse=True, scope="module")
def fake_engine():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(engines.ENGINE_MODULES, "fake", "fake_device")
        patch.setitem(engines.ENGINE_OF_PACKAGE, "fake_device", "fake")
        yield


@st.composite
def tables(draw):
    """A random array with NaN, of at least two rows and columns, none of them empty."""
    m, n = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = np.round(rng.normal(3.0, 1.0, (m, n)), draw(st.sampled_from([0, 3])))
    seen = rng.random(X.shape) < draw(st.sampled_from([0.2, 0.6, 1.1]))
    seen[np.arange(m), rng.integers(0, n, m)] = seen[rng.integers(0, m, n), np.arange(n)] = True
    return np.where(seen, X, np.nan).astype(draw(st.sampled_from([np.float32, np.float64])))


def model(settings, **more):
    return MatrixCompletion(random_state=0, **settings, **more)


@law("models of one matrix in many forms", 8, 3000, tables(), st.sampled_from(SETTINGS))
def test_every_form_of_the_data_gives_the_same_bits(X, settings) -> None:
    i, j = np.indices(X.shape)
    rows, cols = np.nonzero(~np.isnan(X))
    values = X[rows, cols]
    order = np.random.default_rng(0).permutation(len(rows))
    triplets = rows[order], cols[order], values[order], X.shape
    coo = sp.coo_array((values, (rows, cols)), X.shape)
    expected = model(settings).fit(X).predict(i, j)
    for form in (triplets, coo, coo.tocsr(), coo.tocsc()):
        np.testing.assert_array_equal(model(settings).fit(form).predict(i, j), expected)
    ids = np.array([f"u{k:02d}" for k in range(len(X))]), 10 * np.arange(X.shape[1])
    table = pd.DataFrame({"user": ids[0][rows], "item": ids[1][cols], "rating": values})
    found = model(settings).fit(table.iloc[order]).predict(ids[0][i.ravel()], ids[1][j.ravel()])
    np.testing.assert_array_equal(found, expected.ravel())


@law("models saved and loaded", 8, 3000, tables(), st.sampled_from(SETTINGS))
def test_a_loaded_model_predicts_the_same_bits(tmp_path_factory, X, settings) -> None:
    i, j = np.indices(X.shape)
    fitted = model(settings).fit(X)
    path = tmp_path_factory.mktemp("models") / "model.geco"
    fitted.save(path)
    for again in (load(path), load(path, mmap=True)):
        np.testing.assert_array_equal(again.predict(i, j), fitted.predict(i, j))
        np.testing.assert_array_equal(again.transform(X), fitted.transform(X))
        assert again.stop_reason_ is fitted.stop_reason_


@law("models on another engine", 8, 3000, tables(), st.sampled_from(SETTINGS))
def test_every_engine_gives_the_same_predictions(X, settings) -> None:
    i, j = np.indices(X.shape)
    expected = model(settings).fit(X).predict(i, j)
    size = np.nanmax(np.abs(X))
    for engine in ("fake", *(["cuda"] if count_gpus() else [])):
        found = model(settings, engine=engine).fit(X).predict(i, j)
        np.testing.assert_allclose(host(found), expected, rtol=0, atol=2e-3 * size)
