"""A fit that fails or is interrupted changes nothing of an estimator, whatever the estimator."""

import copy

import numpy as np
import pyarrow as pa
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import pygeco
from interrupting import Fuse, Interrupted
from pygeco import MatrixCompletion, Ridge

RNG = np.random.default_rng(4)
X = RNG.standard_normal((40, 6))
TABLE = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
CLASSES = np.arange(40) % 3


def ratings(first, users=30, items=20):
    """A table of ratings whose ids begin with `first`."""
    rows, cols = np.nonzero(RNG.random((users, items)) < 0.5)
    user = [f"{first}{i:03}" for i in rows]
    return pa.table({"user": user, "item": cols, "rating": RNG.standard_normal(len(rows))})


ESTIMATORS = {
    "MatrixCompletion": (lambda: MatrixCompletion(random_state=0), (TABLE,)),
    "posterior": (lambda: MatrixCompletion(posterior=3, random_state=0), (TABLE,)),
    "ids": (lambda: MatrixCompletion(random_state=0), (ratings("a"),)),
    "path": (lambda: MatrixCompletion(3, penalty=Ridge(1e-3), random_state=0), (TABLE,)),
    "huber": (lambda: MatrixCompletion(2, loss="huber", random_state=0), (TABLE,)),
    "RobustPCA": (lambda: pygeco.RobustPCA(2, random_state=0), (TABLE,)),
    "LowRankImputer": (lambda: pygeco.LowRankImputer(random_state=0), (TABLE,)),
    "LowRankClassifier": (lambda: pygeco.LowRankClassifier(1, random_state=0), (X, CLASSES)),
    "ReducedRankRegressor": (lambda: pygeco.ReducedRankRegressor(1, random_state=0), (X, X[:, :3])),
    "QuadraticClassifier": (lambda: pygeco.QuadraticClassifier(1, random_state=0), (X, CLASSES)),
    "QuadraticRegressor": (lambda: pygeco.QuadraticRegressor(1, random_state=0), (X, X[:, 0])),
}


def state(model):
    return dict(vars(model))


def changes(one, other):
    """The names of what differs."""
    nothing = object()
    return {name for name in one | other if one.get(name, nothing) is not other.get(name, nothing)}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interrupted_fit_changes_nothing(name) -> None:
    make, data = ESTIMATORS[name]
    model, fresh = make().fit(*data), make()
    before, unfitted = state(model), state(fresh)
    other = tuple(part[:30] for part in data)  # of another shape
    make().fit(*other)
    with Fuse() as fuse:
        make().fit(*other)
    for share in (0.01, 0.15, 0.3, 0.45, 0.9):
        for estimator, kept in ((model, before), (fresh, unfitted)):
            with pytest.raises(Interrupted), Fuse(at=max(2, int(share * fuse.calls))):
                estimator.fit(*other)
            assert not changes(state(estimator), kept)
    with pytest.raises(NotFittedError):
        check_is_fitted(fresh)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_failed_fit_changes_nothing(name) -> None:
    make, data = ESTIMATORS[name]
    model = make().fit(*data)
    before = state(model)
    wrong = "rank" if "rank" in model.get_params() else "n_components"
    model.set_params(**{wrong: -1})
    with pytest.raises(ValueError, match=wrong):
        model.fit(*(part[:20] for part in data))
    assert not changes(state(model), before | {wrong: -1})


def test_ids_and_factors_never_part(tmp_path) -> None:
    model = MatrixCompletion(2, random_state=0).fit(ratings("a"))
    before = model.predict(["a000"], [0])

    def interrupt(sweep):
        raise KeyboardInterrupt

    model.set_params(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(ratings("b", users=25))
    assert model.row_ids_[0] == "a000"
    assert model.predict(["a000"], [0]) == before
    model.save(tmp_path / "m")
    assert pygeco.load(tmp_path / "m").predict(["a000"], [0]) == before


@pytest.mark.parametrize("penalty", ["evidence", None])
def test_a_model_answers_while_it_is_fitted_anew(penalty) -> None:
    model = MatrixCompletion(2, penalty=penalty, random_state=0).fit(ratings("a"))
    before, answers = model.predict(["a000", "a029"], [0, 3]), []
    model.set_params(callback=lambda told: answers.append(model.predict(["a000", "a029"], [0, 3])))
    model.fit(ratings("b"))
    assert answers
    assert all(np.array_equal(answer, before) for answer in answers)
    assert model.row_ids_[0] == "b000"


def test_a_callback_is_shown_the_model_in_the_making() -> None:
    class Listener:
        def on_model(self, model):
            self.ids, self.offsets = model.row_ids_, model.biases_

        def __call__(self, step):
            pass

    heard = Listener()
    model = MatrixCompletion(2, penalty=None, biases=True, callback=heard).fit(ratings("a"))
    assert heard.ids is model.row_ids_
    assert heard.offsets is model.biases_


def test_an_interrupted_update_changes_nothing() -> None:
    model = MatrixCompletion(2, random_state=0).fit(ratings("a"))
    before, new = state(model), ratings("b")
    with Fuse() as fuse:
        copy.copy(model).partial_fit(new)
    for at in range(2, fuse.calls, fuse.calls // 9):
        with pytest.raises(Interrupted), Fuse(at):
            model.partial_fit(new)
        assert not changes(state(model), before)
