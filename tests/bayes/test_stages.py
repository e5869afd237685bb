"""A fit that goes on from a stage it told of ends with the bits, and the sweeps, of the whole."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.bayes import evidence, screening
from pygeco.bayes.attributes import AttributeValues
from pygeco.bayes.evidence import fit_evidence
from pygeco.bayes.side_information import gather_known
from pygeco.objectives import Entries

M, N, RANK = 100, 40, 2


def make_fit(strength: float, seed: int):
    """A fit to cells of two components, which know a pattern and a table of attributes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((M, 3)).astype(np.float32)
    U = strength * X @ rng.standard_normal((3, RANK)) + rng.standard_normal((M, RANK))
    rows, cols = np.nonzero(rng.random((M, N)) < 0.25)
    Z = U @ rng.standard_normal((RANK, N)) + 0.5 * rng.standard_normal((M, N))
    entries = Entries(rows, cols, Z[rows, cols].astype(np.float32), (M, N))
    names = ("x0", "x1", "x2")
    table = AttributeValues(sp.csr_array(X), np.ones(M, bool), names, (1,) * 3)
    known = gather_known(entries, (True, True), (table, None))

    def fit(start=None, listener=None):
        return fit_evidence(entries, rank=8, known=known, start=start, listener=listener)

    return fit


def digest(found):
    p = found.posterior
    parts = p.rows.factor, p.rows.variance, p.cols.factor, p.cols.variance, p.row_prior.precision
    effects = [(e.source, e.name) for prior in (p.row_prior, p.col_prior) for e in prior.effects]
    return [part.tobytes() for part in parts], p.tau, effects, found.sweeps


@pytest.mark.parametrize("max_sweeps", [20, 5])
@pytest.mark.parametrize("strength", [0.7, 0.0])
def test_each_stage_leads_to_the_same_end(strength, max_sweeps, monkeypatch) -> None:
    """Also where attributes are cut short while they fade, and where tables are tried alone."""
    monkeypatch.setattr(screening, "MIN_SCORE", -np.inf)
    monkeypatch.setattr(evidence.Informed, "max_sweeps", max_sweeps)
    fit = make_fit(strength, seed=2)
    stages = []
    whole = fit(listener=SimpleNamespace(on_sweep=lambda event: stages.append(event.stage)))
    told = [stage for stage in stages if stage is not None]
    assert {stage.plain is not None for stage in told} == {False, True}
    assert any(stage.tables_alone for stage in told) == (strength == 0.0)
    for stage in (*told[::4], told[-1]):
        assert digest(fit(stage)) == digest(whole)
