"""Lists in single precision are those of the model, which makes them in double."""

import numpy as np
import pytest

from pygeco.models.ranking import ListFilters
from pygeco.serve.listing import list_rows, pick_best


@pytest.mark.parametrize("by", ["auto", "choice", "value"])
@pytest.mark.parametrize("hides", [True, False])
def test_lists_are_the_models_own(ratings, by, hides) -> None:
    model, rows = ratings.model, np.arange(80)
    allowed = np.arange(60) % 7 != 3
    filters = ListFilters(allowed, hide_seen=hides, hide_held_out=hides)
    expected = model.best(rows, 12, filters, by=by)
    found = list_rows(model, ratings.list_parts, rows, 12, by=by, hides=hides, allowed=allowed)
    same = found.columns == expected.columns
    assert same.mean() > 0.99  # but for near ties
    np.testing.assert_allclose(found.scores[same], expected.scores[same], rtol=1e-5)


def test_picking_keeps_the_order_of_equals_and_says_what_is_missing() -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(0, 5, (30, 11)).astype(np.float32)
    table[rng.random(table.shape) < 0.5] = -np.inf
    for k in (1, 4, 11):
        found = pick_best(table.copy(), table, k, None)
        order = np.argsort(-table, axis=1, kind="stable")[:, :k]
        expected = np.where(np.isfinite(np.take_along_axis(table, order, 1)), order, -1)
        values = np.take_along_axis(table, order, 1)
        np.testing.assert_array_equal(found.scores, values)
        full = np.isfinite(values[:, -1])
        if k == 11:
            np.testing.assert_array_equal(found.columns, expected)
        assert np.all(table[np.arange(30)[:, None], found.columns][full] == values[full])
