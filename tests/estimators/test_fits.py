"""Every way to fit tells the same listeners: one start, what it does, one stop."""

import numpy as np
import pytest

from event_cases import Heard
from pygeco import MatrixCompletion, Ridge, Solver, Stop
from pygeco.algorithm.events import (
    PosteriorDraw,
    Sweep,
    Trial,
)
from pygeco.algorithm.path import Step
from pygeco.data import make_ratings

WAYS = {
    "evidence": ({}, {Sweep}),
    "robust evidence": ({"loss": "huber", "rank": 3}, {Sweep}),
    "draws": ({"posterior": 3, "rank": 3}, {Sweep, PosteriorDraw}),
    "path": ({"rank": 3, "penalty": None}, {Step}),
    "rank by trial": ({"penalty": Ridge(1e-4)}, {Trial, Step}),
    "rank by trial alone": ({"penalty": Ridge(1e-4), "refit": False}, {Trial}),
    "paper": ({"rank": 2, "solver": Solver.paper()}, {Step}),
}


@pytest.fixture(scope="module")
def ratings():
    return make_ratings((60, 50), 1500, noise=0.2, rank=2, random_state=1)


@pytest.mark.parametrize("way", list(WAYS))
def test_an_observer_hears_what_the_callback_hears_between_start_and_stop(way, ratings) -> None:
    settings, kinds = WAYS[way]
    told, heard = [], Heard()
    model = MatrixCompletion(callback=told.append, observer=heard, random_state=0, **settings)
    model.fit(ratings)
    assert len(heard.starts) == 1
    assert heard.stops == [model.stop_reason_]
    assert {type(event) for event in heard.events} == kinds
    assert [id(event) for event in told] == [id(event) for event in heard.events]
    assert heard.starts[0] >= max(getattr(event, "rank", 0) for event in told)


@pytest.mark.parametrize("way", list(WAYS))
def test_an_observer_stops_a_fit_as_a_callback_does(way, ratings) -> None:
    settings, _ = WAYS[way]
    observer, by_callback = Heard(stop_at=1), Heard(stop_at=1)
    watched = MatrixCompletion(observer=observer, random_state=0, **settings).fit(ratings)
    called = MatrixCompletion(
        callback=lambda event: by_callback.starts.append(1) or by_callback.note(event),
        random_state=0,
        **settings,
    ).fit(ratings)
    assert watched.stop_reason_ is called.stop_reason_ is Stop.CALLBACK
    assert observer.stops == [Stop.CALLBACK]
    assert len(observer.events) == len(by_callback.events) == 1
    np.testing.assert_array_equal(watched.to_dense(), called.to_dense())


def test_sweeps_are_counted_on_over_the_rounds_of_a_robust_loss(ratings) -> None:
    heard = Heard()
    model = MatrixCompletion(3, loss="huber", observer=heard, random_state=0).fit(ratings)
    assert [event.sweeps for event in heard.events] == list(range(1, model.n_iter_ + 1))


def test_what_is_no_listener_is_refused_before_the_fit(ratings) -> None:
    class Half:
        def on_step(self, step) -> None: ...

    with pytest.raises(
        ValueError, match=r"^observer: .* lacks .*; derive its class from pygeco\.L"
    ):
        MatrixCompletion(observer=Half()).fit(ratings)
