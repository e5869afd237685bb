"""Files of other shapes are refused with a hint."""

import io

import numpy as np
import pytest

from pygeco.data import read_ratings
from pygeco.errors import ColumnError, ReadError

RNG = np.random.default_rng(0)


COAT = "\n".join(" ".join(map(str, row)) for row in RNG.integers(0, 6, (9, 12))) + "\n"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (COAT, ReadError, r"looks like a matrix, 12 numbers a line.*--matrix"),
        (COAT.replace(" ", ","), ReadError, "looks like a matrix"),
        ("3 4 5 1 2\n3 4 1 1 1\n5 5 5 5 5\n", ReadError, "looks like a matrix, 5 numbers"),
        ("0 1 2 3\n1 5\n2 7 8\n", ReadError, "lines of 2 to 4 numbers, as lists of clicks have"),
        ("0\n1 5\n2 7 8\n", ReadError, "as lists of clicks have"),
        ("user,item\n1,2\n", ColumnError, r"too few for user and item and rating; pairs alone are"),
        ("1\t2\n", ColumnError, "pairs alone are clicks"),
        ("user,item,rating\n1,2,3,5\n", ReadError, "decimal commas need ; or tabs"),
    ],
)
def test_other_shapes_are_refused_with_the_right_hint(text, error, message) -> None:
    with pytest.raises(error, match=message):
        read_ratings(io.BytesIO(text.encode()))
