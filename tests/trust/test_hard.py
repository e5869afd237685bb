"""Hard numerics: every method on every ugly matrix ends with finite numbers, or says why not.

A warning of NumPy's is an error here, as in all tests.
"""

import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from hard_cases import CASES, single
from pygeco import (
    Dense,
    Entries,
    LowRank,
    LowRankClassifier,
    LowRankImputer,
    MatrixCompletion,
    QuadraticClassifier,
    QuadraticRegressor,
    ReducedRankRegressor,
    Ridge,
    RobustPCA,
    Schatten,
    Solver,
    Stop,
    Trace,
    minimize,
    rivals,
    trace_path,
)
from soak import SOAK, over, tried

SENTENCE = re.compile(r"^\w+: [^\n]+\.$")
EVERY = 9  # in the short form each method meets one case in nine


def rank(X, most=2):
    return min(most, *X.shape)


def labels(X):
    return np.where(np.isnan(X), X, np.where(X > 0, 1.0, -1.0)).astype(X.dtype)


def completion(change=lambda X: X, **settings):
    def run(X):
        X = change(X)
        if isinstance(settings.get("rank"), int):
            settings["rank"] = rank(X)
        model = MatrixCompletion(random_state=0, **settings).fit(X)
        assert isinstance(model.stop_reason_, Stop)
        return [model.predict(*np.indices(X.shape)), model.transform(X), model.score(X)]

    return run


def checked(path, zero):
    """A path's numbers; it may not end above where it began."""
    assert isinstance(path.stop, Stop)
    if len(path):
        assert path[-1].objective <= zero * (1 + 1e-9) + 1e-12
    return [path.A.to_dense(), *([t.objective, t.gap] for t in path)]


def path(kind, penalty=None, loss="squared", **choices):
    def run(X):
        objective = kind(X, loss=loss)
        solver = Solver(**choices)
        found = minimize(objective, rank(X, 3), solver, penalty=penalty, random_state=0)
        return checked(found, objective.value(LowRank.zero(X.shape)))

    return run


def rival(name, *args, bounded=True, **settings):
    def run(X):
        entries = Entries.from_dense(X)
        given = [rank(X) if arg is rank else arg for arg in args]
        found = getattr(rivals, name)(entries, *given, random_state=0, **settings)
        return checked(found, entries.value_at_zero if bounded else np.inf)

    return run


def robust(X):
    model = RobustPCA(rank(X), random_state=0).fit(X)
    return [model.low_rank_.to_dense(), model.transform(X), model.components_, model.location_]


def robust_absolute(X):
    model = RobustPCA(rank(X), loss="absolute", center=False, tol=1e-2, random_state=0)
    return [model.fit(X).low_rank_.to_dense()]


def supervised(kind, classes):
    def run(X):
        X = np.nan_to_num(X[:50, :20])
        X = np.vstack([X, X[::-1] * 0.5]).astype(X.dtype)
        y = X[:, 0] * 0.5
        if classes:
            y = np.arange(len(X)) % (3 if kind is LowRankClassifier else 2)
        model = kind(1, random_state=0).fit(X, y)
        return [model.decision_function(X) if classes else model.predict(X)]

    return run


def pursuit(X):
    found = rivals.principal_component_pursuit(np.nan_to_num(X[:50, :50]))
    return [found.low_rank, found.sparse]


ROBUST_LOSSES = ("huber", "pseudo-huber", "log-cosh", "absolute", "quantile")
SWEPT = {"none": None, "ridge": Ridge(0.1), "trace": Trace(0.1)}
CORES = SWEPT | {f"schatten {p}": Schatten(0.1, p) for p in (1.0, 1.5, 3.0)}
METHODS = {
    "evidence": completion(),
    "evidence of rank 2": completion(rank=2),
    "posterior": completion(posterior=3),
    "validated": completion(penalty=None),
    "ridge and offsets": completion(rank=2, penalty=Ridge(1e-3), biases=True),
    "trace norm": completion(rank=2, penalty=Trace(1e-3)),
    **{loss: completion(rank=2, loss=loss) for loss in ROBUST_LOSSES},
    **{
        f"{loss}, ridge, offsets": completion(rank=2, loss=loss, penalty=Ridge(1e-3), biases=True)
        for loss in ROBUST_LOSSES
    },
    "logistic": completion(labels, rank=2, loss="logistic", penalty=Ridge(1e-3)),
    "hinge": completion(labels, rank=2, loss="smoothed-hinge"),
    "poisson": completion(np.abs, rank=2, loss="poisson", penalty=Ridge(1e-3)),
    "ordinal": completion(np.sign, rank=2, loss="ordinal", penalty=Ridge(1e-3)),
    **{
        f"core, {name}": path(
            Entries.from_dense, penalty, correction="core", signs=True, replacements=1
        )
        for name, penalty in CORES.items()
    },
    **{
        f"sweep, {name}": path(Entries.from_dense, penalty, correction="sweep")
        for name, penalty in SWEPT.items()
    },
    "diagonal": path(Entries.from_dense, correction="diagonal", signs=True, replacements=1),
    "diagonal, ridge": path(Entries.from_dense, Ridge(0.1), correction="diagonal"),
    "refined": path(Entries.from_dense, correction="core", refine=True),
    **{
        f"dense {correction}, {name}": path(Dense, penalty, correction=correction)
        for correction in ("core", "sweep")
        for name, penalty in SWEPT.items()
    },
    **{
        f"{kind.__name__} {correction}, {loss}": path(kind, loss=loss, correction=correction)
        for kind in (Entries.from_dense, Dense)
        for correction in ("core", "sweep")
        for loss in ("huber", "absolute", "quantile", "log-cosh")
    },
    "trace path": lambda X: [
        [step.objective, step.gap] for step in trace_path(Entries.from_dense(X), count=4)
    ],
    "robust": robust,
    "robust, absolute": robust_absolute,
    "imputer": lambda X: [LowRankImputer(random_state=0).fit_transform(X)],
    "imputer of rank 2": lambda X: [LowRankImputer(rank(X), random_state=0).fit_transform(X)],
    "reduced rank": supervised(ReducedRankRegressor, False),
    "classifier": supervised(LowRankClassifier, True),
    "quadratic": supervised(QuadraticRegressor, False),
    "quadratic classes": supervised(QuadraticClassifier, True),
    "js": rival("js", 4, 2.0),
    "hazan": rival("hazan", 4, 2.0, bounded=False),  # whose steps are fixed
    "r1mp": rival("r1mp", rank),
    "economic r1mp": rival("r1mp", rank, economic=True),
    "admira": rival("admira", rank, max_iter=20),
    "soft-impute": rival("soft_impute", rank, max_iter=20),
    "soft-impute als": rival("soft_impute", rank, als=True, max_iter=20),
    "optspace": rival("optspace", rank, max_iter=20),
    "svt": rival("svt", rank, max_iter=20, bounded=False),
    "pursuit": pursuit,
}


def attempt(name, case, data):
    """The numbers that a method gives, none where it refuses the data in a sentence."""
    tried("fits of hard numerics")
    try:
        with warnings.catch_warnings():
            # Numbers that are finite, and the word that they are not the best ones.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return METHODS[name](data)
    except ValueError as error:
        if not SENTENCE.match(str(error)):
            raise AssertionError(f"{case}, {data.dtype}: {error}") from error
        tried("refusals in one sentence")
        return []
    except Exception as error:
        raise AssertionError(f"{case}, {data.dtype}: {error!r}") from error


@pytest.mark.parametrize("name", METHODS)
def test_finite_numbers_or_a_sentence(name) -> None:
    offset = list(METHODS).index(name)
    for number, (case, X) in enumerate(CASES.items()):
        forms = [X, single(X)]
        if not SOAK:  # one case in a few, in one precision or the other
            forms = forms[(number // EVERY) % 2 :][:1] if (number + offset) % EVERY == 0 else []
        for data in forms:
            if data is not None and not over():
                found = attempt(name, case, data)
                assert all(np.all(np.isfinite(part)) for part in found), f"{case}, {data.dtype}"


@pytest.mark.parametrize("case", ["times 1e+300", "the largest numbers"])
def test_what_cannot_be_squared_is_refused(case) -> None:
    for name, run in METHODS.items():
        if name not in ("logistic", "hinge", "ordinal", "imputer", "imputer of rank 2"):
            with pytest.raises(ValueError, match=r"^(values|X|Y|y): the largest is .* divide"):
                run(CASES[case])
