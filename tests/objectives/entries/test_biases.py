import numpy as np
import pytest

from pygeco import Entries, losses
from pygeco.objectives.entries.biases import PARTS, Biases, fit_biases, read_parts


def cells(seed=0, weights=False):
    rng = np.random.default_rng(seed)
    shape = (15, 11)
    seen = rng.random(shape) < 0.6
    seen[3], seen[:, 5] = False, False
    rows, cols = np.nonzero(seen)
    y = 3 + rng.standard_normal(15)[rows] + rng.standard_normal(11)[cols]
    y += 0.2 * rng.standard_normal(len(y))
    w = rng.uniform(0.5, 2.0, len(y)) if weights else np.ones(len(y))
    return rows, cols, y, w, shape


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(
    "chosen", [("global",), ("row",), ("column",), ("global", "row"), ("row", "column"), PARTS]
)
def test_offsets_fit_as_well_as_least_squares(chosen, weights) -> None:
    rows, cols, y, w, shape = cells(weights=weights)
    given = w if weights else None
    found = fit_biases(Entries(rows, cols, y, shape, sample_weight=given), chosen)
    blocks = {
        "global": np.ones((len(y), 1)),
        "row": np.eye(shape[0])[rows],
        "column": np.eye(shape[1])[cols],
    }
    design = np.hstack([blocks[part] for part in chosen])
    root = np.sqrt(w)
    best = design @ np.linalg.lstsq(design * root[:, None], y * root)[0]
    np.testing.assert_allclose(found.at(rows, cols), best, atol=1e-6)


@pytest.mark.parametrize("loss", ["squared", losses.Huber(0.5)], ids=["squared", "huber"])
@pytest.mark.parametrize("chosen", [("row", "column"), PARTS], ids=len)
@pytest.mark.parametrize(("factor", "offset"), [(1.0, 1e8), (1.0, -1e8), (1e-6, 0.0), (1e6, 0.0)])
def test_unit_and_origin_of_the_data_do_not_matter(loss, chosen, factor, offset) -> None:
    rows, cols, y, _, shape = cells()
    if loss != "squared":
        loss, plain = losses.Huber(0.5 * factor), losses.Huber(0.5)
    else:
        plain = loss
    expected = fit_biases(Entries(rows, cols, y, shape, loss=plain), PARTS).at(rows, cols)
    found = fit_biases(Entries(rows, cols, factor * y + offset, shape, loss=loss), chosen)
    rounding = 4 * np.spacing(abs(offset)) / factor
    np.testing.assert_allclose(
        (found.at(rows, cols) - offset) / factor, expected, atol=1e-4 + rounding
    )


def test_what_is_switched_off_or_unseen_is_zero() -> None:
    rows, cols, y, _, shape = cells()
    entries = Entries(rows, cols, y, shape)
    everything = fit_biases(entries, PARTS)
    assert everything.row[3] == everything.col[5] == 0.0
    row_only = fit_biases(entries, ("row",))
    assert row_only.mean == 0.0
    assert not row_only.col.any()
    nothing = fit_biases(entries, ())
    assert not nothing.at(rows, cols).any()
    assert not Biases.none(shape).at(rows, cols).any()


def test_names_of_the_parts() -> None:
    assert read_parts(True) == PARTS
    assert read_parts(False) == ()
    assert read_parts("row") == ("row",)
    assert read_parts(("global", "column")) == ("global", "column")
    for kind in (bool, np.bool_):  # of an array of settings that a search goes through
        assert read_parts(kind(True)) == PARTS
        assert read_parts(kind(False)) == ()
    with pytest.raises(ValueError, match=r"^biases: unknown part 3; use True, False or"):
        read_parts(3)
    with pytest.raises(ValueError, match=r"^biases: unknown part 'user'"):
        read_parts(("row", "user"))
