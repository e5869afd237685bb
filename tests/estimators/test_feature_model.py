from sklearn.utils.estimator_checks import parametrize_with_checks

import pygeco


# A larger ridge where 15 samples have several minima.
@parametrize_with_checks(
    [
        pygeco.LowRankClassifier(),
        pygeco.ReducedRankRegressor(rank=2),
        pygeco.QuadraticClassifier(),
        pygeco.QuadraticRegressor(rank=2, alpha=0.3),
    ]
)
def test_scikit_learn(estimator, check):
    check(estimator)
