"""Cells of a fitted matrix in every form, and what is no cell of it."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pygeco import MatrixCompletion, diagnostics
from report_cases import by_evidence, by_path, ratings


@pytest.mark.parametrize("form", ["triplets", "sparse", "dense"])
def test_held_out_cells_come_in_three_forms(form) -> None:
    rows, cols, values, shape = ratings()[1]
    matrix = sp.coo_array((values, (rows, cols)), shape)
    dense = np.full(shape, np.nan)
    dense[rows, cols] = values
    given = {"triplets": (rows, cols, values), "sparse": matrix, "dense": dense}[form]
    judged = diagnostics.judge(by_evidence(), given)
    assert judged.rmse == pytest.approx(-by_evidence().score(ratings()[1]), rel=1e-5)
    assert judged.cells.held_out


def test_fitted_cells_are_used_where_none_are_given() -> None:
    judged = diagnostics.judge(by_path())
    assert not judged.cells.held_out
    assert judged.rmse == pytest.approx(-by_path().score(ratings()[0]), rel=1e-5)
    assert judged.deviation is None


def test_many_cells_are_sampled_and_said_to_be() -> None:
    judged = diagnostics.judge(by_evidence(), ratings()[1], most=200)
    assert len(judged.observed) == 200
    assert judged.cells.total == len(ratings()[1][2])


def test_no_cells_is_told() -> None:
    with pytest.raises(ValueError, match="held_out: holds no cells"):
        diagnostics.judge(by_evidence(), ([], [], []))


def test_cells_outside_the_matrix_are_told() -> None:
    with pytest.raises(ValueError, match=r"held_out: column 80 is outside 0 … 79"):
        diagnostics.judge(by_evidence(), ([1, 2], [3, 80], [1.0, 2.0]))
    with pytest.raises(ValueError, match=r"held_out: row -1 is outside"):
        diagnostics.judge(by_evidence(), ([-1, 2], [3, 4], [1.0, 2.0]))


def test_fitted_cells_are_told_from_new_ones() -> None:
    fitted, held = ratings()
    both = tuple(np.concatenate(pair) for pair in zip(fitted[:3], held[:3], strict=True))
    found = diagnostics.find_unseen_cells(by_path(), both)
    assert sorted(zip(found.rows, found.cols, strict=True)) == sorted(zip(*held[:2], strict=True))
    assert found.total == len(held[2])
    assert found.held_out
    assert diagnostics.find_unseen_cells(by_path(), fitted).total == 0


def test_tables_are_judged_by_their_ids() -> None:
    rows, cols, values, _ = ratings()[0]
    names = np.array([f"u{k:03}" for k in range(120)])
    table = pd.DataFrame({"user": names[rows], "item": cols * 10, "rating": values})
    model = MatrixCompletion(3, penalty=None, random_state=0).fit(table)
    i, j, y, _ = ratings()[1]
    held = pd.DataFrame({"user": [*names[i], "new"], "item": [*(j * 10), 30], "rating": [*y, 1.0]})
    judged = diagnostics.judge(model, held)
    known = np.isin(i, rows) & np.isin(j, cols)
    assert len(judged.observed) == known.sum()  # the new id is left out
    expected = model.predict(names[i[known]], j[known] * 10)
    assert np.allclose(judged.predicted, expected, atol=1e-5)
    halves = pd.DataFrame({"user": ["u000", "new"], "item": [1, 30], "rating": [1.0, 2.0]})
    with pytest.raises(ValueError, match="held_out: none of its cells"):
        diagnostics.judge(model, halves)
