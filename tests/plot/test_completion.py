"""Each picture draws what it says, on the axes given, and returns them."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from pygeco import MatrixCompletion, Solver, diagnostics, plot
from pygeco.reports import words
from report_cases import by_evidence, by_labels, by_path, ratings


def lines(ax):
    return {line.get_label(): np.asarray(line.get_ydata()) for line in ax.get_lines()}


def texts(ax):
    return " ".join(text.get_text() for text in ax.texts)


def test_path_draws_both_errors_and_the_floor() -> None:
    model, held = by_path(), ratings()[1]
    ax = plot.path(model, held)
    found = diagnostics.measure_curve(model, held)
    assert np.allclose(lines(ax)["fitted cells"], found.fitted)
    assert np.allclose(lines(ax)["held-out cells"], found.held_out)
    best = int(found.held_out.argmin())
    assert f"lowest at {found.ranks[best]}: {found.held_out[best]:.4g}" in texts(ax)
    floor = np.sqrt(np.maximum(0, found.objectives - found.gaps))
    shown = lines(ax).get("no matrix is below this*")
    assert shown is not None
    assert np.allclose(shown, floor)
    assert np.all(shown <= lines(ax)["fitted cells"] + 1e-6)
    low, high = ax.get_ylim()
    for series in (found.fitted, found.held_out):
        assert low < series.min()
        assert series.max() < high


def test_path_and_words_say_where_nothing_is_known() -> None:
    """Without a penalty the gradient stays large: the bound rules nothing out."""
    model = MatrixCompletion(
        8, penalty=None, solver=Solver(correction="core"), biases=True, random_state=0
    ).fit(ratings()[0])
    unknown = [step.certificate.vacuous for step in model.path_]
    assert unknown[-1]
    ax = plot.path(model)
    assert ("nothing" if all(unknown) else "nothing known at") in texts(ax)
    said = diagnostics.measure_curve(model).gap_words
    assert [word == "nothing known" for word in said] == unknown
    assert "Nothing is known here" in " ".join(words.describe_certificate(model))
    assert "Nothing is known" not in " ".join(words.describe_certificate(by_path()))


def test_the_step_of_the_evidence_under_huber_is_certified_for_huber() -> None:
    step = MatrixCompletion(loss="huber", random_state=0).fit(ratings()[0]).path_[-1]
    assert not step.certificate.squared
    assert 0 < step.gap <= step.objective


def test_path_takes_a_path_and_a_list_of_errors() -> None:
    path = by_path().path_
    errors = [1.0, 0.9, 0.8, 0.85, 0.95]
    ax = plot.path(path, errors)
    assert np.allclose(lines(ax)["held-out cells"], errors)
    assert "lowest at 3: 0.8" in texts(ax)
    assert np.allclose(lines(plot.path(by_path(), errors))["held-out cells"], errors)
    with pytest.raises(ValueError, match="held_out: has 2 errors for 5 ranks"):
        plot.path(path, [1.0, 2.0])


def test_path_of_the_evidence_says_that_it_cuts() -> None:
    ax = plot.path(by_evidence(), ratings()[1])
    assert ax.get_xlabel() == "leading components kept"
    assert "no matrix is below this*" not in lines(ax)


def test_spectrum_has_the_singular_values() -> None:
    for fit in (by_path(), by_path().path_, by_path().factors_):
        heights = [bar.get_height() for bar in plot.spectrum(fit).patches]
        expected = np.linalg.svd(by_path().factors_.to_dense(), compute_uv=False)[: len(heights)]
        assert np.allclose(heights, expected, rtol=1e-4)
    with pytest.raises(ValueError, match="fit: expected a fitted model"):
        plot.spectrum(MatrixCompletion())


def test_residuals_have_mass_one() -> None:
    ax = plot.residuals(by_evidence(), ratings()[1])
    area = sum(bar.get_height() * bar.get_width() for bar in ax.patches)
    assert area == pytest.approx(1.0)
    judged = diagnostics.judge(by_evidence(), ratings()[1])
    assert f"root mean square {judged.rmse:.4g}" in texts(ax)


def test_calibration_draws_the_bins() -> None:
    ax = plot.calibration(by_evidence(), ratings()[1], bins=6)
    found = diagnostics.measure_calibration(diagnostics.judge(by_evidence(), ratings()[1]), 6)
    points = ax.containers[0].lines[0]
    assert np.allclose(points.get_xdata(), found.predicted)
    assert np.allclose(points.get_ydata(), found.observed)
    assert "90 % intervals hold" in texts(ax)
    plot.calibration(by_labels())


def test_a_hinge_has_nothing_to_calibrate() -> None:
    rows, cols, values, shape = ratings()[0]
    labels = np.where(values > 3.5, 1.0, -1.0)
    model = MatrixCompletion(1, loss="smoothed-hinge", random_state=0)
    model.fit((rows, cols, labels, shape))
    for draw in (plot.calibration, plot.residuals):
        with pytest.raises(ValueError, match="loss='logistic'"):
            draw(model)


def test_the_legend_of_residuals_hides_none_of_them() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    ax = plot.residuals(by_evidence(), ratings()[1], ax=axes[1])
    figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert not [bar for bar in ax.patches if bar.get_window_extent().overlaps(legend)]
    plt.close(figure)
