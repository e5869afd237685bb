"""What `transform` gives for a row depends on that row alone: not on the others of a batch, how
many they are, or in what blocks they are worked.
"""

import numpy as np
import pytest

from pygeco import LowRankImputer, MatrixCompletion, RobustPCA
from pygeco.objectives.dense import sweep as dense_sweep
from pygeco.objectives.entries import row_newton

RANK = 18  # above 16, lines were given systems of their own only where there was room
MODELS = {
    "robust": RobustPCA(RANK, tol=1e-2, random_state=0),
    "squared": RobustPCA(RANK, loss="squared", tol=1e-2, random_state=0),
    "imputer": LowRankImputer(RANK, alpha=1e-3, random_state=0),
    "imputer by the evidence": LowRankImputer(random_state=0),
    "evidence": MatrixCompletion(random_state=0),
    "huber": MatrixCompletion(RANK, loss="huber", penalty=None, biases=True, random_state=0),
}


@pytest.fixture(scope="module")
def table():
    """Columns of very different sizes, some cells of which are wild or missing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((75, RANK)) @ rng.standard_normal((RANK, 50))
    X = (X + 0.1 * rng.standard_normal(X.shape)) * np.geomspace(1, 30, 50)
    X[rng.random(X.shape) < 0.03] += 200
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


@pytest.fixture(scope="module", params=MODELS)
def model(request, table):
    return MODELS[request.param].fit(table[:60])


@pytest.fixture(scope="module")
def expected(model, table):
    """Each new row alone."""
    return np.concatenate([model.transform(row[None]) for row in table[60:]])


@pytest.mark.parametrize("rows", [1, 4, 1000])
def test_a_row_depends_on_itself_alone(model, table, expected, rows, monkeypatch) -> None:
    new = table[60:]
    for module, room in ((dense_sweep, "MAX_SYSTEM_FLOATS"), (row_newton, "MAX_GRAM_FLOATS")):
        monkeypatch.setattr(module, room, rows * RANK**2)  # for the systems of so many at once
    for found in (model.transform(new), model.transform(new[::-1])[::-1]):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
