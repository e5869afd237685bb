"""The verdicts, on curves made to hold or to break each claim."""

import pytest

from pygeco.experiments.claims import verdicts
from pygeco.experiments.figure1 import Curve, Job
from pygeco.experiments.tasks import Point


def curve(method, errors, dataset="ml-100k", split="half", seed=0, shift=0.0):
    points = tuple(Point(r, e / 2, e + shift, 0.1) for r, e in enumerate(errors, start=1))
    return Curve(Job(dataset, split, method, seed), points, 1.0)


GECO = [0.99, 0.98, 0.97, 0.96, 0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03]


def found(geco, js, centered, dataset="ml-100k", noise=None):
    """Verdicts from three seeds; `noise` moves the curves of JS, seed by seed."""
    given = {"geco": geco, "js": js, "js-centred": centered}
    noise = (-1e-4, 0.0, 1e-4) if noise is None else noise
    curves = [
        curve(method, errors, dataset, seed=seed, shift=shift if method != "geco" else 0.0)
        for method, errors in given.items()
        for seed, shift in enumerate(noise)
    ]
    return {verdict.claim: verdict for verdict in verdicts(curves)}


def test_claims_that_hold():
    js = [1 + 1 / k for k in range(1, 30)] + [0.94] + [0.95] * 10
    answers = found(GECO, js, js)
    assert len(answers) == 2 + 1 + 2 + 2 + 1
    assert all(verdict.holds for verdict in answers.values()), answers
    faster = answers["GECO's error falls much faster with the rank than that of JS"]
    assert "at rank 5: 0.9700 ± 0.0000 against 1.2000 ± 0.0001" in faster.numbers
    assert "at rank 30" in faster.numbers


def test_claims_that_do_not_hold():
    falling = [1.2 - 0.01 * k for k in range(40)]  # still falling at the end, below GECO at once
    slow = [1.0 - 0.01 * k for k in range(12)]
    answers = found(slow, [0.8 * e for e in falling], falling)
    claims = {
        "GECO overfits beyond a rank near 4": False,
        "JS reaches a slightly lower error than GECO": False,  # much lower
        "JS, centered reaches a slightly lower error than GECO": False,
        "JS overfits too, beyond some 30 steps": False,
        "a rank of at most 10 is enough for GECO": False,
        "GECO's error falls much faster with the rank than that of JS": False,
    }
    for claim, holds in claims.items():
        assert answers[claim].holds is holds, claim


@pytest.mark.parametrize(
    ("least", "holds"), [(0.99, True), (0.961, True), (0.9599, None), (0.959, False), (0.9, False)]
)
def test_on_the_medium_set_js_must_be_worse(least, holds):
    answers = found(GECO, [1.5, least], [1.5, least], "ml-1m")
    assert answers["JS has a higher error than GECO"].holds is holds
    assert "GECO overfits beyond a rank near 4" not in answers


@pytest.mark.parametrize(("least", "holds"), [(0.955, True), (0.9, False), (1.0, False)])
def test_on_the_large_set_they_are_the_same(least, holds):
    answers = found(GECO, [1.5, least], [1.5, least], "ml-10m")
    assert answers["JS has the same error as GECO"].holds is holds


def test_a_difference_within_the_spread_of_the_seeds_is_left_open():
    js = [1.5, 0.97]
    claim = "JS has a higher error than GECO"
    assert found(GECO, js, js, "ml-1m", (-0.001, 0.0, 0.001))[claim].holds is True
    assert found(GECO, js, js, "ml-1m", (-0.02, 0.0, 0.02))[claim].holds is None
    assert found(GECO, js, js, "ml-1m", (-0.101, -0.1, -0.099))[claim].holds is False
    alone = found(GECO, js, js, "ml-1m", (0.0,))
    assert {verdict.holds for verdict in alone.values()} == {None}  # one seed has no spread


def test_without_the_curves_nothing_is_said():
    assert verdicts([curve("geco", GECO)]) == []
