"""Components by name, against the singular value decomposition."""

from dataclasses import replace

import numpy as np
import pytest

from pygeco import LowRank, MatrixCompletion, diagnostics
from pygeco.diagnostics import Names
from report_cases import by_path, ratings


def rmse(found, values):
    return np.sqrt(np.mean((np.asarray(found, float) - values) ** 2))


def test_components_are_the_singular_triples_turned_upward() -> None:
    model = by_path()
    found = diagnostics.find_components(model, count=3, extremes=4)
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
    found = diagnostics.find_components(model)
    effects = [part.effect for part in found]
    assert effects == sorted(effects, reverse=True)
    assert [part.number for part in found][-1] == 1  # the largest value, and no effect
    assert [part.number for part in diagnostics.find_components(model, count=1)] != [1]


def test_columns_with_few_cells_are_left_out() -> None:
    model = by_path()
    counts = np.bincount(model.seen_.indices, minlength=80)
    support = int(np.median(counts))
    for part in diagnostics.find_components(model, support=support):
        assert all(counts[j] >= support for j, _ in part.top + part.bottom)


def test_names() -> None:
    assert Names("column")[3] == "column 3"
    assert Names("column", ["x", "y"])[1] == "y"
    assert Names("column", [10, 20], {"20": "twenty"})[1] == "twenty"
    assert Names("column", [10, 20], {10: "ten"})[1] == "20"
    assert Names("column", None, ["a", "b"])[1] == "b"
