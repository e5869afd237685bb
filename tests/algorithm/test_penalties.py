import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import approx_fprime

from pygeco import Ridge, Schatten, Trace

SMOOTH = [
    Ridge(0.7),
    Schatten(0.3, 1.2),
    Schatten(0.3, 1.5),
    Schatten(2.0, 3.0),
    Schatten(1.0, 8.0),
]
ALL = [*SMOOTH, Trace(0.4), Schatten(0.5, 1.0)]


def spectra(seed=0):
    rng = np.random.default_rng(seed)
    for k in (1, 2, 5):
        yield np.sort(rng.exponential(size=k))[::-1]
    yield np.array([1.0, 1.0, 1.0])
    yield np.array([3.0, 0.2, 0.0])


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_values_are_squared_schatten_norms(p) -> None:
    for s in spectra():
        np.testing.assert_allclose(Schatten(0.3, p).value(s), 0.3 * np.sum(s**p) ** (2 / p))
        np.testing.assert_allclose(Trace(0.3).value(s), 0.3 * s.sum())
    assert Schatten(0.3, p).value(np.zeros(0)) == Trace(0.3).value(np.zeros(0)) == 0.0
    assert Ridge(0.3) == Schatten(0.3, 2.0)


@pytest.mark.parametrize("penalty", SMOOTH)
def test_slope_is_the_derivative(penalty) -> None:
    for s in spectra():
        inside = s + 0.1
        numeric = approx_fprime(inside, penalty.value, 1e-7)
        np.testing.assert_allclose(penalty.slope(inside), numeric, rtol=1e-5, atol=1e-7)
    assert not penalty.slope(np.zeros(3)).any()
    assert penalty.smooth
    assert (penalty.quadratic is None) == (penalty != Ridge(0.7))


@pytest.mark.parametrize("penalty", ALL)
@pytest.mark.parametrize("step", [1e-3, 0.5, 40.0])
def test_prox_is_the_minimum(penalty, step) -> None:
    rng = np.random.default_rng(1)
    for s in spectra():
        x = penalty.prox(s, step)
        assert np.all(x >= 0)
        assert np.all(x <= s)

        def target(z, s=s):
            return penalty.value(z) + np.sum((z - s) ** 2) / (2 * step)

        for size in (1e-4, 1e-2, 1.0):
            for _ in range(30):
                other = np.abs(x + size * rng.standard_normal(len(s)))
                assert target(x) <= target(other) + 1e-12
        if penalty.smooth:
            np.testing.assert_allclose(x + step * penalty.slope(x), s, atol=1e-9)


@pytest.mark.parametrize(
    ("penalty", "form"),
    [
        (Trace(0.4), lambda x: 0.4 * cp.sum(x)),
        (Schatten(0.5, 1.0), lambda x: 0.5 * cp.square(cp.sum(x))),
    ],
)
def test_prox_of_the_sparse_penalties_against_cvxpy(penalty, form) -> None:
    for s in spectra(3):
        x = cp.Variable(len(s), nonneg=True)
        cp.Problem(cp.Minimize(form(x) + cp.sum_squares(x - s) / 0.8)).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(penalty.prox(s, 0.4), x.value, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-30, 1e30])
@pytest.mark.parametrize("p", [1.0, 1.5, 3.0, 20.0])
def test_norms_and_prox_do_not_leave_the_range(p, scale) -> None:
    s = np.array([3.0, 1.0, 0.5])
    one, other = Schatten(0.3, p), Schatten(0.3 * scale**0.5, p)
    np.testing.assert_allclose(one.value(scale * s) / scale, scale * one.value(s))
    np.testing.assert_allclose(one.prox(scale * s, 0.5), scale * one.prox(s, 0.5))
    assert np.all(np.isfinite(other.prox(s, 0.5)))


@pytest.mark.parametrize("sigma", [0.1, 0.4, 3.0])
@pytest.mark.parametrize("trace_norm", [0.0, 0.7, 5.0])
def test_excess_is_the_largest_gain(sigma, trace_norm) -> None:
    t = np.linspace(0, trace_norm, 2001)
    for penalty in (Trace(0.4), Schatten(0.4, 1.0)):
        gains = [sigma * x - penalty.value(np.array([x])) for x in t]
        assert penalty.excess(sigma, trace_norm) >= max(gains)
        np.testing.assert_allclose(penalty.excess(sigma, trace_norm), max(gains), atol=1e-5)


@pytest.mark.parametrize("alpha", [-0.1, np.nan, np.inf, "small", None])
def test_bad_alpha(alpha) -> None:
    for kind in (Ridge, Trace, Schatten):
        with pytest.raises(ValueError, match=r"^alpha: must be a finite number ≥ 0"):
            kind(alpha)


@pytest.mark.parametrize("p", [0.5, 0.0, -1.0, np.inf, np.nan, "2"])
def test_bad_p(p) -> None:
    with pytest.raises(ValueError, match=r"^p: must be a finite number ≥ 1"):
        Schatten(0.1, p)
