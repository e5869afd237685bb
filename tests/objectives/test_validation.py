"""Bad input: one sentence that names the argument."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Features, Quadratic, Sensing
from pygeco.losses import Multinomial

X = np.random.default_rng(0).standard_normal((6, 3))
Y = np.ones((6, 2))
y = np.arange(6.0)
M = np.ones((6, 3, 2))

BAD = {
    "lengths": (lambda: Features(X, Y[:5]), r"^Y: has shape \(5, 2\), but 6 rows"),
    "NaN in X": (lambda: Features(X * np.nan, Y), r"^X: 18 value\(s\) are NaN"),
    "NaN in sparse X": (lambda: Features(sp.csr_array(X * np.inf), Y), r"^X: 18 value"),
    "NaN in Y": (lambda: Features(X, Y * np.nan), r"^Y: 12 value"),
    "X is a vector": (lambda: Features(y, Y), r"^X: expected a 2-dimensional"),
    "no rows": (lambda: Features(X[:0], Y[:0]), r"^X: has shape \(0, 3\)"),
    "text": (lambda: Features(X.astype(str), Y), r"^X: expected real numbers"),
    "complex": (lambda: Features(X * 1j, Y), r"^X: expected real numbers"),
    "three-dimensional Y": (lambda: Features(X, M), r"^Y: has shape \(6, 3, 2\)"),
    "one class": (lambda: Features(X, np.ones(6), "multinomial"), r"^Y: .* at least two classes"),
    "labels in columns": (lambda: Features(X, Y, "multinomial"), r"^Y: .* needs labels \(N,\)"),
    "unknown label": (
        lambda: Features(X, list("abcabd"), Multinomial(("a", "b", "c"))),
        r"^Y: label 'd' is not one of the classes",
    ),
    "NaN label": (lambda: Features(X, y * np.nan, "multinomial"), r"^Y: 6 value"),
    "negative counts": (lambda: Features(X, Y - 2, "poisson"), r"^Y: the poisson loss needs"),
    "three labels": (lambda: Features(X, y % 3, "logistic"), r"^Y: the logistic loss needs"),
    "weights": (
        lambda: Features(X, Y, sample_weight=np.ones(5)),
        r"^sample_weight: expected shape \(6,\)",
    ),
    "negative weights": (lambda: Features(X, Y, sample_weight=-y), r"^sample_weight: weights"),
    "unknown loss": (lambda: Features(X, Y, "cubic"), r"^loss: unknown name 'cubic'"),
    "quadratic lengths": (lambda: Quadratic(X, y[:4]), r"^y: has shape \(4,\), but 6 rows"),
    "quadratic columns": (lambda: Quadratic(X, Y), r"^y: expected a 1-dimensional array"),
    "quadratic classes": (lambda: Quadratic(X, y, "multinomial"), r"^loss: 'multinomial' needs"),
    "offset": (lambda: Quadratic(X, y, offset=np.ones(3)), r"^offset: expected shape \(6,\)"),
    "offset NaN": (lambda: Quadratic(X, y, offset=y * np.nan), r"^offset: 6 value"),
    "operators": (lambda: Sensing(X, y), r"^operators: expected an array \(K, m, n\)"),
    "operators NaN": (lambda: Sensing(M * np.nan, y), r"^operators: 36 value"),
    "operators and y": (lambda: Sensing(M, y[:2]), r"^y: has shape \(2,\), but 6 rows"),
    "three vectors": (lambda: Sensing((X, X, X), y), r"^operators: a tuple must be \(a, b\)"),
    "unequal pairs": (lambda: Sensing((X, X[:4]), y), r"^operators: 6 left vectors but 4"),
    "shapes": (
        lambda: Sensing([sp.eye_array(3), sp.eye_array(4)], y[:2]),
        r"^operators: all must have one shape",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_one_sentence(name):
    build, message = BAD[name]
    with pytest.raises(ValueError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_what_is_taken():
    assert Features(X.tolist(), Y.tolist()).shape == (2, 3)
    assert Features(X.astype(np.float32), y).shape == (1, 3)
    assert Features((X > 0), list("ababac"), "multinomial").classes == ("a", "b", "c")
    assert Features(X, list("ababab"), Multinomial(("a", "b", "c"))).shape == (3, 3)
    assert Quadratic(sp.coo_matrix(X), y).shape == (3, 3)
    assert Sensing(M.astype(int), y).shape == (3, 2)
    assert Sensing([sp.coo_matrix(m) for m in M], y).shape == (3, 2)
