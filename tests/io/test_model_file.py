"""Models in files: every estimator comes back with the same answers; nothing is run."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import pygeco
from pygeco import (
    Attributes,
    ImplicitCompletion,
    LowRankClassifier,
    LowRankImputer,
    MatrixCompletion,
    ModelFileError,
    QuadraticClassifier,
    QuadraticRegressor,
    ReducedRankRegressor,
    Ridge,
    RobustPCA,
    Solver,
    Trace,
    losses,
)
from pygeco.arrays import container
from pygeco.data import make_ratings
from pygeco.estimators import describe
from pygeco.io import model_file as modelfile

GOLDEN = Path(__file__).parents[1] / "golden" / "completion-1.geco"
RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 7))
LABELS = np.array(["low", "middle", "high"])[np.digitize(X[:, 0], [-0.5, 0.5])]
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)


def ratings(dtype=np.float64):
    return make_ratings((50, 40), 700, dtype=dtype)


def completion(**settings) -> MatrixCompletion:
    model = MatrixCompletion(random_state=0, **settings)
    labels = settings.get("loss") == "logistic"
    rows, cols, values, shape = ratings()
    return model.fit((rows, cols, (values > 3.5).astype(float) if labels else values, shape))


def answers(model, cells) -> list:
    found = [model.predict(*cells), model.transform(np.full((3, 40), 1.0)), model.to_dense()]
    found += [*model.recommend([0, 3], 5), *model.similar([1], 4), model.path_[-1].A.to_dense()]
    if model.posterior_ is not None:
        found += [*model.predict(*cells, return_std=True), *model.explain(2, 3)[:2]]
    return found


CASES = {
    "evidence": {},
    "posterior": {"posterior": 4},
    "path": {"rank": 3, "penalty": Ridge(1e-4), "biases": True},
    "paper": {"rank": 3, "solver": Solver.paper(), "clip": True},
    "trace": {"rank": 4, "penalty": Trace(1e-3, 0.5), "solver": Solver(correction="sweep")},
    "huber": {"rank": 2, "loss": "huber"},
    "logistic": {"rank": 2, "loss": "logistic"},
    "ordinal": {"rank": 2, "loss": "ordinal"},
    "quantile": {"rank": 2, "loss": losses.Quantile(0.9)},
}


@pytest.mark.parametrize("name", list(CASES))
def test_completion_comes_back(name, tmp_path) -> None:
    model = completion(**CASES[name])
    assert model.save(tmp_path / "model") is model
    cells = ratings().rows, ratings().cols
    wanted = answers(model, cells)
    for mmap in (False, True):
        again = pygeco.load(tmp_path / "model", mmap=mmap)
        for before, after in zip(wanted, answers(again, cells), strict=True):
            np.testing.assert_array_equal(after, before)
        assert again.get_params() == model.get_params()
        assert repr(again.path_) == repr(model.path_)
        assert again.stop_reason_ is model.stop_reason_
    again.fit(ratings() if name != "logistic" else sp.csr_array(np.eye(9)))


OTHERS = [
    (LowRankImputer(2, random_state=0), (HOLES,), "transform"),
    (LowRankClassifier(2, random_state=0), (X, LABELS), "predict_proba"),
    (LowRankClassifier(2, random_state=0), (X, LABELS), "predict"),
    (LowRankClassifier(2, random_state=0), (X, LABELS.astype(object)), "predict"),
    (LowRankClassifier(class_weight={0: 2.0}, random_state=0), (X, LABELS == "low"), "predict"),
    (ReducedRankRegressor(1, random_state=0), (X, X[:, :3]), "predict"),
    (ReducedRankRegressor(1, loss="huber", random_state=0), (X, X[:, 0]), "predict"),
    (QuadraticClassifier(2, random_state=0), (X, LABELS), "predict"),
    (QuadraticRegressor(2, random_state=0), (X, X[:, 0] ** 2), "predict"),
    (QuadraticRegressor(2, alpha="auto", random_state=0), (X, X[:, 0] ** 2), "predict"),
    (RobustPCA(2, random_state=0), (X[:, :3] @ X[:3] + 9 * (X > 2),), "transform"),
    (ImplicitCompletion(2, random_state=0), ((X > 0).astype(float),), "transform"),
    (Attributes(), (HOLES,), "transform"),
]


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("at", range(len(OTHERS)))
def test_every_estimator_comes_back(at, mmap, tmp_path) -> None:
    model, data, method = OTHERS[at]
    model.fit(*data)
    model.save(tmp_path / "model")
    again = pygeco.load(tmp_path / "model", mmap=mmap)
    assert type(again) is type(model)
    before, after = (getattr(m, method)(data[0]) for m in (model, again))
    before, after = (it.toarray() if sp.issparse(it) else it for it in (before, after))
    np.testing.assert_array_equal(after, before)
    assert after.dtype == before.dtype
    assert set(vars(again)) == set(vars(model))
    assert getattr(again, "choice_", None) == getattr(model, "choice_", None)
    if isinstance(model, RobustPCA):
        assert (again.outliers_ != model.outliers_).nnz == 0
        np.testing.assert_array_equal(again.outlier_mask_, model.outlier_mask_)


def test_every_estimator_of_the_package_is_saveable() -> None:
    offered = ((name, getattr(pygeco.estimators, name)) for name in pygeco.estimators.__all__)
    public = {
        name for name, it in offered if isinstance(it, type) and issubclass(it, BaseEstimator)
    }
    assert {type(model).__name__ for model, _, _ in OTHERS} | {"MatrixCompletion"} == public


def test_an_older_file_loads() -> None:
    """The file was written by the first format; what it must answer stands beside it."""
    wanted = json.loads(GOLDEN.with_suffix(".json").read_text())
    model = pygeco.load(GOLDEN)
    np.testing.assert_allclose(
        model.predict(wanted["rows"], wanted["cols"]), wanted["values"], rtol=1e-5
    )
    assert model.recommend(wanted["rows"][0], 3).columns.tolist() == wanted["best"]
    assert describe(GOLDEN)["model"] == "MatrixCompletion"


@pytest.mark.parametrize("threshold", [0.25, None, -1.0])
def test_one_threshold_for_all_columns_loads_as_it_did(threshold, tmp_path) -> None:
    """An earlier RobustPCA had one for all columns, and no such setting."""
    model = RobustPCA(2, random_state=0).fit(X).save(tmp_path / "model")
    tree, arrays = container.read(tmp_path / "model")
    if threshold is None:  # one a column, of which the first makes no sense
        at = tree["fitted"]["threshold_"]["is"]
        arrays = [*arrays[:at], -arrays[at], *arrays[at + 1 :]]
    else:
        tree["fitted"]["threshold_"] = threshold
    del tree["settings"]["threshold"]
    container.write(tmp_path / "old", tree, arrays)
    if threshold != 0.25:
        with pytest.raises(ModelFileError, match="threshold_"):
            pygeco.load(tmp_path / "old")
        return
    old = pygeco.load(tmp_path / "old")
    assert (old.threshold, old.threshold_) == ("auto", 0.25)
    np.testing.assert_array_equal(old.transform(X), model.transform(X))
    assert pygeco.load(old.save(tmp_path / "again") and tmp_path / "again").threshold_ == 0.25


def test_functions_are_not_kept(tmp_path) -> None:
    own = losses.Custom(lambda z, y: (z - y) ** 2, lambda z, y: 2 * (z - y))
    with pytest.raises(
        TypeError, match="loss: a loss of your own is kept by its module and name; define this one"
    ):
        completion(rank=1, loss=own).save(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    seen: list[object] = []
    watched = completion(callback=seen.append)
    watched.save(tmp_path / "model")
    assert pygeco.load(tmp_path / "model").callback is None


def test_what_cannot_be_saved(tmp_path) -> None:
    with pytest.raises(ValueError, match="is not fitted"):
        MatrixCompletion().save(tmp_path / "model")

    class Own(MatrixCompletion):
        pass

    with pytest.raises(TypeError, match="only pygeco's own estimators"):
        Own(random_state=0).fit(ratings()).save(tmp_path / "model")
    with pytest.raises(FileNotFoundError):
        completion(rank=1).save(tmp_path / "no" / "folder")


class Trap:
    def __reduce__(self):
        return os._exit, (1,)


def test_a_pickle_is_foreign(tmp_path) -> None:
    (tmp_path / "model").write_bytes(pickle.dumps(Trap()) * 20)
    with pytest.raises(ModelFileError, match="is not a pygeco file"):
        pygeco.load(tmp_path / "model")
    with pytest.raises(FileNotFoundError):
        pygeco.load(tmp_path / "nothing")


def nested(depth: int):
    value = 1
    for _ in range(depth):
        value = {"$": "tuple", "is": [value]}
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"model": "os.system"},
        {"model": "LowRank"},
        {"model": None},
        {"settings": {"nothing": 1}},
        {"settings": 3},
        {"settings": {"rank": {"$": "os.system", "is": {"command": "true"}}}},
        {"settings": {"rank": {"$": "Solver", "is": {"replacements": -1}}}},
        {"settings": {"rank": {"is": 1}}},
        {"fitted": {"x": {"$": "array", "is": 10**6}}},
        {"fitted": {"x": {"$": "array", "is": "0"}}},
        {"fitted": {"x": {"$": "LowRank", "is": {"U": 1}}}},
        {"fitted": {"x": {"$": "Stop", "is": "NEVER"}}},
        {"fitted": {"x": {"$": "float", "is": "x"}}},
        {"fitted": {"x": {"$": "csr", "is": [{"$": "array", "is": 0}] * 3, "shape": [2, 2]}}},
        {"fitted": {"x": {"$": ["tuple"], "is": []}}},
        {"fitted": {"x": nested(450)}},
    ],
)
def test_descriptions_that_lie(change, tmp_path) -> None:
    completion(rank=1, penalty=None).save(tmp_path / "model")
    contents = container.read(tmp_path / "model")
    container.write(tmp_path / "model", contents.tree | change, contents.arrays)
    with pytest.raises(ModelFileError) as caught:
        pygeco.load(tmp_path / "model")
    assert str(tmp_path / "model") in str(caught.value)


def test_text_must_be_in_order(tmp_path) -> None:
    ends, raw = np.array([3, 1]), np.frombuffer(b"abcd", np.uint8)
    for first in (ends, np.array([9, 9])):
        text = {"$": "text", "is": [{"$": "array", "is": 0}, {"$": "array", "is": 1}]}
        container.write(
            tmp_path / "file", {"record": text | {"shape": [2], "kind": "|O"}}, [first, raw]
        )
        with pytest.raises(ModelFileError, match="out of order"):
            modelfile.load_record(tmp_path / "file")


def test_values_of_every_kind(tmp_path) -> None:
    value = {
        "texts": np.array(["", "ä", "日本 語", "b" * 300], dtype=object).reshape(2, 2),
        "fixed": np.array(["x", "yy"]),
        "numbers": (float("nan"), float("inf"), 1e-300, 2**80, True, None, np.float32(0.1)),
        "list": [np.int64(3), [], ()],
        "sparse": sp.coo_array(([1.0], ([0], [1])), shape=(2, 3)),
    }
    modelfile.save_record(value, tmp_path / "file")
    found = modelfile.load_record(tmp_path / "file")
    assert found["texts"].tolist() == value["texts"].tolist()
    assert found["texts"].dtype == object
    assert found["fixed"].dtype == value["fixed"].dtype
    assert repr(found["numbers"][:2]) == "(nan, inf)"
    assert found["numbers"][2:6] == value["numbers"][2:6]
    assert found["numbers"][6] == value["numbers"][6]
    assert found["list"] == [3, [], ()]
    assert (found["sparse"] != value["sparse"]).nnz == 0


def test_mapped_models_do_not_write_to_the_file(tmp_path) -> None:
    completion(rank=2).save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    model = pygeco.load(tmp_path / "model", mmap=True)
    model.factors_.U[:] = 7.0
    assert (tmp_path / "model").read_bytes() == before


def test_a_loaded_model_is_fitted_and_pickles(tmp_path) -> None:
    model = completion(rank=2)
    model.save(tmp_path / "model")
    again = pickle.loads(pickle.dumps(pygeco.load(tmp_path / "model", mmap=True)))
    np.testing.assert_array_equal(again.to_dense(), model.to_dense())
    check_is_fitted(again)
    with pytest.raises(NotFittedError):
        check_is_fitted(MatrixCompletion())
