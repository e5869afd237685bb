"""The map keeps what is alike together; figures are those of the held-out cells."""

import numpy as np
import pytest

from pygeco import MatrixCompletion, diagnostics
from pygeco.serve.picture import _show, describe_served, map_items, place_directions
from pygeco.serve.served import open_served
from serve_cases import fit_ratings, fit_values, make_table, make_values, open_values


def test_directions_in_the_plane_stay_as_they_are() -> None:
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 50)
    flat = np.column_stack([np.cos(angle), np.sin(angle)])
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0][:2]
    found = place_directions(flat @ turn * rng.uniform(1, 9, (50, 1)))
    wide = np.linalg.norm(flat[:, None] - flat, axis=2)
    own = np.linalg.norm(found[:, None] - found, axis=2)
    np.testing.assert_allclose(own, wide * (own.max() / wide.max()), atol=1e-9)
    assert np.abs(found).max() == 1
    assert place_directions(np.ones((3, 1))).shape == (3, 2)


def test_the_map_has_all_items_the_best_known_first(ratings) -> None:
    drawn = map_items(ratings)
    assert sorted(drawn["items"]) == [f"m{j + 1:02d}" for j in range(60)]
    assert drawn["counts"] == sorted(drawn["counts"], reverse=True)


def test_figures_are_those_of_the_held_out_cells(ratings, clicks) -> None:
    figures = {one["label"]: one["value"] for one in describe_served(ratings)["figures"]}
    held = make_table().slice(0, 100)
    model = fit_ratings()
    error = model.predict(held).column("prediction").to_numpy() - held.column("rating").to_numpy()
    assert float(figures["RMSE"]) == round(float(np.sqrt(np.mean(error**2))), 4)
    assert figures["ratings"] == "1,400"
    assert "RMSE" not in {one["label"] for one in describe_served(clicks)["figures"]}


@pytest.mark.parametrize("kind", ["logistic", "ordinal", "poisson", "huber", "small"])
def test_figures_of_any_loss_are_those_of_the_report(kind, tmp_path) -> None:
    figures = {
        one["label"]: one["value"]
        for one in describe_served(open_values(kind, tmp_path))["figures"]
    }
    judged = diagnostics.judge(fit_values(kind), make_values(kind).slice(0, 150))
    if kind == "logistic":
        assert "RMSE" not in figures
        assert float(figures["mean loss"]) == pytest.approx(judged.losses.mean(), rel=1e-3)
        return
    assert float(figures["RMSE"]) == pytest.approx(judged.rmse, rel=1e-3)
    assert float(figures["mean absolute error"]) == pytest.approx(judged.mae, rel=1e-3)
    shares = dict(diagnostics.measure_coverage(judged))
    assert float(figures["in 90 % intervals"][:-1]) == pytest.approx(100 * shares[0.9], abs=0.7)


def test_held_out_cells_are_judged_at_their_time(tmp_path) -> None:
    table = make_values("tenths")
    days = np.random.default_rng(0).integers(0, 900, len(table))
    dates = np.datetime64("2020-01-01", "s") + 86_400 * days
    moved = table["value"].to_numpy() + np.sin(days / 90)
    table = table.set_column(2, "value", [moved]).append_column("timestamp", [dates])
    model = MatrixCompletion(random_state=0, time=True).fit(table.slice(150))
    model.keep_held_out(table.slice(0, 150))
    model.save(tmp_path / "timed.geco")
    found = describe_served(open_served(tmp_path / "timed.geco"))
    figures = {one["label"]: one["value"] for one in found["figures"]}
    judged = diagnostics.judge(model, table.slice(0, 150))
    assert float(figures["RMSE"]) == pytest.approx(judged.rmse, rel=1e-3)


def test_errors_keep_their_digits() -> None:
    assert [_show(x) for x in (0.82301, 12.5, 0.0, 1.2345678e-5, 1234567.8)] == [
        "0.8230",
        "12.5000",
        "0.000",
        "1.235e-05",
        "1.235e+06",
    ]
