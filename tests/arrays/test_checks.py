"""Ranks and arrays: what fits, and the sentence for what does not."""

import re

import numpy as np
import pytest

from pygeco import LowRank
from pygeco.arrays.checks import (
    check_factors,
    check_lines,
    check_offset,
    check_rank,
    check_sides,
    is_real,
    is_whole,
)


def test_whole_numbers() -> None:
    assert all(map(is_whole, (0, -3, 2**70, np.int8(1), np.uint64(5))))
    assert not any(map(is_whole, (True, np.True_, 1.0, np.float32(1), "1", None, [1])))
    assert all(map(is_real, (0, -3, 2**70, 1.5, np.float32(1), np.int8(1), np.nan, np.inf)))
    assert not any(map(is_real, (True, np.True_, "1", None, [1], 1j, np.ones(1))))


def test_a_rank_is_given_back_as_an_int() -> None:
    for rank in (1, 3, np.int64(2)):
        assert type(check_rank(rank, (3, 9))) is int
        assert check_rank(rank, (9, 3)) == rank
    assert check_rank(7) == 7
    assert check_rank(0, (3, 4), least=0) == 0


@pytest.mark.parametrize(
    ("rank", "shape", "words", "sentence"),
    [
        (0, (4, 3), {}, "rank: must be between 1 and 3 for data with m=4 and n=3, not 0."),
        (4, (3, 4), {}, "rank: must be between 1 and 3 for data with m=3 and n=4, not 4."),
        (True, (3, 3), {}, "rank: expected an integer, not True."),
        ("x", None, {"instead": " or 'auto'"}, "rank: expected an integer or 'auto', not 'x'."),
        (
            0,
            None,
            {"instead": " or auto"},
            "rank: expected an integer of at least 1 or auto, not 0.",
        ),
        (
            2,
            (1, 5),
            {"name": "n_components", "least": 0, "sides": ("n_samples", "n_features")},
            "n_components: must be between 0 and 1 for data with n_samples=1 and n_features=5, "
            "not 2.",
        ),
    ],
)
def test_a_sentence_for_what_is_no_rank(rank, shape, words, sentence) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        check_rank(rank, shape, **words)


def test_arrays_of_another_shape() -> None:
    A = LowRank(np.ones((4, 2)), np.ones(2), np.ones((3, 2)))
    check_factors(A, (4, 3))
    with pytest.raises(ValueError, match=r"^A: is 4 × 3, but 4 × 4 is asked for; give a matrix"):
        check_factors(A, (4, 4))
    with pytest.raises(ValueError, match=r"^A: its factors have shapes \(4, 2\), \(1,\) and \(3, "):
        check_factors(LowRank(A.U, A.s[:1], A.V), (4, 3))
    assert check_lines("x", [1, 2], 2, 1).tolist() == [1, 2]
    for x in ([1], [[1], [2]], 1.0):
        with pytest.raises(ValueError, match=r"^x: expected 2 numbers in 1 dimension\(s\), not"):
            check_lines("x", x, 2, 1)
    check_offset(np.ones(4), np.ones(3), (4, 3))
    with pytest.raises(ValueError, match=r"^col: expected 3 numbers in 1 dim.* shape \(1,\)\.$"):
        check_offset(np.ones(4), np.ones(1), (4, 3))
    check_sides(("P", "Q"), A.U, A.V, (4, 3))
    with pytest.raises(ValueError, match=r"^Q: expected 3 rows in 2 dim.* shape \(2, 2\)\.$"):
        check_sides(("P", "Q"), A.U, A.V[1:], (4, 3))
    with pytest.raises(ValueError, match=r"^P: has 2 columns, but Q has 1; give both as many\.$"):
        check_sides(("P", "Q"), A.U, A.V[:, 1:], (4, 3))
