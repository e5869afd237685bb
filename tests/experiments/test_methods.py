"""The methods of the figure."""

from pygeco import Entries
from pygeco.experiments import methods, tasks


def test_the_bound_with_the_least_error_is_found(monkeypatch):
    valley = {bound: abs(k - 7) for k, bound in enumerate(methods.BOUNDS)}
    asked = []
    data = tasks.Halves(Entries([0], [0], [2.0], (1, 1)), Entries([0], [0], [2.0], (1, 1)))

    def error(_, bound, seed):
        asked.append(bound)
        return valley[bound / 2.0]

    monkeypatch.setattr(methods, "_least_error", error)
    assert methods.best_bound(data, 0) == methods.BOUNDS[7]
    assert len(asked) == len(set(asked))
    valley = {bound: k for k, bound in enumerate(methods.BOUNDS)}
    methods.best_bound.cache_clear()
    assert methods.best_bound(data, 0) == methods.BOUNDS[0]
