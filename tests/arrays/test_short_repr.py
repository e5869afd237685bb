"""Values that hold large arrays print in a line."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from pygeco import Dense, Entries, LowRank, MatrixCompletion, cells, minimize
from pygeco.arrays.short_repr import show_fields, show_size
from pygeco.data import make_ratings


class Named(NamedTuple):
    x: Any
    y: Any = None

    def __repr__(self) -> str:
        return show_fields(self)


@dataclass(frozen=True)
class Kept:
    x: Any
    y: Any = None

    def __repr__(self) -> str:
        return show_fields(self)


@pytest.mark.parametrize("kind", [Named, Kept])
@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (2.5, "2.5"),
        (np.arange(3), "[0, 1, 2]"),
        (np.zeros((60, 3), np.float32), "<60 × 3 float32>"),
        (np.zeros(1234), "<1,234 float64>"),
        (np.float64(3), "np.float64(3.0)"),
        (Kept(1), "Kept(x=1)"),
        (("long",) * 50, "<50 items>"),
        (200 * "long", "str(…)"),
    ],
)
def test_fields_and_shapes(kind, value, shown) -> None:
    assert repr(kind(value)) == f"{kind.__name__}(x={shown})"
    assert repr(kind(value, value)) == f"{kind.__name__}(x={shown}, y={shown})"


def test_sizes() -> None:
    assert show_size((6040, 3706)) == "6,040 × 3,706"


def test_what_a_fit_leaves_prints_in_a_line() -> None:
    ratings = make_ratings((40, 30), 600)
    model = MatrixCompletion(random_state=0, posterior=2).fit(ratings)
    path = minimize(Entries(*ratings), 1, random_state=0)
    values = [
        ratings, cells(ratings), model.model_, model.factors_, model.biases_, model.seen_,
        model.posterior_, model.posterior_.rows, model.posterior_.row_prior, model.average_,
        path[-1],
    ]  # fmt: skip
    for value in values:
        assert repr(value).startswith(type(value).__name__ + "(")
        assert len(repr(value)) < 600
        assert "\n" not in repr(value)
    assert repr(path.A) == "LowRank(40 × 30, rank 1, float64)"
    assert repr(LowRank.zero((3, 2))) == "LowRank(3 × 2, rank 0, float64)"


def test_objectives_say_their_shape_and_loss() -> None:
    assert repr(Entries([0, 1], [1, 0], [1.0, 2.0], (2, 3))) == "Entries(2 × 3, Squared())"
    assert repr(Dense(np.ones((4, 5)), "huber")).startswith("Dense(4 × 5, Huber(")
