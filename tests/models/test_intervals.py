"""Intervals hold as many new observations as they say, whatever the shape of the noise."""

import numpy as np
import pytest
from scipy import stats

from pygeco import MatrixCompletion, Ridge, diagnostics
from pygeco.models.intervals import widen_for_degrees

SHAPE = (160, 120)
NOISES = {
    "gaussian": lambda rng: rng.standard_normal(SHAPE),
    "laplace": lambda rng: rng.laplace(size=SHAPE) / 2**0.5,
    "student": lambda rng: rng.standard_t(3, SHAPE) / 3**0.5,
    "uniform": lambda rng: rng.uniform(-(3**0.5), 3**0.5, SHAPE),
    "skewed": lambda rng: rng.exponential(size=SHAPE) - 1,
    "two bumps": lambda rng: rng.choice([-1.0, 1.0], SHAPE) + 0.2 * rng.standard_normal(SHAPE),
}


def make_cells(name):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((SHAPE[0], 2)) @ rng.standard_normal((2, SHAPE[1]))
    Y = 5 + A + 0.7 * NOISES[name](rng)
    known = rng.random(SHAPE) < 0.5
    return (*np.nonzero(known), Y[known], SHAPE), (*np.nonzero(~known), Y[~known])


@pytest.mark.parametrize("name", NOISES)
def test_nine_in_ten_lie_within(name) -> None:
    fitted, (rows, cols, values) = make_cells(name)
    model = MatrixCompletion(random_state=0, pattern=False).fit(fitted)
    low, high = model.predict_interval(rows, cols, 0.9)
    assert 0.88 <= np.mean((low <= values) & (values <= high)) <= 0.92
    # On each side as many lie without.
    assert 0.035 < np.mean(values < low) < 0.065


@pytest.mark.parametrize("draws", [1, 2, 5, 24])
@pytest.mark.parametrize("cells", [4, 20])
def test_nine_in_ten_lie_within_where_rows_have_few_cells(cells, draws) -> None:
    """There a fit leaves little of the noise, and few draws say little of their spread."""
    shares, pulls = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((SHAPE[0], 2)) @ rng.standard_normal((2, SHAPE[1]))
        Y = A + rng.standard_normal(SHAPE[1]) + 0.7 * rng.standard_normal(SHAPE)
        known = rng.random(SHAPE) < cells / SHAPE[1]
        model = MatrixCompletion(posterior=draws, pattern=False, random_state=seed, clip=False)
        model.fit((*np.nonzero(known), Y[known], SHAPE))
        low, high = model.predict_interval(*np.nonzero(~known), 0.9)
        shares.append(np.mean((low <= Y[~known]) & (Y[~known] <= high)))
        judged = diagnostics.judge(model, (*np.nonzero(~known), Y[~known], SHAPE))
        pulls.append(np.mean((judged.residuals / judged.deviation) ** 2))
    assert 0.86 < np.mean(shares) < 0.94
    if draws > 4:
        assert 0.8 < np.mean(pulls) < 1.3


def test_few_draws_widen_as_student_says() -> None:
    for level in (0.7, 0.95, 0.975):
        for degrees, error in ((4, 0.03), (10, 2e-3), (100, 1e-5)):
            exact = stats.t.ppf(level, degrees) / stats.norm.ppf(level)
            assert widen_for_degrees(level, np.array([degrees]))[0] == pytest.approx(exact, error)
    assert widen_for_degrees(0.95, np.array([np.inf]))[0] == 1


def test_a_fit_without_residuals_has_intervals_all_the_same() -> None:
    rng = np.random.default_rng(0)
    Y = np.outer(rng.standard_normal(20), rng.standard_normal(12))
    for values in (Y, np.ones((20, 12)), np.zeros((20, 12))):
        for draws in (0, 3):
            model = MatrixCompletion(posterior=draws, random_state=0, clip=False).fit(values)
            low, high = model.predict_interval(np.arange(12), np.arange(12))
            assert np.isfinite([low, high]).all()
            assert (low <= high).all()


def test_a_wider_interval_holds_a_narrower_one() -> None:
    fitted, (rows, cols, values) = make_cells("skewed")
    weights = np.ones(len(fitted[2]))
    model = MatrixCompletion(random_state=0, pattern=False, posterior=4)
    low, high = model.fit(fitted, sample_weight=weights).predict_interval(rows, cols, 0.5)
    lower, higher = model.predict_interval(rows, cols, 0.95)
    assert ((lower < low) & (low < high) & (high < higher)).all()
    assert 0.93 < np.mean((lower <= values) & (values <= higher)) < 0.97


def test_what_cannot_be_answered_is_said() -> None:
    fitted, (rows, cols, _) = make_cells("gaussian")
    model = MatrixCompletion(2, random_state=0, penalty=Ridge(1e-3)).fit(fitted)
    with pytest.raises(ValueError, match="needs a model fitted with penalty='evidence'"):
        model.predict_interval(rows, cols)
    with pytest.raises(ValueError, match="coverage: must be strictly between 0 and 1, not 90"):
        model.predict_interval(rows, cols, 90)
    with pytest.raises(ValueError, match="rows: intervals are of cells"):
        model.predict_interval(np.ones(SHAPE))
