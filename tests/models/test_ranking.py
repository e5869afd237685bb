"""The best columns of rows, against plain sorting."""

import numpy as np
import pytest

from pygeco.arrays.kinds import HOST
from pygeco.models import ranking
from pygeco.models.ranking import list_length, rank_lines


@pytest.mark.parametrize("shape", [(7,), (2, 3), ()])
def test_lists_are_sorted_scores_in_any_blocks(shape, monkeypatch) -> None:
    monkeypatch.setattr(ranking, "ROWS", 3)
    scores = np.random.default_rng(0).standard_normal((10, 6))
    index = np.random.default_rng(1).integers(0, 10, shape)
    best = rank_lines(index, 4, lambda rows: scores[rows].copy(), HOST)
    order = np.argsort(-scores[index], axis=-1)[..., :4]
    np.testing.assert_array_equal(best.columns, order)
    np.testing.assert_array_equal(best.scores, np.take_along_axis(scores[index], order, -1))


def test_the_length_of_a_list() -> None:
    assert (list_length(3, 10), list_length(30, 10), list_length(np.int8(2), 10)) == (3, 10, 2)
    for wrong in (0, -1, 1.0, True, "3", None):
        with pytest.raises(ValueError, match=r"^k: expected an integer of at least 1"):
            list_length(wrong, 10)
