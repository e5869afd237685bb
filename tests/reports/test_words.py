"""Numbers as text."""

import re

from pygeco.reports import words


def test_numbers_have_no_negative_zero_and_no_certainty() -> None:
    for value in (-0.0, -1e-17, -0.00012, -0.000499, -1e-9):
        for digits in (3, 4):
            assert not re.fullmatch(r"-0[.0]*", words.format_number(value, digits))
    assert words.format_signed(-0.001) == words.format_signed(0.0) == "0.00"
    assert words.format_signed(-0.01) == "-0.01"
    assert words.format_lower_bound(0.99999) == "99.9%"
    assert words.format_lower_bound(0.999) == "99.9%"
    assert words.give_verdict(0.5, 0.62, 10_000) == "too wide"
    assert words.give_verdict(0.99, 0.97, 10_000) == "too narrow"
    assert words.give_verdict(0.99, 0.97, 20) == "right"  # within chance
