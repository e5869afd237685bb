"""Clicks of groups of people who choose the same things."""

from __future__ import annotations

import numpy as np
import pytest

from pygeco import Entries


@pytest.fixture(scope="package")
def clicks() -> Entries:
    """150 rows and 50 columns in five groups; some columns are chosen by many, one row by none."""
    rng = np.random.default_rng(3)
    group, kind = rng.integers(5, size=150), np.arange(50) % 5
    chance = np.where(kind == group[:, None], 0.5, 0.03) * np.linspace(0.4, 1.4, 50)
    chance[17] = 0
    rows, cols = np.nonzero(rng.random(chance.shape) < chance)
    return Entries(rows, cols, np.ones(len(rows), np.float32), chance.shape)


@pytest.fixture(scope="package")
def dense(clicks) -> np.ndarray:
    table = np.zeros(clicks.shape)
    table[clicks.rows(), clicks.by_row.indices] = clicks.by_row.values
    return table
