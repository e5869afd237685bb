"""New rows and columns that are known by a few cells and by their attributes."""

import numpy as np
import pytest

from pygeco import MatrixCompletion

M, N = 160, 60


@pytest.fixture(scope="module")
def world():
    """Rows whose vectors are mostly what two attributes say; the last 40 rows are new."""
    rng = np.random.default_rng(0)
    X, Q = rng.standard_normal((M, 2)), rng.standard_normal((N, 2))
    U = X @ rng.standard_normal((2, 2)) + 0.4 * rng.standard_normal((M, 2))
    V = Q @ rng.standard_normal((2, 2)) + 0.4 * rng.standard_normal((N, 2))
    return X, Q, 3 + U @ V.T + 0.3 * rng.standard_normal((M, N))


@pytest.fixture(scope="module")
def model(world):
    X, Q, Y = world
    cells = np.where(np.random.default_rng(1).random((120, 50)) < 0.3, Y[:120, :50], np.nan)
    known = {"row_attributes": X[:120], "column_attributes": Q[:50]}
    return MatrixCompletion(random_state=0, clip=False).fit(cells, **known)


def hide(Y, counts, seed=2):
    """Rows with so many cells each, at random places."""
    rng = np.random.default_rng(seed)
    out = np.full(Y.shape, np.nan)
    for i, count in enumerate(counts):
        at = rng.permutation(Y.shape[1])[:count]
        out[i, at] = Y[i, at]
    return out


def test_without_cells_it_is_the_prediction_by_attributes_alone(model, world):
    X, Q, _ = world
    none = np.full((3, 50), np.nan)
    found, deviation = model.predict(none, new_rows=X[120:123], return_std=True)
    i, j = (x.ravel() for x in np.indices((3, 50)))
    expected = model.predict(120 + i, j, new_rows=X[120:123], return_std=True)
    np.testing.assert_allclose(found.ravel(), expected[0], atol=1e-4)
    np.testing.assert_allclose(deviation.ravel(), expected[1], rtol=1e-4)
    W = model.transform(none, attributes=X[120:123])
    np.testing.assert_allclose(model.inverse_transform(W), found, atol=1e-6)
    i, j = (x.ravel() for x in np.indices((120, 2)))
    expected = model.predict(i, 50 + j, new_columns=Q[50:52], return_std=True)
    nothing = np.full((120, 2), np.nan)
    both = model.complete_columns(nothing, Q[50:52], return_std=True)
    for one, other in zip(both, expected, strict=True):
        np.testing.assert_allclose(one.ravel(), other, rtol=1e-4, atol=1e-4)
    W = model.transform_columns(nothing, attributes=Q[50:52])
    assert W.shape == (2, model.rank_ + 1)


def test_attributes_matter_with_few_cells_and_hardly_with_many(model, world):
    X, _, Y = world
    new = Y[120:, :50]

    def error(cells, known):
        hidden = np.isnan(cells)
        return np.sqrt(np.mean((model.predict(cells, new_rows=known) - new)[hidden] ** 2))

    few, many = hide(new, [2] * 40), hide(new, [40] * 40)
    assert error(few, X[120:]) < 0.8 * error(few, None)
    moved = model.predict(many, new_rows=X[120:]) - model.predict(many)
    assert np.sqrt(np.mean(moved**2)) < 0.1 * np.std(new)


@pytest.mark.parametrize("count", [0, 1, 5, 25])
def test_deviations_hold_what_they_say(model, world, count):
    X, _, Y = world
    new = Y[120:, :50]
    cells = hide(new, [count] * 40)
    found, deviation = model.predict(cells, new_rows=X[120:], return_std=True)
    hidden = np.isnan(cells)
    share = np.mean(np.abs(found - new)[hidden] < 1.645 * deviation[hidden])
    assert 0.82 < share < 0.97


def test_a_row_is_the_dense_posterior_of_its_cells_and_attributes(model, world):
    """With the doubt about coefficients in the prior: x ~ N(μ + Bᵀx, (1 + xᵀSx) Λ⁻¹)."""
    X, _, Y = world
    cells = hide(Y[120:121, :50], [4])
    found = model.transform(cells, attributes=X[120:121])[0]
    p = model.model_.posterior
    prior, at = p.row_prior, np.flatnonzero(~np.isnan(cells[0]))
    coded = model.row_encoder_.transform(X[120:121]).toarray()[0]
    numbers = {group.name: coded[[t]] for t, group in enumerate(model.row_encoder_.groups_)}
    center, doubt = prior.center.copy(), 0.0
    for e in prior.effects:
        own = numbers.get(e.name)
        if e.source == "pattern":
            own = np.zeros(50)
            own[at] = len(at) ** -0.5
        center += (own - e.mean) @ e.coefficients
        doubt = doubt + (own - e.mean) @ e.doubt
    precision = prior.precision / (1 + np.mean(doubt**2))
    V = np.column_stack([p.cols.factor, np.ones(50)])[at].astype(float)
    spread = np.diag(np.append(p.cols.variance[at].sum(axis=0), 0.0))
    rest = (cells[0, at] - p.mean) / p.scale - p.cols.bias[at]
    system = precision + p.tau * (V.T @ V + spread)
    expected = p.scale * np.linalg.solve(system, precision @ center + p.tau * V.T @ rest)
    row = model.inverse_transform(found[None])[0] - model.biases_.mean - model.biases_.col
    np.testing.assert_allclose(
        row, p.cols.factor @ expected[:-1] + expected[-1], atol=1e-3 * np.abs(row).max()
    )


def test_lines_that_do_not_fit_are_refused(model, world):
    X, _, Y = world
    with pytest.raises(ValueError, match=r"attributes: have 2 lines, but X has 3 rows; give a"):
        model.transform(Y[:3, :50], attributes=X[:2])
    with pytest.raises(ValueError, match=r"attributes: have 2 lines, but X has 1 columns; give a"):
        model.complete_columns(Y[:120, :1], X[:2])
    plain = MatrixCompletion(random_state=0, pattern=False).fit(Y[:30, :10])
    with pytest.raises(ValueError, match=r"attributes: the model was fitted without row_attri"):
        plain.transform(Y[:3, :10], attributes=X[:3])
