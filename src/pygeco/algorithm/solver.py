"""The choices of Algorithm 1, frozen; `run.py` follows them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pygeco.algorithm.corrections.factory import check_name
from pygeco.algorithm.directions import Direction, Lanczos, Power
from pygeco.algorithm.path import Step, Stop
from pygeco.arrays.checks import is_real, is_whole


@dataclass(frozen=True)
class Solver:
    """The settings of Algorithm 1 and its variants (section 2.1), and when to stop.

    Parameters
    ----------
    direction : Direction, default=Lanczos()
        Step 4, ApproxSV: `Lanczos(tau, max_iter, confidence)` or `Power(...)`.
    signs : bool, default=False
        Also try the sign-alternation pair each time the rank grows; the larger decrease wins
        (2.1.1).
    replacements : int, default=0
        q, the number of replacement attempts at each rank (2.1.2).
    replacement : "refit" or "zero", default="refit"
        "refit" minimizes again at the lower rank, in the wider spans, before it compares; "zero"
        is the paper's step: the smallest singular value is zeroed.
    correction : "auto", "core", "diagonal", "sweep" or "descent", default="auto"
        "core" minimizes over all s × s cores; "diagonal" is 2.1.4; "sweep" fits the rows of V and
        of U in turn, which gives a closer fit at the same rank; "descent" is the core, then L-BFGS
        over both factors until A converges. "auto" is the sweep for `Entries` and `Dense` if the
        penalty allows it, the descent for other objectives with `Trace`, and otherwise the core.
    pairs : int, default=1
        Maximum number of singular pairs that a step adds, while at least twice as many are still to
        be added: fewer steps to the same rank, each with its certificate.
    refine : bool, default=False
        Also minimize over both factors at each rank (L-BFGS): the spans move, the rank does not.
    target : float or None, default=None
        Stop when the objective is at or below this.
    progress : float or None, default=None
        Stop when a rank lowers the objective by less than this share.
    gap : float or None, default=None
        Stop when the certificate, at the solution's own trace norm, is at or below this.
    time_limit : float or None, default=None
        Stop after this many seconds, at the end of a rank.
    tol : float, default=1e-6
        With `Trace`, stop when it is proved that no matrix is better by more than this share.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, Solver, minimize
    >>> Y = np.diag([4.0, 3.0, 2.0, 1.0])
    >>> path = minimize(Dense(Y), 4, Solver(target=0.5), random_state=0)
    >>> path[-1].rank, path.stop.name
    (2, 'TARGET')
    """

    direction: Direction = field(default_factory=Lanczos)
    signs: bool = False
    replacements: int = 0
    replacement: str = "refit"
    correction: str = "auto"
    pairs: int = 1
    refine: bool = False
    target: float | None = None
    progress: float | None = None
    gap: float | None = None
    time_limit: float | None = None
    tol: float = 1e-6

    def __post_init__(self) -> None:
        if isinstance(self.direction, type) or not callable(self.direction):
            raise ValueError(
                f"direction: expected Lanczos(), Power() or your own, not {self.direction!r}."
            )
        for name, least in (("replacements", 0), ("pairs", 1)):
            given = getattr(self, name)
            if not is_whole(given) or given < least:
                raise ValueError(f"{name}: expected an integer of at least {least}, not {given!r}.")
        if self.replacement not in ("refit", "zero"):
            raise ValueError(f"replacement: use 'refit' or 'zero', not {self.replacement!r}.")
        for name in ("target", "progress", "gap", "time_limit"):
            given = getattr(self, name)
            if given is not None and not (is_real(given) and given == given):
                raise ValueError(f"{name}: expected None or a number, not {given!r}.")
        if not (is_real(self.tol) and self.tol > 0):
            raise ValueError(f"tol: must be positive, not {self.tol!r}.")
        check_name(self.correction)

    @classmethod
    def paper(cls) -> Solver:
        """The experiment of section 5, to the letter.

        30 power iterations, signs, q = 20 replacement attempts that zero the smallest singular
        value (2.1.2), the full core.
        """
        return replace(cls.refitted(), replacement="zero")

    @classmethod
    def refitted(cls) -> Solver:
        """As `paper`, but what a replacement keeps is minimized again before it is judged.

        More attempts succeed, so that the objective is lower at the same rank.
        """
        direction = Power(tau=0.0, max_iter=30)
        return cls(direction=direction, signs=True, replacements=20, correction="core")


def check_solver(solver: object) -> Solver:
    """The solver that was given, which may be None for that of no choices."""
    if solver is None:
        return Solver()
    if not isinstance(solver, Solver):
        raise ValueError(
            f"solver: expected None or a pygeco.Solver, as Solver(refine=True) is, not {solver!r}."
        )
    return solver


def check_problem(objective: object, penalty: object) -> None:
    """Raise unless each is of the kind that a run asks for."""
    minimizes = hasattr(objective, "gradient") and not isinstance(objective, type)
    penalizes = hasattr(penalty, "prox") and not isinstance(penalty, type)
    for name, given, fits, wanted in (
        ("objective", objective, minimizes, "one such as Dense(Y)"),
        ("penalty", penalty, penalizes or penalty is None, "None or one such as Trace(0.1)"),
    ):
        if not fits:
            raise ValueError(f"{name}: expected {wanted}, not {given!r}.")


def find_stop(solver: Solver, step: Step, before: float, rank: int) -> Stop | None:
    """The first rule of the solver that ends the run at this step."""
    if solver.target is not None and step.objective <= solver.target:
        return Stop.TARGET
    if solver.gap is not None and step.gap <= solver.gap:
        return Stop.CERTIFIED
    if solver.progress is not None and before - step.objective < solver.progress * abs(before):
        return Stop.PROGRESS
    if step.rank >= rank:
        return Stop.RANK
    if solver.time_limit is not None and step.seconds >= solver.time_limit:
        return Stop.TIME
    return None
