"""Numbers of any size can be read and told apart."""

import math

import numpy as np
import pytest

from pygeco.errors.visible_numbers import find_format


@pytest.mark.parametrize("digits", [3, 4])
def test_every_size_keeps_its_digits(digits) -> None:
    rng = np.random.default_rng(0)
    for power in range(-20, 21):
        values = (10.0**power * rng.uniform(1.0, 9.9, 40)).tolist()
        told = find_format(values, digits)
        for x in [*values, *(-x for x in values)]:
            shown = float(format(x, told).replace(",", ""))
            assert shown == pytest.approx(x, rel=0.6 * 10.0 ** (1 - digits))
            assert len(format(x, told)) <= 16


def test_usual_numbers_are_as_ever() -> None:
    assert [format(x, find_format([x])) for x in (0.0, 0.5, 4.0127, 1234.5)] == [
        *("0.000", "0.500", "4.013", "1234.500")
    ]
    assert format(0.87531, find_format([0.87531], 4)) == "0.8753"
    assert format(-0.25, "+" + find_format([4.0, -0.25])) == "-0.250"
    assert format(316294969.6745, find_format([316294969.6745], 4)) == "316,294,970"
    assert find_format([]) == find_format([math.nan, math.inf]) == ".3f"
