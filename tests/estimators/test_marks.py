"""Marks for no rating, and clicks, are never fitted in silence."""

import numpy as np
import pytest
import scipy.sparse as sp

from frame_cases import R, frame, small
from pygeco import cells
from pygeco.errors import ClicksWarning

MARKED = [(-1.0, 0.2), (0.0, 0.6), (99.0, 0.1)]


def with_marks(mark: float, share: float) -> np.ndarray:
    hit = np.random.default_rng(1).random(900) < share
    ten = np.clip(np.round(2 * R.values), 1, 10)
    return np.where(hit, mark, ten)


@pytest.mark.parametrize(("mark", "share"), MARKED)
def test_marks_for_no_rating_are_refused_or_left_out(mark, share) -> None:
    values = with_marks(mark, share)
    keep = values != mark
    table = frame("user", "item").assign(rating=values)
    dense = np.full((60, 40), np.nan)
    dense[R.rows, R.cols] = values
    part = np.full((60, 40), np.nan)
    part[R.rows[keep], R.cols[keep]] = values[keep]
    shape = (60, 40)
    forms = {
        "table": (table, table[keep]),
        "tuple": (
            (R.rows, R.cols, values, shape),
            (R.rows[keep], R.cols[keep], values[keep], shape),
        ),
        "cells": (cells((R.rows, R.cols, values, shape)),) * 2,
        "sparse": tuple(
            sp.csr_array((v, (r, c)), shape)
            for r, c, v in (
                (R.rows, R.cols, values),
                (R.rows[keep], R.cols[keep], values[keep]),
            )
        ),
        "dense": (dense, part),
    }
    forms["cells"] = forms["cells"][0], forms["cells"][0][keep]
    weights = np.random.default_rng(2).random(900)
    # Tuples and cells know no marks of their own: one is enough for them.
    rest = () if mark == MARKED[0][0] else ("tuple", "cells")
    for name, (given, wanted) in forms.items():
        if name in rest:
            continue
        with pytest.raises(ValueError, match=rf"missing_values={mark:g} to leave them out"):
            small().fit(given)
        plain = small().fit(wanted)
        model = small(missing_values=mark).fit(given)
        np.testing.assert_array_equal(model.to_dense(), plain.to_dense(), err_msg=name)
        assert model.seen_.values.min() >= 1
        kept = small(missing_values=None).fit(given)
        assert mark in kept.seen_.values
        if name in ("table", "tuple", "cells"):
            one = small(missing_values=[mark, 77]).fit(given, sample_weight=weights)
            two = small().fit(wanted, sample_weight=weights[keep])
            np.testing.assert_array_equal(one.to_dense(), two.to_dense(), err_msg=name)
    model = small(missing_values=mark).fit(table)
    assert model.score(table) == model.score(table[keep])
    more = frame("user", "item").assign(rating=values).iloc[:20]
    np.testing.assert_array_equal(
        small(missing_values=mark).fit(table).partial_fit(more).to_dense(),
        small(missing_values=mark).fit(table).partial_fit(more[keep[:20]]).to_dense(),
    )


@pytest.mark.parametrize("wrong", ["none", "-1", [[1]], object()])
def test_wrong_missing_values(wrong) -> None:
    with pytest.raises(ValueError, match=r"^missing_values: expected 'auto', None, a number"):
        small(missing_values=wrong).fit(frame("user", "item", "rating"))


def test_clicks_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"every value is 1, so these are clicks .* ImplicitCompletion"
    ):
        small().fit(frame("user", "item").assign(rating=1))
    with pytest.warns(ClicksWarning, match="every value is 1, so these are clicks"):
        small().fit(sp.csr_array((np.ones(900), (R.rows, R.cols)), (60, 40)))
