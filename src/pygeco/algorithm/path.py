"""What a fit returns: one step a rank, and why it stopped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar, overload

from pygeco.algorithm.certificates import Certificate
from pygeco.arrays.low_rank import LowRank
from pygeco.arrays.short_repr import show_fields

S = TypeVar("S")


class Stop(Enum):
    """Why the solver stopped; the text says what to do about it.

    Examples
    --------
    >>> from pygeco import Stop
    >>> print(Stop.TARGET)
    TARGET: the objective is at or below the target.
    """

    RANK = (
        "the rank asked for is reached; a higher one, where the shape allows it, continues from "
        "this path"
    )
    TARGET = "the objective is at or below the target"
    PROGRESS = "the last rank lowered the objective by less than `progress`; more rank buys little"
    CERTIFIED = "the certificate is at or below `gap`: no matrix of this norm is much better"
    OPTIMAL = (
        "proved, with the certificate's confidence: no matrix of any rank has a lower objective, "
        "up to `tol`"
    )
    TIME = "the time limit is reached; continue from this path with more time"
    EVIDENCE = "the evidence supports no further component"
    CAPPED = "the highest rank allowed is reached; the evidence would support more, so allow more"
    CONVERGED = "the iterates have come to rest, to the tolerance"
    ITERATIONS = "the iterations are used up; allow more of them for a closer fit"
    DIVERGED = "the iterates grow without bound; take a smaller step"
    VALIDATION = "the rank at which held-out cells are predicted best is reached"
    CALLBACK = "the callback asked to stop"
    STATIONARY = (
        "the gradient is zero: a convex objective has its global minimum here, and more rank "
        "cannot help"
    )
    STALLED = "no direction lowers the objective in this precision; the fit is as good as it gets"

    @property
    def advice(self) -> str:
        return self.value

    def __str__(self) -> str:
        return f"{self.name}: {self.value}."


@dataclass(frozen=True, eq=False)
class Step:
    """The solution at one rank.

    Attributes
    ----------
    rank : int
        The number of columns of the factors of A.
    objective : float
        R(A) plus any penalty, R the mean over the observed cells.
    A : LowRank
        The matrix.
    certificate : Certificate
        What is proved about A.
    seconds : float
        Since the start of the fit.
    passes : int
        Passes over the data at this rank, not counting sweeps and the Newton steps of losses other
        than the squared one.
    direction : str
        The kind of pair that was added: "singular" or "signs".
    replaced : int
        How many replacements succeeded at this rank.
    """

    rank: int
    objective: float
    A: LowRank
    certificate: Certificate
    seconds: float
    passes: int
    direction: str
    replaced: int

    def __repr__(self) -> str:
        return show_fields(self)

    @property
    def gap(self) -> float:
        """The certificate against every matrix of this one's (weighted) trace norm."""
        return self.certificate.gap()

    @property
    def gap_words(self) -> str:
        """The gap as a table shows it: four digits, or that nothing is known."""
        return "nothing known" if self.certificate.vacuous else f"{self.gap:.4g}"


class StepSequence(Sequence[S]):
    """What is a sequence of its `steps`."""

    steps: tuple[S, ...]

    @overload
    def __getitem__(self, index: int) -> S: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[S]: ...
    def __getitem__(self, index: int | slice) -> S | Sequence[S]:
        return self.steps[index]

    def __len__(self) -> int:
        return len(self.steps)

    def __iter__(self) -> Iterator[S]:
        return iter(self.steps)


@dataclass(frozen=True, eq=False)
class Path(StepSequence[Step]):
    """Every rank from one fit, a sequence of steps.

    Attributes
    ----------
    steps : tuple of Step
        One per rank, in order.
    stop : Stop
        Why the fit ended there.
    seed : int
        The seed that gives the same bits again.
    shape : tuple of two ints
        The shape of the matrix.
    A : LowRank
        The solution of the highest rank.

    Examples
    --------
    >>> import numpy as np
    >>> from pygeco import Dense, minimize
    >>> path = minimize(Dense(np.diag([3.0, 2.0, 1.0])), 2, random_state=0)
    >>> [step.rank for step in path]
    [1, 2]
    >>> path.at(1).A.s.round(6).tolist()
    [3.0]
    >>> path.stop.name
    'RANK'
    """

    steps: tuple[Step, ...]
    stop: Stop
    seed: int
    shape: tuple[int, int]

    @property
    def A(self) -> LowRank:
        """The solution of the highest rank."""
        return self.steps[-1].A if self.steps else LowRank.zero(self.shape)

    def at(self, rank: int) -> Step:
        """The step of this rank; the last one, where several have it."""
        for step in reversed(self.steps):
            if step.rank == rank:
                return step
        ranks = [step.rank for step in self.steps]
        raise ValueError(f"rank: {rank!r} is not on this path, which has ranks {ranks}.")

    def __repr__(self) -> str:
        lines = ["rank  objective     gap at most    seconds  passes"]
        lines += [
            f"{t.rank:4d}  {t.objective:<12.6g}  {t.gap_words:<13} {t.seconds:8.2f}  {t.passes:6d}"
            for t in self.steps
        ]
        return "\n".join([*lines, f"stopped: {self.stop.advice}"])
