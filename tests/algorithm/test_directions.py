import numpy as np
import pytest

from oracles import Matrix, problem
from pygeco import LowRank
from pygeco.algorithm.directions import Lanczos, Power, Signs, leading_block
from pygeco.arrays import linalg


def matrices() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)

    def with_spectrum(m, n, s):
        P = np.linalg.qr(rng.standard_normal((m, len(s))))[0]
        Q = np.linalg.qr(rng.standard_normal((n, len(s))))[0]
        return (P * s) @ Q.T

    sparse = np.where(rng.random((40, 60)) < 0.1, rng.standard_normal((40, 60)), 0.0)
    return {
        "gaussian": rng.standard_normal((30, 20)),
        "wide": rng.standard_normal((8, 70)),
        "sparse": sparse,
        "rank one": with_spectrum(25, 30, np.array([2.0])),
        "rank two": with_spectrum(25, 30, np.array([2.0, 1.9])),
        "rank three, flat": with_spectrum(20, 15, np.ones(3)),
        "one row": rng.standard_normal((1, 40)),
        "two rows": rng.standard_normal((2, 40)),
        "one column": rng.standard_normal((40, 1)),
        "one cell": np.array([[-3.0]]),
        "identity": np.eye(20),
        "clustered": with_spectrum(30, 30, 1 - 1e-3 * np.arange(30.0)),
        "pairs": with_spectrum(30, 30, np.repeat(0.9 ** np.arange(15.0), 2)),
        "fast decay": with_spectrum(30, 40, 10.0 ** -np.arange(0.0, 15.0)),
        "one tall cell": np.pad([[5.0]], ((0, 9), (0, 11))),
    }


SCALES = [1.0, 1e-30, 1e30]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", list(matrices()))
@pytest.mark.parametrize("search", [Lanczos(), Lanczos(tau=0.0), Power(), Power(tau=0.05)])
def test_sigma_and_upper_enclose_the_largest_singular_value(search, name, scale) -> None:
    M = scale * matrices()[name]
    true = np.linalg.norm(M, 2)
    for seed in range(5):
        pair = search(Matrix(M), np.random.default_rng(seed))
        assert pair.sigma <= true * (1 + 1e-12)
        assert true <= pair.upper
        np.testing.assert_allclose(pair.u @ M @ pair.v, pair.sigma, rtol=1e-10)
        np.testing.assert_allclose([np.linalg.norm(pair.u), np.linalg.norm(pair.v)], 1)
        assert pair.confidence == search.confidence


@pytest.mark.parametrize("search", [Lanczos(), Power()])
def test_zero_matrix_has_no_direction(search) -> None:
    pair = search(Matrix(np.zeros((4, 6))), np.random.default_rng(0))
    assert pair.sigma == pair.upper == 0.0
    assert not pair.u.any()
    assert not pair.v.any()


@pytest.mark.parametrize("name", list(matrices()))
@pytest.mark.parametrize("tau", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("kind", [Lanczos, Power])
def test_tau_is_honored_and_proved(kind, tau, name) -> None:
    M = matrices()[name]
    true = np.linalg.norm(M, 2)
    search = kind(tau=tau, max_iter=5000)
    for seed in range(3):
        pair = search(Matrix(M), np.random.default_rng(seed))
        assert pair.sigma >= (1 - tau) * true * (1 - 1e-12)
        assert pair.sigma >= (1 - tau) * pair.upper * (1 - 1e-12)


@pytest.mark.parametrize("kind", [Lanczos, Power])
def test_a_looser_tau_is_proved_sooner(kind) -> None:
    M = Matrix(matrices()["gaussian"])
    passes = [
        kind(tau=tau, max_iter=5000)(M, np.random.default_rng(0)).passes
        for tau in (0.9, 0.5, 0.1, 0.01)
    ]
    assert passes == sorted(passes)
    assert passes[0] < passes[-1] < 2 * 5000


def test_passes_count_the_products() -> None:
    calls = []

    class Counted(Matrix):
        def matvec(self, x):
            calls.append(1)
            return super().matvec(x)

        def rmatvec(self, y):
            calls.append(1)
            return super().rmatvec(y)

    for name, M in {**matrices(), "zero": np.zeros((5, 4))}.items():
        for search in (Lanczos(), Power(tau=0.1), Signs()):
            calls.clear()
            pair = search(Counted(M), np.random.default_rng(0))
            assert pair.passes == len(calls), (name, search)


@pytest.mark.parametrize("tau", [0.2, 0.05, 0.01])
def test_lanczos_needs_fewer_passes_than_power(tau) -> None:
    lanczos = power = 0
    for seed in range(5):
        M = np.random.default_rng(seed).standard_normal((50, 80))
        rng = np.random.default_rng
        lanczos += Lanczos(tau, max_iter=5000)(Matrix(M), rng(seed)).passes
        power += Power(tau, max_iter=5000)(Matrix(M), rng(seed)).passes
    assert lanczos < 0.6 * power


@pytest.mark.parametrize("confidence", [0.5, 0.9])
@pytest.mark.parametrize("kind", [Lanczos, Power])
@pytest.mark.parametrize("max_iter", [1, 2])
def test_upper_fails_no_more_often_than_it_says(kind, max_iter, confidence) -> None:
    """Over random starts. The spectrum is one for which the bound is nearly tight."""
    M = np.diag([1.0, *(0.05 * 0.9 ** np.arange(11.0))])
    search = kind(tau=0.0, max_iter=max_iter, confidence=confidence)
    starts = 2000
    failures = sum(
        search(Matrix(M), np.random.default_rng(seed)).upper < 1.0 for seed in range(starts)
    )
    allowed = (1 - confidence) * starts
    assert failures <= allowed + 4 * np.sqrt(allowed * confidence)
    assert failures >= 0.2 * allowed  # the bound is not vacuous


def test_lanczos_bound_does_not_fail_at_the_default_confidence() -> None:
    rng = np.random.default_rng(0)
    for seed in range(300):
        m, n = rng.integers(1, 30, 2)
        M = rng.standard_normal((m, n)) * 2.0 ** -rng.integers(0, 12, n)
        pair = Lanczos()(Matrix(M), np.random.default_rng(seed))
        assert np.linalg.norm(M, 2) <= pair.upper


def test_signs_are_balanced_and_a_fixed_point() -> None:
    for seed in range(20):
        M = np.random.default_rng(seed).standard_normal((13, 9))
        pair = Signs(max_iter=1000, tol=0.0)(Matrix(M), np.random.default_rng(seed))
        np.testing.assert_allclose(np.abs(pair.u), 1 / np.sqrt(13))
        np.testing.assert_allclose(np.abs(pair.v), 1 / np.sqrt(9))
        np.testing.assert_array_equal(np.sign(M @ pair.v), np.sign(pair.u))
        np.testing.assert_array_equal(np.sign(M.T @ pair.u), np.sign(pair.v))
        np.testing.assert_allclose(pair.u @ M @ pair.v, pair.sigma)


def test_signs_alternate_from_a_random_vector_of_signs() -> None:
    """One alternation by hand: u = sign(G v) and v = sign(Gᵀ u)."""
    for seed in range(5):
        M = np.random.default_rng(seed).standard_normal((13, 9))
        pair = Signs(max_iter=1)(Matrix(M), np.random.default_rng(seed))
        start = np.where(np.random.default_rng(seed).random(9) < 0.5, -1, 1)
        np.testing.assert_array_equal(np.sign(pair.u), np.sign(M @ start))
        np.testing.assert_array_equal(np.sign(pair.v), np.sign(M.T @ np.sign(M @ start)))


def test_signs_never_lose_over_alternations() -> None:
    M = np.random.default_rng(3).standard_normal((40, 50))
    gains = [
        Signs(max_iter=k, tol=0.0)(Matrix(M), np.random.default_rng(7)).sigma for k in range(1, 15)
    ]
    assert gains == sorted(gains)
    assert gains[-1] > gains[0]


def test_signs_take_zero_where_the_gradient_is_zero() -> None:
    M = np.random.default_rng(0).standard_normal((6, 5))
    M[2], M[:, 3] = 0.0, 0.0
    pair = Signs()(Matrix(M), np.random.default_rng(0))
    assert pair.u[2] == pair.v[3] == 0.0
    np.testing.assert_allclose(np.linalg.norm(pair.u), 1)
    assert Signs()(Matrix(np.zeros((3, 2))), np.random.default_rng(0)).sigma == 0.0


def test_signs_find_more_than_one_pair() -> None:
    M = np.random.default_rng(0).standard_normal((30, 30))
    found = {Signs()(Matrix(M), np.random.default_rng(k)).sigma for k in range(10)}
    assert len(found) > 1


def test_directions_work_on_the_gradient_of_entries() -> None:
    case = problem((30, 40), 0.2)
    G = case.entries.gradient(LowRank.zero((30, 40)))
    true = np.linalg.norm(case.gradient(0.0), 2)
    pair = Lanczos(tau=0.01)(G, np.random.default_rng(1))
    assert 0.99 * true <= pair.sigma <= true * (1 + 1e-12)
    assert true <= pair.upper <= 1.01 * true


@pytest.mark.parametrize("kind", [Lanczos, Power])
@pytest.mark.parametrize(
    ("argument", "value"),
    [("tau", 1.0), ("tau", -0.1), ("max_iter", 0), ("confidence", 1.0), ("confidence", 0.0)],
)
def test_bad_settings_name_the_argument(kind, argument, value) -> None:
    with pytest.raises(ValueError, match=f"^{argument}: must be"):
        kind(**{argument: value})


@pytest.mark.parametrize("max_iter", [0, -1])
def test_signs_need_an_iteration(max_iter) -> None:
    with pytest.raises(ValueError, match=r"^max_iter: must be at least 1"):
        Signs(max_iter=max_iter)


@pytest.mark.parametrize("kind", [Lanczos, Power])
def test_the_ends_of_the_settings(kind) -> None:
    search = kind(tau=0.0, max_iter=1, confidence=1e-9)
    pair = search(Matrix(np.diag([3.0, 1.0, 0.5])), np.random.default_rng(0))
    assert 0 < pair.sigma <= 3 * (1 + 1e-12)
    assert pair.passes == 2


@pytest.mark.parametrize("scale", [1e-200, 1e-150, 1e150, 1e200])
@pytest.mark.parametrize("search", [Lanczos(), Power(), Signs()])
def test_scales_whose_squares_leave_the_range(search, scale) -> None:
    M = matrices()["gaussian"]
    one = search(Matrix(M), np.random.default_rng(0))
    other = search(Matrix(scale * M), np.random.default_rng(0))
    np.testing.assert_allclose(other.sigma / scale, one.sigma, rtol=1e-10)
    np.testing.assert_allclose(other.u, one.u, atol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(other.v), 1)


@pytest.mark.parametrize("max_iter", [1, 2, 5])
def test_the_bound_of_the_power_method_as_it_is_stated(max_iter) -> None:
    """σ₁ ≤ (‖Mᵏx‖ / c)^(1/2k) with M = GᵀG, ‖x‖ = 1 and c = δ √(π/2) / ‖Gaussian start‖."""
    G = matrices()["gaussian"]
    pair = Power(max_iter=max_iter, confidence=0.9)(Matrix(G), np.random.default_rng(4))
    start = np.random.default_rng(4).standard_normal(20)
    x = np.linalg.matrix_power(G.T @ G, max_iter) @ start / np.linalg.norm(start)
    c = 0.1 * np.sqrt(np.pi / 2) / np.linalg.norm(start)
    assert pair.upper == pytest.approx((np.linalg.norm(x) / c) ** (1 / (2 * max_iter)), rel=1e-9)


def test_the_bound_leaves_room_for_rounding_where_the_start_says_all() -> None:
    """Of one column every start is the singular vector: σ₁ is known, up to the arithmetic."""
    rng = np.random.default_rng(0)
    for seed in range(30):
        column = rng.standard_normal((50, 1))
        for search in (Power(confidence=1e-3), Lanczos(confidence=1e-3)):
            pair = search(Matrix(column), np.random.default_rng(seed))
            assert np.linalg.norm(column) <= pair.upper


def test_an_operator_that_is_zero_on_one_side_has_no_direction() -> None:
    class Rounding(Matrix):
        def rmatvec(self, y):
            return np.zeros(self.M.shape[1])

    G = Rounding(1e-300 * np.ones((4, 3)))
    for search in (Power(), Signs()):
        pair = search(G, np.random.default_rng(0))
        assert pair.sigma == pair.upper == 0.0
        assert pair.passes == (2 if isinstance(search, Power) else pair.passes)
        np.testing.assert_array_equal(pair.u, np.zeros(4))
        np.testing.assert_array_equal(pair.v, np.zeros(3))


def test_signs_of_one_row_or_one_column() -> None:
    """A vector of one sign has the norm one: that is not nothing."""
    for M in (np.ones((1, 3)), np.ones((3, 1)), np.ones((1, 1))):
        pair = Signs()(Matrix(M), np.random.default_rng(0))
        np.testing.assert_allclose(pair.sigma, np.sqrt(M.size))


def test_lanczos_is_exact_where_its_spaces_are_complete() -> None:
    """After min(m, n) max_iter, or after as many as there are different singular values."""
    rng = np.random.default_rng(0)
    for m, n in ((7, 5), (5, 7), (40, 30)):  # more vectors than there is room for at first
        M = rng.standard_normal((m, n))
        pair = Lanczos(tau=0.0, max_iter=1000)(Matrix(M), rng)
        np.testing.assert_allclose([pair.sigma, pair.upper], np.linalg.norm(M, 2), rtol=1e-11)
        assert pair.passes <= 2 * min(m, n)
    flat = Lanczos(tau=0.0)(Matrix(matrices()["rank three, flat"]), rng)
    np.testing.assert_allclose([flat.sigma, flat.upper], 1.0, rtol=1e-11)
    assert flat.passes <= 4


def test_a_pair_says_how_it_was_found() -> None:
    M, rng = Matrix(matrices()["gaussian"]), np.random.default_rng(0)
    zero = Matrix(np.zeros((3, 4)))
    for search, kind in ((Lanczos(), "singular"), (Power(), "singular"), (Signs(), "signs")):
        assert search(M, rng).kind == search(zero, rng).kind == kind
    assert Signs()(M, rng).upper == np.inf
    assert Signs()(M, rng).confidence == 1.0


def test_signs_stop_where_an_alternation_gains_too_little() -> None:
    M = Matrix(np.random.default_rng(3).standard_normal((60, 50)))
    exact, rough = (Signs(max_iter=1000, tol=t)(M, np.random.default_rng(7)) for t in (0.0, 0.5))
    assert rough.passes < exact.passes < 2000  # at a fixed point even no gain is enough
    assert rough.sigma <= exact.sigma
    assert Signs(max_iter=2, tol=0.0)(M, np.random.default_rng(7)).passes == 4


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (3, 9), (9, 3)])
@pytest.mark.parametrize("count", [1, 3])
def test_leading_block_is_the_truncated_svd(shape, count) -> None:
    rng = np.random.default_rng(0)
    k = min(shape)
    P, Q = (np.linalg.qr(rng.standard_normal((side, k)))[0] for side in shape)
    s = 3.0 ** -np.arange(k)
    M = (P * s) @ Q.T
    U, found, V = leading_block(Matrix(M), count, np.random.default_rng(1), iterations=8)
    assert U.shape == (shape[0], count)
    assert V.shape == (shape[1], count)
    np.testing.assert_allclose(found, s[:count], rtol=1e-10)
    np.testing.assert_allclose((U * found) @ V.T, (P[:, :count] * s[:count]) @ Q[:, :count].T)
    known = leading_block(Matrix(M), count, np.random.default_rng(1), 1, start=Q[:, :count])
    np.testing.assert_allclose(known[1], s[:count], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(known[2] * V, axis=0)), 1)


@pytest.mark.parametrize("large", [1, linalg.LARGE])
def test_leading_block_keeps_the_precision_of_its_start(monkeypatch, large) -> None:
    """Also of arrays that are long enough for QR to go another way."""
    monkeypatch.setattr(linalg, "LARGE", large)
    M = np.random.default_rng(0).standard_normal((30, 20))
    start = np.linalg.svd(M)[2][:9].T.astype(np.float32)
    U, s, V = leading_block(Matrix(M.astype(np.float32)), 2, np.random.default_rng(0), start=start)
    assert U.dtype == V.dtype == np.float32
    np.testing.assert_allclose(s, np.linalg.svd(M)[1][:2], rtol=1e-4)


def test_more_iterations_bring_a_block_nearer() -> None:
    M = np.random.default_rng(5).standard_normal((60, 50))
    top = np.linalg.svd(M)[1][:3]
    errors = [
        np.abs(leading_block(Matrix(M), 3, np.random.default_rng(0), k)[1] - top).max()
        for k in (1, 2, 4, 30)
    ]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 1e-3 * errors[0]
    assert np.all(leading_block(Matrix(M), 3, np.random.default_rng(0))[1] <= top * (1 + 1e-12))
