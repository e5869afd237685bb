"""Two functions of the user's own: equal to the objective that they imitate, and checked."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from measured_cases import features, quadratic, random_matrix, sensing
from oracles import Exact, dense
from pygeco import Custom, Entries, LowRank, Ridge, Schatten, Solver, Trace, minimize

KINDS = {
    "array": lambda G: G,
    "sparse": sp.csr_array,
    "matrix": lambda G: sp.csr_matrix(G),
    "operator": aslinearoperator,
}


def imitation(case, kind="array"):
    """The same function of the whole matrix, from dense arrays."""
    return Custom(
        case.shape,
        lambda A: case.value(A.to_dense()),
        lambda A: KINDS[kind](case.gradient(A.to_dense())),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_in_every_form(kind):
    case = sensing("squared", "dense")
    custom = imitation(case, kind)
    for rank in (0, 2):
        A = random_matrix(case, rank)
        G = custom.gradient(A)
        np.testing.assert_allclose(dense(G), case.gradient(A.to_dense()), atol=1e-12)
        np.testing.assert_allclose(
            G.rmatvec(np.ones(4)), case.gradient(A.to_dense()).T @ np.ones(4)
        )
        assert G.inner == pytest.approx(np.sum(case.gradient(A.to_dense()) * A.to_dense()))
        assert G.value == case.value(A.to_dense())


@pytest.mark.parametrize("penalty", [None, Ridge(0.02), Trace(0.02), Schatten(0.02, 1.5)], ids=str)
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_path_is_that_of_the_objective_it_imitates(loss, penalty):
    case = sensing(loss, "dense", shape=(4, 5))
    solver = Solver(direction=Exact())
    built_in = minimize(case.objective, 3, solver, penalty=penalty, random_state=0)
    custom = minimize(imitation(case, "operator"), 3, solver, penalty=penalty, random_state=0)
    np.testing.assert_allclose(
        [step.objective for step in custom], [step.objective for step in built_in], rtol=1e-6
    )
    np.testing.assert_allclose(custom.A.to_dense(), built_in.A.to_dense(), atol=2e-3)


def test_diagonal_correction_signs_replacements_and_refinement():
    case = features("logistic", seed=3)
    for solver in (
        Solver(direction=Exact(), correction="diagonal"),
        Solver(direction=Exact(), signs=True, replacements=2, refine=True),
    ):
        ours = minimize(imitation(case), 3, solver, penalty=Ridge(0.05), random_state=0)
        built_in = minimize(case.objective, 3, solver, penalty=Ridge(0.05), random_state=0)
        np.testing.assert_allclose(
            [step.objective for step in ours], [step.objective for step in built_in], rtol=1e-5
        )


def test_matrix_completion_without_a_dense_matrix():
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((9, 7)) < 0.6)
    y = rng.standard_normal(len(rows))

    def value(A: LowRank) -> float:
        return float(np.mean((A.entries(rows, cols) - y) ** 2))

    def gradient(A: LowRank) -> sp.csr_array:
        slopes = 2 * (A.entries(rows, cols) - y) / len(y)
        return sp.csr_array((slopes, (rows, cols)), (9, 7))

    solver = Solver(direction=Exact(), correction="core")
    custom = minimize(Custom((9, 7), value, gradient), 3, solver, random_state=0)
    built_in = minimize(Entries(rows, cols, y, (9, 7)), 3, solver, random_state=0)
    np.testing.assert_allclose(
        [step.objective for step in custom], [step.objective for step in built_in], rtol=1e-7
    )


def test_certificate_holds_against_better_matrices():
    case = features("huber", seed=1)
    path = minimize(imitation(case), 2, penalty=None, random_state=0)
    best = minimize(case.objective, 4, Solver(refine=True), random_state=0)
    gap = path[-1].certificate.gap(best[-1].certificate.trace_norm)
    assert path[-1].objective - best[-1].objective <= gap


def square(A):
    return float(np.sum(A.to_dense() ** 2))


@pytest.mark.parametrize(
    ("value", "gradient", "message"),
    [
        (lambda A: np.nan, lambda A: 2 * A.to_dense(), r"^value: returned nan"),
        (square, lambda A: A.to_dense(), r"^gradient: says .* it is not the derivative"),
        (square, lambda A: 2 * A.to_dense().T, r"^gradient: has shape \(4, 3\)"),
        (square, lambda A: A.to_dense() * np.inf, r"^gradient: has NaN or infinite entries"),
        (square, lambda A: sp.csr_array(A.to_dense() * np.nan), r"^gradient: has NaN"),
        (
            square,
            lambda A: LinearOperator((3, 4), matvec=lambda x: 2 * A.matvec(np.ravel(x))),
            r"^gradient: the LinearOperator needs rmatvec",
        ),
        (lambda A: None, lambda A: 2 * A.to_dense(), r"^value: returned NoneType, but"),
        (lambda A: A.to_dense() ** 2, lambda A: 2 * A.to_dense(), r"^value: returned ndarray, but"),
        (lambda A: 1j, lambda A: 2 * A.to_dense(), r"^value: returned complex, but R\(A\) is one"),
        (square, lambda A: None, r"^gradient: returned NoneType; return"),
        (square, lambda A: 2j * A.to_dense(), r"^gradient: returned ndarray; return .* a real"),
        (square, np.zeros((3, 4)), r"^gradient: expected a function of a LowRank, not ndarray"),
        (3, square, r"^value: expected a function of a LowRank, not int"),
    ],
)
def test_functions_that_are_wrong(value, gradient, message):
    with pytest.raises(ValueError, match=message):
        Custom((3, 4), value, gradient)


def test_what_is_right_passes_the_test():
    Custom((3, 4), square, lambda A: 2 * A.to_dense())
    Custom((1, 1), lambda A: 1e9 + square(A), lambda A: 2 * A.to_dense())
    Custom((3, 4), lambda A: float(np.abs(A.to_dense()).sum()), lambda A: np.sign(A.to_dense()))


def test_errors_of_the_functions_say_what_they_were_given():
    with pytest.raises(TypeError) as caught:
        Custom((3, 4), lambda A: np.sum(A - np.ones((3, 4))), lambda A: 2 * A.to_dense())
    assert "A.to_dense() is the m × n array" in caught.value.__notes__[0]


def test_a_value_below_zero_is_found_during_the_run():
    """Certificates rest on R ≥ 0: seen at random matrices, where it may be far from its least."""
    Y = np.random.default_rng(0).standard_normal((3, 4))

    def objective(lowered):
        return Custom(
            Y.shape,
            lambda A: square(A) - 2 * np.sum(A.to_dense() * Y) + np.sum(Y * Y) - lowered,
            lambda A: 2 * (A.to_dense() - Y),
            nonnegative=True,
        )

    assert minimize(objective(0.0), 3, random_state=0)[-1].objective < 1e-9  # or below, rounded
    with pytest.raises(ValueError, match=r"^nonnegative: value is -.* at a matrix; leave"):
        minimize(objective(2.0), 3, random_state=0)


@pytest.mark.parametrize("form", [sp.lil_array, sp.dok_array, sp.coo_array])
def test_gradients_of_every_sparse_format(form):
    custom = Custom((3, 4), square, lambda A: form(2 * A.to_dense()))
    A = LowRank.from_dense(np.arange(12.0).reshape(3, 4))
    np.testing.assert_allclose(dense(custom.gradient(A)), 2 * A.to_dense())


def test_shape_and_smoothness():
    for shape in ((0, 3), 3, (3, 4, 5), (3.5, 4.0), "ab"):
        with pytest.raises(ValueError, match=r"^shape: expected two sizes"):
            Custom(shape, square, lambda A: 2 * A.to_dense())
    custom = Custom((3, 4), square, lambda A: 2 * A.to_dense())
    with pytest.raises(ValueError, match=r"^smoothness: not known"):
        _ = custom.smoothness
    assert Custom((3, 4), square, lambda A: 2 * A.to_dense(), smoothness=2.0).smoothness == 2.0


def test_symmetric_problems_are_for_quadratic():
    """Without the constraint, Custom finds the same optimum in its own way."""
    case = quadratic("squared", seed=2)
    full = minimize(imitation(case), 5, Solver(direction=Exact()), random_state=0)
    built_in = minimize(case.objective, 5, Solver(direction=Exact()), random_state=0)
    assert full[-1].objective == pytest.approx(built_in[-1].objective, rel=1e-6)
