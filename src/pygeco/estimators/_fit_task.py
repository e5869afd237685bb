"""What a fit of MatrixCompletion is given, once settings and data are read, and what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Path
from pygeco.estimators._checkpoint import Checkpoint
from pygeco.estimators._choices import Choices
from pygeco.estimators._side_information import SideInformation
from pygeco.losses import Loss
from pygeco.models import FittedModel
from pygeco.objectives import Entries

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState
    from pygeco.estimators.attributes import Attributes


class FitTask(NamedTuple):
    """The cells, what is known beside them, and how they are fitted.

    `loss` is that of the entries, before the data settled what it leaves open; `settings` are the
    parameters of the estimator, `choices` what "auto" stands for among them.
    """

    settings: _CompletionState
    entries: Entries
    loss: Loss
    choices: Choices
    info: SideInformation
    seed: int
    listener: Listener
    store: Checkpoint | None


class Outcome(NamedTuple):
    """A fitted model, the path to it, the sweeps or steps that it took, and how the attributes of
    rows and columns were coded. `time_column` is the one of the table that had times.
    """

    model: FittedModel
    path: Path
    sweeps: int
    encoders: tuple[Attributes | None, Attributes | None] = (None, None)
    time_column: str | None = None
