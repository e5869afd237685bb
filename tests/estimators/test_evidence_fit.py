"""The evidence and then draws: the rank that was asked for, rounds of a robust loss, one step."""

import numpy as np
import pytest

from event_cases import Heard
from pygeco import Entries, MatrixCompletion, Stop, load
from pygeco.algorithm.events import PosteriorDraw, Sweep
from pygeco.data import make_ratings
from pygeco.estimators._evidence_fit import even_weights

RATINGS = make_ratings((80, 50), 1500, rank=2, noise=0.2, random_state=0)


def fit(**settings):
    heard = Heard()
    return MatrixCompletion(random_state=0, observer=heard, **settings).fit(RATINGS), heard


def test_the_path_is_one_step_at_the_model_with_its_certificate() -> None:
    model, heard = fit()
    (step,) = model.path_
    assert step.rank == model.rank_
    full = model.decision_function(RATINGS.rows, RATINGS.cols)
    assert step.objective == pytest.approx(np.mean((full - RATINGS.values) ** 2), rel=1e-4)
    assert model.n_iter_ == len(heard.events)
    assert {type(event) for event in heard.events} == {Sweep}


def test_draws_keep_to_the_rank_and_their_mean_is_the_model() -> None:
    model, heard = fit(rank=2, posterior=3)
    assert model.rank_ <= 2
    assert model.average_.sweeps == 3
    last = heard.events[-1]
    assert isinstance(last, PosteriorDraw)
    assert last.done == last.total
    np.testing.assert_allclose(model.factors_.s, model.average_.factors.s, rtol=1e-5)


def test_a_listener_that_stops_gets_no_draws() -> None:
    heard = Heard(stop_at=2)
    model = MatrixCompletion(2, posterior=5, random_state=0, observer=heard).fit(RATINGS)
    assert model.stop_reason_ is Stop.CALLBACK
    assert model.average_ is None
    assert len(heard.events) == 2


def test_a_robust_loss_is_settled_by_the_residuals_of_the_model() -> None:
    model, _ = fit(loss="huber", rank=2)
    assert model.loss_.delta > 0
    assert model.posterior_.weighing.loss == model.loss_
    off = np.abs(model.decision_function(RATINGS.rows, RATINGS.cols) - RATINGS.values)
    assert 0.5 < model.loss_.delta / (1.345 * 1.4826 * np.median(off)) < 3


WEIGHTS = np.random.default_rng(1).uniform(0.2, 3, len(RATINGS.values))
NEW = (np.array([3, 80, 81]), np.array([7, 2, 50]), np.array([1.0, 1.0, 1.0]), (82, 51))


@pytest.mark.parametrize("factor", [2.0, 1e-9, 1e8, 1e30])
@pytest.mark.parametrize(
    "settings",
    [{}, {"posterior": 2}, {"loss": "huber"}, {"loss": "ordinal"}, {"loss": "logistic"}],
    ids=str,
)
def test_only_the_ratios_of_weights_count(settings, factor) -> None:
    """In the fit, in what the model makes of new rows, and in cells that it takes in."""
    values = RATINGS.values
    if settings.get("loss") == "ordinal":
        values = np.clip(np.round(values), 1, 5)
    elif settings.get("loss") == "logistic":
        values = (values > np.median(values)).astype(float)
    cells = (RATINGS.rows, RATINGS.cols, values, RATINGS.shape)
    rows = np.full((2, 50), np.nan)
    rows[0, 4:9], rows[1, ::7] = 1.0, 1.0
    found = []
    for size in (1.0, factor):
        model = MatrixCompletion(**settings, random_state=0)
        model.fit(cells, sample_weight=size * WEIGHTS)
        new = model.transform(rows)
        model.partial_fit(NEW, sample_weight=size * np.array([1.0, 2.0, 0.5]))
        found.append([model.rank_, model.decision_function(*NEW[:2]), new])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)


def test_equal_weights_are_none() -> None:
    plain, weighted = MatrixCompletion(random_state=0), MatrixCompletion(random_state=0)
    plain.fit(RATINGS)
    weighted.fit(RATINGS, sample_weight=np.full(len(RATINGS.values), 40.0))
    assert weighted.rank_ == plain.rank_
    for model in (plain, weighted):
        model.partial_fit(NEW)  # without weights: each is a cell like any other
    np.testing.assert_allclose(
        weighted.decision_function(*NEW[:2]), plain.decision_function(*NEW[:2]), rtol=1e-5
    )


def test_cells_next_to_zero_weight_are_as_good_as_none() -> None:
    """Half of the cells are nonsense, which weights say."""
    nonsense = np.arange(len(RATINGS.values)) % 2 == 0
    values = np.where(nonsense, 50.0, RATINGS.values)
    found = []
    for least in (0.0, 1e-12):
        model = MatrixCompletion(random_state=0)
        model.fit(RATINGS._replace(values=values), sample_weight=np.where(nonsense, least, 7.0))
        found.append(model.decision_function(RATINGS.rows, RATINGS.cols))
    assert np.ptp(found[0]) > 1
    np.testing.assert_allclose(found[1], found[0], rtol=0.02, atol=0.02)


@pytest.mark.parametrize("heavy", [1.0, 30.0, 1e4])
def test_weights_are_as_many_cells_as_their_roots_say(heavy) -> None:
    w = np.append(np.ones(len(RATINGS.values) - 1), heavy)
    entries, unit = even_weights(Entries(*RATINGS, sample_weight=w))
    total = np.sqrt(w).sum() ** 2 / w.sum()
    assert entries.total_weight == pytest.approx(total, rel=1e-6)
    assert entries.weights.sum() == pytest.approx(total, rel=1e-5)
    assert entries.by_col.weights.sum() == pytest.approx(total, rel=1e-5)
    assert unit == pytest.approx(total / w.sum(), rel=1e-6)


def test_a_saved_model_knows_the_unit_of_its_weights(tmp_path) -> None:
    model = MatrixCompletion(random_state=0).fit(RATINGS, sample_weight=1e3 * WEIGHTS)
    model.save(tmp_path / "model.npz")
    other = load(tmp_path / "model.npz")
    for each in (model, other):
        each.partial_fit(NEW, sample_weight=np.full(3, 1e3))
    one, two = (each.decision_function(*NEW[:2]) for each in (model, other))
    np.testing.assert_array_equal(one, two)
