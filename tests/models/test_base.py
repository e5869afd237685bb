"""Fitted models: frozen values that answer for positions, one protocol here and on a cluster."""

import inspect
import re
from dataclasses import FrozenInstanceError, replace
from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

import pygeco.models
from pygeco import MatrixCompletion, Ridge
from pygeco.arrays.kinds import HOST
from pygeco.data import make_ratings
from pygeco.models import ClusterModel, CompletionModel, FittedModel
from pygeco.models.ranking import ListFilters
from pygeco.objectives import Entries

SHAPE = (60, 40)
RATINGS = make_ratings(SHAPE, 900)
CELLS = (RATINGS.rows, RATINGS.cols, RATINGS.values, SHAPE)
SETTINGS = [{}, {"penalty": Ridge(1e-3), "biases": True}, {"posterior": 2}]


@pytest.fixture(scope="module", params=SETTINGS, ids=["evidence", "ridge", "draws"])
def estimator(request) -> MatrixCompletion:
    return MatrixCompletion(2, random_state=0, **request.param).fit(CELLS)


def test_no_signature_is_left_untyped() -> None:
    for module in iter_modules(pygeco.models.__path__, "pygeco.models."):
        inside = inspect.getmembers(import_module(module.name))
        own = [it for _, it in inside if getattr(it, "__module__", "") == module.name]
        kinds = [it for it in own if inspect.isclass(it)]
        functions = [it for it in own if inspect.isfunction(it)]
        for kind in kinds:
            functions += [it for it in vars(kind).values() if inspect.isfunction(it)]
        for function in functions:
            if function.__module__ == module.name:
                hints = " ".join(map(str, function.__annotations__.values()))
                assert not re.search(r"\bAny\b", hints), (module.name, function.__qualname__)


def test_both_kinds_of_model_answer_the_whole_protocol() -> None:
    for kind in (CompletionModel, ClusterModel):
        assert not kind.__abstractmethods__
        for name in FittedModel.__abstractmethods__:
            asked, own = getattr(FittedModel, name), getattr(kind, name)
            if not isinstance(asked, property):
                names = [list(inspect.signature(it).parameters) for it in (asked, own)]
                assert names[0] == names[1]


def test_a_model_is_frozen(estimator) -> None:
    with pytest.raises(FrozenInstanceError):
        estimator.model_.factors = None


def test_answers_are_those_of_the_dense_matrix(estimator) -> None:
    model = replace(estimator.model_, clips=False)
    dense = model.to_dense()
    rows, cols = np.arange(60)[:, None], np.arange(40)
    np.testing.assert_allclose(model.predict(rows, cols), dense, rtol=1e-5)
    average = model.predict(np.full(40, -1), np.arange(40))
    np.testing.assert_allclose(average, dense.mean(axis=0), rtol=1e-5)
    hidden = dense.copy()
    hidden[RATINGS.rows, RATINGS.cols] = -np.inf
    allowed = np.arange(40) % 3 > 0
    best = model.best(np.arange(60), 4, ListFilters(allowed))
    wanted = np.sort(np.where(allowed, hidden, -np.inf), axis=1)[:, ::-1][:, :4]
    np.testing.assert_allclose(best.scores, wanted, rtol=1e-5)
    assert model.was_fitted(RATINGS.rows, RATINGS.cols).all()
    assert model.count_contradictions(RATINGS.rows, RATINGS.cols, RATINGS.values + 1) == 900


def test_new_cells_make_another_model(estimator) -> None:
    model = estimator.model_
    before = model.to_dense()
    new = Entries([0, 60], [1, 40], [5.0, 2.0], (61, 41)).with_loss(model.loss)
    places = np.arange(60), np.arange(40)
    after = model.update(new, places)
    assert after.shape == (61, 41)
    assert after.was_fitted(np.array([60]), np.array([40])).all()
    np.testing.assert_array_equal(model.to_dense(), before)


def test_clip_counts_at_once_and_auto_comes_back(estimator) -> None:
    model = MatrixCompletion(2, penalty=None, random_state=0).fit(CELLS)
    auto = model.clip_
    assert not model.set_params(clip=False).clip_
    assert model.set_params(clip=True).clip_
    assert model.set_params(clip="auto").clip_ == auto


def test_a_move_that_fails_leaves_all_where_it_was(monkeypatch) -> None:
    model = MatrixCompletion(2, penalty=None, random_state=0).fit(CELLS)
    before = dict(vars(model))

    def fail(self, like):
        raise MemoryError

    monkeypatch.setattr(CompletionModel, "move_to", fail)
    with pytest.raises(MemoryError):
        model.to("cpu")
    assert all(vars(model)[name] is value for name, value in before.items())


def test_the_model_of_a_slab_answers_for_the_average_row(estimator) -> None:
    model = estimator.model_
    n = np.arange(40)
    U = np.vstack([model.factors.U, model.factors.U.mean(axis=0)])
    row = np.append(model.biases.row, model.biases.row.mean())
    slab = replace(
        model,
        factors=replace(model.factors, U=U),
        biases=replace(model.biases, row=row),
        average_row=60,
    )
    np.testing.assert_allclose(
        slab.linear(np.full(40, -1), n), model.linear(np.full(40, -1), n), rtol=1e-6
    )
    assert model.move_to(HOST).row_models()[0].shape == SHAPE
