"""Small, empty, flat and zero input: an ordinary path, or a sentence."""

import numpy as np
import pytest

from pygeco import Entries, LowRank, Stop
from pygeco.losses import Loss
from pygeco.rivals import admira, hazan, js, optspace, r1mp, soft_impute, svt

RIVALS = {
    "js": lambda E: js(E, 3, 2.0, random_state=0),
    "hazan": lambda E: hazan(E, 3, 2.0, random_state=0),
    "r1mp": lambda E: r1mp(E, min(2, *E.shape), random_state=0),
    "er1mp": lambda E: r1mp(E, 3, economic=True, random_state=0),
    "admira": lambda E: admira(E, min(2, *E.shape), random_state=0),
    "soft": lambda E: soft_impute(E, min(2, *E.shape), [0.3, 0.01], random_state=0),
    "als": lambda E: soft_impute(E, min(2, *E.shape), [0.3, 0.01], als=True, random_state=0),
    "optspace": lambda E: optspace(E, min(2, *E.shape), max_iter=20, random_state=0),
    "svt": lambda E: svt(E, min(2, *E.shape), tau=1.0, delta=1.0, max_iter=20, random_state=0),
}
CASES = {
    "one cell": Entries([0], [0], [3.0]),
    "one cell of many": Entries([5], [7], [-2.0], (40, 30)),
    "a row": Entries([0, 0, 0], [0, 2, 3], [1.0, -2.0, 0.5], (1, 5)),
    "a column": Entries([0, 2, 3], [0, 0, 0], [1.0, -2.0, 0.5], (5, 1)),
    "flat": Entries(*np.indices((6, 4)).reshape(2, -1), np.full(24, 3.0)),
    "empty lines": Entries([0, 0, 9], [0, 9, 9], [1.0, 2.0, 3.0], (20, 20)),
    "single precision": Entries([0, 1, 2, 2], [0, 1, 2, 0], np.float32([1, 2, 3, 4]), (30, 25)),
    "large and small": Entries([0, 1, 2], [0, 1, 2], [1e8, 1e-8, 1.0], (9, 9)),
    "tiny": Entries([0, 1, 2, 2], [0, 1, 2, 0], 1e-300 * np.arange(1.0, 5.0), (30, 25)),
    "zero": Entries(*np.indices((30, 30)).reshape(2, -1), np.zeros(900)),
}


@pytest.mark.parametrize("name", RIVALS)
@pytest.mark.parametrize("case", CASES)
def test_any_cells_give_a_path(name, case):
    entries = CASES[case]
    path = RIVALS[name](entries)
    assert isinstance(path.stop, Stop)
    for step in path:
        assert np.isfinite(step.objective)
        assert np.isfinite(step.gap)
        assert step.A.shape == entries.shape
        assert step.objective == pytest.approx(entries.value(step.A), rel=1e-4, abs=1e-9)
    if len(path) and name != "hazan":  # whose steps are fixed
        assert path[-1].objective <= entries.value_at_zero * (1 + 1e-9) + 1e-12


def test_the_grid_of_a_zero_matrix_is_empty():
    assert len(soft_impute(CASES["zero"], 2, random_state=0)) == 0


def test_a_step_that_needs_an_unknown_smoothness_is_refused():
    class Own(Loss):
        def value(self, z, y):
            return (z - y) ** 4

        def slope(self, z, y):
            return 4 * (z - y) ** 3

    quartic = Entries([0, 1], [0, 1], [1.0, 2.0], loss=Own())
    with pytest.raises(ValueError, match=r"^objective: Soft-Impute steps by 1/β, and"):
        soft_impute(quartic, 1)
    least = quartic.value(LowRank.zero(quartic.shape))
    assert js(quartic, 20, 3.0, random_state=0)[-1].objective < least
    assert optspace(quartic, 2, max_iter=50, random_state=0)[-1].objective < least


def test_svt_says_that_it_diverges():
    rng = np.random.default_rng(1)
    rows, cols = np.nonzero(rng.random((60, 50)) < 0.1)
    entries = Entries(rows, cols, 3.0 + rng.random(len(rows)), (60, 50))
    path = svt(entries, 3, tau=1.0, delta=50.0, random_state=0)
    assert path.stop is Stop.DIVERGED
    assert np.isfinite(path[-1].objective)
