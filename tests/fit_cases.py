"""One small fit of every kind, as a digest of its bits.

As a script, it prints the digest of each, made in reverse; in the long form after it has made them
all twice, in two orders.
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np

from pygeco import (
    Dense,
    Entries,
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
    Trace,
    minimize,
    rivals,
    trace_path,
)
from pygeco.data import make_low_rank, make_ratings

RATINGS = make_ratings((120, 80), 3000, random_state=3)
RNG = np.random.default_rng(0)
TABLE = make_low_rank((40, 25), 3, random_state=1).to_dense() + 0.1 * RNG.standard_normal((40, 25))
TABLE[RNG.random(TABLE.shape) < 0.2] = np.nan
X = RNG.standard_normal((90, 8))
Y = X @ RNG.standard_normal((8, 4)) + 0.1 * RNG.standard_normal((90, 4))


def digest(*arrays) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def steps(path) -> str:
    parts = [(t.A.U, t.A.s, t.A.V, [t.objective, t.gap]) for t in path]
    return digest(*(x for part in parts for x in part))


def path(solver=None, *, dtype=float, rank=4, penalty=None, loss="squared"):
    rows, cols, values, *shape = RATINGS
    entries = Entries(rows, cols, np.asarray(values, dtype), *shape, loss=loss)
    return steps(minimize(entries, rank, solver, penalty=penalty, random_state=2))


def completion(**settings) -> str:
    model = MatrixCompletion(random_state=1, **settings).fit(RATINGS)
    A, biases = model.factors_, model.biases_
    return digest(A.U, A.s, A.V, biases.row, biases.col)


def rival(name, *args) -> str:
    return steps(getattr(rivals, name)(Entries(*RATINGS), *args, random_state=0))


CASES = {
    "evidence": completion,
    "posterior": lambda: completion(posterior=4),
    "validated": lambda: completion(penalty=None),
    "absolute": lambda: completion(rank=2, loss="absolute"),
    "huber sweeps": lambda: completion(rank=2, loss="huber", penalty=Ridge(1e-4)),
    "paper": lambda: path(Solver.paper(), rank=3),
    "core": lambda: path(Solver(correction="core")),
    "core, single precision": lambda: path(Solver(correction="core"), dtype=np.float32),
    "diagonal": lambda: path(Solver(correction="diagonal", signs=True, replacements=2)),
    "sweep": lambda: path(Solver(correction="sweep")),
    "sweep, single precision": lambda: path(Solver(correction="sweep"), dtype=np.float32),
    "several pairs": lambda: path(Solver(correction="sweep", pairs=3), rank=6),
    "refined": lambda: path(Solver(correction="core", refine=True)),
    "ridge": lambda: path(penalty=Ridge(1e-5)),
    "trace": lambda: path(penalty=Trace(4e-3), rank=8),
    "core, trace": lambda: path(Solver(correction="core"), penalty=Trace(2e-3)),
    "schatten": lambda: path(penalty=Schatten(1e-5, 1.5)),
    "log-cosh": lambda: path(loss="log-cosh", penalty=Ridge(1e-4), rank=2),
    "trace path": lambda: digest(
        *(t.A.s for t in trace_path(Entries(*RATINGS), count=3, ratio=0.3))
    ),
    "dense": lambda: steps(minimize(Dense(TABLE), 4, random_state=0)),
    "robust": lambda: digest(RobustPCA(3, random_state=0).fit(TABLE).components_),
    "imputer": lambda: digest(LowRankImputer(random_state=0).fit_transform(TABLE)),
    "regressor": lambda: digest(ReducedRankRegressor(2, random_state=0).fit(X, Y).coef_),
    "classifier": lambda: digest(
        LowRankClassifier(2, random_state=0).fit(X, Y.argmax(1)).decision_function(X)
    ),
    "quadratic": lambda: digest(QuadraticRegressor(2, random_state=0).fit(X, Y[:, 0]).predict(X)),
    "quadratic classes": lambda: digest(
        QuadraticClassifier(2, random_state=0).fit(X, Y[:, 0] > 0).decision_function(X)
    ),
    "js": lambda: rival("js", 8, 40.0),
    "admira": lambda: rival("admira", 3),
    "soft-impute": lambda: rival("soft_impute", 3, [0.01]),
    "r1mp": lambda: rival("r1mp", 4),
}


def digest_cases() -> dict[str, str]:
    return {name: case() for name, case in CASES.items()}


def main(*, twice: bool) -> None:
    found = digest_cases() if twice else {}
    # Other fits before, other numbers in fresh memory: nothing of that may show.
    kept = [np.full(size, np.nan) for size in RNG.integers(1, 100_000, 50)]
    for name in reversed(CASES):
        kept.pop()
        again = CASES[name]()
        if found.setdefault(name, again) != again:
            raise SystemExit(f"{name}: {found[name]} at first, {again} after other fits")
    for name in CASES:
        sys.stdout.write(f"{name}: {found[name]}\n")


if __name__ == "__main__":
    main(twice=sys.argv[1:] == ["twice"])
