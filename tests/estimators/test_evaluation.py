"""A fitted model against ratings that it has not seen, by plain loops."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import root_mean_squared_error
from sklearn.model_selection import train_test_split

from pygeco import MatrixCompletion, cells, evaluate, load
from pygeco.data import make_ratings


def table(seed=0) -> pd.DataFrame:
    rows, cols, values, _ = make_ratings((200, 80), 6000, random_state=seed)
    return pd.DataFrame({"user": rows, "item": cols, "rating": values})


def test_evaluation_by_a_plain_loop() -> None:
    whole = table()
    held = np.random.default_rng(0).random(len(whole)) < 0.2
    train, test = whole[~held], whole[held]
    model = MatrixCompletion(random_state=0).fit(train)
    found = evaluate(model, test, k=5)
    z = model.predict(test, return_std=True)
    assert found.errors.rmse == pytest.approx(root_mean_squared_error(test.rating, z.prediction))
    assert found.threshold == pytest.approx(train.rating.mean())
    inside = np.abs(z.prediction - test.rating) <= 1.6449 * z.deviation
    assert found.coverage == pytest.approx(inside.mean())
    assert 0.85 < found.coverage < 0.95
    hits, users = [], []
    for user, own in test[test.rating >= train.rating.mean()].groupby("user"):
        if user in model.row_ids_:
            liked = set(own.item) & set(model.column_ids_)
            best = model.recommend(user, 5).columns
            hits.append(len(liked & set(best)) / 5)
            users.append(user)
    assert found.ranking.precision == pytest.approx(np.mean(hits))
    assert found.ranking.users == len(users)
    everything = evaluate(model, test, k=5, threshold=-1.0)
    assert everything.ranking.users >= found.ranking.users


def test_a_model_without_ids_is_judged_by_positions() -> None:
    whole = table()
    held = np.random.default_rng(0).random(len(whole)) < 0.2
    by_id = MatrixCompletion(random_state=0).fit(whole[~held])
    expected = evaluate(by_id, whole[held], k=5)
    assert evaluate(by_id, cells(whole[held]), k=5) == expected
    assert expected.unknown == 0  # positions are ids, here

    def triplets(t):
        return t.user.to_numpy(), t.item.to_numpy(), t.rating.to_numpy(), (200, 80)

    plain = MatrixCompletion(random_state=0).fit(triplets(whole[~held]))
    rows, cols, values, shape = triplets(whole[held])
    matrix = sp.csr_array((values, (rows, cols)), shape=shape)
    for X in (triplets(whole[held]), cells(triplets(whole[held])), matrix):
        assert evaluate(plain, X, k=5) == expected
    both = evaluate(plain, triplets(whole), k=5)  # cells of the fit say nothing
    assert (both.fitted, both.errors) == (int((~held).sum()), expected.errors)


def test_unknown_ids_are_counted() -> None:
    model = MatrixCompletion(2, random_state=0).fit(table())
    new = pd.DataFrame({"user": [0, 9999], "item": [3, 3], "rating": [4.0, 4.0]})
    new.loc[0, "item"] = next(j for j in range(80) if j not in set(table().query("user == 0").item))
    found = evaluate(model, new)
    assert found.unknown == 1
    assert found.errors.cells == 2
    plain = MatrixCompletion(2, random_state=0).fit(make_ratings((20, 10), 60))
    with pytest.raises(ValueError, match="a table of ids needs a model that was fitted from one"):
        evaluate(plain, new)


def test_without_the_evidence_there_is_no_coverage() -> None:
    model = MatrixCompletion(2, penalty=None, random_state=0).fit(table())
    assert evaluate(model, table(1).head(50)).coverage is None


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (40, 300), (300, 40)])
def test_fitted_cells_are_known(shape) -> None:
    rng = np.random.default_rng(0)
    known = rng.random(shape) < 0.4
    known[0, 0] = known[-1, -1] = True
    X = np.where(known, rng.integers(1, 6, shape), np.nan)
    model = MatrixCompletion(1, penalty=None, random_state=0).fit(X)
    rows, cols = np.indices(shape)
    found = model.was_fitted(rows.reshape(-1), cols.reshape(-1))
    np.testing.assert_array_equal(found, known.reshape(-1))
    assert not model.was_fitted([-1, 0, -1], [0, -1, -1]).any()


def test_held_out_cells_stay_with_the_model_through_updates_and_files(tmp_path) -> None:
    whole = table()
    held = np.random.default_rng(0).random(len(whole)) < 0.2
    model = MatrixCompletion(2, random_state=0).fit(whole[~held]).keep_held_out(whole[held])
    model.partial_fit(pd.DataFrame({"user": [-5, 7], "item": [-3, -3], "rating": [3.0, 4.0]}))
    model = load(model.save(tmp_path / "m.geco") and tmp_path / "m.geco")
    rated = set(map(tuple, whole[["user", "item"]].values)) | {(-5, -3), (7, -3)}
    best = model.recommend(model.row_ids_, 500)
    listed = {
        (user, item)
        for user, items in zip(model.row_ids_, best.columns, strict=True)
        for item in items[np.isfinite(best.scores[np.flatnonzero(model.row_ids_ == user)[0]])]
    }
    assert not listed & rated
    assert len(listed) + len(rated) == model.factors_.shape[0] * model.factors_.shape[1]
    seen = model.recommend(model.row_ids_[:3], 500, exclude_seen=False)
    assert np.isfinite(seen.scores).all()


def test_cells_of_a_list_are_those_of_its_table() -> None:
    """As they come from scikit-learn's splits."""
    whole = table()
    train, test = train_test_split(cells(whole), random_state=0)
    model = MatrixCompletion(random_state=0).fit(train)
    ids = test.row_ids[test.rows], test.column_ids[test.cols]
    frame = pd.DataFrame({"user": ids[0], "item": ids[1], "rating": test.values})
    assert evaluate(model, test) == evaluate(model, frame)
    assert evaluate(model, test).errors.rmse == pytest.approx(-model.score(test))


@pytest.mark.parametrize("loss", ["logistic", "ordinal", "poisson", "squared"])
def test_errors_are_on_the_scale_of_the_data_whatever_a_fit_keeps(loss) -> None:
    """Labels and levels are kept as codes, with which predictions were compared."""
    rows, cols, values, _ = make_ratings((60, 40), 1200, rank=2, noise=0.3)
    values = np.rint(values) * 2  # levels 2, 4, … 10
    if loss == "logistic":
        values = (values > 6).astype(float)
    table = pd.DataFrame({"user": rows, "item": cols, "rating": values})
    held = np.random.default_rng(0).random(len(table)) < 0.2
    model = MatrixCompletion(2, loss=loss, random_state=0).fit(table[~held])
    predicted = model.predict(table[held])["prediction"].to_numpy()
    found = evaluate(model, table[held])
    wanted = root_mean_squared_error(values[held], predicted)
    assert found.errors.rmse == pytest.approx(wanted, rel=1e-5)
    assert found.errors.rmse < 0.9 * values.std()
    assert found.threshold == pytest.approx(values[~held].mean(), rel=1e-5)
    assert (found.coverage is None) == (loss == "logistic")  # labels lie at the ends
    assert found.coverage is None or found.coverage > 0.8
    by_place = MatrixCompletion(2, loss=loss, random_state=0)
    by_place.fit((rows[~held], cols[~held], values[~held], (60, 40)))
    again = evaluate(by_place, (rows[held], cols[held], values[held]))
    assert again.errors.rmse == pytest.approx(wanted, rel=1e-3)
    liked = table[held & (values >= 8)]
    counts = evaluate(model, table[held], protocol="all", threshold=8).held_out
    assert counts == len(liked)
