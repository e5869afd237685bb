"""Linear measurements of several outputs, against their dense formula."""

import numpy as np
import pytest

from measured_cases import features
from oracles import dense, random_low_rank
from pygeco import Features, LowRank


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson", "multinomial"])
@pytest.mark.parametrize("intercept", [False, True])
def test_value_gradient_and_intercepts(loss, intercept) -> None:
    case = features(loss, intercept=intercept)
    A = random_low_rank(case.shape, 2)
    full = A.to_dense()
    assert case.objective.value(A) == pytest.approx(case.value(full), rel=1e-6)
    G = case.objective.gradient(A)
    np.testing.assert_allclose(dense(G), case.gradient(full), atol=1e-6)
    assert G.inner == pytest.approx(np.sum(case.gradient(full) * full), abs=1e-6)
    np.testing.assert_allclose(
        case.objective.intercepts(A) - case.objective.intercepts(A).mean(),
        case.intercepts(full) - case.intercepts(full).mean(),
        atol=1e-4,
    )


def test_one_output_may_be_a_vector() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.standard_normal(20)
    A = LowRank.from_dense(rng.standard_normal((1, 3)))
    assert Features(X, y, "squared").value(A) == pytest.approx(
        Features(X, y[:, None], "squared").value(A)
    )
