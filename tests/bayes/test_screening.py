"""Groups of attributes that say nothing are known for it before any sweep."""

import numpy as np
import pytest
import scipy.sparse as sp

from pygeco.bayes.attributes import AttributeValues, group_table
from pygeco.bayes.priors import Gaussian
from pygeco.bayes.screening import keep_telling, score_groups
from pygeco.engines import choose_engine
from pygeco.objectives.entries.half_sweep import Side

M = 300


def make_side(U):
    U = U.astype(np.float32)
    w = np.full(U.shape, 0.01, np.float32)
    return Side(U[:, :-1], U[:, -1], w[:, :-1], w[:, -1])


def make_groups(X, some, name="a"):
    values = AttributeValues(
        sp.csr_array(X.astype(np.float32)), np.ones(M, bool), (name,), (X.shape[1],)
    )
    return tuple(group_table(values, some, choose_engine("cpu")))


def test_scores_are_the_dense_formula():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((M, 3))
    U = rng.standard_normal((M, 3)) @ rng.standard_normal((3, 3))
    U[:, 0] += 0.3 * X[:, 1]
    some = rng.random(M) < 0.8
    side = make_side(U)
    prior = Gaussian.of(side, some, offset=True)
    (found,) = score_groups(side, prior, make_groups(X, some))
    X = (X - X[some].mean(axis=0))[some]
    T = (U - U[some].mean(axis=0))[some]
    signal = np.trace(np.linalg.inv(T.T @ T / len(T)) @ T.T @ X @ X.T @ T)
    G = X.T @ X
    expected = (signal - 3 * np.trace(G)) / np.sqrt(2 * 3 * np.sum(G**2))
    assert found == pytest.approx(expected, rel=0.1)  # |XᵀX|² is estimated by random signs


@pytest.mark.parametrize("columns", [1, 40])
def test_noise_scores_as_a_standard_variable_and_an_effect_far_more(columns):
    rng = np.random.default_rng(1)
    some = np.ones(M, bool)
    scores = []
    for _ in range(60):
        side = make_side(rng.standard_normal((M, 4)))
        prior = Gaussian.of(side, some, offset=True)
        X = rng.standard_normal((M, columns))
        scores += score_groups(side, prior, make_groups(X, some))
    assert abs(np.mean(scores)) < 0.5
    assert 0.6 < np.std(scores) < 1.4
    U = rng.standard_normal((M, 4)) + X @ rng.standard_normal((columns, 4)) / columns**0.5
    side = make_side(U)
    prior = Gaussian.of(side, some, offset=True)
    assert score_groups(side, prior, make_groups(X, some))[0] > 20


def test_groups_that_stay_are_kept_and_an_offset_that_is_off_does_not_count():
    rng = np.random.default_rng(2)
    some = np.ones(M, bool)
    U = rng.standard_normal((M, 3))
    U[:, -1] = 0
    side = make_side(U)
    prior = Gaussian.of(side, some, offset=False)
    X = np.column_stack([U[:, 0], rng.standard_normal((M, 5))])
    silent = make_groups(rng.standard_normal((M, 8)), some, "silent")
    telling = make_groups(X, some, "telling")
    assert [g.name for g in keep_telling(side, prior, silent + telling)] == ["telling"]
    (stays,) = (group._replace(stays=True) for group in silent)
    assert keep_telling(side, prior, (stays,)) == (stays,)
    nothing = make_side(np.zeros((M, 3)))
    assert keep_telling(nothing, Gaussian.of(nothing, some, offset=False), telling) == ()
