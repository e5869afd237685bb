"""Counts as weights, and counts of a cell that comes again."""

import copy

import numpy as np
import pytest

from pygeco import ImplicitCompletion, SpectralSettings, SquaresSettings
from pygeco.clicks.counts import find_counts, weigh_counts
from pygeco.clicks.fitting import Chosen, fit_chosen
from pygeco.objectives import Entries

SETTINGS = {
    "spectral": SpectralSettings(6, 0.3, 0.3, 1.0, 0.0),
    "squares": SquaresSettings(4, 0.2, 0.01, 0.0, 0.0, 0.0),
    "random_state": 0,
}


def test_a_weight_is_a_function_of_the_count() -> None:
    counts = np.array([1.0, 3.0, 7.5, 500.0], np.float32)
    entries = Entries(np.arange(4), np.arange(4), counts, (4, 4))
    wanted = {"log": np.log2(1 + counts), "ones": np.ones(4), "plain": counts, None: counts}
    for rule, weights in wanted.items():
        found = weigh_counts(entries, rule)
        for cells in (found.by_row, found.by_col):
            np.testing.assert_allclose(cells.values, weights, rtol=1e-6)
        if rule != "ones":
            np.testing.assert_allclose(find_counts(found.by_row.values, rule), counts, rtol=1e-5)
    np.testing.assert_array_equal(entries.by_row.values, counts)


@pytest.mark.parametrize("counts", ["log", "plain", "ignore"])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_clicks_that_come_later_count_as_if_they_had_come_with_the_others(counts, share) -> None:
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=70)
    rows, cols = np.nonzero(
        rng.random((70, 31)) < np.where(np.arange(31) % 3 == group[:, None], 0.5, 0.05)
    )
    clicks = rng.integers(1, 40, len(rows)).astype(float)
    parts = np.floor(clicks * rng.random(len(rows)))  # some of a cell's clicks, or none, come first
    first = parts > 0
    at = (rows[first], cols[first], parts[first], (70, 31))
    later = (rows, cols, clicks - np.where(first, parts, 0), (70, 31))
    start = ImplicitCompletion(**SETTINGS, share=share, counts=counts).fit(at)
    model = copy.copy(start).partial_fit(later)
    weigh = {"log": lambda x: np.log2(1 + x), "plain": lambda x: x, "ignore": np.ones_like}[counts]
    weights = weigh(clicks).astype(np.float32)
    np.testing.assert_array_equal(model.seen_.indices, cols)
    np.testing.assert_allclose(model.seen_.values, weights, rtol=1e-5)
    assert model.total_weight_ == ImplicitCompletion(**SETTINGS).fit((rows, cols)).total_weight_
    before = start.model_
    starts = (
        None if before.spectral is None else before.spectral.vectors,
        None if before.squares is None else before.squares.columns,
    )
    chosen = Chosen(before.spectral_settings, before.squares_settings, share, *starts)
    whole = fit_chosen(Entries(rows, cols, weights, (70, 31)), chosen, 0)
    mine, theirs = (one.to_dense() for one in (model.factors_, whole.factors))
    assert np.linalg.norm(mine - theirs) < 1e-4 * np.linalg.norm(theirs)
