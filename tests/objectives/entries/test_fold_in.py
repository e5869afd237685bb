import numpy as np
import pytest

from pygeco import Entries
from pygeco.objectives.entries import fold_in as module
from pygeco.objectives.entries.fold_in import fold_in


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("weights", [False, True])
def test_each_row_is_its_own_least_squares(ridge, weights, monkeypatch) -> None:
    monkeypatch.setattr(module, "ROWS_AT_ONCE", 4)  # several blocks
    rng = np.random.default_rng(0)
    seen = rng.random((11, 8)) < 0.5
    seen[2], seen[7, 1:] = False, False
    Y, V, offset = rng.standard_normal((11, 8)), rng.standard_normal((8, 3)), rng.standard_normal(8)
    w = rng.uniform(0.5, 2, (11, 8)) if weights else np.ones((11, 8))
    rows, cols = np.nonzero(seen)
    given = w[rows, cols] if weights else None
    entries = Entries(rows, cols, Y[rows, cols], (11, 8), sample_weight=given)
    found = fold_in(entries, V, offset=offset, ridge=ridge)
    for i in range(11):
        j = seen[i]
        root = np.sqrt(w[i, j])
        design = np.vstack([V[j] * root[:, None], np.sqrt(ridge) * np.eye(3)])
        wanted = np.append((Y[i, j] - offset[j]) * root, np.zeros(3))
        best = np.linalg.lstsq(design, wanted)[0]  # the least norm where a row says too little
        np.testing.assert_allclose(found[i], best, atol=1e-8)
    assert not found[2].any()
