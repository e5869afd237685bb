"""Lines that point the same way, against plain cosines."""

import numpy as np

from pygeco.models.similarity import find_alike, find_nearest


def cosines(one, other):
    a, b = (x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300) for x in (one, other))
    return a @ b.T


def test_neighbours_have_the_largest_cosines_and_are_not_the_line_itself() -> None:
    vectors = np.random.default_rng(0).standard_normal((12, 3)).astype(np.float32)
    vectors[5] = 0
    table = cosines(vectors.astype(float), vectors.astype(float))
    np.fill_diagonal(table, -np.inf)
    best = find_alike(vectors, np.arange(12), 4)
    wanted = -np.sort(-table, axis=1)[:, :4]
    np.testing.assert_allclose(best.scores, wanted, atol=1e-12)
    assert not np.any(best.columns == np.arange(12)[:, None])
    np.testing.assert_allclose(np.take_along_axis(table, best.columns, 1), wanted, atol=1e-12)


def test_lines_of_others_may_be_asked_for() -> None:
    rng = np.random.default_rng(0)
    vectors, asked = rng.standard_normal((9, 3)), rng.standard_normal((2, 3))
    best = find_nearest(vectors, 5 * asked, 20)
    np.testing.assert_allclose(best.scores, -np.sort(-cosines(asked, vectors), axis=1), atol=1e-12)
