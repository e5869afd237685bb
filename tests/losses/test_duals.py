"""The sums that a certificate needs, cell by cell against the definition."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from loss_cases import CASES, CONJUGATE, sample
from pygeco import Entries, LowRank, losses
from pygeco.losses.duals import Slack, slack_of_losses


@pytest.mark.parametrize("name", CONJUGATE)
@pytest.mark.parametrize("scale", [1.0, 0.6])
def test_the_value_is_the_conjugate_at_a_scaled_slope(name, scale) -> None:
    loss, z, y = sample(name, 50)
    a = scale * loss.slope(z, y)
    expected = loss.value(z, y) + loss.conjugate(a, y) - a * z
    np.testing.assert_allclose(Slack(loss, scale).value(z, y), expected, atol=1e-9)


def test_the_sum_over_cells_is_a_weighted_mean_of_it() -> None:
    rows, cols, w = np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([1.0, 2.0, 0.5])
    y, A = np.array([1.0, -2.0, 0.5]), LowRank.from_dense(np.arange(4.0).reshape(2, 2))
    entries = Entries(rows, cols, y, loss=losses.LogCosh(1.0), sample_weight=w)
    z = A.to_dense()[rows, cols]
    loss = losses.LogCosh(1.0)
    slack = slack_of_losses(entries, A)
    for scale in (0.3, 1.0):
        a = scale * loss.slope(z, y)
        terms = loss.value(z, y) + loss.conjugate(a, y) - a * z
        assert slack(scale) == pytest.approx(np.sum(w * terms) / w.sum(), abs=1e-15)
    plain = Entries(rows, cols, [0.0, 1.0, 2.0], loss="ordinal")
    assert slack_of_losses(plain, A) is None  # which has no conjugate


def log_of_ratio(p: Decimal, q: Decimal) -> Decimal:
    """The p log (p / q) of a divergence."""
    return p * (p / q).ln() if p else Decimal(0)


def huber(x: Decimal, width: Decimal, c: Decimal) -> Decimal:
    near = max(-width, min(x, width))
    value, slope = near * (x - near / 2), c * near
    return value + slope * slope / 2 - slope * x


def root(x: Decimal, width: Decimal, c: Decimal) -> Decimal:
    u = x / width
    r = (1 + u * u).sqrt()
    return width * (r - (1 - (c * u / r) ** 2).sqrt() - c * u * u / r)


def divergence(p: Decimal, q: Decimal) -> Decimal:
    return log_of_ratio(p, q) + log_of_ratio(1 - p, 1 - q)


def capped(z: Decimal, y: Decimal, c: Decimal, cap: Decimal) -> Decimal:
    top, over = cap.exp(), max(z - cap, Decimal(0))
    mean = min(z, cap).exp() * (1 + over)
    value = min(z, cap).exp() * (1 + over + over * over / 2) - y * z
    a = c * (mean - y)
    rate = a + y
    at = cap + (rate - top) / top if rate > top else rate.ln() if rate else Decimal(0)
    over = max(at - cap, Decimal(0))
    there = min(at, cap).exp() * (1 + over + over * over / 2) if rate else Decimal(0)
    return value + (rate * at - there) - a * z


def exact(name, loss, z: float, y: float, c: float) -> Decimal:
    """ℓ + ℓ* − a z to four hundred digits."""
    z, y, c = Decimal(z), Decimal(y), Decimal(c)
    x = z - y
    if name == "squared":
        return (1 - c) ** 2 * x * x
    if name == "huber":
        return huber(x, Decimal(loss.delta), c)
    if name == "pseudo-huber":
        return Decimal(loss.delta) * root(x, Decimal(loss.delta), c)
    if name == "absolute":
        return root(x, Decimal(loss.width), c)
    if name == "log-cosh":
        s = Decimal(loss.scale)
        q = 1 / (1 + (2 * abs(x) / s).exp())
        return s * s * divergence(q * c + (1 - c) / 2, q)
    if name == "quantile":
        width, q = Decimal(loss.width), Decimal(loss.q)
        slope = max(-q, min(x / width, Decimal(1 - loss.q)))
        value = slope * x - width * slope * slope / 2
        return value + width * (c * slope) ** 2 / 2 - c * slope * x
    if name == "smoothed-hinge":
        width, short = Decimal(loss.width), 1 - y * z
        g = max(Decimal(0), min(short / width, Decimal(1)))
        return g * short - width * g * g / 2 - c * g * short + width * (c * g) ** 2 / 2
    if name == "logistic":
        q = 1 / (1 + (y * z).exp())
        return divergence(c * q, q)
    return capped(z, y, c, Decimal(loss.top))


REACH = [1e-30, 1e-9, 0.01, 0.3, 1.0, 4.0, 36.0, 200.0]


@pytest.mark.parametrize("name", CONJUGATE)
@pytest.mark.parametrize("scale", [0.0, 1e-9, 0.3, 0.9, 0.999, 1 - 1e-9, 1.0])
def test_the_slack_keeps_its_digits(name, scale) -> None:
    """However near to the best scaling, and for predictions of any size."""
    loss = CASES[name][0]
    targets = {"logistic": (-1, 1), "smoothed-hinge": (-1, 1)}.get(name, (0, 3, 1e8))
    cells = [(s * x, t) for x in REACH for s in (-1, 1) for t in targets]
    if targets[-1] == 1e8:
        cells = [(t + z if "poisson" not in name else z, t) for z, t in cells]
    z, y = np.array(cells, dtype=float).T
    with localcontext(prec=400), np.errstate(all="raise", under="ignore"):
        expected = [float(exact(name, loss, a, b, scale)) for a, b in zip(z, y, strict=True)]
        found = loss.slack(z, y, scale)
        small = loss.slack(z.astype(np.float32), y.astype(np.float32), scale)
    np.testing.assert_allclose(found, expected, rtol=2e-13, atol=1e-300)
    assert small.dtype == np.float32


def test_a_loss_of_ones_own_adds_what_rounding_may_hide() -> None:
    """Its ℓ + ℓ* − a z cancels: what is left is never less than what it should be."""

    class Squares(losses.Loss):
        def value(self, z, y):
            return (z - y) ** 2

        def slope(self, z, y):
            return 2 * (z - y)

        def conjugate(self, a, y):
            return a * y + a * a / 4

    z, y = np.array([1e8 + 1e-3, 1e8 + 1, 3.0]), np.array([1e8, 1e8, 2.0])
    for scale in (0.0, 0.5, 1 - 1e-6, 1.0):
        found, least = Squares().slack(z, y, scale), ((1 - scale) * (z - y)) ** 2
        assert np.all(found >= least)
        assert np.all(found <= least + 1e-13 * (1 + np.abs(z) * 4 * np.abs(z - y)))


def exact_entropy(name, loss, b: float) -> Decimal:
    """The conjugate less a y, at a = b times the steepest slope (minus a label's for y = 1)."""
    b = Decimal(b)
    if name in ("pseudo-huber", "absolute"):
        width = Decimal(loss.delta) ** 2 if name == "pseudo-huber" else Decimal(loss.width)
        return width * (1 - (1 - b * b).sqrt())
    if name == "log-cosh":
        rest = [1 + b, 1 - b]
        return Decimal(loss.scale) ** 2 * sum(log_of_ratio(p, Decimal(1)) for p in rest) / 2
    return log_of_ratio(b, Decimal(1)) + log_of_ratio(1 - b, Decimal(1))


@pytest.mark.parametrize("name", ["pseudo-huber", "absolute", "log-cosh", "logistic"])
def test_conjugates_keep_their_digits_at_the_ends_of_their_domain(name) -> None:
    loss = CASES[name][0]
    steep = loss.delta if name == "pseudo-huber" else 1.0
    b = np.array([1e-30, 1e-17, 1e-9, 1e-3, 0.3, 0.49, 0.51, 0.9, 1 - 1e-9, 1 - 1e-15, 1.0])
    a, y = (-b, np.ones(len(b))) if name == "logistic" else (steep * b, np.zeros(len(b)))
    with localcontext(prec=100):
        expected = [float(exact_entropy(name, loss, x)) for x in b.tolist()]
    found = loss.conjugate(a, y)
    np.testing.assert_allclose(found, expected, rtol=4e-15)
    both = losses.Multinomial().conjugate(np.column_stack([-b, b]), 0 * b)
    with localcontext(prec=100):
        expected = [float(exact_entropy("logistic", None, x)) for x in b.tolist()]
    np.testing.assert_allclose(both, expected, rtol=4e-15)
