"""The numbers behind the pictures, against plain NumPy."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pygeco import LowRank, MatrixCompletion, diagnostics
from pygeco.diagnostics import Names
from report_cases import by_evidence, by_labels, by_path, ratings


def rmse(found, values):
    return np.sqrt(np.mean((np.asarray(found, float) - values) ** 2))


def test_the_curve_of_a_path_is_the_error_of_each_rank() -> None:
    model, (rows, cols, values, shape) = by_path(), ratings()[1]
    found = diagnostics.curve(model, (rows, cols, values, shape))
    assert found.refitted
    assert found.ranks.tolist() == [1, 2, 3, 4, 5]
    b = model.biases_
    for step, error in zip(model.path_, found.held_out, strict=True):
        full = np.clip(step.A.to_dense() + b.mean + b.row[:, None] + b.col, *model.range_)
        assert error == pytest.approx(rmse(full[rows, cols], values), rel=1e-6)
    assert found.gaps.tolist() == [step.gap for step in model.path_]
    assert found.fitted[-1] == pytest.approx(-model.score(ratings()[0]), rel=1e-5)


def test_the_curve_of_the_evidence_cuts_off_its_last_components() -> None:
    model, held = by_evidence(), ratings()[1]
    found = diagnostics.curve(model, held)
    assert not found.refitted
    assert len(found.ranks) == model.rank_ + 1
    b, U, s, Vt = model.biases_, *np.linalg.svd(model.factors_.to_dense(), full_matrices=False)
    for rank, error in zip(found.ranks, found.held_out, strict=True):
        full = (U[:, :rank] * s[:rank]) @ Vt[:rank] + b.mean + b.row[:, None] + b.col
        full = np.clip(full, *model.range_)  # one to five stars
        assert error == pytest.approx(rmse(full[held[0], held[1]], held[2]), rel=1e-4)
    assert found.held_out[-1] == pytest.approx(-model.score(held), rel=1e-5)


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


def test_the_interval_of_the_rmse_covers_what_other_draws_give() -> None:
    rng = np.random.default_rng(0)
    judged = diagnostics.judge(by_evidence())

    def drawn():
        noise = 0.7 * rng.standard_normal(len(judged.observed))
        return judged._replace(observed=judged.predicted + noise)

    widths = [one.half_width for one in (drawn() for _ in range(50))]
    inside = np.mean([abs(drawn().rmse - 0.7) <= np.mean(widths) for _ in range(400)])
    assert 0.91 <= inside <= 0.99


def test_bins_of_a_calibrated_model_are_on_the_diagonal() -> None:
    rng = np.random.default_rng(1)
    judged = diagnostics.judge(by_evidence())
    true = judged._replace(observed=judged.predicted + rng.standard_normal(len(judged.predicted)))
    found = diagnostics.calibration(true, bins=10)
    assert found.counts.sum() == len(judged.predicted)
    assert np.ptp(found.counts) <= 1
    assert np.mean(np.abs(found.observed - found.predicted) <= found.half_width) >= 0.7
    assert np.all(np.diff(found.predicted) > 0)
    wrong = judged._replace(observed=judged.predicted + 1.0)
    shifted = diagnostics.calibration(wrong)
    assert np.allclose(shifted.observed - shifted.predicted, 1.0)


def test_coverage_of_gaussian_residuals_is_the_level() -> None:
    rng = np.random.default_rng(2)
    judged = diagnostics.judge(by_evidence())
    draws = judged.predicted + judged.deviation * rng.standard_normal(len(judged.predicted))
    for level, share in diagnostics.coverage(judged._replace(observed=draws)):
        assert share == pytest.approx(level, abs=0.03)
    assert diagnostics.coverage(diagnostics.judge(by_path())) == []


def test_labels_are_judged_as_probabilities() -> None:
    model = by_labels()
    judged = diagnostics.judge(model)
    assert set(np.unique(judged.observed)) == {0.0, 1.0}
    proba = model.predict_proba(judged.cells.rows, judged.cells.cols)[:, 1]
    assert np.allclose(judged.predicted, proba)
    found = diagnostics.curve(model)
    assert found.measure == "mean loss"
    assert found.fitted[-1] == pytest.approx(
        -model.score((judged.cells.rows, judged.cells.cols, judged.observed, model.factors_.shape)),
        rel=1e-5,
    )


def test_levels_are_judged_on_their_own_scale() -> None:
    rows, cols, values, shape = ratings()[0]
    model = MatrixCompletion(1, loss="ordinal", random_state=0).fit((rows, cols, values, shape))
    judged = diagnostics.judge(model)
    assert set(np.unique(judged.observed)) == set(np.unique(values.astype(float)))
    again = diagnostics.judge(model, ratings()[0])
    assert again.rmse == pytest.approx(judged.rmse)


def test_worst_cells_have_the_largest_losses() -> None:
    judged = diagnostics.judge(by_evidence())
    found = diagnostics.worst(judged, 7)
    expected = np.sort(np.abs(judged.residuals))[::-1][:7]
    assert np.allclose(np.abs(judged.residuals)[found], expected)


def test_components_are_the_singular_triples_turned_upward() -> None:
    model = by_path()
    found = diagnostics.components(model, count=3, extremes=4)
    U, s, Vt = np.linalg.svd(model.factors_.to_dense(), full_matrices=False)
    rows, cols = ratings()[0][:2]
    for part in found:
        k = part.number - 1
        assert part.value == pytest.approx(s[k], rel=1e-5)
        piece = s[k] * np.outer(U[:, k], Vt[k])
        assert part.effect == pytest.approx(rmse(piece[rows, cols], 0.0), rel=1e-4)
        weights = [w for _, w in part.top] + [w for _, w in part.bottom][::-1]
        assert weights == sorted(weights, reverse=True)
        assert part.top[0][1] >= abs(part.bottom[0][1])
        assert part.top[0][0] == np.argmax(np.abs(Vt[k]))
        assert not {j for j, _ in part.top} & {j for j, _ in part.bottom}


def test_components_come_by_their_effect_at_the_fitted_cells() -> None:
    """A singular value may be large by what the matrix does where no cell is known."""
    rng = np.random.default_rng(0)
    seen = rng.random((40, 30)) < 0.3
    seen[:, 0] = False
    seen[0, 0] = True  # the only cell of the strongest pair
    truth = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 30))
    rows, cols = np.nonzero(seen)
    model = MatrixCompletion(2, penalty=None, biases=False, random_state=0)
    model.fit((rows, cols, truth[seen], (40, 30)))
    wide = model.factors_.append(np.eye(40)[1], np.eye(30)[0])
    wild = LowRank(wide.U, np.append(wide.s[:-1], 1e3), wide.V)
    model.model_ = replace(model.model_, factors=wild)
    found = diagnostics.components(model)
    effects = [part.effect for part in found]
    assert effects == sorted(effects, reverse=True)
    assert [part.number for part in found][-1] == 1  # the largest value, and no effect
    assert [part.number for part in diagnostics.components(model, count=1)] != [1]


def test_columns_with_few_cells_are_left_out() -> None:
    model = by_path()
    counts = np.bincount(model.seen_.indices, minlength=80)
    support = int(np.median(counts))
    for part in diagnostics.components(model, support=support):
        assert all(counts[j] >= support for j, _ in part.top + part.bottom)


def test_names() -> None:
    assert Names("column")[3] == "column 3"
    assert Names("column", ["x", "y"])[1] == "y"
    assert Names("column", [10, 20], {"20": "twenty"})[1] == "twenty"
    assert Names("column", [10, 20], {10: "ten"})[1] == "20"
    assert Names("column", None, ["a", "b"])[1] == "b"


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
    found = diagnostics.unseen(by_path(), both)
    assert sorted(zip(found.rows, found.cols, strict=True)) == sorted(zip(*held[:2], strict=True))
    assert found.total == len(held[2])
    assert found.held_out
    assert diagnostics.unseen(by_path(), fitted).total == 0


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
