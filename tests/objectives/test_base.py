"""What an objective says of itself where it states nothing more than it must."""

import numpy as np
import pytest

from oracles import dense, random_low_rank
from pygeco import Clicks, Dense, Entries, Features, LowRank, Quadratic, Sensing, minimize
from pygeco.arrays.kinds import HOST
from pygeco.objectives import Objective
from pygeco.objectives.custom import CustomGradient, CustomSpan
from pygeco.objectives.scaled import scale_objective


class Distance(Objective):
    """‖A − Y‖²/2."""

    smoothness = 1.0

    def __init__(self, Y) -> None:
        self.Y, self.shape = Y, Y.shape

    def value(self, A):
        return 0.5 * float(np.sum((A.to_dense() - self.Y) ** 2))

    def slopes(self, A):
        return A.to_dense() - self.Y

    def gradient(self, A):
        G = self.slopes(A)
        return CustomGradient(G, self.value(A), float(np.sum(G * A.to_dense())))

    def span(self, A):
        return CustomSpan(self, A.U, A.V)


def test_every_ability_has_a_default() -> None:
    objective = Distance(np.eye(3))
    assert not any(
        (objective.symmetric, objective.can_sweep, objective.nonnegative, objective.squared)
    )
    assert objective.kind is HOST
    assert objective.slack(LowRank.zero((3, 3))) is None
    assert objective.counts() is None
    assert objective.default_correction(penalized=True, rank=2) == "core"
    with pytest.raises(ValueError, match=r"^correction: Distance cannot be swept; use correction="):
        objective.half_sweep(np.zeros((3, 1)), np.zeros((3, 1)), side="row")


def test_what_must_be_stated_is_missed() -> None:
    class Bare(Objective):
        """States nothing."""

    for ask in (Bare.value, Bare.gradient, Bare.span):
        with pytest.raises(NotImplementedError, match=r"^objective: .* has no `.*\(A\)`; write"):
            ask(Bare(), LowRank.zero((2, 2)))


def test_without_a_sign_nothing_is_proved_and_the_minimum_is_found_all_the_same() -> None:
    Y = np.random.default_rng(0).standard_normal((6, 5))
    path = minimize(Distance(Y), 5, random_state=0)
    assert path[-1].objective == pytest.approx(0, abs=1e-8)


SHAPE = M, N = 9, 6
RNG = np.random.default_rng(5)
WHOLE = RNG.standard_normal(SHAPE)
CELLS = np.nonzero(RNG.random(SHAPE) < 0.6)
CASES = {
    "squares": Entries(*CELLS, WHOLE[CELLS], SHAPE),
    "single": Entries(*CELLS, WHOLE[CELLS].astype(np.float32), SHAPE),
    "huber": Entries(*CELLS, WHOLE[CELLS], SHAPE, loss="huber"),
    "lean": Entries(*CELLS, WHOLE[CELLS], SHAPE, lean=True),
    "one order": Entries(np.arange(5000) % 8, np.arange(5000) // 8, np.ones(5000), (8, 625)),
    "clicks": Clicks((*CELLS, np.ones(len(CELLS[0])), SHAPE)),
    "dense": Dense(WHOLE),
    "scaled": scale_objective(Entries(*CELLS, WHOLE[CELLS], SHAPE), 0.5),
    "sensing": Sensing(RNG.standard_normal((20, *SHAPE)), RNG.standard_normal(20)),
    "pairs": Sensing((RNG.random((20, M)), RNG.random((20, N))), RNG.standard_normal(20)),
    "features": Features(RNG.standard_normal((30, N)), RNG.standard_normal((30, M))),
    "quadratic": Quadratic(RNG.standard_normal((20, 7)), RNG.standard_normal(20)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("ask", ["value", "gradient", "span"])
def test_a_matrix_of_another_shape_is_refused(case, ask) -> None:
    """Larger or smaller on either side: kernels would read beyond its factors."""
    objective = CASES[case]
    m, n = objective.shape
    for shape in ((m - 1, n), (m + 1, n), (m, n - 1), (m, n + 1), (1, n), (m, 1), (n + 1, m + 1)):
        sentence = rf"^A: is {shape[0]} × {shape[1]}, but {m} × {n} is asked for; give a matrix of"
        with pytest.raises(ValueError, match=sentence):
            getattr(objective, ask)(random_low_rank(shape, 1))
    if ask == "span":  # may be wider on one side
        return
    A = random_low_rank((m, n), 3)
    for U, s, V in ((A.U, A.s, A.V[:, :2]), (A.U[:, :2], A.s, A.V), (A.U, A.s[:1], A.V)):
        with pytest.raises(ValueError, match=r"^A: its factors have shapes .*; give U, s and V"):
            getattr(objective, ask)(LowRank(U, s, V))


KERNELS = ("squares", "single", "huber", "lean", "one order", "clicks", "dense", "scaled")


@pytest.mark.parametrize("case", KERNELS)
def test_products_with_arrays_of_another_length_are_refused(case) -> None:
    objective = CASES[case]
    m, n = objective.shape
    G = objective.gradient(random_low_rank((m, n), 2))
    for product, products, size in (("matvec", "matmat", n), ("rmatvec", "rmatmat", m)):
        for wrong in (0, 1, size - 1, size + 1, 3 * size):
            for name, x in ((product, np.ones(wrong)), (products, np.ones((wrong, 2)))):
                with pytest.raises(ValueError, match=rf"^[xyXY]: expected {size} "):
                    getattr(G, name)(x)
        for name, x in ((product, np.ones((size, 1))), (products, np.ones(size))):
            with pytest.raises((ValueError, IndexError)):
                getattr(G, name)(x)


@pytest.mark.parametrize("case", KERNELS)
def test_products_with_arrays_of_any_kind(case) -> None:
    """Whole numbers, single precision, strided and read-only ones."""
    objective = CASES[case]
    G = objective.gradient(random_low_rank(objective.shape, 2))
    whole = dense(G)
    close = {"rtol": 1e-4, "atol": 1e-6 * abs(whole).max()}
    for product, T in ((G.matmat, whole), (G.rmatmat, whole.T)):
        X = np.arange(2.0 * T.shape[1]).reshape(-1, 2)
        frozen = X.copy()
        frozen.flags.writeable = False
        wide = np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)
        kinds = (np.int64, np.int8 if X.max() < 128 else np.int32, np.float32, np.float64)
        for given in (*map(X.astype, kinds), frozen, wide[::2, ::3], np.asfortranarray(X)):
            np.testing.assert_allclose(product(given), T @ X, **close)


@pytest.mark.parametrize("case", [case for case in KERNELS if CASES[case].can_sweep])
@pytest.mark.parametrize("side", ["row", "column"])
def test_a_sweep_with_factors_of_another_shape_is_refused(case, side) -> None:
    objective = CASES[case]
    own, other = objective.shape if side == "row" else objective.shape[::-1]
    for rows, partners in ((own - 1, other), (own + 1, other), (own, other - 1), (own, other + 1)):
        with pytest.raises(ValueError, match=r"^(start|fixed): expected \d+ rows in 2 dimension"):
            objective.half_sweep(np.ones((partners, 2)), np.ones((rows, 2)), side=side)
    with pytest.raises(ValueError, match=r"^start: has 3 columns, but fixed has 2; give both"):
        objective.half_sweep(np.ones((other, 2)), np.ones((own, 3)), side=side)
    with pytest.raises(ValueError, match=r"^side: unknown name 'up'; use 'row' or 'column'"):
        objective.half_sweep(np.ones((other, 2)), np.ones((own, 2)), side="up")
