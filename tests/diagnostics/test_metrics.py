"""Errors and rankings against scikit-learn and against plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, ndcg_score, root_mean_squared_error

from pygeco.diagnostics import metrics


def test_errors_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    y, z = rng.standard_normal((2, 500)).astype(np.float32)
    found = metrics.errors(z, y)
    assert found.rmse == pytest.approx(root_mean_squared_error(y, z), rel=1e-6)
    assert found.mae == pytest.approx(mean_absolute_error(y, z), rel=1e-6)
    assert found.cells == 500


def test_intervals_hold_the_true_error_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(2000):
        found = metrics.errors(2.0 * rng.standard_normal(300), np.zeros(300))
        inside += found.low <= 2.0 <= found.high
    assert 0.92 < inside / 2000 < 0.97


def test_coverage_of_a_normal_distribution() -> None:
    y = 3.0 * np.random.default_rng(2).standard_normal(100_000)
    found = metrics.coverage(np.zeros(100_000), np.full(100_000, 3.0), y)
    assert found == pytest.approx(0.9, abs=0.005)


def test_half_precision_does_not_overflow() -> None:
    x = np.full(3, 60_000, np.float16)
    assert metrics.errors(x, -x).rmse == pytest.approx(2 * float(x[0]))
    assert metrics.coverage(x, x, -x) == 0  # two deviations


@given(
    st.integers(1, 6).flatmap(
        lambda users: st.tuples(
            st.lists(st.permutations(range(8)), min_size=users, max_size=users),
            st.lists(st.sets(st.integers(0, 9)), min_size=users, max_size=users),
        )
    ),
    st.integers(1, 8),
)
def test_rankings_are_those_of_the_definitions(case, k) -> None:
    orders, relevant = case
    lists = np.array([order[:k] for order in orders])
    users = np.array([u for u, items in enumerate(relevant) for _ in items], int)
    items = np.array([item for items in relevant for item in items], int)
    found = metrics.ranking(lists, users, items)
    some = [u for u, items in enumerate(relevant) if items]
    assert found.users == len(some)
    if not some:
        assert np.isnan(found.precision)
        return
    hits = [len(relevant[u] & set(lists[u].tolist())) for u in some]
    np.testing.assert_allclose(found.precision, np.mean([h / k for h in hits]))
    shares = [h / len(relevant[u]) for h, u in zip(hits, some, strict=True)]
    np.testing.assert_allclose(found.recall, np.mean(shares))
    gains = []
    for u in some:  # scikit-learn's, for scores that put the list first and in its order
        truth = np.array([[float(item in relevant[u]) for item in range(10)]])
        scores = np.zeros((1, 10))
        scores[0, lists[u]] = np.arange(k, 0, -1)
        gains.append(ndcg_score(truth, scores, k=k))
    np.testing.assert_allclose(found.ndcg, np.mean(gains))


def test_a_pair_that_is_given_twice_counts_once() -> None:
    lists, users, items = np.array([[2, 1], [0, 3]]), np.array([0, 0, 1]), np.array([2, 5, 0])
    once = metrics.ranking(lists, users, items)
    assert metrics.ranking(lists, np.tile(users, 3), np.tile(items, 3)) == once


def test_a_short_list_is_filled_without_hits() -> None:
    found = metrics.ranking(np.array([[2, -1, -1]]), np.array([0, 0]), np.array([2, 1]))
    assert found.precision == pytest.approx(1 / 3)
    assert found.recall == 0.5


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: metrics.errors(x[:1], x), r"^observed: expected arrays of one length"),
        (lambda x: metrics.errors(x[:, None], x), r"^observed: .* predicted \(9, 1\), observed"),
        (lambda x: metrics.errors(x.reshape(3, 3), x.reshape(3, 3)), r"^observed: expected"),
        (lambda x: metrics.coverage(x, x, x[:1]), r"^observed: expected arrays of one length"),
        (lambda x: metrics.coverage(x, x[:, None], x), r"^deviation: expected arrays of one"),
        (lambda x: metrics.ranking(np.eye(2, dtype=int), [2], [0]), r"^users: has user 2, but"),
        (lambda x: metrics.ranking(np.eye(2, dtype=int), [-1], [0]), r"^users: has user -1, but"),
        (lambda x: metrics.ranking(np.eye(2, dtype=int), [0, 1], [0]), r"^items: expected arrays"),
        (lambda x: metrics.ranking(np.eye(2, dtype=int), [1], [-1]), r"^items: has item -1, which"),
    ],
)
def test_arrays_that_do_not_fit_each_other_are_refused(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call(np.arange(9.0))


def test_one_value_has_no_interval() -> None:
    found = metrics.errors(np.array([3.0]), np.array([2.5]))
    assert (found.rmse, found.low, found.high, found.cells) == (0.5, 0.0, np.inf, 1)
