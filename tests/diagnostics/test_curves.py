"""Errors against rank, against plain NumPy."""

import numpy as np
import pytest

from pygeco import diagnostics
from report_cases import by_evidence, by_path, ratings


def rmse(found, values):
    return np.sqrt(np.mean((np.asarray(found, float) - values) ** 2))


def test_the_curve_of_a_path_is_the_error_of_each_rank() -> None:
    model, (rows, cols, values, shape) = by_path(), ratings()[1]
    found = diagnostics.measure_curve(model, (rows, cols, values, shape))
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
    found = diagnostics.measure_curve(model, held)
    assert not found.refitted
    assert len(found.ranks) == model.rank_ + 1
    b, U, s, Vt = model.biases_, *np.linalg.svd(model.factors_.to_dense(), full_matrices=False)
    for rank, error in zip(found.ranks, found.held_out, strict=True):
        full = (U[:, :rank] * s[:rank]) @ Vt[:rank] + b.mean + b.row[:, None] + b.col
        full = np.clip(full, *model.range_)  # one to five stars
        assert error == pytest.approx(rmse(full[held[0], held[1]], held[2]), rel=1e-4)
    assert found.held_out[-1] == pytest.approx(-model.score(held), rel=1e-5)
