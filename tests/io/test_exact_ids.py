"""Ids of one type in another, and together: against Python's integers, which are exact."""

import numpy as np
import pytest

from pygeco.io.exact_ids import cast_exactly, unite_ids
from pygeco.io.tables import find_positions

BIG = 2**60
NUMBERS = [0, 1, -1, 2**31, -(2**31), 2**53, 2**53 + 1, BIG, BIG + 1, 2**63 - 1, 2**63, 2**64 - 1]


def fitting(numbers, kind):
    """The numbers that a type holds, each as it is."""
    if np.dtype(kind).kind == "f":
        return [x for x in numbers if int(np.dtype(kind).type(x)) == x]
    limits = np.iinfo(kind)
    return [x for x in numbers if limits.min <= x <= limits.max]


@pytest.mark.parametrize("kind", ["i4", "i8", "u4", "u8", "f4", "f8"])
@pytest.mark.parametrize("source", ["i4", "i8", "u8", "f4", "f8"])
def test_numbers_in_another_type(source, kind) -> None:
    given = fitting(NUMBERS, source)
    found, inside = cast_exactly(np.array(given, source), np.dtype(kind))
    assert found.dtype == kind
    wanted = fitting(given, kind)
    assert [x for x, fits in zip(given, inside, strict=True) if fits] == wanted
    assert [int(x) for x in found[inside]] == wanted
    odd = np.array([np.nan, np.inf, 0.5])
    assert not cast_exactly(odd, np.dtype(np.int64))[1].any()


@pytest.mark.parametrize(
    ("known", "fresh", "kind"),
    [
        (np.int64([BIG, BIG + 1]), np.uint64([BIG + 1, BIG + 2]), "i8"),
        (np.uint64([BIG, 2**63]), np.int64([5]), "u8"),
        (np.int64([1, BIG]), np.uint64([2**64 - 1]), "u8"),
        (np.int32([1, 2]), np.int64([BIG + 1]), "i8"),
        (np.int64([1, 2]), np.float64([2.0, 3.0]), "i8"),
        (np.int64([1, 2]), np.float64([2.5]), "f8"),
        (np.float64([1.0, 2.5]), np.int32([2]), "f8"),
        (np.array(["a"], object), np.array(["b"], object), "O"),
        (np.zeros(0, np.int64), np.array(["b"], object), "O"),
        (np.array(["2020-01-01"], "M8[D]"), np.array(["2020-01-01T01"], "M8[h]"), "M8[h]"),
    ],
)
def test_ids_together(known, fresh, kind) -> None:
    found = unite_ids(known, fresh, "X")
    assert found.dtype == kind
    assert set(found.tolist()) == set(known.astype(kind).tolist()) | set(fresh.tolist())
    for own in (known, fresh):
        assert [found.tolist()[at] for at in find_positions(found, own)] == own.astype(
            kind
        ).tolist()


@pytest.mark.parametrize(
    ("known", "fresh"),
    [
        (np.int64([1]), np.array(["1"], object)),
        (np.array(["1"], object), np.int64([1])),
        (np.int64([-1]), np.uint64([2**63])),
        (np.int64([BIG]), np.float64([BIG])),
        (np.int64([BIG]), np.float64([0.5])),
        (np.float64([0.5]), np.int64([BIG])),
        (np.array([True]), np.int64([1])),
        (np.array(["2020-01-01"], "M8[D]"), np.int64([1])),
    ],
)
def test_ids_that_do_not_go_together_are_refused_by_name(known, fresh) -> None:
    with pytest.raises(ValueError, match=r"column 'user': its ids, such as .*give ids of the type"):
        unite_ids(known, fresh, "X: column 'user'")


def test_lookups_are_exact() -> None:
    ids = BIG + np.arange(5)
    asked = np.array([BIG, BIG + 1024, 2.0**63, np.nan])
    assert find_positions(ids, asked).tolist() == [0, -1, -1, -1]
    assert find_positions(np.float64([0.5, BIG]), ids).tolist() == [1, -1, -1, -1, -1]
