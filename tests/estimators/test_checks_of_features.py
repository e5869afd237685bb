from sklearn.utils.estimator_checks import parametrize_with_checks

import pygeco


@parametrize_with_checks(
    [
        pygeco.LowRankClassifier(rank=2),
        pygeco.ReducedRankRegressor(rank=2),
        pygeco.QuadraticClassifier(rank=2),
        pygeco.QuadraticRegressor(rank=2),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
