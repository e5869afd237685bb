"""What time adds, at cells and to lines."""

import numpy as np

from pygeco.bayes.drift import Drift, DriftMean, PeriodOffsets
from pygeco.bayes.periods import Periods
from pygeco.objectives.entries.biases import Biases

ROW = PeriodOffsets(
    Periods("row", 0.0, 10.0),
    np.array([0, 0, 2]),
    np.array([0, 3, 3]),
    np.array([1.0, 2.0, 4.0]),
    np.array([0.1, 0.2, 0.3]),
    0.5,
)
COLUMN = PeriodOffsets(
    Periods("column", 0.0, 20.0),
    np.array([1]),
    np.array([1]),
    np.array([16.0]),
    np.array([0.01]),
    0.25,
)
DRIFT = Drift((ROW, COLUMN), 35.0)


def test_pairs_that_were_not_seen_add_nothing_but_doubt():
    rows, cols = np.array([0, 0, 1, 2, -1]), np.array([1, 0, 1, -1, 1])
    found = DRIFT.look_up(rows, cols, np.array([5.0, 35.0, np.nan, 30.0, 39.0]))
    assert found.mean.tolist() == [1.0, 2.0, 0.0, 4.0, 16.0]
    assert np.allclose(found.variance, [0.35, 0.45, 0.75, 0.55, 0.51])


def test_without_a_time_it_is_the_last_and_at_one_time_it_is_an_offset_of_each_line():
    rows, cols = np.indices((3, 2))
    assert np.array_equal(DRIFT.look_up(rows, cols).mean, DRIFT.look_up(rows, cols, 35.0).mean)
    for time in (None, 5.0):
        biases = DRIFT.add_to_biases(Biases(0.0, np.zeros(3), np.zeros(2)), 2.0, time)
        whole = biases.row[:, None] + biases.col
        assert np.array_equal(whole, 2 * DRIFT.look_up(rows, cols, time).mean)


def test_the_transposed_and_the_widened_drift_say_the_same_of_the_same_cells():
    rows, cols = np.indices((3, 2))
    wanted = DRIFT.look_up(rows, cols)
    assert np.array_equal(DRIFT.T.look_up(cols, rows).mean, wanted.mean)
    places = np.array([1, 2, 5]), np.array([0, 3])
    wide = DRIFT.widen(*places)
    assert np.array_equal(wide.look_up(places[0][rows], places[1][cols]).mean, wanted.mean)
    assert wide.look_up(np.array([0]), np.array([1])).mean == 0.0


def test_the_mean_of_draws_has_all_their_variance():
    rng = np.random.default_rng(0)
    running, means = DriftMean(), rng.standard_normal((50, 3))
    assert running.result() is None
    for mean in means:
        running.add(Drift((ROW._replace(mean=mean),), 35.0))
    part = running.result().offsets[0]
    assert np.allclose(part.mean, means.mean(axis=0))
    assert np.allclose(part.variance, ROW.variance + means.var(axis=0))
    assert part.spread == 0.5
