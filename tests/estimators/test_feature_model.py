from sklearn.utils.estimator_checks import parametrize_with_checks

import pygeco


# The ridge makes the optimum of scikit-learn's checks with 15 samples a point, not a flat region.
@parametrize_with_checks(
    [
        pygeco.LowRankClassifier(rank=2, alpha=0.01),
        pygeco.ReducedRankRegressor(rank=2),
        pygeco.QuadraticClassifier(rank=1, alpha=0.1),
        pygeco.QuadraticRegressor(rank=2, alpha=0.3),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
