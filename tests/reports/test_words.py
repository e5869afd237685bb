"""Numbers as text."""

import re

import numpy as np

from pygeco.diagnostics import Judged, Spread
from pygeco.diagnostics.cells import Cells
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
    assert "too few" in words.describe_coverage([(0.5, 1.0), (0.9, 1.0)], 1)
    assert words.describe_coverage([(0.5, 0.5), (0.9, 0.9)], 40).startswith("Intervals are honest")
    assert words.format_number(4e-9, 3) == "4.00e-09"  # as long as those beside it


def test_numbers_of_any_size_keep_their_digits() -> None:
    for power in range(-12, 18):
        for value in (1.2345678 * 10.0**power, -9.876e-1 * 10.0**power):
            for digits in (3, 4):
                text = words.format_number(value, digits)
                assert abs(float(text.replace(",", "")) / value - 1) <= 10.0 ** (2 - digits) / 2
                assert len(text.replace(",", "")) <= max(digits + 6, power + 2)


def test_signed_numbers_have_the_places_of_the_largest_beside_them() -> None:
    for power in range(-12, 18):
        largest = 4.3 * 10.0**power
        for share in (1, -0.53, 0.11):
            text = words.format_signed(share * largest, largest)
            assert text[0] == ("-" if share < 0 else "+")
            assert abs(float(text.replace(",", "")) - share * largest) <= 0.0151 * largest
    assert words.format_signed(1234567.8, 1e6) == "+1,234,568"
    assert words.format_signed(1e-9, 0.02) == "0.000"
    assert words.format_signed(0.0, 0.0) == "0.00"


def test_a_small_share_is_not_none() -> None:
    shares = {
        0.0: "0.00%",
        0.0573: "5.73%",
        1.0: "100.00%",
        0.00095: "0.095%",
        1.234e-8: "1.2e-06%",
    }
    assert {share: words.format_share(share) for share in shares} == shares


def test_one_cell_is_no_plural() -> None:
    one = np.ones(1)
    said = words.describe_values(Spread(4 * one, np.ones(1, int), None, 4.0, 0.0, 4.0), "rating")
    assert said.startswith("1 rating with 1 level from 4 to 4:")
    cells = Cells(np.zeros(1, int), np.zeros(1, int), one, 1, True)
    assert words.describe_error(Judged(cells, one, one, one, None)) == "1 held-out cell"
