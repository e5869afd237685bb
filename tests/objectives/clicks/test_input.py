"""What counts as clicks, and the sentences for what does not."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Clicks
from pygeco.objectives.clicks.input import check_background, read_line_weights

X = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))


def test_triplets_and_sparse_matrices_are_the_same_clicks() -> None:
    one = Clicks(X)
    other = Clicks(([1, 0, 0, 0], [1, 2, 0, 1], [3.0, 2.0, 1.0, 0.0], (2, 3)))
    assert one.shape == other.shape == (2, 3)
    assert one.size == other.size == 3  # a weight of zero is no click
    for a, b in zip(one.cells(columns=False)[:4], other.cells(columns=False)[:4], strict=True):
        np.testing.assert_array_equal(a, b)
    assert Clicks(([0], [1], [1])).shape == (1, 2)


@pytest.mark.parametrize(
    ("given", "expected"), [(np.float64, "f8"), (np.float32, "f4"), (np.int64, "f4"), (bool, "f4")]
)
def test_precision_is_single_unless_the_weights_are_double(given, expected) -> None:
    assert Clicks(X.astype(given)).dtype == np.dtype(expected)
    assert Clicks(X.astype(given), dtype="float64").dtype == np.float64


def test_equal_weights_are_not_kept() -> None:
    assert len(Clicks(X.astype(bool)).cells(columns=True).weights) == 0
    assert len(Clicks(X).cells(columns=True).weights) == 3


def test_weights_of_lines_are_powers_of_mean_one() -> None:
    counts = np.array([0.0, 1.0, 4.0])
    np.testing.assert_array_equal(read_line_weights("row", 0.0, None, counts), np.ones(3))
    np.testing.assert_allclose(read_line_weights("row", 0.5, None, counts), [0.75, 0.75, 1.5])
    np.testing.assert_allclose(read_line_weights("row", -1.0, None, counts) * 2.25, [3, 3, 0.75])
    np.testing.assert_array_equal(read_line_weights("row", 0.0, [2, 0, 5], counts), [2, 0, 5])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"X": np.eye(3)}, "^X: expected a sparse matrix"),
        ({"X": ([0], [0])}, "^X: expected .rows, cols, weights.* not 2 parts"),
        ({"X": ([0], [0], [-1.0])}, "^X: weights of clicks must be finite, ≥ 0"),
        ({"X": ([0], [0], [np.nan])}, "^X: weights of clicks must be finite"),
        ({"X": ([0], [0], [0.0])}, "^X: weights of clicks must be .* not all zero"),
        ({"X": ([0], [0], ["a"])}, "^X: weights must be real numbers"),
        ({"X": ([], [], np.zeros(0))}, "^X: has no click"),
        ({"X": ([0, 0], [0, 0], [1.0, 1.0])}, "more than once"),
        ({"X": ([5], [0], [1.0], (2, 2))}, "^rows: index 5 is outside"),
        ({"background": -1.0}, "^background:"),
        ({"background": "much"}, "^background:"),
        ({"row_power": np.nan}, "^row_power:"),
        ({"column_weights": [1.0]}, "^column_weights: expected shape"),
        ({"row_weights": [1.0, -1.0]}, "^row_weights: must be finite and ≥ 0"),
        ({"row_weights": [1.0, 1.0], "row_power": 1.0}, "^row_power: is given beside"),
        ({"targets": [1.0, 2.0]}, "^targets: expected a number or 3 numbers"),
        ({"targets": np.inf}, "^targets: must be finite"),
        ({"dtype": np.int32}, "^dtype:"),
        ({"engine": "abacus"}, "^engine:"),
    ],
)
def test_other_input_is_refused_in_one_sentence(settings, words) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        Clicks(**{"X": X} | settings)
    assert str(refusal.value).count(". ") == 0


def test_a_background_may_be_of_any_kind_of_number() -> None:
    assert check_background(np.float32(0.5)) == 0.5
