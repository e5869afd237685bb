"""Islands of rows and columns, against a walk from cell to cell."""

import numpy as np
import pytest

from pygeco import Dense, Entries, Solver, minimize
from pygeco.algorithm.corrections.sweep import balance_islands
from pygeco.objectives import islands as module


def scatter_cells(rng, shape, islands, per_island):
    """Rows and columns of cells, each island's among lines of its own; some lines have none."""
    homes = [rng.integers(islands + 1, size=size) for size in shape]
    found = set()
    for island in range(islands):
        rows, cols = (np.flatnonzero(home == island) for home in homes)
        if len(rows) and len(cols):
            found |= set(
                zip(rng.choice(rows, per_island), rng.choice(cols, per_island), strict=True)
            )
    found |= {(0, 0)}
    return np.array(sorted(found)).T


def walk(rows, cols, shape):
    """The lines that each line with cells hangs together with, as sets of cells."""
    left = set(zip(rows.tolist(), cols.tolist(), strict=True))
    found = []
    while left:
        part, edge = set(), {left.pop()}
        while edge:
            part |= edge
            at_rows, at_cols = {i for i, _ in edge}, {j for _, j in edge}
            edge = {(i, j) for i, j in left if i in at_rows or j in at_cols}
            left -= edge
        found.append(frozenset(part))
    return set(found)


def parts_of(islands, rows, cols):
    if islands is None:
        return {frozenset(zip(rows.tolist(), cols.tolist(), strict=True))}
    np.testing.assert_array_equal(islands.rows[rows], islands.cols[cols])
    assert set(islands.rows[rows]) == set(range(islands.total))
    return {
        frozenset(zip(rows[at].tolist(), cols[at].tolist(), strict=True))
        for at in (islands.rows[rows] == k for k in range(islands.total))
    }


@pytest.mark.parametrize("at_once", [1, 7, module.CELLS_AT_ONCE])
@pytest.mark.parametrize("first", [1, module.FIRST_CELLS])
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (40, 8), (30, 30)])
@pytest.mark.parametrize("seed", range(3))
def test_islands_are_what_a_walk_finds(seed, shape, count, first, at_once, monkeypatch) -> None:
    monkeypatch.setattr(module, "FIRST_CELLS", first)
    monkeypatch.setattr(module, "CELLS_AT_ONCE", at_once)
    rng = np.random.default_rng(seed)
    rows, cols = scatter_cells(rng, shape, count, 25)
    table = np.full(shape, np.nan)
    table[rows, cols] = rng.standard_normal(len(rows))
    weights = (rng.random(shape) < 0.7).astype(float)
    weights[rows[0], cols[0]] = 1.0
    seen = weights[rows, cols] > 0
    wanted, weighed = walk(rows, cols, shape), walk(rows[seen], cols[seen], shape)
    entries = Entries(rows, cols, np.zeros(len(rows)), shape)
    assert parts_of(entries.islands, rows, cols) == wanted
    assert parts_of(Dense(table).islands, rows, cols) == wanted
    of_table = Dense(table, sample_weight=weights).islands
    assert parts_of(of_table, rows[seen], cols[seen]) == weighed


def test_other_sets_of_cells_have_islands_of_their_own() -> None:
    """Made of a set whose islands are known already."""
    entries = Entries([0, 0, 1, 2], [0, 1, 1, 2], [1.0, 2.0, 3.0, 4.0])
    assert entries.islands.total == 2
    assert entries.subset(np.array([True, False, True, True])).islands.total == 3
    assert entries.take_rows(np.array([1, 0])).islands is None
    np.testing.assert_array_equal(entries.T.islands.rows, entries.islands.cols)
    assert len(entries.within((5, 4)).islands.rows) == 5
    table = Dense(np.where(np.eye(3) > 0, 1.0, np.nan))
    assert table.islands.total == 3
    assert table.part(rows=slice(0, 1)).islands is None


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_balanced_factors_have_the_same_product_on_islands(scale) -> None:
    rng = np.random.default_rng(0)
    homes = [rng.integers(3, size=size) for size in (40, 25)]
    islands = module.Islands(3, *homes)
    uneven = 10.0 ** rng.uniform(-8, 8, (3, 4))
    uneven[1, 2] = 0.0
    U = rng.standard_normal((40, 4)) * uneven[homes[0]]
    W = scale * rng.standard_normal((25, 4)) / np.where(uneven > 0, uneven, 1.0)[homes[1]]
    left, right = balance_islands(U, W, islands)
    same = homes[0][:, None] == homes[1]
    np.testing.assert_allclose((left @ right.T)[same], (U @ W.T)[same], rtol=1e-9, atol=0)
    sizes = np.array(
        [
            [np.linalg.norm(X[home == k], axis=0) for k in range(3)]
            for X, home in ((left, homes[0]), (right, homes[1]))
        ]
    )
    for k, known in enumerate((uneven > 0).T):
        np.testing.assert_allclose(
            np.ptp(np.log(sizes[0, known, k] / sizes[1, known, k])), 0, atol=1e-9
        )


@pytest.mark.parametrize("kind", ["entries", "dense"])
@pytest.mark.parametrize("scale", [1.0, 1e3])
@pytest.mark.parametrize("rank", [3, 6, 10])
def test_a_path_stays_in_bounds_between_islands(rank, scale, kind) -> None:
    rng = np.random.default_rng(0)
    table = np.full((140, 72), np.nan)
    for at, size in ((np.s_[:80, :40], 1.0), (np.s_[80:, 40:], scale)):
        whole = table[at]
        whole[:] = (
            size * rng.standard_normal((len(whole), 3)) @ rng.standard_normal((3, whole.shape[1]))
        )
        whole[rng.random(whole.shape) > 0.4] = np.nan
    objective = Entries.from_dense(table) if kind == "entries" else Dense(table)
    found = minimize(objective, rank, random_state=0).A.to_dense()
    between = max(np.abs(found[:80, 40:]).max(), np.abs(found[80:, :40]).max())
    assert between < 100 * np.sqrt(scale)  # it was 3e5 and 3e8


def test_columns_of_one_cell_that_nothing_else_shares() -> None:
    """Next to nothing in the first pairs, and answered by its inverse."""
    rng = np.random.default_rng(1)
    m, n, alone = 200, 100, 10
    whole = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n)) + 3.0
    rows, cols = np.nonzero(rng.random((m, n)) < 0.3)
    values = np.concatenate([whole[rows, cols], rng.uniform(1, 5, alone)])
    more = np.arange(alone)
    entries = Entries(np.append(rows, m + more), np.append(cols, n + more), values)
    path = minimize(entries, 3, Solver(correction="sweep"), random_state=0)
    found = path.A.to_dense()
    np.testing.assert_allclose(found[m + more, n + more], values[-alone:], rtol=1e-6)
    assert np.abs(found[:, n:]).max() < 1e3  # it was 7e7 for MovieLens-100K
