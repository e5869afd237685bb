"""A fitted matrix completion, as far as numbers about it go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pygeco.algorithm.path import Path, Stop
from pygeco.arrays.low_rank import Array, LowRank
from pygeco.bayes.average import Average
from pygeco.bayes.posterior import Posterior
from pygeco.diagnostics.attribute_effects import AttributeEffects
from pygeco.losses import Loss
from pygeco.models import FittedModel, Seen
from pygeco.objectives.entries.biases import Biases

if TYPE_CHECKING:
    from pygeco.io.partitioned.ids import RowIds


class Completion(Protocol):
    """What is read of `MatrixCompletion`, which this layer does not import."""

    n_iter_: int
    posterior: int
    row_ids_: NDArray[Any] | RowIds | None
    column_ids_: NDArray[Any] | None
    table_columns_: tuple[str, ...] | None

    @property
    def model_(self) -> FittedModel: ...

    @property
    def path_(self) -> Path: ...

    @property
    def stop_reason_(self) -> Stop: ...

    @property
    def factors_(self) -> LowRank: ...

    @property
    def biases_(self) -> Biases: ...

    @property
    def loss_(self) -> Loss: ...

    @property
    def seen_(self) -> Seen: ...

    @property
    def held_out_(self) -> Seen | None: ...

    @property
    def posterior_(self) -> Posterior | None: ...

    @property
    def average_(self) -> Average | None: ...

    @property
    def attribute_effects_(self) -> AttributeEffects: ...

    def known_cells(self, X: object) -> tuple[NDArray[Any], NDArray[Any], Array, Array | None]: ...

    def was_fitted(self, rows: NDArray[Any], cols: NDArray[Any]) -> NDArray[np.bool_]: ...

    def learn_lists(self) -> object: ...

    def get_params(self, deep: bool = True) -> dict[str, object]: ...
