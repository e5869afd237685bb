"""Columns of numbers without names: pairs of ids and cells are told from matrices."""

import numpy as np
import pandas as pd
import pytest

from pygeco import ImplicitCompletion, MatrixCompletion
from pygeco.estimators._unnamed_numbers import looks_like_pairs, looks_like_triples

RNG = np.random.default_rng(0)
PLACES = RNG.choice(30 * 40, 400, replace=False)
PAIRS = np.column_stack([PLACES // 40, PLACES % 40])
TIMES = 978_300_000 + RNG.integers(0, 10**6, 400)
COUNTS = RNG.integers(1, 9, 400)


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (PAIRS.T, True),
        (PAIRS.T[::-1] + 10**12, True),
        (PAIRS.T.astype(float), True),
        (PAIRS[:49].T, False),  # too few to tell
        (RNG.integers(1, 6, (2, 400)), False),  # two columns of stars
        (RNG.standard_normal((2, 400)), False),
        (-PAIRS.T, False),
        (np.arange(800).reshape(2, 400), False),  # no id repeats
        (PAIRS.T[:1], False),
        ([*PAIRS.T, COUNTS], False),
    ],
)
def test_pairs(columns, expected) -> None:
    assert looks_like_pairs(list(columns)) is expected


def test_triples_may_have_times_beside_them() -> None:
    assert looks_like_triples([*PAIRS.T, COUNTS])
    assert looks_like_triples([*PAIRS.T, COUNTS, TIMES])
    assert not looks_like_triples(list(RNG.integers(1, 6, (3, 400))))


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame])
def test_pairs_are_no_matrix_of_two_columns(kind) -> None:
    with pytest.raises(ValueError, match=r"^X: an? .* looks like pairs .*; pass y, their values"):
        MatrixCompletion().fit(kind(PAIRS))
    columns = (0, 1) if kind is np.asarray else None  # a table of two columns has nothing else
    clicks = ImplicitCompletion(random_state=0).fit(kind(PAIRS), columns=columns)
    assert clicks.factors_.shape == (30, 40)
    assert sorted(clicks.row_ids_.tolist()) == sorted(set(PAIRS[:, 0].tolist()))
    stars = RNG.integers(1, 6, (400, 2))
    assert MatrixCompletion(1, random_state=0).fit(kind(stars)).factors_.shape == (400, 2)


@pytest.mark.parametrize("beside", [[COUNTS], [TIMES], [COUNTS, TIMES]])
def test_clicks_without_names_ask_for_their_columns(beside) -> None:
    table = pd.DataFrame(np.column_stack([PAIRS, *beside]))
    with pytest.raises(ValueError, match=r"do not say which .*; pass columns=\('0', '1'\), or \("):
        ImplicitCompletion().fit(table)
    named = ImplicitCompletion(random_state=0).fit(table, columns=("0", "1"))
    assert named.factors_.shape == (30, 40)
    matrix = pd.DataFrame(RNG.integers(0, 3, (60, 5)))
    assert ImplicitCompletion(random_state=0).fit(matrix).factors_.shape == (60, 5)
