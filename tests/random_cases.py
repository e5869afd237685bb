"""Random problems over cells, with the same as dense NumPy: what the laws are tried on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fake_device import FAKE_ENGINE
from loss_cases import CASES
from oracles import penalty_value
from pygeco import Entries, Lanczos, LowRank, Path, Power, Ridge, Schatten, Solver, Trace, minimize
from pygeco.arrays.kinds import host
from pygeco.engines.cuda.driver import count_gpus

ENGINES = [None, FAKE_ENGINE, *(["cuda"] if count_gpus() else [])]
# Whoever counts thousands of certificates meets one in a thousand.
SURE = 1 - 1e-9
EXACT = Lanczos(tau=0.0, max_iter=1000, confidence=SURE)
DIRECTIONS = [EXACT, Lanczos(confidence=SURE), Power(max_iter=3, confidence=SURE)]
PENALTIES = None, Ridge(0.02), Trace(0.03), Schatten(0.01, 1.0), Schatten(0.01, 1.5)
STATED = tuple(name for name in CASES if name != "poisson-capped")


@dataclass(frozen=True, eq=False)
class Random:
    """Cells (rows, cols, y, w), and what to do with them."""

    shape: tuple[int, int]
    rows: np.ndarray
    cols: np.ndarray
    y: np.ndarray
    w: np.ndarray
    loss: str
    solver: Solver
    penalty: Any
    engine: Any
    seed: int

    def __repr__(self) -> str:
        return (
            f"{self.shape} {len(self.y)} cells {self.y.dtype} {self.loss} {self.penalty} "
            f"{self.solver} {self.engine} seed {self.seed}"
        )

    @property
    def cells(self):
        return self.rows, self.cols, self.y.astype(float), self.w

    @property
    def rank(self) -> int:
        return min(3, *self.shape)

    @property
    def digits(self) -> float:
        return 1e-9 if self.y.dtype == np.float64 else 2e-5

    @property
    def entries(self) -> Entries:
        return Entries(
            self.rows, self.cols, self.y, self.shape,
            loss=CASES[self.loss][0], sample_weight=self.w, engine=self.engine,
        )  # fmt: skip

    def fit(self, **settings) -> Path:
        return minimize(
            self.entries,
            **{
                "rank": self.rank,
                "solver": self.solver,
                "penalty": self.penalty,
                "random_state": self.seed,
            }
            | settings,
        )

    def mean_loss(self, A: np.ndarray) -> float:
        z, y = A[self.rows, self.cols], self.y.astype(float)
        return float(np.sum(self.w * CASES[self.loss][0].value(z, y)) / self.w.sum())

    def value(self, A: np.ndarray) -> float:
        """R + h in dense NumPy."""
        return self.mean_loss(A) + penalty_value(self.penalty, A)

    def but(self, **changes) -> Random:
        return replace(self, **changes)


def dense(A: LowRank) -> np.ndarray:
    return (host(A.U) * host(A.s)) @ host(A.V).T


@st.composite
def problems(
    draw,
    losses=tuple(CASES),
    corrections=("auto", "core", "diagonal", "sweep"),
    directions=tuple(DIRECTIONS),
    penalties=PENALTIES,
    engines=tuple(ENGINES),
    extras=True,
    types=(np.float32, np.float64),
    most=9,
) -> Random:
    shape = draw(st.integers(1, most)), draw(st.integers(1, most))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    seen = rng.random(shape) < draw(st.sampled_from([0.1, 0.4, 0.8, 1.1]))
    seen.flat[rng.integers(seen.size)] = True
    rows, cols = np.nonzero(seen)
    loss = draw(st.sampled_from(losses))
    y = CASES[loss][1](rng, len(rows)).astype(draw(st.sampled_from(types)))
    w = rng.uniform(0.2, 3.0, len(rows)) if draw(st.booleans()) else np.ones(len(rows))
    correction, penalty = draw(st.sampled_from(corrections)), draw(st.sampled_from(penalties))
    if correction == "diagonal" and penalty is not None and penalty.quadratic is None:
        penalty = None  # see `Diagonal`
    if correction == "sweep" and isinstance(penalty, Schatten) and penalty.quadratic is None:
        correction = "core"
    solver = Solver(direction=draw(st.sampled_from(directions)), correction=correction)
    if extras:
        solver = replace(
            solver,
            signs=draw(st.booleans()),
            replacements=draw(st.sampled_from([0, 0, 2])),
            pairs=draw(st.sampled_from([1, 1, 2])),
            refine=draw(st.sampled_from([False, False, True])),
        )
    engine = draw(st.sampled_from(engines))
    return Random(shape, rows, cols, y, w.astype(y.dtype), loss, solver, penalty, engine, seed)
