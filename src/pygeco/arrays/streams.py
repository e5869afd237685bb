"""Random streams: one for each purpose, none of which a user's own generator can coincide with.

`default_rng(seed)` and `default_rng([seed, 0])` are one stream: NumPy fills a short seed sequence
with zeros. A fit that draws its start vectors from either may draw the very numbers that the data
were made of, and then a proof that holds for almost every start fails for this one. So every
stream of the package is set apart by a word that only its seed sequences hold, by its purpose,
and by keys within the purpose.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

RandomState = int | np.random.Generator | np.random.RandomState | None

PACKAGE = 0x70796765636F  # "pygeco" in ASCII


class Purpose(IntEnum):
    """What a stream is drawn for. The numbers are part of what a seed means: never reuse one."""

    PATH = 1  # directions of a path, keyed by the rank at which they start
    CERTIFICATE = 2  # of a fit that is not a path's, keyed by its rank
    RIVAL = 3
    RIVAL_CERTIFICATE = 4
    TRACE_GAP = 5
    EVIDENCE = 6
    POSTERIOR = 7
    ROBUST = 8
    HOLDOUT = 9  # cells that a user asks to hold out
    RANK_CHOICE = 10  # cells held out to choose a rank by
    IMPUTER_CHOICE = 11  # cells held out to choose the imputer's rank and weight by
    OBJECTIVE_CHECK = 12  # what an objective tries its input with
    SMOOTHNESS = 13  # start vectors of eigenvalue bounds
    SAMPLE = 14  # cells that stand for all others
    SPEED = 15  # what a machine's speed is measured on
    EXPERIMENT = 16
    IMPUTER_ERROR = 17  # cells masked to state the imputer's error by
    ATTRIBUTES = 18  # signs by which degrees of freedom are estimated
    ALTERNATION = 19  # first columns of an alternation over clicks
    SPECTRUM = 20  # first vectors of the singular pairs of clicks
    HELD_CLICKS = 21  # clicks held out to choose settings by
    PERIODS = 22  # the chain that finds the variances of offsets of periods
    IMPUTER_DRAWS = 24  # cells and models that an imputer draws
    SLAB_DRAWS = 25  # what a worker draws for the cells of its slab, keyed by the slab
    COLD_LINES = 26  # rows and columns held out to choose the weight of their attributes by
    UPDATED_DRAWS = 27  # of lines that are new to a mean of draws
    LISTED_ROWS = 28  # rows by which it is chosen what goes into lists
    HELD_SAMPLES = 29  # samples held out to choose a ridge and a rank by


def stream(purpose: Purpose, seed: int = 0, *keys: int) -> np.random.Generator:
    """The generator for this purpose; the same arguments give the same numbers."""
    # Keys follow the seed padded to its full width, so that no two lists of arguments run together.
    words = np.random.SeedSequence(seed, spawn_key=(PACKAGE, int(purpose), *keys))
    return np.random.default_rng(words)


def check_seed(seed: object, instead: str = "") -> int:
    """The seed, if it is a whole number from 0 on; `instead` says what else can be given."""
    if isinstance(seed, (int, np.integer)) and seed >= 0:
        return int(seed)
    raise ValueError(f"random_state: expected an integer ≥ 0{instead}, not {seed!r}.")


def seed_from(random_state: RandomState) -> int:
    """The seed that a random state stands for: as given, or a new one drawn from it."""
    if random_state is None or isinstance(random_state, np.random.Generator):
        return int(np.random.default_rng(random_state).integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return check_seed(random_state, ", a numpy Generator or RandomState, or None")
