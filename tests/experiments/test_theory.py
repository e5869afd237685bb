"""The theorem experiments: the worst direction is as bad as it says, and every bound holds."""

import numpy as np
import pytest

from oracles import Matrix
from pygeco.arrays.streams import Purpose, stream
from pygeco.data import make_low_rank
from pygeco.experiments import theory
from pygeco.experiments.theory import Gap, Needed


@pytest.mark.parametrize("tau", [0.0, 0.4, 0.9])
def test_worst_is_exactly_as_bad_as_tau_allows(tau):
    G = np.random.default_rng(0).standard_normal((15, 11))
    pair = theory.Worst(tau)(Matrix(G), np.random.default_rng(1))
    top = np.linalg.norm(G, 2)
    assert pair.u @ G @ pair.v == pytest.approx((1 - tau) * top, rel=1e-5)
    assert np.linalg.norm(pair.u) == pytest.approx(1)
    assert pair.upper >= top
    nothing = theory.Worst(tau)(Matrix(np.zeros((4, 3))), np.random.default_rng(1))
    assert nothing.sigma == 0


@pytest.mark.parametrize("tau", [0.0, 0.6])
def test_gaps_keep_to_the_theorems_and_the_certificate(tau):
    found = theory.gaps(tau, rank=12, seed=1)
    assert [gap.rank for gap in found] == list(range(1, 13))
    other = make_low_rank((60, 50), 4, 1)
    for gap in found:
        assert 0 <= gap.measured <= gap.certificate
        assert gap.measured <= min(gap.theorem_1, gap.theorem_2)
        # Theorem 1, written out: β = 2/|E| for the squared loss.
        beta = 2 / np.count_nonzero(stream(Purpose.EXPERIMENT, 1).random((60, 50)) < 0.5)
        bound = 2 * beta * other.s.sum() ** 2 / ((gap.rank + 1) * (1 - tau) ** 2)
        assert gap.theorem_1 == pytest.approx(bound)
        assert gap.theorem_2 >= gap.theorem_1 * (1 - 1e-9)  # its proof goes through Theorem 1


def test_learning_needs_cells():
    truth = make_low_rank((20, 20), 1, 0)
    every = np.random.default_rng(0).permutation(400)
    assert theory.is_learned(truth, every, 2)
    assert not theory.is_learned(truth, every[:25], 2)
    found = theory.needed(20, rank=1, seeds=1)
    assert found.side == 20
    assert 40 <= found.cells < 400


def test_the_exponent_is_that_of_a_power_law(tmp_path):
    cells = [Needed(n, 3 * n**1.25) for n in (10, 20, 40)]
    assert theory.exponent(cells) == pytest.approx(1.25)
    bounds = [Gap(tau, r, 1 / r, 2 / r, 3 / r, 4 / r) for tau in (0.0, 0.5) for r in (1, 2)]
    said = theory.publish([*bounds, Gap(0.5, 3, 9.0, 2.0, 3.0, 4.0)], cells, tmp_path)
    assert said.startswith("1 of 5 gaps exceed a bound, for τ = 0, 0.5.")
    assert "n^1.25" in said
    assert (tmp_path / "theory.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (tmp_path / "theory.svg").read_text(encoding="utf-8")
    lines = (tmp_path / "theory.csv").read_text().splitlines()
    assert lines[0] == "tau,rank,measured,certificate,theorem_1,theorem_2"
    assert len(lines) == 1 + 5 + 1 + 3
