"""Tables, files and checkpoints of a model that lives on a device."""

import numpy as np
import pandas as pd
import pytest

import pygeco
from fake_device import FakeArray
from pygeco import MatrixCompletion, RobustPCA, engines, evaluate
from pygeco.data import make_ratings
from pygeco.estimators import _checkpoint


@pytest.fixture(autouse=True)
def fake_engine(monkeypatch):
    monkeypatch.setitem(engines.ENGINE_MODULES, "fake", "fake_device")
    monkeypatch.setitem(engines.ENGINE_OF_PACKAGE, "fake_device", "fake")


def frame() -> pd.DataFrame:
    rows, cols, values, _ = make_ratings((60, 40), 900, rank=3)
    return pd.DataFrame({"user": [f"u{k:02d}" for k in rows], "item": cols, "rating": values})


@pytest.fixture(scope="module", params=["evidence", "path"])
def settings(request):
    plain = {} if request.param == "evidence" else {"penalty": None}
    return {"rank": 3, "random_state": 0} | plain


def test_tables_give_the_same_answers(settings) -> None:
    host = MatrixCompletion(**settings).fit(frame())
    other = MatrixCompletion(engine="fake", **settings).fit(frame())
    assert isinstance(other.factors_.U, FakeArray)
    asked = pd.concat([frame().head(20), pd.DataFrame({"user": ["new"], "item": [3]})])
    with_std = settings.get("penalty", "evidence") == "evidence"
    found, wanted = (model.predict(asked, return_std=with_std) for model in (other, host))
    np.testing.assert_allclose(found.prediction, wanted.prediction, rtol=1e-3)
    if with_std:
        np.testing.assert_allclose(found.deviation, wanted.deviation, rtol=1e-3)
    new = frame().assign(item=frame().item.to_numpy()[::-1])
    a, b = evaluate(other, new), evaluate(host, new)
    assert a.fitted == b.fitted > 0
    assert a.errors.rmse == pytest.approx(b.errors.rmse, rel=1e-3)
    np.testing.assert_array_equal(
        other.recommend(["u03"], 3).columns, host.recommend(["u03"], 3).columns
    )
    assert other.score(frame()) == pytest.approx(host.score(frame()), rel=1e-3)


def test_a_file_brings_the_model_to_the_host_and_back(settings, tmp_path) -> None:
    model = MatrixCompletion(engine="fake", **settings).fit(frame())
    model.save(tmp_path / "model")
    again = pygeco.load(tmp_path / "model")
    assert isinstance(again.factors_.U, np.ndarray)
    assert again.engine is None
    np.testing.assert_allclose(
        again.predict(frame()).prediction, model.predict(frame()).prediction, rtol=1e-5
    )
    assert isinstance(again.to("fake").factors_.U, FakeArray)
    assert again.row_ids_.tolist() == model.row_ids_.tolist()
    model.export(tmp_path / "f.npz")
    model.export(tmp_path / "f.parquet")


def test_robust_components_too(tmp_path) -> None:
    X = np.random.default_rng(0).standard_normal((30, 9))
    model = RobustPCA(2, engine="fake", random_state=0).fit(X)
    model.save(tmp_path / "model")
    assert isinstance(pygeco.load(tmp_path / "model").components_, np.ndarray)


@pytest.mark.parametrize("count", [1, 3])
def test_checkpoints_on_a_device(settings, count, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(_checkpoint, "MIN_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "MAX_WRITING_SHARE", 1e9)
    whole = MatrixCompletion(engine="fake", **settings).fit(frame())
    told: list[object] = []

    def stop(step: object) -> bool:
        told.append(step)
        return len(told) >= count

    part = MatrixCompletion(engine="fake", callback=stop, **settings)
    part.fit(frame(), checkpoint=tmp_path / "c")
    again = MatrixCompletion(engine="fake", **settings).fit(frame(), checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(again.factors_.U.get(), whole.factors_.U.get())
    assert again.n_iter_ == whole.n_iter_
