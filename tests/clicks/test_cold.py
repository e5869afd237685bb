"""How much attributes count is chosen by lines and clicks that are held out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco import Entries
from pygeco.bayes.attributes import AttributeValues
from pygeco.clicks.cold import hold_out_lines, pick_sure
from pygeco.clicks.fitting import fit_clicks
from pygeco.clicks.settings import GivenAttributes, SpectralSettings


def describe(groups, count):
    matrix = sp.csr_array(np.eye(count, dtype=np.float32)[groups])
    return AttributeValues(matrix, np.ones(len(groups), bool), ("group",), (count,))


@pytest.fixture(scope="module")
def case():
    """Few clicks a row, of the group that its attribute tells."""
    rng = np.random.default_rng(0)
    group, kind = rng.integers(4, size=400), np.arange(80) % 4
    chance = np.where(kind == group[:, None], 0.12, 0.01)
    rows, cols = np.nonzero(rng.random(chance.shape) < chance)
    clicks = Entries(rows, cols, np.ones(len(rows), np.float32), chance.shape)
    return clicks, group, kind


def fit(clicks, told):
    return fit_clicks(clicks, spectral=SpectralSettings(8, 0.3, 0.3, 1.0), squares=None, told=told)


@pytest.fixture(scope="module")
def found(case):
    clicks, group, kind = case
    return fit(clicks, (describe(group, 4), describe(kind, 4)))


def scores_of(found, family):
    return {
        (t.settings.weight, t.settings.pull): t.ndcg for t in found.trials if t.family == family
    }


def test_attributes_that_tell_are_used(found):
    for side, said in (("row", found.model.row_map), ("column", found.model.column_map)):
        tried = scores_of(found, f"new {side}s")
        assert said.settings.weight > 0
        assert tried[said.settings.weight, 0.0] > 1.1 * tried[0.0, 0.0]
    assert found.model.row_map.settings.pull > 0
    tried = scores_of(found, "row attributes")
    chosen = found.model.row_map.settings
    assert tried[chosen.weight, chosen.pull] > 1.1 * tried[chosen.weight, 0.0]


def test_what_is_given_is_not_tried(case, found):
    clicks, group, kind = case
    told = describe(group, 4), describe(kind, 4)
    given = GivenAttributes(weight=0.5), GivenAttributes(pull=7.0)
    settings = {"spectral": SpectralSettings(8, 0.3, 0.3, 1.0), "squares": None, "told": told}
    other = fit_clicks(clicks, attributes=given, **settings)
    rows, columns = other.model.row_map.settings, other.model.column_map.settings
    assert rows.weight == 0.5
    assert columns.pull == 7.0
    assert columns.weight == found.model.column_map.settings.weight
    families = {trial.family for trial in other.trials}
    assert families >= {"new columns", "row attributes"}
    assert not families & {"new rows", "column attributes"}


def test_attributes_that_tell_nothing_change_no_list(case):
    clicks, group, _ = case
    plain = fit(clicks, (None, None))
    noise = np.random.default_rng(1).permutation(group)
    told = fit(clicks, (describe(noise, 4), None))
    assert told.model.row_map.settings.pull == 0
    some = plain.model.counts()[0] > 0
    assert np.allclose(
        told.model.factors.to_dense()[some], plain.model.factors.to_dense()[some], atol=1e-4
    )


def test_lines_are_held_out_whole(case):
    clicks, group, kind = case
    split = hold_out_lines(clicks, (describe(group, 4), describe(kind, 4)), 0)
    rows, cols = split.fit.counts()
    assert 0.05 < split.rows.mean() < 0.15
    assert not rows[split.rows].any()
    assert not cols[split.columns].any()
    kept = ~(split.rows[clicks.rows()] | split.columns[clicks.by_row.indices])
    assert split.fit.size == kept.sum()
    assert hold_out_lines(clicks, (None, None), 0) is None


def test_only_a_sure_gain_counts():
    rng = np.random.default_rng(0)
    base = rng.random(400)
    shaky = base + 0.3 * rng.standard_normal(400)
    assert pick_sure(np.stack([base, shaky - shaky.mean() + base.mean() + 0.01])) == 0
    assert pick_sure(np.stack([base, base + 0.01, base + 0.5, base + 0.5])) == 2
    assert pick_sure(np.stack([base, base])) == 0
