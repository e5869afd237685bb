"""The whole package on a GPU against the CPU. Skipped where there is none."""

import numpy as np
import pytest

from pygeco import Dense, Entries, MatrixCompletion, RobustPCA, Solver, Trace, losses, minimize
from pygeco.arrays.kinds import host
from pygeco.data import make_ratings
from pygeco.engines import choose_engine
from pygeco.engines.cuda.driver import count_gpus

pytestmark = pytest.mark.skipif(not count_gpus(), reason="no GPU")
# In float32 the discrete choices of sign alternation may turn on the last bit of a loss's slope.
RATINGS = make_ratings((300, 200), 9_000, dtype=np.float64)
SOLVERS = {
    "paper": (Solver.paper(), None),
    "core": (Solver(correction="core"), None),
    "sweep": (Solver(correction="sweep"), None),
    "trace": (Solver(correction="sweep"), Trace(1e-3)),
}


def objectives(objective, solver, penalty=None):
    path = minimize(objective, 4, solver, penalty=penalty, random_state=0)
    return [step.objective for step in path], path.A


@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_paths_agree_at_each_rank_and_repeat_their_bits(name, loss) -> None:
    expected, _ = objectives(Entries(*RATINGS, loss=loss), *SOLVERS[name])
    found, A = objectives(Entries(*RATINGS, loss=loss, engine="cuda"), *SOLVERS[name])
    _, again = objectives(Entries(*RATINGS, loss=loss, engine="cuda"), *SOLVERS[name])
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_array_equal(host(A.U), host(again.U))


def test_a_loss_of_the_users_own_and_dense_data() -> None:
    loss = losses.Custom(lambda z, y: np.cosh(z - y) - 1, lambda z, y: np.sinh(z - y))
    Y = np.random.default_rng(0).standard_normal((40, 30))
    known, found = (
        objectives(Dense(Y, loss, engine=name), Solver())[0] for name in ("cpu", "cuda")
    )
    np.testing.assert_allclose(found, known, rtol=1e-5)


def test_a_model_is_fitted_on_one_engine_and_served_on_the_other() -> None:
    plain = MatrixCompletion(posterior=3, random_state=0).fit(RATINGS)
    model = MatrixCompletion(posterior=3, random_state=0, engine="cuda").fit(RATINGS)
    rows, cols = RATINGS[:2]
    expected = plain.predict(rows, cols)
    np.testing.assert_allclose(model.predict(rows, cols), expected, atol=1e-2)
    there = model.predict(rows, cols)
    np.testing.assert_allclose(model.to("cpu").predict(rows, cols), there, atol=1e-4)
    np.testing.assert_allclose(model.to("cuda").predict(rows, cols), there, atol=1e-4)
    np.testing.assert_allclose(plain.to("cuda").predict(rows, cols), expected, atol=1e-4)


def test_cupy_arrays_choose_the_engine() -> None:
    cupy = choose_engine("cuda").launch.cupy
    rows, cols, values = (cupy.asarray(x) for x in RATINGS[:3])
    assert Entries(rows, cols, values, RATINGS.shape).engine.name == "cuda"
    assert isinstance(RobustPCA(2).fit(cupy.random.rand(30, 20)).components_, cupy.ndarray)
    model = MatrixCompletion(random_state=0).fit((rows, cols, values, RATINGS.shape))
    assert isinstance(model.predict(rows, cols), cupy.ndarray)
    assert isinstance(model.predict(*RATINGS[:2]), np.ndarray)


def test_too_little_memory_says_what_would_fit() -> None:
    launch = choose_engine("cuda").launch
    entries = Entries(*make_ratings((60_000, 50_000), 500_000), engine="cuda")
    pool = launch.cupy.get_default_memory_pool()
    pool.free_all_blocks()
    pool.set_limit(pool.used_bytes() + (16 << 20))
    try:
        with pytest.raises(MemoryError, match=r"GiB more than .* would fit"):
            minimize(entries, 40, Solver(correction="sweep"))
    finally:
        pool.set_limit(0)
    with pytest.raises(MemoryError, match=r"100,000,000,000 cells need .* cells would fit"):
        launch.check_room(10**11, 4)
