"""scikit-learn's own checks of the estimators for dense data."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from pygeco import LowRankImputer, RobustPCA


@parametrize_with_checks([RobustPCA(random_state=0), LowRankImputer(random_state=0)])
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)
