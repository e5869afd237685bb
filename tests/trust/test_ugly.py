"""Any cells at all: every variant ends with finite numbers that keep their promises."""

import numpy as np
from hypothesis import strategies as st

from pygeco import Entries, Lanczos, Power, Ridge, Solver, Trace, minimize
from soak import law

SOLVERS = [
    Solver(correction="core"),
    Solver(correction="core", signs=True, replacements=3),
    Solver(correction="diagonal", signs=True, replacements=2),
    Solver(correction="core", direction=Power(max_iter=1)),
    Solver(correction="core", direction=Lanczos(tau=0.5, max_iter=1)),
    Solver(correction="core", refine=True),
    Solver(correction="sweep"),
]
NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 1e-30, 1e30, 3.5]),
    st.floats(-1e30, 1e30, allow_subnormal=False),
)


@st.composite
def cells(draw):
    m, n = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    every = [(i, j) for i in range(m) for j in range(n)]
    chosen = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    values = draw(st.lists(NUMBERS, min_size=len(chosen), max_size=len(chosen)))
    weights = draw(
        st.none()
        | st.lists(
            st.sampled_from([0.0, 1e-3, 1.0, 7.0]), min_size=len(chosen), max_size=len(chosen)
        )
    )
    if weights is not None and not any(weights):
        weights = None
    rows, cols = np.array(chosen).T
    return Entries(rows, cols, np.array(values, dtype), (m, n), sample_weight=weights)


@law(
    "paths of any cells",
    50,
    100_000,
    cells(),
    st.sampled_from(SOLVERS),
    st.sampled_from([None, Ridge(0.1), Trace(0.1)]),
    st.integers(0, 9),
)
def test_any_cells(entries, solver, penalty, seed) -> None:
    if isinstance(penalty, Trace) and solver.correction == "diagonal":
        penalty = None
    path = minimize(entries, min(entries.shape), solver, penalty=penalty, random_state=seed)
    values = [entries.value_at_zero, *(step.objective for step in path)]
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) <= 0)
    for step in path:
        assert np.all(np.isfinite(step.A.to_dense()))
        assert step.gap >= 0
        assert step.certificate.sigma <= step.certificate.upper
        assert solver.correction == "diagonal" or step.A.orthonormal
    assert path.A.rank <= min(entries.shape)
