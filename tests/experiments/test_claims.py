"""The verdicts, on curves made to hold or to break each claim."""

import pytest

from pygeco.experiments.claims import verdicts
from pygeco.experiments.figure1 import Curve, Job
from pygeco.experiments.tasks import Point


def curve(method, errors, dataset="ml-100k", split="half", ranks=None):
    ranks = range(1, len(errors) + 1) if ranks is None else ranks
    points = tuple(Point(r, e / 2, e, 0.1) for r, e in zip(ranks, errors, strict=True))
    return Curve(Job(dataset, split, method), points, 1.0)


GECO = [0.99, 0.98, 0.97, 0.96, 0.97, 0.98, 0.99, 1.0, 1.01, 1.02, 1.03]


def found(geco, js, centred, dataset="ml-100k"):
    given = {"geco": geco, "js": js, "js-centred": centred}
    curves = [curve(method, errors, dataset) for method, errors in given.items()]
    return {verdict.claim: verdict for verdict in verdicts(curves)}


def test_claims_that_hold():
    js = [1 + 1 / k for k in range(1, 30)] + [0.94] + [0.95] * 10
    answers = found(GECO, js, js)
    assert len(answers) == 2 + 1 + 2 + 2 + 1
    assert all(verdict.holds for verdict in answers.values()), answers
    faster = answers["GECO's error falls much faster with the rank than that of JS"]
    assert "at rank 5: 0.9700 against 1.2000" in faster.numbers
    assert "at rank 30" in faster.numbers


def test_claims_that_do_not_hold():
    falling = [1.2 - 0.01 * k for k in range(40)]  # still falling at the end, below GECO at once
    slow = [1.0 - 0.01 * k for k in range(12)]
    answers = found(slow, [0.9 * e for e in falling], falling)
    claims = {
        "GECO overfits beyond a rank near 4": False,
        "JS reaches a slightly lower error than GECO": False,  # much lower
        "JS, centred reaches a slightly lower error than GECO": False,
        "JS overfits too, beyond some 30 steps": False,
        "a rank of at most 10 is enough for GECO": False,
    }
    for claim, holds in claims.items():
        assert answers[claim].holds is holds, claim


@pytest.mark.parametrize(("least", "holds"), [(0.99, True), (0.961, False), (0.9, False)])
def test_on_the_medium_set_js_must_be_worse(least, holds):
    answers = found(GECO, [1.5, least], [1.5, least], "ml-1m")
    assert answers["JS has a higher error than GECO"].holds is holds
    assert "GECO overfits beyond a rank near 4" not in answers


@pytest.mark.parametrize(("least", "holds"), [(0.955, True), (0.9, False), (1.0, False)])
def test_on_the_large_set_they_are_the_same(least, holds):
    answers = found(GECO, [1.5, least], [1.5, least], "ml-10m")
    assert answers["JS has the same error as GECO"].holds is holds


def test_without_the_curves_nothing_is_said():
    assert verdicts([curve("geco", GECO)]) == []
