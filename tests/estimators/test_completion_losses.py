"""MatrixCompletion for labels, counts, levels, quantiles and data with outliers."""

import pickle

import numpy as np
import pytest
import scipy.optimize
from sklearn.base import clone

from pygeco import MatrixCompletion, Ridge, Solver, Stop, losses
from pygeco.arrays.streams import Purpose, stream
from pygeco.data import make_low_rank, make_ratings

SHAPE = (120, 90)
PENALTY = {"logistic": 1e-6, "smoothed-hinge": 1e-6, "poisson": 1e-6, "ordinal": 1e-6}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def latent(seed=0):
    """Z = offsets + rank 2, and the mask of the cells that are seen."""
    rng = np.random.default_rng(seed)
    Z = make_low_rank(SHAPE, 2, random_state=1).to_dense()
    Z += 0.4 * rng.standard_normal(SHAPE[0])[:, None] + 0.4 * rng.standard_normal(SHAPE[1])
    return Z, rng.random(SHAPE) < 0.5, rng


def data(name):
    """Values drawn from the loss's own model, and the mean response of every cell."""
    Z, seen, rng = latent()
    if name in ("logistic", "smoothed-hinge"):
        return (rng.random(SHAPE) < sigmoid(2 * Z)).astype(float), sigmoid(2 * Z), seen
    if name == "poisson":
        rate = np.exp(0.6 * Z)
        return rng.poisson(rate).astype(float), rate, seen
    if name == "ordinal":
        cuts = np.array([-1.5, 0.0, 1.5])
        Y = 2.0 * (1 + (Z[..., None] + rng.logistic(size=(*SHAPE, 1)) > cuts).sum(-1))
        return Y, 2 * (1 + sigmoid(Z[..., None] - cuts).sum(-1)), seen
    return Z + 0.3 * rng.standard_normal(SHAPE), Z, seen


def fitted(name, *, rank=2, **settings):
    Y, mean, seen = data(name)
    rows, cols = np.nonzero(seen)
    penalty = Ridge(PENALTY[name]) if name in PENALTY else None
    solver = Solver(correction="sweep")
    settings = {"biases": True, "random_state": 0, "penalty": penalty, "solver": solver, **settings}
    model = MatrixCompletion(rank, loss=settings.pop("loss", name), **settings)
    return model.fit((rows, cols, Y[rows, cols], SHAPE)), Y, mean, seen


@pytest.mark.parametrize("name", [name for name in losses.LOSSES if name != "smoothed-hinge"])
def test_predictions_are_on_the_scale_of_the_values(name):
    model, _, mean, seen = fitted(name)
    rows, cols = np.nonzero(~seen)
    error = np.sqrt(np.mean((model.predict(rows, cols) - mean[rows, cols]) ** 2))
    assert error < 0.75 * np.std(mean[rows, cols])
    np.testing.assert_allclose(model.to_dense()[rows, cols], model.predict(rows, cols), rtol=1e-9)


def test_hinge_separates():
    model, _, mean, seen = fitted("smoothed-hinge")
    rows, cols = np.nonzero(~seen & (np.abs(mean - 0.5) > 0.3))
    right = (model.predict(rows, cols) > 0) == (mean[rows, cols] > 0.5)
    assert right.mean() > 0.85
    assert not hasattr(model, "predict_proba")


def test_probabilities_of_labels():
    model, Y, _, seen = fitted("logistic")
    rows, cols = np.nonzero(~seen)
    chance = model.predict_proba(rows, cols)
    assert chance.shape == (len(rows), 2)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    np.testing.assert_allclose(chance[:, 1], model.predict(rows, cols))
    z = model.decision_function(rows, cols)
    np.testing.assert_allclose(chance[:, 1], sigmoid(z))
    nll = -np.mean(np.log(chance[np.arange(len(rows)), Y[rows, cols].astype(int)]))
    score = model.score((rows, cols, Y[rows, cols], SHAPE))
    assert score == pytest.approx(-nll)
    assert score > -np.log(2)  # better than no knowledge
    seen_at = np.nonzero(seen)
    signs = clone(model).fit((*seen_at, 2 * Y[seen_at] - 1, SHAPE))
    np.testing.assert_allclose(signs.predict(rows, cols), chance[:, 1])


def test_probabilities_of_levels():
    model, Y, _, seen = fitted("ordinal")
    rows, cols = np.nonzero(~seen)
    chance = model.predict_proba(rows, cols)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    np.testing.assert_allclose(chance @ [2, 4, 6, 8], model.predict(rows, cols))
    values = Y[rows, cols]
    likelihood = np.mean(np.log(chance[np.arange(len(rows)), (values / 2 - 1).astype(int)]))
    assert model.score((rows, cols, values, SHAPE)) == pytest.approx(likelihood)
    shares = np.array([(Y[seen] == level).mean() for level in (2, 4, 6, 8)])
    assert likelihood > np.sum(shares * np.log(shares))  # better than the shares alone


@pytest.mark.parametrize("q", [0.1, 0.9])
def test_quantiles_cover_their_share(q):
    model, Y, _, seen = fitted("quantile", loss=losses.Quantile(q, width=0.02), rank=2)
    covered = (model.to_dense() >= Y)[seen].mean()
    assert covered == pytest.approx(q, abs=0.03)


def test_outliers_spoil_the_squared_loss_only():
    Z, seen, rng = latent()
    Y = Z + 0.1 * rng.standard_normal(SHAPE)
    far = seen & (rng.random(SHAPE) < 0.05)
    Y[far] += 30
    cells = (*np.nonzero(seen), Y[seen], SHAPE)
    error = {}
    for loss in ("squared", "huber"):
        solver = Solver(correction="sweep")
        model = MatrixCompletion(2, loss=loss, solver=solver, penalty=None, random_state=0)
        model.fit(cells)
        error[loss] = np.sqrt(np.mean((model.to_dense() - Z)[~seen] ** 2))
    assert error["huber"] < 0.3 * error["squared"]
    assert model.loss_.delta < 5


@pytest.mark.parametrize("name", ["huber", "logistic", "poisson", "ordinal"])
def test_new_rows_are_fitted_by_the_loss(name):
    model, Y, mean, seen = fitted(name)
    some = np.where(seen, Y, np.nan)[:15]
    some[4] = np.nan
    W = model.transform(some)
    V, offset = model.components_.T, model.biases_.mean + model.biases_.col
    ridge = np.append(
        model.model_.folding_state()._basis()[1], 0.0 if model.loss_.regression else 0.5
    )
    ridge = ridge[: len(model.components_)]
    targets = model.loss_.targets(Y[:15])
    for i, w in enumerate(W):
        at = ~np.isnan(some[i])

        def goal(w, i=i, at=at):
            z = V[at] @ w + offset[at]
            slope = V[at].T @ model.loss_.slope(z, targets[i, at]) + 2 * ridge * w
            return model.loss_.value(z, targets[i, at]).sum() + ridge @ (w * w), slope

        best = scipy.optimize.minimize(goal, np.zeros(len(w)), jac=True, options={"gtol": 1e-8})
        assert goal(w)[0] <= best.fun + 1e-7 * (1 + abs(best.fun))
    completed = model.predict(some)
    assert completed.shape == (15, SHAPE[1])
    np.testing.assert_allclose(completed, model.inverse_transform(W))
    rest = np.delete(np.arange(15), 4)
    hidden = ~seen[rest]
    error = np.sqrt(np.mean((completed[rest] - mean[rest])[hidden] ** 2))
    assert error < 0.9 * np.std(mean[rest][hidden])


@pytest.mark.parametrize("name", ["huber", "poisson", "logistic"])
def test_float32_stays_float32(name):
    Y, _, seen = data(name)
    cells = (*np.nonzero(seen), Y[seen].astype(np.float32), SHAPE)
    model = MatrixCompletion(2, loss=name, random_state=0, penalty=Ridge(1e-6)).fit(cells)
    assert model.factors_.U.dtype == np.float32
    assert model.predict([0, 1], [2, 3]).dtype == np.float32
    assert model.transform(np.where(seen, Y, np.nan)[:3].astype(np.float32)).dtype == np.float32


def test_clipping_is_to_what_was_seen():
    model, Y, _, seen = fitted("huber", clip=True)
    assert model.to_dense().max() <= Y[seen].max()
    model, Y, _, seen = fitted("ordinal", clip=True)
    assert model.range_ == (2.0, 8.0)
    model, _, _, _ = fitted("smoothed-hinge", clip=True)
    assert np.abs(model.to_dense()).max() > 1


def test_weights_of_cells():
    Y, _, seen = data("poisson")
    rows, cols = np.nonzero(seen)
    w = np.random.default_rng(0).integers(0, 2, len(rows)).astype(float)
    kept = w > 0
    y = Y[rows, cols]
    settings = {"loss": "poisson", "biases": True, "random_state": 0, "penalty": None}
    some = MatrixCompletion(2, **settings).fit((rows, cols, y, SHAPE), sample_weight=w)
    few = MatrixCompletion(2, **settings).fit((rows[kept], cols[kept], y[kept], SHAPE))
    np.testing.assert_allclose(some.to_dense(), few.to_dense(), rtol=1e-3)


def test_own_loss():
    mine = losses.Custom(lambda z, y: np.cosh(z - y), lambda z, y: np.sinh(z - y))
    model, _, mean, seen = fitted("squared", loss=mine, penalty=None)
    assert np.sqrt(np.mean((model.to_dense() - mean)[~seen] ** 2)) < 0.65 * np.std(mean)
    wrong = losses.Custom(lambda z, y: (z - y) ** 2, lambda z, y: z - y)
    with pytest.raises(ValueError, match="loss: the slope of Custom is"):
        fitted("squared", loss=wrong, penalty=None)


@pytest.mark.parametrize(
    ("loss", "values", "words"),
    [
        ("logistic", [1.0, 2.0, 3.0, 1.0], "values: the logistic loss needs labels −1 and"),
        ("poisson", [1.0, -1.0, 3.0, 1.0], "values: the poisson loss needs counts ≥ 0"),
        ("logit", [1.0, 0.0, 1.0, 0.0], "loss: unknown name 'logit'"),
    ],
)
def test_bad_targets(loss, values, words):
    with pytest.raises(ValueError, match=words):
        MatrixCompletion(1, loss=loss).fit(([0, 1, 2, 0], [0, 1, 0, 1], values, (3, 2)))


def test_new_values_outside_the_domain():
    model, _, _, _ = fitted("ordinal")
    with pytest.raises(ValueError, match="values: 3 is not one of the ordinal levels 2, 4, 6, 8"):
        model.transform(np.full((1, SHAPE[1]), 3.0))


def test_clones_and_pickles():
    model, _, _, _ = fitted("logistic")
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.to_dense(), model.to_dense())
    assert clone(model).loss == "logistic"
    custom = MatrixCompletion(loss=losses.Huber(2.0))
    assert clone(custom).loss == losses.Huber(2.0)


def test_without_refit_the_model_is_that_of_the_other_cells():
    """The held-out tenth moves nothing but the choice of the rank."""
    data = make_ratings((80, 60), 2300, rank=2, noise=0.3)
    rows, cols, values, shape = data
    settings = {"loss": "huber", "penalty": None, "biases": True, "random_state": 0}
    part = MatrixCompletion(refit=False, **settings).fit(data)
    full = MatrixCompletion(**settings).fit(data)
    assert part.rank_ == full.rank_ >= 1
    assert part.stop_reason_ is full.stop_reason_ is Stop.VALIDATION
    order = np.lexsort((cols, rows))
    held = stream(Purpose.RANK_CHOICE, 0).random(len(rows)) < 0.1
    kept = order[~held]
    alone = MatrixCompletion(
        part.rank_, loss=part.loss_, **{k: v for k, v in settings.items() if k != "loss"}
    ).fit((rows[kept], cols[kept], values[kept], shape))
    np.testing.assert_allclose(part.to_dense(), alone.to_dense(), atol=1e-6)
    assert full.score(data) > part.score(data)
