"""Passes over tall arrays have the same bits for any number of threads."""

import numpy as np

from pygeco.engines.columns import Rows
from pygeco.engines.cpu.columns import STEPS
from pygeco.engines.cpu.threads import limit_threads


def test_the_same_bits_for_any_number_of_threads() -> None:
    rng = np.random.default_rng(0)
    P, Q = (rng.standard_normal((5_000, 9)).astype(np.float32) for _ in range(2))
    rows = Rows(P, P[:, 0].copy(), Q**2, Q[:, 0] ** 2, rng.random(5_000) < 0.5)
    found = []
    for threads in (1, 2):
        with limit_threads(threads):
            moments = STEPS.measure_rows(rows, np.zeros(10))
            left, squares = STEPS.leave_span(
                np.linalg.qr(P.astype(float))[0].T.copy(), Q[:, 0] + 0.0
            )
            found.append([*moments[1:], STEPS.measure(Q, P[:, 0].copy()), left, squares])
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
