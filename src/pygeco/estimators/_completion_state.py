"""What a matrix completion is told and has found, and what needs no more than that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pygeco.algorithm.events import Listener
from pygeco.algorithm.path import Path, Stop
from pygeco.algorithm.penalties import Penalty
from pygeco.algorithm.solver import Solver
from pygeco.arrays.kinds import moved
from pygeco.arrays.low_rank import Array
from pygeco.arrays.streams import RandomState
from pygeco.diagnostics.attribute_effects import AttributeEffects
from pygeco.engines import choose_engine
from pygeco.estimators._choices import choose_clip, choose_penalty
from pygeco.estimators._completion_file import describe_model, restore_model
from pygeco.estimators._effect_table import tabulate_effects
from pygeco.estimators._exporting import Vectors, export_factors, make_vectors
from pygeco.estimators._ids import gather_ids
from pygeco.estimators._input import allow_missing
from pygeco.estimators._marks import MissingValues
from pygeco.estimators._tables import find_given_cells
from pygeco.estimators._views import View
from pygeco.estimators._whole import all_or_nothing
from pygeco.io.model_file import Saveable
from pygeco.io.model_parts import MODEL_PARTS
from pygeco.losses import Loss
from pygeco.models import CompletionModel, FittedModel
from pygeco.models.slab_arrays import fetch_rows

if TYPE_CHECKING:
    from pygeco.estimators._ids import Ids
    from pygeco.estimators.attributes import Attributes


class _CompletionState(
    Saveable,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """The parameters and the fitted attributes of `MatrixCompletion`."""

    _model_kind: ClassVar[type[CompletionModel]] = CompletionModel
    _model_parts: ClassVar[dict[str, str]] = MODEL_PARTS
    _score_name: ClassVar[str] = "prediction"  # of a column beside what is recommended
    _needs_values: ClassVar[bool] = True  # whether cells without a value say nothing

    rank: int | str
    loss: str | Loss
    penalty: str | Penalty | None
    biases: bool | str | tuple[str, ...]
    posterior: int
    pattern: bool | str
    time: bool | str | int
    solver: Solver | None
    refit: bool
    clip: bool | str
    duplicates: str
    missing_values: MissingValues
    callback: Callable[[Any], object] | None
    observer: Listener | None
    engine: str | None
    random_state: RandomState
    n_jobs: int | None
    verbose: int | bool

    model_: FittedModel
    row_ids_: Ids | None
    column_ids_: NDArray[Any] | None
    table_columns_: tuple[str, ...] | None
    time_column_: str | None
    n_features_in_: int
    row_encoder_: Attributes | None
    column_encoder_: Attributes | None
    path_: Path
    stop_reason_: Stop
    n_iter_: int

    factors_ = View(lambda model: model.factors)
    biases_ = View(lambda model: model.biases)
    posterior_ = View(lambda model: model.posterior)
    average_ = View(lambda model: model.average)
    loss_ = View(lambda model: model.loss)
    seen_ = View(lambda model: model.seen)
    held_out_ = View(lambda model: model.held_out)
    offsets_ = View(lambda model: model.offsets)
    penalty_ = View(lambda model: model.penalty)
    total_weight_ = View(lambda model: model.total_weight)
    levels_ = View(lambda model: model.levels)
    range_ = View(lambda model: model.bounds)
    clip_ = View(lambda model: model.clips)
    row_attributes_ = View(lambda model: model.row_attributes)
    column_attributes_ = View(lambda model: model.column_attributes)
    lists_ = View(lambda model: model.lists)
    drift_ = View(lambda model: model.drift)
    components_ = View(lambda model: model.components)
    singular_values_ = View(lambda model: model.factors.s)
    rank_ = View(lambda model: model.factors.rank)
    _n_features_out = View(lambda model: len(model.components))

    @property
    def attribute_effects_(self) -> AttributeEffects:
        """The effects of attributes: by how much each level moves predictions."""
        if "model_" not in vars(self):
            raise AttributeError(
                f"{type(self).__name__!r} is not fitted, so it has no 'attribute_effects_'."
            )
        return tabulate_effects(self)

    @property
    def uses_evidence(self) -> bool:
        """Whether a fit with these settings uses the evidence (empirical Bayes)."""
        return choose_penalty(self) == "evidence"

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name. `clip` takes effect at once, others at the next fit.

        Parameters
        ----------
        **params : dict
            By name.

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        super().set_params(**params)
        if "clip" in params and "model_" in vars(self):
            seen = self.model_.seen
            clips = choose_clip(self.clip, self.model_.loss, seen.values, seen.weights)
            self.model_ = replace(self.model_, clips=clips)
        return self

    @all_or_nothing
    def to(self, engine: str) -> Self:
        """Move the fitted model, in place, to another engine.

        If this fails, the model stays where it was. On either engine, predictions have the type of
        the arrays in the question.

        Parameters
        ----------
        engine : "cpu" or "cuda"

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        check_is_fitted(self)
        self._move(choose_engine(engine).kind)
        self.engine = engine
        return self

    def _move(self, like: Array) -> None:
        """All that was fitted, ids apart, to arrays of another kind; ids to this process."""
        self.model_, self.path_ = self.model_.move_to(like), moved(fetch_rows(self.path_), like)
        self.row_ids_ = gather_ids(self.row_ids_)

    def keep_held_out(self, X: Any) -> Self:
        """Keep cells that were held out of the fit with the model, and in its file.

        `recommend` then leaves them out, like the fitted ones, and a report judges by them.

        Parameters
        ----------
        X : cells as fit takes them
            Cells with an id that was not fitted are left out.

        Returns
        -------
        MatrixCompletion
            The estimator itself.
        """
        check_is_fitted(self)
        self.model_ = self.model_.keep_held_out(*find_given_cells(self, X))
        return self

    def known_cells(self, X: Any) -> tuple[Any, Any, Array, Array | None]:
        """Find the cells of a table whose ids were fitted.

        Parameters
        ----------
        X : table
            Ratings, as `fit` takes them.

        Returns
        -------
        tuple of four
            Rows and columns as positions, targets, and times, or None if times are not used.
        """
        return find_given_cells(self, X)

    def was_fitted(self, rows: Any, cols: Any) -> Any:
        """Check whether the model was fitted to each cell.

        Parameters
        ----------
        rows, cols : int arrays
            Positions.

        Returns
        -------
        bool array
        """
        check_is_fitted(self)
        return self.model_.was_fitted(np.asarray(rows), np.asarray(cols))

    def to_dense(self) -> Array:
        """Return the completed m × n matrix, dense. No other method forms it.

        Returns
        -------
        array (m, n)
        """
        check_is_fitted(self)
        return self.model_.to_dense()

    def vectors(self) -> Vectors:
        """Return vectors whose inner products are predictions, in float32, for a search index.

        Returns
        -------
        Vectors
            (u_i s, 1), (v_j, c_j) and μ + b_i.
        """
        check_is_fitted(self)
        return make_vectors(self.model_)

    def export(self, path: str | PathLike[str], side: str = "columns") -> None:
        """Write the factors to a file, completely or not at all.

        Parameters
        ----------
        path : path
            `.npz`: U, s, V, mean, row_offset, column_offset, the arrays of `vectors()`, and ids
            where there are some. `.parquet`: one table for a side, with id, offset and vector, the
            vector as in `vectors()`. A folder, or a name that ends in `/`: each array of the `.npz`
            in a `.npy` file of its own, and both tables.
        side : "columns" or "rows", default="columns"
            What a `.parquet` file holds.
        """
        check_is_fitted(self)
        export_factors(self, path, side)

    def fitted_attributes(self) -> dict[str, Any]:
        """Gather what a file keeps besides the settings: parts of the model, the path and ids.

        Returns
        -------
        dict
            By name.
        """
        own = super().fitted_attributes()
        return own if "model_" not in own else describe_model(self, own)

    def _restore(self, fitted: dict[str, Any]) -> None:
        super()._restore(restore_model(self, fitted))

    def __sklearn_tags__(self) -> Any:
        tags = allow_missing(super().__sklearn_tags__())
        tags.input_tags.sparse = True
        return tags
