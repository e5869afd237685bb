"""Maps of factors and of parts draw what they say."""

import numpy as np
import pytest

from pygeco import RobustPCA, plot
from report_cases import by_path


def texts(ax):
    return " ".join(text.get_text() for text in ax.texts)


def test_factors_names_the_outermost_columns() -> None:
    titles = [f"film <{j}>" for j in range(80)]
    ax = plot.factors(by_path(), labels=titles, count=5)
    A = by_path().factors_.svd()
    X = (A.V * A.s)[:, :2]
    outermost = int(np.argmax(np.hypot(*(X / np.abs(X).max(axis=0)).T)))
    assert f"film <{outermost}>" in texts(ax)
    assert len(ax.texts) == 5
    assert len(plot.factors(by_path(), (2, 1), side="rows", count=3).texts) == 3
    with pytest.raises(ValueError, match="components: 9 is not between"):
        plot.factors(by_path(), (1, 9))
    with pytest.raises(ValueError, match="side: expected"):
        plot.factors(by_path(), side="left")


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_frames_shows_three_pictures_a_frame(dtype) -> None:
    rng = np.random.default_rng(0)
    film = np.full((12, 48), 100.0)
    film[np.arange(12), rng.integers(0, 48, 12)] = 250.0
    film = (film + rng.integers(0, 3, film.shape)).astype(dtype)
    model = RobustPCA(1, random_state=0).fit(film)
    axes = plot.frames(model, film, (6, 8), [2, 7])
    assert axes.shape == (2, 3)
    given, background, moved = (ax.images[0].get_array().data for ax in axes[1])
    assert np.array_equal(given.reshape(-1), film[7])
    assert np.allclose(background.reshape(-1), model.low_rank_.to_dense()[7], atol=1e-2)
    assert np.flatnonzero(moved).tolist() == np.flatnonzero(film[7] > 200).tolist()
    assert plot.frames(model, film, (6, 8)).shape == (3, 3)
