"""Numbers as text."""

import re

from pygeco.reports import words


def test_numbers_have_no_negative_zero_and_no_certainty() -> None:
    for value in (-0.0, -1e-17, -0.00012, -0.000499, -1e-9):
        for digits in (3, 4):
            assert not re.fullmatch(r"-0[.0]*", words.number(value, digits))
    assert words.signed(-0.001) == words.signed(0.0) == "0.00"
    assert words.signed(-0.01) == "-0.01"
    assert words.at_least(0.99999) == "99.9%"
    assert words.at_least(0.999) == "99.9%"
    assert words.verdict(0.5, 0.62, 10_000) == "too wide"
    assert words.verdict(0.99, 0.97, 10_000) == "too narrow"
    assert words.verdict(0.99, 0.97, 20) == "right"  # within chance
