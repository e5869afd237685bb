"""MatrixCompletion in a model file: the parts of its model under the names of its attributes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pygeco.estimators._choices import choose_offsets, choose_penalty
from pygeco.estimators._ids import ids_for_file
from pygeco.estimators.attributes import Attributes
from pygeco.models.building import mean_levels
from pygeco.models.slab_arrays import write_in_blocks

if TYPE_CHECKING:
    from pygeco.estimators._completion_state import _CompletionState

# Those that follow from the model: a file keeps them for other readers.
DERIVED = ("components_", "singular_values_", "rank_", "_n_features_out")


def describe_model(estimator: _CompletionState, attributes: dict[str, Any]) -> dict[str, Any]:
    """What a file keeps: the attributes with the parts of the model in its place."""
    model = estimator.model_.prepare_for_file()
    own = {name: value for name, value in attributes.items() if name != "model_"}
    own |= {name: getattr(model, part) for name, part in estimator._model_parts.items()}
    own |= {name: getattr(estimator, name) for name in DERIVED}
    return own | {
        "path_": write_in_blocks(estimator.path_),
        "row_ids_": ids_for_file(estimator.row_ids_),
        "row_encoder_": _state_of(estimator.row_encoder_),
        "column_encoder_": _state_of(estimator.column_encoder_),
    }


def restore_model(estimator: _CompletionState, fitted: dict[str, Any]) -> dict[str, Any]:
    """The attributes again; what a file of an earlier version lacks is what the settings say."""
    lacking: dict[str, Any] = {"held_out_": None, "clip_": False, "levels_": (1.0, 1.0)}
    lacking |= {"row_attributes_": None, "column_attributes_": None, "lists_": None}
    lacking |= {"row_map_": None, "column_map_": None, "count_rule_": None}
    if not {"penalty_", "offsets_"} <= fitted.keys():  # settings may have changed since the fit
        penalty = choose_penalty(estimator)
        lacking |= {"penalty_": penalty, "offsets_": choose_offsets(estimator.biases, penalty)}
    parts: dict[str, Any] = {
        part: fitted[name] if name in fitted else lacking[name]
        for name, part in estimator._model_parts.items()
    }
    if estimator.clip != "auto":
        parts["clips"] = bool(estimator.clip)
    model = estimator._model_kind(**parts)
    if "levels_" not in fitted:
        model = replace(model, levels=mean_levels(model.penalty, *model.counts()))
    rest = {
        n: it for n, it in fitted.items() if n not in estimator._model_parts and n not in DERIVED
    }
    encoders = {
        name: None if fitted.get(name) is None else Attributes.from_state(fitted[name])
        for name in ("row_encoder_", "column_encoder_")
    }
    return {"time_column_": None} | rest | {"model_": model} | encoders


def _state_of(encoder: Attributes | None) -> dict[str, Any] | None:
    return None if encoder is None else encoder.to_state()
