"""Times of cells: from tables and arrays into a fit, and out of it again."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pygeco import MatrixCompletion, cells, load
from pygeco.errors import ColumnWarning
from pygeco.losses import Huber
from pygeco.objectives.entries.biases import Biases

M, N, PERIODS = 50, 30, 5
START = 1_600_000_000
DAY = 86_400.0


def make_table(drift: float = 1.0, seed: int = 0) -> pd.DataFrame:
    """Ratings whose items move from one of five days to the next."""
    rng = np.random.default_rng(seed)
    pick = rng.permutation(M * N)[:1100]
    user, item, day = pick // N, pick % N, rng.integers(0, PERIODS, 1100)
    moves = drift * rng.standard_normal((N, PERIODS))
    value = moves[item, day] + rng.standard_normal(M)[user] + 0.3 * rng.standard_normal(1100)
    time = START + DAY * day + rng.uniform(0, 60, 1100)
    return pd.DataFrame({"user": user, "item": item, "rating": value, "timestamp": time})


TABLE = make_table()
TRAIN, TEST = TABLE[:1000], TABLE[1000:]
SETTINGS = {"rank": 1, "time": PERIODS, "pattern": False, "random_state": 0}


@pytest.fixture(scope="module")
def model() -> MatrixCompletion:
    return MatrixCompletion(**SETTINGS).fit(TRAIN)


def error(found, test=TEST) -> float:
    return float(np.sqrt(np.mean((np.asarray(found) - test["rating"].to_numpy()) ** 2)))


def test_a_column_called_so_is_found_and_what_it_says_is_used(model):
    assert model.time_column_ == "timestamp"
    assert {part.periods.side for part in model.drift_.offsets} >= {"column"}
    plain = MatrixCompletion(1, time=False, pattern=False, random_state=0).fit(TRAIN)
    assert plain.drift_ is None
    searched = MatrixCompletion(1, time=np.array([False])[0], pattern=False, random_state=0)
    assert searched.fit(TRAIN).drift_ is None
    ids = TEST["user"], TEST["item"]
    timed = model.predict(*ids, times=TEST["timestamp"])
    assert error(timed) < 0.6 * error(plain.predict(*ids))
    assert np.array_equal(model.predict(TEST)["prediction"], timed)
    assert model.score(TEST) == pytest.approx(-error(timed))
    assert model.score(cells(TEST)) == pytest.approx(-error(timed))
    found, deviation = model.predict(*ids, times=TEST["timestamp"], return_std=True)
    inside = np.abs(found - TEST["rating"].to_numpy()) <= 1.6449 * deviation
    assert 0.8 < inside.mean() <= 1


def test_every_form_of_times_is_one_fit(model):
    wanted = model.predict(TEST)["prediction"]
    dates = TRAIN.assign(timestamp=pd.to_datetime(TRAIN["timestamp"], unit="s"))
    asked = TEST.rename(columns={"timestamp": "rated_at"})
    forms = [
        (pl.DataFrame(dates), {}),
        (TRAIN.assign(timestamp=TRAIN["timestamp"] * 1e3).sample(frac=1, random_state=1), {}),
        (TRAIN.rename(columns={"timestamp": "day"}), {"times": "day"}),
        (cells(TRAIN), {}),
    ]
    for table, given in forms:
        found = MatrixCompletion(**SETTINGS).fit(table, **given).predict(asked)["prediction"]
        assert np.allclose(found, wanted, atol=2e-5)
    arrays = (TRAIN["user"].to_numpy(), TRAIN["item"].to_numpy(), TRAIN["rating"].to_numpy())
    by_position = MatrixCompletion(**SETTINGS).fit(arrays, times=TRAIN["timestamp"].to_numpy())
    where = TEST["user"].to_numpy(), TEST["item"].to_numpy()
    found = by_position.predict(*where, times=TEST["timestamp"].to_numpy())
    assert np.allclose(found, wanted, atol=2e-5)


def test_without_a_time_everything_is_of_the_end(model):
    end = float(TRAIN["timestamp"].max())
    rows, cols = np.indices((M, N)).reshape(2, -1)
    now = model.predict(rows, cols)
    assert np.allclose(now, model.predict(rows, cols, times=end))
    assert np.allclose(now, model.to_dense().reshape(-1))
    early = START + 1.0
    assert not np.allclose(now, model.predict(rows, cols, times=early), atol=0.1)
    for time in (None, early):
        best = model.recommend(3, k=4, time=time, exclude_seen=False)
        of_all = model.predict(np.full(N, 3), np.arange(N), times=time)
        assert np.allclose(best.scores, np.sort(of_all)[::-1][:4])
    why, then = model.explain(3, 4), model.explain(3, 4, time=early)
    moved = model.predict([3], [4], times=early) - model.predict([3], [4])
    assert then.time - why.time == pytest.approx(float(moved[0]))
    late, deviation = model.predict([3], [4], times=end + 99 * DAY, return_std=True)
    assert late != now[3 * N + 4]
    assert deviation > model.predict([3], [4], return_std=True)[1]


def test_a_file_keeps_what_time_says(model, tmp_path):
    model.save(tmp_path / "model.geco")
    again = load(tmp_path / "model.geco")
    assert again.time_column_ == "timestamp"
    wanted = model.predict(TEST, return_std=True)
    assert again.predict(TEST, return_std=True).equals(wanted)
    kept = again.keep_held_out(TEST)
    kept.save(tmp_path / "kept.geco")
    assert np.array_equal(
        np.sort(load(tmp_path / "kept.geco").held_out_.times), np.sort(TEST["timestamp"])
    )


def test_new_cells_bring_their_times(model, tmp_path):
    model.save(tmp_path / "model.geco")
    more = load(tmp_path / "model.geco")
    late = START + 20 * DAY
    new = TABLE[1000:1060].assign(timestamp=late)
    new["rating"] = new["rating"].to_numpy() - 3.0
    before = more.predict(TEST)["prediction"].to_numpy()
    more.partial_fit(new)
    ids = new["user"].to_numpy(), new["item"].to_numpy()
    assert more.drift_.latest == late
    assert np.mean(more.predict(*ids) - model.predict(*ids, times=late)) < -0.7
    others = ~TEST["user"].isin(new["user"]) & ~TEST["item"].isin(new["item"])
    after = more.predict(TEST)["prediction"].to_numpy()
    np.testing.assert_allclose(after[others], before[others], rtol=1e-14)


def test_new_cells_that_are_marked_as_missing_take_their_times_with_them():
    i, j, y, when = (TRAIN[name].to_numpy() for name in ("user", "item", "rating", "timestamp"))
    k, c, z, late = (x[:40] for x in (i, j, y - 3.0, when + 20 * DAY))
    marked = np.arange(40) % 4 == 1
    found = []
    for keep, values in ((np.full(40, True), np.where(marked, 99.0, z)), (~marked, z)):
        model = MatrixCompletion(missing_values=99.0, **SETTINGS).fit((i, j, y, (M, N)), times=when)
        model.partial_fit((k[keep], c[keep], values[keep]), times=late[keep])
        found.append(model.predict(i, j, times=late[0]))
    np.testing.assert_array_equal(*found)


def test_draws_know_the_time_too():
    found = MatrixCompletion(posterior=4, **SETTINGS).fit(TRAIN)
    assert found.average_.drift is not None
    assert error(found.predict(TEST)["prediction"]) < 0.6
    late = START + 20 * DAY
    found.partial_fit(TABLE[1000:1060].assign(timestamp=late, rating=-3.0))
    average = found.average_
    assert average.drift.latest == found.drift_.latest == late
    ids = TABLE[1000:1060]["user"].to_numpy(), TABLE[1000:1060]["item"].to_numpy()
    lower = found.predict(*ids) - found.predict(*ids, times=float(TRAIN["timestamp"].max()))
    assert np.mean(lower) < -0.7
    end = average.drift.add_to_biases(Biases(0.0, average.row, average.col), average.scale)
    np.testing.assert_allclose(found.model_.biases.row, end.row, atol=1e-12)
    np.testing.assert_allclose(found.model_.biases.col, end.col, atol=1e-12)


def test_a_fit_that_was_stopped_goes_on_to_the_same_bits(model, tmp_path, monkeypatch):
    monkeypatch.setattr("pygeco.estimators._checkpoint.MIN_PAUSE_SECONDS", 0.0)
    monkeypatch.setattr("pygeco.estimators._checkpoint.MAX_WRITING_SHARE", 1e9)
    path = tmp_path / "checkpoint"
    stopped = MatrixCompletion(callback=lambda sweep: sweep.sweeps >= 9, **SETTINGS)
    stopped.fit(TRAIN, checkpoint=path)
    again = MatrixCompletion(**SETTINGS).fit(TRAIN, checkpoint=path)
    assert np.array_equal(again.predict(TEST)["prediction"], model.predict(TEST)["prediction"])
    with pytest.raises(ValueError, match=r"^checkpoint: .* other data or settings"):
        MatrixCompletion(**SETTINGS).fit(make_table(0.5)[:1000], checkpoint=path)


def test_one_period_or_random_times_leave_the_fit_as_it_is():
    plain = MatrixCompletion(1, time=False, pattern=False, random_state=0).fit(TRAIN)
    rng = np.random.default_rng(5)
    for times in (np.full(len(TRAIN), START), rng.permutation(TRAIN["timestamp"])):
        found = MatrixCompletion(1, pattern=False, random_state=0).fit(TRAIN, times=times)
        assert found.drift_ is None
        assert np.array_equal(found.factors_.U, plain.factors_.U)


@pytest.mark.parametrize(
    ("settings", "given", "said"),
    [
        ({"time": "yes"}, {}, "time: expected 'auto'"),
        ({"time": 1}, {}, "time: expected 'auto'"),
        ({"time": False}, {"times": "timestamp"}, "times: are left out"),
        (
            {"loss": Huber()},
            {"times": "timestamp"},
            "time: says something to a fit by the evidence",
        ),
        ({"penalty": None, "time": True}, {}, "time: says something to a fit by the evidence"),
        ({}, {"times": [1.0, 2.0]}, "times: expected 1,000 of them"),
        ({}, {"times": "rating_day"}, "times: there is no column"),
        ({}, {"times": np.r_[np.nan, np.ones(999)]}, "times: 1 of 1,000 are missing"),
        ({}, {"times": ["soon"] * 1000}, "times: expected times"),
    ],
)
def test_what_cannot_be_is_told(settings, given, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        MatrixCompletion(**settings).fit(TRAIN, **given)


def test_times_that_had_to_be_there_are_missed():
    with pytest.raises(ValueError, match=r"^time: there are no times"):
        MatrixCompletion(time=True).fit(TRAIN.drop(columns="timestamp"))
    with pytest.raises(ValueError, match=r"^times: go with a table"):
        MatrixCompletion().fit(np.eye(4), times=np.ones(16))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["09/01/2018"] * 1000, r"expected times .*, not '09/01/2018'\.$"),
        ([*["2018-09-01"] * 999, "01.09.2018"], r"expected times .*, not '01\.09\.2018'\.$"),
        ([*["2018-09-01 10:00:00 UTC"] * 998, "", ""], r"2 of 1,000 are missing\.$"),
        (np.r_[np.ones(999), np.nan], r"1 of 1,000 are missing\.$"),
    ],
)
def test_times_that_nobody_asked_for_are_left_out_with_a_warning(given, said):
    table = TRAIN.assign(timestamp=given)
    with pytest.warns(ColumnWarning, match=rf"^X: the times in 'timestamp' are left out: {said}"):
        found = MatrixCompletion(1, pattern=False).fit(table)
    assert found.time_column_ is None
