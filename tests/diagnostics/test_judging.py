"""The numbers behind the pictures, against plain NumPy."""

import numpy as np
import pytest

from pygeco import ImplicitCompletion, MatrixCompletion, diagnostics, plot
from report_cases import by_evidence, by_labels, by_path, ratings


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
    found = diagnostics.measure_calibration(true, bins=10)
    assert found.counts.sum() == len(judged.predicted)
    assert np.ptp(found.counts) <= 1
    assert np.mean(np.abs(found.observed - found.predicted) <= found.half_width) >= 0.7
    assert np.all(np.diff(found.predicted) > 0)
    wrong = judged._replace(observed=judged.predicted + 1.0)
    shifted = diagnostics.measure_calibration(wrong)
    assert np.allclose(shifted.observed - shifted.predicted, 1.0)


def test_coverage_of_gaussian_residuals_is_the_level() -> None:
    rng = np.random.default_rng(2)
    judged = diagnostics.judge(by_evidence())
    draws = judged.predicted + judged.deviation * rng.standard_normal(len(judged.predicted))
    for level, share in diagnostics.measure_coverage(judged._replace(observed=draws)):
        assert share == pytest.approx(level, abs=0.03)
    assert diagnostics.measure_coverage(diagnostics.judge(by_path())) == []


def test_labels_are_judged_as_probabilities() -> None:
    model = by_labels()
    judged = diagnostics.judge(model)
    assert set(np.unique(judged.observed)) == {0.0, 1.0}
    proba = model.predict_proba(judged.cells.rows, judged.cells.cols)[:, 1]
    assert np.allclose(judged.predicted, proba)
    found = diagnostics.measure_curve(model)
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
    found = diagnostics.find_worst(judged, 7)
    expected = np.sort(np.abs(judged.residuals))[::-1][:7]
    assert np.allclose(np.abs(judged.residuals)[found], expected)


def test_a_value_at_the_end_of_the_scale_is_not_missed_by_what_lies_beyond() -> None:
    """Predictions are clipped to the values that there are: what is right there is none of the
    worst."""
    rng = np.random.default_rng(0)
    rows, cols = np.divmod(np.arange(400), 20)
    strength = rng.standard_normal((20, 1)) * (1 + rng.random((1, 20)))
    values = np.clip(np.rint(3 + 2 * strength + 0.3 * rng.standard_normal((20, 20))), 1, 5)
    model = MatrixCompletion(random_state=0).fit((rows, cols, values.ravel(), (20, 20)))
    judged = diagnostics.judge(model)
    assert np.sum((judged.predicted == 5) & (judged.observed == 5)) > 12
    np.testing.assert_allclose(judged.losses, judged.residuals**2, rtol=1e-5, atol=1e-9)
    order = np.argsort(-np.abs(judged.residuals), kind="stable")[:12]
    worst = np.abs(judged.residuals[diagnostics.find_worst(judged)])
    np.testing.assert_allclose(worst, np.abs(judged.residuals[order]), rtol=1e-5)


def test_scores_of_clicks_are_no_predictions_of_values() -> None:
    model = ImplicitCompletion(2, share=0.0, random_state=0).fit(np.eye(6) + np.eye(6, k=1))
    for judge in (diagnostics.judge, diagnostics.measure_curve, plot.residuals, plot.path):
        with pytest.raises(ValueError, match=r"rank columns .* protocol='all'"):
            judge(model)
