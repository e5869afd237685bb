"""The map keeps what is alike together; figures are those of the held-out cells."""

import numpy as np

from pygeco.serve.picture import describe_served, map_items, place_directions
from serve_cases import fit_ratings, make_table


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
