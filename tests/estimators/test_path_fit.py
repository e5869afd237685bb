"""A rank chosen by held-out cells: the one where they are predicted best."""

import numpy as np
import pytest

from event_cases import Heard
from pygeco import Entries, MatrixCompletion, Ridge, Stop, minimize
from pygeco.algorithm.events import Trial
from pygeco.data import make_ratings
from pygeco.estimators._path_fit import PATIENCE

RATINGS = make_ratings((80, 50), 1500, rank=2, noise=0.1, random_state=0)


def fit(**settings):
    heard = Heard()
    given = {"penalty": Ridge(1e-4), "biases": False, "random_state": 0, "observer": heard}
    return MatrixCompletion(**given | settings).fit(RATINGS), heard


def test_the_rank_is_that_of_the_best_trial_and_the_fit_is_of_all_cells() -> None:
    model, heard = fit()
    trials = [event for event in heard.events if isinstance(event, Trial)]
    best = min(trials, key=lambda trial: trial.loss)
    assert model.rank_ == best.rank
    assert trials[-1].rank - best.rank == PATIENCE
    assert model.stop_reason_ is Stop.VALIDATION
    plain = minimize(
        Entries(*RATINGS[:3], RATINGS.shape), best.rank, penalty=Ridge(1e-4), random_state=0
    )
    np.testing.assert_allclose(model.factors_.s, plain.A.svd().s)


def test_without_refit_the_model_is_the_one_that_chose() -> None:
    model, heard = fit(refit=False)
    assert all(isinstance(event, Trial) for event in heard.events)
    whole, _ = fit()
    assert model.rank_ == whole.rank_
    assert not np.allclose(model.factors_.s, whole.factors_.s)


@pytest.mark.parametrize("rank", [1, 3])
def test_a_rank_that_is_given_needs_no_trial(rank) -> None:
    model, heard = fit(rank=rank)
    assert not any(isinstance(event, Trial) for event in heard.events)
    assert [step.rank for step in model.path_] == list(range(1, rank + 1))
