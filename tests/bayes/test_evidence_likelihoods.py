"""Fits of labels, levels and counts by the evidence, against the truth and against other fits."""

from functools import cache

import numpy as np
import pytest

from pygeco import MatrixCompletion, Trace, load
from pygeco.bayes.likelihoods.levels import Levels
from pygeco.data import make_ratings, split_cells

SHAPE = (150, 110)
CUTS = np.array([-1.5, 0.3, 1.8])
LOSSES = ("logistic", "ordinal", "poisson")
BEST = {"logistic": 3e-4, "ordinal": 1e-4, "poisson": 3e-3}


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


@cache
def make_cells(loss):
    """Fitted cells, the others, and their mean response."""
    rng = np.random.default_rng(0)
    Z = 1.2 * rng.standard_normal((SHAPE[0], 2)) @ rng.standard_normal((2, SHAPE[1]))
    Z += 0.5 * rng.standard_normal((SHAPE[0], 1)) + 0.5 * rng.standard_normal(SHAPE[1])
    if loss == "logistic":
        mean = sigmoid(Z)
        Y = (rng.random(SHAPE) < mean).astype(float)
    elif loss == "ordinal":
        Y = 1.0 + np.searchsorted(CUTS, Z + rng.logistic(size=SHAPE))
        mean = 1 + sigmoid(Z[..., None] - CUTS).sum(-1)
    else:
        mean = np.exp(0.3 * Z + 1)
        Y = rng.poisson(mean * rng.gamma(3.0, 1 / 3, SHAPE)).astype(float)
    known = rng.random(SHAPE) < 0.45
    cells = (*np.nonzero(known), Y[known], SHAPE)
    return cells, (*np.nonzero(~known), Y[~known]), mean[~known]


@cache
def fit(loss, **settings):
    return MatrixCompletion(loss=loss, random_state=0, pattern=False, **settings).fit(
        make_cells(loss)[0]
    )


def measure_loss(model, loss):
    """The mean loss of predictions of the other cells, by their response alone."""
    _, (rows, cols, y), _ = make_cells(loss)
    if loss == "poisson":
        rate = model.predict(rows, cols)
        return np.mean(rate - y * np.log(rate))
    chance = model.predict_proba(rows, cols)
    return -np.mean(np.log(chance[np.arange(len(y)), (y - (loss == "ordinal")).astype(int)]))


@pytest.mark.parametrize("loss", LOSSES)
def test_the_evidence_needs_no_tuning(loss) -> None:
    """Better than the weight of a trace norm that answers best, of a grid with steps of three."""
    model = fit(loss)
    assert model.penalty_ == "evidence"
    tuned = fit(loss, penalty=Trace(BEST[loss]), biases=True)
    assert measure_loss(model, loss) < measure_loss(tuned, loss)
    _, (rows, cols, _), mean = make_cells(loss)
    np.testing.assert_allclose(model.predict(rows, cols).mean(), mean.mean(), rtol=0.02)


@pytest.mark.parametrize("loss", LOSSES)
def test_answers_agree_with_each_other(loss) -> None:
    model = fit(loss)
    _, (rows, cols, y), _ = make_cells(loss)
    values, deviation = model.predict(rows, cols, return_std=True)
    np.testing.assert_allclose(model.to_dense()[rows, cols], values, rtol=1e-6)
    # What a new observation deviates by, on average over all.
    np.testing.assert_allclose(np.mean((y - values) ** 2 / deviation**2), 1, atol=0.12)
    assert model.score((rows, cols, y, SHAPE)) == pytest.approx(-measure_loss(model, loss))
    low, high = model.predict_interval(rows, cols, 0.9)
    assert np.mean((low <= y) & (y <= high)) > 0.88
    assert (low == np.rint(low)).all()


def test_probabilities_are_calibrated() -> None:
    model = fit("logistic")
    _, (rows, cols, y), _ = make_cells("logistic")
    chance = model.predict_proba(rows, cols)[:, 1]
    order = np.argsort(chance)
    for part in np.array_split(order, 8):
        assert abs(chance[part].mean() - y[part].mean()) < 0.05
    # A logit as if it were known for sure is too bold.
    z = model.decision_function(rows, cols)
    assert np.mean(np.abs(sigmoid(z) - 0.5)) > np.mean(np.abs(chance - 0.5))


def test_rare_labels_are_as_frequent_as_predicted() -> None:
    """About 2 % are ones, and hardly anything is certain of a cell."""
    rng = np.random.default_rng(0)
    shape = 600, 300
    Z = 1.4 * rng.standard_normal((600, 2)) @ rng.standard_normal((2, 300)) - 6
    mean = sigmoid(Z + rng.standard_normal((600, 1)))
    rows, cols = np.nonzero(rng.random(shape) < 0.07)
    y = (rng.random(shape) < mean)[rows, cols].astype(float)
    model = MatrixCompletion(loss="logistic", random_state=0, pattern=False)
    found = model.fit((rows, cols, y, shape)).to_dense().mean()
    np.testing.assert_allclose(found, mean.mean(), rtol=0.1)


def test_cut_points_are_found() -> None:
    likelihood = fit("ordinal").posterior_.likelihood
    assert isinstance(likelihood, Levels)
    assert fit("ordinal").loss_.thresholds == likelihood.cuts
    np.testing.assert_allclose(np.diff(likelihood.cuts), np.diff(CUTS), rtol=0.12)


def test_the_dispersion_of_counts_is_found() -> None:
    assert 2 < fit("poisson").posterior_.likelihood.shape < 4.5


@pytest.mark.parametrize("loss", LOSSES)
def test_draws_agree_with_the_evidence(loss) -> None:
    model, plain = fit(loss, posterior=12), fit(loss)
    _, (rows, cols, _), _ = make_cells(loss)
    assert measure_loss(model, loss) < measure_loss(plain, loss) + 0.03
    assert np.corrcoef(model.predict(rows, cols), plain.predict(rows, cols))[0, 1] > 0.95
    assert (fit(loss, posterior=12).predict(rows, cols) == model.predict(rows, cols)).all()


@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_draws_answer_by_the_mean_of_the_data(loss) -> None:
    """Of rare ones too, where a mean σ(z) or e^z lies in the tail of z."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((60, 1)) @ rng.standard_normal((1, 40)) + rng.standard_normal((60, 1))
    rate = np.exp(Z - 3)
    y = rng.poisson(rate) if loss == "poisson" else rng.random(Z.shape) < rate / (1 + rate)
    rows, cols = np.nonzero(rng.random(Z.shape) < 0.3)
    y = y[rows, cols].astype(float)
    model = MatrixCompletion(loss=loss, random_state=0, pattern=False, posterior=12)
    model.fit((rows, cols, y, Z.shape))
    np.testing.assert_allclose(model.predict(rows, cols).mean(), y.mean(), rtol=0.01)


@pytest.mark.parametrize("loss", LOSSES)
def test_files_and_new_cells(loss, tmp_path) -> None:
    cells, (rows, cols, y), _ = make_cells(loss)
    model = fit(loss)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(rows, cols), model.predict(rows, cols))
    np.testing.assert_array_equal(
        again.predict_interval(rows, cols)[1], model.predict_interval(rows, cols)[1]
    )
    # A row that comes later is where it would have been.
    own = np.full(SHAPE[1], np.nan)
    first = cells[0] == 0
    own[cells[1][first]] = cells[2][first]
    values, deviation = model.predict(own[None], return_std=True)
    asked = np.arange(SHAPE[1])
    expected = model.predict(0 * asked, asked, return_std=True)
    np.testing.assert_allclose(values[0], expected[0], rtol=0.05, atol=0.02)
    np.testing.assert_allclose(deviation[0], expected[1], rtol=0.05, atol=0.02)
    # Cells that are taken in lower the loss of their neighbors.
    some = rows < 20
    hidden = some & (np.arange(len(rows)) % 2 == 0)
    taken = some & ~hidden
    again.partial_fit((rows[taken], cols[taken], y[taken], SHAPE))
    left = (rows[hidden], cols[hidden], y[hidden], SHAPE)
    assert again.score(left) > model.score(left)


def test_a_fit_that_was_stopped_goes_on_with_the_same_bits(tmp_path) -> None:
    cells = make_cells("ordinal")[0]
    plain = fit("ordinal")

    class KilledError(Exception):
        pass

    def kill(event):
        if getattr(event, "sweeps", 0) == 5:
            raise KilledError

    settings = {"loss": "ordinal", "random_state": 0, "pattern": False}
    with pytest.raises(KilledError):
        MatrixCompletion(callback=kill, **settings).fit(cells, checkpoint=tmp_path / "state")
    model = MatrixCompletion(**settings).fit(cells, checkpoint=tmp_path / "state")
    np.testing.assert_array_equal(model.to_dense(), plain.to_dense())
    assert model.loss_ == plain.loss_


@pytest.mark.parametrize("draws", [0, 5])
def test_reasons_add_up_to_the_linear_prediction(draws) -> None:
    model = fit("logistic", posterior=draws)
    for i, j in np.transpose(make_cells("logistic")[1][:2])[::1000].astype(int).tolist():
        found = model.explain(i, j, k=SHAPE[1])
        z = model.decision_function([i], [j])[0]
        assert found.base + found.contributions.sum() == pytest.approx(z, abs=0.01)


@pytest.mark.parametrize("loss", ["logistic", "ordinal"])
def test_labels_that_can_be_told_apart_without_error(loss) -> None:
    """Their logits have no end; the component that tells them apart stays."""
    rows, cols = np.nonzero(np.random.default_rng(0).random((30, 20)) < 0.5)
    model = MatrixCompletion(loss=loss, random_state=0)
    model.fit((rows, cols, ((rows + cols) % 2).astype(float), (30, 20)))
    assert model.rank_ == 1
    i, j = np.indices((30, 20))
    assert ((model.to_dense() > 0.5) == (i + j) % 2).all()


def make_sharp_table(loss):
    """Cells with next to no noise, as a matrix with NaN."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((120, 2)) @ rng.standard_normal((2, 50))
    Y = {
        "ordinal": np.clip(np.round(3 + Z + 0.2 * rng.standard_normal(Z.shape)), 1, 5),
        "logistic": (Z + 0.1 * rng.standard_normal(Z.shape) > 0).astype(float),
        "separable": (Z > 0).astype(float),
        "poisson": rng.poisson(np.exp(np.minimum(Z, 4))).astype(float),
    }[loss]
    return np.where(rng.random(Z.shape) < 0.4, Y, np.nan)


@pytest.mark.parametrize("loss", ["ordinal", "logistic", "separable", "poisson"])
def test_rows_with_sharp_cells_are_found_again(loss) -> None:
    """By undamped steps from the prior's center they were thousands away."""
    X = make_sharp_table(loss)
    known = ~np.isnan(X)
    model = MatrixCompletion(loss="logistic" if loss == "separable" else loss, random_state=0)
    dense = model.fit(X).to_dense()
    size = np.sqrt(np.mean((dense - X)[known] ** 2))
    folded = model.predict(X)
    assert np.sqrt(np.mean((folded - X)[known] ** 2)) < 1.1 * size + 0.01
    assert np.corrcoef(folded[known], dense[known])[0, 1] > 0.98
    rows, cols = np.nonzero(known)
    first = np.unique(rows, return_index=True)[1]
    model.partial_fit((rows[first], cols[first], X[rows[first], cols[first]], X.shape))
    assert np.sqrt(np.mean((model.to_dense() - X)[known] ** 2)) < 1.1 * size + 0.01


@pytest.mark.parametrize(
    ("loss", "noise"), [("logistic", 0.0), ("logistic", 0.3), ("ordinal", 0.0)]
)
def test_sparse_cells_that_are_nearly_certain_do_not_run_away(loss, noise) -> None:
    """A second block of components began with squares about labels of the wrong side."""
    rows, cols, _, shape = make_ratings((200, 80), 4000)
    rng = np.random.default_rng(1)
    Z = rng.standard_normal((shape[0], 3)) @ rng.standard_normal((3, shape[1]))
    z = Z[rows, cols] + noise * rng.standard_normal(len(rows))
    y = (z > 0).astype(float) if loss == "logistic" else np.searchsorted([-1, 0, 1], z) + 1.0
    held = split_cells(len(y), 0.1)
    model = MatrixCompletion(loss=loss, random_state=0)
    model.fit((rows[~held], cols[~held], y[~held], shape))
    assert model.factors_.rank >= 3
    off = np.abs(model.predict(rows[held], cols[held]) - y[held])
    assert np.mean(off < 0.5) > 0.78
    # Surprise is what the model itself expects: z that grew without end would be too certain.
    chance = model.predict_proba(rows[held], cols[held])
    likely = chance[np.arange(held.sum()), (y[held] - (loss == "ordinal")).astype(int)]
    assert -np.mean(np.log(likely)) < -1.3 * np.mean((chance * np.log(chance)).sum(1))


@pytest.mark.parametrize("loss", ["logistic", "ordinal"])
def test_labels_that_can_nearly_be_told_apart_have_logits_with_an_end(loss) -> None:
    """A few that are wrong moved theirs by twenty times as much at every sweep, up to NaN."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 30)) + rng.standard_normal(30)
    known = rng.random(z.shape) < 0.5
    noisy = z + 0.3 * rng.standard_normal(z.shape)
    bounds = [0.0] if loss == "logistic" else [-0.5, 0.5]
    cells = np.where(known, np.digitize(noisy, bounds), np.nan)
    model = MatrixCompletion(2, loss=loss, pattern=False, random_state=0).fit(cells)
    assert np.abs(model.decision_function(*np.nonzero(~known))).max() < 1e6
    if loss == "logistic":
        assert np.mean((model.to_dense() > 0.5)[~known] == (z > 0)[~known]) > 0.8


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_twenty_levels_of_rows_of_different_sizes_are_found(share) -> None:
    """A cell far on the wrong side has no curvature, and would send its row further on."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((26, 2)) @ rng.standard_normal((2, 270))
    Z *= np.exp(rng.standard_normal((26, 1)))
    Y = 1.0 + np.searchsorted(np.quantile(Z, np.arange(1, 20) / 20), Z)
    known = rng.random(Z.shape) < share
    model = MatrixCompletion(loss="ordinal", random_state=0)
    model.fit((*np.nonzero(known), Y[known], Y.shape))
    assert model.rank_ == 2
    assert np.mean(np.abs(model.predict(*np.nonzero(~known)) - Y[~known])) < 0.6
