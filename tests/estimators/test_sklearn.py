"""scikit-learn's own checks."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from pygeco import MatrixCompletion, Solver
from soak import SOAK

REPEATED = (
    "A row given twice is two rows of the matrix, with two entries in every u and a say of their "
    "own in its norm and prior; a row of weight two has one."
)
WHOLE_ROWS = "predict(X) completes rows: one value per column, where the check wants one per row."
EXPLAINED = {
    "check_sample_weight_equivalence_on_dense_data": REPEATED,
    "check_sample_weight_equivalence_on_sparse_data": REPEATED,
    "check_estimator_sparse_array": WHOLE_ROWS,
    "check_estimator_sparse_matrix": WHOLE_ROWS,
}


OTHERS = [
    MatrixCompletion(rank=1, penalty=None, biases=False, solver=Solver(correction="core")),
    MatrixCompletion(rank=1),
]


@parametrize_with_checks(
    [MatrixCompletion(), *(OTHERS if SOAK else [])],
    expected_failed_checks=lambda estimator: EXPLAINED,
)
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)
