"""scikit-learn's own checks."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from pygeco import MatrixCompletion, Solver


@parametrize_with_checks(
    [MatrixCompletion(rank=1, penalty=None, biases=False, solver=Solver(correction="core"))]
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)
