"""Passes over tall arrays against dense algebra in float64."""

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import kstest

from cuda_on_cpu import emulated_engine
from pygeco.engines.columns import PLAIN, Rows, is_squarable, steps_of
from pygeco.engines.cpu import columns, noise_kernels
from pygeco.engines.cpu.columns import STEPS
from pygeco.engines.cuda.columns import CudaColumnSteps, add_long_rows

SIZES = [(1, 0), (3, 1), (256, 5), (257, 16), (1100, 37)]


@pytest.fixture(scope="module")
def emulated(tmp_path_factory):
    return CudaColumnSteps(emulated_engine(tmp_path_factory.mktemp("kernels")).launch)


@pytest.fixture(params=["plain", "cpu", "cuda"])
def steps(request):
    if request.param == "cuda":
        return request.getfixturevalue("emulated")
    return {"plain": PLAIN, "cpu": STEPS}[request.param]


def make_arrays(m, k, count):
    rng = np.random.default_rng(m + k)
    return [rng.standard_normal((m, k)).astype(np.float32) for _ in range(count)]


def test_arrays_of_the_host_go_to_the_cores() -> None:
    assert steps_of(np.zeros(3)) is STEPS


@pytest.mark.parametrize(("m", "k"), SIZES)
def test_sums_of_columns(steps, m, k) -> None:
    R, Q = make_arrays(m, k, 2)
    scale = np.linspace(0.5, 2, m).astype(np.float32)
    r, q = (a.astype(float) for a in (R, Q))
    wanted = np.sum(scale[:, None] * r**2, axis=0)
    np.testing.assert_allclose(steps.measure(R, scale), wanted, rtol=1e-4)
    np.testing.assert_allclose(steps.add_rows(Q, scale), scale.astype(float) @ q, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("m", "k"), SIZES)
def test_two_more_columns(steps, m, k, dtype) -> None:
    X, more = (x.astype(dtype) for x in make_arrays(m, k + 1, 2))
    X, first, second = X[:, :k], more[:, 0], more[:, -1]
    one = np.ones(m)
    for given, wanted in (((first, second), (first, second)), ((first, None), (first, one)),
                          ((None, second), (one, second)), ((None, None), (one, one))):  # fmt: skip
        found = steps.append_columns(X, *given)
        np.testing.assert_array_equal(found, np.column_stack([X, *wanted]))


@pytest.mark.parametrize("size", [0, 1, 40, 20_000])
def test_sums_of_long_rows(emulated, size) -> None:
    X = np.random.default_rng(size).standard_normal((3, size))
    np.testing.assert_allclose(add_long_rows(emulated.launch, X), X.sum(axis=1), atol=1e-10)


@pytest.mark.parametrize("relax", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("m", "k"), SIZES)
def test_reflections(steps, m, k, relax) -> None:
    draw, mean, old = make_arrays(m, k, 3)
    for given in ((draw, mean, old), (draw[:, 0], mean[:, 0], old[:, 0])) if k else ():
        far, middle, near = (x.astype(float) for x in given)
        wanted = middle + relax * (middle - near) + np.sqrt(1 - relax**2) * (far - middle)
        found = steps.reflect(*given, relax)
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, atol=1e-5)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("rows_at_once", [1, 64])
@pytest.mark.parametrize(("m", "k"), SIZES)
def test_moments(steps, m, k, known, centered, rows_at_once, monkeypatch) -> None:
    monkeypatch.setattr(columns, "PART_ROWS", rows_at_once)
    F, W, L = make_arrays(m, k + 1, 3)
    rng = np.random.default_rng(0)
    some = rng.random(m) < 0.6
    some[0] = True
    variances = (W[:, :k] ** 2, W[:, k] ** 2) if known else (np.zeros(0), np.zeros(0))
    factor, bias = np.ascontiguousarray(F[:, :k]) + 3, np.ascontiguousarray(F[:, k])
    rows = Rows(factor, bias, *map(np.ascontiguousarray, variances), some, L if centered else None)
    X = np.column_stack([factor, bias]).astype(float) - (L if centered else 0)
    found = steps.measure_rows(rows, np.full(k + 1, 2.5))
    assert found.number == some.sum()
    np.testing.assert_allclose(found.mean, X[some].mean(axis=0), atol=1e-5)
    wanted = np.cov(X[some].T, bias=True).reshape(k + 1, k + 1)
    np.testing.assert_allclose(found.covariance, wanted, atol=1e-5)
    spread = (W[some] ** 2).mean(axis=0) if known else np.zeros(k + 1)
    np.testing.assert_allclose(found.spread, spread, rtol=1e-5)


@pytest.mark.parametrize(("m", "k"), [*SIZES, (70, 64), (40, 130)])
def test_centered_rows(steps, m, k) -> None:
    (F,) = make_arrays(m, k + 1, 1)
    F += 2
    some = np.random.default_rng(0).random(m) < 0.6
    some[0] = True
    factor, bias = np.ascontiguousarray(F[:, :k]), np.ascontiguousarray(F[:, k])
    found = steps.center_rows(Rows(factor, bias, factor, bias, some), np.full(k + 1, 2.5))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, F - F[some].mean(axis=0), atol=1e-5)
    nobody = Rows(factor, bias, factor, bias, np.zeros(m, bool))
    np.testing.assert_array_equal(steps.center_rows(nobody, np.zeros(k + 1)), F)


def test_no_rows_and_a_guess_of_another_size(steps) -> None:
    factor, bias = make_arrays(300, 2, 1)[0], np.ones(300, np.float32)
    nobody = Rows(factor, bias, factor**2, bias, np.zeros(300, bool))
    found = steps.measure_rows(nobody, np.zeros(7))
    assert found.number == 0
    assert not found.mean.any()
    assert not found.covariance.any()


@pytest.mark.parametrize(
    ("size", "k"), [(1, 1), (5, 3), (127, 1), (400, 40), (2048, 5), (140_000, 3)]
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_leaving_a_span(steps, size, k, dtype, monkeypatch) -> None:
    monkeypatch.setattr(columns, "MIN_SPAN", 1)
    rng = np.random.default_rng(size)
    Q = np.ascontiguousarray(np.linalg.qr(rng.standard_normal((size, k)))[0].T, dtype)
    x = (rng.standard_normal(k) @ Q + 1e-4 * rng.standard_normal(size)).astype(dtype)
    given = x.copy()
    found, squares = steps.leave_span(Q, x)
    wide, exact = Q.astype(float), x.astype(float)
    rest = exact - (wide @ exact) @ wide
    rounding = np.finfo(dtype).eps * np.sqrt(size) * np.linalg.norm(exact)
    wanted = rest - (wide @ rest) @ wide
    left = np.sqrt(squares.left)
    np.testing.assert_allclose(left, np.linalg.norm(wanted), atol=4 * rounding)
    if left > 0:
        np.testing.assert_allclose(left * found, wanted, atol=4 * rounding)
    np.testing.assert_allclose(squares.before, exact @ exact, rtol=100 * np.finfo(dtype).eps)
    np.testing.assert_allclose(squares.after**0.5, np.linalg.norm(rest), atol=4 * rounding)
    assert squares.again**0.5 <= 4 * rounding
    np.testing.assert_array_equal(x, given)


@pytest.mark.parametrize("scale", [0.0, 1e-160, 1e160])
def test_norms_without_squares_are_left_to_others(steps, scale, monkeypatch) -> None:
    monkeypatch.setattr(columns, "MIN_SPAN", 1)
    Q, x = np.eye(2, 300), scale * np.random.default_rng(0).standard_normal(300)
    found, squares = steps.leave_span(Q, x)
    np.testing.assert_allclose(found[2:], x[2:], rtol=1e-12)
    assert not is_squarable(np.sqrt(squares.left))


# The answers of the authors of Threefry (Random123, kat_vectors): key, place, words.
WORDS = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "place", "words"), WORDS)
def test_words_are_threefrys(key, place, words) -> None:
    assert noise_kernels.make_words(*map(np.uint32, (*key, *place))) == words


def test_words_become_normal_numbers_far_into_the_tails() -> None:
    words = np.array([0, 1, 2, 3, 1 << 10, 1 << 20, 1 << 31, 0xFFFFFFFE, 0xFFFFFFFF], np.uint32)
    share = ((words >> 1) + 0.5) * 2.0**-31
    expected = np.where(words & 1, 1, -1) * ndtri(1 - share / 2)
    expected[:4] = np.where(words[:4] & 1, -1, 1) * ndtri(share[:4] / 2)
    found = [noise_kernels.make_normal(word) for word in words]
    np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-3)  # beyond 6 deviations
    np.testing.assert_allclose(found[4:], expected[4:], rtol=1e-5, atol=1e-6)


def test_normal_numbers(steps, monkeypatch) -> None:
    """The same by parts of any size, for every kind of arrays; others for every key."""
    shape, like, key = (1001, 3), np.zeros(0), (1 << 63) + 12345
    found = steps.draw_normals(key, shape, like)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, PLAIN.draw_normals(key, shape, like), atol=1e-6)
    monkeypatch.setattr(columns, "PART_NORMALS", 64)
    np.testing.assert_array_equal(
        STEPS.draw_normals(key, shape, like), PLAIN.draw_normals(key, shape, like)
    )
    assert kstest(found.ravel(), "norm").pvalue > 1e-3
    for other in (key + 1, key ^ (1 << 63)):
        assert (
            abs(np.corrcoef(found.ravel(), steps.draw_normals(other, shape, like).ravel())[0, 1])
            < 0.1
        )
    assert steps.draw_normals(key, (0, 3), like).shape == (0, 3)
