"""The evidence and then draws: the rank that was asked for, rounds of a robust loss, one step."""

import numpy as np
import pytest

from event_cases import Heard
from pygeco import Entries, MatrixCompletion, Stop
from pygeco.algorithm.events import PosteriorDraw, Sweep
from pygeco.data import make_ratings
from pygeco.estimators._evidence_fit import check_size_of_weights

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


@pytest.mark.parametrize("loss", ["squared", "huber", "ordinal"])
@pytest.mark.parametrize("weight", [1e4, 1e8, 1e30])
def test_weights_that_say_that_there_is_no_noise_are_refused(loss, weight) -> None:
    values = np.round(RATINGS.values) if loss == "ordinal" else RATINGS.values
    cells = (RATINGS.rows, RATINGS.cols, values, RATINGS.shape)
    with pytest.raises(ValueError, match=r"^sample_weight: weights are about 1e.*by their mean"):
        MatrixCompletion(loss=loss).fit(cells, sample_weight=np.full(len(values), weight))


def test_weights_of_another_size_are_told_of() -> None:
    count = len(RATINGS.values)
    ones, some = np.ones(count), np.random.default_rng(0).uniform(0.2, 3, count)
    for weights in (ones, 2 * ones, some, np.where(np.arange(count) % 9, 1e-9, 1.0)):
        check_size_of_weights(Entries(*RATINGS, sample_weight=weights))
    for weights in (10 * ones, 0.01 * ones, np.where(np.arange(count) == 9, 50.0, 1e-3)):
        with pytest.warns(UserWarning, match="divide the weights by their mean"):
            check_size_of_weights(Entries(*RATINGS, sample_weight=weights))
